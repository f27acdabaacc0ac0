package ros1

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"poise/graph"
)

// TestTheAddressIsThatOfTheEnvironment: ROS_HOSTNAME goes before ROS_IP, as in ROS; on
// loopback an address that others would use is not given out, and opened without either the
// machine's name is.
func TestTheAddressIsThatOfTheEnvironment(t *testing.T) {
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		hostname, ip string
		open         bool
		want         string
	}{
		{"", "", false, loopbackHost},
		{"localhost", "", false, "localhost"},
		{"", "127.0.0.1", false, "127.0.0.1"},
		{"localhost", "127.0.0.1", false, "localhost"},
		{"pony.example", "", false, loopbackHost},
		{"", "192.0.2.7", false, loopbackHost},
		{"pony.example", "192.0.2.7", true, "pony.example"},
		{"", "192.0.2.7", true, "192.0.2.7"},
		{"", "", true, machine},
	} {
		c := Environment(func(name string) string {
			return map[string]string{"ROS_HOSTNAME": one.hostname, "ROS_IP": one.ip}[name]
		})
		c.Open = one.open
		c, err := c.Finished()
		if err != nil || c.Host != one.want || c.Master != DefaultMaster {
			t.Errorf("ROS_HOSTNAME %q, ROS_IP %q, open %v: %q at %q, %v, want %q", one.hostname, one.ip, one.open, c.Host, c.Master, err, one.want)
		}
	}
	c := Environment(func(name string) string { return map[string]string{"ROS_MASTER_URI": "http://192.0.2.7:11311"}[name] })
	var remote *RemoteError
	if _, err := c.Finished(); !errors.As(err, &remote) || remote.Host != "192.0.2.7" {
		t.Errorf("a master elsewhere: %v", err)
	}
}

// TestPeersAreToldTheHostname: what the master has of a node begins with its ROS_HOSTNAME.
func TestPeersAreToldTheHostname(t *testing.T) {
	g := graph.New(graph.Options{})
	t.Cleanup(g.Close)
	n := running(t, g, Config{Master: "http://127.0.0.1:0", OwnMaster: true, Host: "localhost"})
	for {
		code, uri, err := n.callMaster(t.Context(), "lookupNode", n.self)
		if text, ok := uri.(string); err == nil && code == 1 && ok && text != "" {
			if !strings.HasPrefix(text, "http://localhost:") {
				t.Errorf("the master has %q", text)
			}
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

package netns

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// SecondMachine makes a network namespace beside the test's own, with a cable between them:
// 10.77.0.1 here, 10.77.0.2 there. It returns the words that run a program there. Call it inside.
func SecondMachine(t *testing.T) (through []string) {
	t.Helper()
	c := exec.Command("unshare", "-n", "sleep", "600")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	pid := fmt.Sprint(c.Process.Pid)
	through = []string{"nsenter", "-t", pid, "-n"}
	own, _ := os.Readlink("/proc/self/ns/net")
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if other, err := os.Readlink("/proc/" + pid + "/ns/net"); err == nil && other != own {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no second namespace within a minute")
		}
	}
	run(t, "ip link add cable0 type veth peer name cable1")
	run(t, "ip link set cable1 netns "+pid)
	run(t, "ip addr add 10.77.0.1/24 dev cable0")
	Cable(t, "up")
	for _, line := range []string{"ip addr add 10.77.0.2/24 dev cable1", "ip link set cable1 up", "ip link set lo up", "ip route add 224.0.0.0/4 dev cable1"} {
		run(t, strings.Join(through, " ")+" "+line)
	}
	return through
}

// Cable pulls the cable to the second machine, "down", or plugs it in, "up".
func Cable(t *testing.T, state string) {
	t.Helper()
	run(t, "ip link set cable0 "+state)
}

func run(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(line)
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", line, err, out)
	}
}

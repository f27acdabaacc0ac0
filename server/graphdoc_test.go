package server

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"poise/msgs"
	"poise/server/config"
)

// TestDocsListTheWholeGraph keeps docs/graph.md and the graph of a server in step: every
// topic, service and action has its row with its type, topics with their direction and
// quality of service, and there is no row of what does not exist.
func TestDocsListTheWholeGraph(t *testing.T) {
	c := config.Default()
	c.Listen, c.Motions, c.RealSim = "127.0.0.1:0", t.TempDir(), true
	c.Robots = append(c.Robots, config.Robot{Name: "heavy", Driver: "physics"})
	s, err := New(t.Context(), c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := map[string]string{}
	real := map[string]bool{}
	felt := []string{"imu", "external_forces", "contacts_real", "contact_events", "servo_model", "servo_models", "servo_models_state", "set_servo_models"}
	plain := func(name string) (string, bool) {
		name = strings.TrimPrefix(name, "/")
		if rest, ok := strings.CutPrefix(name, "real/"); ok {
			real[rest] = true
			return name, rest == "joints_hand_set"
		}
		if rest, ok := strings.CutPrefix(name, "heavy/"); ok { // what only a robot with mass has
			return rest, strings.HasPrefix(rest, "physics/") || slices.Contains(felt, rest)
		}
		return name, !strings.HasPrefix(name, "virtual/") && !strings.HasPrefix(name, "rosapi/")
	}
	for _, x := range s.graph.Topics() {
		if name, ok := plain(x.Name); ok && x.Action == "" {
			way, qos := "out", x.QoS
			if len(x.Publishers) == 0 {
				way, qos = "in", x.Subscribers[0].QoS
			}
			want["topic "+name] = fmt.Sprintf("%s %s, %s", x.Type.Name(msgs.ROS2), way, qos)
		}
	}
	for _, x := range s.graph.Services() {
		if name, ok := plain(x.Name); ok {
			want["service "+name] = x.Type.Name(msgs.ROS2)
		}
	}
	for _, x := range s.graph.Actions() {
		if name, ok := plain(x.Name); ok {
			want["action "+name] = x.Type.Name(msgs.ROS2)
		}
	}
	// the real robot has the same, but what is said of it
	for key := range want {
		kind, name, _ := strings.Cut(key, " ")
		if slices.Contains([]string{"rosout", "joints_virtual_set", "joints_marker_set", "real/joints_hand_set", "clock"}, name) || strings.HasPrefix(name, "motions/") ||
			strings.HasPrefix(name, "physics/") || slices.Contains(felt, name) {
			continue
		}
		if !real[name] && kind != "action" {
			t.Errorf("the real robot has no %s", key)
		}
	}
	text, err := os.ReadFile("../docs/graph.md")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	section := ""
	row := regexp.MustCompile("^\\| `([^`]+)` \\| `([^`]+)` \\| ([^|]*)\\|([^|]*)")
	for line := range strings.Lines(string(text)) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.ToLower(strings.TrimSuffix(strings.TrimSpace(heading), "s"))
		}
		m := row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		key, value := section+" "+m[1], m[2]
		if section == "topic" {
			way, _, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(m[3], ",", " ")), " ")
			value = fmt.Sprintf("%s %s, %s", value, way, strings.TrimSpace(m[4]))
		}
		if got[key] != "" {
			t.Errorf("docs/graph.md has %s twice", key)
		}
		got[key] = value
	}
	for key, value := range want {
		if got[key] != value {
			t.Errorf("docs/graph.md says %q of %s, the server %q", got[key], key, value)
		}
	}
	for key := range got {
		if want[key] == "" {
			t.Errorf("docs/graph.md lists %s, which is not there", key)
		}
	}
}

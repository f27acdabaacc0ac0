package main

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTwoRobotsAsTwoNamespaces runs two programs in one ROS 1 network, each under a namespace
// of its own: each has its names to itself, and reaches the topics, services and actions of the
// other by their names, as a mirror would show them.
func TestTwoRobotsAsTwoNamespaces(t *testing.T) {
	t.Parallel()
	needsProgram(t)
	uri := []string{"ROS_MASTER_URI=http://" + freeAddress(t)}
	// the second one comes first, and waits for the master
	two := serveBy(t, binary(t), uri, "--config", unhurriedFile(t), "--robot", "arm6", "--ros1", "__ns:=/robot2", "--remap", "joint_states:=/robot2/states")
	one := serveBy(t, binary(t), uri, "--config", unhurriedFile(t), "--robot", "arm6", "--ros1-master", "__ns:=/robot1")
	until := func(want string, args ...string) string {
		t.Helper()
		var out, errs string
		for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			out, errs, _ = poise("", args...)
			if strings.Contains(out+errs, want) {
				return out + errs
			}
		}
		t.Fatalf("poise %v never says %q: %s%s", args, want, out, errs)
		return ""
	}
	// services, actions and topics of the other
	until(`"success": true`, "call", "/robot2/get_state", "{}", "--server", one.address)
	until(`"success": true`, "call", "/robot1/get_state", "{}", "--server", two.address)
	until("finger_left_joint", "topic", "echo", "--count", "1", "/robot2/states", "--server", one.address)
	until("finger_left_joint", "topic", "echo", "--count", "1", "/robot1/joint_states", "--server", two.address)
	until("/robot2/gripper_cmd/status", "topic", "list", "--server", one.address)
	until("true", "goal", "--json", "/robot2/gripper_cmd", `{"command": {"position": 0.02}}`, "--server", one.address)
	// the goal moved the other robot, and not this one
	finger := func(s *running) string {
		t.Helper()
		out := until("finger_left_joint", "topic", "echo", "--count", "1", "--json", "/joint_states", "--server", s.address)
		return out
	}
	if a, b := finger(one), finger(two); strings.Contains(a, "0.02") || !strings.Contains(b, "0.02") {
		t.Errorf("the first robot is at %s, the second at %s", a, b)
	}
	// names of their own stay their own
	if out := until("/robot2/gripper_cmd/status", "topic", "list", "--server", one.address); strings.Contains(out, "/robot1/") {
		t.Errorf("a robot sees itself twice:\n%s", out)
	}
	// a robot that goes takes its names along
	two.stop(syscall.SIGTERM)
	until("no ", "call", "/robot2/get_state", "{}", "--server", one.address)
}

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"poise/internal/golden"
	"poise/internal/netns"
)

// TestROS2ByCyclone uses a robot by ROS 2 as a client on Cyclone DDS does, in a network of its
// own: topics, the node in ros_discovery_info, an action to its end, cancelled, refused, in
// fragments and replaced, and stops (tools/peers/ros2/client.py judges each).
func TestROS2ByCyclone(t *testing.T) {
	needsProgram(t)
	if os.Getenv("POISE_ROS2") == "" {
		t.Skip("absent: POISE_ROS2 (make ros2)")
	}
	if !inOwnNetwork(t) {
		return
	}
	python := golden.Python(t)
	if out, err := exec.Command(python, "-c", "import cyclonedds").CombinedOutput(); err != nil {
		golden.Missing(t, "absent: cyclonedds in POISE_PYTHON (tools/oracle/requirements.txt): %s", out)
	}
	r := serveIt(t, "--robot", "arm6", "--ros2", "--no-record", "--ros-args", "-r", "__ns:=/robot1", "-r", "__node:=arm")
	out, err := exec.Command(python, filepath.Join(golden.Root(t), "tools/peers/ros2/client.py"), "/robot1").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	first, _, _ := strings.Cut(string(out), "\n")
	var seen struct {
		Node        string `json:"node"`
		JointStates string `json:"joint_states"`
	}
	const hash = "typehash=RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e;"
	if err := json.Unmarshal([]byte(first), &seen); err != nil || seen.Node != "/robot1/arm" || seen.JointStates != hash {
		t.Errorf("%v: %+v", err, seen)
	}
	if !strings.Contains(r.banner, "ROS_DOMAIN_ID 0, ROS 2 Jazzy; node /robot1/arm") {
		t.Errorf("the banner does not tell of ROS 2:\n%s", r.banner)
	}
}

// TestROS2ByFastDDS uses a robot as rmw_fastrtps does, ROS 2's default: a client on Fast DDS
// (tools/peers/ros2/fastdds.cpp), whose requests name the reader of their answer.
func TestROS2ByFastDDS(t *testing.T) {
	needsProgram(t)
	if os.Getenv("POISE_ROS2") == "" {
		t.Skip("absent: POISE_ROS2 (make ros2)")
	}
	if !inOwnNetwork(t) {
		return
	}
	peer := os.Getenv("POISE_ROS2_FASTDDS")
	if peer == "" {
		t.Fatal("POISE_ROS2_FASTDDS is not set, which make ros2 builds")
	}
	serveIt(t, "--robot", "arm6", "--ros2", "--no-record").used(func() {
		out, err := exec.Command(peer).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
	})
}

// TestROS2ByRust uses a robot by the client library ros2-client, over RustDDS, in both of its
// mappings of services (tools/peers/ros2/rust, which make ros2-rust builds).
func TestROS2ByRust(t *testing.T) {
	needsProgram(t)
	peer := os.Getenv("POISE_ROS2_RUST")
	if peer == "" {
		t.Skip("absent: POISE_ROS2_RUST (make ros2-rust)")
	}
	if !inOwnNetwork(t) {
		return
	}
	for _, mapping := range []string{"enhanced", "cyclone"} {
		serveIt(t, "--robot", "arm6", "--ros2", "--no-record").used(func() {
			out, err := exec.Command(peer, mapping).CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", mapping, err, out)
			}
			t.Logf("%s:\n%s", mapping, out)
		})
	}
}

// inOwnNetwork is netns.Inside, for which the program is built here.
func inOwnNetwork(t *testing.T) bool {
	t.Helper()
	t.Setenv(programVariable, binary(t))
	return netns.Inside(t)
}

// used runs something with a server, and ends it.
func (r *running) used(f func()) {
	defer r.stop(syscall.SIGTERM)
	f()
}

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	if !netns.Inside(t) {
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

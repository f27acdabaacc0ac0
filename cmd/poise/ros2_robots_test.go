package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"poise/internal/golden"
	"poise/msgs"
)

// onCyclone returns a command of Python with cyclonedds for a program of tools/peers/ros2. It is called inside
// the network of the test.
func onCyclone(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	python := golden.Python(t)
	if out, err := exec.Command(python, "-c", "import cyclonedds").CombinedOutput(); err != nil {
		golden.Missing(t, "absent: cyclonedds in POISE_PYTHON (tools/oracle/requirements.txt): %s", out)
	}
	return exec.Command(python, append([]string{filepath.Join(golden.Root(t), "tools/peers/ros2", program)}, args...)...)
}

// startMachine starts a robot on Cyclone DDS, and returns what ends it.
func startMachine(t *testing.T) (end func()) {
	t.Helper()
	c := onCyclone(t, "machine.py", armJoints...)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the robot says %q, %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return func() { in.Close(); _ = c.Wait() }
}

// TestROS2RobotIsDriven: the driver of topics over DDS moves a robot on Cyclone DDS, whose states are best effort,
// by goals to their end; one that is gone is missed, and found again. The server is a node of the same
// network itself.
func TestROS2RobotIsDriven(t *testing.T) {
	needsProgram(t)
	if os.Getenv("POISE_ROS2") == "" {
		t.Skip("absent: POISE_ROS2 (make ros2)")
	}
	if !inOwnNetwork(t) {
		return
	}
	end := startMachine(t)
	s := serveBy(t, binary(t), nil, "--robot", "arm6", "--ros2", "--no-record", "--config", writtenFile(t, slowWorld+`
robots:
  - {name: real, driver: topics, settings: {url: "dds://0", commands: /machine/joint_commands, states: /machine/joint_states, wait: 100}}
`))
	ask := func(args ...string) string {
		out, errs, _ := poise("", append(args, "--server", s.address)...)
		return out + errs
	}
	until := func(what, want string, act func() string) {
		t.Helper()
		said := ""
		for stop := time.Now().Add(hang); time.Now().Before(stop); time.Sleep(100 * time.Millisecond) {
			if said = act(); strings.Contains(said, want) {
				return
			}
		}
		t.Fatalf("%s: never %q: %s", what, want, said)
	}
	move := func(target float64) {
		t.Helper()
		goal := fmt.Sprintf(`{"trajectory": {"joint_names": ["joint_1"], "points": [{"positions": [%g], "time_from_start": {"sec": 1}}]}}`, target)
		until("a goal that the robot measures", "there", func() string { // a Python program that the machine holds up may be a fault, of the bus, too
			_, _ = ask("reset"), ask("call", "/set_torque", `{"on": true}`)
			if said := ask("goal", "/follow_joint_trajectory", goal); !strings.Contains(said, "done") {
				return said
			}
			said := ask("topic", "echo", "joint_states_real", "--count", "1")
			text, _, _ := strings.Cut(said, "---")
			var measured msgs.JointState
			if err := json.Unmarshal([]byte(text), &measured); err != nil || len(measured.Position) != len(armJoints) || math.Abs(measured.Position[0]-target) > 0.01 {
				return said
			}
			return "there"
		})
	}
	move(0.3)
	end()
	until("a robot that is gone", "bus silent", func() string { return ask("state") })
	startMachine(t)
	until("a robot that is back", "yes", func() string {
		_ = ask("reset") // a fault stays until then
		if said := ask("state"); strings.Contains(said, "bus silent") {
			return said
		}
		return "yes"
	})
	move(0.2)
}

// TestROS2OutsideController: a controller on Cyclone DDS asks for the gripper by the original stack's messages, leads
// its joint, and is pushed aside by a goal.
func TestROS2OutsideController(t *testing.T) {
	needsProgram(t)
	if os.Getenv("POISE_ROS2") == "" {
		t.Skip("absent: POISE_ROS2 (make ros2)")
	}
	if !inOwnNetwork(t) {
		return
	}
	serveIt(t, "--robot", "arm6", "--ros2", "--no-record", "--config", unhurriedFile(t)).used(func() {
		out, err := onCyclone(t, "outside.py").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
	})
}

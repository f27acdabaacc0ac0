package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// armJoints are those of arm6.
var armJoints = []string{"joint_1", "joint_2", "joint_3", "joint_4", "joint_5", "joint_6", "finger_left_joint"}

// TestARobotOfRospyIsDriven by the driver of topics over ROS 1: a goal to Poise moves the joints
// that rospy's node publishes. The master is Poise's own, which is there before the driver looks
// for the robot, and both have joint_states.
func TestARobotOfRospyIsDriven(t *testing.T) {
	t.Parallel()
	ros := needsROS1Peers(t)
	said, end := ros.peer("machine.py", armJoints...)
	s := serveBy(t, binary(t), ros.variables(), "--robot", "arm6", "--ros1-master", "--remap", "joint_states:=/machine/joint_states", "--config", writtenFile(t, slowWorld+fmt.Sprintf(`
robots:
  - {name: real, driver: topics, settings: {url: "%s", commands: /machine/joint_commands, states: /machine/joint_states, wait: 100}}
`, ros.master)))
	call := func(want string, args ...string) {
		t.Helper()
		out, errs, _ := poise("", append(args, "--server", s.address)...)
		if !strings.Contains(out+errs, want) {
			t.Fatalf("%v says %s%s\n%s", args, out, errs, said.String())
		}
	}
	// joints have not been heard of at first; a Python program that the machine holds up may be a fault at any time, of the bus, too
	for stop := time.Now().Add(hang); ; time.Sleep(50 * time.Millisecond) {
		out, errs, code := poise("", "call", "/set_torque", `{"on": true}`, "--server", s.address)
		if code == exitOK {
			out, errs, _ = poise("", "goal", "/follow_joint_trajectory", `{"trajectory": {"joint_names": ["joint_1"], "points": [{"positions": [0.3], "time_from_start": {"sec": 1}}]}}`, "--server", s.address)
		}
		if strings.Contains(out+errs, "done") {
			break
		}
		if time.Now().After(stop) {
			t.Fatalf("the goal: %s%s\n%s", out, errs, said.String())
		}
		_, _, _ = poise("", "reset", "--server", s.address)
	}
	// measured by rospy: rostopic reads the machine alone if Poise's own has the same name, too
	ros.says("position: [0.3", "rostopic", "echo", "-n1", "/machine/joint_commands")
	call("0.3", "topic", "echo", "joint_states_real", "--count", "1")
	// without it the bus is down, though Poise itself publishes the same topic
	end()
	for stop := time.Now().Add(hang); ; time.Sleep(100 * time.Millisecond) {
		if out, errs, _ := poise("", "state", "--server", s.address); strings.Contains(out+errs, "bus silent") {
			break
		} else if time.Now().After(stop) {
			t.Fatalf("a robot that is gone is not missed: %s%s", out, errs)
		}
	}
	_, _ = ros.peer("machine.py", armJoints...)
	for stop := time.Now().Add(hang); ; time.Sleep(100 * time.Millisecond) {
		_, _, _ = poise("", "reset", "--server", s.address) // a fault stays until then
		if out, errs, _ := poise("", "state", "--server", s.address); !strings.Contains(out+errs, "bus silent") {
			break
		} else if time.Now().After(stop) {
			t.Fatalf("a robot that is back is not found: %s%s", out, errs)
		}
	}
}

// TestARobotOfRospyIsMirrored: one that has no more than follow_joint_trajectory, in the network
// of a roscore, takes goals of a server that is no node of it otherwise, and is stopped.
func TestARobotOfRospyIsMirrored(t *testing.T) {
	t.Parallel()
	ros := needsROS1(t)
	s := serveBy(t, binary(t), nil, "--robot", "arm6", "--config", unhurriedFile(t), "--mirror", ros.master)
	ros.start() // later than the server
	said, end := ros.peer("machine.py", armJoints...)
	until := func(want string, args ...string) {
		t.Helper()
		var out, errs string
		for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if out, errs, _ = poise("", append(args, "--server", s.address)...); strings.Contains(out+errs, want) {
				return
			}
		}
		t.Fatalf("%v never says %q: %s%s\n%s", args, want, out, errs, said.String())
	}
	const action = "/remote/machine/follow_joint_trajectory"
	until("1 points", "goal", "--json", action, `{"trajectory": {"joint_names": ["joint_2"], "points": [{"positions": [0.7], "time_from_start": {"sec": 0}}]}}`)
	until("0.7", "topic", "echo", "/remote/machine/joint_states", "--count", "1")
	type ending struct {
		out  string
		code int
	}
	ended := make(chan ending, 1)
	go func() {
		out, errs, code := poise("", "goal", action, `{"trajectory": {"joint_names": ["joint_2"], "points": [{"positions": [0.1], "time_from_start": {"sec": 1000}}]}}`, "--server", s.address)
		ended <- ending{out + errs, code}
	}()
	until("0.1", "topic", "echo", "/remote/machine/joint_states", "--count", "1")
	until("no goal is left", "call", "/remote/stop", "{}")
	select {
	case e := <-ended:
		if e.code == 0 || !strings.Contains(e.out, "cancelled") {
			t.Errorf("the goal that was stopped: %d, %s", e.code, e.out)
		}
	case <-time.After(hang):
		t.Error("the goal does not end")
	}
	ros.gone("/joint_states_reference", "rostopic", "list") // nothing of the server's own is shown there
	end()
	for stop := time.Now().Add(hang); ; time.Sleep(50 * time.Millisecond) {
		if out, _, _ := poise("", "topic", "list", "--server", s.address); !strings.Contains(out, action) {
			break
		} else if time.Now().After(stop) {
			t.Fatal("what is gone is still mirrored: " + out)
		}
	}
}

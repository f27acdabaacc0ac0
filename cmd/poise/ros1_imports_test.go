package main

import (
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"poise/internal/golden"
)

// peer runs a Python program of tools/peers/ros1 beside the test; end ends it as Ctrl-C does, and
// as a power cut does if rospy, which has then left the network, waits for a thread of its own.
func (r *rosTools) peer(file string, args ...string) (said *lockedBuffer, end func()) {
	r.t.Helper()
	said = &lockedBuffer{}
	other := r.command("/usr/bin/python3", append([]string{filepath.Join(golden.Root(r.t), "tools/peers/ros1", file)}, args...)...)
	other.Env = append(other.Env, "POISE_BINARY="+binary(r.t))
	other.Stdout, other.Stderr = said, said
	if err := other.Start(); err != nil {
		r.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- other.Wait() }()
	end = sync.OnceFunc(func() {
		_ = other.Process.Signal(syscall.SIGINT)
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			r.t.Logf("the other node does not end by itself: %s", said.String())
			_ = other.Process.Kill()
			<-ended
		}
	})
	r.t.Cleanup(end)
	return said, end
}

// TestGoalsAndCallsReachOtherROS1Nodes sends goals and calls, by the server's graph, to a node
// of rospy and actionlib.
func TestGoalsAndCallsReachOtherROS1Nodes(t *testing.T) {
	t.Parallel()
	ros := needsROS1(t)
	s := serveBy(t, binary(t), ros.variables(), "--config", unhurriedFile(t), "--robot", "arm6", "--ros1-master")
	said, end := ros.peer("serves.py")
	until := func(want, unwanted string, args ...string) {
		t.Helper()
		var out, errs string
		for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			out, errs, _ = poise("", append(args, "--server", s.address)...)
			if all := out + errs; strings.Contains(all, want) && (unwanted == "" || !strings.Contains(all, unwanted)) {
				return
			}
		}
		t.Fatalf("%v never says %q: %s%s\n%s", args, want, out, errs, said.String())
	}
	until(`"message": "on"`, "", "call", "/lamp", `{"data": true}`)
	until("/other_arm/follow_joint_trajectory/status", "", "topic", "list")
	const action = "/other_arm/follow_joint_trajectory"
	until("2 points", "", "goal", "--json", action, `{"trajectory": {"joint_names": ["a"], "points": [{"positions": [1]}, {"positions": [2]}]}}`)
	out, errs, code := poise("", "goal", action, `{}`, "--server", s.address)
	if code != 1 || !strings.Contains(out+errs, "no points") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	// others see one server of the action and of the service: the node that has them
	ros.says("Publishers: \n * /other (http", "rostopic", "info", action+"/status")
	ros.says("Publishers: \n * /poise (http", "rostopic", "info", action+"/goal")
	ros.says("Node: /other", "rosservice", "info", "/lamp")
	end()
	until("lamp", `"message": "on"`, "call", "/lamp", `{"data": true}`)
	ros.gone(action+"/goal", "rostopic", "list")
}

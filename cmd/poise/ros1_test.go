package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"poise/internal/golden"
)

// rosTools is ROS 1 as Debian packages it, with a master to talk to.
type rosTools struct {
	t      *testing.T
	master string
	more   []string // variables of its programs
}

// needsROS1 wants Debian's ROS 1, and returns its tools for a master at a free port.
func needsROS1(t *testing.T) *rosTools {
	t.Helper()
	needsProgram(t)
	if out, err := exec.Command("/usr/bin/python3", "-c", "import rospy, actionlib, tf2_msgs, roscpp.srv").CombinedOutput(); err != nil {
		golden.Missing(t, "Debian's ROS 1 is missing; tools/setup.sh installs it: %s", out)
	}
	return &rosTools{t: t, master: "http://" + freeAddress(t)}
}

// variables are those of a program that talks to the master.
func (r *rosTools) variables() []string {
	return append([]string{"ROS_MASTER_URI=" + r.master, "ROS_IP=127.0.0.1", "ROS_HOME=" + r.t.TempDir(), "PATH=/usr/bin:" + os.Getenv("PATH")}, r.more...)
}

func (r *rosTools) command(program string, args ...string) *exec.Cmd {
	if found, err := exec.LookPath("/usr/bin/" + program); err == nil {
		program = found
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), r.variables()...)
	return cmd
}

// poise runs the program for the master, and returns what it prints.
func (r *rosTools) poise(args ...string) (string, error) {
	cmd := exec.Command(binary(r.t), args...)
	cmd.Env = append(os.Environ(), r.variables()...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// start starts ROS's own roscore, and waits until it is there; end ends it. On a busy machine roscore gives up when its
// own master takes more than ten seconds: it is started again then.
func (r *rosTools) start() (end func()) {
	r.t.Helper()
	_, port, _ := strings.Cut(strings.TrimPrefix(r.master, "http://"), ":")
	for began := time.Now(); ; {
		core := r.command("roscore", "-p", port)
		core.Env = append(core.Env, "PYTHONUNBUFFERED=1")      // it says at once that it is there
		core.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with the programs that it starts
		var out lockedBuffer
		core.Stdout, core.Stderr = &out, &out
		if err := core.Start(); err != nil {
			r.t.Fatal(err)
		}
		over := make(chan struct{})
		go func() { _ = core.Wait(); close(over) }()
		end = sync.OnceFunc(func() {
			_ = syscall.Kill(-core.Process.Pid, syscall.SIGINT)
			select {
			case <-over:
			case <-time.After(hang):
				_ = syscall.Kill(-core.Process.Pid, syscall.SIGKILL)
				r.t.Error("roscore does not end")
			}
		})
		for gone := false; !gone; {
			select {
			case <-over:
				gone = true
			case <-time.After(20 * time.Millisecond):
				if strings.Contains(out.String(), "started core service [/rosout]") {
					r.t.Cleanup(end)
					return end
				}
			}
			if time.Since(began) > hang {
				end()
				r.t.Fatalf("roscore does not start:\n%s", out.String())
			}
		}
	}
}

// says runs a tool again and again until it says what is wanted.
func (r *rosTools) says(want, program string, args ...string) {
	r.t.Helper()
	var out []byte
	for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if out, _ = r.command(program, args...).CombinedOutput(); strings.Contains(string(out), want) {
			return
		}
	}
	r.t.Fatalf("%s %s never says %q: %s", program, strings.Join(args, " "), want, out)
}

// gone runs a tool until it does not say something any more.
func (r *rosTools) gone(what, program string, args ...string) {
	r.t.Helper()
	var out []byte
	var err error
	for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if out, err = r.command(program, args...).Output(); err == nil && !strings.Contains(string(out), what) {
			return
		}
	}
	r.t.Fatalf("%s %s still says %q: %s", program, strings.Join(args, " "), what, out)
}

// TestROS1OnTheRealProgram runs rospy, actionlib and ROS's tools against the program, with
// roscore and with the program's own master.
func TestROS1OnTheRealProgram(t *testing.T) {
	t.Parallel()
	for name, flag := range map[string]string{"with roscore": "--ros1", "with a master of our own": "--ros1-master"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ros := needsROS1(t)
			server := serveBy(t, binary(t), ros.variables(), "--config", unhurriedFile(t), "--robot", "arm6", flag, "_rate:=100")
			if flag == "--ros1" {
				ros.start() // the server waits for it
			}
			peer := ros.command("/usr/bin/python3", filepath.Join(golden.Root(t), "tools/peers/ros1/peer.py"))
			peer.Env = append(peer.Env, "POISE_BINARY="+binary(t))
			out, err := peer.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "all ok") {
				t.Fatalf("%v\n%s", err, out)
			}
			ros.says("100", "rosparam", "get", "/poise/rate")
			ros.says("sensor_msgs/JointState", "rostopic", "type", "/joint_states")
			ros.says("joint_1", "rostopic", "echo", "-n", "1", "/joint_states/name")
			ros.says("* /poise (http", "rostopic", "info", "/joint_states")
			ros.says(" * /follow_joint_trajectory/goal", "rosnode", "info", "/poise")
			ros.says("xmlrpc reply", "rosnode", "ping", "-c", "1", "/poise")
			ros.says("poise_msgs/Stop", "rosservice", "type", "/stop")
			ros.says("moveit_msgs/MoveGroupActionGoal", "rostopic", "type", "/move_group/goal")
			ros.says("ros.poise", "rosservice", "call", "/poise/get_loggers")
			ros.says("robot", "rosparam", "get", "/robot_description")
			bag := filepath.Join(t.TempDir(), "run.bag")
			if out, err := ros.command("rosbag", "record", "-O", bag, "-l", "5", "/joint_states").CombinedOutput(); err != nil {
				t.Fatalf("rosbag record: %v\n%s", err, out)
			}
			ros.says("5 msgs", "rosbag", "info", bag)
			if flag == "--ros1" {
				server.stop(syscall.SIGTERM)
				ros.gone("/poise", "rosnode", "list")
				ros.gone("/robot_description", "rosparam", "list")
				return
			}
			ros.says("killed", "rosnode", "kill", "/poise")
			select {
			case err := <-server.ended:
				if server.ended <- err; err != nil {
					t.Errorf("rosnode kill: the server ended with %v", err)
				}
			case <-time.After(hang):
				t.Error("the server outlives rosnode kill")
			}
		})
	}
}

// TestAMasterThatReturnsHasEverything ends roscore while the program is registered, and
// starts it anew.
func TestAMasterThatReturnsHasEverything(t *testing.T) {
	t.Parallel()
	ros := needsROS1(t)
	end := ros.start()
	serveBy(t, binary(t), ros.variables(), "--config", unhurriedFile(t), "--robot", "arm6", "--ros1", "__ns:=/robot1", "--remap", "joint_states:=/states")
	ros.says("/states", "rostopic", "list")
	ros.says("/robot1/poise", "rosnode", "list")
	end()
	ros.start()
	ros.says("/robot1/stop", "rosservice", "list")
	ros.says("joint_1", "rostopic", "echo", "-n", "1", "/states/name")
	ros.says("/robot1/robot_description", "rosparam", "list")
	ros.says("/poise", "rostopic", "info", "/tf")
	ros.gone("/robot1/joint_states\n", "rostopic", "list")
}

func TestROS1RefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	needsProgram(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for _, c := range []struct {
		master string
		code   int
		want   string
		args   []string
	}{
		{"http://192.0.2.7:11311", exitFailure, "192.0.2.7", []string{"--ros1"}},
		{"http://192.0.2.7:11311", exitFailure, "192.0.2.7", []string{"--ros1-master"}},
		{"http://127.0.0.1:" + port, exitFailure, "port " + port, []string{"--ros1-master"}},
		{"nowhere", exitFailure, "ROS_MASTER_URI", []string{"--ros1"}},
		{"", exitUsage, "--ros1", []string{"--ros1-open"}},
		{"", exitUsage, "__ns:=/a", []string{"__ns:=/a"}},
		{"", exitUsage, "__other", []string{"--ros1", "__other:=/a"}},
		{"", exitUsage, "remap", []string{"--ros1", "--remap", "a"}},
	} {
		cmd := exec.Command(binary(t), append([]string{"serve", "--listen", "127.0.0.1:0", "--motions", t.TempDir()}, c.args...)...)
		cmd.Env = append(os.Environ(), "ROS_MASTER_URI="+c.master)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		_ = cmd.Run() // the exit code is looked at
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(errs.String(), c.want) {
			t.Errorf("ROS_MASTER_URI=%s poise serve %v: code %d, %q; want %d and %q", c.master, c.args, code, errs.String(), c.code, c.want)
		}
	}
}

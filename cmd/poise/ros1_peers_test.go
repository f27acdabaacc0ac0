package main

import (
	"bufio"
	"errors"
	"image/png"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"poise/internal/golden"
)

// needsROS1Peers is needsROS1 for tests that take minutes: make ros1 runs them.
func needsROS1Peers(t *testing.T) *rosTools {
	t.Helper()
	if os.Getenv("POISE_ROS1") == "" {
		t.Skip("absent: POISE_ROS1, which make ros1 sets where ROS 1 is installed")
	}
	return needsROS1(t)
}

// withBothMasters runs a test with roscore and with the program's own master, beside other tests.
func withBothMasters(t *testing.T, f func(t *testing.T, ros *rosTools, server *running)) {
	t.Parallel()
	for _, c := range []struct{ name, flag string }{{"with roscore", "--ros1"}, {"with a master of our own", "--ros1-master"}} {
		t.Run(c.name, func(t *testing.T) {
			ros := needsROS1Peers(t)
			if c.flag == "--ros1" {
				ros.start()
			}
			server := serveBy(t, binary(t), ros.variables(), "--config", unhurriedFile(t), "--robot", "arm6", c.flag)
			if c.flag == "--ros1" { // all names are there as soon as one round of registering is over
				for end := time.Now().Add(hang); !strings.Contains(server.log.String(), "registered at the ROS 1 master"); time.Sleep(50 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatal("the server is never registered")
					}
				}
			}
			ros.says("/poise", "rosnode", "list")
			f(t, ros, server)
		})
	}
}

// passes runs a program of tools/peers/ros1, which ends with "all ok" if all held.
func (r *rosTools) passes(program string, args ...string) {
	r.t.Helper()
	cmd := r.command(program, args...)
	cmd.Env = append(cmd.Env, "POISE_BINARY="+binary(r.t))
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "all ok") {
		r.t.Fatalf("%s %v: %v\n%s", program, args, err, out)
	}
}

// run starts a program that goes on until the test ends.
func (r *rosTools) run(program string, args ...string) {
	r.t.Helper()
	r.runWith(nil, program, args...)
}

// runWith is run with files, the first of which is number 3 there.
func (r *rosTools) runWith(files []*os.File, program string, args ...string) {
	r.t.Helper()
	cmd := r.command(program, args...)
	cmd.ExtraFiles = files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case <-done:
		case <-time.After(10 * time.Second): // some ROS programs miss the signal while they start
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-done
		}
		if r.t.Failed() {
			r.t.Logf("%s %v:\n%s", program, args, out.String())
		}
	})
}

// TestROS1ByOtherLibraries drives the program by roscpp and actionlib in C++, by rosnodejs, and
// by an external controller with the original stack's messages.
func TestROS1ByOtherLibraries(t *testing.T) {
	withBothMasters(t, func(t *testing.T, ros *rosTools, _ *running) {
		root := golden.Root(t)
		peers := filepath.Join(root, "tools/peers/ros1")
		work := filepath.Join(root, ".tools/ros1")
		if out, err := exec.Command(filepath.Join(peers, "build.sh"), binary(t), work).CombinedOutput(); err != nil {
			golden.Missing(t, "the C++ peer is not built (tools/setup.sh installs what it needs): %v\n%s", err, out)
		}
		ros.passes(filepath.Join(work, "peer"), "client")
		if _, err := os.Stat(filepath.Join(os.Getenv("POISE_CLIENTS"), "node_modules/rosnodejs")); err != nil {
			golden.Missing(t, "rosnodejs is missing; tools/clients/setup.sh installs it: %v", err)
		}
		ros.passes("node", filepath.Join(peers, "rosnode.cjs"))
		ros.passes("/usr/bin/python3", filepath.Join(peers, "outside.py"))
	})
}

// TestROS1Tools runs ROS's command-line tools and nodes, what they do and what they refuse.
func TestROS1Tools(t *testing.T) {
	withBothMasters(t, func(t *testing.T, ros *rosTools, server *running) {
		dir := t.TempDir()
		bag, dump := filepath.Join(dir, "run.bag"), filepath.Join(dir, "dump.yaml")
		for _, c := range []struct{ want, line string }{
			{"/follow_joint_trajectory/goal", "rostopic list"},
			{"Published topics:", "rostopic list -v"},
			{"/joint_states", "rostopic find sensor_msgs/JointState"},
			{"average rate: ", "timeout -s INT 4 rostopic hz -w 50 /joint_states"},
			{"average: ", "timeout -s INT 4 rostopic bw /joint_states"},
			{"average delay: ", "timeout -s INT 4 rostopic delay /joint_states"},
			{"<robot", "rostopic echo -n 1 --offset /robot_description"},
			{"publishing and latching", "rostopic pub -1 /joint_trajectory trajectory_msgs/JointTrajectory {}"},
			{"does not appear to be published yet", "timeout -s INT 2 rostopic echo /no_such_topic"},
			{"unknown topic type", "rostopic type /no_such_topic"},
			{"topic types do not match", "timeout -s INT 4 rostopic pub -1 /joint_trajectory std_msgs/String x"},
			{"/stop", "rosservice list"},
			{"/poise/get_loggers", "rosservice find roscpp/GetLoggers"},
			{"/poise", "rosservice node /stop"},
			{"rosrpc://127.0.0.1:", "rosservice uri /stop"},
			{"Type: roscpp/SetLoggerLevel", "rosservice info /poise/set_logger_level"},
			{"logger level", "rosservice args /poise/set_logger_level"},
			{"is unknown (debug", "rosservice call /poise/set_logger_level ros.poise loud"},
			{"Unknown service", "rosservice type /no_such_service"},
			{"is not available", "rosservice call /no_such_service"},
			{"Incompatible arguments", "rosservice call /poise/set_logger_level a b c d"},
			{"/poise", "rosnode list"},
			{"Publications:", "rosnode info /poise"},
			{"127.0.0.1", "rosnode machine"},
			{"cannot ping", "rosnode ping -c 1 /no_such_node"},
			{"/robot_description", "rosparam list"},
			{"", "rosparam set /peer/list [1,2.5,x]"},
			{"2.5", "rosparam get /peer/list"},
			{"", "rosparam dump " + dump + " /peer"},
			{"", "rosparam delete /peer"},
			{"is not set", "rosparam get /peer/list"},
			{"", "rosparam load " + dump + " /peer"},
			{"2.5", "rosparam get /peer/list"},
			{"is not set", "rosparam delete /no_such_parameter"},
			{"", "rosbag record -O " + bag + " -l 20 /joint_states /tf"},
			{"sensor_msgs/JointState", "rosbag info " + bag},
			{"Done.", "rosbag play --rate 4 " + bag + " /joint_states:=/played /tf:=/played_tf"},
			{"Translation", "timeout -s INT 6 /usr/lib/tf/tf_echo base_link tool0"},
			{"Frames:", "timeout -s INT 6 /usr/lib/tf/tf_monitor base_link tool0"},
			{"Translation", "timeout -s INT 6 /usr/lib/tf2_tools/echo.py base_link tool0"},
		} {
			// a program that is interrupted before it listens to signals ends by KILL
			words := strings.Fields(strings.Replace(c.line, "timeout ", "timeout -k 20 ", 1))
			out, err := ros.command(words[0], words[1:]...).CombinedOutput()
			for n := 2; n <= 16 && words[0] == "timeout" && !strings.Contains(string(out), c.want); n *= 2 { // Python starts late on a busy machine
				longer := slices.Clone(words[1:])
				seconds, _ := strconv.Atoi(longer[4])
				longer[4] = strconv.Itoa(n * seconds)
				out, err = ros.command("timeout", longer...).CombinedOutput()
			}
			if !strings.Contains(string(out), c.want) {
				t.Errorf("%s does not say %q (%v):\n%.1000s", c.line, c.want, err, out)
			}
		}
		ros.run("/usr/lib/topic_tools/relay", "/joint_states", "/relayed")
		ros.run("/usr/lib/topic_tools/throttle", "messages", "/joint_states", "20", "/throttled")
		ros.run("/usr/lib/topic_tools/drop", "/joint_states", "1", "2", "/dropped")
		ros.run("/usr/lib/topic_tools/mux", "/muxed", "/joint_states", "/other")
		ros.run("/usr/lib/robot_state_publisher/robot_state_publisher", "/tf:=/others_tf", "/tf_static:=/others_tf_static")
		ros.run("/usr/lib/joint_state_publisher/joint_state_publisher", "/joint_states:=/others_joints", "_source_list:=[/joint_states_reference]")
		for _, topic := range []string{"/relayed", "/throttled", "/dropped", "/muxed", "/others_joints"} {
			ros.says("joint_1", "rostopic", "echo", "-n", "1", topic+"/name")
		}
		ros.says("link_6", "rostopic", "echo", "-n", "1", "/others_tf")
		// services of other nodes are in the graph: mux's select is called through it
		ros.says("topic_tools/MuxSelect", "rosservice", "type", "/mux/select")
		if out, errs, code := poise("", "call", "/get_state", "{}", "--server", server.address); code != 0 {
			t.Errorf("the server answers %s%s", out, errs)
		}
	})
}

// screen starts a screen in memory, by a number that no other has, and returns the number.
func (r *rosTools) screen() string {
	r.t.Helper()
	numbers, tell, err := os.Pipe()
	if err != nil {
		r.t.Fatal(err)
	}
	defer numbers.Close()
	r.runWith([]*os.File{tell}, "Xvfb", "-displayfd", "3", "-screen", "0", "1024x768x24")
	tell.Close()
	number, err := bufio.NewReader(numbers).ReadString('\n')
	if err != nil {
		r.t.Fatalf("Xvfb tells no screen: %v", err)
	}
	return strings.TrimSpace(number)
}

// TestRVizShowsTheRobot draws the robot by RViz on a screen in memory. The picture is kept in
// .tools/ros1 to be looked at; here it has to have the colours of a robot.
func TestRVizShowsTheRobot(t *testing.T) {
	withBothMasters(t, func(t *testing.T, ros *rosTools, _ *running) {
		for _, program := range []string{"rviz", "Xvfb", "import"} {
			if _, err := exec.LookPath(program); err != nil {
				golden.Missing(t, "%s is missing; tools/setup.sh installs it", program)
			}
		}
		root := golden.Root(t)
		picture := filepath.Join(root, ".tools/ros1/rviz.png")
		if err := os.MkdirAll(filepath.Dir(picture), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(picture); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		screen := ":" + ros.screen()
		ros.more = []string{"DISPLAY=" + screen, "LIBGL_ALWAYS_SOFTWARE=1", "QT_X11_NO_MITSHM=1"}
		ros.run("rviz", "-d", filepath.Join(root, "tools/peers/ros1/rviz.rviz"))
		var colours int
		for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(2 * time.Second) {
			if out, err := ros.command("import", "-window", "root", picture).CombinedOutput(); err != nil {
				t.Logf("import: %v %s", err, out)
				continue
			}
			if colours = coloursOf(t, picture); colours > 500 {
				return
			}
		}
		t.Errorf("the picture has %d colours: no robot is seen", colours)
	})
}

// coloursOf counts the colours of the middle of a picture, where the robot is.
func coloursOf(t *testing.T, path string) int {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Logf("%s: %v", path, err)
		return 0
	}
	seen := map[[3]uint32]bool{}
	b := img.Bounds()
	for y := b.Min.Y + b.Dy()/4; y < b.Max.Y-b.Dy()/4; y++ {
		for x := b.Min.X + b.Dx()/2; x < b.Max.X-b.Dx()/8; x++ {
			r, g, b, _ := img.At(x, y).RGBA()
			seen[[3]uint32{r >> 10, g >> 10, b >> 10}] = true
		}
	}
	return len(seen)
}

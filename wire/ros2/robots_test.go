package ros2

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"poise/action"
	"poise/graph"
	"poise/internal/golden"
	"poise/internal/netns"
	"poise/msgs"
)

// TestARobotOnCyclone, TestARobotOnFastDDS and TestARobotOnRust mirror a robot that stands on the
// DDS of others (tools/peers/ros2/README.md), in a network namespace, and use it as its client:
// topics both ways at 1 kHz without a gap, what is latched for those who come late, a service, goals
// to the end with feedback, cancelled, refused; the robot is killed, without a word, and comes
// again, and ends with a word, and comes again.
func TestARobotOnCyclone(t *testing.T) { useMatrix(t, cycloneSide, "robot.py", useRobot) }

func TestARobotOnFastDDS(t *testing.T) { useMatrix(t, fastDDSSide, "robot", useRobot) }

func TestARobotOnRust(t *testing.T) { useMatrix(t, rustSide, "robot", useRobot) }

// cycloneSide is a side of the matrix in Python, on Cyclone DDS.
func cycloneSide(t *testing.T, script string) []string {
	t.Helper()
	if os.Getenv("POISE_ROS2") == "" {
		t.Skip("absent: POISE_ROS2 (make ros2)")
	}
	python := golden.Python(t)
	if out, err := exec.Command(python, "-c", "import cyclonedds").CombinedOutput(); err != nil {
		golden.Missing(t, "absent: cyclonedds in POISE_PYTHON (tools/oracle/requirements.txt): %s", out)
	}
	return []string{python, filepath.Join(golden.Root(t), "tools/peers/ros2", script)}
}

// fastDDSSide is a side of the matrix in C++, on Fast DDS.
func fastDDSSide(t *testing.T, role string) []string {
	t.Helper()
	peer := os.Getenv("POISE_ROS2_FASTDDS")
	if peer == "" {
		t.Skip("absent: POISE_ROS2_FASTDDS (make ros2)")
	}
	return []string{peer, role}
}

// rustSide is a side of the matrix by ros2-client, over RustDDS.
func rustSide(t *testing.T, role string) []string {
	t.Helper()
	peer := os.Getenv("POISE_ROS2_RUST")
	if peer == "" {
		t.Skip("absent: POISE_ROS2_RUST (make ros2-rust)")
	}
	return []string{peer, "enhanced", role}
}

// robotPatience is for what hangs.
const robotPatience = 5 * time.Minute

// startMirror shows the network in a graph, below /real.
func startMirror(t *testing.T, open bool) (*graph.Graph, *Node) {
	t.Helper()
	g := newGraph(t)
	n, err := New(g, Config{Form: msgs.Jazzy, Open: open, Mirror: "real", Names: Names{Node: "mirror"}, Limits: Limits{Queue: matrixQueue}})
	if err != nil {
		t.Fatal(err)
	}
	running, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(running) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return g, n
}

// soon waits for a peer, whose pace is its own.
func soon(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(robotPatience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, robotPatience)
		}
	}
}

// robotThere reports whether a robot of the matrix is mirrored.
func robotThere(g *graph.Graph) bool {
	_, service := g.ServiceInfo("/real/home")
	_, act := g.ActionInfo("/real/arm/follow_joint_trajectory")
	return service && act
}

func useRobot(t *testing.T, command []string) {
	ctx, cancel := context.WithTimeout(t.Context(), robotPatience)
	defer cancel()
	g, n := startMirror(t, false)
	first := start(t, command).expect(t, "ready")
	there := func() bool { return robotThere(g) }
	soon(t, "the robot is mirrored", there)
	statesWithoutGap(ctx, t, g, 3000)
	late, err := graph.Listen[msgs.String](g, "/real/robot_description", graph.SubscribeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if v, _, err := late.Next(ctx); err != nil || v.Data != "<robot/>" {
		t.Errorf("latched: %+v, %v", v, err)
	}
	late.Close()
	commandsWithoutGap(ctx, t, g, n)
	goals(ctx, t, g)

	first.kill()
	second := start(t, command).expect(t, "ready")
	soon(t, "the robot that was killed is used again", func() bool {
		within, done := context.WithTimeout(ctx, 2*time.Second)
		defer done()
		r, err := graph.Call[msgs.SetBoolRequest, msgs.SetBoolResponse](within, g, "/real/home", &msgs.SetBoolRequest{Data: true})
		return err == nil && r.Success && strings.HasPrefix(r.Message, "0 commands")
	})
	soon(t, "the one that was killed is gone", func() bool { return len(n.p.Others()) == 1 })
	soon(t, "the new one is there", there)
	goals(ctx, t, g)

	second.end(t) // with a word to all
	soon(t, "the one that has ended is gone", func() bool { return len(n.p.Others()) == 0 && !robotThere(g) })
	third := start(t, command).expect(t, "ready")
	soon(t, "the third is there", there)
	goals(ctx, t, g)
	third.end(t)
}

// TestGoalsOfTwoMachinesOnCyclone: a robot on Cyclone DDS on its default settings, on a second
// machine that is plugged in later than this one began. It is found, takes goals to the end, refused and cancelled, is lost when the cable is
// pulled, goals with it, and takes goals again when the cable is plugged in.
func TestGoalsOfTwoMachinesOnCyclone(t *testing.T) {
	useMatrix(t, cycloneSide, "robot.py", func(t *testing.T, command []string) {
		ctx, cancel := context.WithTimeout(t.Context(), robotPatience)
		defer cancel()
		g, n := startMirror(t, true)
		robot := start(t, append(netns.SecondMachine(t), command...)).expect(t, "ready")
		soon(t, "the robot is mirrored", func() bool { return robotThere(g) })
		if others := n.p.Others(); len(others) != 1 || !strings.HasPrefix(others[0].Address, "10.77.0.2:") {
			t.Errorf("others: %+v", others)
		}
		goals(ctx, t, g)
		goal := follow("knee")
		goal.Trajectory.Points = []msgs.JointTrajectoryPoint{{Positions: []float64{0.1}, TimeFromStart: msgs.Duration{Sec: 600}}}
		c, err := g.SendGoal("/real/arm/follow_joint_trajectory", goal, graph.GoalOptions{Queue: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for u := (graph.GoalUpdate{}); u.State != action.Active; {
			if u, err = c.Next(ctx); err != nil {
				t.Fatal(err)
			}
		}
		netns.Cable(t, "down")
		if u, err := c.Result(ctx); err != nil || u.State != action.Lost {
			t.Errorf("a goal of a robot whose cable is pulled: %v, %v", u.State, err)
		}
		soon(t, "the robot is gone", func() bool { return !robotThere(g) && len(n.p.Others()) == 0 })
		netns.Cable(t, "up")
		soon(t, "the robot is mirrored again", func() bool { return robotThere(g) })
		goals(ctx, t, g)
		robot.end(t)
	})
}

// statesWithoutGap reads joint_states, whose stamps count.
func statesWithoutGap(ctx context.Context, t *testing.T, g *graph.Graph, count int) {
	t.Helper()
	states, err := graph.Listen[msgs.JointState](g, "/real/joint_states", graph.SubscribeOptions{QoS: graph.QoS{Depth: 100000}})
	if err != nil {
		t.Fatal(err)
	}
	defer states.Close()
	var last int32
	for i := range count {
		m, lost, err := states.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if now := m.Header.Stamp.Sec; lost > 0 || i > 0 && now != last+1 {
			t.Fatalf("state %d comes after %d, %d are lost", now, last, lost)
		}
		last = m.Header.Stamp.Sec
	}
}

// commandsWithoutGap publishes a thousand commands in a second, and asks the robot what it has heard.
func commandsWithoutGap(ctx context.Context, t *testing.T, g *graph.Graph, n *Node) {
	t.Helper()
	drive, err := graph.Topic[msgs.JointState](g, "/real/joint_commands", graph.TopicOptions{QoS: graph.QoS{Depth: 10000}})
	if err != nil {
		t.Fatal(err)
	}
	for matched := false; !matched; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatal("the robot does not read commands")
		}
		n.mu.Lock()
		p := n.pubs["/joint_commands"]
		matched = p != nil && p.writer.Matched() > 0 && p.stopped != nil
		n.mu.Unlock()
	}
	const count = 1000
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := range count {
		<-tick.C
		drive.Publish(&msgs.JointState{Header: msgs.Header{Stamp: msgs.Time{Sec: int32(i)}}, Name: []string{"knee"}, Position: []float64{0.25}})
	}
	for want, got := fmt.Sprintf("%d commands, 0 jumps", count), ""; got != want; time.Sleep(10 * time.Millisecond) {
		r, err := graph.Call[msgs.SetBoolRequest, msgs.SetBoolResponse](ctx, g, "/real/home", &msgs.SetBoolRequest{Data: true})
		if err != nil || !r.Success {
			t.Fatalf("%+v, %v; the robot has heard %q", r, err, got)
		}
		if got = r.Message; !strings.HasSuffix(got, ", 0 jumps") {
			t.Fatalf("the robot has heard %q", got)
		}
	}
}

// goals sends one that ends, one that is refused, and one that is cancelled.
func goals(ctx context.Context, t *testing.T, g *graph.Graph) {
	t.Helper()
	send := func(joint string, seconds int32) *graph.GoalClient {
		t.Helper()
		goal := follow(joint)
		goal.Trajectory.Points = []msgs.JointTrajectoryPoint{{Positions: []float64{0.1}, TimeFromStart: msgs.Duration{Sec: seconds}}}
		c, err := g.SendGoal("/real/arm/follow_joint_trajectory", goal, graph.GoalOptions{Queue: 1000})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c, feedbacks := send("knee", 1), 0
	for {
		u, err := c.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if u.Feedback != nil {
			feedbacks++
		}
		if u.Result != nil {
			if u.State != action.Succeeded || feedbacks == 0 {
				t.Errorf("a goal ends by %v after %d feedbacks", u.State, feedbacks)
			}
			break
		}
	}
	if u, err := send("refuse", 1).Result(ctx); err != nil || u.State != action.Rejected {
		t.Errorf("refused: %v, %v", u.State, err)
	}
	c = send("knee", 600)
	for u := (graph.GoalUpdate{}); u.State != action.Active; {
		var err error
		if u, err = c.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}
	c.Cancel()
	if u, err := c.Result(ctx); err != nil || u.State != action.Preempted {
		t.Errorf("cancelled: %v, %v", u.State, err)
	}
}

package ros2

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"poise/action"
	"poise/graph"
	"poise/internal/netns"
	"poise/msgs"
)

// robotProcess is set in a process that is the robot of the matrix (tools/peers/ros2/README.md).
const robotProcess = "POISE_TEST_ROBOT"

func TestMain(m *testing.M) {
	if os.Getenv(robotProcess) == "" {
		os.Exit(m.Run())
	}
	if err := serveRobot(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestClientsOnCyclone, TestClientsOnFastDDS and TestClientsOnRust have a robot of this package,
// a process of its own, used by clients that stand on the DDS of others: topics both ways at 1 kHz
// without a gap, what is latched for those who come late, a service, goals to the end with
// feedback, refused and cancelled. The server ends and comes again, is killed without a word and
// comes again, and then a client is killed and another comes.
func TestClientsOnCyclone(t *testing.T) { useMatrix(t, cycloneSide, "use.py", serveClients) }

func TestClientsOnFastDDS(t *testing.T) { useMatrix(t, fastDDSSide, "client", serveClients) }

func TestClientsOnRust(t *testing.T) { useMatrix(t, rustSide, "client", serveClients) }

// useMatrix finds one side of the matrix, and runs a test with it in a network namespace.
func useMatrix(t *testing.T, find func(t *testing.T, role string) []string, role string, use func(t *testing.T, command []string)) {
	t.Parallel() // most of the time it waits for leases
	command := find(t, role)
	if netns.Inside(t) {
		use(t, command)
	}
}

// serveClients has the robot used by a client.
func serveClients(t *testing.T, command []string) {
	serve := func() *process { return start(t, []string{os.Args[0]}, robotProcess+"=1").expect(t, "ready") }
	server := serve()
	client := start(t, command).expect(t, "done")
	server.end(t) // with a word to all
	server = serve()
	client.say(t, "again").expect(t, "done")
	server.kill()
	server = serve()
	client.say(t, "again").expect(t, "done")
	client.kill()
	another := start(t, command).expect(t, "done")
	another.end(t)
	server.say(t, "others")
	for server.line(t) != "0 others" { // the one that was killed is gone when its lease is over
		time.Sleep(100 * time.Millisecond)
		server.say(t, "others")
	}
	server.end(t)
}

// process is a program that speaks by lines, and ends with its input.
type process struct {
	command []string
	c       *exec.Cmd
	in      io.WriteCloser
	lines   chan string
	once    sync.Once
}

// start starts a program, with a variable set perhaps.
func start(t *testing.T, command []string, env ...string) *process {
	t.Helper()
	p := &process{command: command, c: exec.Command(command[0], command[1:]...), lines: make(chan string, 100)}
	p.c.Stderr, p.c.Env = os.Stderr, append(os.Environ(), env...)
	var err error
	if p.in, err = p.c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
		close(p.lines)
	}()
	t.Cleanup(p.kill)
	return p
}

// kill ends the program without a word.
func (p *process) kill() {
	p.once.Do(func() {
		_ = p.c.Process.Kill()
		_ = p.c.Wait()
	})
}

// end ends the program by the end of its input.
func (p *process) end(t *testing.T) {
	t.Helper()
	p.once.Do(func() {
		_ = p.in.Close()
		for range p.lines { // until it has gone
		}
		if err := p.c.Wait(); err != nil {
			t.Errorf("%v: %v", p.command, err)
		}
	})
}

func (p *process) line(t *testing.T) string {
	t.Helper()
	select {
	case line, ok := <-p.lines:
		if !ok {
			t.Fatalf("%v has ended", p.command)
		}
		return line
	case <-time.After(robotPatience):
		t.Fatalf("%v is silent for %v", p.command, robotPatience)
		return ""
	}
}

func (p *process) expect(t *testing.T, want string) *process {
	t.Helper()
	if line := p.line(t); line != want {
		t.Fatalf("%v says %q, not %q", p.command, line, want)
	}
	return p
}

func (p *process) say(t *testing.T, text string) *process {
	t.Helper()
	if _, err := io.WriteString(p.in, text+"\n"); err != nil {
		t.Fatalf("%v: %v", p.command, err)
	}
	return p
}

// serveRobot is the robot of the matrix, until its standard input ends. A line there is answered by
// how many other participants there are.
func serveRobot() error {
	g := graph.New(graph.Options{})
	defer g.Close()
	states, err := graph.Topic[msgs.JointState](g, "joint_states", graph.TopicOptions{QoS: graph.QoS{Depth: matrixQueue}})
	if err != nil {
		return err
	}
	description, err := graph.Topic[msgs.String](g, "robot_description", graph.TopicOptions{QoS: graph.QoS{Latched: true}})
	if err != nil {
		return err
	}
	description.Publish(&msgs.String{Data: "<robot/>"})
	if err := hearCommands(g); err != nil {
		return err
	}
	if err := serveGoals(g); err != nil {
		return err
	}
	n, err := New(g, Config{Form: msgs.Jazzy, Names: Names{Node: "robot"}, Limits: Limits{Queue: matrixQueue}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for s := bufio.NewScanner(os.Stdin); s.Scan(); {
			fmt.Println(len(n.p.Others()), "others")
		}
		cancel()
	}()
	go func() {
		began, number := time.Now(), int32(0)
		for ; ctx.Err() == nil; time.Sleep(500 * time.Microsecond) {
			for ; time.Duration(number)*time.Millisecond < time.Since(began); number++ {
				states.Publish(&msgs.JointState{Header: msgs.Header{Stamp: msgs.Time{Sec: number}}, Name: []string{"knee"}, Position: []float64{0.5}})
			}
		}
	}()
	fmt.Println("ready")
	return n.Run(ctx)
}

// matrixQueue is how many messages wait on a machine that is busy.
const matrixQueue = 20000

// hearCommands counts commands, from the first of each client, and says so in answer to home.
func hearCommands(g *graph.Graph) error {
	commands, err := graph.Listen[msgs.JointState](g, "joint_commands", graph.SubscribeOptions{QoS: graph.QoS{Depth: matrixQueue}})
	if err != nil {
		return err
	}
	var mu sync.Mutex
	heard, jumps, last := 0, 0, int32(-1)
	go func() {
		for {
			m, lost, err := commands.Next(context.Background())
			if err != nil {
				return
			}
			mu.Lock()
			number := m.Header.Stamp.Sec
			if number == 0 {
				heard, jumps, last = 0, 0, -1
			}
			heard++
			if number != last+1 || lost > 0 {
				jumps++
			}
			last = number
			mu.Unlock()
		}
	}()
	_, err = graph.Service(g, "home", func(_ context.Context, q *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
		mu.Lock()
		defer mu.Unlock()
		return &msgs.SetBoolResponse{Success: q.Data, Message: fmt.Sprintf("%d commands, %d jumps", heard, jumps)}, nil
	}, graph.ServiceOptions{})
	return err
}

// serveGoals serves an action whose goals take the time of their last point.
func serveGoals(g *graph.Graph) error {
	type goal = graph.Goal[msgs.FollowJointTrajectoryGoal, msgs.FollowJointTrajectoryFeedback, msgs.FollowJointTrajectoryResult]
	_, err := graph.Action(g, "arm/follow_joint_trajectory", graph.ActionCallbacks[msgs.FollowJointTrajectoryGoal, msgs.FollowJointTrajectoryFeedback, msgs.FollowJointTrajectoryResult]{
		Goal: func(h *goal) {
			q := h.Value().Trajectory
			if q.JointNames[0] == "refuse" {
				h.Reject(action.ConditionsUnmet, msgs.FollowJointTrajectoryResult{}, "not now")
				return
			}
			h.Accept()
			end := time.Now().Add(time.Duration(q.Points[len(q.Points)-1].TimeFromStart.Nanos()))
			go func() {
				for h.Feedback(&msgs.FollowJointTrajectoryFeedback{JointNames: q.JointNames}) && time.Now().Before(end) {
					time.Sleep(20 * time.Millisecond)
				}
				h.Succeed(msgs.FollowJointTrajectoryResult{}, "")
			}()
		},
		Cancel: func(h *goal) {
			h.Withdraw(action.ClientCancel, msgs.FollowJointTrajectoryResult{}, "as you like")
		},
	}, graph.ActionOptions{})
	return err
}

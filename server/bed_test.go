package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/internal/stepped"
	"poise/loop/runner"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/server"
	"poise/server/config"
	"poise/wire/rosbridge/client"
)

// Tests here run in the stepped time of testing/synctest, with a network in memory: what
// they see of robots and clients does not depend on how busy the machine is.

// patience is how long, in that time, anything may take before a test gives up.
const patience = 10 * time.Minute

// notebook is a log that many write and the test reads.
type notebook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (n *notebook) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(p)
}

// lines returns the lines with all of some words, when everything that was logged is written.
func (n *notebook) lines(words ...string) (found []string) {
	synctest.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	for line := range strings.Lines(n.text.String()) {
		all := true
		for _, w := range words {
			all = all && strings.Contains(line, w)
		}
		if all {
			found = append(found, line)
		}
	}
	return found
}

// bed is a running server with a client of the wire.
type bed struct {
	t   *testing.T
	net *stepped.Net
	s   *server.Server
	c   *client.Client
	ctx context.Context
	log *notebook

	stop  context.CancelFunc
	ended chan error
}

// start runs a server on a network of its own. Its cycle is slow: most tests do not
// need more.
func start(t *testing.T, change func(c *config.Config), options ...func(o *server.Options)) *bed {
	t.Helper()
	return startOn(t, &stepped.Net{}, stepped.Clock{}, change, options...)
}

// startOn runs a server on a network, by a clock.
func startOn(t *testing.T, network *stepped.Net, clock runner.Clock, change func(c *config.Config), options ...func(o *server.Options)) *bed {
	t.Helper()
	c := config.Default()
	c.Listen, c.Motions, c.Loop.Period = "127.0.0.1:0", t.TempDir(), 0.005
	c.Faults.Gap.Severity = "ignore" // a busy machine may stop the cycle for a while
	if change != nil {
		change(&c)
	}
	b := &bed{t: t, net: network, log: &notebook{}, ended: make(chan error, 1)}
	o := server.Options{Log: b.log, Clock: clock, Listen: network.Listen, HTTP: network.Client()}
	for _, option := range options {
		option(&o)
	}
	b.serve(c, o)
	b.c = b.dial()
	return b
}

// serve runs a server until the test ends, and waits until its robot has torque.
func (b *bed) serve(c config.Config, o server.Options) {
	b.t.Helper()
	s, err := server.New(b.t.Context(), c, o)
	if err != nil {
		b.t.Fatal(err)
	}
	b.s = s
	life, stop := context.WithCancel(context.Background())
	b.stop = stop
	go func() { b.ended <- s.Run(life) }()
	var cancel context.CancelFunc
	b.ctx, cancel = context.WithTimeout(context.Background(), patience)
	b.t.Cleanup(func() {
		cancel()
		stop()
		select {
		case err := <-b.ended:
			if err != nil {
				b.t.Errorf("the server ended with: %v", err)
			}
		case <-time.After(patience):
			b.t.Error("the server does not end")
		}
		if b.t.Failed() {
			b.t.Logf("log:\n%s", b.log.text.String())
		}
	})
	select {
	case <-s.Ready():
	case <-b.ctx.Done():
		b.t.Fatal("the robot did not get its torque")
	}
}

// stock puts a short motion of the pony's head into the library: it turns it there and
// back in a second, and blinks in the middle.
func (b *bed) stock() *bed {
	b.t.Helper()
	m := poisemsgs.Motion{Name: "twitch", Columns: []string{"joint52"}, Joints: []poisemsgs.MotionJoint{{Name: "joint52", Enabled: true}},
		Events: []poisemsgs.MotionEvent{{Time: 0.5, Type: "eyes/action", Command: "blink"}}}
	for i, q := range []float64{0, 0.2, 0} {
		m.Points = append(m.Points, poisemsgs.MotionPoint{Time: 0.5 * float64(i), Enabled: true, Positions: []float64{q}})
	}
	b.must("/motions/put", &poisemsgs.MotionsPutRequest{Motion: m})
	return b
}

func (b *bed) dial() *client.Client {
	b.t.Helper()
	c, err := client.Dial(b.ctx, "ws://"+b.s.Address()+"/rosbridge", client.Options{HTTP: b.net.Client()})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(c.Close)
	return c
}

// call calls a service and reads the answer into response.
func (b *bed) call(service string, request, response any) {
	b.t.Helper()
	text, err := b.c.Call(b.ctx, service, client.Text(request, msgs.ROS2))
	if err != nil {
		b.t.Fatalf("%s: %v", service, err)
	}
	if err := client.Read(text, response); err != nil {
		b.t.Fatalf("%s: %v in %s", service, err, text)
	}
}

// answer is how every response of poise_msgs begins.
type answer struct {
	Success      bool
	Message      string
	Version      string
	Explanations []poisemsgs.Explanation
}

// ask calls a service of poise_msgs.
func (b *bed) ask(service string, request any) (a answer) {
	b.t.Helper()
	text, err := b.c.Call(b.ctx, service, client.Text(request, msgs.ROS2))
	if err != nil {
		b.t.Fatalf("%s: %v", service, err)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		b.t.Fatalf("%s: %v in %s", service, err, text)
	}
	return a
}

// must wants a service to do what it was asked.
func (b *bed) must(service string, request any) answer {
	b.t.Helper()
	a := b.ask(service, request)
	if !a.Success {
		b.t.Fatalf("%s: %s", service, a.Message)
	}
	return a
}

// refused wants a service to refuse, with all these words.
func (b *bed) refused(service string, request any, words ...string) answer {
	b.t.Helper()
	a := b.ask(service, request)
	if a.Success {
		b.t.Fatalf("%s: %s, want a refusal", service, a.Message)
	}
	for _, w := range words {
		if !strings.Contains(a.Message, w) {
			b.t.Errorf("%s refused with %q, which does not say %q", service, a.Message, w)
		}
	}
	if len(a.Explanations) == 0 {
		b.t.Errorf("%s refused without an explanation", service)
	}
	return a
}

// Types of the actions.
const (
	followType  = "control_msgs/action/FollowJointTrajectory"
	actionsType = "text_msgs/action/FollowJointTrajectoryWithActions"
	textType    = "text_msgs/action/TextAction"
	moveType    = "moveit_msgs/action/MoveGroup"
	chainType   = "moveit_msgs/action/MoveGroupSequence"
	executeType = "moveit_msgs/action/ExecuteTrajectory"
	switchType  = "resource_control_msgs/action/SetOperational"
	stepType    = "poise_msgs/action/FollowStepSequence"
)

func (b *bed) send(action, typ string, goal any) *client.Goal {
	b.t.Helper()
	g, err := b.c.SendGoal(b.ctx, action, typ, client.Text(goal, msgs.ROS2))
	if err != nil {
		b.t.Fatalf("%s: %v", action, err)
	}
	return g
}

// end waits for the end of a goal.
func (b *bed) end(g *client.Goal) (u client.Update, feedback int) {
	b.t.Helper()
	for {
		u, err := g.Next(b.ctx)
		if err != nil {
			b.t.Fatal(err)
		}
		if u.Done {
			return u, feedback
		}
		feedback++
	}
}

// begun waits for the first feedback.
func (b *bed) begun(g *client.Goal) client.Update {
	b.t.Helper()
	u, err := g.Next(b.ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	if u.Done {
		b.t.Fatalf("the goal is over already: status %d %s %s", u.Status, u.Text, u.Result)
	}
	return u
}

// Statuses of action_msgs.
const (
	succeeded = 4
	cancelled = 5
	aborted   = 6
)

func (b *bed) want(u client.Update, status int) {
	b.t.Helper()
	if u.Status != status || u.Rejected {
		b.t.Fatalf("status %d (%s) %s, want %d", u.Status, u.Text, u.Result, status)
	}
}

// rejected wants a goal to have been refused, with all these words.
func (b *bed) rejected(u client.Update, words ...string) {
	b.t.Helper()
	if !u.Rejected {
		b.t.Fatalf("status %d %s, want a rejection", u.Status, u.Result)
	}
	for _, w := range words {
		if !strings.Contains(u.Text, w) {
			b.t.Errorf("rejected with %q, which does not say %q", u.Text, w)
		}
	}
	if len(u.Explanations) == 0 {
		b.t.Errorf("rejected with %q and without an explanation", u.Text)
	}
	for _, x := range u.Explanations {
		if x.Code == "" || !strings.Contains(u.Text, x.Text) {
			b.t.Errorf("explanation %+v of %q", x, u.Text)
		}
	}
}

func (b *bed) subscribe(topic string) *client.Subscription {
	b.t.Helper()
	s, err := b.c.Subscribe(topic, "", client.SubscribeOptions{Queue: 10000})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(s.Close)
	return s
}

// next reads the next message of a topic.
func next[T any](b *bed, s *client.Subscription) (v T) {
	b.t.Helper()
	text, _, err := s.Next(b.ctx)
	if err == nil {
		err = client.Read(text, &v)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// publish sends a message on a topic of the server.
func (b *bed) publish(topic, typ string) func(msg any) {
	b.t.Helper()
	p, err := b.c.Advertise(topic, typ, false)
	if err != nil {
		b.t.Fatal(err)
	}
	return func(msg any) {
		b.t.Helper()
		if err := p.Publish(client.Text(msg, msgs.ROS2)); err != nil {
			b.t.Fatal(err)
		}
	}
}

// joints returns where the joints of a topic are now.
func (b *bed) joints(topic string) map[string]float64 {
	b.t.Helper()
	s, err := b.c.Subscribe(topic, "", client.SubscribeOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	defer s.Close()
	m := next[msgs.JointState](b, s)
	all := map[string]float64{}
	for i, n := range m.Name {
		all[n] = m.Position[i]
	}
	return all
}

// state returns what a robot does.
func (b *bed) state() poisemsgs.RobotStatus {
	b.t.Helper()
	var a poisemsgs.GetStateResponse
	b.call("/get_state", &poisemsgs.GetStateRequest{}, &a)
	return a.State
}

// until looks again and again until something is so.
func (b *bed) until(what string, so func() bool) {
	b.t.Helper()
	for !so() {
		if b.ctx.Err() != nil {
			b.t.Fatalf("still waiting until %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// unmoved wants joints to be where they were.
func (b *bed) unmoved(before, after map[string]float64) {
	b.t.Helper()
	for name, q := range before {
		if math.Abs(after[name]-q) > 1e-9 {
			b.t.Errorf("joint %s moved from %g to %g", name, q, after[name])
		}
	}
}

// sweep is a goal that moves joints from where they are, by delta in some seconds.
func sweep(from map[string]float64, seconds float64, delta map[string]float64) *msgs.FollowJointTrajectoryGoal {
	g := &msgs.FollowJointTrajectoryGoal{}
	var first, last msgs.JointTrajectoryPoint
	for _, name := range slices.Sorted(maps.Keys(delta)) {
		g.Trajectory.JointNames = append(g.Trajectory.JointNames, name)
		first.Positions = append(first.Positions, from[name])
		last.Positions = append(last.Positions, from[name]+delta[name])
	}
	last.TimeFromStart = msgs.DurationFromSeconds(seconds)
	g.Trajectory.Points = []msgs.JointTrajectoryPoint{first, last}
	return g
}

// readFeedback reads the next feedback of a goal.
func readFeedback(b *bed, g *client.Goal, f any) {
	b.t.Helper()
	u := b.begun(g)
	if err := client.Read(u.Feedback, f); err != nil {
		b.t.Fatal(err)
	}
}

// manyJoints writes a robot of so many joints in a row.
func manyJoints(t *testing.T, n int) string {
	t.Helper()
	var s strings.Builder
	s.WriteString(`<robot name="centipede"><link name="link0"/>`)
	for i := range n {
		fmt.Fprintf(&s, `<link name="link%d"/><joint name="joint%d" type="revolute"><parent link="link%d"/><child link="link%d"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>`, i+1, i+1, i, i+1)
	}
	s.WriteString("</robot>")
	file := filepath.Join(t.TempDir(), "centipede.urdf")
	if err := os.WriteFile(file, []byte(s.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// owns reports whether a controller, or one numbered like it, has a resource.
func (b *bed) owns(controller, resource string) bool {
	b.t.Helper()
	for _, o := range b.state().Owners {
		if o.Resource == resource && strings.HasPrefix(o.Owner, controller) {
			return true
		}
	}
	return false
}

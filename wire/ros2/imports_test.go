package ros2

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"poise/action"
	"poise/graph"
	"poise/msgs"
	"poise/rtps/rtpstest"
	"poise/stop"
)

// run runs a node until the test ends, in stepped time, and returns what ends it before.
func run(t *testing.T, g *graph.Graph, c Config) (*Node, func()) {
	t.Helper()
	n, err := New(g, c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	over := false
	end := func() {
		if over {
			return
		}
		over = true
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(end)
	return n, end
}

// newGraph returns a graph that is closed with the test.
func newGraph(t *testing.T) *graph.Graph {
	g := graph.New(graph.Options{})
	t.Cleanup(g.Close)
	return g
}

// until waits, in stepped time, until something holds.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 30 s", what)
		}
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
	}
}

// serveTalk serves an action of texts in a graph: the goal's command decides how it ends.
func serveTalk(t *testing.T, g *graph.Graph) {
	t.Helper()
	type goal = graph.Goal[msgs.FollowJointTrajectoryGoal, msgs.FollowJointTrajectoryFeedback, msgs.FollowJointTrajectoryResult]
	type result = msgs.FollowJointTrajectoryResult
	_, err := graph.Action(g, "follow", graph.ActionCallbacks[msgs.FollowJointTrajectoryGoal, msgs.FollowJointTrajectoryFeedback, msgs.FollowJointTrajectoryResult]{
		Goal: func(h *goal) {
			switch h.Value().Trajectory.JointNames[0] {
			case "refuse":
				h.Reject(action.ConditionsUnmet, result{}, "not now")
			case "fail":
				h.Accept()
				h.Abort(action.Failed, result{ErrorString: "it broke"}, "it broke")
			case "wait":
				h.Accept()
			default:
				h.Accept()
				h.Feedback(&msgs.FollowJointTrajectoryFeedback{JointNames: []string{"knee"}})
				h.Succeed(result{ErrorString: "there"}, "said")
			}
		},
		Cancel: func(h *goal) { h.Withdraw(action.ClientCancel, result{}, "as you like") },
	}, graph.ActionOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func follow(joint string) *msgs.FollowJointTrajectoryGoal {
	return &msgs.FollowJointTrajectoryGoal{Trajectory: msgs.JointTrajectory{JointNames: []string{joint}}}
}

// TestWhatOtherNodesHaveIsInTheGraph: topics, latched and not, in and outside the namespace,
// services and actions of another node are used by the graph of this one, with a tenth to three
// tenths of all datagrams lost; they go with their node, and are not given out as this node's own.
func TestWhatOtherNodesHaveIsInTheGraph(t *testing.T) {
	for seed := range seeds() {
		for _, loss := range []float64{0.1, 0.2, 0.3} {
			t.Run(fmt.Sprintf("seed %d, %.0f %%", seed, 100*loss), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					network := rtpstest.New(seed)
					network.Loss, network.Jitter = loss, time.Millisecond
					useOtherNodes(t, network)
				})
			})
		}
	}
}

func useOtherNodes(t *testing.T, network *rtpstest.Network) {
	g, theirs := newGraph(t), newGraph(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	serveTalk(t, theirs)
	_, err := graph.Service(theirs, "home", func(_ context.Context, q *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
		return &msgs.SetBoolResponse{Success: q.Data, Message: "at home"}, nil
	}, graph.ServiceOptions{})
	must(err)
	out, err := graph.Topic[msgs.String](theirs, "text", graph.TopicOptions{QoS: graph.QoS{Latched: true}})
	must(err)
	out.Publish(&msgs.String{Data: "hello"})
	mine, err := graph.Topic[msgs.String](g, "mine", graph.TopicOptions{})
	must(err)
	mine.Publish(&msgs.String{Data: "mine"})
	c, o := on(network, 0), on(network, 1)
	c.Imports, c.Names = true, Names{Namespace: "/here", Node: "poise"}
	o.Names = Names{Namespace: "/there", Node: "robot"}
	n, _ := run(t, g, c)
	_, leave := run(t, theirs, o)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()

	until(t, "the topic is listed", func() bool { _, ok := g.TopicInfo("/there/text"); return ok })
	heard, err := graph.Listen[msgs.String](g, "/there/text", graph.SubscribeOptions{})
	must(err)
	if v, _, err := heard.Next(ctx); err != nil || v.Data != "hello" {
		t.Fatalf("%+v, %v", v, err)
	}
	heard.Close()
	until(t, "the service is listed as the node's", func() bool { info, _ := g.ServiceInfo("/there/home"); return info.Node == "/there/robot" })
	r, err := graph.Call[msgs.SetBoolRequest, msgs.SetBoolResponse](ctx, g, "/there/home", &msgs.SetBoolRequest{Data: true})
	if err != nil || !r.Success || r.Message != "at home" {
		t.Errorf("%+v, %v", r, err)
	}
	until(t, "the action is listed", func() bool { _, ok := g.ActionInfo("/there/follow"); return ok })
	send := func(joint string) *graph.GoalClient {
		t.Helper()
		c, err := g.SendGoal("/there/follow", follow(joint), graph.GoalOptions{})
		must(err)
		return c
	}
	for _, c := range []struct {
		joint string
		state action.State
		text  string
	}{{"knee", action.Succeeded, ""}, {"refuse", action.Rejected, "refuses the goal"}, {"fail", action.Aborted, "it broke"}} {
		u, err := send(c.joint).Result(ctx)
		if err != nil || u.State != c.state || !strings.Contains(u.Text, c.text) {
			t.Errorf("%s: %v %q, %v", c.joint, u.State, u.Text, err)
		}
	}
	waiting := send("wait")
	for u := (graph.GoalUpdate{}); u.State != action.Active; {
		u, err = waiting.Next(ctx)
		must(err)
	}
	waiting.Cancel()
	if u, err := waiting.Result(ctx); err != nil || u.State != action.Preempted {
		t.Errorf("cancelled: %v, %v", u.State, err)
	}
	n.mu.Lock()
	if len(n.services) != 0 || len(n.actions) != 0 || n.pubs["/there/text"] != nil || n.pubs["/here/mine"] == nil {
		t.Errorf("the node offers %d services, %d actions, %v", len(n.services), len(n.actions), n.pubs)
	}
	n.mu.Unlock()
	lost := send("wait")
	for u := (graph.GoalUpdate{}); u.State != action.Active; {
		u, err = lost.Next(ctx)
		must(err)
	}
	leave()
	if u, err := lost.Result(ctx); err != nil || u.State != action.Lost {
		t.Errorf("of a server that has gone: %v, %v", u.State, err)
	}
	until(t, "everything of it is gone", func() bool {
		_, service := g.ServiceInfo("/there/home")
		_, act := g.ActionInfo("/there/follow")
		topic, _ := g.TopicInfo("/there/text")
		return !service && !act && len(topic.Publishers) == 0
	})
}

// TestARobotOfROS2IsMirrored: its topics, services and actions are in the graph below a prefix,
// what it reads is written there and nothing else of the graph, and it is stopped by its service
// or by the end of its goals. The node of the same program is not taken for the robot.
func TestARobotOfROS2IsMirrored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := rtpstest.New(5)
		g, theirs := newGraph(t), newGraph(t)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		mine, err := graph.Topic[msgs.String](g, "joint_names", graph.TopicOptions{QoS: graph.QoS{Latched: true}})
		must(err)
		mine.Publish(&msgs.String{Data: "of the server itself"})
		names, err := graph.Topic[msgs.String](theirs, "joint_names", graph.TopicOptions{QoS: graph.QoS{Latched: true}})
		must(err)
		names.Publish(&msgs.String{Data: "knee"})
		reads, err := graph.Listen[msgs.String](theirs, "command", graph.SubscribeOptions{})
		must(err)
		serveTalk(t, theirs)
		own, m := on(network, 0), on(network, 1)
		own.Program, own.Imports = [4]byte{1}, true
		m.Program, m.Mirror, m.Names = [4]byte{1}, "real", Names{Node: "mirror"}
		run(t, g, own)
		mirror, _ := run(t, g, m)
		_, leave := run(t, theirs, on(network, 2))
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()

		until(t, "the topic is mirrored", func() bool { i, _ := g.TopicInfo("/real/joint_names"); return len(i.Publishers) > 0 })
		heard, err := graph.Listen[msgs.String](g, "/real/joint_names", graph.SubscribeOptions{QoS: graph.QoS{Depth: 10}})
		must(err)
		if v, _, err := heard.Next(ctx); err != nil || v.Data != "knee" {
			t.Fatalf("mirrored %+v, %v", v, err)
		}
		until(t, "the action is mirrored", func() bool { _, ok := g.ActionInfo("/real/follow"); return ok })
		c, err := g.SendGoal("/real/follow", follow("wait"), graph.GoalOptions{})
		must(err)
		for u := (graph.GoalUpdate{}); u.State != action.Active; {
			u, err = c.Next(ctx)
			must(err)
		}
		drive, err := graph.Topic[msgs.String](g, "/real/command", graph.TopicOptions{})
		must(err)
		got := make(chan string, 1)
		go func() {
			if v, _, err := reads.Next(ctx); err == nil {
				got <- v.Data
			}
		}()
		until(t, "what the robot reads comes to it", func() bool {
			drive.Publish(&msgs.String{Data: "bend"})
			select {
			case text := <-got:
				return text == "bend"
			default:
				return false
			}
		})
		line := stop.New(ctx, nil, nil, mirror.Remote())
		target, ok := line.Service("/real/stop")
		if !ok {
			t.Fatal("/real/stop stops nothing")
		}
		if a := target.Stop("me", 2).Over(ctx); !a.Success || !strings.Contains(a.Text, "/follow: no goal is left") {
			t.Errorf("%+v", a)
		}
		if u, err := c.Result(ctx); err != nil || u.State != action.Preempted {
			t.Errorf("the goal: %v, %v", u.State, err)
		}
		stops := 0
		_, err = graph.Service(theirs, "stop", func(context.Context, *msgs.TriggerRequest) (*msgs.TriggerResponse, error) {
			stops++
			return &msgs.TriggerResponse{Success: stops == 1, Message: "stands"}, nil
		}, graph.ServiceOptions{})
		must(err)
		until(t, "the service is mirrored", func() bool { _, ok := g.ServiceInfo("/real/stop"); return ok })
		if a := target.Stop("me", 2).Over(ctx); !a.Success || !strings.Contains(a.Text, "stands") || stops != 1 {
			t.Errorf("%+v, %d stops", a, stops)
		}
		if a := target.Stop("me", 2).Over(ctx); a.Success || !strings.Contains(a.Text, "was NOT stopped") {
			t.Errorf("a refused stop: %+v", a)
		}
		mirror.mu.Lock()
		for ros := range mirror.pubs {
			if ros != "/command" {
				t.Errorf("the mirror writes %s", ros)
			}
		}
		if len(mirror.services)+len(mirror.actions) != 0 {
			t.Error("the mirror offers services or actions")
		}
		mirror.mu.Unlock()
		for _, topic := range g.Topics() {
			if strings.HasPrefix(topic.Name, "/real/real") {
				t.Errorf("%s: the mirror sees itself", topic.Name)
			}
		}
		leave()
		until(t, "the action is gone", func() bool { _, ok := g.ActionInfo("/real/follow"); return !ok })
	})
}

package ros1

import (
	"context"
	"strings"
	"testing"
	"time"

	"poise/action"
	"poise/graph"
	"poise/msgs"
	"poise/stop"
)

// runMirror runs a node that shows the network of a master in a graph below /real.
func runMirror(t *testing.T, g *graph.Graph, c Config) *Node {
	t.Helper()
	c.Mirror, c.Outside, c.Names = "real", true, Names{Node: "mirror"}
	return running(t, g, c)
}

// TestARobotOfROS1IsMirrored: its topics, services and actions are in the graph below a prefix,
// what it reads is published there, and nothing else of the graph. The node that shows the same
// graph at the same master is not taken for the robot.
func TestARobotOfROS1IsMirrored(t *testing.T) {
	g := graph.New(graph.Options{})
	defer g.Close()
	program := &Program{}
	own, _ := runNode(t, g, Config{Imports: true, Program: program})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	mine, err := graph.Topic[msgs.String](g, "joint_names", graph.TopicOptions{})
	must(err)
	p := newPeer(t, own.c.Master)
	defer p.Close()
	theirs, err := graph.Topic[msgs.String](p.g, "/joint_names", graph.TopicOptions{QoS: graph.QoS{Latched: true}})
	must(err)
	theirs.Publish(&msgs.String{Data: "knee"})
	reads, err := graph.Listen[msgs.String](p.g, "/command", graph.SubscribeOptions{})
	must(err)
	must2 := func(_ *graph.ServiceServer, err error) { must(err) }
	must2(graph.Service(p.g, "home", func(context.Context, *msgs.TriggerRequest) (*msgs.TriggerResponse, error) {
		return &msgs.TriggerResponse{Success: true, Message: "at home"}, nil
	}, graph.ServiceOptions{}))
	serveTalk(t, p.g)
	m := runMirror(t, g, Config{Master: own.c.Master, Program: program})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()

	heard, err := graph.Listen[msgs.String](g, "/real/joint_names", graph.SubscribeOptions{QoS: graph.QoS{Depth: 100}})
	must(err)
	for range 100 { // of this program's own topic nothing comes back
		mine.Publish(&msgs.String{Data: "of the server itself"})
	}
	if v, _, err := heard.Next(ctx); err != nil || v.Data != "knee" {
		t.Fatalf("mirrored %+v, %v", v, err)
	}
	until(t, "the service is mirrored", func() bool { _, ok := g.ServiceInfo("/real/home"); return ok })
	if r, err := graph.Call[msgs.TriggerRequest, msgs.TriggerResponse](ctx, g, "/real/home", &msgs.TriggerRequest{}); err != nil || r.Message != "at home" {
		t.Errorf("%+v, %v", r, err)
	}
	until(t, "the action is mirrored", func() bool { _, ok := g.ActionInfo("/real/talk"); return ok })
	c, err := g.SendGoal("/real/talk", &msgs.TextActionGoal{Command: msgs.TextCommand{Command: "hello"}}, graph.GoalOptions{})
	must(err)
	if u, err := c.Result(ctx); err != nil || u.State != action.Succeeded || u.Text != "said" {
		t.Errorf("a goal: %v %q, %v", u.State, u.Text, err)
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
	m.mu.Lock()
	defer m.mu.Unlock()
	for ros, p := range m.pubs {
		if ros != "/command" && p.g == g {
			t.Errorf("the mirror publishes %s", ros)
		}
	}
	if len(*m.services.Load()) != 0 {
		t.Error("the mirror offers services")
	}
	for _, topic := range g.Topics() {
		if strings.HasPrefix(topic.Name, "/real/real") {
			t.Errorf("%s: the mirror sees itself", topic.Name)
		}
	}
}

// TestAMirroredRobotOfROS1IsStopped by its service, or, if it has none, by the end of its goals.
func TestAMirroredRobotOfROS1IsStopped(t *testing.T) {
	g := graph.New(graph.Options{})
	defer g.Close()
	own, _ := runNode(t, graph.New(graph.Options{}), Config{})
	p := newPeer(t, own.c.Master)
	defer p.Close()
	serveTalk(t, p.g)
	m := runMirror(t, g, Config{Master: own.c.Master})
	line := stop.New(t.Context(), nil, nil, m.Remote())
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	until(t, "the action is mirrored", func() bool { _, ok := g.ActionInfo("/real/talk"); return ok })
	c, err := g.SendGoal("/real/talk", &msgs.TextActionGoal{Command: msgs.TextCommand{Command: "wait"}}, graph.GoalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for u := (graph.GoalUpdate{}); u.State != action.Active; {
		if u, err = c.Next(ctx); err != nil {
			t.Fatal(err)
		}
	}
	target, ok := line.Service("/real/stop")
	if !ok {
		t.Fatal("/real/stop stops nothing")
	}
	if a := target.Stop("me", 2).Over(ctx); !a.Success || !strings.Contains(a.Text, "/talk: no goal is left") {
		t.Errorf("%+v", a)
	}
	if u, err := c.Result(ctx); err != nil || u.State != action.Preempted {
		t.Errorf("the goal: %v, %v", u.State, err)
	}
	var stops int
	if _, err := graph.Service(p.g, "stop", func(context.Context, *msgs.TriggerRequest) (*msgs.TriggerResponse, error) {
		stops++
		return &msgs.TriggerResponse{Success: stops == 1, Message: "stands"}, nil
	}, graph.ServiceOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "the service is mirrored", func() bool { _, ok := g.ServiceInfo("/real/stop"); return ok })
	until(t, "a stop calls it", func() bool { // known in the graph a moment before
		a := target.Stop("me", 2).Over(ctx)
		return a.Success && strings.Contains(a.Text, "stands")
	})
	if stops != 1 {
		t.Errorf("%d stops", stops)
	}
	if a := target.Stop("me", 2).Over(ctx); a.Success || !strings.Contains(a.Text, "was NOT stopped") {
		t.Errorf("a refused stop: %+v", a)
	}
}

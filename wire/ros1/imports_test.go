package ros1

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"poise/action"
	"poise/graph"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/wire/ros1/master"
	"poise/wire/ros1/xmlrpc"
)

// TestServicesOfOtherNodesAreInTheGraph calls a service of another node by the graph of this
// one, and does not give it out as its own.
func TestServicesOfOtherNodesAreInTheGraph(t *testing.T) {
	g := graph.New(graph.Options{})
	defer g.Close()
	n, _ := runNode(t, g, Config{Imports: true})
	p := newPeer(t, n.c.Master)
	defer p.Close()
	if _, err := graph.Service(p.g, "twice", func(_ context.Context, q *poisemsgs.PauseRequest) (*poisemsgs.PauseResponse, error) {
		if q.Controller == "bad" {
			return nil, errors.New("not that one")
		}
		return &poisemsgs.PauseResponse{Success: true, Message: q.Controller + q.Controller}, nil
	}, graph.ServiceOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "the service is in the graph", func() bool { _, ok := g.ServiceInfo("/twice"); return ok })
	info, _ := g.ServiceInfo("/twice")
	if info.Node != p.n.self {
		t.Errorf("the service is of %s, not of %s", info.Node, p.n.self)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	r, err := graph.Call[poisemsgs.PauseRequest, poisemsgs.PauseResponse](ctx, g, "/twice", &poisemsgs.PauseRequest{Controller: "ab"})
	if err != nil || r.Message != "abab" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := graph.Call[poisemsgs.PauseRequest, poisemsgs.PauseResponse](ctx, g, "/twice", &poisemsgs.PauseRequest{Controller: "bad"}); err == nil || !strings.Contains(err.Error(), "not that one") {
		t.Errorf("refused: %v", err)
	}
	if _, own := (*n.services.Load())["/twice"]; own {
		t.Error("the service of another is registered as this node's own")
	}
	p.Close()
	until(t, "the service is gone", func() bool { _, ok := g.ServiceInfo("/twice"); return !ok })
}

// serveTalk serves an action of texts in a graph: end decides, by the goal's command.
func serveTalk(t *testing.T, g *graph.Graph) {
	t.Helper()
	type goal = graph.Goal[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]
	_, err := graph.Action(g, "talk", graph.ActionCallbacks[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]{
		Goal: func(h *goal) {
			switch h.Value().Command.Command {
			case "refuse":
				h.Reject(action.ConditionsUnmet, msgs.TextActionResult{}, "not now")
			case "fail":
				h.Accept()
				h.Abort(action.Failed, msgs.TextActionResult{}, "it broke")
			case "wait":
				h.Accept()
			default:
				h.Accept()
				h.Feedback(&msgs.TextActionFeedback{})
				h.Succeed(msgs.TextActionResult{}, "said")
			}
		},
		Cancel: func(h *goal) { h.Withdraw(action.ClientCancel, msgs.TextActionResult{}, "as you like") },
	}, graph.ActionOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// TestActionsOfOtherNodesAreInTheGraph sends goals by the graph of this node to the action of
// another.
func TestActionsOfOtherNodesAreInTheGraph(t *testing.T) {
	g := graph.New(graph.Options{})
	defer g.Close()
	n, _ := runNode(t, g, Config{Imports: true})
	p := newPeer(t, n.c.Master)
	defer p.Close()
	serveTalk(t, p.g)
	until(t, "the action is in the graph", func() bool { _, ok := g.ActionInfo("/talk"); return ok })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	send := func(command string) *graph.GoalClient {
		t.Helper()
		c, err := g.SendGoal("/talk", &msgs.TextActionGoal{Command: msgs.TextCommand{Command: command}}, graph.GoalOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, c := range []struct {
		command, text string
		state         action.State
	}{{"hello", "said", action.Succeeded}, {"refuse", "not now", action.Rejected}, {"fail", "it broke", action.Aborted}} {
		u, err := send(c.command).Result(ctx)
		if err != nil || u.State != c.state || u.Text != c.text {
			t.Errorf("%s: %v %q, %v; want %v %q", c.command, u.State, u.Text, err, c.state, c.text)
		}
	}
	waiting := send("wait")
	for {
		u, err := waiting.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if u.State == action.Active {
			break
		}
	}
	waiting.Cancel()
	if u, err := waiting.Result(ctx); err != nil || u.State != action.Preempted || u.Text != "as you like" {
		t.Errorf("cancelled: %v %q, %v", u.State, u.Text, err)
	}
	n.mu.Lock()
	read := n.subs["/talk/goal"]
	n.mu.Unlock()
	if read != nil {
		t.Error("goals for another are read by this node")
	}
	lost := send("wait")
	p.Close()
	if u, err := lost.Result(ctx); err != nil || u.State != action.Lost {
		t.Errorf("of a server that has gone: %v %q, %v", u.State, u.Text, err)
	}
	until(t, "the action is gone", func() bool { _, ok := g.ActionInfo("/talk"); return !ok })
	until(t, "its names are taken back", func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.pubs["/talk/goal"] == nil && n.subs["/talk/result"] == nil
	})
}

// TestTopicsOfOtherNodesAreInTheGraph: a topic of another node is listed with its type before
// it is read, is read as soon as it has a subscriber, and goes with its node.
func TestTopicsOfOtherNodesAreInTheGraph(t *testing.T) {
	g := graph.New(graph.Options{})
	defer g.Close()
	own, err := graph.Topic[msgs.String](g, "mine", graph.TopicOptions{})
	if err != nil {
		t.Fatal(err)
	}
	own.Publish(&msgs.String{Data: "mine"})
	n, _ := runNode(t, g, Config{Imports: true, Names: Names{Namespace: "/here", Node: "poise"}})
	p := newPeer(t, n.c.Master)
	defer p.Close()
	out, err := graph.Topic[msgs.String](p.g, "other/text", graph.TopicOptions{QoS: graph.QoS{Latched: true}})
	if err != nil {
		t.Fatal(err)
	}
	out.Publish(&msgs.String{Data: "hello"})
	until(t, "the topic is listed", func() bool { _, ok := g.TopicInfo("/other/text"); return ok })
	info, _ := g.TopicInfo("/other/text")
	if info.Type == nil || info.Type.String() != "std_msgs/msg/String" || len(info.Publishers) != 1 || info.Publishers[0].Node != p.n.self {
		t.Errorf("it is listed as %+v", info)
	}
	if n.publicationOf("/other/text") != nil {
		t.Error("a topic of another node is registered as this node's own")
	}
	if len(n.greet.list()) != 0 {
		t.Error("it is read without a subscriber")
	}
	if _, twice := g.TopicInfo("/here/mine"); twice {
		t.Error("the node's own topic is listed as another's")
	}
	heard, err := g.Subscribe("/other/text", graph.SubscribeOptions{}) // without a type
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if m, _, err := heard.Next(ctx); err != nil || m.Value.(*msgs.String).Data != "hello" {
		t.Errorf("heard %v, %v", m, err)
	}
	heard.Close()
	// and the way back: what the graph publishes is heard there, outside the namespace
	there, err := graph.Listen[msgs.String](p.g, "other/order", graph.SubscribeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	order, err := graph.Topic[msgs.String](g, "other/order", graph.TopicOptions{})
	if err != nil {
		t.Fatal(err)
	}
	until(t, "an order arrives", func() bool {
		order.Publish(&msgs.String{Data: "go"})
		m, _, ok := there.Poll()
		return ok && m.Data == "go"
	})
	p.Close()
	until(t, "the topic is gone", func() bool { _, ok := g.TopicInfo("/other/text"); return !ok })
}

// TestATopicOfAnotherNodeIsHeardAgain: it is read again before a slow master has been told that it
// is not read any more.
func TestATopicOfAnotherNodeIsHeardAgain(t *testing.T) {
	client := xmlrpc.NewClient((&Config{}).dial)
	defer client.Close()
	slow := master.New(master.Config{URI: "http://127.0.0.1/", Client: client})
	defer slow.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(20 * time.Millisecond)
		slow.ServeHTTP(w, r)
	}))
	defer web.CloseClientConnections()
	g := graph.New(graph.Options{})
	defer g.Close()
	n, _ := runNode(t, g, Config{Master: web.URL, Imports: true, Names: Names{Namespace: "/here", Node: "poise"}})
	p := newPeer(t, web.URL)
	defer p.stop()
	out, err := graph.Topic[msgs.String](p.g, "other/text", graph.TopicOptions{})
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the topic is listed", func() bool { _, ok := g.TopicInfo("/other/text"); return ok })
	for range 20 {
		heard, err := graph.Listen[msgs.String](g, "/other/text", graph.SubscribeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		until(t, "the topic is heard", func() bool {
			out.Publish(&msgs.String{Data: "hello"})
			_, _, ok := heard.Poll()
			return ok
		})
		heard.Close()
		until(t, "it is not read", func() bool { n.mu.Lock(); defer n.mu.Unlock(); return n.subs["/other/text"] == nil })
	}
}

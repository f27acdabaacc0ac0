package graph

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"poise/msgs"
)

func TestListingsShowEverythingWithTypesAndNodes(t *testing.T) {
	g := newGraph(t)
	must[Publisher[msgs.TFMessage]](t)(Topic[msgs.TFMessage](g, "tf_static", TopicOptions{QoS: QoS{Latched: true}}))
	must[*Subscription](t)(g.Subscribe("tf_static", SubscribeOptions{Node: "/client_1"}))
	setBool(t, g, "set_torque", ServiceOptions{}, func(context.Context, *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) { return nil, nil })
	(&keeper{}).serve(t, g)
	if err := g.Alias("virtual/play_motion", "play_motion"); err != nil {
		t.Fatal(err)
	}
	send(t, g, "a", "")

	var topics []string
	for _, i := range g.Topics() {
		if i.Action == "" {
			topics = append(topics, fmt.Sprintf("%s %s %v %v %v", i.Name, i.Type, i.QoS, i.Publishers, i.Subscribers))
		}
	}
	if got := strings.Join(topics, "\n"); got != "/tf_static tf2_msgs/msg/TFMessage reliable, 1, latched [{/poise reliable, 1, latched}] [{/client_1 best effort, 10}]" {
		t.Errorf("topics:\n%s", got)
	}
	if n := len(g.Topics()); n != 11 {
		t.Errorf("%d topics, want 1 and twice 5 of the action", n)
	}
	if s := g.Services(); len(s) != 1 || s[0].Name != "/set_torque" || s[0].Type.String() != "std_srvs/srv/SetBool" || s[0].Node != "/poise" {
		t.Errorf("services: %+v", s)
	}
	if a := g.Actions(); len(a) != 2 || a[0].Name != "/play_motion" || a[1].Name != "/virtual/play_motion" || a[0].Goals != 1 {
		t.Errorf("graph: %+v", a)
	}
	if got := fmt.Sprint(g.Nodes()); got != "[/client_1 /poise]" {
		t.Errorf("nodes: %s", got)
	}
}

// After Close nothing of the graph runs any more: a bubble does not end while one of its
// goroutines waits.
func TestCloseLeavesNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{})
		(&keeper{}).serve(t, g)
		setBool(t, g, "x", ServiceOptions{}, func(ctx context.Context, _ *msgs.SetBoolRequest) (*msgs.SetBoolResponse, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		s := must[*Subscription](t)(g.Subscribe("n", SubscribeOptions{}))
		go func() { _, _, _ = s.Next(context.Background()) }()
		go func() { _, _ = g.Call(context.Background(), "x", &msgs.SetBoolRequest{}) }()
		send(t, g, "a", "")
		synctest.Wait()
		g.Close()
		g.Close()
	})
}

// BenchmarkGoal is the whole life of a goal.
func BenchmarkGoal(b *testing.B) {
	g, clock := clockGraph(b)
	must[*ActionServer](b)(Action(g, "play_motion", textHandler{Goal: func(h *textGoal) {
		h.Accept()
		h.Succeed(msgs.TextActionResult{}, "")
	}}, ActionOptions{}))
	goal := &msgs.TextActionGoal{}
	b.ReportAllocs()
	for b.Loop() {
		clock.advance(keepResults)
		c, err := g.SendGoal("play_motion", goal, GoalOptions{})
		if err != nil {
			b.Fatal(err)
		}
		for u, ok := c.Poll(); ok; u, ok = c.Poll() {
			_ = u
		}
	}
}

package graph

import (
	"context"
	"testing"

	"poise/msgs"
)

func TestLateSubscriberOfALatchedTopicGetsTheLastMessage(t *testing.T) {
	g := New(Options{})
	defer g.Close()
	pub, err := Topic[msgs.String](g, "robot_description", TopicOptions{QoS: QoS{Latched: true}})
	if err != nil {
		t.Fatal(err)
	}
	pub.Publish(&msgs.String{Data: "old"})
	pub.Publish(&msgs.String{Data: "new"})
	sub, err := g.Subscribe("/robot_description", SubscribeOptions{Type: "std_msgs/String"})
	if err != nil {
		t.Fatal(err)
	}
	m, lost, err := sub.Next(context.Background())
	if err != nil || lost != 0 || string(m.JSON(sub.Form())) != `{"data":"new"}` {
		t.Errorf("got %v, %d lost, %v", m, lost, err)
	}
	if _, _, ok := sub.Poll(); ok {
		t.Error("more than the last message came")
	}
}

// TestWhatIsForOneNode is read by that one, and by who reads for it; by no other, and by none later.
func TestWhatIsForOneNode(t *testing.T) {
	g := New(Options{})
	defer g.Close()
	pub, err := Topic[msgs.String](g, "assignment", TopicOptions{})
	if err != nil {
		t.Fatal(err)
	}
	subscribe := func(o SubscribeOptions) *Subscription {
		t.Helper()
		s, err := g.Subscribe("/assignment", o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	own := subscribe(SubscribeOptions{Node: "/a"})
	group := subscribe(SubscribeOptions{Node: "/group", For: func(node string) bool { return node == "/a" || node == "/b" }})
	other := subscribe(SubscribeOptions{Node: "/c"})
	for _, c := range []struct {
		to                string
		own, group, other bool
	}{{"/a", true, true, false}, {"/b", false, true, false}, {"/c", false, false, true}, {"/group", false, true, false}} {
		pub.PublishTo(c.to, &msgs.String{Data: c.to})
		for _, s := range []struct {
			sub  *Subscription
			want bool
		}{{own, c.own}, {group, c.group}, {other, c.other}} {
			if _, _, got := s.sub.Poll(); got != s.want {
				t.Errorf("for %s: %s has it: %v", c.to, s.sub.node, got)
			}
		}
	}
}

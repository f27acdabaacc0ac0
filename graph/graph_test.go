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

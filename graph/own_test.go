package graph

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"poise/msgs"
)

// TestATopicOfAComponentIsItsOwn: whatever a client calls itself, and whether it came
// first or later.
func TestATopicOfAComponentIsItsOwn(t *testing.T) {
	g := newGraph(t)
	var own *OwnError
	must[Publisher[msgs.String]](t)(Topic[msgs.String](g, "said", TopicOptions{}))
	for _, node := range []string{"/client", g.Options().Node, ""} {
		if _, err := g.Advertise("/said", "std_msgs/msg/String", TopicOptions{Node: node}); !errors.As(err, &own) || own.Owner != "/poise" || !strings.Contains(err.Error(), "/said") {
			t.Errorf("%q advertises: %v", node, err)
		}
	}
	if i, _ := g.TopicInfo("said"); i.Owner != "/poise" || len(i.Publishers) != 1 {
		t.Errorf("%+v", i)
	}

	early := must[*Advertisement](t)(g.Advertise("later", "std_msgs/msg/String", TopicOptions{Node: "/client", QoS: QoS{Latched: true}}))
	if err := early.Publish(&msgs.String{Data: "forged"}); err != nil {
		t.Fatal(err)
	}
	later := must[Publisher[msgs.String]](t)(Topic[msgs.String](g, "later", TopicOptions{}))
	sub := must[*Subscription](t)(g.Subscribe("later", SubscribeOptions{}))
	if err := early.Publish(&msgs.String{Data: "forged"}); !errors.As(err, &own) {
		t.Errorf("a client that was there first publishes: %v", err)
	}
	if err := early.PublishJSON([]byte(`{"data":"forged"}`)); !errors.As(err, &own) {
		t.Errorf("a client that was there first publishes text: %v", err)
	}
	later.Publish(&msgs.String{Data: "true"})
	if m, lost, ok := sub.Poll(); !ok || lost != 0 || m.Value.(*msgs.String).Data != "true" {
		t.Errorf("heard %+v", m)
	}
	later.Close() // and then it is unowned
	if err := early.Publish(&msgs.String{Data: "mine"}); err != nil {
		t.Error(err)
	}
}

// TestTheTopicsOfAnActionAreItsServersOwn: what goals become is said by their server.
func TestTheTopicsOfAnActionAreItsServersOwn(t *testing.T) {
	g := newGraph(t)
	must[*ActionServer](t)(g.ServeAction("a", "text_msgs/action/TextAction", ActionHandler{Goal: func(*GoalHandle) {}, Cancel: func(*GoalHandle) {}}, ActionOptions{Node: "/server"}))
	for part, own := range map[string]bool{"status": true, "feedback": true, "result": true, "goal": false, "cancel": false} {
		i, _ := g.TopicInfo("a/" + part)
		_, err := g.Advertise("a/"+part, i.Type.String(), TopicOptions{Node: "/client"})
		if refused := err != nil; refused != own {
			t.Errorf("%s: %v", part, err)
		}
	}
}

// TestMessagesOfOthersAreAdmitted by who owns a topic, or by who reads it.
func TestMessagesOfOthersAreAdmitted(t *testing.T) {
	g := newGraph(t)
	admit := func(node string, v any) error {
		m := v.(*msgs.String)
		if m.Data == "bad" {
			return errors.New("this is bad")
		}
		m.Data = node + " says " + m.Data
		return nil
	}
	must[Publisher[msgs.String]](t)(Topic[msgs.String](g, "shared", TopicOptions{Others: admit}))
	before := must[*Advertisement](t)(g.Advertise("read", "std_msgs/msg/String", TopicOptions{Node: "/client", QoS: QoS{Latched: true}}))
	if err := before.Publish(&msgs.String{Data: "unseen"}); err != nil {
		t.Fatal(err)
	}
	reader := must[*Subscription](t)(g.Subscribe("read", SubscribeOptions{Admit: admit}))
	if reader.Len() != 0 {
		t.Error("a latched message was not looked at")
	}
	for _, name := range []string{"shared", "read"} {
		a := must[*Advertisement](t)(g.Advertise(name, "std_msgs/msg/String", TopicOptions{Node: "/client"}))
		sub := must[*Subscription](t)(g.Subscribe(name, SubscribeOptions{}))
		for sub.Len() > 0 {
			sub.Poll()
		}
		var refused *RefusedError
		if err := a.PublishJSON([]byte(`{"data":"bad"}`)); !errors.As(err, &refused) || err.Error() != "this is bad" {
			t.Errorf("%s: %v", name, err)
		}
		if err := a.PublishJSON([]byte(`{"data":"good"}`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if m, lost, ok := sub.Poll(); !ok || lost != 0 || m.Value.(*msgs.String).Data != "/client says good" {
			t.Errorf("%s: heard %+v", name, m)
		}
	}
	reader.Close()
	if err := before.Publish(&msgs.String{Data: "bad"}); err != nil {
		t.Errorf("no subscriber refuses messages any more, and yet: %v", err)
	}
}

// TestAClientHasANameOfItsOwnWhileItIsThere.
func TestAClientHasANameOfItsOwnWhileItIsThere(t *testing.T) {
	g := newGraph(t)
	var departed []string
	end := g.OnLeave(func(node string) {
		if g.Present(node) {
			t.Errorf("%s is present after it left", node)
		}
		departed = append(departed, node)
	})
	a := must[*Client](t)(g.Join("/a"))
	b := must[*Client](t)(g.Join("/b"))
	for _, node := range []string{"/a", "/poise", ""} {
		if _, err := g.Join(node); err == nil {
			t.Errorf("%q joins", node)
		}
	}
	if !g.Present("/a") || !g.Present("/poise") || g.Present("/c") {
		t.Error("who is present")
	}
	a.Leave()
	a.Leave()
	again := must[*Client](t)(g.Join("/a"))
	b.Leave()
	end()
	again.Leave()
	if !slices.Equal(departed, []string{"/a", "/b"}) {
		t.Errorf("%v left", departed)
	}
}

// TestAClientCannotKeepANameByAnotherType from a component that comes later.
func TestAClientCannotKeepANameByAnotherType(t *testing.T) {
	g := newGraph(t)
	squatter := must[*Advertisement](t)(g.Advertise("name", "std_msgs/msg/Bool", TopicOptions{Node: "/client"}))
	reader := must[*Subscription](t)(g.Subscribe("name", SubscribeOptions{Node: "/client"}))
	sub := must[Listener[msgs.String]](t)(Listen[msgs.String](g, "name", SubscribeOptions{}))
	if i, _ := g.TopicInfo("name"); i.Type.String() != "std_msgs/msg/String" || len(i.Publishers) != 0 || len(i.Subscribers) != 1 {
		t.Errorf("%+v", i)
	}
	if err := squatter.Publish(&msgs.Bool{Data: true}); err != nil || reader.Len() != 1 || sub.Len() != 0 {
		t.Errorf("%v: the client hears %d, the component %d", err, reader.Len(), sub.Len())
	}
	right := must[*Advertisement](t)(g.Advertise("name", "std_msgs/msg/String", TopicOptions{Node: "/client"}))
	if err := right.Publish(&msgs.String{Data: "heard"}); err != nil || sub.Len() != 1 || reader.Len() != 1 {
		t.Errorf("%v: the client hears %d, the component %d", err, reader.Len(), sub.Len())
	}
	squatter.Close()
	reader.Close()
	if _, ok := g.TopicInfo("name"); !ok {
		t.Error("the topic went with those who had lost it")
	}
	// between components the first decides, as between clients
	var wrong *TypeError
	if _, err := Listen[msgs.Bool](g, "name", SubscribeOptions{}); !errors.As(err, &wrong) {
		t.Errorf("a component of another type: %v", err)
	}
}

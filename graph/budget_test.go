package graph

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"poise/action"
	"poise/internal/budget"
	"poise/msgs"
)

// tight is a budget that is used up soon.
func tight() *budget.Ledger {
	t := budget.Standard
	t[budget.Latched] = budget.Row{Name: "latched", Unit: "bytes", Sure: 1000, Client: 10000, All: 20000}
	t[budget.Messages] = budget.Row{Name: "messages", Unit: "bytes", Sure: 1000, Client: 50000, All: 100000}
	t[budget.Names] = budget.Row{Name: "names", Unit: "names", Sure: 2, Client: 10, All: 20}
	return budget.New(t)
}

func held(l *budget.Ledger, k budget.Kind) int64 { return l.Lines()[k].Held }

// TestLatchedMessagesAreCharged: a client keeps as much as it may, in place of its own
// older messages, and gets it back when it withdraws the topic.
func TestLatchedMessagesAreCharged(t *testing.T) {
	g := New(Options{})
	defer g.Close()
	l := tight()
	account := l.Open()
	text := func(n int) string { return `{"data":"` + strings.Repeat("x", n) + `"}` }
	var ads []*Advertisement
	for i := range 20 {
		a := must[*Advertisement](t)(g.Advertise(fmt.Sprintf("t%d", i/10), "std_msgs/String", TopicOptions{QoS: QoS{Latched: true}, Account: account}))
		ads = append(ads, a)
		err := a.PublishJSON([]byte(text(1000)))
		if refused := err != nil; refused != (i >= 9) { // a message takes 1016 bytes
			t.Fatalf("message %d: %v", i, err)
		}
		if i >= 9 {
			a.Close()
			break
		}
	}
	if err := ads[0].PublishJSON([]byte(text(1700))); err != nil || held(l, budget.Latched) > 10000 {
		t.Errorf("a longer message in place of another: %v, %d held", err, held(l, budget.Latched))
	}
	if err := ads[0].PublishJSON([]byte(text(5000))); err == nil || !strings.Contains(err.Error(), "latched: ") {
		t.Errorf("one that does not fit: %v", err)
	}
	s := must[*Subscription](t)(g.Subscribe("t0", SubscribeOptions{}))
	if n := s.Len(); n != 9 {
		t.Errorf("%d messages were kept, want 9", n)
	}
	for _, a := range ads {
		a.Close()
	}
	s.Close()
	account.Close()
	for _, line := range l.Lines() {
		if line.Held != 0 {
			t.Errorf("%s: %d held at the end", line.Name, line.Held)
		}
	}
}

// TestMessagesThatWaitAreCharged: to the client that published them, until the last reader
// has taken or lost them.
func TestMessagesThatWaitAreCharged(t *testing.T) {
	g := New(Options{})
	defer g.Close()
	l := tight()
	account := l.Open()
	a := must[*Advertisement](t)(g.Advertise("t", "std_msgs/String", TopicOptions{Account: account}))
	slow := must[*Subscription](t)(g.Subscribe("t", SubscribeOptions{QoS: QoS{Depth: 100}}))
	short := must[*Subscription](t)(g.Subscribe("t", SubscribeOptions{QoS: QoS{Depth: 2}}))
	refused := 0
	for range 100 {
		if a.PublishJSON([]byte(`{"data":"`+strings.Repeat("x", 1000)+`"}`)) != nil {
			refused++
		}
	}
	if refused == 0 || held(l, budget.Messages) > 50000 || short.Len() != 2 {
		t.Errorf("%d were refused, %d bytes wait", refused, held(l, budget.Messages))
	}
	for _, _, ok := slow.Poll(); ok; _, _, ok = slow.Poll() {
	}
	if n := held(l, budget.Messages); n != 2*1016 {
		t.Errorf("%d bytes wait, want those of two messages", n)
	}
	short.Close()
	if n := held(l, budget.Messages); n != 0 {
		t.Errorf("%d bytes wait without a subscriber", n)
	}
}

// TestNamesAreCharged: clients cannot take the last names from each other, nor from the
// server, and what the server itself has is charged to no client.
func TestNamesAreCharged(t *testing.T) {
	g := New(Options{})
	defer g.Close()
	must[Publisher[msgs.String]](t)(Topic[msgs.String](g, "own", TopicOptions{}))
	l := tight()
	taken := 0
	for client := range 5 {
		account := l.Open()
		for i := range 30 {
			o := TopicOptions{Node: fmt.Sprint(client), Account: account}
			if _, err := g.Advertise(fmt.Sprintf("c%d/t%d", client, i), "std_msgs/String", o); err == nil {
				taken++
			} else if i < 2 {
				t.Errorf("client %d, name %d: %v", client, i, err)
			}
			if _, err := g.Subscribe("own", SubscribeOptions{Account: account}); err != nil {
				t.Errorf("a topic of the server: %v", err)
			}
		}
	}
	if taken != 20+5*2 || held(l, budget.Names) != int64(taken) {
		t.Errorf("%d names, %d charged", taken, held(l, budget.Names))
	}
	last := l.Open()
	for i, err := range []error{
		second(g.Serve("s", "std_srvs/srv/Trigger", func(context.Context, any) (any, error) { return nil, nil }, ServiceOptions{Account: last})),
		second(g.Subscribe("t", SubscribeOptions{Account: last})),
	} {
		if err != nil {
			t.Errorf("sure name %d: %v", i, err)
		}
	}
	_, err := g.ServeAction("a", "text_msgs/action/TextAction", ActionHandler{}, ActionOptions{Account: last})
	var full *budget.Error
	if !errors.As(err, &full) || full.Asked != actionNames || len(g.Actions()) != 0 {
		t.Errorf("an action: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestGoalsAndResultsAreBounded: a goal is charged until it is over, and large results are
// kept as long as there is room for them.
func TestGoalsAndResultsAreBounded(t *testing.T) {
	g, _ := clockGraph(t)
	l := tight()
	account := l.Open()
	var goals []*textGoal
	s := must[*ActionServer](t)(Action(g, "a", textHandler{Goal: func(h *textGoal) { goals = append(goals, h); h.Accept() }}, ActionOptions{}))
	args := []byte(`{"command":{"command":"` + strings.Repeat("x", 20000) + `"}}`)
	for i := range 3 {
		_, err := g.SendGoalJSON("a", "", args, GoalOptions{Account: account})
		if refused := err != nil; refused != (i == 2) || refused && !strings.Contains(err.Error(), "messages: ") {
			t.Errorf("goal %d: %v", i, err)
		}
	}
	if len(goals) != 2 {
		t.Fatalf("%d goals", len(goals))
	}
	for _, h := range goals {
		h.Succeed(msgs.TextActionResult{ErrorString: strings.Repeat("y", maxKeptBytes*2/3)}, "")
	}
	if n := held(l, budget.Messages); n != 0 {
		t.Errorf("%d bytes are charged for goals that are over", n)
	}
	s.beat()
	if n := g.kept.Load(); n > maxKeptBytes || n < maxKeptBytes/2 {
		t.Errorf("%d bytes of results are kept", n)
	}
	if _, err := g.WatchGoal("a", goals[1].ID(), GoalOptions{}); err != nil {
		t.Errorf("the newest result is gone: %v", err)
	}
	s.Close()
	if n := g.kept.Load(); n != 0 {
		t.Errorf("%d bytes of an action that has ended", n)
	}
}

// TestHintsAreBounded: looking for what may have been meant compares with every name, so it
// is not done for every unknown name of a flood. 2,000 of them took 31 s beside 4,096 names.
func TestHintsAreBounded(t *testing.T) {
	now := time.Unix(100, 0)
	g := New(Options{Now: func() time.Time { return now }})
	defer g.Close()
	must[*ServiceServer](t)(g.Serve("torque", "std_srvs/srv/Trigger", func(context.Context, any) (any, error) { return nil, nil }, ServiceOptions{}))
	must[Publisher[msgs.String]](t)(Topic[msgs.String](g, "chatter", TopicOptions{}))
	hints := func() (n int) {
		for range 1000 {
			_, err := g.CallJSON(t.Context(), "torq", "", nil)
			if err == nil || !strings.Contains(err.Error(), "there is no service /torq") {
				t.Fatal(err)
			}
			if strings.Contains(err.Error(), "did you mean") {
				n++
			}
			if g.NearTopics("chater") != "" {
				n++
			}
		}
		return n
	}
	if n := hints(); n != hintBurst {
		t.Errorf("%d hints at once, want %d", n, hintBurst)
	}
	now = now.Add(time.Second)
	if n := hints(); n != hintRate {
		t.Errorf("%d hints a second later, want %d", n, hintRate)
	}
}

// TestRandomUseGivesEverythingBack: whatever clients do and in whatever order they leave,
// nothing stays charged.
func TestRandomUseGivesEverythingBack(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 8))
		g := New(Options{})
		l := tight()
		serveRandomly(t, g, l, random)
		for _, line := range l.Lines() {
			if line.Held != 0 || line.Peak > line.All+8*line.Sure {
				t.Errorf("seed %d: %s: %d held at the end, %d at most", seed, line.Name, line.Held, line.Peak)
			}
		}
		g.Close()
	}
}

// serveRandomly lets four clients do anything and leave one after the other: the closers
// give back, not the end of the account.
func serveRandomly(t *testing.T, g *Graph, l *budget.Ledger, random *rand.Rand) {
	type client struct {
		account *budget.Account
		ads     []*Advertisement
		subs    []*Subscription
		ends    []func()
	}
	must[*ActionServer](t)(g.ServeAction("act", "text_msgs/action/TextAction", ActionHandler{Goal: func(h *GoalHandle) {
		if h.Accept(); random.IntN(2) == 0 {
			h.Succeed(nil, "")
		}
	}}, ActionOptions{MaxGoals: 1000}))
	clients := make([]*client, 4)
	for i := range clients {
		clients[i] = &client{account: l.Open()}
	}
	for range 500 {
		c := clients[random.IntN(len(clients))]
		name := fmt.Sprintf("n%d", random.IntN(12))
		switch random.IntN(7) {
		case 0:
			if a, err := g.Advertise(name, "std_msgs/String", TopicOptions{QoS: QoS{Latched: random.IntN(2) == 0, Depth: random.IntN(4)}, Account: c.account}); err == nil {
				c.ads = append(c.ads, a)
			}
		case 1:
			if s, err := g.Subscribe(name, SubscribeOptions{QoS: QoS{Depth: 1 + random.IntN(4)}, Account: c.account}); err == nil {
				c.subs = append(c.subs, s)
			}
		case 2:
			if s, err := g.Serve(name, "std_srvs/srv/Trigger", nil, ServiceOptions{Account: c.account}); err == nil {
				c.ends = append(c.ends, s.Close)
			}
		case 3:
			if s, err := g.ServeAction("a_"+name, "text_msgs/action/TextAction", ActionHandler{Goal: func(*GoalHandle) {}}, ActionOptions{Account: c.account}); err == nil {
				c.ends = append(c.ends, s.Lose)
			}
		case 4:
			goal := &msgs.TextActionGoal{Command: msgs.TextCommand{Command: strings.Repeat("x", random.IntN(9000))}}
			_, _ = g.SendGoal([]string{"act", "a_" + name}[random.IntN(2)], goal, GoalOptions{Account: c.account})
		default:
			if len(c.ads) > 0 {
				_ = c.ads[random.IntN(len(c.ads))].Publish(&msgs.String{Data: strings.Repeat("x", random.IntN(4000))})
			}
			if len(c.subs) > 0 {
				c.subs[random.IntN(len(c.subs))].Poll()
			}
		}
	}
	for _, c := range clients {
		for _, a := range c.ads {
			a.Close()
		}
		for _, s := range c.subs {
			s.Close()
		}
		for _, end := range c.ends {
			end()
		}
	}
	_, _ = g.CancelGoals("act", "", "", action.Time(0))
}

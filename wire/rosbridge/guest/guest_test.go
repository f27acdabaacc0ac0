package guest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"poise/action"
	"poise/graph"
	"poise/graph/actions"
	"poise/msgs"
	"poise/wire/rosbridge/frame"
)

// phone is the other end of a guest.
type phone struct {
	asked      chan *frame.Message
	complaints chan string
}

func (p *phone) Ask(m *frame.Message)    { p.asked <- m }
func (p *phone) Complain(_, text string) { p.complaints <- text }

func newGuest(t *testing.T) (*graph.Graph, *Guest, *phone, func()) {
	t.Helper()
	g := graph.New(graph.Options{})
	t.Cleanup(g.Close)
	p := &phone{asked: make(chan *frame.Message, 10), complaints: make(chan string, 10)}
	ctx, cancel := context.WithCancel(t.Context())
	return g, New(g, "/client", p, ctx.Done()), p, cancel
}

func message(t *testing.T, text string) *frame.Message {
	t.Helper()
	m, err := frame.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestAnAnswerThatCannotBeReadFailsTheCallAndIsTold(t *testing.T) {
	g, c, p, _ := newGuest(t)
	if err := c.AdvertiseService(message(t, `{"op":"advertise_service","service":"/s","type":"std_srvs/srv/Trigger"}`)); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := g.Call(context.Background(), "s", &msgs.TriggerRequest{})
		failed <- err
	}()
	q := <-p.asked
	if err := c.ServiceResponse(&frame.Message{ID: q.ID, Values: []byte(`{"sucess":true}`)}); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "the client's answer: sucess") {
		t.Errorf("the call: %v", err)
	}
	if text := <-p.complaints; !strings.Contains(text, "/s: sucess") {
		t.Errorf("the client hears %q", text)
	}
	if err := c.ServiceResponse(&frame.Message{ID: q.ID}); err == nil {
		t.Error("a second answer was taken")
	}
}

// TestAResultThatCannotBeReadEndsTheGoal: whoever sent it does not wait for a better one.
func TestAResultThatCannotBeReadEndsTheGoal(t *testing.T) {
	g, c, p, _ := newGuest(t)
	if err := c.AdvertiseAction(message(t, `{"op":"advertise_action","action":"/a","type":"text_msgs/action/TextAction"}`)); err != nil {
		t.Fatal(err)
	}
	goal, err := actions.Send(g, "a", &msgs.TextActionGoal{}, actions.SendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	q := <-p.asked
	status, yes := int(msgs.StatusSucceeded), true
	err = c.ActionResult(&frame.Message{ID: q.ID, Action: "/a", Values: []byte(`{"error":1}`), Status: &status, Result: &yes})
	if err == nil || !strings.Contains(err.Error(), "error: the message has no such field") {
		t.Errorf("the client hears %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if u, err := goal.Result(ctx); err != nil || u.State != action.Aborted || !strings.Contains(u.Text, "cannot be read") || u.Result.Value.(*msgs.TextActionResult).ErrorCode == 0 {
		t.Errorf("the goal: %+v, %v", u, err)
	}
}

func TestAGuestThatLeavesTakesEverythingAlong(t *testing.T) {
	g, c, p, gone := newGuest(t)
	for _, m := range []string{`{"op":"advertise_service","service":"/s","type":"std_srvs/srv/Trigger"}`, `{"op":"advertise_service","service":"/s2","type":"std_srvs/Trigger"}`} {
		if err := c.AdvertiseService(message(t, m)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.AdvertiseAction(message(t, `{"op":"advertise_action","action":"/a","type":"text_msgs/TextAction"}`)); err != nil {
		t.Fatal(err)
	}
	if n := c.Names(); n != 3 {
		t.Errorf("%d names, want 3", n)
	}
	goal, err := actions.Send(g, "a", &msgs.TextActionGoal{}, actions.SendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := g.Call(context.Background(), "s", &msgs.TriggerRequest{})
		failed <- err
	}()
	<-p.asked
	<-p.asked
	gone()
	c.Leave()
	if err := <-failed; !errors.Is(err, graph.ErrClosed) && !errors.Is(err, errClientGone) {
		t.Errorf("the call: %v", err)
	}
	if u, err := goal.Result(t.Context()); err != nil || u.State != action.Lost {
		t.Errorf("the goal: %+v, %v", u, err)
	}
	if n := len(g.Services()) + len(g.Actions()) + len(g.Topics()); n != 0 {
		t.Errorf("%d things are left", n)
	}
}

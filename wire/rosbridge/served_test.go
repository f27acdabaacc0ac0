package rosbridge

import (
	"context"
	"errors"
	"strings"
	"testing"

	"poise/action"
	"poise/graph"
	"poise/msgs"
	"poise/wire/rosbridge/frame"
)

func newTestServed(t *testing.T) (*graph.Graph, *session) {
	t.Helper()
	g := graph.New(graph.Options{})
	t.Cleanup(g.Close)
	return g, newTestSession(t, g)
}

func parse(t *testing.T, text string) *frame.Message {
	t.Helper()
	m, err := frame.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// sent returns the next message that goes to the client.
func sent(t *testing.T, ses *session) *frame.Message {
	t.Helper()
	return parse(t, string(nextOutgoing(t, ses).frames[0]))
}

func TestAnAnswerThatCannotBeReadFailsTheCallAndIsTold(t *testing.T) {
	g, ses := newTestServed(t)
	if err := ses.served.advertiseService(parse(t, `{"op":"advertise_service","service":"/s","type":"std_srvs/srv/Trigger"}`)); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := g.Call(context.Background(), "s", &msgs.TriggerRequest{})
		failed <- err
	}()
	q := sent(t, ses)
	if err := ses.served.serviceResponse(&frame.Message{ID: q.ID, Values: []byte(`{"sucess":true}`)}); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "the client's answer: sucess") {
		t.Errorf("the call: %v", err)
	}
	if text := string(sent(t, ses).Msg); !strings.Contains(text, "/s: sucess") {
		t.Errorf("the client hears %q", text)
	}
	if err := ses.served.serviceResponse(&frame.Message{ID: q.ID}); err == nil {
		t.Error("a second answer was taken")
	}
}

// TestAResultThatCannotBeReadEndsTheGoal: its sender does not wait for a better one.
func TestAResultThatCannotBeReadEndsTheGoal(t *testing.T) {
	g, ses := newTestServed(t)
	if err := ses.served.advertiseAction(parse(t, `{"op":"advertise_action","action":"/a","type":"text_msgs/action/TextAction"}`)); err != nil {
		t.Fatal(err)
	}
	goal, err := g.SendGoal("a", &msgs.TextActionGoal{}, graph.GoalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	q := sent(t, ses)
	status, yes := int(msgs.StatusSucceeded), true
	err = ses.served.actionResult(&frame.Message{ID: q.ID, Action: "/a", Values: []byte(`{"error":1}`), Status: &status, Result: &yes})
	if err == nil || !strings.Contains(err.Error(), "error: the message has no such field") {
		t.Errorf("the client hears %v", err)
	}
	if u, err := goal.Result(t.Context()); err != nil || u.State != action.Aborted || !strings.Contains(u.Text, "cannot be read") || u.Result.Value.(*msgs.TextActionResult).ErrorCode == 0 {
		t.Errorf("the goal: %+v, %v", u, err)
	}
}

func TestAClientThatLeavesTakesEverythingAlong(t *testing.T) {
	g, ses := newTestServed(t)
	for _, m := range []string{`{"op":"advertise_service","service":"/s","type":"std_srvs/srv/Trigger"}`, `{"op":"advertise_service","service":"/s2","type":"std_srvs/Trigger"}`} {
		if err := ses.served.advertiseService(parse(t, m)); err != nil {
			t.Fatal(err)
		}
	}
	if err := ses.served.advertiseAction(parse(t, `{"op":"advertise_action","action":"/a","type":"text_msgs/TextAction"}`)); err != nil {
		t.Fatal(err)
	}
	if n := ses.served.names(); n != 3 {
		t.Errorf("%d names, want 3", n)
	}
	goal, err := g.SendGoal("a", &msgs.TextActionGoal{}, graph.GoalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := g.Call(context.Background(), "s", &msgs.TriggerRequest{})
		failed <- err
	}()
	sent(t, ses)
	sent(t, ses)
	ses.stop(errGoingAway)
	ses.served.withdraw()
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

package graph

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	"poise/action"
	"poise/msgs"
	"poise/msgs/registry"
)

// lateGoals is a goal server that tells nothing by itself: the test does, when it
// likes, as a server with queues of its own would.
type lateGoals struct {
	mu    sync.Mutex
	views []*GoalView
	err   error
	n     int
}

func (s *lateGoals) Submit(q GoalRequest, v *GoalView) (action.ID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return "", s.err
	}
	s.views = append(s.views, v)
	if s.n++; q.ID == "" {
		q.ID = action.ID("ours-" + strconv.Itoa(s.n))
	}
	return q.ID, nil
}

func (s *lateGoals) Cancel(string, action.ID, action.Time) int { return 0 }
func (s *lateGoals) Stop(bool)                                 {}

func serveLate(t *testing.T, g *Graph, o ActionOptions) (*lateGoals, *ActionServer) {
	t.Helper()
	typ, _, err := registry.ActionNamed("text_msgs/action/TextAction")
	if err != nil {
		t.Fatal(err)
	}
	goals := &lateGoals{}
	return goals, must[*ActionServer](t)(g.ServeGoals("play_motion", typ, goals, o))
}

// A goal can be watched as soon as it was sent, even if its server has told nothing of
// it yet, and its first state is told once.
func TestAGoalIsShownBeforeItsServerSpeaks(t *testing.T) {
	g, _ := clockGraph(t)
	goals, _ := serveLate(t, g, ActionOptions{})
	c := send(t, g, "", "")
	w := must[*GoalClient](t)(g.WatchGoal("play_motion", c.ID(), GoalOptions{}))
	for _, state := range []action.State{action.Pending, action.Active, action.Succeeded} {
		change := GoalChange{ID: c.ID(), State: state}
		if state.Terminal() {
			change.Result = &msgs.TextActionResult{ErrorCode: 1}
		}
		goals.views[0].Changed(change)
	}
	for _, x := range []*GoalClient{c, w} {
		if got := news(x); got != "pending active succeeded(1,3,4 )" {
			t.Errorf("news of %s: %s", x.ID(), got)
		}
	}
}

// Goals count from the moment that they are let in: the server may be slow.
func TestGoalsOnTheirWayCount(t *testing.T) {
	g, _ := clockGraph(t)
	goals, s := serveLate(t, g, ActionOptions{MaxGoals: 2})
	send(t, g, "a", "")
	send(t, g, "b", "")
	var full *FullError
	if _, err := g.SendGoal("play_motion", &msgs.TextActionGoal{}, GoalOptions{}); !errors.As(err, &full) {
		t.Errorf("a third goal: %v", err)
	}
	goals.views[0].Changed(GoalChange{ID: "a", State: action.Rejected})
	goals.err = errors.New("no")
	for range 5 { // those that the server does not take leave nothing behind
		if _, err := g.SendGoal("play_motion", &msgs.TextActionGoal{}, GoalOptions{}); err == nil || err.Error() != "no" {
			t.Fatal(err)
		}
	}
	if n := s.openGoals(); n != 1 {
		t.Errorf("%d goals are open, want 1", n)
	}
}

// A server may tell what became of a goal when its action is gone: clients hear it.
func TestNewsAfterTheEndOfTheAction(t *testing.T) {
	g, _ := clockGraph(t)
	goals, s := serveLate(t, g, ActionOptions{})
	must[*Subscription](t)(g.Subscribe("play_motion/result", SubscribeOptions{}))
	c := send(t, g, "a", "")
	s.Close()
	goals.views[0].Changed(GoalChange{ID: "a", State: action.Aborted, Cause: action.ServerStopped})
	u, err := c.Result(context.Background())
	if err != nil || u.State != action.Aborted || u.Cause != action.ServerStopped {
		t.Errorf("%+v, %v", u, err)
	}
	goals.views[0].Feedback(func() GoalFeedback { t.Error("feedback of a goal that is over"); return GoalFeedback{} })
}

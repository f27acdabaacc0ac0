package server

import (
	"testing"

	"poise/action"
	"poise/edge"
	"poise/executive"
	"poise/graph"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/robot"
)

// toldGoals is a goal server that says what the test says.
type toldGoals struct{ view *graph.GoalView }

func (s *toldGoals) Submit(_ graph.GoalRequest, v *graph.GoalView) (action.ID, error) {
	s.view = v
	return "a", nil
}
func (s *toldGoals) Cancel(string, action.ID, action.Time) int { return 1 }
func (s *toldGoals) Stop(bool)                                 {}

// TestEveryEndOfAGoalIsTold goes through the ways that a goal of the executive can take,
// also when its client calls it off before it began: clients see each state as it is,
// and there is always a result.
func TestEveryEndOfAGoalIsTold(t *testing.T) {
	d := executiveGoals{action: edge.Translation[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]{
		Result: func(_ *robot.Model, r *executive.Result) msgs.TextActionResult {
			return msgs.TextActionResult{ErrorString: r.Code}
		},
	}}
	typ, _, err := registry.ActionNamed("text_msgs/action/TextAction")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		way  []action.State
	}{
		{"done", []action.State{action.Active, action.Succeeded}},
		{"aborted", []action.State{action.Active, action.Aborted}},
		{"rejected", []action.State{action.Rejected}},
		{"lost before it began", []action.State{action.Lost}},
		{"called off before it began", []action.State{action.Recalling, action.Recalled}},
		{"called off, rejected", []action.State{action.Recalling, action.Rejected}},
		{"called off, began, called off", []action.State{action.Recalling, action.Preempting, action.Preempted}},
		{"called off, began, aborted", []action.State{action.Recalling, action.Preempting, action.Aborted}},
		{"called off, began, done", []action.State{action.Recalling, action.Preempting, action.Succeeded}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := graph.New(graph.Options{})
			defer g.Close()
			told := &toldGoals{}
			if _, err := g.ServeGoals("/play", typ, told, graph.ActionOptions{}); err != nil {
				t.Fatal(err)
			}
			c, err := g.SendGoal("/play", &msgs.TextActionGoal{}, graph.GoalOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, to := range tc.way {
				told.view.Changed(d.change(&executive.Change{Goal: executive.GoalID{ID: "a"}, To: to, Result: executive.Result{Code: "told"}}))
			}
			for i, want := range append([]action.State{action.Pending}, tc.way...) {
				u, err := c.Next(t.Context())
				if err != nil || u.State != want {
					t.Fatalf("update %d is %v (%v), want %v", i, u.State, err, want)
				}
				if (u.Result != nil) != want.Terminal() {
					t.Errorf("%v with result %v", u.State, u.Result)
				}
				if u.Result != nil && u.Result.Value.(*msgs.TextActionResult).ErrorString != "told" {
					t.Errorf("result %+v", u.Result.Value)
				}
			}
		})
	}
}

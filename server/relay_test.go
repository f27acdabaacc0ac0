package server

import (
	"context"
	"testing"
	"time"

	"poise/action"
	"poise/executive"
	"poise/graph"
	"poise/msgs"
)

// TestEveryEndOfAGoalIsTold goes through the ways that a goal of the executive can take,
// also when its client calls it off before it began: there is always a result.
func TestEveryEndOfAGoalIsTold(t *testing.T) {
	text := goalDialect[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]{
		Result: func(r *executive.Result) msgs.TextActionResult { return msgs.TextActionResult{ErrorString: r.Code} },
	}
	for _, x := range []struct {
		name   string
		cancel bool // by its client, at once
		way    []action.State
		want   action.State
	}{
		{"done", false, []action.State{action.Active, action.Succeeded}, action.Succeeded},
		{"aborted", false, []action.State{action.Active, action.Aborted}, action.Aborted},
		{"rejected", false, []action.State{action.Rejected}, action.Rejected},
		{"lost before it began", false, []action.State{action.Lost}, action.Rejected},
		{"called off before it began", true, []action.State{action.Recalling, action.Recalled}, action.Recalled},
		{"called off, rejected", true, []action.State{action.Recalling, action.Rejected}, action.Rejected},
		{"called off, began, called off", true, []action.State{action.Recalling, action.Preempting, action.Preempted}, action.Preempted},
		{"called off, began, aborted", true, []action.State{action.Recalling, action.Preempting, action.Aborted}, action.Aborted},
		{"called off, began, done", true, []action.State{action.Recalling, action.Preempting, action.Succeeded}, action.Succeeded},
	} {
		t.Run(x.name, func(t *testing.T) {
			g := graph.New(graph.Options{})
			var goal *graph.Goal[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]
			h := graph.ActionCallbacks[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]{}
			h.Goal = func(h *graph.Goal[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]) { goal = h }
			h.Cancel = func(*graph.Goal[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]) {}
			if _, err := graph.Action(g, "/play", h, graph.ActionOptions{}); err != nil {
				t.Fatal(err)
			}
			c, err := g.SendGoal("/play", &msgs.TextActionGoal{}, graph.GoalOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if x.cancel {
				c.Cancel()
			}
			for _, to := range x.way {
				relay(goal, executive.Change{To: to, Result: executive.Result{Code: "told"}}, text)
			}
			ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
			defer stop()
			u, err := c.Result(ctx)
			if err != nil {
				t.Fatal("no result:", err)
			}
			if r, ok := u.Result.Value.(*msgs.TextActionResult); u.State != x.want || !ok || r.ErrorString != "told" {
				t.Errorf("it ended %v with %+v, want %v", u.State, u.Result.Value, x.want)
			}
		})
	}
}

package graph_test

import (
	"context"
	"fmt"

	"poise/action"
	"poise/graph"
	"poise/msgs"
)

// A component performs goals; a wire sends one and follows it.
func ExampleAction() {
	type goal = graph.Goal[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]
	g := graph.New(graph.Options{})
	defer g.Close()
	_, err := graph.Action(g, "play_motion", graph.ActionCallbacks[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]{
		Goal: func(h *goal) {
			if h.Value().Command.Command != "wave" {
				h.Reject(action.ConditionsUnmet, msgs.TextActionResult{ErrorCode: -1}, "there is no motion "+h.Value().Command.Command)
				return
			}
			h.Accept()
			h.Feedback(&msgs.TextActionFeedback{Status: "half way"})
			h.Succeed(msgs.TextActionResult{}, "played")
		},
	}, graph.ActionOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"wave", "fly"} {
		c, err := g.SendGoalJSON("play_motion", "text_msgs/action/TextAction", []byte(`{"command":{"command":"`+name+`"}}`), graph.GoalOptions{})
		if err != nil {
			fmt.Println(err)
			continue
		}
		u, _ := c.Result(context.Background())
		fmt.Println(u.State, graph.StatusROS2(u.State, u.Cause), u.Text)
	}
	// Output:
	// succeeded 4 played
	// rejected 6 there is no motion fly
}

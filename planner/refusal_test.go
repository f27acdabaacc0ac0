package planner

import (
	"errors"
	"testing"

	"poise/problem"
)

// TestRefusalIsAProblem, whose code and item follow what was set last.
func TestRefusalIsAProblem(t *testing.T) {
	why := Refuse(BadGoal, "joint %s is too fast", "knee").With("go slower")
	why.Joint, why.Value, why.Limit, why.At = "knee", 3, 2, 0.5
	why.Kind, why.Item = LimitExceeded, 2
	all := problem.All("invalid", errors.Join(errors.New("plain"), why))
	want := problem.Problem{Code: "plan_limit_exceeded", Thing: "item 2", Text: "joint knee is too fast",
		Joint: "knee", At: 0.5, Value: 3, Limit: 2, Help: "go slower"}
	if len(all) != 2 || all[0].Code != "invalid" || all[1] != want {
		t.Errorf("%+v", all)
	}
	if got := why.Error(); got != "item 2: joint knee is too fast; go slower" || got != all[1].Error() {
		t.Error(got)
	}
	if !errors.Is(why, problem.Code("plan_limit_exceeded")) || errors.Is(why, problem.Code("plan_bad_goal")) {
		t.Error("its code is not found")
	}
}

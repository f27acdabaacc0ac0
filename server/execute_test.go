package server_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"poise/msgs/poisemsgs"
)

const motionType = "poise_msgs/action/ExecuteMotion"

// edited is a motion of one joint that is not saved, with marks at its middle rows.
func edited() poisemsgs.Motion {
	m := poisemsgs.Motion{Columns: []string{"joint52"}, Joints: []poisemsgs.MotionJoint{{Name: "joint52", Enabled: true}}}
	for i, q := range []float64{0, 0.1, 0.3, 0.8} {
		m.Points = append(m.Points, poisemsgs.MotionPoint{Time: 5 + float64(i), Enabled: true, Positions: []float64{q}})
	}
	m.Points[1].Mark, m.Points[2].Mark = "start", "end"
	return m
}

// TestAnEditedMotionIsExecutedInOneGoal: document, part, direction, speed and approach go
// up once; what comes back is in the times of the table.
func TestAnEditedMotionIsExecutedInOneGoal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		goal := &poisemsgs.ExecuteMotionGoal{Motion: edited(), Part: true, Speed: 2, Approach: true}
		for _, backward := range []bool{false, true} {
			goal.Backward = backward
			from, to, end := 6.0, 7.0, 0.3
			if backward {
				from, to, end = 7, 6, 0.1
			}
			g := b.send("/execute_motion", motionType, goal)
			var states []string
			last := from
			for {
				u, err := g.Next(b.ctx)
				if err != nil {
					t.Fatal(err)
				}
				if u.Done {
					b.want(u, succeeded)
					var r poisemsgs.ExecuteMotionResult
					if err := json.Unmarshal(u.Result, &r); err != nil || r.Code != "ok" || r.Time != to {
						t.Errorf("%+v, %v", r, err)
					}
					break
				}
				var f poisemsgs.ExecuteMotionFeedback
				if err := json.Unmarshal(u.Feedback, &f); err != nil {
					t.Fatal(err)
				}
				if len(states) == 0 || states[len(states)-1] != f.State {
					states = append(states, f.State)
				}
				if f.State != "moving" {
					continue
				}
				if math.Abs(f.Progress-math.Abs(f.Time-from)) > 1e-9 || math.Abs(f.Time-from) < math.Abs(last-from) {
					t.Errorf("%g s of the table, %g are done, before it was %g s", f.Time, f.Progress, last)
				}
				last = f.Time
			}
			if q := b.joints("/joint_states")["joint52"]; math.Abs(q-end) > 1e-6 {
				t.Errorf("it ended at %g, want %g", q, end)
			}
			if !backward && states[0] != "approaching" {
				t.Errorf("from elsewhere its states are %v", states)
			}
		}
		// the trajectory that was played can be kept
		b.must("/motions/save_last", &poisemsgs.MotionsSaveLastRequest{Name: "kept"})
		if p := get(b, "kept").Motion.Points; len(p) != 2 || p[1].Time != 0.5 {
			t.Errorf("%+v was kept", p)
		}
	})
}

// TestARefusedMotionExplainsItselfInFields: over the wire, with the joint, the time in the
// table, the value and the limit of every reason.
func TestARefusedMotionExplainsItselfInFields(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil).stock()
		refusal := func(goal *poisemsgs.ExecuteMotionGoal) []poisemsgs.Explanation {
			t.Helper()
			u, _ := b.end(b.send("/execute_motion", motionType, goal))
			b.rejected(u)
			if len(u.Explanations) == 0 {
				t.Fatalf("%q is not explained", u.Text)
			}
			return u.Explanations
		}
		x := refusal(&poisemsgs.ExecuteMotionGoal{Motion: edited(), Part: true, Speed: 20, Approach: true})[0]
		if x.Code != "beyond_velocity_limit" || x.Joint != "joint52" || x.At < 6 || x.At > 7 || !(math.Abs(x.Value) > math.Abs(x.Limit)) || x.Help == "" {
			t.Errorf("%+v", x)
		}
		m := edited()
		m.Joints[0].PathTolerance = []poisemsgs.MotionTolerance{{Position: 0.01}}
		if x := refusal(&poisemsgs.ExecuteMotionGoal{Motion: m, Part: true})[0]; x.Code != "start_too_far" || x.Limit != 0.01 {
			t.Errorf("without an approach: %+v", x)
		}
		if x := refusal(&poisemsgs.ExecuteMotionGoal{Name: "twich"})[0]; x.Code != "unknown_motion" || !strings.Contains(x.Text, "twitch") {
			t.Errorf("%+v", x)
		}
		if x := refusal(&poisemsgs.ExecuteMotionGoal{Motion: edited(), Speed: -1})[0]; !strings.Contains(x.Text, "-1") {
			t.Errorf("%+v", x)
		}
		if x := refusal(&poisemsgs.ExecuteMotionGoal{Motion: edited(), Approach: true, ApproachShare: 2})[0]; x.Value != 2 || x.Limit != 1 {
			t.Errorf("%+v", x)
		}
		// after a stop only a goal that says so goes on
		b.must("/stop", &poisemsgs.StopRequest{Category: 2})
		goal := &poisemsgs.ExecuteMotionGoal{Motion: edited(), Approach: true}
		if x := refusal(goal)[0]; x.Code != "stopping" {
			t.Errorf("%+v", x)
		}
		goal.Resume = true
		u, _ := b.end(b.send("/execute_motion", motionType, goal))
		b.want(u, succeeded)
	})
}

package pipeline_test

import (
	"context"
	"strings"
	"testing"

	"poise/planner"
	"poise/planner/pipeline"
	"poise/robot/load"
)

func arm6(t *testing.T) (pipeline.Set, []float64) {
	t.Helper()
	r, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return pipeline.Standard(r.Model, pipeline.Sampling{Own: 0.01}), make([]float64, r.Model.NumQ())
}

func turn(angle float64) planner.Item {
	return planner.Item{Request: planner.Request{Command: planner.PTP, Group: "manipulator", VelocityScaling: 1, AccelerationScaling: 1,
		Goals: []planner.Goal{{Joints: []planner.JointGoal{{Joint: "joint_1", Position: angle}, {Joint: "joint_2"}, {Joint: "joint_3"},
			{Joint: "joint_4"}, {Joint: "joint_5"}, {Joint: "joint_6"}}}}}}
}

func TestNamesChooseThePlanner(t *testing.T) {
	plans, here := arm6(t)
	spacing := func(s pipeline.Set, name string) float64 {
		a := s.Ask(context.Background(), &pipeline.Question{Items: []planner.Item{turn(0.4)}, Pipeline: name}, here)
		if a.Refusal != nil || len(a.Motions) != 1 || !(a.Seconds > 0) {
			t.Fatalf("%q: %+v", name, a)
		}
		return a.Motions[0].Trajectory.Points[1].Time
	}
	own, compat := spacing(plans, pipeline.Own), spacing(plans, pipeline.Pilz)
	if own == compat || spacing(plans, "") != own || spacing(plans.First(pipeline.Pilz), "") != compat {
		t.Errorf("%g s between points by name, %g s of the other; the first is not meant where none is named", own, compat)
	}
	if names := strings.Join(plans.First(pipeline.Pilz).Names(), " "); names != pipeline.Pilz+" "+pipeline.Own {
		t.Errorf("names %s", names)
	}
}

func TestRefusalsSayWhatWouldHelp(t *testing.T) {
	plans, here := arm6(t)
	for _, tc := range []struct {
		name string
		q    pipeline.Question
		kind planner.Kind
		says string
	}{
		{"no such planner", pipeline.Question{Items: []planner.Item{turn(0)}, Pipeline: "ompl"}, planner.UnknownCommand, `planner "ompl" is unknown; there are poise, pilz_industrial_motion_planner`},
		{"nothing to plan", pipeline.Question{}, planner.BadRequest, "there is no request to plan"},
		{"out of reach", pipeline.Question{Items: []planner.Item{turn(9)}}, planner.BadGoal, "joint_1"},
		{"an item of a sequence", pipeline.Question{Items: []planner.Item{turn(0.1), turn(9)}, Sequence: true}, planner.BadGoal, "item 1"},
		{"no time at all", pipeline.Question{Items: []planner.Item{turn(0.4)}, Seconds: 1e-12}, planner.TimedOut, "s, allowed_planning_time is 1e-12 s"},
		{"no such group", pipeline.Question{Items: []planner.Item{{Request: planner.Request{Command: planner.PTP, Group: "legs", VelocityScaling: 1, AccelerationScaling: 1}}}}, planner.UnknownGroup, `group "legs" is unknown; there are `},
	} {
		ctx, stop := tc.q.Bounded(context.Background())
		a := plans.Ask(ctx, &tc.q, here)
		stop()
		if a.Refusal == nil || a.Refusal.Kind != tc.kind || !strings.Contains(a.Refusal.Error(), tc.says) || a.Motions != nil {
			t.Errorf("%s: %+v, want %q", tc.name, a.Refusal, tc.says)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if a := plans.Ask(ctx, &pipeline.Question{Items: []planner.Item{turn(0.4)}}, here); a.Refusal == nil || a.Refusal.Kind != planner.Cancelled {
		t.Errorf("cancelled: %+v", a.Refusal)
	}
}

func TestAnEmptySequenceIsPlannedAsOne(t *testing.T) {
	plans, here := arm6(t)
	if a := plans.Ask(context.Background(), &pipeline.Question{Sequence: true}, here); a.Refusal != nil || len(a.Motions) != 0 {
		t.Errorf("%+v", a)
	}
}

package executive

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"

	"poise/action"
	"poise/control/follow"
	"poise/planner"
	"poise/planner/pipeline"
	"poise/planner/smooth"
	"poise/trajectory"
)

// ptp is a request to move joints of the arm.
func ptp(group string, goals map[string]float64) planner.Request {
	req := planner.Request{Command: planner.PTP, CommandName: "PTP", Group: group, VelocityScaling: 0.5, AccelerationScaling: 0.5}
	g := planner.Goal{}
	for _, name := range []string{"joint_1", "joint_2", "joint_3", "joint_4", "joint_5", "joint_6", "finger_left_joint"} {
		if q, ok := goals[name]; ok {
			g.Joints = append(g.Joints, planner.JointGoal{Joint: name, Position: q})
		}
	}
	req.Goals = []planner.Goal{g}
	return req
}

func arm(q1 float64) planner.Request {
	return ptp("manipulator", map[string]float64{"joint_1": q1, "joint_2": 0, "joint_3": 0, "joint_4": 0, "joint_5": 0, "joint_6": 0})
}

func items(all ...planner.Request) (out []planner.Item) {
	for _, r := range all {
		out = append(out, planner.Item{Request: r})
	}
	return out
}

// startArm puts the arm at zero.
func startArm(t *testing.T) *rig {
	r := newRig(t, parts{robot: "arm6"})
	return r
}

// TestMovePlansAndPerforms plans a motion with either planner, and goes there.
func TestMovePlansAndPerforms(t *testing.T) {
	for _, name := range []string{"", "pilz_industrial_motion_planner"} {
		r := startArm(t)
		g := r.submit(&Move{Question: pipeline.Question{Items: items(arm(0.4)), Pipeline: name}})
		if g.state() != action.Active {
			t.Fatalf("%v while it plans", g.state())
		}
		c := r.mustEnd(g, 10, action.Succeeded, action.Finished, "ok")
		if q := r.command("joint_1"); math.Abs(q-0.4) > 1e-6 {
			t.Errorf("pipeline %q: joint_1 is at %g", name, q)
		}
		if len(c.Result.Plan.Motions) != 1 || !c.Result.Executed || g.feedback[0].Phase != Planning {
			t.Errorf("pipeline %q: %+v", name, c.Result)
		}
	}
}

// TestMoveMayBeThereAlready: a single motion that moves nothing is done at once, a
// sequence is performed all the same.
func TestMoveMayBeThereAlready(t *testing.T) {
	r := startArm(t)
	c := r.mustEnd(r.submit(&Move{Question: pipeline.Question{Items: items(arm(0))}}), 1, action.Succeeded, action.Finished, "ok")
	if c.Result.Executed {
		t.Error("something was performed")
	}
	c = r.mustEnd(r.submit(&Move{Question: pipeline.Question{Items: items(arm(0)), Sequence: true}}), 5, action.Succeeded, action.Finished, "ok")
	if !c.Result.Executed {
		t.Error("a sequence always performs")
	}
	c = r.mustEnd(r.submit(&Move{Question: pipeline.Question{Items: items(arm(0.3), arm(-0.2), ptp("gripper", map[string]float64{"finger_left_joint": 0.02}), arm(0.1)), Sequence: true}}), 20,
		action.Succeeded, action.Finished, "ok")
	if q, f := r.command("joint_1"), r.command("finger_left_joint"); math.Abs(q-0.1) > 1e-6 || math.Abs(f-0.02) > 1e-6 {
		t.Errorf("at %g and %g", q, f)
	}
	if len(c.Result.Plan.Motions) != 3 {
		t.Errorf("%d motions", len(c.Result.Plan.Motions))
	}
}

// TestPlanningMovesNothing plans in all ways that only plan.
func TestPlanningMovesNothing(t *testing.T) {
	r := startArm(t)
	c := r.mustEnd(r.submit(&Move{Question: pipeline.Question{Items: items(arm(0.4))}, PlanOnly: true}), 1, action.Succeeded, action.Finished, "ok")
	if len(c.Result.Plan.Motions) != 1 || c.Result.Executed {
		t.Errorf("%+v", c.Result)
	}
	for _, sequence := range []bool{false, true} {
		if p := r.e.Plan(context.Background(), "test", &pipeline.Question{Items: items(arm(0.4)), Sequence: sequence}); p.Code != "ok" || len(p.Plan.Motions) != 1 {
			t.Errorf("%+v", p)
		}
	}
	if p := r.e.Plan(context.Background(), "test", &pipeline.Question{Items: items(arm(9))}); p.Code == "ok" || p.Plan.Refusal == nil || p.Explanations[0].Joint != "joint_1" {
		t.Errorf("%+v", p)
	}
	if p := r.e.Plan(context.Background(), "test", &pipeline.Question{Items: items(arm(0.4)), Pipeline: "ompl"}); p.Code != "unknown_pipeline" || !said(p.Explanations[0], "poise") {
		t.Errorf("%+v", p)
	}
	r.seconds(1)
	if q := r.command("joint_1"); q != 0 {
		t.Errorf("something moved: %g", q)
	}
}

// TestPlanThatIsRefused ends the goal with the planner's own words.
func TestPlanThatIsRefused(t *testing.T) {
	r := startArm(t)
	c := r.mustEnd(r.submit(&Move{Question: pipeline.Question{Items: items(arm(9))}}), 1, action.Aborted, action.Failed, "plan_bad_goal")
	if c.Result.Plan.Refusal == nil || c.Result.Explanations[0].Joint != "joint_1" || c.Result.Explanations[0].Value != 9 {
		t.Errorf("%+v", c.Result)
	}
}

// TestPlanningIsCancelled cancels a goal whose plan never ends by itself.
func TestPlanningIsCancelled(t *testing.T) {
	var workers sync.WaitGroup
	slow := slowPlanner{entered: make(chan struct{}, 1)}
	r := newRig(t, parts{robot: "arm6", change: func(c *Config) {
		c.Pipelines = pipeline.Set{{Name: "slow", Planner: slow}}
		c.Go = func(job func()) { workers.Go(job) }
	}})
	g := r.submit(&Move{Question: pipeline.Question{Items: items(arm(0.4))}})
	<-slow.entered
	r.run(5)
	if st := r.e.State(); len(st.Goals) != 1 || st.Goals[0].Phase != Planning {
		t.Errorf("%+v", st.Goals)
	}
	r.e.Cancel("test", "move", g.id.ID, 0)
	workers.Wait() // the end may be told by a worker
	r.mustEnd(g, 0.1, action.Preempted, action.ClientCancel, "cancelled")
	r.run(5)
	if g.last(t).To != action.Preempted {
		t.Error("ended twice")
	}
}

type slowPlanner struct{ entered chan struct{} }

func (s slowPlanner) Plan(ctx context.Context, _ *planner.Request, _ []float64) (*planner.Motion, *planner.Refusal) {
	s.entered <- struct{}{}
	<-ctx.Done()
	return nil, planner.Stopped(ctx)
}

func (s slowPlanner) Sequence(ctx context.Context, _ []planner.Item, _ []float64) ([]*planner.Motion, *planner.Refusal) {
	<-ctx.Done()
	return nil, planner.Stopped(ctx)
}

// TestLastTrajectoryBecomesAMotion keeps what was planned, and what came, as a
// stored motion that plays the same.
func TestLastTrajectoryBecomesAMotion(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", library: shelf(t)})
	if _, ok := r.e.Last(); ok {
		t.Error("something was kept before anything came")
	}
	r.mustEnd(r.submit(&Move{Question: pipeline.Question{Items: items(arm(0.4))}}), 10, action.Succeeded, action.Finished, "ok")
	kept, ok := r.e.Last()
	if !ok || kept.Source != "move" {
		t.Fatalf("%v, %q", ok, kept.Source)
	}
	d, err := kept.Document(r.m)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(d.Points); n < 3 || n > 80 || d.Duration() > 1.2*kept.Goal.Points[len(kept.Goal.Points)-1].Time || len(d.Columns) != len(r.m.Joints()) {
		t.Errorf("%d rows of %d columns, of %d samples", n, len(d.Columns), len(kept.Goal.Points))
	}
	played, err := d.Goal(motionWhole)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := played.Curve(r.m)
	if err != nil {
		t.Fatal(err)
	}
	q := make([]float64, len(played.Joints))
	for _, p := range kept.Goal.Points {
		curve.PositionTo(q, p.Time*d.Duration()/kept.Goal.Points[len(kept.Goal.Points)-1].Time)
		for i := range q {
			if math.Abs(q[i]-p.Position[i]) > 1e-3 {
				t.Fatalf("at %g s, %s: %g, planned %g", p.Time, played.Joints[i], q[i], p.Position[i])
			}
		}
	}
	// a trajectory with events and tolerances, as it came
	q1 := r.command("joint_1")
	g := follow.Goal{Joints: []string{"joint_1"}, GoalTime: 0.5, Path: []follow.Tolerance{{Joint: "joint_1", Tolerance: trajectory.Tolerance{Position: 0.2}}},
		Points: []trajectory.Point{{Position: []float64{q1}}, {Time: 2, Position: []float64{q1 + 0.1}}}, Events: []follow.Event{{Time: 1, Type: "voice/say", Command: "hm"}}}
	r.mustEnd(r.submit(&Follow{Goal: g, Return: true}), 10, action.Succeeded, action.Finished, "ok")
	kept, _ = r.e.Last()
	if d, err = kept.Document(r.m); err != nil {
		t.Fatal(err)
	}
	if len(d.Points) != 2 || len(d.Events) != 1 || d.Joints[0].Path.Position != 0.2 || d.GoalTimeTolerance != 0.5 || !strings.Contains(d.Description, "follow") {
		t.Errorf("%+v", d)
	}
}

// TestPlansAtFullSpeedArePerformed: what a planner says is within limits is not
// refused for what lies between its samples. Pilz' trapezoids have corners that no
// curve through samples follows; such a motion is played a little slower, and says
// so.
func TestPlansAtFullSpeedArePerformed(t *testing.T) {
	for _, name := range []string{"poise", "pilz_industrial_motion_planner"} {
		r := startArm(t)
		req := arm(1.1)
		req.VelocityScaling, req.AccelerationScaling = 1, 1
		g := r.submit(&Move{Question: pipeline.Question{Items: items(req), Pipeline: name}})
		c := r.mustEnd(g, 10, action.Succeeded, action.Finished, "ok")
		planned := c.Result.Plan.Motions[0].Trajectory.Duration()
		if name == "poise" && len(c.Result.Notes) > 0 || c.Result.Time > 1.5*planned {
			t.Errorf("%s: planned %g s, played %g s: %+v", name, planned, c.Result.Time, c.Result.Notes)
		}
		t.Logf("%s: planned %g s, played %g s: %+v", name, planned, c.Result.Time, c.Result.Notes)
	}
}

// TestKeptPlanPlays stores what was planned at full speed, and plays it by name.
func TestKeptPlanPlays(t *testing.T) {
	for _, name := range []string{"poise", "pilz_industrial_motion_planner"} {
		lib := shelf(t)
		r := newRig(t, parts{robot: "arm6", library: lib, change: func(c *Config) {
			c.Pipelines[0].Planner = &smooth.Planner{Model: c.Model} // every millisecond
		}})
		req := arm(1.1)
		req.VelocityScaling, req.AccelerationScaling = 1, 1
		r.mustEnd(r.submit(&Move{Question: pipeline.Question{Items: items(req), Pipeline: name}}), 10, action.Succeeded, action.Finished, "ok")
		kept, _ := r.e.Last()
		d, err := kept.Document(r.m)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d rows of %d points, %.3f s of %.3f s, %q", name, len(d.Points), len(kept.Goal.Points), d.Duration(), kept.Goal.Points[len(kept.Goal.Points)-1].Time, d.Description)
		if _, err := lib.Put("reach", d, ""); err != nil {
			t.Fatal(err)
		}
		r.mustEnd(r.submit(&Move{Question: pipeline.Question{Items: items(arm(0))}}), 10, action.Succeeded, action.Finished, "ok")
		r.mustEnd(r.submit(&Play{Name: "reach"}), 10, action.Succeeded, action.Finished, "ok")
		if q := r.command("joint_1"); math.Abs(q-1.1) > 1e-3 {
			t.Errorf("%s: it plays to %g", name, q)
		}
	}
}

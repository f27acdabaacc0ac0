package executive

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/control/follow"
	"poise/executive/explain"
	"poise/loop"
	"poise/planner"
	"poise/planner/pipeline"
	"poise/problem"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/trajectory"
)

// armView is of an arm that stands at zero.
func armView(t testing.TB) *view {
	t.Helper()
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := bot.Model
	words, err := explain.New(m, func(arbiter.ClientID) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	n := len(m.Joints())
	return &view{now: &loop.Snapshot{Command: control.NewMotion(n, len(m.Chains()), 0), Measured: control.NewMeasured(n, 0, servo.Sensors{})},
		words: words,
		cfg: &Config{Model: m, Approach: ApproachLimits{Share: 0.5, Speed: 1},
			Controllers: []Controller{{Name: "follow", Kind: "follow"}, {Name: "follow_2", Kind: "follow"}, {Name: "far", Kind: "follow", Remote: true},
				{Name: "hold", Kind: "hold", Resources: []string{"manipulator"}, Operate: func(set robot.Set, _ *loop.Snapshot) (control.Program, error) {
					return nothing{set}, nil
				}}},
			Pipelines: pipeline.Standard(m, pipeline.Sampling{Own: 0.01})}}
}

type nothing struct{ set robot.Set }

func (n nothing) Claim() (needs, wants robot.Set) { return n.set, robot.Set{} }

func turn(q float64) follow.Goal {
	return follow.Goal{Joints: []string{"joint_1"}, Points: []trajectory.Point{{Position: []float64{0}}, {Time: 1, Position: []float64{q}}}, Events: []follow.Event{{Time: 0.5, Command: "x"}}}
}

// TestFollowBecomesWork says who could do it, for how long, with which joints.
func TestFollowBecomesWork(t *testing.T) {
	v := armView(t)
	w, reasons := v.prepare(&Follow{Goal: turn(0.2), Rate: 0.5})
	if len(reasons) > 0 {
		t.Fatal(reasons)
	}
	if !reflect.DeepEqual(w.pool, []string{"follow", "follow_2"}) || w.duration != 1 || w.rate != 0.5 || w.claim != robot.Leaf(0) ||
		!reflect.DeepEqual(w.joints, []robot.JointID{0}) || w.event(0).Command != "x" {
		t.Errorf("%+v", w)
	}
	if v.kept == nil || v.kept.Source != "follow" {
		t.Error("the trajectory is not kept")
	}
	if w, _ = v.prepare(&Follow{Goal: turn(0.2), Return: true}); !(w.duration > 1.3) || w.to != 1 {
		t.Errorf("with its way back it lasts %g s, and its own end is %g", w.duration, w.to)
	}
	if _, reasons = (&view{cfg: v.cfg}).prepare(&Follow{}); len(reasons) != 1 || reasons[0].Code != "cycle_silent" {
		t.Errorf("%+v", reasons)
	}
}

// TestAppendGoesOnWithWhatRuns takes the newest motion of the joints.
func TestAppendGoesOnWithWhatRuns(t *testing.T) {
	v := armView(t)
	first, reasons := v.prepare(&Follow{Goal: turn(0.2)})
	if len(reasons) > 0 {
		t.Fatal(reasons)
	}
	v.running = []*work{first}
	more := follow.Goal{Joints: []string{"joint_1"}, Points: []trajectory.Point{{Position: []float64{0.2}}, {Time: 2, Position: []float64{0}}}}
	both, reasons := v.prepare(&Follow{Goal: more, Append: true})
	if len(reasons) > 0 || both.duration != 3 {
		t.Fatalf("%+v %+v", both, reasons)
	}
	more.Points[0].Position[0] = 0.5
	if _, reasons = v.prepare(&Follow{Goal: more, Append: true}); len(reasons) == 0 || reasons[0].Code != "start_too_far" || reasons[0].Joint != "joint_1" {
		t.Errorf("%+v", reasons)
	}
}

// TestOperationalNeedsAContinuousController, by its own resources or named ones.
func TestOperationalNeedsAContinuousController(t *testing.T) {
	v := armView(t)
	w, reasons := v.prepare(&Operational{Controller: "hold", On: true})
	if len(reasons) > 0 || w.claim.Len() != 6 || w.pool[0] != "hold" {
		t.Errorf("%+v %+v", w, reasons)
	}
	w, _ = v.prepare(&Operational{Controller: "hold", On: true, Resources: []string{"gripper", "joint_2"}})
	if w.claim.Len() != 2 {
		t.Errorf("%+v", w)
	}
	if w, _ = v.prepare(&Operational{Controller: "hold"}); w.off != "hold" {
		t.Errorf("%+v", w)
	}
	for name, code := range map[string]problem.Code{"follow": "not_continuous", "hodl": "unknown_controller"} {
		if _, reasons = v.prepare(&Operational{Controller: name, On: true}); len(reasons) != 1 || reasons[0].Code != code || reasons[0].Help == "" {
			t.Errorf("%s: %+v", name, reasons)
		}
	}
}

// TestPlansArePreparedOnTheWorker: a plan comes back with what is to be performed.
func TestPlansArePreparedOnTheWorker(t *testing.T) {
	v := armView(t)
	goal := planner.Goal{}
	for i, j := range []string{"joint_1", "joint_2", "joint_3", "joint_4", "joint_5", "joint_6"} {
		goal.Joints = append(goal.Joints, planner.JointGoal{Joint: j, Position: 0.1 * float64(i%2)})
	}
	req := planner.Request{Command: planner.PTP, CommandName: "PTP", Group: "manipulator", VelocityScaling: 1, AccelerationScaling: 1, Goals: []planner.Goal{goal}}
	w, reasons := v.prepare(&Move{Question: pipeline.Question{Items: []planner.Item{{Request: req}}}})
	if len(reasons) > 0 || w.plan == nil || w.program != nil {
		t.Fatalf("%+v %+v", w, reasons)
	}
	out := w.plan.run(context.Background())
	if out.answer.Refusal != nil || out.work == nil || len(out.answer.Motions) != 1 || out.kept.Source != "move" {
		t.Fatalf("%+v", out)
	}
	if math.Abs(out.work.duration-out.answer.Motions[0].Trajectory.Duration()) > 1e-9 || len(out.work.joints) != 6 {
		t.Errorf("%+v", out.work)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if out = w.plan.run(ctx); out.answer.Refusal == nil || out.answer.Refusal.Kind != planner.Cancelled || out.work != nil {
		t.Errorf("%+v", out)
	}
}

// TestSpeedZeroIsNotTheUsualSpeed: in a goal no speed is the usual one, in an option it
// is what was written.
func TestSpeedZeroIsNotTheUsualSpeed(t *testing.T) {
	for _, options := range []string{"speed=0", "loop speed=-0.0"} {
		if _, reasons := ParsePlay("nod", options); len(reasons) != 1 || reasons[0].Code != "bad_option" {
			t.Errorf("%s: %+v", options, reasons)
		}
	}
}

// FuzzPlayOptions reads any text: what it accepts is what was written.
func FuzzPlayOptions(f *testing.F) {
	f.Add("speed=0.5, loop")
	f.Add("speed=NaN part=1 return=false")
	f.Add("=,==,speed=")
	f.Fuzz(func(t *testing.T, options string) {
		goal, reasons := ParsePlay("nod", options)
		if resumed, ok := goal.(Resumed); ok {
			goal = resumed.Goal
		}
		p, ok := goal.(*Play)
		if !ok || p.Name != "nod" {
			t.Fatal("no goal")
		}
		for _, x := range reasons {
			if x.Text == "" || x.Code != "bad_option" {
				t.Errorf("%+v", x)
			}
		}
		if len(reasons) == 0 && p.Speed != 0 && !strings.Contains(options, "speed=") {
			t.Errorf("speed %g out of %q", p.Speed, options)
		}
	})
}

// FuzzFollow prepares trajectories of any numbers: work or explanations, never
// both, never neither.
func FuzzFollow(f *testing.F) {
	f.Add(0.0, 0.5, 1.0, 0.2, 1.0, true, false)
	f.Add(-1.0, math.Inf(1), 0.0, math.NaN(), 2.5, false, true)
	f.Add(1e-9, 1e300, 3600.0, -4.0, 0.0, true, true)
	f.Fuzz(func(t *testing.T, t0, q0, t1, q1, rate float64, back, approach bool) {
		v := armView(t)
		g := &Follow{Rate: rate, Return: back, Goal: follow.Goal{Joints: []string{"joint_2"}, Points: []trajectory.Point{{Time: t0, Position: []float64{q0}}, {Time: t1, Position: []float64{q1}}}}}
		if approach {
			g.Goal.Approach = 0.5
		}
		w, reasons := v.prepare(g)
		if (w == nil || w.program == nil) == (len(reasons) == 0) {
			t.Errorf("work %+v, explanations %+v", w, reasons)
		}
	})
}

package executive

import (
	"math"
	"slices"
	"testing"

	"poise/action"
	"poise/control"
	"poise/control/follow"
	"poise/control/lookat"
	"poise/control/step"
	"poise/kinematics"
	"poise/loop"
	"poise/motion"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory"
)

// gaitLike makes the controller "sway" need the legs and want the tail and head.
func gaitLike(r *rig) {
	legs, rest := r.set("leg1", "leg2", "leg3", "leg4"), r.set("tail", "head")
	s, _ := r.e.robot.seat("sway")
	s.Resources = []string{"leg1", "leg2", "leg3", "leg4", "tail", "head"}
	s.Operate = func(_ robot.Set, now *loop.Snapshot) (control.Program, error) {
		p := r.swing(legs, now, 0)
		p.Wants = rest
		return p, nil
	}
}

// TestGaitLosesTheTailAndKeepsGoing: a controller that only wants the tail walks on
// without it, and has it back when it is free. Its feedback says what it owns.
func TestGaitLosesTheTailAndKeepsGoing(t *testing.T) {
	r := newRig(t, parts{})
	gaitLike(r)
	gait := r.active(r.submit(&Operational{Controller: "sway", On: true}))
	r.seconds(0.2)
	owns := func(resource string) bool {
		return slices.Contains(gait.feedback[len(gait.feedback)-1].Resources, resource)
	}
	if !owns("tail") || !owns("leg1") {
		t.Fatalf("%v", gait.feedback[len(gait.feedback)-1].Resources)
	}
	wag := r.active(r.submit(&Follow{Goal: follow.Goal{Joints: r.joints("tail"), Points: []trajectory.Point{{Time: 1, Position: []float64{0.2, 0.2, 0.2}}}}}))
	r.run(3)
	if owns("tail") || !owns("leg1") || !owns("head") || gait.over() {
		t.Errorf("%v, %v", gait.state(), gait.feedback[len(gait.feedback)-1].Resources)
	}
	leg := r.command("joint12")
	r.seconds(0.3)
	if r.command("joint12") == leg {
		t.Error("the legs stand")
	}
	r.mustEnd(wag, 3, action.Succeeded, action.Finished, "ok")
	r.run(3)
	if !owns("tail") || gait.over() {
		t.Errorf("the tail did not come back: %v", gait.feedback[len(gait.feedback)-1].Resources)
	}
	at := r.command("tail_joint1")
	r.seconds(0.5)
	if math.Abs(r.command("tail_joint1")-at) < 1e-4 {
		t.Error("the tail is owned and not moved")
	}
	// a needed one is another matter
	r.active(r.submit(&Follow{Goal: r.nod("joint11", 0.05)}))
	c := r.mustEnd(gait, 1, action.Aborted, action.ResourceLost, "resource_lost")
	if c.Result.Explanations[0].Joint != "joint11" {
		t.Errorf("%+v", c.Result.Explanations)
	}
}

// yawn is a motion of head and mouth.
func yawn(r *rig) *motion.Document {
	d := &motion.Document{Columns: []string{"joint51", "joint52", "joint53", "joint54", "mouth_joint"}, Events: []follow.Event{{Time: 0.8, Type: "voice/play_wav", Command: "yawn"}}}
	for _, j := range d.Columns {
		d.Joints = append(d.Joints, motion.Joint{Name: j, Enabled: true})
	}
	for i, mouth := range []float64{0, -0.4, -0.4, 0} {
		head := []float64{0.1, -0.3, -0.35, 0.1}[i] // up and back
		d.Points = append(d.Points, motion.Point{Time: float64(i), Enabled: true, Positions: []float64{head, 0, 0.3, 0, mouth}})
	}
	return d
}

// TestYawnDuringLookAt: a robot that looks at something yawns, which takes its head
// while the eyes look on, and looks with its head again afterwards, at the same
// point. Every command is judged, so nothing jumps on the way.
func TestYawnDuringLookAt(t *testing.T) {
	sequential(t)
	lib := shelf(t)
	bot := newRig(t, parts{off: true})
	gaze, err := lookat.New(bot.m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	point := spatial.Vec3{X: 1.2, Y: 0.4, Z: 0.3}
	r := newRig(t, parts{model: bot.m, library: lib,
		more: []loop.Registration{{Name: "look_at", Kind: "look_at", Controller: gaze}},
		known: []Controller{{Name: "look_at", Kind: "look_at", Resources: []string{"head", "eyes"},
			Operate: func(robot.Set, *loop.Snapshot) (control.Program, error) { return lookat.At(bot.m, point) }}}})
	if _, err := lib.Put("yawn", yawn(r), ""); err != nil {
		t.Fatal(err)
	}
	look := r.active(r.submit(&Operational{Controller: "look_at", On: true}))
	r.seconds(3)
	owns := func(resource string) bool {
		return slices.Contains(look.feedback[len(look.feedback)-1].Resources, resource)
	}
	head := func() (q []float64) {
		for _, j := range []string{"joint51", "joint52", "joint53", "joint54"} {
			q = append(q, r.command(j))
		}
		return q
	}
	before := head()
	if !owns("eyes") || !owns("head") {
		t.Fatalf("it looks with %v", look.feedback[len(look.feedback)-1].Resources)
	}
	g := r.active(r.submit(&Play{Name: "yawn", Approach: true}))
	r.run(5)
	if look.over() || owns("head") || !owns("eyes") {
		t.Fatalf("while it yawns: %v with %v", look.state(), look.feedback[len(look.feedback)-1].Resources)
	}
	eyes := r.command("eyes_yaw")
	r.seconds(1.5)
	if r.command("eyes_yaw") == eyes {
		t.Error("the eyes do not look on")
	}
	r.mustEnd(g, 8, action.Succeeded, action.Finished, "ok")
	r.run(5)
	if look.over() || !owns("head") {
		t.Fatalf("after the yawn: %v with %v", look.state(), look.feedback[len(look.feedback)-1].Resources)
	}
	r.seconds(3)
	for k, q := range head() {
		if math.Abs(q-before[k]) > 0.02 {
			t.Errorf("head joint %d is at %.4f, it looked with %.4f before", k+1, q, before[k])
		}
	}
	if len(r.events) != 1 || r.events[0].Motion != "yawn" {
		t.Errorf("%+v", r.events)
	}
}

// TestStepLiftsALeg plays Cartesian samples of one leg, seen from the base, and
// refuses what it cannot reach.
func TestStepLiftsALeg(t *testing.T) {
	sequential(t)
	bot := newRig(t, parts{off: true})
	steps, err := step.New(bot.m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, parts{model: bot.m, more: []loop.Registration{{Name: "step_sequence", Kind: "step", Controller: steps}},
		known: []Controller{{Name: "step_sequence", Kind: "step"}}})
	id, _ := r.m.Chain("leg1")
	d := kinematics.NewData(r.m)
	tip := d.At(r.m.Chains()[id].VirtualTip)
	hoof := func() spatial.Pose {
		q := make([]float64, r.m.NumQ())
		q[6] = 1
		r.e.View(func(s *loop.Snapshot) {
			for j, x := range s.Command.Q {
				q[r.m.Joints()[j].Q] = x
			}
		})
		d.UpdatePosition(q)
		return d.Pose(tip)
	}
	low := hoof()
	up := func(by float64) step.Goal {
		high := low
		high.P.Z += by
		return step.Goal{Times: []float64{0, 1, 2}, InBase: true, Limbs: []step.Limb{{Chain: "leg1", Poses: []spatial.Pose{low, high, low}}}}
	}
	g := r.active(r.submit(&Step{Goal: up(0.018)}))
	highest := 0.0
	for !g.over() {
		r.run(1)
		highest = max(highest, hoof().P.Z-low.P.Z)
	}
	r.mustEnd(g, 1, action.Succeeded, action.Finished, "ok")
	if math.Abs(highest-0.018) > 2e-3 || hoof().P.Sub(low.P).Norm() > 2e-3 {
		t.Errorf("the hoof rose by %g and came back to %v of %v", highest, hoof().P, low.P)
	}
	if f := g.feedback[len(g.feedback)/2]; f.Duration != 2 || !slices.Contains(f.Joints, "joint13") {
		t.Errorf("%+v", f)
	}
	c := r.mustEnd(r.submit(&Step{Goal: up(0.5)}), 1, action.Rejected, action.ConditionsUnmet, "bad_step")
	if x := c.Result.Explanations[0]; x.Resource != "leg1" || x.Value == 0 {
		t.Errorf("%+v", x)
	}
}

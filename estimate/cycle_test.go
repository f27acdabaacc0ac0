package estimate_test

import (
	"math"
	"testing"

	"poise/contact"
	"poise/control"
	"poise/control/pose"
	"poise/control/stance"
	"poise/control/step"
	"poise/control/stream"
	"poise/controllers"
	"poise/internal/rig"
	"poise/kinematics"
	"poise/loop"
	"poise/robot"
	"poise/servo/sim"
	"poise/spatial"
)

// Tolerances of what the cycle makes of the base.
const (
	agreement = 1e-9 // m, rad: of command and measurement on servos that follow exactly
	handed    = 1e-4 // m, rad: of a base and its legs, which have a bridge each
)

func onCycle(t testing.TB, o rig.Options) *rig.Rig {
	t.Helper()
	m := rig.Model(t, "pony")
	seats, err := controllers.For(m, control.Transition{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []loop.Registration
	for i := range seats {
		all = append(all, seats[i].Loop)
	}
	r := rig.New(t, m, o, all...)
	r.Slack = math.Inf(1)
	return r
}

func apart(X, Y spatial.Pose) float64 {
	d := X.Inverse().Mul(Y)
	return max(d.P.Norm(), d.R.Quat().Log().Norm())
}

func lean(t testing.TB, r *rig.Rig) *stance.Program {
	t.Helper()
	p, err := stance.Stand(r.M)
	if err != nil {
		t.Fatal(err)
	}
	p.Target = &stance.Target{Body: spatial.Pose{R: spatial.FromRPY(0.05, 0.05, 0.1), P: spatial.Vec3{X: 0.015, Z: -0.01}}, Relative: true}
	return p
}

// liftLeg puts a hoof up, forward and down, as seen from the base, which stays.
func liftLeg(t testing.TB, r *rig.Rig, name string) *step.Program {
	t.Helper()
	d := kinematics.NewData(r.M)
	q := make([]float64, r.M.NumQ())
	kinematics.NewSpace(r.M).NeutralTo(q)
	for j, x := range r.Now.Command.Q {
		q[r.M.Joints()[j].Q] = x
	}
	d.UpdatePosition(q)
	id, _ := r.M.Chain(name)
	X := d.Pose(d.At(r.M.Chains()[id].VirtualTip))
	up, fore := X, X
	up.P = up.P.Add(spatial.Vec3{X: 0.005, Z: 0.02})
	fore.P = fore.P.Add(spatial.Vec3{X: 0.01})
	g := &step.Goal{Times: []float64{0, 0.5, 1, 1.2}, InBase: true, Limbs: []step.Limb{{Chain: name,
		Poses: []spatial.Pose{X, up, fore, fore}, Contacts: []string{"", "", "hoof_flat", "hoof_flat"}}}}
	p, err := step.Compile(r.M, step.Options{From: r.Now.Command.Q}, g)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCommandAndMeasurementAgree: on servos that follow exactly, odometry on the
// measurement finds the base of the command a tick later, whether odometry found that
// or a controller gave it; and the base never jumps.
func TestCommandAndMeasurementAgree(t *testing.T) {
	r := onCycle(t, rig.Options{Pose: "crouched"})
	was, moved := r.Now.Command.Base, 0.0
	run := func(what string, seconds, tolerance float64) {
		t.Helper()
		for range int(seconds / r.Dt) {
			r.Run(1)
			m, c := &r.Now.Measured.Base, &r.Now.Command.Base
			if !m.Has || !c.Has {
				t.Fatalf("%s, tick %d: no base", what, r.N)
			}
			if off := apart(m.Pose, was.Pose); off > tolerance {
				t.Fatalf("%s, tick %d: measured %g away from the command", what, r.N, off)
			}
			if off := m.Twist.Linear.Sub(was.Twist.Linear).Norm(); off > 0.01 {
				t.Fatalf("%s, tick %d: measured at %v, commanded at %v", what, r.N, m.Twist.Linear, was.Twist.Linear)
			}
			on := was.At(r.Dt)
			if jump := apart(on.Pose, c.Pose); jump > 1e-5 {
				t.Fatalf("%s, tick %d: the base jumps by %g", what, r.N, jump)
			}
			moved = max(moved, c.Twist.Linear.Norm())
			was = *c
		}
	}
	run("stands", 0.2, agreement)
	r.Start("stance", lean(t, r))
	run("leans", 1, handed)
	r.Cancel("stance")
	run("stops", 1, handed)
	r.Until(r.Start("step", liftLeg(t, r, "leg2")), 3)
	was = r.Now.Command.Base
	run("has stepped", 0.5, handed)
	r.Start("joint_state", &stream.Program{Needs: r.Set("leg1", "leg2", "leg3", "leg4"), Timeout: 100})
	run("is led", 0.2, handed)
	if moved < 0.01 {
		t.Errorf("the base moved at %g m/s at most", moved)
	}
}

// TestMeasuredBaseIsThatOfTheMeasuredJoints: servos that lag leave the body behind its
// command. The measured base is where the measured legs have it, with the hooves where they
// stand.
func TestMeasuredBaseIsThatOfTheMeasuredJoints(t *testing.T) {
	r := onCycle(t, rig.Options{Servo: sim.Servo{Lag: 0.1}})
	g, err := contact.NewGround(r.M)
	if err != nil {
		t.Fatal(err)
	}
	hooves := func() []spatial.Vec3 {
		m := &r.Now.Measured
		return g.PointsTo(nil, m.Q, g.DefaultFeetTo(nil), m.Base.Pose)
	}
	r.Run(10)
	stood, behind, slipped := hooves(), 0.0, 0.0
	r.Start("stance", lean(t, r))
	for range 1500 {
		r.Run(1)
		behind = max(behind, apart(r.Now.Measured.Base.Pose, r.Now.Command.Base.Pose))
		for i, p := range hooves() {
			slipped = max(slipped, p.Sub(stood[i]).Norm())
		}
	}
	t.Logf("up to %.4f behind the command, hooves within %.5f m", behind, slipped)
	if behind < 5e-3 {
		t.Errorf("the measured base is %g behind its command at most", behind)
	}
	if slipped > 5e-4 {
		t.Errorf("by the measured joints and base a hoof is %g m from where it stood", slipped)
	}
}

// TestPlacedAtOnce: joints that are put somewhere at once take both bases with them in
// the same way: at once, and standing level.
func TestPlacedAtOnce(t *testing.T) {
	r := onCycle(t, rig.Options{})
	g, err := contact.NewGround(r.M)
	if err != nil {
		t.Fatal(err)
	}
	place := func(name string) {
		t.Helper()
		p, ok := r.M.Pose(name)
		if !ok {
			t.Fatalf("no pose %q", name)
		}
		q := make([]float64, len(p.Joints))
		for i := range q {
			q[i] = p.Q[i][0]
		}
		r.Place(p.Joints, q)
	}
	stands := func(what string, b *control.BaseRef, q []float64, s []control.Support) {
		t.Helper()
		var feet []contact.Foot
		for i := range s {
			if s[i].Weight > 0 && s[i].Contact != robot.NoContact {
				feet = append(feet, contact.Foot{Chain: robot.ChainID(i), Contact: s[i].Contact})
			}
		}
		if len(feet) != 4 || b.Twist != (spatial.Twist{}) {
			t.Errorf("%s: on %d feet, twist %+v", what, len(feet), b.Twist)
		}
		for i, p := range g.PointsTo(nil, q, feet, b.Pose) {
			if i%2 == 0 && math.Abs(p.Z) > 1e-3 {
				t.Errorf("%s: a hoof at height %g", what, p.Z)
			}
		}
	}
	for _, name := range []string{"crouched", "lying", "stand", "bow", "stand"} {
		place(name)
		stands(name, &r.Now.Command.Base, r.Now.Command.Q, r.Now.Command.Support)
		r.Run(1)
		stands(name+", measured", &r.Now.Measured.Base, r.Now.Measured.Q, r.Now.Measured.Support)
		if off := apart(r.Now.Command.Base.Pose, r.Now.Measured.Base.Pose); off > agreement {
			t.Errorf("%s: command and measurement are %g apart", name, off)
		}
	}
}

// TestALiftedHoofStaysLifted: a hoof that was placed in the air carries nothing, by
// command and by measurement, also while a motion goes on that does not mention it; it
// stands again when it is placed back.
func TestALiftedHoofStaysLifted(t *testing.T) {
	r := onCycle(t, rig.Options{})
	knee, _ := r.M.Joint("joint13")
	leg, _ := r.M.Chain("leg1")
	at := r.Now.Command.Q[knee]
	place := func(q float64) {
		t.Helper()
		r.Place([]robot.JointID{knee}, []float64{q})
		r.Run(1)
	}
	carries := func(what string, want float64) {
		t.Helper()
		if c, m := r.Now.Command.Support[leg].Weight, r.Now.Measured.Support[leg].Weight; c != want || m != want {
			t.Errorf("%s: the leg carries %g by command, %g by measurement, want %g", what, c, m, want)
		}
	}
	carries("stands", 1)
	base := r.Now.Command.Base.Pose
	place(at + 0.6)
	carries("lifted", 0)
	neck, _ := r.M.Joint("joint52")
	head, err := pose.To(r.M, []robot.JointID{neck}, []float64{r.Now.Command.Q[neck] + 0.2}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	r.Until(r.Start("pose", head), 5)
	carries("nods", 0)
	if off := apart(base, r.Now.Command.Base.Pose); off > 1e-9 {
		t.Errorf("on three hooves the base is %g away", off)
	}
	place(at)
	carries("put back", 1)
}

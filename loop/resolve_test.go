package loop_test

import (
	"math"
	"testing"

	"poise/control"
	"poise/control/stream"
	"poise/internal/rig"
	"poise/kinematics"
	"poise/loop"
	"poise/robot"
	"poise/spatial"
)

// cartesian is a controller of the smallest kind: it says where a hoof, or the base, is to
// be, and nothing of joints.
type cartesian struct {
	control.Controller // takes programs as a stream does
	chain              robot.ChainID
	base, support      robot.LeafID
	leadsBase          bool
	began              float64
	from               control.BaseRef
	way                func(t float64) (x, v, a spatial.Vec3)
}

func (c *cartesian) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	if c.began == 0 {
		c.began = float64(input.Tick.Time) * 1e-9
	}
	x, v, a := c.way(float64(input.Tick.Time)*1e-9 - c.began)
	out.Peak = 0.5 // the rest is for hand-overs
	to := c.from
	to.Pose.P = to.Pose.P.Add(x)
	to.Twist.Linear, to.Acceleration.Linear = to.Pose.R.TMulVec(v), to.Pose.R.TMulVec(a)
	to.Has = true
	if c.leadsBase {
		out.Has, out.Base = out.Has.With(c.base), to
	} else {
		out.Limb[c.chain] = control.LimbRef(to)
		out.Has = out.Has.With(c.support) // which is lifted: the base does not follow from it
	}
	return control.Going, control.Because(control.OK)
}

func newCartesian(t testing.TB) (*rig.Rig, *cartesian) {
	t.Helper()
	m := rig.Model(t, "pony")
	s, err := stream.New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	c := &cartesian{Controller: s}
	return rig.New(t, m, rig.Options{}, loop.Registration{Name: "cartesian", Kind: "cartesian", Controller: c, Pending: 40, Operational: 40}), c
}

// tips returns where hooves are in the world, as joints and base are commanded.
func tips(r *rig.Rig, chains ...string) (all []spatial.Pose) {
	r.T.Helper()
	data, q := kinematics.NewData(r.M), make([]float64, r.M.NumQ())
	kinematics.NewSpace(r.M).NeutralTo(q)
	for i, j := range r.M.Joints() {
		q[j.Q] = r.Now.Command.Q[i]
	}
	data.UpdatePosition(q)
	for _, name := range chains {
		id, ok := r.M.Chain(name)
		if !ok {
			r.T.Fatalf("no chain %q", name)
		}
		all = append(all, r.Now.Command.Base.Pose.Mul(data.Pose(data.At(r.M.Chains()[id].VirtualTip))))
	}
	return all
}

// sway is a way there, twice as far as its amplitude, and back, that begins smoothly.
func sway(amplitude, w float64, along spatial.Vec3) func(t float64) (x, v, a spatial.Vec3) {
	return func(t float64) (x, v, a spatial.Vec3) {
		s, c := math.Sincos(w * t)
		h := amplitude / 2
		return along.Scale(h * (1 - c) * (1 - c)), along.Scale(2 * h * w * s * (1 - c)), along.Scale(2 * h * w * w * (s*s + c*(1-c)))
	}
}

// TestLimbsOfAnyControllerBecomeJoints: a controller of the cycle that says where a hoof is to
// be, and nothing of joints, has it there, to 0.1 mm, without allocations; one out of reach ends
// its goal, by the joint in the way or the limb, and the joints stay within their limits, which
// the rig judges.
func TestLimbsOfAnyControllerBecomeJoints(t *testing.T) {
	r, c := newCartesian(t)
	id, _ := r.M.Chain("leg1")
	c.chain = id
	res, err := r.M.Resources()
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range res.Leaves() {
		if l.Kind == robot.SupportLeaf && l.Chain == id {
			c.support = robot.LeafID(i)
		}
	}
	c.from = control.BaseRef{Pose: tips(r, "leg1")[0]}
	c.way = sway(0.01, 2*math.Pi*0.5, spatial.Vec3{X: 0.6, Z: 0.8})
	goal := r.Start("cartesian", &stream.Program{Needs: r.Set("leg1")})
	worst := 0.0
	for range 3000 {
		r.Run(1)
		x, _, _ := c.way(r.Seconds() - 0.001 - c.began)
		worst = max(worst, tips(r, "leg1")[0].P.Sub(c.from.Pose.P.Add(x)).Norm())
	}
	t.Logf("at most %.3g mm off", worst*1e3)
	if worst > 1e-4 {
		t.Errorf("the hoof was %g m off", worst)
	}
	if n := testing.AllocsPerRun(100, func() { r.L.Step(r.Tick()) }); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
	c.way = func(float64) (x, v, a spatial.Vec3) { return spatial.Vec3{Z: -1}, v, a }
	status, why := r.Until(goal, 1)
	if status != control.Failed || why.Code != control.LimbUnreachable && why.Code != control.Unreachable || why.Joint == robot.NoJoint {
		t.Errorf("out of reach: %v, %+v", status, why)
	}
}

// TestTheBaseOfAnyControllerIsLedOverItsFeet: a controller of the cycle that says where the base
// is to be, and nothing of legs, moves it over hooves that stay.
func TestTheBaseOfAnyControllerIsLedOverItsFeet(t *testing.T) {
	r, c := newCartesian(t)
	res, err := r.M.Resources()
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range res.Leaves() {
		if l.Kind == robot.BaseLeaf {
			c.base = robot.LeafID(i)
		}
	}
	c.leadsBase = true
	c.from = control.BaseRef{Pose: r.Now.Command.Base.Pose}
	c.way = sway(0.004, 2*math.Pi*0.5, spatial.Vec3{Z: -1})
	feet := []string{"leg1", "leg2", "leg3", "leg4"}
	before := tips(r, feet...)
	r.Start("cartesian", &stream.Program{Needs: r.Set(feet...).With(c.base)})
	slip, lowest := 0.0, 0.0
	for range 3000 {
		r.Run(1)
		for i, X := range tips(r, feet...) {
			slip = max(slip, X.P.Sub(before[i].P).Norm())
		}
		lowest = min(lowest, r.Now.Command.Base.Pose.P.Z-c.from.Pose.P.Z)
	}
	t.Logf("hooves slip %.3g mm, the body sinks by %.3g mm", slip*1e3, -lowest*1e3)
	if slip > 2e-4 || lowest > -0.0075 {
		t.Errorf("hooves slip %g m while the body sinks by %g m", slip, -lowest)
	}
}

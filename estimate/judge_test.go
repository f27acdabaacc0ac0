package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/contact"
	"poise/control"
	"poise/robot"
	"poise/spatial"
)

// feetRig is a robot whose feet are commanded or not.
type feetRig struct {
	t testing.TB
	m *robot.Model
	b *Base
	g *contact.Ground
	s Sample
}

func newFeetRig(t testing.TB, name string) *feetRig {
	t.Helper()
	m := model(t, name)
	b, err := NewBase(m)
	if err != nil {
		t.Fatal(err)
	}
	g, err := contact.NewGround(m)
	if err != nil {
		t.Fatal(err)
	}
	r := &feetRig{t: t, m: m, b: b, g: g, s: Sample{Begun: true, Support: make([]control.Support, len(m.Chains())), Commanded: make([]bool, len(m.Chains()))}}
	for i, c := range m.Chains() {
		r.s.Support[i] = control.Support{Weight: 1, Contact: c.Contact}
	}
	return r
}

// update moves on by a tick; commanded says that a motion says which feet stand.
func (r *feetRig) update(q []float64, commanded bool) spatial.Pose {
	r.s.Time += period
	r.s.Q = q
	for i := range r.s.Commanded {
		r.s.Commanded[i] = commanded
	}
	r.b.Update(&r.s)
	for i := range r.s.Support { // as the loop does
		if !commanded {
			r.s.Support[i].Weight = r.b.Support(i)
		}
	}
	return r.b.Motion().Pose
}

// feet returns those that stand.
func (r *feetRig) feet() (all []contact.Foot) {
	for _, f := range r.g.DefaultFeetTo(nil) {
		if r.b.Support(int(f.Chain)) > 0 {
			all = append(all, f)
		}
	}
	return all
}

func (r *feetRig) margin(q []float64, base spatial.Pose) float64 {
	var b contact.Balance
	r.g.BalanceTo(&b, q, r.feet(), base)
	return b.Margin
}

func (r *feetRig) joint(name string) robot.JointID {
	r.t.Helper()
	id, ok := r.m.Joint(name)
	if !ok {
		r.t.Fatalf("no joint %q", name)
	}
	return id
}

// TestABoltedRobotStaysWhereItIs: there is no base to be found.
func TestABoltedRobotStaysWhereItIs(t *testing.T) {
	r := newFeetRig(t, "arm6")
	for range 3 {
		if X := r.update(r.m.RestPositions(), false); X != spatial.IdentityPose || !r.b.Motion().Has {
			t.Error("it moved")
		}
	}
}

// TestLiftedByHand: a hoof that is dragged up leaves the base where it is, and stands
// again when it comes back; a robot put into another pose at once stands level.
func TestLiftedByHand(t *testing.T) {
	r := newFeetRig(t, "pony")
	q := r.m.RestPositions()
	begun := r.update(q, false)
	if len(r.feet()) != 4 || r.margin(q, begun) <= 0 {
		t.Fatalf("at rest it stands on %d feet, margin %g m", len(r.feet()), r.margin(q, begun))
	}
	knee, leg := r.joint("joint13"), 0
	for i, c := range r.m.Chains() {
		if c.Name == "leg1" {
			leg = i
		}
	}
	base := begun
	for range 40 { // slowly, a tick at a time
		q[knee] += 0.02
		base = r.update(q, false)
	}
	if moved := base.P.Sub(begun.P).Norm(); moved > 2*slack {
		t.Errorf("the base moved by %.4f m", moved)
	}
	for range 3000 { // it goes back to where the other hooves have it
		base = r.update(q, false)
	}
	if moved := apart(base, begun); moved > 1e-9 {
		t.Errorf("on three hooves the base is %g away", moved)
	}
	if len(r.feet()) != 3 || r.b.Support(leg) != 0 {
		t.Errorf("it stands on %d feet, and leg1 carries %g", len(r.feet()), r.b.Support(leg))
	}
	q[knee] -= 0.8
	if r.update(q, false); len(r.feet()) != 4 {
		t.Errorf("the hoof is back and yet it stands on %d feet", len(r.feet()))
	}
	for _, j := range []string{"joint13", "joint23", "joint33", "joint43"} {
		q[r.joint(j)] += 0.3
	}
	for _, j := range []string{"joint14", "joint34"} {
		q[r.joint(j)] -= 0.3
	}
	down := r.update(q, false)
	if apart(down, base) < slack {
		t.Fatal("feet that moved apart do not put the robot down")
	}
	if up := down.R.MulVec(spatial.Vec3{Z: 1}); up.Z < 0.9 {
		t.Errorf("it lies: its back points along %v", up)
	}
	for _, p := range r.g.PointsTo(nil, q, r.feet(), down) {
		if p.Z > 2*slack || p.Z < -0.02-2*slack {
			t.Errorf("a hoof that stands is at height %g", p.Z)
		}
	}
}

// TestWhatAMotionLiftedIsPutDown: after a motion that ends with a hoof in the air the
// robot is placed in its rest pose, and stands on all four again.
func TestWhatAMotionLiftedIsPutDown(t *testing.T) {
	r := newFeetRig(t, "pony")
	rest, lifted := r.m.RestPositions(), r.m.RestPositions()
	r.update(rest, true)
	leg, _ := r.m.Chain("leg1")
	r.s.Support[leg].Weight = 0
	lifted[r.joint("joint13")] += 0.4
	r.update(lifted, true)
	for range 3 { // the motion is over, and it was not moved since
		if r.update(lifted, false); len(r.feet()) != 3 {
			t.Fatalf("with a hoof in the air it stands on %d feet", len(r.feet()))
		}
	}
	for range 3 {
		base := r.update(rest, false)
		if len(r.feet()) != 4 || r.margin(rest, base) <= 0 {
			t.Fatalf("put down it stands on %d feet with a margin of %g m", len(r.feet()), r.margin(rest, base))
		}
	}
}

// TestAMotionIsBelieved: feet that a motion says stand do so, however they move.
func TestAMotionIsBelieved(t *testing.T) {
	r := newFeetRig(t, "pony")
	q := r.m.RestPositions()
	r.update(q, true)
	for range 100 {
		q[r.joint("joint13")] += 0.005
		r.update(q, true)
	}
	if len(r.feet()) != 4 || r.b.odometry.Slip() < slack {
		t.Errorf("it stands on %d feet, slip %g m", len(r.feet()), r.b.odometry.Slip())
	}
}

// TestOneOwnerSpeaksForItsLeg: of a leg whose owner says that it stands this is believed
// while others are looked at.
func TestOneOwnerSpeaksForItsLeg(t *testing.T) {
	r := newFeetRig(t, "pony")
	q := r.m.RestPositions()
	r.update(q, false)
	leg, _ := r.m.Chain("leg1")
	other, _ := r.m.Chain("leg2")
	said := func(weight float64) {
		r.s.Time += period
		r.s.Commanded[leg] = true
		r.s.Support[leg].Weight = weight
		r.b.Update(&r.s)
	}
	said(0)
	if r.b.Support(int(leg)) != 0 || r.b.Support(int(other)) != 1 {
		t.Errorf("legs carry %g and %g", r.b.Support(int(leg)), r.b.Support(int(other)))
	}
	said(0.25)
	if r.b.Support(int(leg)) != 0.25 {
		t.Errorf("the leg carries %g", r.b.Support(int(leg)))
	}
}

// TestSettledUntilAllIsRead: joints that were not all read yet say nothing of how the
// base moves.
func TestSettledUntilAllIsRead(t *testing.T) {
	r := newFeetRig(t, "pony")
	q := make([]float64, len(r.m.Joints()))
	r.s.Begun = false
	r.update(q, false)
	X := r.update(r.m.RestPositions(), false)
	r.s.Begun = true
	if Y := r.update(r.m.RestPositions(), false); apart(X, Y) > 1e-9 || math.Hypot(X.P.X, X.P.Y) > 1e-12 {
		t.Errorf("it begins at %v, and goes on at %v", X.P, Y.P)
	}
}

// TestJudgingDoesNotAllocate: legs are dragged, put down and placed at random.
func TestJudgingDoesNotAllocate(t *testing.T) {
	r := newFeetRig(t, "pony")
	rng := rand.New(rand.NewPCG(21, 12))
	q := r.m.RestPositions()
	rest := r.m.RestPositions()
	lifted := 0
	if n := testing.AllocsPerRun(2000, func() {
		switch rng.IntN(40) {
		case 0:
			copy(q, rest)
		case 1:
			q[rng.IntN(24)] += 0.3 * rng.NormFloat64()
		default:
			q[rng.IntN(24)] += 0.01 * rng.NormFloat64()
		}
		if X := r.update(q, rng.IntN(10) == 0); !X.P.Finite() {
			t.Fatal("it is nowhere")
		}
		for i := range r.s.Support {
			if r.b.Support(i) == 0 {
				lifted++
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if lifted == 0 {
		t.Error("no hoof was ever lifted")
	}
}

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

// standing is a robot whose feet are commanded or not.
type standing struct {
	t testing.TB
	m *robot.Model
	b *Base
	g *contact.Ground
	s Sample
}

func newStanding(t testing.TB, name string) *standing {
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
	x := &standing{t: t, m: m, b: b, g: g, s: Sample{Begun: true, Support: make([]control.Support, len(m.Chains())), Commanded: make([]bool, len(m.Chains()))}}
	for i, c := range m.Chains() {
		x.s.Support[i] = control.Support{Weight: 1, Contact: c.Contact}
	}
	return x
}

// update moves on by a tick; commanded says that a motion says which feet stand.
func (x *standing) update(q []float64, commanded bool) spatial.Pose {
	x.s.Time += period
	x.s.Q = q
	for i := range x.s.Commanded {
		x.s.Commanded[i] = commanded
	}
	x.b.Update(&x.s)
	for i := range x.s.Support { // as the loop does
		if !commanded {
			x.s.Support[i].Weight = x.b.Support(i)
		}
	}
	return x.b.Motion().Pose
}

// feet returns those that stand.
func (x *standing) feet() (all []contact.Foot) {
	for _, f := range x.g.DefaultFeetTo(nil) {
		if x.b.Support(int(f.Chain)) > 0 {
			all = append(all, f)
		}
	}
	return all
}

func (x *standing) margin(q []float64, base spatial.Pose) float64 {
	var b contact.Balance
	x.g.BalanceTo(&b, q, x.feet(), base)
	return b.Margin
}

func (x *standing) joint(name string) robot.JointID {
	x.t.Helper()
	id, ok := x.m.Joint(name)
	if !ok {
		x.t.Fatalf("no joint %q", name)
	}
	return id
}

// TestABoltedRobotStaysWhereItIs: there is no base to be found.
func TestABoltedRobotStaysWhereItIs(t *testing.T) {
	x := newStanding(t, "arm6")
	for range 3 {
		if X := x.update(x.m.RestPositions(), false); X != spatial.IdentityPose || !x.b.Motion().Has {
			t.Error("it moved")
		}
	}
}

// TestLiftedByHand: a hoof that is dragged up leaves the base where it is, and stands
// again when it comes back; a robot put into another pose at once stands level.
func TestLiftedByHand(t *testing.T) {
	x := newStanding(t, "pony")
	q := x.m.RestPositions()
	begun := x.update(q, false)
	if len(x.feet()) != 4 || x.margin(q, begun) <= 0 {
		t.Fatalf("at rest it stands on %d feet, margin %g m", len(x.feet()), x.margin(q, begun))
	}
	knee, leg := x.joint("joint13"), 0
	for i, c := range x.m.Chains() {
		if c.Name == "leg1" {
			leg = i
		}
	}
	base := begun
	for range 40 { // slowly, a tick at a time
		q[knee] += 0.02
		base = x.update(q, false)
	}
	if moved := base.P.Sub(begun.P).Norm(); moved > 2*slack {
		t.Errorf("the base moved by %.4f m", moved)
	}
	for range 3000 { // it goes back to where the other hooves have it
		base = x.update(q, false)
	}
	if moved := apart(base, begun); moved > 1e-9 {
		t.Errorf("on three hooves the base is %g away", moved)
	}
	if len(x.feet()) != 3 || x.b.Support(leg) != 0 {
		t.Errorf("it stands on %d feet, and leg1 carries %g", len(x.feet()), x.b.Support(leg))
	}
	q[knee] -= 0.8
	if x.update(q, false); len(x.feet()) != 4 {
		t.Errorf("the hoof is back and yet it stands on %d feet", len(x.feet()))
	}
	for _, j := range []string{"joint13", "joint23", "joint33", "joint43"} {
		q[x.joint(j)] += 0.3
	}
	for _, j := range []string{"joint14", "joint34"} {
		q[x.joint(j)] -= 0.3
	}
	down := x.update(q, false)
	if apart(down, base) < slack {
		t.Fatal("feet that moved apart do not put the robot down")
	}
	if up := down.R.MulVec(spatial.Vec3{Z: 1}); up.Z < 0.9 {
		t.Errorf("it lies: its back points along %v", up)
	}
	for _, p := range x.g.PointsTo(nil, q, x.feet(), down) {
		if p.Z > 2*slack || p.Z < -0.02-2*slack {
			t.Errorf("a hoof that stands is at height %g", p.Z)
		}
	}
}

// TestWhatAMotionLiftedIsPutDown: after a motion that ends with a hoof in the air the
// robot is placed in its rest pose, and stands on all four again.
func TestWhatAMotionLiftedIsPutDown(t *testing.T) {
	x := newStanding(t, "pony")
	rest, lifted := x.m.RestPositions(), x.m.RestPositions()
	x.update(rest, true)
	leg, _ := x.m.Chain("leg1")
	x.s.Support[leg].Weight = 0
	lifted[x.joint("joint13")] += 0.4
	x.update(lifted, true)
	for range 3 { // the motion is over, and it was not moved since
		if x.update(lifted, false); len(x.feet()) != 3 {
			t.Fatalf("with a hoof in the air it stands on %d feet", len(x.feet()))
		}
	}
	for range 3 {
		base := x.update(rest, false)
		if len(x.feet()) != 4 || x.margin(rest, base) <= 0 {
			t.Fatalf("put down it stands on %d feet with a margin of %g m", len(x.feet()), x.margin(rest, base))
		}
	}
}

// TestAMotionIsBelieved: feet that a motion says stand do so, however they move.
func TestAMotionIsBelieved(t *testing.T) {
	x := newStanding(t, "pony")
	q := x.m.RestPositions()
	x.update(q, true)
	for range 100 {
		q[x.joint("joint13")] += 0.005
		x.update(q, true)
	}
	if len(x.feet()) != 4 || x.b.odometry.Slip() < slack {
		t.Errorf("it stands on %d feet, slip %g m", len(x.feet()), x.b.odometry.Slip())
	}
}

// TestOneOwnerSpeaksForItsLeg: of a leg whose owner says that it stands this is believed
// while others are looked at.
func TestOneOwnerSpeaksForItsLeg(t *testing.T) {
	x := newStanding(t, "pony")
	q := x.m.RestPositions()
	x.update(q, false)
	leg, _ := x.m.Chain("leg1")
	other, _ := x.m.Chain("leg2")
	said := func(weight float64) {
		x.s.Time += period
		x.s.Commanded[leg] = true
		x.s.Support[leg].Weight = weight
		x.b.Update(&x.s)
	}
	said(0)
	if x.b.Support(int(leg)) != 0 || x.b.Support(int(other)) != 1 {
		t.Errorf("legs carry %g and %g", x.b.Support(int(leg)), x.b.Support(int(other)))
	}
	said(0.25)
	if x.b.Support(int(leg)) != 0.25 {
		t.Errorf("the leg carries %g", x.b.Support(int(leg)))
	}
}

// TestSettledUntilAllIsRead: joints that were not all read yet say nothing of how the
// base moves.
func TestSettledUntilAllIsRead(t *testing.T) {
	x := newStanding(t, "pony")
	q := make([]float64, len(x.m.Joints()))
	x.s.Begun = false
	x.update(q, false)
	X := x.update(x.m.RestPositions(), false)
	x.s.Begun = true
	if Y := x.update(x.m.RestPositions(), false); apart(X, Y) > 1e-9 || math.Hypot(X.P.X, X.P.Y) > 1e-12 {
		t.Errorf("it begins at %v, and goes on at %v", X.P, Y.P)
	}
}

// TestJudgingDoesNotAllocate: legs are dragged, put down and placed at random.
func TestJudgingDoesNotAllocate(t *testing.T) {
	x := newStanding(t, "pony")
	rng := rand.New(rand.NewPCG(21, 12))
	q := x.m.RestPositions()
	rest := x.m.RestPositions()
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
		if X := x.update(q, rng.IntN(10) == 0); !X.P.Finite() {
			t.Fatal("it is nowhere")
		}
		for i := range x.s.Support {
			if x.b.Support(i) == 0 {
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

package contact

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/robot/load"
	"poise/spatial"
)

// Tolerances. Shipped poses are rounded to 1e-3 rad, which on legs of 0.2 m is
// 0.3 mm at a hoof; fits and tilts are exact up to rounding.
const (
	poseRounding = 5e-4  // m, rad
	exact        = 1e-9  // m, rad
	tight        = 1e-12 // m
)

func pony(t testing.TB) *Ground {
	t.Helper()
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGround(bot.Model)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// posed returns the joints of a named pose over those of stand.
func posed(t testing.TB, g *Ground, name string) []float64 {
	t.Helper()
	q := make([]float64, len(g.m.Joints()))
	for _, n := range []string{"stand", name} {
		p, ok := g.m.Pose(n)
		if !ok {
			t.Fatalf("no pose %q", n)
		}
		for i, j := range p.Joints {
			q[j] = p.Q[i][0]
		}
	}
	return q
}

func foot(t testing.TB, g *Ground, chain string) Foot {
	t.Helper()
	c, ok := g.m.Chain(chain)
	if !ok {
		t.Fatalf("no chain %q", chain)
	}
	return Foot{c, g.m.Chains()[c].Contact}
}

// pitch is the angle of the nose above the horizon, rad.
func pitch(X spatial.Pose) float64 { return math.Asin(X.R.Col(0).Z) }

// TestSettleStandsOnTheFloor: in every shipped pose the soles come to the floor,
// base above the origin and nose along x; bow is 0.4 rad nose down, stand 0.223 m
// high, as robot.yaml says.
func TestSettleStandsOnTheFloor(t *testing.T) {
	g := pony(t)
	feet := g.DefaultFeetTo(nil)
	for _, c := range []struct {
		pose          string
		height, pitch float64
	}{{"stand", 0.223, 0}, {"crouched", math.NaN(), 0}, {"lying", math.NaN(), 0}, {"bow", math.NaN(), -0.4}} {
		q := posed(t, g, c.pose)
		X, ok := g.Settle(q, feet)
		if !ok {
			t.Fatalf("%s: does not stand", c.pose)
		}
		if X.P.X != 0 || X.P.Y != 0 || math.Abs(X.R.Col(0).Y) > tight {
			t.Errorf("%s: base at %v, nose along %v", c.pose, X.P, X.R.Col(0))
		}
		if math.Abs(pitch(X)-c.pitch) > 3e-3 {
			t.Errorf("%s: nose %.4f rad above the horizon, want %g", c.pose, pitch(X), c.pitch)
		}
		if !math.IsNaN(c.height) && math.Abs(X.P.Z-c.height) > poseRounding {
			t.Errorf("%s: %.4f m high", c.pose, X.P.Z)
		}
		for i, p := range g.PointsTo(nil, q, feet, X) {
			if i%2 == 0 && math.Abs(p.Z) > 2*poseRounding { // hoof_flat: the first of two
				t.Errorf("%s: sole %d at height %g", c.pose, i/2, p.Z)
			}
		}
	}
}

// TestSettleOnFewFeet: on three feet all soles are on the floor; on one, the hoof
// is upright and on the floor; on none there is nothing to stand on.
func TestSettleOnFewFeet(t *testing.T) {
	g := pony(t)
	rng := rand.New(rand.NewPCG(8, 1))
	three := []Foot{foot(t, g, "leg1"), foot(t, g, "leg3"), foot(t, g, "leg4")}
	for n := range 200 {
		q := posed(t, g, "crouched")
		for j := range 24 {
			q[j] += 0.2 * rng.NormFloat64()
		}
		X, _ := g.Settle(q, three)
		for i, p := range g.PointsTo(nil, q, three, X) {
			if i%2 == 0 && math.Abs(p.Z) > 1e-7 {
				t.Fatalf("case %d of seed 8, 1: sole %d at height %g", n, i/2, p.Z)
			}
		}
		X, _ = g.Settle(q, three[:1])
		p := g.PointsTo(nil, q, three[:1], X)
		if off := math.Hypot(p[0].X-p[1].X, p[0].Y-p[1].Y); off > 1e-8 || math.Abs(p[0].Z) > exact {
			t.Fatalf("case %d of seed 8, 1: on one hoof, sole at %g, leaning %g m over 0.02", n, p[0].Z, off)
		}
	}
	if X, ok := g.Settle(posed(t, g, "stand"), nil); ok || X != spatial.IdentityPose {
		t.Errorf("stands on nothing at %v", X)
	}
}

// TestFitFindsThePoseAgain: the base is moved at random, the hooves anchored, and
// the pose found from joints and anchors alone, from a bad guess.
func TestFitFindsThePoseAgain(t *testing.T) {
	g := pony(t)
	feet := g.DefaultFeetTo(nil)
	rng := rand.New(rand.NewPCG(8, 2))
	for n := range 300 {
		q := posed(t, g, "crouched")
		for j := range 24 {
			q[j] += 0.1 * rng.NormFloat64()
		}
		want := randomPose(rng)
		got, worst := g.Fit(q, feet, g.PointsTo(nil, q, feet, want), randomPose(rng))
		if worst > exact || apart(got, want) > exact {
			t.Fatalf("case %d of seed 8, 2: %g m left, %g apart", n, worst, apart(got, want))
		}
	}
}

// TestFitKeepsWhatIsOpen: on one upright hoof the yaw is not determined, and stays.
func TestFitKeepsWhatIsOpen(t *testing.T) {
	g := pony(t)
	one := []Foot{foot(t, g, "leg2")}
	q := posed(t, g, "stand")
	X, _ := g.Settle(q, one)
	anchors := g.PointsTo(nil, q, one, X)
	turned := spatial.Pose{R: spatial.TurnZ(0.3), P: anchors[0].Sub(spatial.TurnZ(0.3).MulVec(anchors[0]))}
	guess := turned.Mul(X) // about the hoof: the same contact
	got, worst := g.Fit(q, one, anchors, guess)
	if worst > exact || apart(got, guess) > 1e-6 {
		t.Errorf("%g m left, %g away from the guess", worst, apart(got, guess))
	}
	if got, worst := g.Fit(q, nil, nil, guess); worst != 0 || got != guess {
		t.Error("without feet the guess does not come back")
	}
}

// TestBalance: the standing pony has its centre of mass inside its hooves; on the
// two left legs it has not; with its base moved by the margin it is on the edge.
func TestBalance(t *testing.T) {
	g := pony(t)
	all := g.DefaultFeetTo(nil)
	q := posed(t, g, "stand")
	X, _ := g.Settle(q, all)
	var b Balance
	g.BalanceTo(&b, q, all, X)
	if b.Margin < 0.01 || len(b.Support.Corners) != 4 || math.Abs(b.Mass-g.m.Mass()) > 0 {
		t.Errorf("margin %g, %d corners", b.Margin, len(b.Support.Corners))
	}
	if want := 0.16085 * 0.0772; math.Abs(b.Support.Area()-want) > 0.1*want {
		t.Errorf("area %g m², hips span %g", b.Support.Area(), want)
	}
	left := []Foot{foot(t, g, "leg1"), foot(t, g, "leg3")}
	g.BalanceTo(&b, q, left, X)
	if b.Margin >= 0 {
		t.Errorf("margin on a line %g", b.Margin)
	}
	g.BalanceTo(&b, q, nil, X)
	if !math.IsInf(b.Margin, -1) {
		t.Errorf("margin without feet %g", b.Margin)
	}
}

// TestZMPAtRest is below the centre of mass.
func TestZMPAtRest(t *testing.T) {
	c, f := spatial.Vec3{X: 0.3, Y: -0.2, Z: 0.5}, spatial.Vec3{Z: 27}
	p, ok := ZMP(spatial.Wrench{Torque: c.Cross(f), Force: f})
	if !ok || math.Abs(p.X-c.X) > tight || math.Abs(p.Y-c.Y) > tight {
		t.Errorf("%v", p)
	}
	if _, ok := ZMP(spatial.Wrench{Force: spatial.Vec3{Z: -1}}); ok {
		t.Error("the ground pulls")
	}
}

func TestLoopSafe(t *testing.T) {
	g := pony(t)
	feet, q := g.DefaultFeetTo(nil), posed(t, g, "stand")
	var b Balance
	points := make([]spatial.Vec3, 0, 8)
	if n := testing.AllocsPerRun(20, func() {
		X, _ := g.Settle(q, feet)
		points = g.PointsTo(points[:0], q, feet, X)
		g.Fit(q, feet, points, X)
		g.BalanceTo(&b, q, feet, X)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestHullAgainstHalfPlanes: every point is inside every edge of the hull, every
// corner is a point, and the margin agrees with a search over the boundary.
func TestHullAgainstHalfPlanes(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 3))
	var p Polygon
	for n := range 500 {
		points := make([]Point, 1+rng.IntN(12))
		for i := range points {
			points[i] = Point{math.Round(8*rng.Float64()) / 4, math.Round(8*rng.Float64()) / 4} // many in line
		}
		p.Hull(points)
		k := len(p.Corners)
		for i := range p.Corners {
			a, b, c := p.Corners[i], p.Corners[(i+1)%k], p.Corners[(i+2)%k]
			if k >= 3 && cross(a, b, c) <= 0 {
				t.Fatalf("case %d of seed 8, 3: corner %v of %v does not turn left", n, b, p.Corners)
			}
			for _, q := range points {
				if k >= 3 && cross(a, b, q) < 0 {
					t.Fatalf("case %d of seed 8, 3: %v outside %v", n, q, p.Corners)
				}
			}
		}
		q := Point{3*rng.Float64() - 0.5, 3*rng.Float64() - 0.5}
		if got, want := p.Margin(q), marginBySearch(p.Corners, q); math.Abs(got-want) > 1e-3 {
			t.Fatalf("case %d of seed 8, 3: margin of %v in %v is %g, by search %g", n, q, p.Corners, got, want)
		}
		c, ok := p.Centre()
		if m := p.Margin(c); !ok || k >= 3 && m <= 0 || k < 3 && m < -tight {
			t.Fatalf("case %d of seed 8, 3: centre %v has margin %g", n, c, m)
		}
	}
	var none Polygon
	if !math.IsInf(none.Margin(Point{}), -1) {
		t.Error("no polygon has an inside")
	}
}

// marginBySearch walks along the boundary; inside is told by the winding angle.
func marginBySearch(corners []Point, q Point) float64 {
	nearest, winding := math.Inf(1), 0.0
	for i, a := range corners {
		b := corners[(i+1)%len(corners)]
		for s := range 2001 {
			f := float64(s) / 2000
			nearest = min(nearest, math.Hypot(a.X+f*(b.X-a.X)-q.X, a.Y+f*(b.Y-a.Y)-q.Y))
		}
		winding += math.Remainder(math.Atan2(b.Y-q.Y, b.X-q.X)-math.Atan2(a.Y-q.Y, a.X-q.X), 2*math.Pi)
	}
	if len(corners) >= 3 && winding > 6 {
		return nearest
	}
	return -nearest
}

func randomPose(rng *rand.Rand) spatial.Pose {
	r := spatial.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}
	return spatial.Pose{R: spatial.ExpRotation(r).Matrix(), P: spatial.Vec3{X: rng.Float64(), Y: rng.Float64(), Z: rng.Float64()}}
}

// apart is the larger of distance and angle.
func apart(X, Y spatial.Pose) float64 {
	d := X.Inverse().Mul(Y)
	return max(d.P.Norm(), d.R.Quat().Log().Norm())
}

package track

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"poise/internal/golden"
	"poise/internal/randbot"
	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/planner"
	"poise/planner/path"
	"poise/robot"
	"poise/robot/load"
	"poise/spatial"
)

const seed = 5

func arm(tb testing.TB, name, group string) (*robot.Model, *robot.Group) {
	tb.Helper()
	if name != "arm6" {
		name = golden.Path(tb, "robots/"+name)
	}
	r, err := load.Robot(name, load.Options{OverrideLimits: true})
	if err != nil {
		tb.Fatal(err)
	}
	id, ok := r.Model.Group(group)
	if !ok {
		tb.Fatalf("no group %q", group)
	}
	return r.Model, &r.Model.Groups()[id]
}

func vec(rng *rand.Rand) spatial.Vec3 {
	return spatial.Vec3{X: 2*rng.Float64() - 1, Y: 2*rng.Float64() - 1, Z: 2*rng.Float64() - 1}
}

var arms = [][2]string{{"arm6", "manipulator"}, {"prbt", "manipulator"}, {"panda", "panda_arm"}}

// Between the places that were solved the link is on its path too, and moves along
// it as the derivatives of the curve say.
func TestCurveKeepsTheLinkOnItsPath(t *testing.T) {
	for _, a := range arms {
		m, g := arm(t, a[0], a[1])
		rng := randbot.New(seed)
		d := kinematics.NewData(m)
		place := d.At(g.Tip)
		tr, why := New(m, g.Joints, g.Tip)
		if why != nil {
			t.Fatal(why)
		}
		q := make([]float64, m.NumQ())
		n := len(g.Joints)
		x, d1, d2 := make([]float64, n), make([]float64, n), make([]float64, n)
		v := make([]float64, m.NumV())
		for followed := 0; followed < 20; {
			kinematics.NewSpace(m).RandomTo(q, rng)
			d.UpdatePosition(q)
			X := d.Pose(place)
			turn := path.TurnBetween(X.R, spatial.ExpRotation(vec(rng)).Matrix().Mul(X.R))
			var toolPath path.Path = path.NewLine(X.P, X.P.Add(vec(rng).Scale(0.4)), turn, path.Coupling{})
			if followed%2 == 1 {
				centre := X.P.Add(vec(rng).Scale(0.2))
				normal, _ := vec(rng).Cross(X.P.Sub(centre)).Unit()
				toolPath = path.NewArc(X.P, centre, normal, 1+2*rng.Float64(), turn, path.Coupling{})
			}
			curves, why := tr.Follow(context.Background(), []path.Path{toolPath}, q, nil)
			if why != nil {
				if why.Kind != planner.NoSolution {
					t.Fatalf("%s: seed %d: %v", a[0], seed, why)
				}
				continue
			}
			followed++
			for k := range 200 {
				s := toolPath.Length() * (float64(k) + 0.5) / 200
				curves[0].StateTo(x, d1, d2, s)
				for i, j := range g.Joints {
					q[m.Joints()[j].Q], v[m.Joints()[j].V] = x[i], d1[i]
				}
				d.UpdatePosition(q)
				d.UpdateVelocity(v)
				want, got, V := toolPath.At(s), d.Pose(place), d.Twist(place)
				if e := off(want.Pose, got); e.Linear.Norm() > 2*Fit || e.Angular.Norm() > 2*Fit {
					t.Fatalf("%s: seed %d: %.3g m and %.3g rad off at %g", a[0], seed, e.Linear.Norm(), e.Angular.Norm(), s)
				}
				// errors of Fit over steps of millimetres
				if V.Linear.Sub(want.D1.Linear).Norm() > 1e-3 || V.Angular.Sub(want.D1.Angular).Norm() > 1e-3 {
					t.Fatalf("%s: seed %d: moves by %v, want %v", a[0], seed, V, want.D1)
				}
			}
		}
	}
}

// An arm with joints to spare ends with those that were asked for.
func TestRedundantArmGoesToTheJointsAskedFor(t *testing.T) {
	m, g := arm(t, "panda", "panda_arm")
	rng := randbot.New(seed)
	d := kinematics.NewData(m)
	tr, why := New(m, g.Joints, g.Tip)
	if why != nil {
		t.Fatal(why)
	}
	start := make([]float64, m.NumQ())
	copy(start, []float64{0, -0.785, 0, -2.356, 0, 1.571, 0.785})
	reached := 0
	for range 30 {
		end := append([]float64(nil), start...)
		for k := range g.Joints {
			end[k] += 0.3 * (2*rng.Float64() - 1)
		}
		d.UpdatePosition(start)
		X := d.Pose(d.At(g.Tip))
		d.UpdatePosition(end)
		Y := d.Pose(d.At(g.Tip))
		way := path.NewLine(X.P, Y.P, path.TurnBetween(X.R, Y.R), path.Coupling{})
		curves, why := tr.Follow(context.Background(), []path.Path{way}, start, end)
		if why != nil {
			continue
		}
		reached++
		q := make([]float64, len(g.Joints))
		curves[0].PositionTo(q, curves[0].End())
		for k := range q {
			if math.Abs(q[k]-end[k]) > 1e-7 {
				t.Fatalf("seed %d: joint %d ends at %g, want %g", seed, k, q[k], end[k])
			}
		}
	}
	if reached < 20 || !tr.Redundant() {
		t.Errorf("%d of 30 reached", reached)
	}
}

// Where a path leaves what the arm reaches, the distance in the refusal is where
// the inverse kinematics first finds nothing.
func TestRefusalNamesThePlaceWhereReachEnds(t *testing.T) {
	m, g := arm(t, "prbt", "manipulator")
	tr, why := New(m, g.Joints, g.Tip)
	if why != nil {
		t.Fatal(why)
	}
	solver, err := ik.New(m, ik.Options{}, g.Joints, g.Tip)
	if err != nil {
		t.Fatal(err)
	}
	start := []float64{0, -0.016763700542892668, -1.673499069949556, 0, -1.4848572841831293, 2.3561944901923377}
	d := kinematics.NewData(m)
	d.UpdatePosition(start)
	X := d.Pose(d.At(g.Tip))
	for _, to := range []spatial.Vec3{{X: 1.2}, {X: 0.6, Y: 0.9}, {X: 0.3, Z: 1.5}} {
		way := path.NewLine(X.P, X.P.Add(to), path.Turn{Start: X.R, Axis: spatial.Vec3{Z: 1}}, path.Coupling{})
		_, why := tr.Follow(context.Background(), []path.Path{way}, start, nil)
		if why == nil {
			t.Fatalf("followed to %v", to)
		}
		q := make([]float64, m.NumQ())
		reaches := func(s float64) bool { return solver.PoseTo(q, way.At(s).Pose, start).Status == ik.Solved }
		if !reaches(max(why.Distance-1e-3, 0)) {
			t.Errorf("%v: nothing is found 1 mm before", why)
		}
		if reaches(why.Distance + 1e-3) {
			t.Logf("%v: reached by another configuration", why)
		}
	}
}

func TestLeastSquaresSolvesAndDampsWhatDepends(t *testing.T) {
	rng := randbot.New(seed)
	for _, n := range []int{3, 6, 7} {
		l := newLSQ(max(6, n), n)
		for range 100 {
			want := make([]float64, n)
			b := make([]float64, l.m)
			for k := range n {
				want[k] = rng.NormFloat64()
				for i := range l.m {
					l.column(k)[i] = rng.NormFloat64()
					b[i] += want[k] * l.column(k)[i]
				}
			}
			l.factor()
			copy(l.b, b)
			got := make([]float64, n)
			l.solveTo(got)
			for k := range n {
				if math.Abs(got[k]-want[k]) > 1e-8 || l.Damped {
					t.Fatalf("seed %d: %v, want %v", seed, got, want)
				}
			}
			// two columns that are one share what they do
			copy(l.column(1), l.column(0))
			l.factor()
			clear(l.b)
			for i := range l.m {
				l.b[i] = 2 * l.column(0)[i]
			}
			l.solveTo(got)
			if !l.Damped || math.Abs(got[0]-1) > 1e-3 || math.Abs(got[1]-1) > 1e-3 {
				t.Fatalf("seed %d: dependent columns give %v", seed, got)
			}
		}
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	m, g := arm(t, "arm6", "manipulator")
	tr, _ := New(m, g.Joints, g.Tip)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	q := make([]float64, m.NumQ())
	d := kinematics.NewData(m)
	d.UpdatePosition(q)
	X := d.Pose(d.At(g.Tip))
	line := path.NewLine(X.P, X.P.Add(spatial.Vec3{Y: 0.3}), path.Turn{Start: X.R, Axis: spatial.Vec3{Z: 1}}, path.Coupling{})
	if _, why := tr.Follow(ctx, []path.Path{line}, q, nil); why == nil || why.Kind != planner.Cancelled {
		t.Errorf("%v", why)
	}
}

// BenchmarkFollow finds the joints along a straight metre.
func BenchmarkFollow(b *testing.B) {
	m, g := arm(b, "panda", "panda_arm")
	q := make([]float64, m.NumQ())
	copy(q, []float64{0.9, 0.2, 0.1, -2, 0.1, 2, 0.5})
	d := kinematics.NewData(m)
	d.UpdatePosition(q)
	X := d.Pose(d.At(g.Tip))
	way := path.NewLine(X.P, X.P.Add(spatial.Vec3{Y: -0.9}), path.Turn{Start: X.R, Axis: spatial.Vec3{Z: 1}}, path.Coupling{})
	tr, why := New(m, g.Joints, g.Tip)
	if why != nil {
		b.Fatal(why)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		c, why := tr.Follow(context.Background(), []path.Path{way}, q, nil)
		if why != nil {
			b.Fatal(why)
		}
		n = c[0].Segments()
	}
	b.ReportMetric(float64(n), "segments")
}

package trajectory_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"poise/internal/approx"
	"poise/trajectory"
	"poise/trajectory/spline"
)

const seed = 5

// tolCurve: the same curve through other polynomials, after a few roundings.
var tolCurve = approx.Tol{Abs: 1e-9, Rel: 1e-9}

func rng(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// random draws a trajectory that carries positions (0), velocities too (1) or
// accelerations too (2).
func random(r *rand.Rand, points, n, carries int) *trajectory.Trajectory {
	t := trajectory.New(points, n)
	at := r.Float64()
	for i := range t.Points {
		p := &t.Points[i]
		p.Time = at
		at += 0.1 + r.Float64()
		for j := range n {
			p.Position[j], p.Velocity[j], p.Acceleration[j] = r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
		}
		if carries < 2 {
			p.Acceleration = nil
		}
		if carries < 1 {
			p.Velocity = nil
		}
	}
	return t
}

func curve(t testing.TB, tr *trajectory.Trajectory) *spline.Spline {
	t.Helper()
	s, err := tr.Interpolant()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// same fails unless two curves agree at dense times; rate maps a time of a to
// one of b, and the velocity of b is rate·that of a.
func same(t testing.TB, what string, a, b *spline.Spline, clock func(float64) float64, rate float64) {
	t.Helper()
	n := a.Joints()
	var x, y [3][]float64
	for k := range x {
		x[k], y[k] = make([]float64, n), make([]float64, n)
	}
	for i := range 200 {
		at := a.Start() + a.Duration()*(float64(i)+0.5)/200
		a.StateTo(x[0], x[1], x[2], at)
		b.StateTo(y[0], y[1], y[2], clock(at))
		for j := range n {
			x[1][j] *= rate
			x[2][j] *= rate * rate
		}
		for k, word := range []string{" position", " velocity", " acceleration"} {
			approx.Equal(t, what+word, y[k], x[k], tolCurve)
		}
	}
}

func TestEditingKeepsTheCurve(t *testing.T) {
	r := rng(1)
	for range 100 {
		for carries := range 3 {
			tr := random(r, 4+r.IntN(5), 2, carries)
			s := curve(t, tr)
			t0, t1 := tr.Start(), tr.End()

			same(t, "scaled", s, curve(t, tr.Scaled(0.4)), func(x float64) float64 { return t0 + (x-t0)/0.4 }, 0.4)
			same(t, "reversed", s, curve(t, tr.Reversed()), func(x float64) float64 { return t0 + t1 - x }, -1)
			same(t, "clone", s, curve(t, tr.Clone()), func(x float64) float64 { return x }, 1)

			mid := t0 + (t1-t0)*(0.2+0.6*r.Float64())
			first, err := tr.Cut(t0, mid)
			if err != nil {
				t.Fatal(err)
			}
			second, err := tr.Cut(mid, t1)
			if err != nil {
				t.Fatal(err)
			}
			first.Points = append(first.Points, second.Points[1:]...)
			same(t, "cut in two", s, curve(t, first), func(x float64) float64 { return x }, 1)
		}
	}
}

func TestEditingSharesNothing(t *testing.T) {
	tr := random(rng(2), 3, 2, 2)
	tr.Joints = []string{"a", "b"}
	before := tr.Clone()
	for _, other := range []*trajectory.Trajectory{tr.Clone(), tr.Scaled(2), tr.Reversed()} {
		for i := range other.Points {
			other.Points[i].Position[0], other.Points[i].Velocity[0], other.Points[i].Acceleration[0] = 9, 9, 9
		}
		other.Joints[0] = "changed"
	}
	if tr.Joints[0] != "a" || !slices.Equal(tr.Points[0].Position, before.Points[0].Position) || !slices.Equal(tr.Points[2].Velocity, before.Points[2].Velocity) {
		t.Error("a copy shares memory with the original")
	}
}

func TestReversingTwiceAndScalingBack(t *testing.T) {
	r := rng(3)
	for range 200 {
		tr := random(r, 5, 2, 2)
		for name, again := range map[string]*trajectory.Trajectory{
			"reversed": tr.Reversed().Reversed(),
			"scaled":   tr.Scaled(4).Scaled(0.25),
		} {
			for i, p := range again.Points {
				approx.Equal(t, name, append(append([]float64{p.Time}, p.Velocity...), p.Acceleration...),
					append(append([]float64{tr.Points[i].Time}, tr.Points[i].Velocity...), tr.Points[i].Acceleration...), tolCurve)
			}
		}
	}
}

func TestCutOutsideIsRefused(t *testing.T) {
	tr := random(rng(4), 3, 1, 2)
	for _, c := range [][2]float64{{tr.Start() - 1, tr.End()}, {tr.Start(), tr.End() + 1}, {1, 1}, {tr.End(), tr.Start()}, {math.NaN(), tr.End()}} {
		var span *trajectory.SpanError
		if _, err := tr.Cut(c[0], c[1]); !errors.As(err, &span) || !strings.Contains(err.Error(), "cannot cut") {
			t.Errorf("Cut(%g, %g): %v", c[0], c[1], err)
		}
	}
}

func TestCheckNamesWhatIsWrong(t *testing.T) {
	r := rng(6)
	for _, c := range []struct {
		name  string
		spoil func(*trajectory.Trajectory)
		is    error
		says  string
	}{
		{"no points", func(tr *trajectory.Trajectory) { tr.Points = nil }, spline.ErrTooFew, "at least 1"},
		{"equal times", func(tr *trajectory.Trajectory) { tr.Points[1].Time = tr.Points[0].Time }, spline.ErrOrder, "key 1: time"},
		{"NaN position", func(tr *trajectory.Trajectory) { tr.Points[2].Position[1] = math.NaN() }, spline.ErrNotFinite, "key 2: position of joint 1 is NaN"},
		{"velocity missing", func(tr *trajectory.Trajectory) { tr.Points[1].Velocity = nil }, spline.ErrSize, "key 1: velocity: 0 values, want 2"},
		{"acceleration too long", func(tr *trajectory.Trajectory) { tr.Points[0].Acceleration = make([]float64, 3) }, spline.ErrSize, "key 0: acceleration: 3 values, want 2"},
		{"names", func(tr *trajectory.Trajectory) { tr.Joints = []string{"only"} }, spline.ErrSize, "joint names: 1 values, want 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := random(r, 4, 2, 2)
			if err := tr.Check(); err != nil {
				t.Fatalf("before: %v", err)
			}
			c.spoil(tr)
			if err := tr.Check(); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
}

func TestContinuousJointsGoTheShortWay(t *testing.T) {
	// from a pose two turns away, whole turns of the motion itself are kept
	spin := &trajectory.Trajectory{Points: []trajectory.Point{{Time: 0, Position: []float64{0.1}}, {Time: 1, Position: []float64{0.1 + 6*math.Pi}}}}
	turned := spin.Turned([]float64{4 * math.Pi}, []bool{true})
	approx.Scalar(t, "start", turned.Points[0].Position[0], 0.1+4*math.Pi, tolCurve)
	approx.Scalar(t, "end", turned.Points[1].Position[0], 0.1+10*math.Pi, tolCurve)
}

func TestTolerancesReadLikeAGoal(t *testing.T) {
	standard := trajectory.Tolerance{Position: 0.1, Velocity: 0.2, Acceleration: 0.3}
	got := trajectory.Tolerance{Position: 0, Velocity: -1, Acceleration: 0.5}.Or(standard)
	if got.Position != 0.1 || !math.IsInf(got.Velocity, 1) || got.Acceleration != 0.5 {
		t.Errorf("Or = %v, want the default, none and the stated one", got)
	}
}

func TestLimitsThemselvesAreChecked(t *testing.T) {
	bad := trajectory.Limits{
		Lower: []float64{1, -1}, Upper: []float64{0, 1}, Velocity: []float64{1}, Acceleration: []float64{1, -2}, Jerk: []float64{math.NaN(), math.Inf(1)},
	}
	err := bad.Check(2)
	var one *trajectory.LimitError
	if !errors.As(err, &one) {
		t.Fatalf("error %v", err)
	}
	for _, says := range []string{
		"upper position limit of joint 0 is 0, not above the lower one, 1",
		"velocity limits: 1 entries, want 2",
		"acceleration limit of joint 1 is -2",
		"jerk limit of joint 0 is NaN",
	} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%q does not say %q", err, says)
		}
	}
	if err := (&trajectory.Limits{}).Check(3); err != nil {
		t.Errorf("no limits at all: %v", err)
	}
}

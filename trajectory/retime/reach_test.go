package retime

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"poise/internal/approx"
	"poise/trajectory"
	"poise/trajectory/spline"
)

const reachSeed = 9

// formula is a path given by one function.
type formula struct {
	joints, measures int
	breaks           []float64
	at               func(q, dq, ddq []float64, piece int, s float64)
}

func (f *formula) Joints() int       { return f.joints }
func (f *formula) Measures() int     { return f.measures }
func (f *formula) Breaks() []float64 { return f.breaks }
func (f *formula) StateTo(q, dq, ddq []float64, piece int, s float64) {
	f.at(q, dq, ddq, piece, s)
}

// circle runs around a circle of a radius with the length as parameter.
func circle(radius float64) *formula {
	return &formula{joints: 2, breaks: []float64{0, 2 * math.Pi * radius}, at: func(q, dq, ddq []float64, _ int, s float64) {
		sin, cos := math.Sincos(s / radius)
		q[0], q[1] = radius*cos, radius*sin
		dq[0], dq[1] = -sin, cos
		ddq[0], ddq[1] = -cos/radius, -sin/radius
	}}
}

func solved(t testing.TB, p *Problem) *grid {
	t.Helper()
	var g grid
	b := p.Path.Breaks()
	if err := g.Prepare(p, b[0], b[len(b)-1], 1); err != nil {
		t.Fatal(err)
	}
	if err := g.SolveSharp(); err != nil {
		t.Fatal(err)
	}
	return &g
}

// On a straight line x rises with 2·a·s from the start, falls with 2·d·s to the
// end, and stays below v²: closed form at every node.
func TestStraightLineRampsAreExact(t *testing.T) {
	const v, a, d = 0.7, 2.0, 1.5
	straight := &formula{joints: 1, breaks: []float64{0, 1}, at: func(q, dq, ddq []float64, _ int, s float64) {
		q[0], dq[0], ddq[0] = s, 1, 0
	}}
	g := solved(t, &Problem{Path: straight, Limits: []trajectory.Limits{{Velocity: []float64{v}, Acceleration: []float64{a}, Deceleration: []float64{d}}}})
	for i, s := range g.S {
		approx.Scalar(t, fmt.Sprintf("x at %.3f", s), g.X[i], min(2*a*s, v*v, 2*d*(1-s)), approx.Tol{Abs: 1e-12})
	}
	if g.Factor != 1 {
		t.Errorf("slowed by %g", g.Factor)
	}
}

// Around a circle at constant speed the acceleration of both joints together is
// v²/r: the one that points inwards limits it.
func TestCircleSpeedIsThatOfItsCurvature(t *testing.T) {
	const r, a = 0.5, 3.0
	g := solved(t, &Problem{Path: circle(r), Limits: []trajectory.Limits{{Acceleration: []float64{a, a}}}})
	for i, s := range g.S {
		sin, cos := math.Sincos(s / r)
		// where one joint turns all its limit goes into the curvature
		if bound := a * r / max(math.Abs(sin), math.Abs(cos)); g.X[i] > bound*math.Sqrt2 {
			t.Errorf("x = %g at %g, more than curvature allows", g.X[i], s)
		}
	}
	turn := g.X[len(g.X)/2] // s = π·r: x turns there
	if turn > a*r || turn < 0.9*a*r {
		t.Errorf("x = %g where a joint turns, want just below %g", turn, a*r)
	}
}

// Whatever is tightened or lowered holds afterwards, and Restart forgets it.
func TestTightenLowerRestart(t *testing.T) {
	r := rand.New(rand.NewPCG(reachSeed, 1))
	keys := [][]float64{}
	times := []float64{}
	for i := range 6 {
		times = append(times, float64(i))
		keys = append(keys, []float64{r.NormFloat64(), r.NormFloat64()})
	}
	s, err := spline.Natural(times, keys)
	if err != nil {
		t.Fatal(err)
	}
	l := []trajectory.Limits{{Velocity: []float64{2, 2}, Acceleration: []float64{3, 4}}}
	g := solved(t, &Problem{Path: FromSpline(s), Limits: l})
	before := append([]float64(nil), g.X...)
	mid := len(g.Piece) / 2
	low := g.X[mid] / 4
	g.Lower(mid, low)
	g.Tighten(mid/2, 0.5)
	if err := g.Solve(); err != nil {
		t.Fatal(err)
	}
	if g.X[mid] > low || g.X[mid+1] > low {
		t.Errorf("x = %g, %g after it was lowered to %g", g.X[mid], g.X[mid+1], low)
	}
	if g.Used[mid/2] > 0.5*(1+1e-12) {
		t.Errorf("uses %g after it was tightened to 0.5", g.Used[mid/2])
	}
	for i := range before {
		if g.X[i] > before[i]*(1+1e-12) {
			t.Fatalf("x at node %d rose from %g to %g", i, before[i], g.X[i])
		}
	}
	g.Restart(1)
	if err := g.Solve(); err != nil {
		t.Fatal(err)
	}
	// the same grid, on which certification takes another way
	approx.Equal(t, "x after a restart", g.X, before, approx.Tol{Rel: 1e-4})
}

func TestUnlimitedAndBrokenPathsAreNamed(t *testing.T) {
	var g grid
	still := &formula{joints: 1, breaks: []float64{0, 1}, at: func(q, dq, ddq []float64, _ int, s float64) { clear(dq); clear(ddq) }}
	p := &Problem{Path: still, Limits: []trajectory.Limits{{Acceleration: []float64{1}}}}
	var free *FreeError
	if err := g.Prepare(p, 0, 1, 1); !errors.As(err, &free) || !errors.Is(err, ErrFree) {
		t.Errorf("error %v", err)
	}
	hot := &formula{joints: 1, breaks: []float64{0, 1}, at: func(q, dq, ddq []float64, _ int, s float64) {
		dq[0], ddq[0] = 1, 0
		if s > 0.9 {
			dq[0] = math.Inf(1)
		}
	}}
	p.Path = hot
	var path *PathError
	if err := g.Prepare(p, 0, 1, 1); !errors.As(err, &path) || path.Row != 0 || path.S < 0.9 {
		t.Errorf("error %v", err)
	}
}

// Peak is a bound: no sample of a smooth curve between the places is higher.
func TestPeakBoundsWhatLiesBetween(t *testing.T) {
	r := rand.New(rand.NewPCG(reachSeed, 2))
	for range 20000 {
		a, w, p, b := r.NormFloat64(), 3*r.Float64(), 6*r.Float64(), r.NormFloat64()
		f := func(x float64) float64 { return a*math.Sin(w*x+p) + b*x }
		var y [places]float64
		for k := range y {
			y[k] = f(float64(k) / (places - 1))
		}
		bound := peak(&y)
		for i := range 101 {
			if v := f(float64(i) / 100); v > bound+1e-12 {
				t.Fatalf("seed %d: %g at %d %%, bound %g of %v", reachSeed, v, i, bound, y)
			}
		}
	}
}

// From rest to rest around a circle of 10 cm: the duration, the speed halfway and
// what holds it back there.
func TestCircleFromRestToRest(t *testing.T) {
	p := &Problem{Path: circle(0.1), Limits: []trajectory.Limits{{Velocity: []float64{1, 1}, Acceleration: []float64{2, 2}}}}
	g := solved(t, p)
	total := 0.0
	for i := range g.Piece {
		total += g.Time(i)
	}
	half := len(g.X) / 2
	approx.Scalar(t, "duration", total, 1.60, approx.Tol{Abs: 0.005})
	approx.Scalar(t, "speed halfway", math.Sqrt(g.X[half]), 0.45, approx.Tol{Abs: 0.005})
	if held := g.Held(half); held != (binding{Acceleration, 0}) {
		t.Errorf("held back by the %v of row %d, want the acceleration of row 0", held.Limit, held.Row)
	}
}

func TestRefusalsNameTheNumberGivenAndWhatIsWanted(t *testing.T) {
	s, err := spline.Hermite([]float64{0, 1}, [][]float64{{0}, {1}}, [][]float64{{1}, {1}})
	if err != nil {
		t.Fatal(err)
	}
	one := trajectory.Limits{Velocity: []float64{1}, Acceleration: []float64{1}}
	for _, c := range []struct {
		name       string
		limits     trajectory.Limits
		start, end float64
		want       string
	}{
		{"limit too small", trajectory.Limits{Velocity: []float64{1e-300}, Acceleration: []float64{1}}, 0, 0,
			"velocity limit of joint 0 is 1e-300, want 1e-50 to 1e+50, or +Inf for none"},
		{"limit too large", trajectory.Limits{Velocity: []float64{1}, Acceleration: []float64{1e300}}, 0, 0,
			"acceleration limit of joint 0 is 1e+300, want 1e-50 to 1e+50, or +Inf for none"},
		{"said once", trajectory.Limits{Velocity: []float64{0}, Acceleration: []float64{1}}, 0, 0,
			"piece 0: trajectory: velocity limit of joint 0 is 0, want a number above 0"},
		{"speed whose square overflows", one, 1e300, 0, "start speed 1e+300 is not possible, at most 1e+50"},
		{"backwards", one, 0, -1, "end speed -1 is not possible, want at least 0"},
		{"not a number", one, math.NaN(), 0, "start speed NaN is not possible, want at least 0"},
	} {
		p := Problem{Path: FromSpline(s), Limits: []trajectory.Limits{c.limits}, StartSpeed: c.start, EndSpeed: c.end}
		if err := p.check(); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

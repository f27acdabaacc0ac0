package spline_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"poise/internal/approx"
	"poise/trajectory/spline"
)

const seed = 4

var (
	// tolKey: a key is met to the rounding of Horner's rule.
	tolKey = approx.Tol{Abs: 1e-12, Rel: 1e-12}
	// tolSlope: central differences with step 1e-6 of the time scale.
	tolSlope = approx.Tol{Abs: 1e-5, Rel: 1e-5}
)

func rng(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// randomKeys draws k keys of n joints: uneven times, values with holds,
// straight runs and turns.
func randomKeys(r *rand.Rand, k, n int) (times []float64, keys [][]float64) {
	t := r.Float64() * 10
	for range k {
		times = append(times, t)
		t += math.Exp(r.NormFloat64())
		row := make([]float64, n)
		for j := range row {
			row[j] = r.NormFloat64() * 2
			if len(keys) > 0 && r.IntN(4) == 0 {
				row[j] = keys[len(keys)-1][j] // a hold
			}
		}
		keys = append(keys, row)
	}
	return times, keys
}

func randomRows(r *rand.Rand, k, n int) [][]float64 {
	_, rows := randomKeys(r, k, n)
	return rows
}

// builders makes one spline of each kind through the same keys.
func builders(t testing.TB, r *rand.Rand, times []float64, keys [][]float64) map[string]*spline.Spline {
	t.Helper()
	n := len(keys[0])
	v, a := randomRows(r, len(times), n), randomRows(r, len(times), n)
	made := map[string]*spline.Spline{}
	add := func(name string, s *spline.Spline, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		made[name] = s
	}
	s, err := spline.Akima(times, keys, 0)
	add("akima", s, err)
	s, err = spline.Natural(times, keys)
	add("natural", s, err)
	s, err = spline.Clamped(times, keys, v[0], nil)
	add("clamped", s, err)
	s, err = spline.Hermite(times, keys, v)
	add("hermite", s, err)
	s, err = spline.Quintic(times, keys, v, a)
	add("quintic", s, err)
	return made
}

func TestEveryCurvePassesItsKeys(t *testing.T) {
	r := rng(1)
	q := make([]float64, 3)
	for range 200 {
		times, keys := randomKeys(r, 2+r.IntN(8), 3)
		for name, s := range builders(t, r, times, keys) {
			for i, at := range times {
				s.PositionTo(q, at)
				approx.Equal(t, name, q, keys[i], tolKey)
			}
			s.PositionTo(q, s.End())
			for j := range q {
				if q[j] != keys[len(keys)-1][j] {
					t.Errorf("%s: ends at %v, want the last key bit for bit: %v", name, q[j], keys[len(keys)-1][j])
				}
			}
		}
	}
}

func TestDerivativesAgreeWithDifferences(t *testing.T) {
	r := rng(2)
	const h = 1e-6
	var q, v, a, jerk, lo, hi, vlo, vhi, alo, ahi, x [2]float64
	for range 100 {
		times, keys := randomKeys(r, 5, 2)
		for name, s := range builders(t, r, times, keys) {
			for range 10 {
				i := r.IntN(4)
				at := times[i] + (times[i+1]-times[i])*(0.1+0.8*r.Float64())
				s.StateTo(q[:], v[:], a[:], at)
				s.JerkTo(jerk[:], at)
				s.StateTo(lo[:], vlo[:], alo[:], at-h)
				s.StateTo(hi[:], vhi[:], ahi[:], at+h)
				difference := func(what string, got, low, high []float64) {
					scale := 0.0
					for j := range x {
						x[j] = (high[j] - low[j]) / (2 * h)
						scale = math.Max(scale, math.Max(math.Abs(low[j]), math.Abs(high[j])))
					}
					tol := tolSlope
					tol.Abs += scale * 1e-9 // rounding of the values, divided by the step
					tol.Rel += 1e-4
					approx.Equal(t, name+" "+what, got, x[:], tol)
				}
				difference("velocity", v[:], lo[:], hi[:])
				difference("acceleration", a[:], vlo[:], vhi[:])
				difference("jerk", jerk[:], alo[:], ahi[:])
			}
		}
	}
}

func TestAccelerationIsContinuousWherePromised(t *testing.T) {
	r := rng(3)
	var q, v, a0, a1 [2]float64
	for range 200 {
		times, keys := randomKeys(r, 6, 2)
		for name, s := range builders(t, r, times, keys) {
			if name == "akima" || name == "hermite" {
				continue
			}
			for i := 1; i < 5; i++ {
				s.SegmentTo(q[:], v[:], a0[:], i-1, times[i])
				s.SegmentTo(q[:], v[:], a1[:], i, times[i])
				approx.Equal(t, name, a0[:], a1[:], approx.Tol{Abs: 1e-9, Rel: 1e-9})
			}
		}
	}
}

func TestEndConditions(t *testing.T) {
	times, keys := []float64{0, 1, 3, 4}, [][]float64{{0}, {2}, {-1}, {1}}
	var q, v, a [1]float64
	s, _ := spline.Natural(times, keys)
	for _, at := range []float64{0, 4} {
		s.StateTo(q[:], v[:], a[:], at)
		approx.Scalar(t, "natural acceleration", a[0], 0, tolKey)
	}
	s, _ = spline.Clamped(times, keys, []float64{0.5}, []float64{-2})
	s.StateTo(q[:], v[:], a[:], 0)
	approx.Scalar(t, "clamped first velocity", v[0], 0.5, tolKey)
	s.StateTo(q[:], v[:], a[:], 4)
	approx.Scalar(t, "clamped last velocity", v[0], -2, tolKey)
	s, _ = spline.Clamped(times, keys, nil, nil)
	s.StateTo(q[:], v[:], a[:], 4)
	approx.Scalar(t, "clamped rest", v[0], 0, tolKey)
}

// A natural cubic bends least among all curves through the keys: its ∫a² is no
// larger than that of the others.
func TestNaturalBendsLeast(t *testing.T) {
	r := rng(5)
	bending := func(s *spline.Spline) (sum float64) {
		for i := range s.Segments() {
			h := s.Knots()[i+1] - s.Knots()[i]
			c := s.Coefficients(i, 0)
			a0, a1 := 2*c[2], 2*c[2]+6*c[3]*h
			sum += h * (a0*a0 + a0*a1 + a1*a1) / 3
		}
		return sum
	}
	for range 300 {
		times, keys := randomKeys(r, 3+r.IntN(6), 1)
		made := builders(t, r, times, keys)
		least := bending(made["natural"])
		for _, other := range []string{"akima", "clamped", "hermite"} {
			if b := bending(made[other]); b < least*(1-1e-9) {
				t.Fatalf("seed %d: %s bends %g, less than natural %g", seed, other, b, least)
			}
		}
	}
}

func TestPolynomialsAreReproduced(t *testing.T) {
	// a quintic through samples of a quintic is that quintic
	f := func(x float64) (q, v, a float64) {
		q = 1 + x*(2+x*(-3+x*(0.5+x*(0.25-0.125*x))))
		v = 2 + x*(-6+x*(1.5+x*(1-0.625*x)))
		a = -6 + x*(3+x*(3-2.5*x))
		return
	}
	var times []float64
	var keys, vel, acc [][]float64
	for _, x := range []float64{-1, 0.25, 1, 3} {
		q, v, a := f(x)
		times, keys, vel, acc = append(times, x), append(keys, []float64{q}), append(vel, []float64{v}), append(acc, []float64{a})
	}
	s, err := spline.Quintic(times, keys, vel, acc)
	if err != nil {
		t.Fatal(err)
	}
	var q, v, a [1]float64
	for x := -1.0; x <= 3; x += 0.01 {
		s.StateTo(q[:], v[:], a[:], x)
		wq, wv, wa := f(x)
		approx.Equal(t, "quintic", []float64{q[0], v[0], a[0]}, []float64{wq, wv, wa}, approx.Tol{Abs: 1e-10})
	}
}

func TestOutsideTheCurveRests(t *testing.T) {
	s, _ := spline.Hermite([]float64{1, 2}, [][]float64{{3}, {4}}, [][]float64{{5}, {6}})
	var q, v, a [1]float64
	for _, c := range []struct{ t, q float64 }{{0, 3}, {-1e300, 3}, {2.5, 4}, {math.Inf(1), 4}, {math.Inf(-1), 3}} {
		s.StateTo(q[:], v[:], a[:], c.t)
		if q[0] != c.q || v[0] != 0 || a[0] != 0 {
			t.Errorf("state at %g = %g %g %g, want %g 0 0", c.t, q[0], v[0], a[0], c.q)
		}
		s.JerkTo(a[:], c.t)
		s.PositionTo(q[:], c.t)
		if a[0] != 0 || q[0] != c.q {
			t.Errorf("jerk %g, position %g at %g, want 0, %g", a[0], q[0], c.t, c.q)
		}
	}
}

func TestCursorFindsTheSameAsSearch(t *testing.T) {
	r := rng(6)
	times, keys := randomKeys(r, 40, 2)
	s, _ := spline.Akima(times, keys, 0)
	c := s.Cursor()
	var q, want, state, v, a [2]float64
	for range 5000 {
		at := s.Start() - 1 + r.Float64()*(s.Duration()+2)
		switch r.IntN(3) {
		case 0:
			at = times[r.IntN(len(times))]
		case 1: // a small step forward
			at = math.Min(s.End(), s.Knots()[c.Segment()]+r.Float64())
		}
		c.PositionTo(q[:], at)
		s.PositionTo(want[:], at)
		s.StateTo(state[:], v[:], a[:], at)
		if q != want || state != want {
			t.Fatalf("seed %d: cursor at %v = %v, want %v", seed, at, q, want)
		}
	}
}

func TestBadInputIsNamed(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	one := [][]float64{{0}, {1}}
	akima := func(times []float64, keys [][]float64) error { _, err := spline.Akima(times, keys, 0); return err }
	_, hold := spline.Akima([]float64{0, 1}, one, nan)
	_, ends := spline.Clamped([]float64{0, 1}, one, []float64{1, 2}, []float64{nan})
	_, missing := spline.Quintic([]float64{0, 1}, one, one, [][]float64{{0}})
	for _, c := range []struct {
		name string
		err  error
		is   error
		says []string
	}{
		{"no keys", akima(nil, nil), spline.ErrTooFew, []string{"key points: 0, at least 2 are needed"}},
		{"one key", akima([]float64{0}, [][]float64{{1}}), spline.ErrTooFew, []string{"1, at least 2"}},
		{"no joints", akima([]float64{0, 1}, [][]float64{{}, {}}), spline.ErrSize, []string{"0 values, want 1"}},
		{"equal times", akima([]float64{1, 1}, one), spline.ErrOrder, []string{"key 1", "time 1 s is not after 1 s"}},
		{"falling times", akima([]float64{0, 2, 1}, [][]float64{{0}, {1}, {2}}), spline.ErrOrder, []string{"key 2", "1 s is not after 2 s"}},
		{"NaN time", akima([]float64{0, nan}, one), spline.ErrNotFinite, []string{"key 1: time is NaN"}},
		{"infinite position", akima([]float64{0, 1}, [][]float64{{0}, {inf}}), spline.ErrNotFinite, []string{"key 1: position of joint 0 is +Inf"}},
		{"ragged rows", akima([]float64{0, 1}, [][]float64{{0, 0}, {1}}), spline.ErrSize, []string{"key 1: position: 1 values, want 2"}},
		{"missing rows", akima([]float64{0, 1, 2}, one), spline.ErrSize, []string{"position: 2 values, want 3"}},
		{"several", akima([]float64{0, 0}, [][]float64{{nan}, {inf}}), spline.ErrNotFinite, []string{"key 1: time", "key 0: position", "key 1: position"}},
		{"too steep", akima([]float64{0, 1e-200}, one), spline.ErrSteep, []string{"key 0", "too steeply within 1e-200 s"}},
		{"differences overflow", akima([]float64{0, 1}, [][]float64{{-1.7e308}, {1.7e308}}), spline.ErrSteep, []string{"joint 0"}},
		{"NaN hold", hold, spline.ErrNotFinite, []string{"hold is NaN"}},
		{"end velocities", ends, spline.ErrNotFinite, []string{"key 0: velocity: 2 values, want 1", "key 1: velocity of joint 0 is NaN"}},
		{"accelerations missing", missing, spline.ErrSize, []string{"acceleration: 1 values, want 2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var key *spline.KeyError
			if !errors.Is(c.err, c.is) || !errors.As(c.err, &key) {
				t.Fatalf("error %v, want %v as *KeyError", c.err, c.is)
			}
			for _, s := range c.says {
				if !strings.Contains(c.err.Error(), s) {
					t.Errorf("%q does not say %q", c.err, s)
				}
			}
		})
	}
}

func TestManyProblemsAreCounted(t *testing.T) {
	keys := make([][]float64, 100)
	times := make([]float64, 100)
	for i := range keys {
		keys[i], times[i] = []float64{math.NaN()}, float64(i)
	}
	_, err := spline.Natural(times, keys)
	if err == nil || !strings.Contains(err.Error(), "and 80 more") {
		t.Errorf("error %v, want the first 20 and 80 more", err)
	}
}

func TestPiecewiseTakesCoefficients(t *testing.T) {
	r := rng(8)
	times, keys := randomKeys(r, 5, 2)
	for name, s := range builders(t, r, times, keys) {
		var all []float64
		for i := range s.Segments() {
			for j := range 2 {
				all = append(all, s.Coefficients(i, j)...)
			}
		}
		same, err := spline.Piecewise(times, 2, all)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var q, want [2]float64
		for range 50 {
			at := s.Start() + r.Float64()*s.Duration()
			same.PositionTo(q[:], at)
			s.PositionTo(want[:], at)
			if q != want {
				t.Fatalf("%s at %g: %v, want %v", name, at, q, want)
			}
		}
		same.PositionTo(q[:], s.End())
		approx.Equal(t, name+" end", q[:], keys[4], tolKey)
	}
	for _, bad := range []func() (*spline.Spline, error){
		func() (*spline.Spline, error) { return spline.Piecewise([]float64{0, 1}, 1, []float64{1, 2, 3}) },
		func() (*spline.Spline, error) { return spline.Piecewise([]float64{0, 1}, 0, nil) },
		func() (*spline.Spline, error) { return spline.Piecewise([]float64{0, 0}, 1, make([]float64, 4)) },
		func() (*spline.Spline, error) { return spline.Piecewise([]float64{0}, 1, make([]float64, 4)) },
		func() (*spline.Spline, error) {
			return spline.Piecewise([]float64{0, 1}, 1, []float64{math.NaN(), 0, 0, 0})
		},
	} {
		if s, err := bad(); err == nil {
			t.Errorf("accepted: %v", s)
		}
	}
}

func TestWrongLengthPanics(t *testing.T) {
	s, _ := spline.Natural([]float64{0, 1}, [][]float64{{0}, {1}})
	defer func() {
		if got := recover(); got != "spline: len(dst) = 2, want 1" {
			t.Errorf("panic %v", got)
		}
	}()
	s.PositionTo(make([]float64, 2), 0)
}

func TestEvaluationNoAlloc(t *testing.T) {
	r := rng(7)
	times, keys := randomKeys(r, 50, 7)
	for name, s := range builders(t, r, times, keys) {
		var q, v, a [7]float64
		at := s.Start()
		c := s.Cursor()
		n := testing.AllocsPerRun(100, func() {
			at += 0.01
			c.StateTo(q[:], v[:], a[:], at)
			s.StateTo(q[:], v[:], a[:], at)
			s.PositionTo(q[:], at)
			s.JerkTo(a[:], at)
			s.Range(3, spline.Position, s.Start(), s.End())
			s.Peak(3, spline.Acceleration, s.Start(), s.End())
			s.Within(2, 3, spline.Velocity, -1, 1)
		})
		if n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}

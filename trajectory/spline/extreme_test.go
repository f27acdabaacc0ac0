package spline_test

import (
	"math"
	"testing"

	"poise/trajectory/spline"
)

// Exact extremes bound every sample and are met by the curve itself, on any
// interval.
func TestExtremesBoundDenseSamplesAndAreAttained(t *testing.T) {
	r := rng(20)
	n, dense := 300, 400
	if testing.Short() {
		n, dense = 30, 100
	}
	checks := 0
	for range n {
		times, keys := randomKeys(r, 2+r.IntN(5), 1)
		for name, s := range builders(t, r, times, keys) {
			from := s.Start() + r.Float64()*s.Duration()
			to := from + r.Float64()*(s.End()-from)
			if r.IntN(3) == 0 {
				from, to = s.Start()-1, s.End()+1
			}
			for d := spline.Position; d <= spline.Jerk; d++ {
				low, high := s.Range(0, d, from, to)
				scale := math.Max(math.Abs(low.Value), math.Abs(high.Value))
				round := 1e-12 * (scale + 1)
				lo, hi := math.Max(from, s.Start()), math.Min(to, s.End())
				for i := range dense + 1 {
					at := math.Min(hi, lo+(hi-lo)*float64(i)/float64(dense))
					if x := value(s, d, at); x < low.Value-round || x > high.Value+round {
						t.Fatalf("seed %d: %s derivative %d is %g at %g, outside [%g, %g]", seed, name, d, x, at, low.Value, high.Value)
					}
					checks++
				}
				for _, e := range []spline.Extreme{low, high} {
					if e.Time < lo || e.Time > hi {
						t.Fatalf("seed %d: extreme at %g, outside [%g, %g]", seed, e.Time, lo, hi)
					}
					if !attained(s, d, e, 1e-9*(scale+1)) {
						t.Fatalf("seed %d: %s derivative %d never is %g at %g", seed, name, d, e.Value, e.Time)
					}
				}
				peak := s.Peak(0, d, from, to)
				if math.Abs(peak.Value) != math.Max(-low.Value, high.Value) {
					t.Fatalf("peak %g of [%g, %g]", peak.Value, low.Value, high.Value)
				}
			}
		}
	}
	t.Logf("%d samples within the exact extremes", checks)
}

func value(s *spline.Spline, d spline.Derivative, at float64) float64 {
	var q, v, a, j [1]float64
	s.StateTo(q[:], v[:], a[:], at)
	s.JerkTo(j[:], at)
	return [...]float64{q[0], v[0], a[0], j[0]}[d]
}

// attained reports whether the polynomial of a segment around the time has the value.
func attained(s *spline.Spline, d spline.Derivative, e spline.Extreme, tol float64) bool {
	k := s.Segment(e.Time)
	for _, i := range []int{k - 1, k} {
		if i < 0 {
			continue
		}
		x := e.Time - s.Knots()[i]
		c := append([]float64(nil), s.Coefficients(i, 0)...)
		for range d {
			for p := 1; p < len(c); p++ {
				c[p-1] = float64(p) * c[p]
			}
			c = c[:len(c)-1]
		}
		y := 0.0
		for p := len(c) - 1; p >= 0; p-- {
			y = y*x + c[p]
		}
		if math.Abs(y-e.Value) <= tol {
			return true
		}
	}
	return false
}

func TestExtremesOfKnownCurves(t *testing.T) {
	// 3x²−2x³ on [0,1]: velocity peaks 1.5 in the middle, acceleration ±6 at the ends
	s, _ := spline.Akima([]float64{0, 1}, [][]float64{{0}, {1}}, 0)
	if p := s.Peak(0, spline.Velocity, 0, 1); p.Time != 0.5 || math.Abs(p.Value-1.5) > 1e-15 {
		t.Errorf("velocity peak %v, want 1.5 at 0.5", p)
	}
	low, high := s.Range(0, spline.Acceleration, 0, 1)
	if high != (spline.Extreme{Time: 0, Value: 6}) || low != (spline.Extreme{Time: 1, Value: -6}) {
		t.Errorf("acceleration from %v to %v, want 6 at 0 to -6 at 1", high, low)
	}
	// the quintic rest to rest: peak velocity 15/8, peak acceleration 10/√3 at (3−√3)/6
	zero := [][]float64{{0}, {0}}
	s, _ = spline.Quintic([]float64{0, 1}, [][]float64{{0}, {1}}, zero, zero)
	if p := s.Peak(0, spline.Velocity, 0, 1); math.Abs(p.Value-1.875) > 1e-14 || math.Abs(p.Time-0.5) > 1e-7 {
		t.Errorf("velocity peak %v, want 1.875 at 0.5", p)
	}
	_, high = s.Range(0, spline.Acceleration, 0, 1)
	if math.Abs(high.Value-10/math.Sqrt(3)) > 1e-13 || math.Abs(high.Time-(3-math.Sqrt(3))/6) > 1e-12 {
		t.Errorf("acceleration peak %v, want %g at %g", high, 10/math.Sqrt(3), (3-math.Sqrt(3))/6)
	}
}

func TestWithinAgreesWithRange(t *testing.T) {
	r := rng(21)
	for range 2000 {
		times, keys := randomKeys(r, 3, 1)
		for name, s := range builders(t, r, times, keys) {
			for d := spline.Position; d <= spline.Jerk; d++ {
				i := r.IntN(2)
				low, high := s.Range(0, d, times[i], times[i+1])
				if i == 1 {
					// the knot's other side belongs to the first segment
					low, high = s.Range(0, d, math.Nextafter(times[1], times[2]), times[2])
				} else {
					low, high = s.Range(0, d, times[0], times[1])
				}
				slack := 1e-9 * (1 + high.Value - low.Value)
				if !s.Within(i, 0, d, low.Value-slack, high.Value+slack) {
					t.Fatalf("seed %d: %s derivative %d not within its own range", seed, name, d)
				}
				if high.Value-low.Value > 1e-6 && s.Within(i, 0, d, low.Value-1, high.Value-1e-6*(high.Value-low.Value)-1e-9) {
					t.Fatalf("seed %d: %s derivative %d within less than its range", seed, name, d)
				}
			}
		}
	}
}

// Zeros are where the sign changes, and nowhere else.
func TestZerosSplitTheSegmentBySign(t *testing.T) {
	r := rng(22)
	found := 0
	for range 500 {
		times, keys := randomKeys(r, 3, 1)
		for name, s := range builders(t, r, times, keys) {
			var dst [6]float64
			zeros := s.Zeros(&dst, 0, 0, spline.Velocity)
			found += len(zeros)
			ends := append(append([]float64{times[0]}, zeros...), times[1])
			for i := 1; i < len(ends); i++ {
				low, high := s.Range(0, spline.Velocity, ends[i-1], math.Nextafter(ends[i], 0))
				if low.Value < -1e-9 && high.Value > 1e-9 {
					t.Fatalf("seed %d: %s velocity runs from %g to %g between zeros", seed, name, low.Value, high.Value)
				}
			}
		}
	}
	t.Logf("%d zeros", found)
}

// Any finite keys give a finite curve or a typed error.
func FuzzFiniteKeysNeverGiveNaN(f *testing.F) {
	f.Add(0.0, 1.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.3)
	f.Add(0.0, 1e-9, 1e9, 1e300, -1e300, 5e-324, 1e-3, 0.9)
	f.Add(-1e308, 0.0, 1e308, 0.0, 1.0, 2.0, 0.0, 0.5)
	f.Add(0.0, 5e-324, 1e-323, 0.0, 0.0, 0.0, 0.0, 0.5)
	f.Fuzz(func(t *testing.T, t0, t1, t2, a, b, c, hold, x float64) {
		times, keys := []float64{t0, t1, t2}, [][]float64{{a}, {b}, {c}}
		rates := [][]float64{{b}, {c}, {a}}
		for _, build := range []func() (*spline.Spline, error){
			func() (*spline.Spline, error) { return spline.Akima(times, keys, hold) },
			func() (*spline.Spline, error) { return spline.Natural(times, keys) },
			func() (*spline.Spline, error) { return spline.Clamped(times, keys, rates[0], nil) },
			func() (*spline.Spline, error) { return spline.Hermite(times, keys, rates) },
			func() (*spline.Spline, error) { return spline.Quintic(times, keys, rates, keys) },
		} {
			s, err := build()
			if err != nil {
				continue
			}
			for _, at := range []float64{x, t0, t1, t2, t0 + (t2-t0)*x} {
				if math.IsNaN(at) {
					continue
				}
				for d := spline.Position; d <= spline.Jerk; d++ {
					if y := value(s, d, at); math.IsNaN(y) || math.IsInf(y, 0) {
						t.Fatalf("derivative %d at %g is %g", d, at, y)
					}
				}
			}
			for d := spline.Position; d <= spline.Jerk; d++ {
				low, high := s.Range(0, d, t0, t2)
				if math.IsNaN(low.Value) || math.IsNaN(high.Value) || math.IsInf(low.Value, 0) || math.IsInf(high.Value, 0) {
					t.Fatalf("range of derivative %d is [%g, %g]", d, low.Value, high.Value)
				}
			}
		}
	})
}

package move

import (
	"errors"
	"math"
	"testing"
)

// FuzzReach: any numbers give a refusal that says why, or a motion that is finite
// at every instant and ends in its target.
func FuzzReach(f *testing.F) {
	f.Add(-1.0, 1.0, -1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.5, uint8(0))
	f.Add(-2.0, 3.0, -0.5, 4.0, 2.0, 1.0, 5.0, -7.0, -3.0, 1.0, 0.5, 0.0, uint8(1))
	f.Add(math.Inf(-1), math.Inf(1), -1.0, 1.0, math.Inf(1), 0.0, 3.0, 0.0, 1e9, 0.0, 0.0, 1e3, uint8(2))
	f.Add(-1e-15, 1e15, -1e15, 1e-15, 1e15, 1e15, -1e15, 1e15, -1e15, 0.0, 0.0, 1e15, uint8(3))
	f.Add(-1e-15, 1e-15, -1e-15, 1e-15, 1e-15, 1e15, -1e15, 1e15, -1e15, 0.0, 0.0, 0.0, uint8(0))
	f.Add(math.Inf(-1), math.Inf(1), math.Inf(-1), math.Inf(1), 1e-15, 0.0, 1e15, 1e15, 0.0, 1e-15, 1e-15, 0.0, uint8(7))
	f.Add(math.Inf(-1), math.Inf(1), -1e-15, 1e-15, 1e-15, 0.0, 1e15, 1e15, 0.0, 0.0, 0.0, 0.0, uint8(4))
	f.Add(-1e-15, 1e15, -1e15, 1e-15, 5e14, 1e15, -1e15, 1e15, -1e15, 19.0, 0.0, 1e15, uint8(71))
	f.Add(-1.0, 1.0, -1.0, 1.0, 1.0, 0.0, math.NaN(), 0.0, 1.0, 0.0, 0.0, 0.0, uint8(9))
	f.Fuzz(func(t *testing.T, velMin, velMax, accMin, accMax, jerk, p0, v0, a0, p1, v1, a1, least float64, mode uint8) {
		limits := []Limits{{velMin, velMax, accMin, accMax, jerk}, Symmetric(1, 2, 3)}
		m, err := New(limits)
		if err != nil {
			refused(t, err)
			return
		}
		from := []State{{p0, v0, a0}, {0, 0.5, 0}}
		to := []State{{p1, v1, a1}, {1, 0, 0}}
		o := Options{Sync: Sync(mode % 5), MinDuration: least, Period: float64(mode/5) / 100}
		if mode >= 250 {
			err = m.ReachVelocity(from, []float64{v1, a1}, o)
		} else {
			err = m.Reach(from, to, o)
		}
		if err != nil {
			refused(t, err)
			return
		}
		states := make([]State, 2)
		T := m.Duration()
		for i := -1; i <= 65; i++ {
			m.StatesTo(states, T*float64(i)/64)
			for k, s := range states {
				if bad(s.P) || bad(s.V) || bad(s.A) {
					t.Fatalf("axis %d is at %+v at %g of %g s", k, s, T*float64(i)/64, T)
				}
			}
		}
		for k := range states {
			e := m.Axis(k).Extremes()
			if bad(e.P.Min) || bad(e.P.Max) || bad(e.V.Min) || bad(e.V.Max) || bad(e.A.Min) || bad(e.A.Max) {
				t.Fatalf("axis %d has extremes %+v", k, e)
			}
			if got, want := m.Axis(k).At(m.Axis(k).Duration()), m.Axis(k).Target(); got != want {
				t.Fatalf("axis %d ends in %+v, not %+v", k, got, want)
			}
		}
	})
}

func bad(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

func refused(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, ErrInput) || err.Error() == "" {
		t.Fatalf("refused with %v", err)
	}
}

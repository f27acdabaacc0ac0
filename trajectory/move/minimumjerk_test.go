package move

import (
	"testing"

	"poise/internal/approx"
)

// TestMinimumJerk: it is at rest at its ends, exactly there, and beyond them; velocity and acceleration are its derivatives.
func TestMinimumJerk(t *testing.T) {
	const T, h = 0.7, 1e-4
	for _, c := range []struct{ t, at float64 }{{-1, 0}, {0, 0}, {T, 1}, {2 * T, 1}} {
		if s := MinimumJerk(c.t, T); s != (State{P: c.at}) {
			t.Errorf("%g s: %+v", c.t, s)
		}
	}
	for x := h; x < T-h; x += 0.01 {
		before, s, after := MinimumJerk(x-h, T), MinimumJerk(x, T), MinimumJerk(x+h, T)
		approx.Scalar(t, "velocity", s.V, (after.P-before.P)/(2*h), approx.Tol{Abs: 1e-5})
		approx.Scalar(t, "acceleration", s.A, (after.V-before.V)/(2*h), approx.Tol{Abs: 1e-5})
		approx.Scalar(t, "the way back", 1-s.P, MinimumJerk(T-x, T).P, approx.Tol{Abs: 1e-14})
	}
}

// Package approx compares numbers in tests: one helper, named tolerances, and a
// message that shows the worst element.
package approx

import (
	"math"
	"testing"
)

// Tol says how far a value may be from the wanted one:
// |got − want| ≤ Abs + Rel·scale, where scale is the largest |want| of the
// vector compared, and at least one.
type Tol struct{ Abs, Rel float64 }

// Equal fails the test if any element of got is further from want than tol.
func Equal(t testing.TB, what string, got, want []float64, tol Tol) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got), len(want))
	}
	scale := 1.0
	for _, w := range want {
		scale = math.Max(scale, math.Abs(w))
	}
	bound := tol.Abs + tol.Rel*scale
	worst, at := -1.0, 0
	for i := range got {
		d := math.Abs(got[i] - want[i])
		if math.IsNaN(d) {
			d = math.Inf(1)
		}
		if d > worst {
			worst, at = d, i
		}
	}
	if worst > bound {
		t.Errorf("%s[%d] = %.17g, want %.17g (off by %.3g, allowed %.3g)", what, at, got[at], want[at], worst, bound)
	}
}

// Scalar is Equal for one number.
func Scalar(t testing.TB, what string, got, want float64, tol Tol) {
	t.Helper()
	Equal(t, what, []float64{got}, []float64{want}, tol)
}

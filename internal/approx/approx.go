// Package approx compares numbers in tests: one helper, named tolerances, and a
// message that shows the worst element.
package approx

import (
	"math"
	"regexp"
	"strconv"
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

// decimal matches a number with a point or an exponent; whole numbers are text.
var decimal = regexp.MustCompile(`[-+]?\d+(\.\d+)?e[-+]?\d+|[-+]?\d+\.\d+`)

// SameText reports whether two texts are the same but for the last digit of the
// decimal numbers in them: elementary functions of two libraries differ by a unit in
// the last place, and near zero by what that is of the terms that cancel.
func SameText(got, want string) bool {
	const units, cancelled = 0x1p-51, 1e-16
	a, b := decimal.FindAllString(got, -1), decimal.FindAllString(want, -1)
	if decimal.ReplaceAllString(got, "#") != decimal.ReplaceAllString(want, "#") {
		return false
	}
	for i := range a {
		x, errX := strconv.ParseFloat(a[i], 64)
		y, errY := strconv.ParseFloat(b[i], 64)
		if a[i] != b[i] && (errX != nil || errY != nil || !(math.Abs(x-y) <= cancelled+units*math.Abs(y))) {
			return false
		}
	}
	return true
}

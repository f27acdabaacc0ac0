package motion_test

import (
	"slices"
	"testing"

	"poise/control"
	"poise/control/follow"
	"poise/motion"
)

// TestCurveIsWhatFollowPlays compiles the same goal for the controller and compares
// the two curves at many times.
func TestCurveIsWhatFollowPlays(t *testing.T) {
	l, m := waver(t)
	g, err := l.Goal(motion.Part{})
	if err != nil {
		t.Fatal(err)
	}
	curve, err := g.Curve(m)
	if err != nil {
		t.Fatal(err)
	}
	program, err := follow.Compile(m, follow.Options{Transition: control.Transition{Acceleration: 8}}, nil, g.Follow())
	if err != nil {
		t.Fatal(err)
	}
	_, names := program.Columns()
	n := len(names)
	q, v, a := make([]float64, n), make([]float64, n), make([]float64, n)
	x, y, z := make([]float64, n), make([]float64, n), make([]float64, n)
	for k := range 301 {
		at := 0.01 * float64(k)
		program.StateTo(q, v, a, at)
		curve.StateTo(x, y, z, at)
		for i, name := range names {
			j := slices.Index(g.Joints, name)
			if q[i] != x[j] || v[i] != y[j] {
				t.Fatalf("%s at %v: follow plays %v %v, the curve is %v %v", name, at, q[i], v[i], x[j], y[j])
			}
		}
	}
}

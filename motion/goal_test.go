package motion_test

import (
	"errors"
	"math"
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

// TestRepeatedRowsAreHolds proves the shape that animators rely on: at rest at both
// ends and in a hold, never beyond the keys.
func TestRepeatedRowsAreHolds(t *testing.T) {
	row := func(time, q float64) motion.Point {
		return motion.Point{Time: time, Enabled: true, Positions: []float64{q}}
	}
	d := &motion.Document{Joints: []motion.Joint{{Name: "a", Enabled: true}}, Columns: []string{"a"},
		Points: []motion.Point{row(0, 0), row(1, 1), row(2, 1.0004), row(3, -1)}}
	g, err := d.Goal(motion.Part{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := g.Sample(nil, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	c := s.Curves[0]
	for i, at := range s.Times {
		rest := at == 0 || at == 3 || math.Abs(at-1) < 1e-9 || math.Abs(at-2) < 1e-9
		if rest && math.Abs(c.Velocity[i]) > 1e-9 {
			t.Errorf("%v at %v s, must rest", c.Velocity[i], at)
		}
		if at > 1 && at < 2 && (c.Position[i] < 1-1e-12 || c.Position[i] > 1.0004+1e-12) {
			t.Errorf("creeps to %v in a hold", c.Position[i])
		}
		if c.Position[i] < -1-1e-12 || c.Position[i] > 1.0004+1e-12 {
			t.Errorf("overshoots to %v", c.Position[i])
		}
	}
	if _, err := g.Sample(nil, 1e-9); !errors.Is(err, motion.ErrOperation) {
		t.Error(err)
	}
}

func TestGoalNamesWhatWasNotCaptured(t *testing.T) {
	d := &motion.Document{Joints: []motion.Joint{{Name: "a", Enabled: true}, {Name: "b", Enabled: true}, {Name: "c"}}, Columns: []string{"a"},
		Points: []motion.Point{{Enabled: true, Positions: []float64{math.NaN()}}, {Time: 1, Positions: []float64{math.NaN()}}}}
	_, err := d.Goal(motion.Part{})
	if err == nil || err.Error() != "row 1: did not capture joint \"a\"\nrow 1: did not capture joint \"b\"" || !errors.Is(err, motion.ErrMissing) {
		t.Error(err)
	}
}

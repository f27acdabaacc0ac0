package trajectory_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/trajectory"
)

// Any finite table is refused by name or gives numbers, whatever is done to it.
func FuzzEditingNeverGivesNaN(f *testing.F) {
	f.Add(uint64(1), uint8(2), 1.0, 0.5, 0.1, 1e-3)
	f.Add(uint64(2), uint8(0), 1e6, 3.0, 0.7, 1e-9)
	f.Add(uint64(3), uint8(1), 1e-300, 1e-3, 0.999, 1.0)
	f.Fuzz(func(t *testing.T, from uint64, carries uint8, size, speed, share, deviation float64) {
		if !(math.Abs(size) < 1e100) || !(speed > 1e-6 && speed < 1e6) || !(share > 0 && share < 1) || !(deviation > 1e-7) {
			return
		}
		r := rand.New(rand.NewPCG(from, 3))
		tr := random(r, 1+r.IntN(5), 1+r.IntN(3), int(carries%3))
		for i := range tr.Points {
			for j := range tr.Points[i].Position {
				tr.Points[i].Position[j] *= size
			}
		}
		if err := tr.Check(); err != nil {
			t.Fatal(err)
		}
		for _, e := range []*trajectory.Trajectory{tr.Scaled(speed), tr.Reversed()} {
			if err := e.Check(); err != nil {
				t.Fatal(err)
			}
		}
		if len(tr.Points) < 2 {
			if _, err := tr.Interpolant(); err == nil {
				t.Fatal("one point has a curve")
			}
			return
		}
		part, err := tr.Cut(tr.Start(), tr.Start()+share*tr.Duration())
		if err != nil {
			return
		}
		if err := part.Check(); err != nil {
			t.Fatal(err)
		}
		s, err := tr.Interpolant()
		if err != nil {
			return
		}
		l := trajectory.Limits{Velocity: make([]float64, tr.Width()), Acceleration: make([]float64, tr.Width())}
		for j := range l.Velocity {
			l.Velocity[j], l.Acceleration[j] = speed, speed
		}
		for _, v := range l.Violations(s, 1e-9) {
			if math.IsNaN(v.Ratio()) || v.Ratio() <= 1 {
				t.Fatal(v)
			}
		}
		if velocity, acceleration := l.Use(s); math.IsNaN(velocity) || math.IsNaN(acceleration) {
			t.Fatal(velocity, acceleration)
		}
	})
}

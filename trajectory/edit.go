package trajectory

import (
	"fmt"
	"math"
	"slices"
)

// Scaled returns t played at a share of its speed, from the same start: at 0.5
// it takes twice as long. It panics unless speed is positive and finite.
func (t *Trajectory) Scaled(speed float64) *Trajectory {
	if !(speed > 0) || math.IsInf(speed, 1) {
		panic(fmt.Sprintf("trajectory: speed %g, want a positive number", speed))
	}
	start := t.Start()
	return t.mapped(func(p *Point) {
		p.Time = start + (p.Time-start)/speed
		scale(p.Velocity, speed)
		scale(p.Acceleration, speed*speed)
	})
}

// Reversed returns t run backwards within the same span of time. Velocities
// change sign, accelerations do not.
func (t *Trajectory) Reversed() *Trajectory {
	start, end := t.Start(), t.End()
	r := t.mapped(func(p *Point) {
		p.Time = start + (end - p.Time)
		scale(p.Velocity, -1)
	})
	slices.Reverse(r.Points)
	return r
}

// Cut returns the part of t between two times, ends included, at unchanged
// times. The ends are taken from the interpolant; a trajectory of positions only
// gains velocities, so that the part runs as it ran in the whole.
func (t *Trajectory) Cut(from, to float64) (*Trajectory, error) {
	if !(from >= t.Start() && to <= t.End() && from < to) {
		return nil, &SpanError{From: from, To: to, Start: t.Start(), End: t.End()}
	}
	curve, err := t.Interpolant()
	if err != nil {
		return nil, err
	}
	_, hasA := t.has()
	c := &Trajectory{Joints: slices.Clone(t.Joints)}
	n := t.Width()
	add := func(at float64) {
		p := Point{Time: at, Position: make([]float64, n), Velocity: make([]float64, n)}
		a := make([]float64, n)
		curve.StateTo(p.Position, p.Velocity, a, at)
		if hasA {
			p.Acceleration = a
		}
		c.Points = append(c.Points, p)
	}
	add(from)
	for i, p := range t.Points {
		if p.Time <= from || p.Time >= to {
			continue
		}
		if p.Velocity == nil {
			add(p.Time)
			copy(c.Points[len(c.Points)-1].Position, t.Points[i].Position)
			continue
		}
		p.Position, p.Velocity, p.Acceleration = copied(p.Position), copied(p.Velocity), copied(p.Acceleration)
		c.Points = append(c.Points, p)
	}
	add(to)
	return c, nil
}

// SpanError says that a cut does not lie inside the trajectory.
type SpanError struct{ From, To, Start, End float64 }

func (e *SpanError) Error() string {
	return fmt.Sprintf("trajectory: cannot cut %g to %g s out of %g to %g s", e.From, e.To, e.Start, e.End)
}

// Nearest returns the angle plus whole turns that is closest to another angle.
// Loop-safe.
func Nearest(angle, to float64) float64 {
	return angle + 2*math.Pi*math.Round((to-angle)/(2*math.Pi))
}

// Turned returns t with each continuous joint shifted by the whole turns that
// bring its first point closest to a pose: it starts the short way and keeps all
// turns that the motion itself makes.
func (t *Trajectory) Turned(pose []float64, continuous []bool) *Trajectory {
	first := t.Points[0].Position
	return t.mapped(func(p *Point) {
		for j := range p.Position {
			if continuous[j] {
				p.Position[j] += Nearest(first[j], pose[j]) - first[j]
			}
		}
	})
}

func scale(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}

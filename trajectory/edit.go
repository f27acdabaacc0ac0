package trajectory

import (
	"fmt"
	"math"
	"slices"

	"poise/trajectory/spline"
)

// Shifted returns t later by some time.
func (t *Trajectory) Shifted(by float64) *Trajectory {
	return t.mapped(func(p *Point) { p.Time += by })
}

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

// Join returns the parts one after the other on the clock of the first: each
// next part is shifted to begin when the one before ends, and its first point,
// which is the same state, is left out. A seam that gapes by more than the
// tolerance is refused, naming part, joint, quantity and gap; so are parts that
// do not carry the same quantities.
func Join(seam Tolerance, parts ...*Trajectory) (*Trajectory, error) {
	if len(parts) == 0 {
		return &Trajectory{}, nil
	}
	for i, p := range parts {
		if err := p.Check(); err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
	}
	whole := parts[0].Clone()
	for i, part := range parts[1:] {
		if err := seam.check(i+1, whole, part); err != nil {
			return nil, err
		}
		next := part.Shifted(whole.End() - part.Start())
		whole.Points = append(whole.Points, next.Points[1:]...)
	}
	return whole, nil
}

// GapError says how far apart two parts are where they should meet.
type GapError struct {
	Part     int // the later part
	Joint    int // −1: the parts have different joints or quantities
	Quantity spline.Derivative
	Gap, Max float64
}

func (e *GapError) Error() string {
	if e.Joint < 0 {
		return fmt.Sprintf("trajectory: part %d does not have the joints and quantities of the part before", e.Part)
	}
	return fmt.Sprintf("trajectory: part %d begins with %v of joint %d off by %g, allowed %g", e.Part, e.Quantity, e.Joint, e.Gap, e.Max)
}

func (tol Tolerance) check(part int, before, after *Trajectory) error {
	v0, a0 := before.has()
	v1, a1 := after.has()
	if before.Width() != after.Width() || v0 != v1 || a0 != a1 || !slices.Equal(before.Joints, after.Joints) {
		return &GapError{Part: part, Joint: -1}
	}
	all := slices.Repeat([]Tolerance{tol}, before.Width())
	if x, over := Exceeds(all, &before.Points[len(before.Points)-1], &after.Points[0]); over {
		return &GapError{Part: part, Joint: x.Joint, Quantity: x.Quantity, Gap: x.Value, Max: x.Max}
	}
	return nil
}

// Nearest returns the angle plus whole turns that is closest to another angle.
// Loop-safe.
func Nearest(angle, to float64) float64 {
	return angle + 2*math.Pi*math.Round((to-angle)/(2*math.Pi))
}

// Unwrapped returns t with the jumps of continuous joints taken out: from each
// point to the next such a joint goes the short way, by less than half a turn.
func (t *Trajectory) Unwrapped(continuous []bool) *Trajectory {
	var last []float64
	return t.mapped(func(p *Point) {
		for j := range p.Position {
			if last != nil && continuous[j] {
				p.Position[j] = Nearest(p.Position[j], last[j])
			}
		}
		last = p.Position
	})
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

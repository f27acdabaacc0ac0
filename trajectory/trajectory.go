package trajectory

import (
	"fmt"

	"poise/trajectory/spline"
)

// Point is the state of all joints at a time. Velocities and accelerations may
// be nil: not known.
type Point struct {
	Time                             float64
	Position, Velocity, Acceleration []float64
}

// Trajectory is a motion as a table of points with rising times.
type Trajectory struct {
	Joints []string // names of the columns; nil if not needed
	Points []Point
}

// Motion is anything that has a state at every time between its start and end.
// Times outside mean rest at the nearer end.
type Motion interface {
	Joints() int
	Start() float64
	End() float64
	StateTo(q, v, a []float64, t float64)
}

// New returns a trajectory of some points of n joints each, all zero, with room
// for velocities and accelerations in one block of memory.
func New(points, n int) *Trajectory {
	t := &Trajectory{Points: make([]Point, points)}
	block := make([]float64, 3*points*n)
	take := func() []float64 {
		x := block[:n:n]
		block = block[n:]
		return x
	}
	for i := range t.Points {
		t.Points[i] = Point{Position: take(), Velocity: take(), Acceleration: take()}
	}
	return t
}

// Width returns how many joints move; zero if there are no points.
func (t *Trajectory) Width() int {
	if len(t.Points) == 0 {
		return 0
	}
	return len(t.Points[0].Position)
}

// Start returns the time of the first point, zero if there is none.
func (t *Trajectory) Start() float64 {
	if len(t.Points) == 0 {
		return 0
	}
	return t.Points[0].Time
}

// End returns the time of the last point, zero if there is none.
func (t *Trajectory) End() float64 {
	if len(t.Points) == 0 {
		return 0
	}
	return t.Points[len(t.Points)-1].Time
}

// Duration returns the time from the first point to the last.
func (t *Trajectory) Duration() float64 { return t.End() - t.Start() }

// has reports whether any point carries velocities or accelerations: then all
// must.
func (t *Trajectory) has() (velocity, acceleration bool) {
	for i := range t.Points {
		velocity = velocity || t.Points[i].Velocity != nil
		acceleration = acceleration || t.Points[i].Acceleration != nil
	}
	return velocity, acceleration
}

// columns returns the table as the spline package takes it; nil where a quantity
// is absent.
func (t *Trajectory) columns() (times []float64, q, v, a [][]float64) {
	n := len(t.Points)
	hasV, hasA := t.has()
	times, q = make([]float64, n), make([][]float64, n)
	if hasV || hasA {
		v = make([][]float64, n)
	}
	if hasA {
		a = make([][]float64, n)
	}
	for i, p := range t.Points {
		times[i], q[i] = p.Time, p.Position
		if v != nil {
			v[i] = p.Velocity
		}
		if a != nil {
			a[i] = p.Acceleration
		}
	}
	return times, q, v, a
}

// Check reports everything wrong with the table, in *spline.KeyError: no points,
// times that do not increase, sizes that differ, quantities that only some
// points have, values that are not finite.
func (t *Trajectory) Check() error {
	times, q, v, a := t.columns()
	n, err := spline.Check(times, 1, q, v, a)
	if err == nil && t.Joints != nil && len(t.Joints) != n {
		err = &spline.KeyError{Kind: spline.ErrSize, Quantity: "joint names", Key: -1, Joint: -1, Value: float64(len(t.Joints)), Bound: float64(n)}
	}
	if err != nil {
		return fmt.Errorf("trajectory: %w", err)
	}
	return nil
}

// Interpolant returns the curve that the trajectory means between its points;
// see the package comment. It needs at least two points.
func (t *Trajectory) Interpolant() (*spline.Spline, error) {
	var s *spline.Spline
	var err error
	switch times, q, v, a := t.columns(); {
	case a != nil:
		s, err = spline.Quintic(times, q, v, a)
	case v != nil:
		s, err = spline.Hermite(times, q, v)
	default:
		s, err = spline.Akima(times, q, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("trajectory: %w", err)
	}
	return s, nil
}

// Clone returns a copy that shares nothing with t.
func (t *Trajectory) Clone() *Trajectory {
	return t.mapped(func(p *Point) {})
}

// mapped returns a deep copy with f applied to each point.
func (t *Trajectory) mapped(f func(p *Point)) *Trajectory {
	c := &Trajectory{Points: make([]Point, len(t.Points))}
	if t.Joints != nil {
		c.Joints = append([]string{}, t.Joints...)
	}
	for i, p := range t.Points {
		p.Position = copied(p.Position)
		p.Velocity = copied(p.Velocity)
		p.Acceleration = copied(p.Acceleration)
		f(&p)
		c.Points[i] = p
	}
	return c
}

func copied(x []float64) []float64 {
	if x == nil {
		return nil
	}
	return append(make([]float64, 0, len(x)), x...)
}

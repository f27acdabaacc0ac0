package follow

import (
	"math"

	"poise/trajectory"
	"poise/trajectory/spline"
)

// What counts as a hold between two points of positions alone: the joint rests at
// both. Hand-taught poses that should be equal differ by this much; a slow move
// that is sampled densely does too, and is none.
const (
	holdWay   = 0.0005 // rad or m
	holdSpeed = 0.005  // per s, of the mean between the two points that are nearest in time
)

// Curve returns the curve that a goal's points mean, of which there must be at
// least two: positions alone give the local cubic that rests at both ends and on
// holds, velocities a cubic, accelerations a quintic.
func Curve(points []trajectory.Point) (*spline.Spline, error) {
	p := partOf(points)
	return p.curve()
}

// part is a stretch of motion: key points, as the constructors of splines take
// them.
type part struct {
	Times []float64   `json:"times"`
	Q     [][]float64 `json:"q"`
	V     [][]float64 `json:"v,omitempty"`
	A     [][]float64 `json:"a,omitempty"`
}

// partOf returns points as a part; it shares their numbers.
func partOf(points []trajectory.Point) (p part) {
	for _, x := range points {
		p.Times, p.Q = append(p.Times, x.Time), append(p.Q, x.Position)
		if len(x.Velocity) > 0 {
			p.V = append(p.V, x.Velocity)
		}
		if len(x.Acceleration) > 0 {
			p.A = append(p.A, x.Acceleration)
		}
	}
	return p
}

// resting returns a move from a pose to another, at rest at both.
func resting(from, to []float64, start, end float64) part {
	zero := [][]float64{make([]float64, len(from)), make([]float64, len(from))}
	return part{Times: []float64{start, end}, Q: [][]float64{from, to}, V: zero, A: zero}
}

// shifted returns the part later by some time.
func (p part) shifted(by float64) part {
	times := make([]float64, len(p.Times))
	for i, t := range p.Times {
		times[i] = t + by
	}
	p.Times = times
	return p
}

func (p *part) end() float64 { return p.Times[len(p.Times)-1] }

func (p *part) curve() (*spline.Spline, error) {
	switch {
	case p.A != nil:
		return spline.Quintic(p.Times, p.Q, p.V, p.A)
	case p.V != nil:
		return spline.Hermite(p.Times, p.Q, p.V)
	}
	step := math.Inf(1)
	for i := 1; i < len(p.Times); i++ {
		step = min(step, p.Times[i]-p.Times[i-1])
	}
	if !(step > 0) {
		step = 0 // Akima says what is wrong
	}
	return spline.Akima(p.Times, p.Q, min(holdWay, holdSpeed*step))
}

// joined returns the parts as one curve; each begins when the one before ends.
func joined(parts []part) (*spline.Spline, error) {
	curves := make([]*spline.Spline, len(parts))
	order := 0
	for i := range parts {
		c, err := parts[i].curve()
		if err != nil || len(parts) == 1 {
			return c, err
		}
		curves[i], order = c, max(order, len(c.Coefficients(0, 0)))
	}
	var knots, coefficients []float64
	joints := curves[0].Joints()
	for i, c := range curves {
		own := c.Knots()
		if i > 0 {
			own = own[1:] // the end of the part before
		}
		knots = append(knots, own...)
		if c.Joints() != joints {
			return nil, errWidth
		}
		for s := range c.Segments() {
			for j := range joints {
				x := c.Coefficients(s, j)
				coefficients = append(append(coefficients, x...), make([]float64, order-len(x))...)
			}
		}
	}
	return spline.Piecewise(knots, joints, coefficients)
}

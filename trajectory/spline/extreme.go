package spline

import "math"

// Derivative says which quantity of a curve is meant.
type Derivative int

// The quantities of a curve.
const (
	Position Derivative = iota
	Velocity
	Acceleration
	Jerk
)

// Extreme is the largest or smallest value of a quantity and when it occurs.
type Extreme struct{ Time, Value float64 }

// Range returns the smallest and the largest value of a quantity of a joint
// between two times; what lies outside the curve is left out. At a knot where
// the quantity jumps, both values count. The extremes are exact: ends, knots,
// and roots of the next derivative. Loop-safe.
func (s *Spline) Range(joint int, d Derivative, from, to float64) (low, high Extreme) {
	from, to = math.Max(from, s.Start()), math.Min(to, s.End())
	from = math.Min(from, s.End())
	to = math.Max(to, from)
	low.Value, high.Value = math.Inf(1), math.Inf(-1)
	for i := s.Segment(from); i < s.Segments(); i++ {
		h := s.knots[i+1] - s.knots[i]
		lo := math.Max(0, from-s.knots[i]) / h
		hi := math.Min(h, to-s.knots[i]) / h
		p := s.unit(i, joint, d, h)
		p.extremes(lo, hi, func(x, y float64) {
			t := math.Max(from, math.Min(s.knots[i]+x*h, math.Min(s.knots[i+1], to)))
			if y < low.Value {
				low = Extreme{t, y}
			}
			if y > high.Value {
				high = Extreme{t, y}
			}
		})
		if to <= s.knots[i+1] {
			break
		}
	}
	return low, high
}

// Peak returns the value of largest magnitude of a quantity of a joint between
// two times. Loop-safe.
func (s *Spline) Peak(joint int, d Derivative, from, to float64) Extreme {
	low, high := s.Range(joint, d, from, to)
	if -low.Value > high.Value {
		return low
	}
	return high
}

// Within reports whether a quantity of a joint stays in [low, high] on a whole
// segment. It asks the control points of the Bernstein form first, between which
// the polynomial lies, and the exact extremes only if those do not decide.
// Loop-safe.
func (s *Spline) Within(segment, joint int, d Derivative, low, high float64) bool {
	h := s.knots[segment+1] - s.knots[segment]
	p := s.unit(segment, joint, d, h)
	if lo, hi := p.hull(); lo >= low && hi <= high {
		return true
	}
	ok := true
	p.extremes(0, 1, func(_, y float64) { ok = ok && y >= low && y <= high })
	return ok
}

// unit returns a derivative of a segment as a polynomial of x = τ/h, which runs
// from zero to one.
func (s *Spline) unit(segment, joint int, d Derivative, h float64) (p poly) {
	c := s.Coefficients(segment, joint)
	p.n = len(c) - int(d)
	power := 1.0
	for k := range p.n {
		x := c[k+int(d)]
		for f := range int(d) {
			x *= float64(k + int(d) - f)
		}
		p.c[k] = x * power
		power *= h
	}
	return p
}

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

// String returns the word for the quantity.
func (d Derivative) String() string {
	return [...]string{"position", "velocity", "acceleration", "jerk"}[d]
}

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
		least, most := s.SegmentRange(i, joint, d, from, to)
		if least.Value < low.Value {
			low = least
		}
		if most.Value > high.Value {
			high = most
		}
		if to <= s.knots[i+1] {
			break
		}
	}
	return low, high
}

// SegmentRange is Range for the polynomial of one segment alone: where it meets
// its neighbours their values do not count. Loop-safe.
func (s *Spline) SegmentRange(segment, joint int, d Derivative, from, to float64) (low, high Extreme) {
	start, end := s.knots[segment], s.knots[segment+1]
	h := end - start
	from = math.Max(start, math.Min(from, end))
	to = math.Max(from, math.Min(to, end))
	low.Value, high.Value = math.Inf(1), math.Inf(-1)
	p := s.unit(segment, joint, d, h)
	p.extremes((from-start)/h, (to-start)/h, func(x, y float64) {
		t := math.Max(from, math.Min(start+x*h, to))
		if y < low.Value {
			low = Extreme{t, y}
		}
		if y > high.Value {
			high = Extreme{t, y}
		}
	})
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
// segment. It asks the cheapest bound first, then the control points of the
// Bernstein form, between which the polynomial lies, and the exact extremes only
// if those do not decide. Loop-safe.
func (s *Spline) Within(segment, joint int, d Derivative, low, high float64) bool {
	h := s.knots[segment+1] - s.knots[segment]
	p := s.unit(segment, joint, d, h)
	rest := 0.0
	for _, x := range p.c[1:p.n] {
		rest += math.Abs(x)
	}
	if p.c[0]-rest >= low && p.c[0]+rest <= high {
		return true
	}
	if lo, hi := p.hull(); lo >= low && hi <= high {
		return true
	}
	ok := true
	p.extremes(0, 1, func(_, y float64) { ok = ok && y >= low && y <= high })
	return ok
}

// Zeros stores in dst the times strictly inside a segment at which a quantity of
// a joint changes sign, rising, and returns them: at most four. Loop-safe.
func (s *Spline) Zeros(dst *[6]float64, segment, joint int, d Derivative) []float64 {
	start := s.knots[segment]
	h := s.knots[segment+1] - start
	p := s.unit(segment, joint, d, h)
	zeros := dst[:p.roots(dst, 0, 1)]
	for i := range zeros {
		zeros[i] = start + zeros[i]*h
	}
	return zeros
}

// unit returns a derivative of a segment as a polynomial of x = τ/h, which runs
// from zero to one.
func (s *Spline) unit(segment, joint int, d Derivative, h float64) (p poly) {
	c := s.Coefficients(segment, joint)
	p.n = len(c) - int(d)
	power := 1.0
	for k, x := range c[d:] {
		p.c[k] = x * power * falling[d][k]
		power *= h
	}
	return p
}

// falling holds (k+d)·(k+d−1)⋯(k+1), what d derivations make of a power.
var falling = [4][quintic]float64{
	{1, 1, 1, 1, 1, 1},
	{1, 2, 3, 4, 5},
	{2, 6, 12, 20},
	{6, 24, 60},
}

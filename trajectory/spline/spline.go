package spline

import (
	"fmt"
	"sort"
)

// Coefficients of one joint on one segment.
const (
	cubic   = 4
	quintic = 6
)

// Spline is a piecewise polynomial curve of several joints over time.
type Spline struct {
	joints int
	order  int       // coefficients of a joint on a segment: cubic or quintic
	knots  []float64 // strictly rising times, one more than there are segments
	coef   []float64 // (segment, joint, power), of τ = t − knots[segment]
	end    []float64 // the last key, met bit for bit
}

// Joints returns how many joints the curve moves.
func (s *Spline) Joints() int { return s.joints }

// Start returns the time of the first knot.
func (s *Spline) Start() float64 { return s.knots[0] }

// End returns the time of the last knot.
func (s *Spline) End() float64 { return s.knots[len(s.knots)-1] }

// Duration returns the time from the first knot to the last.
func (s *Spline) Duration() float64 { return s.End() - s.Start() }

// Knots returns the times at which polynomials meet. The slice is shared: read only.
func (s *Spline) Knots() []float64 { return s.knots }

// Segments returns how many polynomials follow each other.
func (s *Spline) Segments() int { return len(s.knots) - 1 }

// Coefficients returns the coefficients of (1), four or six, of a joint on a
// segment. The slice is shared: read only. Loop-safe.
func (s *Spline) Coefficients(segment, joint int) []float64 {
	i := (segment*s.joints + joint) * s.order
	return s.coef[i : i+s.order : i+s.order]
}

// Segment returns the segment that holds at time t: the last one that has begun,
// and the first or last one outside the curve. Loop-safe.
func (s *Spline) Segment(t float64) int {
	i := sort.SearchFloat64s(s.knots, t)
	if i < len(s.knots) && s.knots[i] == t {
		i++
	}
	return max(0, min(i-1, s.Segments()-1))
}

// PositionTo stores the positions at time t in dst. Loop-safe.
func (s *Spline) PositionTo(dst []float64, t float64) {
	c := Cursor{s: s, segment: s.Segment(t)}
	c.PositionTo(dst, t)
}

// StateTo stores positions, velocities and accelerations at time t. Loop-safe.
func (s *Spline) StateTo(q, v, a []float64, t float64) {
	c := Cursor{s: s, segment: s.Segment(t)}
	c.StateTo(q, v, a, t)
}

// JerkTo stores the jerks at time t in dst; at a knot those of the segment that
// begins there. Loop-safe.
func (s *Spline) JerkTo(dst []float64, t float64) {
	c := Cursor{s: s, segment: s.Segment(t)}
	c.JerkTo(dst, t)
}

// SegmentTo stores the state of one segment's polynomial at time t, also at its
// two ends, where the neighbour's may differ, and beyond them. Loop-safe.
func (s *Spline) SegmentTo(q, v, a []float64, segment int, t float64) {
	s.mustState(q, v, a)
	s.evaluate(q, v, a, segment, t-s.knots[segment])
}

// Cursor evaluates a spline at times that mostly run forward: it remembers the
// segment it is in. It holds no memory of its own; each user takes one.
type Cursor struct {
	s       *Spline
	segment int
}

// Cursor returns a cursor at the beginning of the curve.
func (s *Spline) Cursor() Cursor { return Cursor{s: s} }

// seek moves the cursor to the segment that holds at t.
func (c *Cursor) seek(t float64) {
	k, i := c.s.knots, c.segment
	if t < k[i] {
		c.segment = c.s.Segment(t)
		return
	}
	for range 4 {
		if i+2 >= len(k) || t < k[i+1] {
			c.segment = i
			return
		}
		i++
	}
	c.segment = c.s.Segment(t)
}

// Segment returns the segment of the last evaluation. Loop-safe.
func (c *Cursor) Segment() int { return c.segment }

// PositionTo stores the positions at time t in dst. Loop-safe.
func (c *Cursor) PositionTo(dst []float64, t float64) {
	s := c.s
	s.mustLen("dst", dst)
	c.seek(t)
	if t >= s.End() {
		copy(dst, s.end)
		return
	}
	// the same sums as in evaluate, so that both give the same bits
	x := max(0, t-s.knots[c.segment])
	x2 := x * x
	x3 := x2 * x
	co := s.segmentCoefficients(c.segment)
	if s.order == cubic {
		for j := range dst {
			p := (*[cubic]float64)(co)
			dst[j] = p[0] + x*p[1] + (x2*p[2] + x3*p[3])
			co = co[cubic:]
		}
		return
	}
	x4, x5 := x2*x2, x2*x3
	for j := range dst {
		p := (*[quintic]float64)(co)
		dst[j] = p[0] + x*p[1] + (x2*p[2] + x3*p[3]) + (x4*p[4] + x5*p[5])
		co = co[quintic:]
	}
}

// StateTo stores positions, velocities and accelerations at time t; at a knot
// those of the segment that begins there. Loop-safe.
func (c *Cursor) StateTo(q, v, a []float64, t float64) {
	s := c.s
	if len(q) != s.joints || len(v) != s.joints || len(a) != s.joints {
		s.mustState(q, v, a)
	}
	k := s.knots[c.segment : c.segment+2]
	if t >= k[0] && t < k[1] {
		s.evaluate(q, v, a, c.segment, t-k[0])
		return
	}
	c.seek(t)
	if t < s.Start() || t > s.End() {
		c.PositionTo(q, t)
		clear(v)
		clear(a)
		return
	}
	s.evaluate(q, v, a, c.segment, t-s.knots[c.segment])
	if t == s.End() {
		copy(q, s.end)
	}
}

// JerkTo stores the jerks at time t in dst. Loop-safe.
func (c *Cursor) JerkTo(dst []float64, t float64) {
	s := c.s
	s.mustLen("dst", dst)
	c.seek(t)
	if t < s.Start() || t > s.End() {
		clear(dst)
		return
	}
	x := t - s.knots[c.segment]
	co := s.segmentCoefficients(c.segment)
	for j := range dst {
		p := co[s.order*j : s.order*(j+1)]
		dst[j] = 6 * p[3]
		if s.order == quintic {
			dst[j] += x * (24*p[4] + 60*x*p[5])
		}
	}
}

// evaluate computes (1) and its two derivatives for all joints of a segment. The
// powers of x are the same for all joints and taken once.
func (s *Spline) evaluate(q, v, a []float64, segment int, x float64) {
	co := s.segmentCoefficients(segment)
	v, a = v[:len(q)], a[:len(q)]
	x2 := x * x
	x3 := x2 * x
	v1, v2, a1 := 2*x, 3*x2, 6*x
	if s.order == cubic {
		for j := range q {
			p := (*[cubic]float64)(co)
			q[j] = p[0] + x*p[1] + (x2*p[2] + x3*p[3])
			v[j] = p[1] + v1*p[2] + v2*p[3]
			a[j] = 2*p[2] + a1*p[3]
			co = co[cubic:]
		}
		return
	}
	x4, x5 := x2*x2, x2*x3
	v3, v4, a2, a3 := 4*x3, 5*x4, 12*x2, 20*x3
	for j := range q {
		p := (*[quintic]float64)(co)
		q[j] = p[0] + x*p[1] + (x2*p[2] + x3*p[3]) + (x4*p[4] + x5*p[5])
		v[j] = p[1] + v1*p[2] + (v2*p[3] + v3*p[4]) + v4*p[5]
		a[j] = 2*p[2] + a1*p[3] + (a2*p[4] + a3*p[5])
		co = co[quintic:]
	}
}

func (s *Spline) segmentCoefficients(i int) []float64 {
	n := s.joints * s.order
	return s.coef[i*n : (i+1)*n : (i+1)*n]
}

func (s *Spline) mustState(q, v, a []float64) {
	s.mustLen("q", q)
	s.mustLen("v", v)
	s.mustLen("a", a)
}

func (s *Spline) mustLen(name string, x []float64) {
	if len(x) != s.joints {
		panic(fmt.Sprintf("spline: len(%s) = %d, want %d", name, len(x), s.joints))
	}
}

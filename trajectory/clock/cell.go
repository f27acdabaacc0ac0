package clock

import "math"

// bernstein holds the coefficients Aₖ of a joint's q′ on a cell, and its
// degree.
type bernstein struct {
	a     [5]float64
	d     int
	noise float64 // what is smaller is rounding
}

// rates returns q′ of a joint on part of a segment: from τ after its start, for
// h.
func rates(c []float64, tau, h float64) (b bernstein) {
	if len(c) == 4 {
		v0 := c[1] + tau*(2*c[2]+3*tau*c[3])
		v1 := h * (2*c[2] + 6*tau*c[3])
		b.d = 2
		b.a = [5]float64{v0, v0 + v1/2, v0 + v1 + 3*h*h*c[3]}
		return b
	}
	// the terms of Taylor's series at τ
	v0 := c[1] + tau*(2*c[2]+tau*(3*c[3]+tau*(4*c[4]+tau*5*c[5])))
	v1 := h * (2*c[2] + tau*(6*c[3]+tau*(12*c[4]+tau*20*c[5])))
	v2 := h * h * (3*c[3] + tau*(12*c[4]+tau*30*c[5]))
	v3 := h * h * h * (4*c[4] + tau*20*c[5])
	v4 := h * h * h * h * 5 * c[5]
	b.d = 4
	b.a = [5]float64{
		v0,
		v0 + v1/4,
		v0 + v1/2 + v2/6,
		v0 + v1*3/4 + v2/2 + v3/4,
		v0 + v1 + v2 + v3 + v4,
	}
	return b
}

// line returns αₖ and βₖ of (2) on a cell of length h. What is left of α when
// its terms cancel is rounding, and nothing.
func (b *bernstein) line(k int, h float64) (alpha, beta float64) {
	alpha = b.a[k]
	if k > 0 {
		rise := float64(k) * (b.a[k] - b.a[k-1])
		alpha += 2 * rise
		beta = rise
	}
	if k < b.d {
		beta += float64(b.d-k) * (b.a[k+1] - b.a[k])
	}
	if math.Abs(alpha) < b.noise {
		alpha = 0
	}
	return alpha, beta / h
}

// bounds returns the limits of positive and negative acceleration: with and
// against the motion, or the stricter for both where the joint may turn.
func (b *bernstein) bounds(l *limit) (up, down float64) {
	low, high := b.a[0], b.a[0]
	for _, x := range b.a[1 : b.d+1] {
		low, high = min(low, x), max(high, x)
	}
	switch { // a joint that comes to rest does not turn
	case low >= -b.noise && high > 0:
		return l.acc, l.dec
	case high <= b.noise && low < 0:
		return l.dec, l.acc
	}
	strict := min(l.acc, l.dec)
	return strict, strict
}

// on returns the rates of a joint on cell k from a time on, for h.
func (t *Track) on(k, joint int, at, h float64) bernstein {
	segment := int(t.cells[k].segment)
	b := rates(t.motion.Coefficients(segment, joint), at-t.motion.Knots()[segment], h)
	b.noise = t.limits[joint].noise
	return b
}

// fastest returns the largest σ̇² that the velocity limits allow on cell k.
func (t *Track) fastest(k int) float64 {
	most := math.Inf(1)
	for j := range t.limits {
		b := t.on(k, j, t.cells[k].start, t.cells[k+1].start-t.cells[k].start)
		for _, a := range b.a[:b.d+1] {
			r := t.limits[j].vel / a
			most = min(most, r*r)
		}
	}
	return most
}

// line bounds u over x by p − m·x.
type line struct{ p, m float64 }

// span is what the rate's acceleration u may be at a state.
type span struct {
	low, high    float64 // for an u that stays until the cell ends,
	lower, upper line    // the lines that set them
	by           int     // and the joint that sets the upper one, −1 if none does
	most         float64 // what x may be, where u makes no difference

	least, fastest float64 // for one that ends when a given x is met inside the cell
}

// lines returns what u may be at a time inside cell k with x = σ̇², so that all
// limits hold until the cell ends and its end is entered at or below the ceiling.
//
// The lines of (2) hold for an u that stays until the cell ends. One that ends
// when x has become y, on the way, needs other ones: every coefficient of q′ and
// q″ must hold with x and with y, and so with all between.
func (t *Track) lines(k int, at, x, y float64) span {
	h := t.cells[k+1].start - at
	half := 0.5 / h
	s := span{least: math.Inf(-1), fastest: math.Inf(1), by: -1, most: math.Inf(1)}
	s.lower, s.upper = line{0, half}, line{t.ceiling[k+1] * half, half}
	s.low, s.high = -half*x, s.upper.p-half*x
	for j := range t.limits {
		b := t.on(k, j, at, h)
		up, down := b.bounds(&t.limits[j])
		if math.IsInf(up, 1) && math.IsInf(down, 1) {
			continue
		}
		for i := range b.d + 1 {
			alpha, beta := b.line(i, h)
			low, high, vertical := strip(alpha, beta, up, down)
			if vertical {
				s.most = min(s.most, max(up/beta, -down/beta))
			}
			if u := low.p - low.m*x; u > s.low {
				s.low, s.lower = u, low
			}
			if u := high.p - high.m*x; u < s.high {
				s.high, s.upper, s.by = u, high, j
			}
			if math.Abs(b.a[i]) < b.noise { // u makes no difference: x and y are allowed, or not
				if max(beta*x, beta*y) > up || min(beta*x, beta*y) < -down {
					s.least, s.fastest = math.Inf(1), math.Inf(-1)
				}
				continue
			}
			low, high, _ = strip(b.a[i], beta, up, down)
			s.least = max(s.least, low.p-low.m*x, low.p-low.m*y)
			s.fastest = min(s.fastest, high.p-high.m*x, high.p-high.m*y)
		}
	}
	return s
}

// strip returns the lines of −down ≤ α·u + β·x ≤ up; if α is nothing they bound x
// alone, and are vertical.
func strip(alpha, beta, up, down float64) (low, high line, vertical bool) {
	inverse := 1 / alpha
	slope := beta * inverse
	if !(math.Abs(inverse) < steep && math.Abs(slope) < steep) {
		return line{math.Inf(-1), 0}, line{math.Inf(1), 0}, true
	}
	low, high = line{-down * inverse, slope}, line{up * inverse, slope}
	if alpha < 0 {
		low, high = high, low
	}
	return low, high, false
}

// rounding is what a ceiling may be exceeded by when it is met.
const rounding = 1e-12

// steep is where a line counts as vertical.
const steep = 1e100

// span returns what u may be, with the help of what a steady rate may do: any
// constant x up to t.steady is allowed, and with it, limits being convex, all that
// lies between it and another u that is. From such an x a wanted rate may be met
// inside the cell; from a higher one it may be stopped inside it, as long as that
// does not depend on what is wanted later.
func (t *Track) span(k int, at, rate, want float64) span {
	x, y := rate*rate, want*want
	steady := t.steady * (1 + rounding)
	if x > steady {
		s := t.lines(k, at, x, 0)
		s.fastest = min(s.fastest, 0, (t.ceiling[k+1]-x)*0.5/(t.cells[k+1].start-at))
		if s.least > s.fastest {
			s.least, s.fastest = math.Inf(1), math.Inf(-1) // there is no such u
		}
		return s
	}
	if y > steady {
		y = x
	}
	s := t.lines(k, at, x, y)
	if s.least > s.fastest {
		s.least, s.fastest = 0, 0
	}
	if s.low > s.high {
		s.low, s.high = 0, 0
	}
	s.low, s.high = min(s.low, 0), max(s.high, 0)
	s.least, s.fastest = min(s.least, 0), max(s.fastest, 0)
	if y >= x {
		s.least = 0 // it leads up to y, and not away from it
	}
	if y <= x {
		s.fastest = 0
	}
	return s
}

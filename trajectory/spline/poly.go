package spline

import "math"

// poly is a polynomial of degree n−1 ≤ 5 on the unit interval.
type poly struct {
	c [quintic]float64
	n int
}

func (p *poly) at(x float64) float64 {
	y := 0.0
	for k := p.n - 1; k >= 0; k-- {
		y = y*x + p.c[k]
	}
	return y
}

func (p *poly) derivative() (d poly) {
	d.n = max(1, p.n-1)
	for k := 1; k < p.n; k++ {
		d.c[k-1] = float64(k) * p.c[k]
	}
	return d
}

// extremes visits the ends of [lo, hi] and every point between them where p
// turns.
func (p *poly) extremes(lo, hi float64, visit func(x, y float64)) {
	visit(lo, p.at(lo))
	visit(hi, p.at(hi))
	var turns [quintic]float64
	d := p.derivative()
	for _, x := range turns[:d.roots(&turns, lo, hi)] {
		visit(x, p.at(x))
	}
}

// hull returns the least and greatest control point of the Bernstein form
//
//	bₖ = Σᵢ₌₀ᵏ C(k,i)/C(n−1,i)·cᵢ
//
// between which the polynomial stays on [0, 1].
func (p *poly) hull() (low, high float64) {
	low, high = p.c[0], p.c[0]
	weights := &bernstein[p.n]
	for k := 1; k < p.n; k++ {
		b := p.c[0]
		for i := 1; i <= k; i++ {
			b += weights[k][i] * p.c[i]
		}
		if b < low {
			low = b
		}
		if b > high {
			high = b
		}
	}
	return low, high
}

// bernstein holds C(k,i)/C(n−1,i) for polynomials of n coefficients.
var bernstein = func() (w [quintic + 1][quintic][quintic]float64) {
	for n := 1; n <= quintic; n++ {
		for k := range n {
			w[n][k][0] = 1
			for i := 1; i <= k; i++ {
				w[n][k][i] = w[n][k][i-1] * float64(k-i+1) / float64(n-i)
			}
		}
	}
	return w
}()

// roots stores the points of (lo, hi) where p changes sign, rising, and returns
// how many. Degrees up to two are solved in closed form. A higher degree is
// monotone between the roots of its derivative: there a sign change holds
// exactly one root, found to the last bit by Newton's method kept in its bracket.
func (p *poly) roots(dst *[quintic]float64, lo, hi float64) int {
	if p.n <= 3 {
		return p.quadratic(dst, lo, hi)
	}
	var turns [quintic]float64
	d := p.derivative()
	n := d.roots(&turns, lo, hi)
	found, left := 0, lo
	for k := range n + 1 {
		right := hi
		if k < n {
			right = turns[k]
		}
		if (p.at(left) < 0) != (p.at(right) < 0) {
			dst[found] = p.bracketed(&d, left, right)
			found++
		}
		left = right
	}
	return found
}

func (p *poly) quadratic(dst *[quintic]float64, lo, hi float64) int {
	a, b, c := p.c[2], p.c[1], p.c[0]
	if p.n < 3 {
		a = 0
	}
	if p.n < 2 {
		return 0
	}
	disc := b*b - 4*a*c
	if disc < 0 {
		return 0
	}
	// the sum that does not cancel gives one root, the product the other
	q := -(b + math.Copysign(math.Sqrt(disc), b)) / 2
	r1, r2 := q/a, c/q
	if r2 < r1 {
		r1, r2 = r2, r1
	}
	n := 0
	for _, r := range [2]float64{r1, r2} {
		if r > lo && r < hi { // false for NaN and ±Inf
			dst[n] = r
			n++
		}
	}
	return n
}

// bracketed finds the root of p between left and right, where it changes sign.
func (p *poly) bracketed(d *poly, left, right float64) float64 {
	negativeLeft := p.at(left) < 0
	x := (left + right) / 2
	for range 100 {
		y := p.at(x)
		if y == 0 {
			return x
		}
		if (y < 0) == negativeLeft {
			left = x
		} else {
			right = x
		}
		next := x - y/d.at(x)
		if !(next > left && next < right) {
			next = (left + right) / 2
		}
		if next == x || next == left || next == right {
			return x
		}
		x = next
	}
	return x
}

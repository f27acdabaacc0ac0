package move

import "math"

// quadratic returns the real zeros of a·x² + b·x + c, the smaller first, and how
// many there are: a double zero counts once. Zeros beyond the range of float64 are
// left out; if all coefficients are zero there are none. The larger one in size is
// computed first, from a sum, and the other from the product of both.
func quadratic(a, b, c float64) (x1, x2 float64, n int) {
	// scale, so that nothing leaves the range of float64 on the way
	s := math.Max(math.Abs(a), math.Max(math.Abs(b), math.Abs(c)))
	if s == 0 || math.IsInf(s, 1) || math.IsNaN(s) {
		return 0, 0, 0
	}
	_, e := math.Frexp(s)
	a, b, c = math.Ldexp(a, -e), math.Ldexp(b, -e), math.Ldexp(c, -e)

	d := discriminant(a, b, c)
	if d < 0 {
		return 0, 0, 0
	}
	q := -(b + math.Copysign(math.Sqrt(d), b)) / 2
	if q == 0 { // b = c = 0, or all that is left of them
		if a == 0 {
			return 0, 0, 0
		}
		return 0, 0, 1
	}
	x1, x2 = q/a, c/q
	switch {
	case math.IsInf(x1, 0) || math.IsNaN(x1):
		return x2, 0, 1
	case x1 == x2:
		return x1, 0, 1
	case x1 > x2:
		x1, x2 = x2, x1
	}
	return x1, x2, 2
}

// discriminant returns b² − 4ac, with the rounding of both products put right:
// Kahan's way, with a fused multiplication.
func discriminant(a, b, c float64) float64 {
	p, q := b*b, 4*a*c
	d := p - q
	if p+math.Abs(q) <= 3*math.Abs(d) {
		return d // no cancellation
	}
	return d + (math.FMA(b, b, -p) - math.FMA(4*a, c, -q))
}

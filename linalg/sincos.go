package linalg

import "math"

// SincosTo stores the sines and cosines of x. Both are within 3·2⁻⁵³ (1.5 units
// in the last place of a number near one) of the truth for |x| ≤ maxReduced;
// beyond it, and for NaN and infinities, they are those of math.Sincos. The
// slices have one length; sin or cos may alias x, not each other.
//
// The angle is reduced by whole half turns to y ∈ [−π/2, π/2]: then sine and
// cosine keep their places and share one sign, so no element takes a branch
// that depends on its value, and the work of neighbours overlaps. This takes
// two thirds of the time of calling math.Sincos on each, half with FMA.
func SincosTo(sin, cos, x []float64) {
	sin, cos = sin[:len(x)], cos[:len(x)]
	for i, xi := range x {
		if !(math.Abs(xi) <= maxReduced) {
			sin[i], cos[i] = math.Sincos(xi)
			continue
		}

		// k = nearest whole number to x/π: adding 1.5·2⁵² leaves no room for a
		// fraction, and the lowest bit tells whether k is odd
		t := xi*(1/math.Pi) + shift
		k := t - shift
		odd := math.Float64bits(t) << 63

		// y = x − k·π, with π in three parts; the first two times k are exact, so
		// y is rounded once
		y := (xi - k*pi1) - (k*pi2 + k*pi3)

		// polynomials of least greatest error on [−π/2, π/2] (Remez exchange):
		// sin y = y + y³·P(y²) to 2.3e-19·|y|, cos y = 1 − y²/2 + y⁴·Q(y²) to 5.8e-18
		y2 := y * y
		y4 := y2 * y2
		y8 := y4 * y4
		p := (s0 + y2*s1) + y4*(s2+y2*s3) + y8*((s4+y2*s5)+y4*(s6+y2*s7))
		q := (c0 + y2*c1) + y4*(c2+y2*c3) + y8*((c4+y2*c5)+y4*c6)
		sy := y + y*y2*p
		cy := 1 - (0.5*y2 - y4*q)

		// an odd number of half turns changes both signs
		sin[i] = math.Float64frombits(math.Float64bits(sy) ^ odd)
		cos[i] = math.Float64frombits(math.Float64bits(cy) ^ odd)
	}
}

const (
	// maxReduced bounds the angle for which k·pi1 and k·pi2 are exact: k has
	// less than 20 bits, the parts have 33.
	maxReduced = 1e6 // rad

	shift = 3 << 51 // 1.5·2⁵²

	pi1 = 0x1.921fb544p+1
	pi2 = 0x1.0b4611a6p-33
	pi3 = 0x1.3198a2e037073p-68

	s0 = -0.16666666666666666
	s1 = 0.008333333333333214
	s2 = -0.00019841269841215572
	s3 = 2.7557319212176394e-06
	s4 = -2.5052106963954092e-08
	s5 = 1.605894410881002e-10
	s6 = -7.643101868908414e-13
	s7 = 2.7222969759097667e-15

	c0 = 0.041666666666665846
	c1 = -0.0013888888888830564
	c2 = 2.4801587285878777e-05
	c3 = -2.7557317077303153e-07
	c4 = 2.087659302894286e-09
	c5 = -1.1463646530859672e-11
	c6 = 4.61624856584367e-14
)

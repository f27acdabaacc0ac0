package linalg

import "math"

// SincosTo stores the sines and cosines of x. Both are within 1.2·2⁻⁵³ of the
// truth for |x| ≤ maxReduced: the rounding of a number near one, and a little.
// Beyond it, and for NaN and infinities, they are those of math.Sincos. The
// slices have one length; sin or cos may alias x, not each other.
//
// The circle is cut into 128 arcs. With k the nearest cut and y the rest,
//
//	sin x = S_k + (C_k·sin y + S_k·(cos y − 1)),
//
// where S_k and C_k come from a table and short Taylor sums give the rest. No
// branch depends on the angle, so the work of neighbours overlaps: half the time
// of calling math.Sincos on each.
func SincosTo(sin, cos, x []float64) {
	sin, cos = sin[:len(x)], cos[:len(x)]
	for i, xi := range x {
		if !(math.Abs(xi) <= maxReduced) {
			sin[i], cos[i] = math.Sincos(xi)
			continue
		}

		// k = nearest whole number to x/arc: adding 1.5·2⁵² leaves no room for a
		// fraction, and the lowest bits are those of k
		t := xi*(1/arc) + shift
		k := t - shift
		cut := &cuts[math.Float64bits(t)%arcs]

		// y = x − k·arc, the arc in two parts; the first times k is exact
		y := (xi - k*arc1) - k*arc2

		// |y| ≤ π/128: the first terms left out are below 4e-18
		y2 := y * y
		s := y + y*y2*(-1./6+y2*(1./120-y2*(1./5040)))
		c := y2 * (-1./2 + y2*(1./24-y2*(1./720)))
		sin[i] = cut.sin + (cut.cos*s + cut.sin*c)
		cos[i] = cut.cos + (cut.cos*c - cut.sin*s)
	}
}

const (
	arcs = 128
	arc  = 2 * math.Pi / arcs

	// arc1 has 33 bits of the arc, arc2 the next 53.
	arc1 = 0x1.921fb544p-5
	arc2 = 0x1.0b4611a626331p-39

	// maxReduced keeps k below 20 bits, so that k·arc1 is exact.
	maxReduced = 5e4 // rad

	shift = 3 << 51 // 1.5·2⁵²
)

// cuts holds sine and cosine of k·arc.
var cuts = func() (all [arcs]struct{ sin, cos float64 }) {
	const quarter = arcs / 4
	for k := range quarter {
		s, c := sines[k], sines[quarter-k]
		all[k].sin, all[k].cos = s, c
		all[quarter+k].sin, all[quarter+k].cos = c, -s
		all[2*quarter+k].sin, all[2*quarter+k].cos = -s, -c
		all[3*quarter+k].sin, all[3*quarter+k].cos = -c, s
	}
	return all
}()

// sines holds sin(k·arc) for the first quarter, correctly rounded.
var sines = [arcs/4 + 1]float64{
	0, 0.049067674327418015, 0.0980171403295606, 0.14673047445536175,
	0.19509032201612828, 0.2429801799032639, 0.2902846772544624, 0.33688985339222005,
	0.3826834323650898, 0.4275550934302821, 0.47139673682599764, 0.5141027441932218,
	0.5555702330196022, 0.5956993044924334, 0.6343932841636455, 0.6715589548470184,
	0.7071067811865476, 0.7409511253549591, 0.773010453362737, 0.8032075314806449,
	0.8314696123025452, 0.8577286100002721, 0.881921264348355, 0.9039892931234433,
	0.9238795325112867, 0.9415440651830208, 0.9569403357322088, 0.970031253194544,
	0.9807852804032304, 0.989176509964781, 0.9951847266721969, 0.9987954562051724,
	1,
}

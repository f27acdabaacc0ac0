package move

import (
	"math"
)

// span is an interval of durations in which a displacement can be had, and the
// member that has the shortest.
type span struct {
	lo, hi      float64
	hill        *hill
	tau, cruise float64
}

const (
	pieceSpans  = 4                // of a family: two in each of two pieces
	sharedSpans = 2*pieceSpans - 1 // of two families
)

// feet returns the τ with which the family begins. Two ends whose accelerations
// point down may first allow a lens, an interval of members whose acceleration
// stays below zero all the way, before the family begins for good.
func (h *hill) feet() (main float64, lens [2]float64, hasLens bool) {
	n := &h.near
	if n.a >= 0 {
		return n.climb(h.must, h.rj), lens, false
	}
	dip := n.a * h.rj
	if h.must <= 0 {
		return dip, lens, false
	}
	// far needs s ≥ must, and s = j·τ² for a negative τ too
	if n.a*dip < h.must-ulps*h.speed {
		return n.climb(h.must, h.rj), lens, false
	}
	return n.climb(h.must, h.rj), [2]float64{dip, max(dip, -math.Sqrt(h.must*h.rj))}, true
}

// spans lists the durations for which the family travels at least as far as
// wanted, in rising order, and returns their number.
func (h *hill) spans(dst *[pieceSpans]span, travel float64) (n int) {
	main, lens, hasLens := h.feet()
	if hasLens {
		n = h.piece(dst, n, lens[0], lens[1], false, travel)
	}
	return h.piece(dst, n, main, h.summit(main), true, travel)
}

// summit returns the τ at which the top velocity is reached, or one that no
// motion needs if there is no top.
func (h *hill) summit(foot float64) float64 {
	if h.limit == inf {
		return 1e65
	}
	return max(foot, h.near.climb(h.top, h.rj))
}

// piece adds the spans between two τ. The travel rises, may fall once, and rises
// again; after the last member of an open piece it rises by cruising.
func (h *hill) piece(dst *[pieceSpans]span, n int, lo, hi float64, open bool, travel float64) int {
	fallFrom, fallTo := h.fall(lo, hi)
	var m member

	// rising until the fall
	slope := h.at(&m, lo)
	tau, inside := h.ascend(&m, slope, lo, fallFrom, travel)
	if inside {
		dst[n] = span{max(m.duration, 0), inf, h, tau, 0}
	}

	// falling
	if slope = h.at(&m, fallTo); inside && m.travel < travel {
		var last member
		h.descend(&last, fallFrom, fallTo, travel)
		dst[n].hi = last.duration
		n, inside = n+1, false
	}

	// rising again
	if !inside {
		tau, inside = h.ascend(&m, slope, fallTo, hi, travel)
		if !inside && open {
			h.cruise(&m, travel)
			inside = true
		}
		if inside {
			dst[n] = span{max(m.duration, 0), inf, h, tau, m.cruise}
		}
	}
	if inside && !open {
		h.at(&m, hi)
		dst[n].hi = max(dst[n].lo, m.duration)
	}
	if inside {
		n++
	}
	return n
}

// ascend makes m, which is the member at lo, with its slope, the first one from
// there on that travels as far as wanted, returns its τ, and reports whether there
// is one up to hi; if not, m is the member at hi. The travel must not fall in
// between.
func (h *hill) ascend(m *member, slope, lo, hi, travel float64) (tau float64, ok bool) {
	if m.travel >= travel-h.rounding(m.duration) {
		return lo, true
	}
	if lo >= hi {
		return lo, false
	}
	// what is missing, as if it were travelled from rest to rest, or at the
	// present slope: either alone would take longer than both together
	missing := travel - m.travel
	guess := lo + 1/(1/h.near.halfway(&h.far, missing, h.rj)+slope/missing)
	tau = rising(func(tau float64) (float64, float64) {
		slope := h.at(m, tau)
		return m.travel - travel, slope
	}, lo, hi, guess)
	return tau, tau < hi || m.travel >= travel-h.rounding(m.duration)
}

// halfway returns the τ of a motion from rest to rest over d, if neither or both
// ends reach their limit of acceleration: d = 2·j·τ³, or d = ½·u·(T of both ends).
func (e *end) halfway(f *end, d, rj float64) float64 {
	a, b := 1/e.lim+1/f.lim, e.ramp+f.ramp
	if cube, ramp := d*rj/2, min(e.ramp, f.ramp); cube < ramp*ramp*ramp || b > largest {
		return math.Cbrt(cube)
	}
	u := 4 * d / (b + math.Sqrt(b*b+8*a*d))
	return e.climb(u, rj)
}

// descend makes m the member between two τ, while the travel falls, that travels
// as far as wanted.
func (h *hill) descend(m *member, lo, hi, travel float64) {
	rising(func(tau float64) (float64, float64) {
		slope := h.at(m, tau)
		return travel - m.travel, -slope
	}, lo, hi, lo+(hi-lo)/2)
}

// lift is u + ½·x·y/j, which has the sign of the slope of the travel, and its own
// slope. It rises for τ ≥ 0 and has one minimum below.
func (h *hill) lift(tau float64) (value, slope float64) {
	var m member
	h.at(&m, tau)
	value = m.u + h.rj*m.x*m.y/2
	slope = 2 * m.x
	if m.holdX == 0 {
		slope += m.y / 2
	}
	if m.holdY == 0 && m.y > 0 {
		slope += m.x * m.x / (2 * m.y)
	}
	return value, slope
}

// lowest returns the τ ≤ 0 at which lift is least. While the far end is below its
// limit, y² = x² + j·gap, and lift falls until x = −r·y with r² − 4r + 1 = 0; at
// the limit it falls until x = −¼·y.
func (h *hill) lowest() float64 {
	const r = 0.2679491924311227 // 2 − √3
	gap := h.gap * h.j
	lim := h.far.lim
	x := -r * math.Sqrt(gap/(1-r*r))
	if -x > r*lim {
		x = -lim / 4
		if gap < lim*lim {
			x = min(x, -math.Sqrt(lim*lim-gap))
		}
	}
	return x * h.rj
}

// fall returns the interval between two τ in which the travel falls, empty at lo
// if it does not.
func (h *hill) fall(lo, hi float64) (from, to float64) {
	lowest := lo
	if lo < 0 {
		lowest = min(max(h.lowest(), lo), hi)
	}
	if v, _ := h.lift(lowest); v >= 0 {
		return lo, lo
	}
	from, to = lo, hi
	if v, _ := h.lift(lo); v > 0 {
		from = -rising(func(t float64) (float64, float64) {
			v, slope := h.lift(-t)
			return v, -slope
		}, -lowest, -lo, -lo)
	}
	if v, _ := h.lift(hi); v > 0 {
		to = rising(h.lift, lowest, hi, lowest+(hi-lowest)/2)
	}
	return from, to
}

package move

import "math"

// end is one end of a motion, seen as the foot of a climb to the motion's top
// velocity. At the last end time runs backwards, which keeps the velocity and
// turns the sign of the acceleration: both ends then climb by the same formulas.
type end struct {
	a    float64 // acceleration at the foot
	base float64 // velocity at which a climb with full jerk passes, or passed, a = 0
	must float64 // how high above the base it climbs anyway, if a > 0
	lim  float64 // greatest acceleration
	ramp float64 // time from a = 0 to lim with full jerk
	knee float64 // velocity gained by ramping up to lim and down again
}

// newEnd describes an end with velocity v and acceleration a.
func newEnd(v, a, lim, rj float64) end {
	ramp := lim * rj
	e := end{a: a, base: v - a*a*rj/2, lim: lim, ramp: ramp, knee: lim * ramp}
	if a > 0 {
		e.must = a * a * rj
	}
	return e
}

// climb returns the τ, see hill, with which an end climbs by a velocity s above
// its base:
//
//	s = j·τ²              up to the knee, where τ = ramp
//	  = lim·(2τ − ramp)   above it
func (e *end) climb(s, rj float64) float64 {
	if s < e.knee {
		return math.Sqrt(max(s, 0) * rj)
	}
	return (s/e.lim + e.ramp) / 2
}

// area returns ∫(v − u)dt over the climb with peak acceleration x, held for some
// time: the three segments ramp up, hold and ramp down integrated and added.
func (e *end) area(x, hold, rj float64) float64 {
	rise := (x - e.a) * rj
	area := x*x*rj*rise + e.a*e.a*e.a*rj*rj/6
	if hold > 0 {
		area += x * hold * (x*rj/2 + hold/2 + rise)
	}
	return -area
}

// hill is the family of all motions that climb from both ends to one top
// velocity u, as steeply as the limits allow.
//
//	velocity     u     ____________
//	                  ╱            ╲
//	    first end  __╱              ╲__  last end
//
//	acceleration    ╱‾‾╲____________    ╱      x on the way up,
//	                                ╲__╱      −y on the way down
//
// The end with the higher base is called near, the other one far. A member is
// named by the τ of its near end: the time in which the acceleration ramps from
// zero to its peak x, and half of the time for which it stays there, so that the
// climb takes 2τ − a/j. The far end's σ follows from u. A negative τ means that
// the acceleration turns back at x = j·τ before it comes to zero; u is then not a
// velocity of the motion any more, but all formulas hold.
type hill struct {
	near, far end
	gap       float64 // from the base of far up to that of near, ≥ 0
	must      float64 // how high above the near base both ends climb anyway
	top       float64 // height of the velocity limit above the near base
	limit     float64 // that velocity
	sign      float64 // −1: everything is mirrored, for the least displacements
	swapped   bool    // near is the last end
	j, rj     float64 // jerk and 1/jerk; rj = 0 if the acceleration may jump
	lag       float64 // time that the accelerations at both ends save

	place, speed, pull float64 // sizes of what both ends are made of, see rounding
}

// join makes h the family of greatest (sign = 1) or least (sign = −1)
// displacements between two states.
func (h *hill) join(l *Limits, rj, sign float64, from, to *State) {
	up, down, top := l.AccMax, -l.AccMin, l.VelMax
	if sign < 0 {
		up, down, top = down, up, -l.VelMin
	}
	h.near = newEnd(sign*from.V, sign*from.A, up, rj)
	h.far = newEnd(sign*to.V, -sign*to.A, down, rj)
	h.sign, h.j, h.rj = sign, l.Jerk, rj
	h.lag = (h.near.a + h.far.a) * rj
	h.place = math.Abs(from.P) + math.Abs(to.P)
	h.speed = math.Abs(from.V) + math.Abs(to.V) + (from.A*from.A+to.A*to.A)*rj
	h.pull = math.Abs(from.A) + math.Abs(to.A)

	// Ends that have the same base, or come to the same velocity anyway, do so
	// exactly: to climb a gap that is only rounding takes the root of it, which
	// is not small. With the same base the lower acceleration is near.
	h.gap = h.near.base - h.far.base
	level := ulps * h.speed
	h.swapped = h.gap < 0
	if math.Abs(h.gap) <= level {
		h.gap = 0
		h.swapped = h.far.a < h.near.a
	}
	if h.swapped {
		h.near, h.far = h.far, h.near
		h.gap = -h.gap
	}
	n, f := &h.near, &h.far
	if math.Abs(n.must-f.must+h.gap) <= level {
		h.gap = f.must - n.must
	}
	h.must = max(n.must, f.must-h.gap)
	h.top = max(top-n.base, h.must)
	h.limit = max(top, n.base+h.must)
}

// ulps is the relative error allowed to numbers that were computed.
const ulps = 1024.0 / (1 << 52)

// rounding returns by how much a displacement within the given time may differ
// although the same was meant: the error of states that were computed, such as
// samples of a motion that is planned again.
func (h *hill) rounding(t float64) float64 {
	return ulps * (h.place + t*(h.speed+t*h.pull))
}

// moment reports whether two times are the same up to rounding: what is travelled
// in between is not worth mentioning.
func (h *hill) moment(t1, t2 float64) bool {
	dt := math.Abs(t1 - t2)
	return dt*(h.speed+dt*h.pull) <= h.rounding(t1)
}

// member is one motion of a hill.
type member struct {
	x, y         float64 // peak accelerations of near and far
	holdX, holdY float64 // how long they are held
	u            float64 // top velocity
	cruise       float64 // time at top velocity
	duration     float64
	travel       float64 // displacement; mirrored if the hill is
}

// at makes m the member named τ and returns the slope of its travel over τ. With
// u' = 2x, and d travel / du = (1/x + 1/y)·(u + ½·x·y/j) from shifting the second
// ramp of each climb, the slope is 2·(1 + x/y)·(u + ½·x·y/j), at every τ.
func (h *hill) at(m *member, tau float64) (slope float64) {
	// near end: up to u
	n, s := &h.near, 0.0
	if tau < n.ramp {
		m.x, m.holdX = tau*h.j, 0
		s = m.x * tau
	} else {
		m.x, m.holdX = n.lim, 2*(tau-n.ramp)
		s = n.lim * (2*tau - n.ramp)
	}
	m.u = n.base + s

	// far end: to the same u
	f := &h.far
	sigma := f.climb(s+h.gap, h.rj)
	if sigma < f.ramp {
		m.y, m.holdY = sigma*h.j, 0
	} else {
		m.y, m.holdY = f.lim, 2*(sigma-f.ramp)
	}

	m.cruise = 0
	m.duration = 2*(tau+sigma) - h.lag
	m.travel = m.u*m.duration + n.area(m.x, m.holdX, h.rj) + f.area(m.y, m.holdY, h.rj)

	slope = 2 * (m.u + h.rj*m.x*m.y/2)
	if m.y > 0 {
		return slope + slope*m.x/m.y
	}
	return 2 * slope // x = y = 0: equal ends, τ = 0
}

// stay lets a member cruise on top for a while.
func (m *member) stay(dt float64) {
	m.cruise += dt
	m.duration += dt
	m.travel += m.u * dt
}

// cruise lets the member at the velocity limit cruise until it has gone far enough.
func (h *hill) cruise(m *member, travel float64) {
	m.u = h.limit // without the rounding of its height, which may be all of it
	m.stay((travel - m.travel) / m.u)
}

// lasting makes m the member that takes the given time: the greatest travel that
// is possible in it.
func (h *hill) lasting(m *member, duration float64) {
	if h.limit < inf {
		tau, sigma := h.near.climb(h.top, h.rj), h.far.climb(h.top+h.gap, h.rj)
		if spare := duration - (2*(tau+sigma) - h.lag); spare >= 0 {
			h.at(m, tau)
			m.u = h.limit
			m.stay(spare)
			return
		}
	}
	h.at(m, h.share((duration+h.lag)/2))
}

// share returns the τ for which τ + σ is the given sum while both ends climb to
// the same u. It has a closed form, which depends on who reaches its limit of
// acceleration; only one of the four is consistent with what it assumes.
func (h *hill) share(sum float64) float64 {
	n, f := &h.near, &h.far

	// none: j·σ² − j·τ² = gap, so σ − τ = gap/(j·sum)
	diff := h.gap * h.rj / sum
	if tau, sigma := (sum-diff)/2, (sum+diff)/2; tau < n.ramp && sigma < f.ramp {
		return tau
	}
	// far only: τ² + 2·ramp·τ = c
	c := (f.lim*(2*sum-f.ramp) - h.gap) * h.rj
	tau := c / (f.ramp + math.Sqrt(max(f.ramp*f.ramp+c, 0)))
	if tau < n.ramp && sum-tau >= f.ramp {
		return tau
	}
	// near only: σ² + 2·ramp·σ = c
	c = (n.lim*(2*sum-n.ramp) + h.gap) * h.rj
	sigma := c / (n.ramp + math.Sqrt(max(n.ramp*n.ramp+c, 0)))
	if sum-sigma >= n.ramp && sigma < f.ramp {
		return sum - sigma
	}
	// both: linear
	tau = (f.lim*(2*sum-f.ramp) - h.gap + n.knee) / (2 * (n.lim + f.lim))
	return max(tau, n.ramp)
}

// level makes m the member that climbs no higher than both ends must, and cruises
// there to fill the time. It reports whether there is time enough.
func (h *hill) level(m *member, duration float64) bool {
	h.at(m, h.near.climb(h.must, h.rj))
	spare := duration - m.duration
	m.stay(spare)
	return spare >= 0
}

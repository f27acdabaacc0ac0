package move

import "math"

// reachVelocity takes a task of velocity: come to a steady velocity, wherever
// that is. Every duration from the shortest on is possible.
func (ax *axis) reachVelocity(l *Limits, from State, velocity float64) {
	ax.limits, ax.rj = l, 1/l.Jerk
	ax.start, ax.from = from, from
	ax.to = State{V: velocity}
	ax.velocity = true
	// only the acceleration is brought in: the velocity goes where it is told
	ax.numBrakes = 0
	if ax.rj > 0 {
		free := Limits{-inf, inf, l.AccMin, l.AccMax, l.Jerk}
		ax.numBrakes = free.brakeTo(&ax.brakes, from.V, from.A, ax.rj)
	}
	ax.applyBrakes()

	e, sign := ax.foot()
	ax.numSpans = 1
	gain := max(sign*velocity-e.base, e.must)
	ax.spans[0] = span{lo: 2*e.climb(gain, ax.rj) - e.a*ax.rj, hi: inf}
}

// foot returns the start as the foot of a climb to the wanted velocity, and the
// direction in which that is up.
func (ax *axis) foot() (e end, sign float64) {
	a := ax.from.A
	if ax.to.V < ax.from.V+a*math.Abs(a)*ax.rj/2 {
		return newEnd(-ax.from.V, -a, -ax.limits.AccMin, ax.rj), -1
	}
	return newEnd(ax.from.V, a, ax.limits.AccMax, ax.rj), 1
}

// accelerate appends the climb to the wanted velocity that takes the time t with
// the least acceleration: ramp to x, hold, ramp to zero.
func (ax *axis) accelerate(c *chain, t float64) {
	e, s := ax.foot()
	rj, j := ax.rj, s*ax.limits.Jerk

	// up to x ≥ a: gain = x·hold + x²/j, t = hold + (2x − a)/j
	gain, b := max(s*ax.to.V-e.base, e.must), max(t+e.a*rj, 0)
	peak := 0.0
	if gain > 0 && b > 0 {
		peak = min(2*gain/(b+math.Sqrt(max(b*b-4*rj*gain, 0))), e.lim)
	}
	if rj > 0 {
		peak = min(peak, b/(2*rj)) // where gain and b are only rounding
	}
	if hold := b - 2*peak*rj; peak >= e.a {
		c.add((peak-e.a)*rj, s*e.a, j)
		c.add(hold, s*peak, 0)
		c.add(peak*rj, s*peak, -j)
		return
	}
	// down to x < a: gain beyond the plateau = x·hold, t = hold + a/j
	hold := t - e.a*rj
	if peak = 0; hold > 0 {
		peak = (gain - e.must) / hold
	}
	c.add((e.a-peak)*rj, s*e.a, -j)
	c.add(hold, s*peak, 0)
	c.add(peak*rj, s*peak, -j)
}

package move

import "math"

// axis is the planning of one axis: its task, the durations in which it can be
// done, and the motion for one of them.
type axis struct {
	limits   *Limits
	rj       float64 // 1/jerk
	start    State   // as asked for
	to       State
	velocity bool // only the velocity of to counts

	// the way back into the limits, and the task that is left after it
	brakes    [2]phase
	numBrakes int
	brakeTime float64
	from      State
	travel    float64

	// the families of greatest and least displacement; possible durations after braking
	up, down hill
	spans    [sharedSpans]span
	numSpans int

	// what is mixed
	a, b phases
}

// reach takes a task of position.
func (x *axis) reach(l *Limits, from, to State) {
	x.limits, x.rj = l, 1/l.Jerk
	x.start, x.from, x.to = from, from, to
	x.velocity = false
	x.brakes, x.numBrakes = l.brake(from.V, from.A, x.rj)
	x.applyBrakes()
	x.travel = to.P - x.from.P
	x.up.span(l, x.rj, 1, &x.from, &x.to)
	x.down.span(l, x.rj, -1, &x.from, &x.to)
	if to.V == 0 && to.A == 0 {
		x.solveRest()
	} else {
		x.solveMoving()
	}
}

func (x *axis) applyBrakes() {
	x.brakeTime = 0
	for i := range x.numBrakes {
		ph := &x.brakes[i]
		s, dt := &x.from, ph.dt
		s.P += dt * (s.V + dt*(ph.a/2+dt*ph.j/6))
		s.V += dt * (ph.a + dt*ph.j/2)
		s.A = ph.a + dt*ph.j
		x.brakeTime += dt
	}
}

// solveRest finds the shortest duration to a target at rest. Every longer one is
// possible too: one could wait at the target. So the displacement rises along
// both families, and the one to look at is told by the shared first member.
func (x *axis) solveRest() {
	var m member
	h, travel := &x.up, x.travel
	foot, _, _ := h.feet()
	if h.at(&m, foot); m.travel > travel+h.rounding(m.duration) {
		h, travel = &x.down, -travel
		foot, _, _ = h.feet()
	}
	tau, reached := h.ascend(&m, foot, h.summit(foot), travel)
	if !reached {
		m.stay((travel - m.travel) / m.u)
	}
	x.spans[0] = span{max(m.duration, 0), inf, h, tau, m.cruise}
	x.numSpans = 1
}

// solveMoving finds all durations to a target that moves: those that are long
// enough for both the greatest and the least displacement.
func (x *axis) solveMoving() {
	var over, under [pieceSpans]span
	no := x.up.spans(&over, x.travel)
	nu := x.down.spans(&under, -x.travel)
	x.numSpans = 0
	for i, k := 0, 0; i < no && k < nu; {
		a, b := &over[i], &under[k]
		s, hi := a, min(a.hi, b.hi)
		if b.lo > a.lo {
			s = b
		}
		if s.lo <= hi+(grain-1)*(hi+x.up.pull*x.rj) { // also a single moment that both know
			x.spans[x.numSpans] = span{s.lo, max(s.lo, hi), s.hill, s.tau, s.cruise}
			x.numSpans++
		}
		if a.hi < b.hi {
			i++
		} else {
			k++
		}
	}
}

// next returns the shortest possible duration that is not below t.
func (x *axis) next(t float64) float64 {
	for i := range x.numSpans - 1 {
		if s := &x.spans[i]; t <= x.brakeTime+s.hi {
			return max(t, x.brakeTime+s.lo)
		}
	}
	return max(t, x.brakeTime+x.spans[x.numSpans-1].lo)
}

// writeTo makes p the motion that takes the given time, one of the possible.
func (x *axis) writeTo(p *Profile, duration float64) {
	c := p.begin(x.start)
	for i := range x.numBrakes {
		ph := &x.brakes[i]
		c.add(ph.dt, ph.a, ph.j)
	}
	if x.velocity {
		x.accelerate(&c, duration-x.brakeTime)
		c.finish(duration, State{c.p, x.to.V, 0})
		return
	}
	for i := range x.numSpans {
		if s := &x.spans[i]; math.Abs(x.brakeTime+s.lo-duration) <= ulps*(duration+x.up.pull*x.rj) {
			var m member
			s.hill.at(&m, s.tau)
			m.stay(s.cruise)
			x.a.write(s.hill, &m)
			for _, ph := range x.a.list[:x.a.n] {
				c.add(ph.dt, ph.a, ph.j)
			}
			c.finish(duration, x.to)
			return
		}
	}
	c.mix(&x.a, &x.b, x.bracket(duration-x.brakeTime))
	c.finish(duration, x.to)
}

// bracket puts into a and b two motions of the given duration that travel less
// and more than wanted, and returns the weight of b in their mix. They are
// neighbours among four: the least travel, cruising as low and as high as the
// ends must go anyway, and the greatest travel. The middle ones matter: they do
// not pass the target unless they must, and a mix of them does not either.
func (x *axis) bracket(t float64) (w float64) {
	var high, low, more, less member
	hasHigh := x.up.level(&high, t)
	if hasHigh && x.travel >= high.travel {
		x.up.lasting(&more, t)
		x.a.write(&x.up, &high)
		x.b.write(&x.up, &more)
		return weight(high.travel, more.travel, x.travel)
	}
	hasLow := x.down.level(&low, t)
	if hasLow && x.travel <= -low.travel {
		x.down.lasting(&less, t)
		x.a.write(&x.down, &less)
		x.b.write(&x.down, &low)
		return weight(-less.travel, -low.travel, x.travel)
	}
	if !hasHigh {
		x.up.lasting(&high, t)
	}
	if !hasLow {
		x.down.lasting(&low, t)
	}
	x.a.write(&x.down, &low)
	x.b.write(&x.up, &high)
	return weight(-low.travel, high.travel, x.travel)
}

// weight returns w with (1 − w)·lo + w·hi = want, within [0, 1].
func weight(lo, hi, want float64) float64 {
	w := (want - lo) / (hi - lo)
	if !(w > 0) { // also 0/0: both motions are the same
		return 0
	}
	return min(w, 1)
}

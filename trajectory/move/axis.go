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

	// the families of greatest and least displacement, made when asked for;
	// possible durations after braking
	up, down       hill
	hasUp, hasDown bool
	spans          [sharedSpans]span
	numSpans       int

	// work space of writeTo
	a, b         phases
	level, limit [2]member
}

// reach takes a task of position.
func (ax *axis) reach(l *Limits, from, to State) {
	ax.limits, ax.rj = l, 1/l.Jerk
	ax.start, ax.from, ax.to = from, from, to
	ax.velocity = false
	ax.numBrakes = l.brakeTo(&ax.brakes, from.V, from.A, ax.rj)
	ax.applyBrakes()
	ax.travel = to.P - ax.from.P
	ax.hasUp, ax.hasDown = false, false
	if to.V == 0 && to.A == 0 {
		ax.solveRest()
	} else {
		ax.solveMoving()
	}
}

// hill returns the family of greatest or least displacements, in which everything
// has the given sign.
func (ax *axis) hill(sign float64) *hill {
	h, has := &ax.up, &ax.hasUp
	if sign < 0 {
		h, has = &ax.down, &ax.hasDown
	}
	if !*has {
		h.join(ax.limits, ax.rj, sign, &ax.from, &ax.to)
		*has = true
	}
	return h
}

func (ax *axis) applyBrakes() {
	ax.brakeTime = 0
	for i := range ax.numBrakes {
		ph := &ax.brakes[i]
		s, dt := &ax.from, ph.dt
		s.P += dt * (s.V + dt*(ph.a/2+dt*ph.j/6))
		s.V += dt * (ph.a + dt*ph.j/2)
		s.A = ph.a + dt*ph.j
		ax.brakeTime += dt
	}
}

// solveRest finds the shortest duration to a target at rest. Every longer one is
// possible too: one could wait at the target. So the displacement rises along
// both families, and the one to look at is told by their shared first member.
func (ax *axis) solveRest() {
	var m member
	sign := math.Copysign(1, ax.travel)
	h := ax.hill(sign)
	foot, _, _ := h.feet()
	slope := h.at(&m, foot)
	if m.travel > sign*ax.travel+h.rounding(m.duration) {
		sign = -sign
		h = ax.hill(sign)
		foot, _, _ = h.feet()
		slope = h.at(&m, foot)
	}
	tau, reached := h.ascend(&m, slope, foot, h.summit(foot), sign*ax.travel)
	if !reached {
		h.cruise(&m, sign*ax.travel)
	}
	ax.spans[0] = span{max(m.duration, 0), inf, h, tau, m.cruise}
	ax.numSpans = 1
}

// solveMoving finds all durations to a target that moves: those that are long
// enough for both the greatest and the least displacement.
func (ax *axis) solveMoving() {
	var over, under [pieceSpans]span
	no := ax.hill(1).spans(&over, ax.travel)
	nu := ax.hill(-1).spans(&under, -ax.travel)
	ax.numSpans = 0
	for i, k := 0, 0; i < no && k < nu; {
		a, b := &over[i], &under[k]
		s, hi := a, min(a.hi, b.hi)
		if b.lo > a.lo {
			s = b
		}
		if s.lo <= hi || ax.up.moment(hi, s.lo) { // also a moment that both know
			ax.spans[ax.numSpans] = span{s.lo, max(s.lo, hi), s.hill, s.tau, s.cruise}
			ax.numSpans++
		}
		if a.hi < b.hi {
			i++
		} else {
			k++
		}
	}
}

// next returns the shortest possible duration that is not below t.
func (ax *axis) next(t float64) float64 {
	for i := range ax.numSpans - 1 {
		if s := &ax.spans[i]; t <= ax.brakeTime+s.hi {
			return max(t, ax.brakeTime+s.lo)
		}
	}
	return max(t, ax.brakeTime+ax.spans[ax.numSpans-1].lo)
}

// writeTo makes p the motion that takes the given time, one of the possible.
func (ax *axis) writeTo(p *Profile, duration float64) {
	c := p.begin(ax.start)
	for i := range ax.numBrakes {
		ph := &ax.brakes[i]
		c.add(ph.dt, ph.a, ph.j)
	}
	if ax.velocity {
		ax.accelerate(&c, duration-ax.brakeTime)
		c.finish(duration, State{c.p, ax.to.V, 0})
		return
	}
	if s := ax.spanAt(duration); s != nil {
		m := &ax.level[0]
		s.hill.at(m, s.tau)
		m.stay(s.cruise)
		ax.a.write(s.hill, m)
		for i := range ax.a.n {
			ph := &ax.a.list[i]
			c.add(ph.dt, ph.a, ph.j)
		}
	} else {
		w := ax.bracket(duration - ax.brakeTime)
		c.mix(&ax.a, &ax.b, w)
	}
	c.finish(duration, ax.to)
}

// spanAt returns the span that begins with this duration, or nil.
func (ax *axis) spanAt(duration float64) *span {
	for i := range ax.numSpans {
		s := &ax.spans[i]
		if math.Abs(ax.brakeTime+s.lo-duration) <= ulps*(duration+s.hill.pull*ax.rj) {
			return s
		}
	}
	return nil
}

// bracket makes x.a and x.b two motions of the given duration that travel less and
// more than wanted, and returns the weight of b in their mix. They are neighbours
// among four: the least travel, cruising as low and as high as the ends must go
// anyway, and the greatest travel. The middle ones matter: they do not pass the
// target unless they must, and then a mix of them does not either.
func (ax *axis) bracket(t float64) (w float64) {
	sign := math.Copysign(1, ax.travel)
	var has [2]bool
	for i := range has { // the hill towards the target, then the other
		h, want := ax.hill(sign), sign*ax.travel
		has[i] = h.level(&ax.level[i], t)
		if has[i] && want >= ax.level[i].travel {
			h.lasting(&ax.limit[i], t)
			ax.a.write(h, &ax.level[i])
			ax.b.write(h, &ax.limit[i])
			return weight(ax.level[i].travel, ax.limit[i].travel, want)
		}
		sign = -sign
	}
	// between the levels, or the limits where a level takes too long
	h, other := ax.hill(sign), ax.hill(-sign)
	if !has[0] {
		h.lasting(&ax.level[0], t)
	}
	if !has[1] {
		other.lasting(&ax.level[1], t)
	}
	ax.a.write(other, &ax.level[1])
	ax.b.write(h, &ax.level[0])
	return weight(-ax.level[1].travel, ax.level[0].travel, sign*ax.travel)
}

// weight returns w with (1 − w)·lo + w·hi = want, within [0, 1].
func weight(lo, hi, want float64) float64 {
	w := (want - lo) / (hi - lo)
	if !(w > 0) { // also 0/0: both motions are the same
		return 0
	}
	return min(w, 1)
}

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
func (x *axis) reach(l *Limits, from, to State) {
	x.limits, x.rj = l, 1/l.Jerk
	x.start, x.from, x.to = from, from, to
	x.velocity = false
	x.numBrakes = l.brakeTo(&x.brakes, from.V, from.A, x.rj)
	x.applyBrakes()
	x.travel = to.P - x.from.P
	x.hasUp, x.hasDown = false, false
	if to.V == 0 && to.A == 0 {
		x.solveRest()
	} else {
		x.solveMoving()
	}
}

// hill returns the family of greatest or least displacements, in which everything
// has the given sign.
func (x *axis) hill(sign float64) *hill {
	h, has := &x.up, &x.hasUp
	if sign < 0 {
		h, has = &x.down, &x.hasDown
	}
	if !*has {
		h.join(x.limits, x.rj, sign, &x.from, &x.to)
		*has = true
	}
	return h
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
// both families, and the one to look at is told by their shared first member.
func (x *axis) solveRest() {
	var m member
	sign := math.Copysign(1, x.travel)
	h := x.hill(sign)
	foot, _, _ := h.feet()
	slope := h.at(&m, foot)
	if m.travel > sign*x.travel+h.rounding(m.duration) {
		sign = -sign
		h = x.hill(sign)
		foot, _, _ = h.feet()
		slope = h.at(&m, foot)
	}
	tau, reached := h.ascend(&m, slope, foot, h.summit(foot), sign*x.travel)
	if !reached {
		h.cruise(&m, sign*x.travel)
	}
	x.spans[0] = span{max(m.duration, 0), inf, h, tau, m.cruise}
	x.numSpans = 1
}

// solveMoving finds all durations to a target that moves: those that are long
// enough for both the greatest and the least displacement.
func (x *axis) solveMoving() {
	var over, under [pieceSpans]span
	no := x.hill(1).spans(&over, x.travel)
	nu := x.hill(-1).spans(&under, -x.travel)
	x.numSpans = 0
	for i, k := 0, 0; i < no && k < nu; {
		a, b := &over[i], &under[k]
		s, hi := a, min(a.hi, b.hi)
		if b.lo > a.lo {
			s = b
		}
		if s.lo <= hi || x.up.moment(hi, s.lo) { // also a moment that both know
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
	if s := x.spanAt(duration); s != nil {
		m := &x.level[0]
		s.hill.at(m, s.tau)
		m.stay(s.cruise)
		x.a.write(s.hill, m)
		for i := range x.a.n {
			ph := &x.a.list[i]
			c.add(ph.dt, ph.a, ph.j)
		}
	} else {
		w := x.bracket(duration - x.brakeTime)
		c.mix(&x.a, &x.b, w)
	}
	c.finish(duration, x.to)
}

// spanAt returns the span that begins with this duration, or nil.
func (x *axis) spanAt(duration float64) *span {
	for i := range x.numSpans {
		s := &x.spans[i]
		if math.Abs(x.brakeTime+s.lo-duration) <= ulps*(duration+s.hill.pull*x.rj) {
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
func (x *axis) bracket(t float64) (w float64) {
	sign := math.Copysign(1, x.travel)
	var has [2]bool
	for i := range has { // the hill towards the target, then the other
		h, want := x.hill(sign), sign*x.travel
		has[i] = h.level(&x.level[i], t)
		if has[i] && want >= x.level[i].travel {
			h.lasting(&x.limit[i], t)
			x.a.write(h, &x.level[i])
			x.b.write(h, &x.limit[i])
			return weight(x.level[i].travel, x.limit[i].travel, want)
		}
		sign = -sign
	}
	// between the levels, or the limits where a level takes too long
	h, other := x.hill(sign), x.hill(-sign)
	if !has[0] {
		h.lasting(&x.level[0], t)
	}
	if !has[1] {
		other.lasting(&x.level[1], t)
	}
	x.a.write(other, &x.level[1])
	x.b.write(h, &x.level[0])
	return weight(-x.level[1].travel, x.level[0].travel, sign*x.travel)
}

// weight returns w with (1 − w)·lo + w·hi = want, within [0, 1].
func weight(lo, hi, want float64) float64 {
	w := (want - lo) / (hi - lo)
	if !(w > 0) { // also 0/0: both motions are the same
		return 0
	}
	return min(w, 1)
}

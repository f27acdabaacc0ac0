package move

import "math"

// collinear is how far, relative to the largest of its kind, a number may be off
// the line on which the others lie: a few roundings.
const collinear = 1e-14

// alongLine tries to move all axes along the straight line between their states,
// as one axis that obeys the limits of all. Without Straight in the options it
// must not take longer than t.
func (m *Motion) alongLine(t float64, o Options) bool {
	lead := m.project()
	if lead < 0 {
		return false
	}
	l, ax := &m.line, &m.axes[lead]
	if m.bounds = m.shared(); !m.bounds.usable() {
		return false
	}
	if ax.velocity {
		l.reachVelocity(&m.bounds, ax.start, ax.to.V)
	} else {
		l.reach(&m.bounds, ax.start, ax.to)
	}
	if l.numBrakes > 0 {
		return false // each axis comes back into its limits by itself
	}
	took := l.fit(t, o)
	if o.Sync != Straight && took > t*grain {
		return false
	}
	m.duration, m.onLine = took, true
	l.writeTo(&m.profiles[lead], took)
	for i := range m.axes {
		if i != lead {
			m.profiles[i].follow(&m.profiles[lead], m.ratio[i], &m.axes[i])
		}
	}
	return true
}

// project finds the ratio of each axis to the one that moves most, whose number
// it returns, or −1 if they are not on one line or nothing moves.
func (m *Motion) project() int {
	var size, slack [numQuantities]float64
	place := 0.0 // a displacement is known as well as the positions
	for i := range m.axes {
		ax := &m.axes[i]
		if ax.numBrakes > 0 {
			return -1
		}
		place = max(place, math.Abs(ax.start.P)+math.Abs(ax.to.P))
		for k, v := range ax.quantities() {
			size[k] = max(size[k], math.Abs(v))
		}
	}
	for k := range size {
		slack[k] = collinear * size[k]
	}
	slack[0] += collinear * place
	// the kind of quantity that is known best names the line
	kind, known := -1, 1.0
	for k := range size {
		if size[k] > known*slack[k] {
			kind, known = k, size[k]/slack[k]
		}
	}
	if kind < 0 {
		return -1
	}
	lead := 0
	var of [numQuantities]float64
	for i := range m.axes {
		if q := m.axes[i].quantities(); math.Abs(q[kind]) == size[kind] {
			lead, of = i, q
		}
	}
	for i := range m.axes {
		q := m.axes[i].quantities()
		m.ratio[i] = q[kind] / of[kind]
		for k, v := range q {
			if math.Abs(v-m.ratio[i]*of[k]) > slack[k] {
				return -1
			}
		}
	}
	return lead
}

const numQuantities = 5

// quantities are what must be proportional.
func (ax *axis) quantities() [numQuantities]float64 {
	travel := ax.travel
	if ax.velocity {
		travel = 0
	}
	return [numQuantities]float64{travel, ax.from.V, ax.from.A, ax.to.V, ax.to.A}
}

// shared returns the limits of the leading axis that keep all others in theirs.
func (m *Motion) shared() Limits {
	s := Limits{-inf, inf, -inf, inf, inf}
	for i, r := range m.ratio {
		if r == 0 {
			continue
		}
		velMin, velMax, accMin, accMax := m.limits[i].oriented(r)
		r = math.Abs(r)
		s.VelMin, s.VelMax = max(s.VelMin, velMin/r), min(s.VelMax, velMax/r)
		s.AccMin, s.AccMax = max(s.AccMin, accMin/r), min(s.AccMax, accMax/r)
		s.Jerk = min(s.Jerk, m.limits[i].Jerk/r)
	}
	return s
}

// follow makes p the motion of a leading axis, scaled.
func (p *Profile) follow(lead *Profile, ratio float64, ax *axis) {
	c := p.begin(ax.start)
	for i := range lead.n {
		s := &lead.segments[i]
		c.add(s.dt, ratio*s.a, ratio*s.j)
	}
	target := ax.to
	if ax.velocity {
		target.P = c.p
	}
	c.finish(lead.duration, target)
}

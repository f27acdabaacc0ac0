package move

// maxSegments is how many segments of constant jerk a profile may have: two to
// come back into the limits, then thirteen where two motions of seven are mixed.
const maxSegments = 15

// segment is a time of constant jerk, described at its beginning.
type segment struct{ dt, p, v, a, j float64 }

// at returns the state after some time in the segment.
func (s *segment) at(dt float64) State {
	return State{
		P: s.p + dt*(s.v+dt*(s.a/2+dt*s.j/6)),
		V: s.v + dt*(s.a+dt*s.j/2),
		A: s.a + dt*s.j,
	}
}

// Profile is the motion of one axis: a chain of segments of constant jerk that
// ends in its target. Its methods are loop-safe.
type Profile struct {
	segments [maxSegments]segment
	ends     [maxSegments]float64 // when each segment ends, s
	n        int
	duration float64
	target   State
}

// Duration returns when the target is reached.
func (p *Profile) Duration() float64 { return p.duration }

// Target returns the state at the end. It is what was asked for, bit for bit.
func (p *Profile) Target() State { return p.target }

// At returns the state at time t. Before the start it is the start, from the end
// on the target, carried on with its velocity and acceleration if it has any.
func (p *Profile) At(t float64) State {
	if t >= p.duration {
		return p.after(t - p.duration)
	}
	ends := p.ends[:p.n]
	i, t0 := 0, 0.0
	for i < len(ends)-1 && t >= ends[i] {
		t0 = ends[i]
		i++
	}
	s, dt := &p.segments[i], t-t0
	if dt > s.dt {
		dt = s.dt
	}
	if dt < 0 {
		dt = 0
	}
	return s.at(dt)
}

func (p *Profile) after(dt float64) State {
	s := p.target
	return State{P: s.P + dt*(s.V+dt*s.A/2), V: s.V + dt*s.A, A: s.A}
}

// Jerk returns the jerk at time t, that of the later segment where two meet.
func (p *Profile) Jerk(t float64) float64 {
	if t < 0 || t >= p.duration {
		return 0
	}
	for i := range p.n {
		if t < p.ends[i] {
			return p.segments[i].j
		}
	}
	return 0
}

// Range is a closed interval.
type Range struct{ Min, Max float64 }

func (r *Range) add(x float64) { r.Min, r.Max = min(r.Min, x), max(r.Max, x) }

// Extremes are the least and greatest values that a motion takes between its
// start and its end.
type Extremes struct{ P, V, A, Jerk Range }

// Extremes returns the exact extremes: those of a cubic are at its ends and where
// its slope is zero.
func (p *Profile) Extremes() Extremes {
	s := p.At(0)
	e := Extremes{Range{s.P, s.P}, Range{s.V, s.V}, Range{s.A, s.A}, Range{}}
	for i := range p.n {
		s := &p.segments[i]
		end := s.at(s.dt)
		e.Jerk.add(s.j)
		e.A.add(s.a)
		e.A.add(end.A)
		e.V.add(s.v)
		e.V.add(end.V)
		if t := -s.a / s.j; t > 0 && t < s.dt {
			e.V.add(s.at(t).V)
		}
		e.P.add(end.P)
		t1, t2, _ := quadratic(s.j/2, s.a, s.v) // where v = 0
		for _, t := range [...]float64{t1, t2} {
			if t > 0 && t < s.dt {
				e.P.add(s.at(t).P)
			}
		}
	}
	e.P.add(p.target.P)
	return e
}

// chain builds a profile segment by segment.
type chain struct {
	profile *Profile
	t, p, v float64
	longest int // segment so far
}

func (p *Profile) begin(from State) chain {
	p.n = 0
	return chain{profile: p, p: from.P, v: from.V}
}

// add appends a phase; one that lasts no time is left out.
func (c *chain) add(dt, a, j float64) {
	if !(dt > 0) {
		return
	}
	p := c.profile
	c.t += dt
	p.segments[p.n] = segment{dt, c.p, c.v, a, j}
	p.ends[p.n] = c.t
	if dt > p.segments[c.longest].dt {
		c.longest = p.n
	}
	p.n++
	c.p += dt * (c.v + dt*(a/2+dt*j/6))
	c.v += dt * (a + dt*j/2)
}

// finish closes the profile. The sum of the phases is the duration up to
// rounding; the given one counts, so that all axes end together. What follows the
// longest segment is integrated backwards from the target: rounding then meets
// where it matters least, and the approach fits the target to the last digit.
func (c *chain) finish(duration float64, target State) {
	p := c.profile
	p.duration, p.target = duration, target
	if p.n == 0 {
		p.segments[0] = segment{duration, c.p, c.v, target.A, 0}
		p.ends[0] = duration
		p.n = 1
		return
	}
	at := target
	for i := p.n - 1; i > c.longest; i-- {
		s := &p.segments[i]
		s.v = at.V - s.dt*(s.a+s.dt*s.j/2)
		s.p = at.P - s.dt*(s.v+s.dt*(s.a/2+s.dt*s.j/6))
		at.P, at.V = s.p, s.v
	}
}

package gait

import "math"

// change is a gait that is to take the place of another while it walks.
type change struct {
	on   bool
	gait Gait    // with room of its own for phases
	at   float64 // lift-offs from here on are its own, s; infinite until that is known
}

// foreseen is how long the steps of the present gait stay as they are planned, in units of √(height/g): the
// centre of mass is on its way over them already, and what comes later counts for e^−4 of that.
const foreseen = 4

// nearly counts two lift-offs as one, s.
const nearly = 1e-6

// arrange finds when a new gait begins: the steps of the next moments remain; once the last of their feet
// has come down, the foot that would be lifted next is the first of the new gait. A body that is too fast
// for it slows down before.
func (p *Planner) arrange() {
	c := &p.change
	if !c.on || !math.IsInf(c.at, 1) || p.listed.on || p.footSpeed(p.now.v) > 1.02*c.gait.Fastest(p.cfg.Reach) {
		return
	}
	T, from := p.gait.Period, p.grid+foreseen*math.Sqrt(p.preview.c)
	first := 0
	for i := range p.feet {
		f := &p.feet[i]
		if lift := f.next + T*max(0, math.Ceil((from-f.next)/T-nearly)); lift < c.at-nearly {
			c.at, first = lift, i
		}
	}
	begin := c.at
	gap := max(2*crossing+step, min(p.gait.together(), c.gait.together()))
	for i := range p.feet {
		f := &p.feet[i]
		begin = max(begin, f.swing.land+gap)
		if n := math.Ceil((c.at-nearly-f.next)/T) - 1; n >= 0 { // its last step of the present gait
			begin = max(begin, f.next+n*T+(1-p.gait.Duty)*T+gap)
		}
	}
	for i := range p.feet {
		f := &p.feet[i]
		φ := c.gait.Phase[i] - c.gait.Phase[first]
		f.then = begin + c.gait.Period*(φ-math.Floor(φ))
		if f.next >= c.at-nearly {
			f.next = f.then
		}
	}
}

// by returns the gait of a step that begins at a time.
func (p *Planner) by(lift float64) *Gait {
	if p.change.on && lift >= p.change.at-nearly {
		return &p.change.gait
	}
	return &p.gait
}

// following returns when a foot is lifted again after a lift-off.
func (p *Planner) following(f *foot, lift float64) float64 {
	g := p.by(lift)
	next := lift + g.Period
	if p.change.on && g == &p.gait && next >= p.change.at-nearly {
		return f.then
	}
	return next
}

// changed takes the new gait once all steps of the old one have begun.
func (p *Planner) changed() {
	if !p.change.on {
		return
	}
	for i := range p.feet {
		if p.feet[i].next < p.change.at-nearly {
			return
		}
	}
	p.adopt(&p.change.gait)
}

// adopt walks by a gait from now on.
func (p *Planner) adopt(g *Gait) {
	p.change.on = false
	p.gait.Set(g)
	// so that the foot which is lifted last is still within reach of a body that sets off
	by := 0.5 * p.Fastest() / g.Period
	p.most = Velocity{X: by, Y: by, Yaw: by / p.arm}
	p.Command(p.command)
}

// Set makes g equal to a gait of as many legs. Loop-safe.
func (g *Gait) Set(from *Gait) {
	phase := g.Phase
	copy(phase, from.Phase)
	*g = *from
	g.Phase = phase
}

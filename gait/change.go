package gait

import (
	"errors"
	"fmt"
	"math"
)

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

// SetGait sets how it walks. Standing, it sets off so; while it walks, the steps of the next moments stay as they
// are planned, and those after them are of the new gait, without a stop. It copies the gait.
func (p *Planner) SetGait(g *Gait) error {
	if err := p.Fits(g); err != nil {
		return err
	}
	if p.phase != Walks && p.phase != Lands {
		p.adopt(g)
		return nil
	}
	if c := &p.change; c.on && !math.IsInf(c.at, 1) {
		return ErrChanging
	}
	p.change.gait.Set(g)
	p.change.on, p.change.at = true, math.Inf(1)
	p.Command(p.command)
	return nil
}

// Fits reports why a gait cannot be walked by; nil says that it can.
func (p *Planner) Fits(g *Gait) error {
	if err := g.Check(len(p.feet)); err != nil {
		return err
	}
	if stance := g.Duty * g.Period; stance < 3*p.cfg.Fade {
		return fmt.Errorf("gait %q: feet stand for %g s, and take and give up their load in %g s each", g.Name, stance, p.cfg.Fade)
	}
	return nil
}

// ErrChanging: one gait is about to take the place of another, and no third one can until it has.
var ErrChanging = errors.New("gait: it is changing to another gait: wait for its first step")

// Next returns the gait that it changes to, or that it has.
func (p *Planner) Next() *Gait {
	if p.change.on {
		return &p.change.gait
	}
	return &p.gait
}

// arrange finds when a new gait begins: the steps of the next moments remain; once the last of their feet
// has come down, the foot that would be lifted next is the first of the new gait. A body that is too fast
// for it slows down before.
func (p *Planner) arrange() {
	c := &p.change
	if !c.on || !math.IsInf(c.at, 1) || p.listed.on || p.footSpeed(p.now.v) > 1.02*c.gait.Fastest(p.cfg.Reach) {
		return
	}
	T, from := p.gait.Period, p.last+foreseen*math.Sqrt(p.preview.c)
	first := 0
	for i := range p.feet {
		f := &p.feet[i]
		if lift := f.next + T*max(0, math.Ceil((from-f.next)/T-nearly)); lift < c.at-nearly {
			c.at, first = lift, i
		}
	}
	begin := c.at
	gap := max(2*crossing+grid, min(p.gait.together(), c.gait.together()))
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

package lint

import (
	"fmt"
	"math"
	"slices"

	"poise/control/follow"
	"poise/motion"
	"poise/motion/forces"
	"poise/problem"
	"poise/robot"
)

// forces looks for torques, balance and contact forces beyond their limits. A robot without mass,
// or whose pose is not known, is not judged.
func (c *checker) forces(g *follow.Goal) {
	s, err := c.d.Stance(g, c.m)
	if err != nil {
		return
	}
	r, err := s.Judge(forces.Options{Period: c.o.Period, Margin: c.o.Margin})
	if err != nil {
		return
	}
	for _, p := range r.Spans {
		if p.Kind == forces.ZMP && p.Static && c.fallsWithin(p.From, p.To) {
			continue // the centre of mass says it
		}
		c.add(c.forceFinding(p))
	}
}

// Unjudged returns why the forces of a motion that can be played are not judged; nil if they are.
func Unjudged(d *motion.Document, m *robot.Model) error {
	g, err := d.Goal(motion.Part{})
	if err != nil || len(g.Points) < 2 {
		return nil
	}
	s, err := d.Stance(g, m)
	if err != nil {
		return nil
	}
	if err = s.Judgeable(); err != nil {
		return fmt.Errorf("torque and balance are not judged: %w", err)
	}
	return nil
}

// fallsWithin reports whether the centre of mass was found outside in a span of time.
func (c *checker) fallsWithin(from, to float64) bool {
	return slices.ContainsFunc(c.all, func(f problem.Problem) bool { return f.Code == Balance && f.At <= to && f.Until >= from })
}

func (c *checker) forceFinding(p forces.Span) problem.Problem {
	f := problem.Problem{At: p.From, Until: p.To, WorstAt: p.At, Value: p.Value, Limit: p.Limit, Row: c.rowAt(p.From) + 1}
	if math.IsInf(f.Value, 0) { // there is no number: the text says why
		f.Value, f.Limit = 0, 0
	}
	switch p.Kind {
	case forces.Torque:
		f.Code, f.Joint = Torque, c.m.Joints()[p.Joint].Name
	case forces.ZMP:
		f.Code = ZMP
	case forces.Unloaded:
		f.Code, f.Joint = Unloaded, c.m.Chains()[p.Chain].Name
	case forces.Missing:
		f.Code = ContactForce
	}
	f.Text = p.Text(c.m) + " " + c.span(p.From, p.To)
	return f
}

package lint

import (
	"math"
	"slices"

	"poise/control/follow"
	"poise/motion/forces"
	"poise/problem"
)

// forces looks for torques, balance and contact forces beyond their limits. A robot without mass,
// or whose pose is not known, is not judged.
func (c *checker) forces(g *follow.Goal) {
	s, err := c.d.Stance(g, c.m)
	if err != nil {
		return
	}
	s.StandOnAll()
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

// fallsWithin reports whether the centre of mass was found outside in a span of time.
func (c *checker) fallsWithin(from, to float64) bool {
	return slices.ContainsFunc(c.all, func(f problem.Problem) bool { return f.Code == Balance && f.At <= to && f.Until >= from })
}

func (c *checker) forceFinding(p forces.Span) problem.Problem {
	f := problem.Problem{At: p.From, Until: p.To, WorstAt: p.At, Value: p.Value, Limit: p.Limit, Row: c.rowAt(p.From) + 1}
	if math.IsInf(f.Value, 0) {
		f.Value = math.Copysign(math.MaxFloat64, f.Value)
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

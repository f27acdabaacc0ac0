package executive

import (
	"poise/control"
	"poise/problem"
	"poise/robot"
)

// Perform is a compiled program for one controller by name: what all other goals
// come to in the end.
type Perform struct {
	Controller string
	Program    control.Program
	Duration   float64 // s, 0 if it has no end
	Rate       float64 // of its clock; 0 is 1
}

// Operational switches a continuous controller on or off. On stays active until it
// is called off; its feedback is what the controller owns.
type Operational struct {
	Controller string
	On         bool
	Resources  []string // none are the controller's own
}

// Action returns the name of its action: each controller has one of its own.
func (g *Operational) Action() string { return g.Controller + "/set_operational" }

func (g *Operational) prepare(v *view) (*work, []Explanation) {
	s, why := v.cfg.operable(g.Controller)
	if why != nil {
		return nil, why
	}
	if !g.On {
		return &work{off: s.Name}, nil
	}
	names := g.Resources
	if len(names) == 0 {
		names = s.Resources
	}
	set, unknown := v.words.Set(names)
	if len(unknown) > 0 {
		return nil, unknown
	}
	return v.operate(s, set)
}

// operable finds a controller that can be switched on and off.
func (c *Config) operable(name string) (*Controller, []Explanation) {
	s, ok := c.controller(name)
	switch {
	case !ok:
		return nil, []Explanation{*problem.Unknown("unknown_controller", "controller", name, c.controllerNames())}
	case s.Operate == nil:
		return nil, []Explanation{*problem.New("not_continuous", "controller %q is not switched on and off: it performs goals", name).
			With("send it a goal")}
	}
	return s, nil
}

// operate makes the work of a continuous controller on some leaves.
func (v *view) operate(s *Controller, set robot.Set) (*work, []Explanation) {
	if set.Empty() {
		return nil, []Explanation{*problem.New("no_resources", "controller %q is to work on nothing", s.Name).With("name at least one resource")}
	}
	p, err := s.Operate(set, v.now)
	if err != nil {
		return nil, problem.All("invalid_resource_set", err)
	}
	return newWork([]string{s.Name}, p), nil
}

// Action returns the name of its action.
func (g *Perform) Action() string { return "perform" }

func (g *Perform) prepare(v *view) (*work, []Explanation) {
	if why := checkRate(g.Rate); why != nil {
		return nil, why
	}
	s, ok := v.cfg.controller(g.Controller)
	switch {
	case !ok:
		return nil, []Explanation{*problem.Unknown("unknown_controller", "controller", g.Controller, v.cfg.controllerNames())}
	case g.Program == nil:
		return nil, []Explanation{*problem.New("bad_program", "there is nothing to perform")}
	}
	w := newWork([]string{s.Name}, g.Program)
	w.duration, w.rate = g.Duration, g.Rate
	return w, nil
}

// maxRate is the largest speed of a motion, 200 %.
const maxRate = 2

func checkRate(rate float64) []Explanation {
	if rate >= 0 && rate <= maxRate {
		return nil
	}
	x := *problem.New("bad_value", "speed %g is not between 0 and %g", rate, float64(maxRate))
	x.Value, x.Limit = rate, maxRate
	return []Explanation{x}
}

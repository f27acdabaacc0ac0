package executive

import (
	"poise/control/step"
	"poise/problem"
	"poise/robot"
)

// Step moves limbs and base along Cartesian samples, with contacts.
type Step struct {
	Goal step.Goal
	Rate float64 // of its clock; 0 is 1
}

// Action returns the name of its action.
func (g *Step) Action() string { return "step" }

// Prepare compiles the steps from where the joints are.
func (g *Step) prepare(v *view) (*work, []Explanation) {
	if why := checkRate(g.Rate); why != nil {
		return nil, why
	}
	p, err := step.Compile(v.cfg.Model, step.Options{Transition: v.cfg.Follow.Transition, From: v.now.Command.Q}, &g.Goal)
	if err != nil {
		return nil, problem.All(step.BadStep, err)
	}
	w := newWork(v.cfg.pool(step.Kind.Name), p)
	if len(w.pool) == 0 {
		return nil, []Explanation{*problem.New("no_controller", "no controller plays steps")}
	}
	w.rate, w.duration = g.Rate, p.Duration()
	for leaf := range w.claim.All {
		if int(leaf) < len(v.cfg.Model.Joints()) {
			w.joints = append(w.joints, robot.JointID(leaf))
		}
	}
	return w, nil
}

package executive

import (
	"strings"

	"poise/action"
	"poise/problem"
	"poise/robot"
)

// torqueKind is the kind of the controller that lets limbs go.
const torqueKind = "torque_off"

// SetTorque gives resources their torque back or takes it away, while the rest
// holds. Without names it switches the power of the whole robot.
func (e *Executive) SetTorque(who string, on bool, resources []string) *Answer {
	if len(resources) == 0 {
		return e.ask(func() *Answer {
			if on {
				e.letHold()
			}
			return e.power(who, on)
		})
	}
	return e.ask(func() *Answer {
		pool := e.robot.pool(torqueKind)
		if len(pool) == 0 || e.robot.snap == nil {
			return e.refuse(who, "set torque", *problem.New("no_controller", "no controller lets single limbs go").With("switch the power of the whole robot"))
		}
		set, unknown := e.words.Set(resources)
		if len(unknown) > 0 {
			return e.refuse(who, "set torque", unknown...)
		}
		s := pool[0]
		limp := e.robot.limp.Minus(set)
		if !on {
			limp = e.robot.limp.Union(set)
		}
		return e.setLimp(who, s, limp)
	})
}

// setLimp makes the torque controller own exactly these leaves.
func (e *Executive) setLimp(who string, s *seat, limp robot.Set) *Answer {
	what := "torque off: " + strings.Join(e.words.Names(limp), ", ")
	j := &job{goal: &Operational{Controller: s.Name}, work: &work{off: s.Name}}
	if !limp.Empty() {
		w, why := e.operate(s, limp)
		j = &job{goal: &ready{s, w}, work: w, why: why}
	}
	a := newAnswer()
	j.watch.Changed = func(c Change) {
		switch {
		case c.To == action.Active && !limp.Empty(), c.To == action.Succeeded:
			a.resolve(Outcome{})
		case c.To.Terminal():
			a.resolve(Outcome{Explanations: c.Result.Explanations})
		}
	}
	e.audit(who, what, "asked")
	if _, err := e.submit(who, j); err != nil {
		a.resolve(Outcome{Explanations: problem.All("invalid", err)})
	}
	return a
}

// letHold ends what keeps limbs limp.
func (e *Executive) letHold() {
	for _, s := range e.robot.pool(torqueKind) {
		for _, j := range e.goals.of(s) {
			j.withdraw()
		}
	}
}

package executive

import (
	"fmt"
	"strings"

	"poise/action"
	"poise/executive/explain"
	"poise/loop"
	"poise/robot"
)

// Action names the server: each controller has its own.
func (g *Operational) Action() string { return g.Controller + "/set_operational" }

func (g *Operational) prepare(v *view) (*work, []Explanation) {
	e := v.e
	s, why := e.operable(g.Controller)
	if why != nil {
		return nil, why
	}
	if !g.On {
		return &work{off: s}, nil
	}
	names := g.Resources
	if len(names) == 0 {
		names = s.Resources
	}
	set, unknown := e.words.Set(names)
	if len(unknown) > 0 {
		return nil, unknown
	}
	return e.operate(s, set, v.snap)
}

// operable finds a controller that can be switched on and off.
func (e *Executive) operable(name string) (*seat, []Explanation) {
	s, ok := e.seat(name)
	switch {
	case !ok:
		return nil, []Explanation{explain.UnknownName("unknown_controller", "controller", name, e.controllerNames())}
	case s.Operate == nil:
		return nil, []Explanation{explain.Because("not_continuous", fmt.Sprintf("controller %q is not switched on and off: it performs goals", name)).
			With("send it a goal")}
	}
	return s, nil
}

// operate makes the work of a continuous controller on some leaves.
func (e *Executive) operate(s *seat, set robot.Set, now *loop.Snapshot) (*work, []Explanation) {
	if set.Empty() {
		return nil, []Explanation{explain.Because("no_resources", fmt.Sprintf("controller %q is to work on nothing", s.Name)).With("name at least one resource")}
	}
	p, err := s.Operate(set, now)
	if err != nil {
		return nil, explain.Errors("invalid_resource_set", err)
	}
	return newWork([]*seat{s}, p), nil
}

// switchOff calls off what the controller does; the goal is done when that is over.
func (j *job) switchOff() {
	e := j.e
	busy := false
	for _, other := range e.jobsOf(j.work.off) {
		busy = true
		other.withdraw()
	}
	if !busy {
		j.succeed()
	}
}

// withdraw calls a goal off in the cycle, without a wish of its client.
func (j *job) withdraw() {
	j.e.order(loop.Order{Kind: loop.CancelGoal, Controller: j.seat.id, Goal: j.number})
}

// offWaiters ends the goals that waited for a controller to be free.
func (e *Executive) offWaiters(s *seat) {
	if s == nil || len(e.jobsOf(s)) > 0 {
		return
	}
	for _, j := range append([]*job(nil), e.live...) {
		if j.work != nil && j.work.off == s && j.h.State() == action.Active {
			j.succeed()
		}
	}
}

// Action names the server.
func (g *Perform) Action() string { return "perform" }

func (g *Perform) prepare(v *view) (*work, []Explanation) {
	e := v.e
	s, ok := e.seat(g.Controller)
	switch {
	case !ok:
		return nil, []Explanation{explain.UnknownName("unknown_controller", "controller", g.Controller, e.controllerNames())}
	case g.Program == nil:
		return nil, []Explanation{explain.Because("bad_program", "there is nothing to perform")}
	}
	w := newWork([]*seat{s}, g.Program)
	w.duration, w.rate = g.Duration, g.Rate
	return w, checkRate(g.Rate)
}

// maxRate is the largest speed of a motion, 200 %.
const maxRate = 2

func checkRate(rate float64) []Explanation {
	if rate >= 0 && rate <= maxRate {
		return nil
	}
	x := explain.Because("bad_value", fmt.Sprintf("speed %g is not between 0 and %g", rate, float64(maxRate)))
	x.Value, x.Limit = rate, maxRate
	return []Explanation{x}
}

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
		pool := e.pool(torqueKind)
		if len(pool) == 0 || e.snap == nil {
			return e.refuse(who, "set torque", explain.Because("no_controller", "no controller lets single limbs go").With("switch the power of the whole robot"))
		}
		set, unknown := e.words.Set(resources)
		if len(unknown) > 0 {
			return e.refuse(who, "set torque", unknown...)
		}
		s := pool[0]
		limp := e.limp.Minus(set)
		if !on {
			limp = e.limp.Union(set)
		}
		return e.setLimp(who, s, limp)
	})
}

// setLimp makes the torque controller own exactly these leaves.
func (e *Executive) setLimp(who string, s *seat, limp robot.Set) *Answer {
	what := "torque off: " + strings.Join(e.words.Names(limp), ", ")
	j := &job{goal: &Operational{Controller: s.Name}, work: &work{off: s}}
	if !limp.Empty() {
		w, why := e.operate(s, limp, e.snap)
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
	if _, err := e.submit(who, "", 0, j); err != nil {
		a.resolve(Outcome{Explanations: explain.Errors("invalid", err)})
	}
	return a
}

// letHold ends what keeps limbs limp.
func (e *Executive) letHold() {
	for _, s := range e.pool(torqueKind) {
		for _, j := range e.jobsOf(s) {
			j.withdraw()
		}
	}
}

// noteLimp follows what the torque controllers own.
func (e *Executive) noteLimp() {
	e.limp = robot.Set{}
	for _, s := range e.pool(torqueKind) {
		if a := e.activity(s); a != nil && a.Active {
			e.limp = e.limp.Union(a.Own)
		}
	}
}

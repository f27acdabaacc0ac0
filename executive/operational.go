package executive

import (
	"strings"

	"poise/action"
	"poise/executive/desk"
	"poise/executive/explain"
	"poise/executive/wish"
	"poise/loop"
	"poise/robot"
)

// switchOff calls off what the controller does; the goal is done when that is over.
func (j *job) switchOff() {
	e := j.e
	off, _ := e.seat(j.work.Off)
	busy := false
	for _, other := range e.jobsOf(off) {
		busy = true
		other.withdraw()
	}
	if !busy {
		j.succeed()
	}
}

// operate makes the work of a continuous controller on some leaves, now.
func (e *Executive) operate(s *seat, set robot.Set) (*wish.Work, []Explanation) {
	v := &wish.View{Means: e.means, Now: e.snap}
	return v.Operate(s.Controller, set)
}

// withdraw calls a goal off in the cycle, without a wish of its client: somebody
// switched its controller off.
func (j *job) withdraw() {
	j.off = true
	j.e.desk.Order(loop.Order{Kind: loop.CancelGoal, Controller: j.seat.id, Goal: j.number})
}

// offWaiters ends the goals that waited for a controller to be free.
func (e *Executive) offWaiters(s *seat) {
	if s == nil || len(e.jobsOf(s)) > 0 {
		return
	}
	for _, j := range append([]*job(nil), e.live...) {
		if j.work != nil && j.work.Off == s.Name && j.h.State() == action.Active {
			j.succeed()
		}
	}
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
	j := &job{goal: &Operational{Controller: s.Name}, work: &wish.Work{Off: s.Name}}
	if !limp.Empty() {
		w, why := e.operate(s, limp)
		j = &job{goal: &ready{s, w}, work: w, why: why}
	}
	a := desk.NewAnswer()
	j.watch.Changed = func(c Change) {
		switch {
		case c.To == action.Active && !limp.Empty(), c.To == action.Succeeded:
			a.Resolve(Outcome{})
		case c.To.Terminal():
			a.Resolve(Outcome{Explanations: c.Result.Explanations})
		}
	}
	e.audit(who, what, "asked")
	if _, err := e.submit(who, "", 0, j); err != nil {
		a.Resolve(Outcome{Explanations: explain.Errors("invalid", err)})
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

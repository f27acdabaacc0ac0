package executive

import (
	"fmt"
	"slices"

	"poise/action"
	"poise/executive/explain"
)

// Goals are the goals of one action, whose lives the executive owns: ids are names
// within an action.
type Goals struct {
	e    *Executive
	name string
	many *action.Many[*job, Feedback, Result]
	over int // goals that ended and whose ids are not free yet
}

// maxActions is how many names of actions have goals of their own; who makes up more
// than that shares one.
const maxActions = 512

// Goals returns the goals of an action.
func (e *Executive) Goals(name string) (g *Goals) {
	e.locked(func() { g = e.goalsOf(name) })
	return g
}

func (e *Executive) goalsOf(name string) *Goals {
	g, ok := e.actions[name]
	if !ok && len(e.actions) >= maxActions {
		name = "other"
		g, ok = e.actions[name]
	}
	if !ok {
		g = &Goals{e: e, name: name}
		g.many = action.NewMany[*job, Feedback, Result](goalEvents{e}, goalEvents{e})
		if !e.closed {
			g.many.Start()
		}
		e.actions[name] = g
		e.names = append(e.names, name)
	}
	return g
}

// Submit takes a goal from somebody and returns at once; the goal is prepared
// elsewhere, after those that the same sender submitted before it. It returns the
// goal's id, ours if there is none; an id in use is an error (*action.DuplicateError),
// and then nothing happens. Everything else is told to the watch, a refusal too. stamp
// is the client's time for cancels by time, 0 if it has none.
func (g *Goals) Submit(who string, id action.ID, stamp action.Time, goal Goal, w Watch) (name action.ID, err error) {
	g.e.locked(func() { name, err = g.submit(id, stamp, &job{goal: goal, watch: w, who: who}) })
	return name, err
}

func (g *Goals) submit(id action.ID, stamp action.Time, j *job) (action.ID, error) {
	j.e, j.goals, j.halts = g.e, g, g.e.halts
	h, err := g.many.Submit(id, stamp, j)
	if err != nil {
		return "", err
	}
	return h.ID(), nil
}

// Cancel calls goals off, with the meaning of actionlib: no id and no stamp, all; a
// stamp, those stamped no later; an id, that one, also if it has not come yet. It
// returns how many goals it reached; each slows down along its path and then ends.
func (g *Goals) Cancel(who string, id action.ID, before action.Time) (n int) {
	e := g.e
	e.locked(func() {
		n = g.many.Cancel(id, before)
		e.audit(who, "cancel "+GoalID{g.name, id}.String(), fmt.Sprintf("%d reached", n))
	})
	return n
}

// Stop ends all goals of the action and takes no more. What runs in the cycle is
// called off.
func (g *Goals) Stop() {
	g.e.locked(func() {
		for _, j := range slices.Clone(g.e.live) {
			if j.goals == g {
				j.callOff()
			}
		}
		g.many.Stop(failed(explain.Because("server_stopped", "the action was closed")))
	})
}

// forget frees the ids of goals that were over by then.
func (g *Goals) forget(before int64) {
	if g.over == 0 {
		return
	}
	g.many.Forget(func(h *action.Handle[*job, Feedback, Result]) bool {
		if h.Goal().over > before {
			return true
		}
		g.over--
		return false
	})
}

// goalEvents are the callbacks of the goal machines, with everything locked.
type goalEvents struct{ e *Executive }

func (x goalEvents) Goal(h *action.Handle[*job, Feedback, Result]) {
	if j := h.Goal(); j.work != nil || j.why != nil {
		j.begin() // it is prepared already
	} else {
		x.e.prepareSoon(j)
	}
}

func (x goalEvents) Cancel(h *action.Handle[*job, Feedback, Result]) { h.Goal().cancel() }

func (x goalEvents) Changed(h *action.Handle[*job, Feedback, Result], c action.Change[Result]) {
	j := h.Goal()
	j.h = h
	j.changed(c)
}

func (x goalEvents) Feedback(h *action.Handle[*job, Feedback, Result], f Feedback) {
	if call := h.Goal().watch.Feedback; call != nil {
		x.e.out.add(func() { call(f) })
	}
}

package executive

import (
	"fmt"
	"slices"

	"poise/action"
	"poise/problem"
)

// Goals are the goals of one action, whose lives the executive owns: ids are names
// within an action.
type Goals struct {
	e    *Executive
	name string
	many *action.Many[*job, Feedback, Result]
	over int // goals that ended and whose ids are not free yet
}

// goalBook lists the goals.
type goalBook struct {
	actions map[string]*Goals
	names   []string        // of actions, by arrival
	live    []*job          // goals that are not over, by arrival
	ordered map[uint64]*job // those that the cycle was given, by the number of the order
}

func newGoalBook() goalBook {
	return goalBook{actions: map[string]*Goals{}, ordered: map[uint64]*job{}}
}

// of returns the goals that were ordered of a controller and are not over.
func (b *goalBook) of(s *seat) (all []*job) {
	for _, j := range b.live {
		if j.seat == s {
			all = append(all, j)
		}
	}
	return all
}

// forget frees the ids of goals that were over by then.
func (b *goalBook) forget(before int64) {
	for _, name := range b.names {
		b.actions[name].forget(before)
	}
}

// choose finds the controller for some work: the one that moves some of its joints
// already, which is then replaced in flight, or else one that is free.
func (b *goalBook) choose(w *work, r *robotState) (*seat, Explanation) {
	if j := b.awaits(w, r); j != nil {
		return nil, *problem.New("not_granted", "%s takes steps to where its feet begin, and moves joints of this goal then", j.title()).With("%s", j.patience())
	}
	var free *seat
	var busy []string
	for _, name := range w.pool {
		s, _ := r.seat(name)
		jobs := b.of(s)
		for _, j := range jobs {
			if j.work.claim.Overlaps(w.claim) {
				return s, Explanation{}
			}
		}
		switch {
		case len(jobs) > 0:
			busy = append(busy, jobs[len(jobs)-1].id.String())
		case free == nil || r.halted(free) && !r.halted(s):
			free = s
		}
	}
	if free == nil && len(w.pool) == 1 {
		s, _ := r.seat(w.pool[0])
		return s, Explanation{} // what it does is replaced
	}
	if free == nil {
		return nil, *problem.New("all_busy", "all %d controllers for such goals are busy with other joints: %v", len(w.pool), busy).
			With("wait for one of them to end, or cancel it")
	}
	return free, Explanation{}
}

// offWaiters ends the goals that waited for a controller to be free.
func (b *goalBook) offWaiters(s *seat) {
	if s == nil || len(b.of(s)) > 0 {
		return
	}
	for _, j := range slices.Clone(b.live) {
		if j.work != nil && j.work.off == s.Name && j.h.State() == action.Active {
			j.succeed()
		}
	}
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
	g, ok := e.goals.actions[name]
	if !ok && len(e.goals.actions) >= maxActions {
		name = "other"
		g, ok = e.goals.actions[name]
	}
	if !ok {
		g = &Goals{e: e, name: name}
		g.many = action.NewMany[*job, Feedback, Result](goalEvents{e}, goalEvents{e})
		if !e.closed {
			g.many.Start()
		}
		e.goals.actions[name] = g
		e.goals.names = append(e.goals.names, name)
	}
	return g
}

// Submit takes a goal from a client and returns at once; the goal is prepared
// elsewhere, after those that the same sender submitted before it. It returns the
// goal's id, ours if there is none; an id in use is an error (*action.DuplicateError),
// and then nothing happens. Everything else is told to the watch, a refusal too. stamp
// is the client's time for cancels by time, 0 if it has none.
func (g *Goals) Submit(who string, id action.ID, stamp action.Time, goal Goal, w Watch) (name action.ID, err error) {
	g.e.locked(func() { name, err = g.submit(id, stamp, &job{goal: goal, watch: w, who: who}) })
	return name, err
}

func (g *Goals) submit(id action.ID, stamp action.Time, j *job) (action.ID, error) {
	j.e, j.goals, j.halts = g.e, g, g.e.halts()
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
		for _, j := range slices.Clone(g.e.goals.live) {
			if j.goals == g {
				j.callOff()
			}
		}
		g.many.Stop(failed(*problem.New("server_stopped", "the action was closed")))
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

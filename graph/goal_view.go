package graph

import (
	"cmp"
	"time"

	"poise/action"
	"poise/internal/budget"
	"poise/msgs/poisemsgs"
	"poise/msgs/rosjson"
)

// GoalChange is a step in the life of a goal, as its server tells it.
type GoalChange struct {
	ID    action.ID
	State action.State
	Cause action.Cause
	Text  string // why, for people
	// Result is a pointer to the action's result struct once State is final; nil makes
	// one that tells of no success.
	Result any
	// Explanations are why it ended and what else should be known of it.
	Explanations []poisemsgs.Explanation
}

// GoalView shows one goal: to its clients, and on the topics of its action. It is kept
// for a while after the end of the goal.
type GoalView struct {
	server *ActionServer
	stamp  action.Time

	// with the lock of the server
	id      action.ID
	shown   bool
	clients []*GoalClient
	last    GoalUpdate
	ended   time.Time

	forgotten bool

	account *budget.Account // until the goal is over
	cost    int64           // of the goal
	kept    int64           // bytes of its result
}

// giveBack ends what the goal costs its client. The lock is held.
func (v *GoalView) giveBack() {
	v.account.Give(budget.Messages, v.cost)
	v.account = nil
}

// begin shows the goal for the first time, pending. The lock is held.
func (v *GoalView) begin(id action.ID) {
	if v.shown {
		return
	}
	s := v.server
	v.shown, v.id = true, id
	s.arriving--
	s.views[id] = v
	s.order = append(s.order, v)
	for _, c := range v.clients {
		c.id = id
	}
	v.show(GoalUpdate{State: action.Pending})
}

// Changed shows a new state of the goal.
func (v *GoalView) Changed(c GoalChange) {
	s := v.server
	if c.Result != nil {
		s.check(c.Result, s.typ.Result)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v.begin(c.ID)
	if c.State == action.Pending {
		return // as it began
	}
	u := GoalUpdate{State: c.State, Cause: c.Cause, Text: c.Text, Explanations: c.Explanations}
	if c.State.Terminal() {
		v.ended = s.o.Now()
		value := c.Result
		if value == nil {
			value = s.failure(cmp.Or(c.Text, c.Cause.String()))
		}
		u.Result = &Message{Type: s.typ.Result, Value: value, From: s.node}
		v.giveBack()
		if !s.closed {
			v.kept = rosjson.Memory(value)
			s.g.kept.Add(v.kept)
		}
	}
	v.show(u)
}

func (v *GoalView) show(u GoalUpdate) {
	v.last = u
	for _, c := range v.clients {
		c.push(u)
	}
	v.server.tellChange(v)
}

// GoalFeedback is the progress of a goal.
type GoalFeedback struct {
	Value any                 // pointer to the action's feedback struct
	Info  *poisemsgs.GoalInfo // may be nil
}

// Feedback publishes the progress of a running goal. It is made only for subscribers.
func (v *GoalView) Feedback(made func() GoalFeedback) {
	s := v.server
	s.mu.Lock()
	wanted := v.shown && v.last.State.Running() && (len(v.clients) > 0 || s.feedback != nil && s.feedback.Wanted())
	s.mu.Unlock()
	if !wanted {
		return
	}
	f := made()
	s.check(f.Value, s.typ.Feedback)
	s.mu.Lock()
	defer s.mu.Unlock()
	u := GoalUpdate{State: v.last.State, Feedback: &Message{Type: s.typ.Feedback, Value: f.Value, From: s.node}, Info: f.Info}
	for _, c := range v.clients {
		c.push(u)
	}
	s.tellFeedback(v, f.Value)
}

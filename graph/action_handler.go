package graph

import (
	"fmt"
	"sync"

	"poise/action"
	"poise/msgs/poisemsgs"
	"poise/msgs/registry"
)

// ActionHandler serves goals one callback at a time: how components, and clients of a
// wire, serve an action. Both are called without locks, one call at a time and in the
// order of events; a handler may act on the goal at once or keep it for later.
type ActionHandler struct {
	Goal   func(h *GoalHandle) // a new goal, pending
	Cancel func(h *GoalHandle) // its client wants the end; without it, goals end at once
}

// ServeAction registers an action by the name of its type, served by a handler.
func (g *Graph) ServeAction(name, typeName string, h ActionHandler, o ActionOptions) (*ActionServer, error) {
	typ, _, err := registry.ActionNamed(typeName)
	if err != nil {
		return nil, err
	}
	return g.serveAction(name, typ, h, o)
}

func (g *Graph) serveAction(name string, typ *registry.Action, h ActionHandler, o ActionOptions) (*ActionServer, error) {
	s := g.newAction(typ, o)
	goals := &handledGoals{action: s, handler: h}
	goals.many = action.NewMany[*GoalHandle, any, any]((*handledEvents)(goals), (*handledEvents)(goals))
	goals.many.Start()
	s.goals, s.tidy = goals, func() { goals.locked(goals.forget) }
	if err := s.open(name); err != nil {
		return nil, err
	}
	return s, nil
}

// handledGoals is the GoalServer of a handler.
type handledGoals struct {
	action  *ActionServer
	handler ActionHandler

	mu      sync.Mutex
	many    *action.Many[*GoalHandle, any, any]
	calls   []handlerCall // waiting for their turn
	calling bool
}

// GoalHandle is a goal as its handler has it. It stays valid for ever and refuses what
// the goal's state does not allow.
type GoalHandle struct {
	goals  *handledGoals
	goal   *action.Handle[*GoalHandle, any, any]
	view   *GoalView
	caller string
	value  any
	typed  any

	// with the lock of goals
	info *poisemsgs.GoalInfo
	why  []poisemsgs.Explanation
}

// handlerCall is a call of the handler.
type handlerCall struct {
	f func(*GoalHandle)
	h *GoalHandle
}

func (s *handledGoals) Submit(q GoalRequest, v *GoalView) (id action.ID, err error) {
	s.locked(func() {
		s.forget()
		var h *action.Handle[*GoalHandle, any, any]
		if h, err = s.many.Submit(q.ID, q.Stamp, &GoalHandle{goals: s, view: v, caller: q.Caller, value: q.Goal}); err == nil {
			id = h.ID()
		}
	})
	return id, err
}

// forget frees the names of goals that are not shown any more. The lock is held.
func (s *handledGoals) forget() {
	s.action.mu.Lock()
	defer s.action.mu.Unlock()
	s.many.Forget(func(h *action.Handle[*GoalHandle, any, any]) bool { return !h.Goal().view.forgotten })
}

func (s *handledGoals) Cancel(_ string, id action.ID, stamp action.Time) (n int) {
	s.locked(func() { n = s.many.Cancel(id, stamp) })
	return n
}

func (s *handledGoals) Stop(gone bool) {
	s.locked(func() {
		if gone {
			s.many.Lose()
		} else {
			s.many.Stop(nil)
		}
	})
}

// locked runs f with the lock held, and then, without it, the handler's calls
// that f caused. Calls caused meanwhile by others, or by the handler itself, are
// made by the caller that is calling already: one at a time, in order.
func (s *handledGoals) locked(f func()) {
	s.mu.Lock()
	f()
	if s.calling {
		s.mu.Unlock()
		return
	}
	s.calling = true
	for len(s.calls) > 0 {
		next := s.calls[0]
		s.calls = s.calls[1:]
		s.mu.Unlock()
		next.make()
		s.mu.Lock()
	}
	s.calling = false
	s.mu.Unlock()
}

// make calls the handler. Its panic is the end of the goal, not of the action.
func (c handlerCall) make() {
	defer func() {
		if p := recover(); p != nil {
			why := fmt.Sprintf("the handler panicked: %v", p)
			_ = c.h.Reject(action.Fault, nil, why) || c.h.Abort(action.Fault, nil, why)
		}
	}()
	c.f(c.h)
}

// handledEvents are the callbacks of the goal machine, with the lock held.
type handledEvents handledGoals

func (s *handledEvents) Goal(h *action.Handle[*GoalHandle, any, any]) {
	s.calls = append(s.calls, handlerCall{s.handler.Goal, h.Goal()})
}

func (s *handledEvents) Cancel(h *action.Handle[*GoalHandle, any, any]) {
	if s.handler.Cancel == nil {
		h.Withdraw(action.ClientCancel, nil, "cancelled")
		return
	}
	s.calls = append(s.calls, handlerCall{s.handler.Cancel, h.Goal()})
}

func (s *handledEvents) Changed(h *action.Handle[*GoalHandle, any, any], c action.Change[any]) {
	h.Goal().goal = h
	h.Goal().view.Changed(GoalChange{ID: c.ID, State: c.To, Cause: c.Cause, Text: c.Detail, Result: c.Result,
		Explanations: h.Goal().why})
}

func (s *handledEvents) Feedback(h *action.Handle[*GoalHandle, any, any], f any) {
	h.Goal().view.Feedback(func() GoalFeedback { return GoalFeedback{Value: f, Info: h.Goal().info} })
}

// ID returns the goal's name.
func (h *GoalHandle) ID() action.ID { return h.goal.ID() }

// Stamp returns when the client says that it asked.
func (h *GoalHandle) Stamp() action.Time { return h.goal.Stamp() }

// Caller returns who sent the goal.
func (h *GoalHandle) Caller() string { return h.caller }

// Value returns a pointer to the goal. It is shared and must not be written.
func (h *GoalHandle) Value() any { return h.value }

// Passed drops the value of a goal that was handed on to where it is worked on: it is not
// kept here until the goal is forgotten.
func (h *GoalHandle) Passed() { h.value = nil }

// State returns where the goal stands.
func (h *GoalHandle) State() (s action.State) {
	h.goals.mu.Lock()
	defer h.goals.mu.Unlock()
	return h.goal.State()
}

// Explain says why the goal will end, or what should be known of its end: before the
// call that ends it.
func (h *GoalHandle) Explain(why []poisemsgs.Explanation) {
	h.goals.mu.Lock()
	defer h.goals.mu.Unlock()
	h.why = why
}

// Inform says how far the goal is: with the feedback that follows.
func (h *GoalHandle) Inform(info *poisemsgs.GoalInfo) {
	h.goals.mu.Lock()
	defer h.goals.mu.Unlock()
	h.info = info
}

// Accept starts the goal and reports whether that was legal.
func (h *GoalHandle) Accept() (ok bool) {
	h.goals.locked(func() { ok = h.goal.Accept() })
	return ok
}

// Feedback reports the progress of a running goal.
func (h *GoalHandle) Feedback(f any) (ok bool) {
	a := h.goals.action
	a.check(f, a.typ.Feedback)
	h.goals.locked(func() { ok = h.goal.Feedback(f) })
	return ok
}

// Reject refuses a goal that has not been accepted. Without a result it gets one that
// tells of no success, here and below.
func (h *GoalHandle) Reject(c action.Cause, r any, text string) bool {
	return h.end(r, func() bool { return h.goal.Reject(c, r, text) })
}

// Succeed ends a running goal that did what it was asked to.
func (h *GoalHandle) Succeed(r any, text string) bool {
	if r == nil {
		r = h.goals.action.typ.Result.New()
	}
	return h.end(r, func() bool { return h.goal.Succeed(r, text) })
}

// Abort ends a running goal that cannot go on.
func (h *GoalHandle) Abort(c action.Cause, r any, text string) bool {
	return h.end(r, func() bool { return h.goal.Abort(c, r, text) })
}

// Withdraw ends a goal that its client or a newer goal called off.
func (h *GoalHandle) Withdraw(c action.Cause, r any, text string) bool {
	return h.end(r, func() bool { return h.goal.Withdraw(c, r, text) })
}

func (h *GoalHandle) end(r any, end func() bool) (ok bool) {
	if r != nil {
		h.goals.action.check(r, h.goals.action.typ.Result)
	}
	h.goals.locked(func() { ok = end() })
	return ok
}

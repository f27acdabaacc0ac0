package graph

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"poise/action"
	"poise/msgs"
	"poise/msgs/registry"
)

// ActionOptions say how an action is served.
type ActionOptions struct {
	Node     string // who serves; default the graph's own
	MaxGoals int    // goals not over yet; default 64
}

const (
	defaultMaxGoals = 64
	maxKept         = 4096 // goals that are known, those with kept results among them
)

// ActionHandler is the untyped server's side of an action. Both are called without
// locks, one call at a time and in the order of events; a handler may act on the
// goal at once or keep it for later.
type ActionHandler struct {
	Goal   func(h *GoalHandle) // a new goal, pending
	Cancel func(h *GoalHandle) // its client wants the end; without it, goals end at once
}

// ActionServer is the registration of an action.
type ActionServer struct {
	g        *Graph
	o        Options // of the graph
	name     string
	node     string
	typ      *registry.Action
	handler  ActionHandler
	maxGoals int

	mu       sync.Mutex
	many     *action.Many[any, any, any]
	goals    map[action.ID]*goalRecord
	arriving *goalRecord   // the goal that is being submitted
	calls    []handlerCall // of the handler, waiting for their turn
	calling  bool
	closed   bool
	refused  []refusal // on ROS 1's topics, not long ago

	status, feedback, result *Advertisement
	ends                     []func() // of the topics read
}

// handlerCall is a call of the handler that waits for its turn.
type handlerCall struct {
	f func(*GoalHandle)
	h *GoalHandle
}

// goalRecord is what the graph knows of a goal, kept for a while after its end.
type goalRecord struct {
	handle  *GoalHandle
	caller  string
	clients []*GoalClient
	id      action.ID
	stamp   action.Time
	last    GoalUpdate
	ended   time.Time
}

// GoalHandle is a goal in the hands of its server. It stays valid for ever and
// refuses what the goal's state does not allow.
type GoalHandle struct {
	server *ActionServer
	goal   *action.Handle[any, any, any]
	caller string
	typed  any
}

// ServeAction registers an action by the name of its type.
func (g *Graph) ServeAction(name, typeName string, h ActionHandler, o ActionOptions) (*ActionServer, error) {
	typ, _, err := registry.ActionNamed(typeName)
	if err != nil {
		return nil, err
	}
	return g.serveAction(name, typ, h, o)
}

func (g *Graph) serveAction(name string, typ *registry.Action, h ActionHandler, o ActionOptions) (*ActionServer, error) {
	if o.MaxGoals <= 0 {
		o.MaxGoals = defaultMaxGoals
	}
	s := &ActionServer{g: g, o: g.o, typ: typ, handler: h, maxGoals: o.MaxGoals, goals: map[action.ID]*goalRecord{}}
	s.node = cmp.Or(o.Node, s.o.Node)
	s.many = action.NewMany[any, any, any]((*manyHandler)(s), (*manyObserver)(s))
	s.many.Start()
	err := g.addAction(name, s)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	err = s.openTopics()
	s.mu.Unlock()
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("action %s: %w", s.name, err)
	}
	return s, nil
}

// addAction puts an action into the graph and gives it its name in full.
func (g *Graph) addAction(name string, s *ActionServer) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	name, err := g.resolve(name)
	switch {
	case err != nil:
		return err
	case g.closed:
		return ErrClosed
	case g.actions[name] != nil:
		return &ExistsError{Kind: "action", Name: name, Owner: g.actions[name].node}
	case len(g.actions) >= g.o.MaxNames:
		return &FullError{What: "actions", Limit: g.o.MaxNames}
	}
	s.name = name
	g.actions[name] = s
	return nil
}

// removeAction takes the name back from an action that still has it.
func (g *Graph) removeAction(s *ActionServer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.actions[s.name] == s {
		delete(g.actions, s.name)
	}
}

// actionNamed returns the action of a name.
func (g *Graph) actionNamed(name string) (*ActionServer, error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	name, err := g.resolve(name)
	if err != nil {
		return nil, err
	}
	if s := g.actions[name]; s != nil {
		return s, nil
	}
	return nil, &NotFoundError{Kind: "action", Name: name}
}

// actionServers returns all actions, by name.
func (g *Graph) actionServers() []*ActionServer {
	g.mu.RLock()
	defer g.mu.RUnlock()
	out := make([]*ActionServer, 0, len(g.actions))
	for _, name := range slices.Sorted(maps.Keys(g.actions)) {
		out = append(out, g.actions[name])
	}
	return out
}

// Close ends the action: running goals are aborted, waiting ones rejected.
func (s *ActionServer) Close() {
	s.end(func() { s.many.Stop(nil) })
}

// Lose ends the action of a server that is gone, a client whose connection broke:
// its goals are lost.
func (s *ActionServer) Lose() {
	s.end(func() { s.many.Lose() })
}

func (s *ActionServer) end(goals func()) {
	s.locked(func() {
		if s.closed {
			return
		}
		s.closed = true
		goals()
	})
	s.closeTopics()
	s.g.removeAction(s)
}

// locked runs f with the lock held, and then, without it, the handler's calls
// that f caused. Calls caused meanwhile by others, or by the handler itself, are
// made by whoever is calling already: one at a time, in order.
func (s *ActionServer) locked(f func()) {
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

// manyHandler is the server as its goal machine sees it.
type manyHandler ActionServer

func (m *manyHandler) Goal(h *action.Handle[any, any, any]) {
	s := (*ActionServer)(m)
	rec := s.goals[h.ID()]
	rec.handle = &GoalHandle{server: s, goal: h, caller: rec.caller}
	s.calls = append(s.calls, handlerCall{s.handler.Goal, rec.handle})
}

func (m *manyHandler) Cancel(h *action.Handle[any, any, any]) {
	s := (*ActionServer)(m)
	rec := s.goals[h.ID()]
	if s.handler.Cancel == nil {
		h.Withdraw(action.ClientCancel, s.failure("cancelled"), "cancelled")
		return
	}
	s.calls = append(s.calls, handlerCall{s.handler.Cancel, rec.handle})
}

// manyObserver is the server as told of what happens, with the lock held.
type manyObserver ActionServer

func (o *manyObserver) Changed(c action.Change[any]) {
	s := (*ActionServer)(o)
	rec := s.goals[c.ID]
	if rec == nil {
		rec = s.arriving
		rec.id = c.ID
		s.goals[c.ID] = rec
		for _, client := range rec.clients {
			client.id = c.ID
		}
	}
	u := GoalUpdate{State: c.To, Cause: c.Cause, Text: c.Detail}
	if c.To.Terminal() {
		rec.ended = s.o.Now()
		value := c.Result
		if value == nil {
			value = s.failure(cmp.Or(c.Detail, c.Cause.String()))
		}
		u.Result = &Message{Type: s.typ.Result, Value: value, From: s.node}
	}
	rec.last = u
	for _, client := range rec.clients {
		client.push(u)
	}
	s.tellChange(rec)
}

func (o *manyObserver) Feedback(id action.ID, f any) {
	s := (*ActionServer)(o)
	rec := s.goals[id]
	u := GoalUpdate{State: rec.last.State, Feedback: &Message{Type: s.typ.Feedback, Value: f, From: s.node}}
	for _, client := range rec.clients {
		client.push(u)
	}
	s.tellFeedback(rec, f)
}

// submit takes a goal. The record carries who sends it and who watches it.
func (s *ActionServer) submit(id action.ID, stamp action.Time, goal any, rec *goalRecord) (err error) {
	s.locked(func() {
		s.forget()
		switch {
		case s.closed:
			err = &NotFoundError{Kind: "action", Name: s.name}
			return
		case s.open() >= s.maxGoals:
			err = &FullError{What: "goals of action " + s.name, Limit: s.maxGoals}
			return
		case len(s.goals) >= maxKept:
			err = &FullError{What: "goals of action " + s.name + " within " + s.o.KeepResults.String(), Limit: maxKept}
			return
		}
		rec.stamp = stamp
		s.arriving = rec
		_, err = s.many.Submit(id, stamp, goal)
		s.arriving = nil
	})
	return err
}

// open counts the goals that are not over.
func (s *ActionServer) open() (n int) {
	for _, h := range s.many.Goals() {
		if !h.State().Terminal() {
			n++
		}
	}
	return n
}

// forget drops goals that have been over for long enough.
func (s *ActionServer) forget() {
	now := s.o.Now()
	s.many.Forget(func(id action.ID) bool {
		if now.Sub(s.goals[id].ended) <= s.o.KeepResults {
			return true
		}
		delete(s.goals, id)
		return false
	})
}

func (s *ActionServer) cancel(id action.ID, stamp action.Time) (n int) {
	s.locked(func() { n = s.many.Cancel(id, stamp) })
	return n
}

// ID returns the goal's name.
func (h *GoalHandle) ID() action.ID { return h.goal.ID() }

// Stamp returns when the client says that it asked.
func (h *GoalHandle) Stamp() action.Time { return h.goal.Stamp() }

// Caller returns who sent the goal.
func (h *GoalHandle) Caller() string { return h.caller }

// Value returns a pointer to the goal. It is shared and must not be written.
func (h *GoalHandle) Value() any { return h.goal.Goal() }

// State returns where the goal stands.
func (h *GoalHandle) State() (s action.State) {
	h.server.mu.Lock()
	defer h.server.mu.Unlock()
	return h.goal.State()
}

// Accept starts the goal and reports whether that was legal.
func (h *GoalHandle) Accept() (ok bool) {
	h.server.locked(func() { ok = h.goal.Accept() })
	return ok
}

// Feedback tells how a running goal gets on.
func (h *GoalHandle) Feedback(f any) (ok bool) {
	h.server.check(f, h.server.typ.Feedback)
	h.server.locked(func() { ok = h.goal.Feedback(f) })
	return ok
}

// Reject refuses a goal that has not been accepted. Without a result it gets one that
// tells of no success, here and below.
func (h *GoalHandle) Reject(c action.Cause, r any, text string) bool {
	return h.over(r, func(r any) bool { return h.goal.Reject(c, r, text) })
}

// Succeed ends a running goal that did what it was asked to.
func (h *GoalHandle) Succeed(r any, text string) bool {
	if r == nil {
		r = h.server.typ.Result.New()
	}
	return h.over(r, func(r any) bool { return h.goal.Succeed(r, text) })
}

// Abort ends a running goal that cannot go on.
func (h *GoalHandle) Abort(c action.Cause, r any, text string) bool {
	return h.over(r, func(r any) bool { return h.goal.Abort(c, r, text) })
}

// Withdraw ends a goal that its client or a newer goal called off.
func (h *GoalHandle) Withdraw(c action.Cause, r any, text string) bool {
	return h.over(r, func(r any) bool { return h.goal.Withdraw(c, r, text) })
}

func (h *GoalHandle) over(r any, end func(any) bool) (ok bool) {
	if r != nil {
		h.server.check(r, h.server.typ.Result)
	}
	h.server.locked(func() { ok = end(r) })
	return ok
}

// failure is the result of a goal that did not succeed and whose server gave it none:
// in many types no error code is that of success.
func (s *ActionServer) failure(why string) any {
	r := s.typ.Result.New()
	v := reflect.ValueOf(r).Elem()
	if code := v.FieldByName("ErrorCode"); code.IsValid() {
		switch x := code.Addr().Interface().(type) {
		case *int32:
			*x = -1
		case *msgs.MoveItErrorCodes:
			x.Val, x.Message = msgs.ErrorFailure, why
		}
	}
	if text := v.FieldByName("ErrorString"); text.IsValid() {
		text.SetString(why)
	}
	return r
}

// check panics for a value of the wrong type: goal handles are for code, and
// wires check what they read before.
func (s *ActionServer) check(v any, t *registry.Type) {
	if !t.Holds(v) {
		panic("graph: " + WrongValue("action", s.name, v, t).Error())
	}
}

// openGoals returns how many goals are not over.
func (s *ActionServer) openGoals() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open()
}

// stampOf returns a moment as the header of a message has it.
func stampOf(t time.Time) msgs.Time { return msgs.TimeOf(t.UnixNano()) }

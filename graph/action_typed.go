package graph

import (
	"fmt"

	"poise/action"
	"poise/msgs/registry"
)

// Goal is a goal of a component's action. See GoalHandle.
type Goal[G, F, R any] struct{ *GoalHandle }

// Value returns the goal. It is shared and must not be written.
func (h *Goal[G, F, R]) Value() *G { return h.GoalHandle.Value().(*G) }

// Feedback reports the progress of a running goal.
func (h *Goal[G, F, R]) Feedback(f *F) bool { return h.GoalHandle.Feedback(f) }

// Reject refuses a goal that has not been accepted.
func (h *Goal[G, F, R]) Reject(c action.Cause, r R, text string) bool {
	return h.GoalHandle.Reject(c, &r, text)
}

// Succeed ends a running goal that did what it was asked to.
func (h *Goal[G, F, R]) Succeed(r R, text string) bool { return h.GoalHandle.Succeed(&r, text) }

// Abort ends a running goal that cannot go on.
func (h *Goal[G, F, R]) Abort(c action.Cause, r R, text string) bool {
	return h.GoalHandle.Abort(c, &r, text)
}

// Withdraw ends a goal that its client or a newer goal called off.
func (h *Goal[G, F, R]) Withdraw(c action.Cause, r R, text string) bool {
	return h.GoalHandle.Withdraw(c, &r, text)
}

// ActionCallbacks is a component's side of an action; see ActionHandler. The same
// goal always comes as the same pointer.
type ActionCallbacks[G, F, R any] struct {
	Goal   func(h *Goal[G, F, R])
	Cancel func(h *Goal[G, F, R])
}

// Action registers an action of a component.
func Action[G, F, R any](g *Graph, name string, h ActionCallbacks[G, F, R], o ActionOptions) (*ActionServer, error) {
	typ, ok := registry.ActionFor[G, F, R]()
	if !ok {
		panic(fmt.Sprintf("graph: no action of the registry has %T, %T and %T", *new(G), *new(F), *new(R)))
	}
	typed := func(h *GoalHandle) *Goal[G, F, R] {
		if h.typed == nil {
			h.typed = &Goal[G, F, R]{h}
		}
		return h.typed.(*Goal[G, F, R])
	}
	untyped := ActionHandler{Goal: func(x *GoalHandle) { h.Goal(typed(x)) }}
	if h.Cancel != nil {
		untyped.Cancel = func(x *GoalHandle) { h.Cancel(typed(x)) }
	}
	return g.serveAction(name, typ, untyped, o)
}

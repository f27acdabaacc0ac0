package actions

import (
	"fmt"

	"poise/action"
	"poise/graph"
	"poise/msgs/registry"
)

// Goal is a goal of a component's action. See Handle.
type Goal[G, F, R any] struct{ *Handle }

// Value returns the goal. It is shared and must not be written.
func (h *Goal[G, F, R]) Value() *G { return h.Handle.Value().(*G) }

// Feedback tells how a running goal gets on.
func (h *Goal[G, F, R]) Feedback(f *F) bool { return h.Handle.Feedback(f) }

// Reject refuses a goal that has not been accepted.
func (h *Goal[G, F, R]) Reject(c action.Cause, r R, text string) bool {
	return h.Handle.Reject(c, &r, text)
}

// Succeed ends a running goal that did what it was asked to.
func (h *Goal[G, F, R]) Succeed(r R, text string) bool { return h.Handle.Succeed(&r, text) }

// Abort ends a running goal that cannot go on.
func (h *Goal[G, F, R]) Abort(c action.Cause, r R, text string) bool {
	return h.Handle.Abort(c, &r, text)
}

// Withdraw ends a goal that its client or a newer goal called off.
func (h *Goal[G, F, R]) Withdraw(c action.Cause, r R, text string) bool {
	return h.Handle.Withdraw(c, &r, text)
}

// Callbacks is a component's side of an action; see Handler. The same
// goal always comes as the same pointer.
type Callbacks[G, F, R any] struct {
	Goal   func(h *Goal[G, F, R])
	Cancel func(h *Goal[G, F, R])
}

// Serve registers an action of a component.
func Serve[G, F, R any](g *graph.Graph, name string, h Callbacks[G, F, R], o Options) (*Server, error) {
	typ, ok := registry.ActionFor[G, F, R]()
	if !ok {
		panic(fmt.Sprintf("actions: no action of the registry has %T, %T and %T", *new(G), *new(F), *new(R)))
	}
	typed := func(h *Handle) *Goal[G, F, R] {
		if h.typed == nil {
			h.typed = &Goal[G, F, R]{h}
		}
		return h.typed.(*Goal[G, F, R])
	}
	untyped := Handler{Goal: func(x *Handle) { h.Goal(typed(x)) }}
	if h.Cancel != nil {
		untyped.Cancel = func(x *Handle) { h.Cancel(typed(x)) }
	}
	return serve(g, name, typ, untyped, o)
}

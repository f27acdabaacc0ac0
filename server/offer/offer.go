package offer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"poise/action"
	"poise/edge"
	"poise/executive"
	"poise/executive/explain"
	"poise/graph"
	"poise/msgs/poisemsgs"
)

// Board puts what a robot offers into the graph and gathers what goes wrong. Names of
// the virtual robot stand bare, and under virtual/ too.
type Board struct {
	Graph      *graph.Graph
	Exec       *executive.Executive
	Real       bool            // names begin with real/
	Life       context.Context // ends with the server
	Background *sync.WaitGroup // who listens until then
	Err        error           // of everything so far
}

func (r *Board) fail(err error) {
	if err != nil {
		r.Err = errors.Join(r.Err, err)
	}
}

// name returns the name of a thing of the robot, and gives it its second one.
func (r *Board) name(name string) string {
	if r.Real {
		return "real/" + name
	}
	r.fail(r.Graph.Alias("virtual/"+name, name))
	return name
}

// Topic advertises a topic.
func Topic[T any](r *Board, name string, o graph.TopicOptions) graph.Publisher[T] {
	p, err := graph.Topic[T](r.Graph, r.name(name), o)
	r.fail(err)
	return p
}

// Listen calls f with every message of a topic and who sent it, the oldest left out if
// they come too fast, until the server ends.
func Listen[T any](r *Board, name string, queue int, f func(from string, v *T)) {
	l, err := graph.Listen[T](r.Graph, r.name(name), graph.SubscribeOptions{Queue: queue})
	if err != nil {
		r.fail(err)
		return
	}
	r.Background.Go(func() {
		for {
			m, _, err := l.Subscription.Next(r.Life)
			if err != nil {
				return
			}
			f(m.From, m.Value.(*T))
		}
	})
}

// Service serves a service.
func Service[Req, Res any](r *Board, name string, f func(ctx context.Context, q *Req) (*Res, error)) {
	_, err := graph.Service(r.Graph, r.name(name), f, graph.ServiceOptions{})
	r.fail(err)
}

// Command serves a service whose answer is only whether it was done.
func Command[Req, Res any](r *Board, name string, run func(who string, q *Req) *executive.Answer, word func(ok bool, text string, why []poisemsgs.Explanation, o executive.Outcome) *Res) {
	Service(r, name, func(ctx context.Context, q *Req) (*Res, error) {
		o, err := Wait(ctx, run(Who(ctx), q))
		if err != nil {
			return nil, err
		}
		text := "done"
		if !o.OK() {
			text = explain.Join(o.Explanations)
		}
		return word(o.OK(), text, edge.Explanations(o.Explanations), o), nil
	})
}

// Who names the client behind a call.
func Who(ctx context.Context) string {
	if name := graph.Caller(ctx); name != "" {
		return name
	}
	return "server"
}

// Wait returns the outcome of a command.
func Wait(ctx context.Context, a *executive.Answer) (executive.Outcome, error) {
	select {
	case <-a.Done():
		o, _ := a.Outcome()
		return o, nil
	case <-ctx.Done():
		return executive.Outcome{}, ctx.Err()
	}
}

// Goals describes an action: how its goals, feedback and results translate.
type Goals[G, F, R any] struct {
	Goal     func(g *G) (executive.Goal, error)
	Feedback func(f *executive.Feedback) *F
	Result   func(r *executive.Result) R
	Refused  func(text string) R // of goals that cannot even be read

	Help map[string]string // by code, what a client of this action can do, where it is not what others can
}

// worded returns a result whose help is for clients of this action.
func (t *Goals[G, F, R]) worded(r executive.Result) executive.Result {
	r.Explanations = slices.Clone(r.Explanations)
	for i, x := range r.Explanations {
		if help, ok := t.Help[x.Code]; ok {
			r.Explanations[i].Help = help
		}
	}
	return r
}

// Action serves an action by handing its goals to the executive and telling what
// becomes of them.
func Action[G, F, R any](r *Board, name string, t Goals[G, F, R]) {
	h := graph.ActionCallbacks[G, F, R]{}
	id := func(h *graph.Goal[G, F, R]) action.ID { return action.ID(name + ":" + string(h.ID())) }
	h.Goal = func(h *graph.Goal[G, F, R]) {
		g, err := t.Goal(h.Value())
		if err != nil {
			h.Reject(action.ConditionsUnmet, t.Refused(err.Error()), err.Error())
			return
		}
		watch := executive.Watch{
			Feedback: func(f executive.Feedback) { h.Feedback(t.Feedback(&f)) },
			Changed:  func(c executive.Change) { relay(h, c, t) },
		}
		if _, err := r.Exec.Submit(h.Caller(), id(h), h.Stamp(), g, watch); err != nil {
			h.Reject(action.ConditionsUnmet, t.Refused(err.Error()), err.Error())
		}
	}
	h.Cancel = func(h *graph.Goal[G, F, R]) {
		g, err := t.Goal(h.Value())
		if err == nil {
			r.Exec.Cancel(h.Caller(), g.Action(), id(h), 0)
		}
	}
	_, err := graph.Action(r.Graph, r.name(name), h, graph.ActionOptions{})
	if err != nil {
		r.fail(fmt.Errorf("%s: %w", name, err))
	}
}

// relay lets a goal of the graph live as the executive's does.
func relay[G, F, R any](h *graph.Goal[G, F, R], c executive.Change, t Goals[G, F, R]) {
	c.Result = t.worded(c.Result)
	text := c.Result.Text()
	switch c.To {
	case action.Active, action.Preempting: // the latter of a goal that was called off before it began
		h.Accept()
	case action.Rejected:
		h.Reject(c.Cause, t.Result(&c.Result), text)
	case action.Succeeded:
		h.Succeed(t.Result(&c.Result), text)
	case action.Aborted, action.Lost:
		if r := t.Result(&c.Result); !h.Abort(c.Cause, r, text) {
			h.Reject(c.Cause, r, text) // it never began
		}
	case action.Recalled, action.Preempted:
		h.Withdraw(c.Cause, t.Result(&c.Result), text)
	}
}

package server

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

// register puts the topics, services and actions of one robot into the graph and gathers
// what goes wrong. Each has the robot's name before its own; those of the first robot have
// a second name without it.
type register struct {
	graph      *graph.Graph
	exec       *executive.Executive
	robot      string          // stands before every name
	first      bool            // names without it are this robot's, too
	life       context.Context // ends with the server
	background *sync.WaitGroup // who listens until then
	err        error           // of everything so far
}

func (r *register) fail(err error) {
	if err != nil {
		r.err = errors.Join(r.err, err)
	}
}

// name returns the name of a thing of the robot, and gives it its second one.
func (r *register) name(name string) string {
	full := r.robot + "/" + name
	if !r.first {
		return full
	}
	r.fail(r.graph.Alias(full, name))
	return name
}

// addTopic advertises a topic.
func addTopic[T any](r *register, name string, o graph.TopicOptions) graph.Publisher[T] {
	p, err := graph.Topic[T](r.graph, r.name(name), o)
	r.fail(err)
	return p
}

// listen calls f with every message of a topic and who sent it, the oldest left out if
// they come too fast, until the server ends.
func listen[T any](r *register, name string, queue int, f func(from string, v *T)) {
	l, err := graph.Listen[T](r.graph, r.name(name), graph.SubscribeOptions{Queue: queue})
	if err != nil {
		r.fail(err)
		return
	}
	r.background.Go(func() {
		for {
			m, _, err := l.Subscription.Next(r.life)
			if err != nil {
				return
			}
			f(m.From, m.Value.(*T))
		}
	})
}

// addService serves a service.
func addService[Req, Res any](r *register, name string, f func(ctx context.Context, q *Req) (*Res, error)) {
	_, err := graph.Service(r.graph, r.name(name), f, graph.ServiceOptions{})
	r.fail(err)
}

// addCommand serves a service whose answer is only whether it was done.
func addCommand[Req, Res any](r *register, name string, run func(who string, q *Req) *executive.Answer, word func(ok bool, text string, why []poisemsgs.Explanation, o executive.Outcome) *Res) {
	addService(r, name, func(ctx context.Context, q *Req) (*Res, error) {
		o, err := waitFor(ctx, run(callerOf(ctx), q))
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

// callerOf names the client behind a call.
func callerOf(ctx context.Context) string {
	if name := graph.Caller(ctx); name != "" {
		return name
	}
	return "server"
}

// waitFor returns the outcome of a command.
func waitFor(ctx context.Context, a *executive.Answer) (executive.Outcome, error) {
	select {
	case <-a.Done():
		o, _ := a.Outcome()
		return o, nil
	case <-ctx.Done():
		return executive.Outcome{}, ctx.Err()
	}
}

// goalDialect describes an action: how its goals, feedback and results translate.
type goalDialect[G, F, R any] struct {
	Goal     func(g *G) (executive.Goal, error)
	Feedback func(f *executive.Feedback) *F
	Result   func(r *executive.Result) R
	Refused  func(text string) R // of goals that cannot even be read

	Help map[string]string // by code, what a client of this action can do, where it is not what others can
}

// worded returns a result whose help is for clients of this action.
func (t *goalDialect[G, F, R]) worded(r executive.Result) executive.Result {
	r.Explanations = slices.Clone(r.Explanations)
	for i, x := range r.Explanations {
		if help, ok := t.Help[x.Code]; ok {
			r.Explanations[i].Help = help
		}
	}
	return r
}

// addAction serves an action by handing its goals to the executive and telling what
// becomes of them.
func addAction[G, F, R any](r *register, name string, t goalDialect[G, F, R]) {
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
		if _, err := r.exec.Submit(h.Caller(), id(h), h.Stamp(), g, watch); err != nil {
			h.Reject(action.ConditionsUnmet, t.Refused(err.Error()), err.Error())
		}
	}
	h.Cancel = func(h *graph.Goal[G, F, R]) {
		g, err := t.Goal(h.Value())
		if err == nil {
			r.exec.Cancel(h.Caller(), g.Action(), id(h), 0)
		}
	}
	_, err := graph.Action(r.graph, r.name(name), h, graph.ActionOptions{})
	if err != nil {
		r.fail(fmt.Errorf("%s: %w", name, err))
	}
}

// relay lets a goal of the graph live as the executive's does.
func relay[G, F, R any](h *graph.Goal[G, F, R], c executive.Change, t goalDialect[G, F, R]) {
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

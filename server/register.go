package server

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"poise/action"
	"poise/edge"
	"poise/executive"
	"poise/executive/explain"
	"poise/graph"
	"poise/graph/actions"
	"poise/msgs/poisemsgs"
)

// registrar puts what an instance offers into the graph and gathers what goes
// wrong. Names of the virtual robot stand bare, and under virtual/ too.
type registrar struct {
	in  *instance
	err error
}

func (r *registrar) fail(err error) {
	if err != nil {
		r.err = errors.Join(r.err, err)
	}
}

// name returns the name of a thing of the instance, and gives it its second one.
func (r *registrar) name(name string) string {
	if r.in.name == "virtual" {
		r.fail(r.in.s.graph.Alias("virtual/"+name, name))
	}
	return r.in.prefix + name
}

func advertise[T any](r *registrar, name string, o graph.TopicOptions) graph.Publisher[T] {
	p, err := graph.Topic[T](r.in.s.graph, r.name(name), o)
	r.fail(err)
	return p
}

// listen calls f with every message of a topic and who sent it, the oldest left out if
// they come too fast, until the server ends.
func listen[T any](r *registrar, name string, queue int, f func(from string, v *T)) {
	s := r.in.s
	l, err := graph.Listen[T](s.graph, r.name(name), graph.SubscribeOptions{Queue: queue})
	if err != nil {
		r.fail(err)
		return
	}
	s.background.Go(func() {
		for {
			m, _, err := l.Subscription.Next(s.life)
			if err != nil {
				return
			}
			f(m.From, m.Value.(*T))
		}
	})
}

func serve[Req, Res any](r *registrar, name string, f func(ctx context.Context, q *Req) (*Res, error)) {
	_, err := graph.Service(r.in.s.graph, r.name(name), f, graph.ServiceOptions{})
	r.fail(err)
}

// command serves a service whose answer is only whether it was done.
func command[Req, Res any](r *registrar, name string, run func(who string, q *Req) *executive.Answer, word func(ok bool, text string, why []poisemsgs.Explanation, o executive.Outcome) *Res) {
	serve(r, name, func(ctx context.Context, q *Req) (*Res, error) {
		o, err := wait(ctx, run(who(ctx), q))
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

// who names the client behind a call.
func who(ctx context.Context) string {
	if name := graph.Caller(ctx); name != "" {
		return name
	}
	return "server"
}

// wait returns the outcome of a command.
func wait(ctx context.Context, a *executive.Answer) (executive.Outcome, error) {
	select {
	case <-a.Done():
		o, _ := a.Outcome()
		return o, nil
	case <-ctx.Done():
		return executive.Outcome{}, ctx.Err()
	}
}

// goals describes an action: how its goals, feedback and results translate.
type goals[G, F, R any] struct {
	goal     func(g *G) (executive.Goal, error)
	feedback func(f *executive.Feedback) *F
	result   func(r *executive.Result) R
	refused  func(text string) R // of goals that cannot even be read

	help map[string]string // by code, what a client of this action can do, where it is not what others can
}

// worded returns a result whose help is for clients of this action.
func (t *goals[G, F, R]) worded(r executive.Result) executive.Result {
	r.Explanations = slices.Clone(r.Explanations)
	for i, x := range r.Explanations {
		if help, ok := t.help[x.Code]; ok {
			r.Explanations[i].Help = help
		}
	}
	return r
}

// act serves an action by handing its goals to the executive and telling what
// becomes of them.
func act[G, F, R any](r *registrar, name string, t goals[G, F, R]) {
	in := r.in
	h := actions.Callbacks[G, F, R]{}
	id := func(h *actions.Goal[G, F, R]) action.ID { return action.ID(name + ":" + string(h.ID())) }
	h.Goal = func(h *actions.Goal[G, F, R]) {
		g, err := t.goal(h.Value())
		if err != nil {
			h.Reject(action.ConditionsUnmet, t.refused(err.Error()), err.Error())
			return
		}
		watch := executive.Watch{
			Feedback: func(f executive.Feedback) { h.Feedback(t.feedback(&f)) },
			Changed:  func(c executive.Change) { relay(h, c, t) },
		}
		if _, err := in.exec.Submit(h.Caller(), id(h), h.Stamp(), g, watch); err != nil {
			h.Reject(action.ConditionsUnmet, t.refused(err.Error()), err.Error())
		}
	}
	h.Cancel = func(h *actions.Goal[G, F, R]) {
		g, err := t.goal(h.Value())
		if err == nil {
			in.exec.Cancel(h.Caller(), g.Action(), id(h), 0)
		}
	}
	_, err := actions.Serve(in.s.graph, r.name(name), h, actions.Options{})
	if err != nil {
		r.fail(fmt.Errorf("%s: %w", name, err))
	}
}

// relay lets a goal of the graph live as the executive's does.
func relay[G, F, R any](h *actions.Goal[G, F, R], c executive.Change, t goals[G, F, R]) {
	c.Result = t.worded(c.Result)
	text := c.Result.Text()
	switch c.To {
	case action.Active, action.Preempting: // the latter of a goal that was called off before it began
		h.Accept()
	case action.Rejected:
		h.Reject(c.Cause, t.result(&c.Result), text)
	case action.Succeeded:
		h.Succeed(t.result(&c.Result), text)
	case action.Aborted, action.Lost:
		if r := t.result(&c.Result); !h.Abort(c.Cause, r, text) {
			h.Reject(c.Cause, r, text) // it never began
		}
	case action.Recalled, action.Preempted:
		h.Withdraw(c.Cause, t.result(&c.Result), text)
	}
}

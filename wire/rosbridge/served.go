package rosbridge

import (
	"fmt"

	"poise/action"
	"poise/graph/actions"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/msgs/rosjson"
	"poise/wire/rosbridge/frame"
)

// servedAct is an action that the client serves.
type servedAct struct {
	server *actions.Server
	typ    *registry.Action
	form   msgs.Form
	name   string // as spelled
}

// servedGoal is a goal that the client works on.
type servedGoal struct {
	*actions.Handle
	act       *servedAct
	cancelled bool
}

// advertiseAction puts an action of the client into the graph. Goals are accepted
// at once: the protocol has no word for refusing one later than by its result.
func (x *session) advertiseAction(m *frame.Message) error {
	switch {
	case m.Action == "":
		return errNoAction
	case m.Type == "":
		return fmt.Errorf(`%s: the member "type" is missing`, m.Action)
	case x.actions[m.Action] != nil:
		return fmt.Errorf("the action %q is advertised by this client already", m.Action)
	}
	if err := x.roomToAdvertise(); err != nil {
		return err
	}
	typ, form, err := registry.ActionNamed(m.Type)
	if err != nil {
		return err
	}
	a := &servedAct{typ: typ, form: form, name: m.Action}
	a.server, err = actions.ServeType(x.server.g, m.Action, m.Type, actions.Handler{
		Goal:   func(h *actions.Handle) { x.goalForClient(a, h) },
		Cancel: func(h *actions.Handle) { x.cancelForClient(a, h) },
	}, actions.Options{Node: x.client.Node})
	if err != nil {
		return err
	}
	x.actions[m.Action] = a
	return nil
}

func (x *session) unadvertiseAction(m *frame.Message) error {
	a := x.actions[m.Action]
	if a == nil {
		return fmt.Errorf("the action %q is not advertised by this client", m.Action)
	}
	delete(x.actions, m.Action)
	a.server.Close()
	x.mu.Lock()
	defer x.mu.Unlock()
	for id, g := range x.handling {
		if g.act == a {
			delete(x.handling, id)
		}
	}
	return nil
}

func (x *session) goalForClient(a *servedAct, h *actions.Handle) {
	id := string(h.ID())
	x.mu.Lock()
	x.handling[id] = &servedGoal{Handle: h, act: a}
	x.mu.Unlock()
	h.Accept()
	x.answer(&frame.Message{Op: frame.SendActionGoal, ID: frame.StringID(id), Action: a.name, ActionType: a.typ.Name(a.form),
		Args: rosjson.Append(nil, h.Value(), a.form), Feedback: true}, 0)
}

func (x *session) cancelForClient(a *servedAct, h *actions.Handle) {
	x.mu.Lock()
	if g := x.handling[string(h.ID())]; g != nil {
		g.cancelled = true
	}
	x.mu.Unlock()
	x.answer(&frame.Message{Op: frame.CancelActionGoal, ID: frame.StringID(string(h.ID())), Action: a.name}, 0)
}

func (x *session) served(m *frame.Message) (*servedGoal, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if g := x.handling[frame.IDText(m.ID)]; g != nil {
		return g, nil
	}
	return nil, fmt.Errorf("%s: no goal with the id %q waits for this client", m.Action, frame.IDText(m.ID))
}

func (x *session) actionFeedback(m *frame.Message) error {
	g, err := x.served(m)
	if err != nil {
		return err
	}
	f := g.act.typ.Feedback.New()
	if err := rosjson.Unmarshal(m.Values, f); err != nil {
		return fmt.Errorf("%s: %w", m.Action, err)
	}
	g.Feedback(f)
	return nil
}

// actionResult ends a goal that the client worked on.
func (x *session) actionResult(m *frame.Message) error {
	g, err := x.served(m)
	if err != nil {
		return err
	}
	status := int(msgs.StatusSucceeded)
	if m.Status != nil {
		status = *m.Status
	}
	failed := m.Result != nil && !*m.Result
	r := g.act.typ.Result.New()
	if !failed && len(m.Values) > 0 {
		if err := rosjson.Unmarshal(m.Values, r); err != nil {
			return fmt.Errorf("%s: %w", m.Action, err)
		}
	}
	x.mu.Lock()
	delete(x.handling, frame.IDText(m.ID))
	cancelled := g.cancelled
	x.mu.Unlock()
	switch {
	case failed:
		why := "its server gives no reason"
		if len(m.Values) > 0 {
			why = saying(m.Values)
		}
		g.Abort(action.Failed, nil, why)
	case status == int(msgs.StatusCanceled):
		cause := action.ServerStopped
		if cancelled {
			cause = action.ClientCancel
		}
		g.Withdraw(cause, r, "")
	case status == int(msgs.StatusSucceeded):
		g.Succeed(r, "")
	default:
		g.Abort(action.Failed, r, fmt.Sprintf("ended with status %d", status))
	}
	return nil
}

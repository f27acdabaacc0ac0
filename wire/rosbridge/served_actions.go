package rosbridge

import (
	"fmt"

	"poise/action"
	"poise/graph"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/msgs/registry"
	"poise/msgs/rosjson"
	"poise/wire/rosbridge/frame"
)

// servedAction is an action of the client.
type servedAction struct {
	server *graph.ActionServer
	typ    *registry.Action
	form   msgs.Form
	name   string // as spelled
}

// advertiseAction puts an action of the client into the graph. Goals are accepted
// at once: the protocol lets a server refuse a goal only by its result.
func (c *served) advertiseAction(m *frame.Message) error {
	switch {
	case m.Action == "":
		return missing("action")
	case m.Type == "":
		return fmt.Errorf("%s: %w", m.Action, missing("type"))
	case c.actions[m.Action] != nil:
		return fmt.Errorf("the action %q is advertised by this client already", m.Action)
	}
	typ, form, err := registry.ActionNamed(m.Type)
	if err != nil {
		return err
	}
	a := &servedAction{typ: typ, form: form, name: m.Action}
	a.server, err = c.session.server.g.ServeAction(m.Action, m.Type, graph.ActionHandler{
		Goal:   func(h *graph.GoalHandle) { c.goalCame(a, h) },
		Cancel: func(h *graph.GoalHandle) { c.cancelCame(a, h) },
	}, graph.ActionOptions{Node: c.session.client.Node, Account: c.session.account})
	if err != nil {
		return err
	}
	c.actions[m.Action] = a
	return nil
}

// unadvertiseAction removes an action; goals under way are aborted.
func (c *served) unadvertiseAction(m *frame.Message) error {
	a := c.actions[m.Action]
	if a == nil {
		return fmt.Errorf("the action %q is not advertised by this client", m.Action)
	}
	delete(c.actions, m.Action)
	a.server.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, g := range c.handling {
		if g.act == a {
			delete(c.handling, id)
		}
	}
	return nil
}

func (c *served) goalCame(a *servedAction, h *graph.GoalHandle) {
	id := string(h.ID())
	c.mu.Lock()
	c.handling[id] = &servedGoal{GoalHandle: h, act: a}
	c.mu.Unlock()
	h.Accept()
	c.session.answer(&frame.Message{Op: frame.SendActionGoal, ID: frame.StringID(id), Action: a.name, ActionType: a.typ.Name(a.form),
		Args: rosjson.Append(nil, h.Value(), a.form), Feedback: true}, 0)
	h.Passed() // the client has it
}

func (c *served) cancelCame(a *servedAction, h *graph.GoalHandle) {
	c.mu.Lock()
	if g := c.handling[string(h.ID())]; g != nil {
		g.cancelled = true
	}
	c.mu.Unlock()
	c.session.answer(&frame.Message{Op: frame.CancelActionGoal, ID: frame.StringID(string(h.ID())), Action: a.name}, 0)
}

func (c *served) goalOf(m *frame.Message) (*servedGoal, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.handling[frame.IDText(m.ID)]; g != nil {
		return g, nil
	}
	return nil, fmt.Errorf("%s: no goal with the id %q waits for this client", m.Action, frame.IDText(m.ID))
}

// actionFeedback passes feedback on.
func (c *served) actionFeedback(m *frame.Message) error {
	g, err := c.goalOf(m)
	if err != nil {
		return err
	}
	f := g.act.typ.Feedback.New()
	if err := rosjson.Unmarshal(m.Values, f); err != nil {
		return fmt.Errorf("%s: %w", m.Action, err)
	}
	var info poisemsgs.GoalInfo
	if len(m.GoalInfo) > 0 && rosjson.Unmarshal(m.GoalInfo, &info) == nil {
		g.Inform(&info)
	}
	g.Feedback(f)
	return nil
}

// actionResult ends a goal that the client worked on.
func (c *served) actionResult(m *frame.Message) error {
	g, err := c.goalOf(m)
	if err != nil {
		return err
	}
	status := int(msgs.StatusSucceeded)
	if m.Status != nil {
		status = *m.Status
	}
	failed := m.Result != nil && !*m.Result
	reasons, bad := frame.ReadExplanations(m.Explanations)
	if bad == nil {
		g.Explain(reasons)
	}
	r := g.act.typ.Result.New()
	if !failed && len(m.Values) > 0 {
		err = rosjson.Unmarshal(m.Values, r)
	}
	c.mu.Lock()
	delete(c.handling, frame.IDText(m.ID))
	cancelled := g.cancelled
	c.mu.Unlock()
	switch {
	case err != nil:
		// its sender does not wait for a better one
		g.Abort(action.Failed, nil, fmt.Sprintf("the result of its server cannot be read: %v", err))
		return fmt.Errorf("%s: %w", m.Action, err)
	case failed:
		g.Abort(action.Failed, nil, textOf(m.Values, "its server gives no reason"))
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

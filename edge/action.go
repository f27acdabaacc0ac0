package edge

import (
	"fmt"
	"slices"

	"poise/executive"
	"poise/msgs/registry"
	"poise/msgs/rosjson"
	"poise/problem"
	"poise/robot"
)

// Action is how the messages of one action translate into goals of the executive, and
// what becomes of those back into messages. Translation is the one implementation.
type Action interface {
	// Type is the action's in the registry.
	Type() *registry.Action
	// Read turns a goal message into a goal for a robot.
	Read(m *robot.Model, message any) (executive.Goal, error)
	// ReadJSON does the same with the text of one.
	ReadJSON(m *robot.Model, text []byte) (executive.Goal, error)
	// FeedbackMessage words feedback.
	FeedbackMessage(f *executive.Feedback) any
	// ResultMessage words a result.
	ResultMessage(m *robot.Model, r *executive.Result) any
	// Worded returns a result whose help is for clients of this action.
	Worded(r executive.Result) executive.Result
}

// Translation translates an action with goals G, feedback F and results R.
type Translation[G, F, R any] struct {
	Goal     func(m *robot.Model, g *G) (executive.Goal, error)
	Feedback func(f *executive.Feedback) *F
	Result   func(m *robot.Model, r *executive.Result) R

	Help map[problem.Code]string // by code, what a client of this action can do, where it is not what others can
}

// Type is the action's in the registry. An action that is not registered is a
// programmer's mistake.
func (t Translation[G, F, R]) Type() *registry.Action {
	typ, ok := registry.ActionFor[G, F, R]()
	if !ok {
		panic(fmt.Sprintf("edge: no action of the registry has %T, %T and %T", *new(G), *new(F), *new(R)))
	}
	return typ
}

// Read turns a goal message into a goal for a robot.
func (t Translation[G, F, R]) Read(m *robot.Model, message any) (executive.Goal, error) {
	return t.Goal(m, message.(*G))
}

// ReadJSON turns the text of a goal message into a goal for a robot.
func (t Translation[G, F, R]) ReadJSON(m *robot.Model, text []byte) (executive.Goal, error) {
	var g G
	if err := rosjson.Unmarshal(text, &g); err != nil {
		return nil, err
	}
	return t.Goal(m, &g)
}

// FeedbackMessage words feedback.
func (t Translation[G, F, R]) FeedbackMessage(f *executive.Feedback) any { return t.Feedback(f) }

// ResultMessage words a result.
func (t Translation[G, F, R]) ResultMessage(m *robot.Model, r *executive.Result) any {
	value := t.Result(m, r)
	return &value
}

// Worded returns a result whose help is for clients of this action.
func (t Translation[G, F, R]) Worded(r executive.Result) executive.Result {
	r.Explanations = slices.Clone(r.Explanations)
	for i, x := range r.Explanations {
		if help, ok := t.Help[x.Code]; ok {
			r.Explanations[i].Help = help
		}
	}
	return r
}

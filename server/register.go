package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"poise/action"
	"poise/control"
	"poise/control/stream"
	"poise/controllers"
	"poise/edge"
	"poise/executive"
	"poise/graph"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/problem"
	"poise/robot"
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

	model     *robot.Model
	actions   map[string]edge.Action            // by name
	explained func(*poisemsgs.GoalExplanations) // is told why goals ended
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

// addTopic advertises a topic, which is the server's own.
func addTopic[T any](r *register, name string, q graph.QoS) graph.Publisher[T] {
	return addSharedTopic[T](r, name, q, nil)
}

// addSharedTopic advertises a topic on which others may publish what is admitted.
func addSharedTopic[T any](r *register, name string, q graph.QoS, others graph.Admission) graph.Publisher[T] {
	p, err := graph.Topic[T](r.graph, r.name(name), graph.TopicOptions{QoS: q, Others: others})
	r.fail(err)
	return p
}

// What is asked for of topics that the server listens to. Streams take any publisher.
var (
	newest = graph.QoS{Depth: 1}                                // a stream of which the last value counts
	burst  = graph.QoS{Depth: 10}                               // a stream of which each value counts
	every  = graph.QoS{Reliability: graph.Reliable, Depth: 100} // requests
)

// listen calls f with every message of a topic that is admitted (nil: each) and who sent
// it, the oldest left out if they come too fast, until the server ends.
func listen[T any](r *register, name string, q graph.QoS, admit graph.Admission, f func(from string, v *T)) {
	l, err := graph.Listen[T](r.graph, r.name(name), graph.SubscribeOptions{QoS: q, Admit: admit})
	if err != nil {
		r.fail(err)
		return
	}
	r.receive(l.Subscription, func(m *graph.Message) { f(m.From, m.Value.(*T)) })
}

// receive calls f with every message of a subscription, until the server ends.
func (r *register) receive(s *graph.Subscription, f func(m *graph.Message)) {
	r.background.Go(func() {
		for {
			m, _, err := s.Next(r.life)
			if err != nil {
				return
			}
			f(m)
		}
	})
}

// follow passes the messages of a stream on to a controller, from who activated it.
func (bot *servedRobot) follow(r *register, topic string, s *controllers.Stream, controller string) {
	_, bounds, err := control.JointLimits(bot.model, control.Transition{Acceleration: 1}) // only positions are looked at
	if err != nil {
		r.fail(err)
		return
	}
	sub, err := s.Subscribe(r.graph, r.name(topic), func(from string, v any) error {
		if err := bot.exec.Hears(from, controller); err != nil {
			return err
		}
		err := nonsense(bot.model, bounds, v)
		if err != nil {
			bot.feed(from, controller, controller, s, v) // which is refused, and shown so
		}
		return err
	})
	if err != nil {
		r.fail(err)
		return
	}
	r.receive(sub, func(m *graph.Message) { bot.feed(m.From, controller, controller, s, m.Value) })
}

// nonsense says what is wrong with joints that are told to go where none can be. The
// controller refuses them too, but in the cycle, where their sender does not hear of it.
func nonsense(m *robot.Model, bounds []control.Bounds, message any) error {
	v, ok := message.(*msgs.JointState)
	if !ok {
		return nil
	}
	for i, name := range v.Name {
		id, ok := m.Joint(name)
		if !ok || i >= len(v.Position) {
			continue // it is told in another place
		}
		if far, limit := stream.TooFar(&bounds[id], v.Position[i]); far {
			return fmt.Errorf("joint %q: %g is far beyond its limit of %.3g", name, v.Position[i], limit)
		}
	}
	return nil
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
			text = problem.Join(o.Explanations)
		}
		return word(o.OK(), text, edge.Explanations(o.Explanations), o), nil
	})
}

// callerOf names the client behind a call.
func callerOf(ctx context.Context) string {
	return cmp.Or(graph.Caller(ctx), "server")
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

// addAction serves an action whose goals are the executive's.
func (r *register) addAction(name string, a edge.Action) {
	goals := &executiveGoals{goals: r.exec.Goals(name), action: a, model: r.model, explained: r.explained}
	if _, err := r.graph.ServeGoals(r.name(name), a.Type(), goals, graph.ActionOptions{}); err != nil {
		r.fail(fmt.Errorf("%s: %w", name, err))
	}
	r.actions[name] = a
}

// executiveGoals serves an action: the executive owns the lives of its goals, and edge
// puts them into the action's messages.
type executiveGoals struct {
	goals     *executive.Goals
	action    edge.Action
	model     *robot.Model
	explained func(*poisemsgs.GoalExplanations)
}

func (s *executiveGoals) Submit(q graph.GoalRequest, v *graph.GoalView) (action.ID, error) {
	return s.goals.Submit(q.Caller, q.ID, q.Stamp, s.read(q.Goal), executive.Watch{
		Feedback: func(f executive.Feedback) {
			v.Feedback(func() graph.GoalFeedback {
				return graph.GoalFeedback{Value: s.action.FeedbackMessage(&f), Info: edge.Progress(&f)}
			})
		},
		Changed: func(c executive.Change) {
			change := s.change(&c)
			if x := edge.GoalExplained(&c, change.Explanations); x != nil {
				s.explained(x)
			}
			v.Changed(change)
		},
	})
}

func (s *executiveGoals) Cancel(caller string, id action.ID, stamp action.Time) int {
	return s.goals.Cancel(caller, id, stamp)
}

func (s *executiveGoals) Stop(bool) { s.goals.Stop() }

// read turns a message into a goal. One that cannot be read is a goal, too: it is
// refused with the reasons.
func (s *executiveGoals) read(message any) (goal executive.Goal) {
	defer func() {
		if p := recover(); p != nil {
			goal = &executive.Unreadable{Err: fmt.Errorf("reading the goal failed: %v", p)}
		}
	}()
	goal, err := s.action.Read(s.model, message)
	if err != nil {
		return &executive.Unreadable{Err: err}
	}
	return goal
}

// change words a step in the life of a goal.
func (s *executiveGoals) change(c *executive.Change) graph.GoalChange {
	out := graph.GoalChange{ID: c.Goal.ID, State: c.To, Cause: c.Cause}
	if !c.To.Terminal() {
		return out
	}
	r := s.action.Worded(c.Result)
	out.Text, out.Result = r.Text(), s.action.ResultMessage(s.model, &r)
	out.Explanations = append(edge.Explanations(r.Explanations), edge.Explanations(r.Notes)...)
	return out
}

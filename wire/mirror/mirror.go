// Package mirror shows topics, services and actions of a robot behind a rosbridge
// server in the local graph, as if they were here.
//
//	c := client.Open("ws://robot:9090", client.Options{})
//	m, problems := mirror.New(g, c, mirror.Spec{
//		Topics:   []mirror.Name{{Remote: "/joint_states", Type: "sensor_msgs/JointState", Local: "real/joint_states"}},
//		Publish:  []mirror.Name{{Remote: "/joints_ref", Type: "sensor_msgs/JointState", Local: "real/joints_ref"}},
//		Services: []mirror.Name{{Remote: "/stop", Type: "std_srvs/Trigger", Local: "real/stop"}},
//		Actions:  []mirror.Name{{Remote: "/follow", Type: "control_msgs/FollowJointTrajectoryAction", Local: "real/follow"}},
//	})
//	defer m.Close()
//
// A type's name says which dialect the robot speaks: pkg/T is ROS 1's, and an
// action of ROS 1 is spoken to over its five topics. Discover asks a robot for
// everything it has whose types are known here.
//
// While the connection is broken, topics have no messages and calls fail, and a goal
// that was under way ends as aborted: its outcome is unknown.
package mirror

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"poise/action"
	"poise/graph"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/msgs/rosjson"
	"poise/wire/rosbridge/client"
)

// Name is a topic, service or action of the remote robot, and its name here.
type Name struct {
	Remote  string
	Type    string
	Local   string // empty takes the remote one
	Latched bool   // of a topic: late subscribers get the last message
}

func (n Name) local() string {
	if n.Local == "" {
		return n.Remote
	}
	return n.Local
}

// Spec says what is mirrored.
type Spec struct {
	Topics   []Name // read there, published here
	Publish  []Name // read here, published there
	Services []Name
	Actions  []Name
	Log      *slog.Logger
}

// Node is who serves and publishes, as listings show it.
const Node = "/mirror"

// Mirror is a set of mirrored names.
type Mirror struct {
	g      *graph.Graph
	c      *client.Client
	log    *slog.Logger
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
	ends   []func()
}

// New begins to mirror what can be mirrored. Each name that cannot has a problem.
func New(g *graph.Graph, c *client.Client, s Spec) (*Mirror, []error) {
	m := &Mirror{g: g, c: c, log: s.Log}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	var problems []error
	each := func(kind string, names []Name, add func(Name) error) {
		for _, n := range names {
			if err := add(n); err != nil {
				problems = append(problems, fmt.Errorf("%s %s: %w", kind, n.Remote, err))
			}
		}
	}
	each("topic", s.Topics, m.topic)
	each("topic", s.Publish, m.publish)
	each("service", s.Services, m.service)
	each("action", s.Actions, m.action)
	return m, problems
}

// Close removes everything from the graph. The client stays open.
func (m *Mirror) Close() {
	m.cancel()
	for _, end := range m.ends {
		end()
	}
	m.work.Wait()
}

// topic publishes here what is published there.
func (m *Mirror) topic(n Name) error {
	ad, err := m.g.Advertise(n.local(), n.Type, graph.TopicOptions{QoS: graph.QoS{Latched: n.Latched}, Node: Node, Own: true})
	if err != nil {
		return err
	}
	m.ends = append(m.ends, ad.Close)
	sub, err := m.c.Subscribe(n.Remote, n.Type, client.SubscribeOptions{})
	if err != nil {
		return err
	}
	m.ends = append(m.ends, sub.Close)
	m.work.Go(func() {
		told := "" // a robot with another definition of the type sends the same mistake again and again
		for {
			text, _, err := sub.Next(m.ctx)
			if err != nil {
				m.over("topic", n, err)
				return
			}
			if err := ad.PublishJSON(text); err != nil && err.Error() != told {
				told = err.Error()
				m.log.Warn("a mirrored message cannot be read", "topic", n.Remote, "why", err)
			}
		}
	})
	return nil
}

func (m *Mirror) over(kind string, n Name, err error) {
	if m.ctx.Err() == nil {
		m.log.Warn("mirroring ended", kind, n.Remote, "why", err)
	}
}

// publish publishes there what is published here.
func (m *Mirror) publish(n Name) error {
	_, form, err := registry.Message(n.Type)
	if err != nil {
		return err
	}
	sub, err := m.g.Subscribe(n.local(), graph.SubscribeOptions{Type: n.Type, Node: Node})
	if err != nil {
		return err
	}
	m.ends = append(m.ends, sub.Close)
	pub, err := m.c.Advertise(n.Remote, n.Type, false)
	if err != nil {
		return err
	}
	m.ends = append(m.ends, pub.Close)
	m.work.Go(func() {
		for {
			msg, _, err := sub.Next(m.ctx)
			if err != nil {
				m.over("topic", n, err)
				return
			}
			// without a connection a message is lost, as it would be without a mirror
			if err := pub.Publish(msg.JSON(form)); err != nil && !errors.Is(err, client.ErrDisconnected) {
				m.log.Warn("a mirrored message was refused", "topic", n.Remote, "why", err)
			}
		}
	})
	return nil
}

// maxStops bounds the calls of a stop under way in the graph; wires ask Stops instead.
const maxStops = 4096

// service passes calls on.
func (m *Mirror) service(n Name) error {
	typ, form, err := registry.ServiceNamed(n.Type)
	if err != nil {
		return err
	}
	o := graph.ServiceOptions{Node: Node}
	if isStop(n.Type) && (n.Remote == "stop" || strings.HasSuffix(n.Remote, "/stop")) {
		o.MaxCalls = maxStops
	}
	s, err := m.g.Serve(n.local(), n.Type, func(ctx context.Context, request any) (any, error) {
		values, err := m.c.Call(ctx, n.Remote, rosjson.Append(nil, request, form))
		if err != nil {
			return nil, err
		}
		response := typ.Response.New()
		if len(values) > 0 {
			if err := rosjson.Unmarshal(values, response); err != nil {
				return nil, fmt.Errorf("the answer of the robot: %w", err)
			}
		}
		return response, nil
	}, o)
	if err != nil {
		return err
	}
	m.ends = append(m.ends, s.Close)
	return nil
}

// action passes goals on, and feedback and results back.
func (m *Mirror) action(n Name) error {
	typ, form, err := registry.ActionNamed(n.Type)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	remote := map[action.ID]*client.Goal{}
	s, err := m.g.ServeAction(n.local(), n.Type, graph.ActionHandler{
		Goal: func(h *graph.GoalHandle) {
			g, err := m.c.SendGoal(m.ctx, n.Remote, n.Type, rosjson.Append(nil, h.Value(), form))
			if err != nil {
				h.Reject(action.ServerGone, nil, err.Error())
				return
			}
			mu.Lock()
			remote[h.ID()] = g
			mu.Unlock()
			m.work.Go(func() {
				m.follow(h, g, typ)
				mu.Lock()
				defer mu.Unlock()
				delete(remote, h.ID())
			})
		},
		Cancel: func(h *graph.GoalHandle) {
			mu.Lock()
			g := remote[h.ID()]
			mu.Unlock()
			if g == nil {
				return
			}
			if err := g.Cancel(m.ctx); err != nil {
				m.log.Warn("a goal cannot be cancelled", "action", n.Remote, "why", err)
			}
		},
	}, graph.ActionOptions{Node: Node})
	if err != nil {
		return err
	}
	m.ends = append(m.ends, s.Close)
	return nil
}

// follow passes the updates of the remote goal on to the local one. The protocol does not
// tell when a goal is accepted: its first feedback does, or its end.
func (m *Mirror) follow(h *graph.GoalHandle, g *client.Goal, typ *registry.Action) {
	for {
		u, err := g.Next(m.ctx)
		if err != nil {
			h.Accept()
			h.Abort(action.ServerGone, nil, err.Error())
			return
		}
		if u.Done {
			m.finish(h, u, typ)
			return
		}
		f := typ.Feedback.New()
		if err := rosjson.Unmarshal(u.Feedback, f); err != nil {
			m.log.Warn("feedback cannot be read", "goal", string(h.ID()), "why", err)
			continue
		}
		h.Accept()
		h.Inform(u.Info)
		h.Feedback(f)
	}
}

func (m *Mirror) finish(h *graph.GoalHandle, u client.Update, typ *registry.Action) {
	h.Explain(u.Explanations)
	if u.Rejected {
		if !h.Reject(action.ConditionsUnmet, nil, u.Text) {
			h.Abort(action.Failed, nil, u.Text) // it had given feedback before
		}
		return
	}
	h.Accept()
	r := typ.Result.New()
	if len(u.Result) > 0 {
		if err := rosjson.Unmarshal(u.Result, r); err != nil {
			h.Abort(action.Failed, nil, "the result of the robot: "+err.Error())
			return
		}
	}
	switch u.Status {
	case msgs.StatusSucceeded:
		h.Succeed(r, u.Text)
	case msgs.StatusCanceled:
		if h.State() != action.Preempting {
			// the robot ended it by itself
			h.Withdraw(action.ServerStopped, r, u.Text)
			return
		}
		h.Withdraw(action.ClientCancel, r, u.Text)
	default:
		h.Abort(action.Failed, r, u.Text)
	}
}

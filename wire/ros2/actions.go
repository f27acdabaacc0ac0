package ros2

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"poise/action"
	"poise/graph"
	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
	"poise/rtps"
)

// actionServer shows an action of the graph: three services and two topics.
type actionServer struct {
	n         *Node
	ros, name string
	node      string // who serves it in the graph
	typ       *registry.Action
	services  []*service
	feedback  *rtps.Writer
	status    *rtps.Writer
	ctx       context.Context
	cancel    context.CancelFunc

	mu    sync.Mutex
	goals []*goal // that came from ROS 2, by arrival; those that are over for a while
}

// goal is a goal that came from ROS 2.
type goal struct {
	id     msgs.UUID
	stamp  msgs.Time
	status int8
	ended  time.Time
}

// Bounds of goals that are listed.
const (
	mostGoals  = 256
	listEnded  = 10 * time.Second       // how long a goal is listed after its end
	acceptWait = 300 * time.Millisecond // after which a goal that waits is accepted
	statusType = "action_msgs/msg/GoalStatusArray"
	cancelType = "action_msgs/srv/CancelGoal"
	afterward  = 20 * time.Minute // how long a result is waited for at most
)

// lookAtAction decides whether an action is offered in ROS.
func (n *Node) lookAtAction(name string) {
	if n.c.Mirror != "" {
		return // it offers none
	}
	info, exists := n.g.ActionInfo(name)
	exists = exists && !n.peers.has(info.Node)
	ros := n.names.ROS(name)
	old := n.actions[ros]
	if old != nil && old.name == name && (!exists || old.typ != info.Type || old.node != info.Node) {
		old.close()
		delete(n.actions, ros)
		old = nil
	}
	if exists && old != nil && old.name != name {
		n.clash("action", ros, old.name, name)
	}
	if !exists || old != nil {
		return
	}
	a := &actionServer{n: n, ros: ros, name: name, node: info.Node, typ: info.Type}
	a.ctx, a.cancel = context.WithCancel(n.life)
	if err := a.open(); err != nil {
		a.close()
		n.warn("an action is not shown to ROS 2", "action", ros, "why", err)
		return
	}
	n.actions[ros] = a
}

// open makes the services and topics of an action.
func (a *actionServer) open() error {
	n := a.n
	cancel, _, err := registry.ServiceNamed(cancelType)
	if err != nil {
		return err
	}
	statuses, _, err := registry.Message(statusType)
	if err != nil {
		return err
	}
	at := a.ros + "/_action/"
	for _, s := range []*service{
		{ros: at + "send_goal", request: a.typ.SendGoalRequest, response: a.typ.SendGoalResponse, handle: a.send},
		{ros: at + "get_result", request: a.typ.GetResultRequest, response: a.typ.GetResultResponse, handle: a.result},
		{ros: at + "cancel_goal", request: cancel.Request, response: cancel.Response, handle: a.callOff},
	} {
		s.n = n
		if err := s.open(); err != nil {
			return err
		}
		a.services = append(a.services, s)
	}
	a.feedback, err = n.p.NewWriter(rtps.WriterConfig{Topic: "rt" + at + "feedback", Type: typeName(a.typ.FeedbackMessage),
		UserData: n.userData(a.typ.FeedbackMessage), QoS: rtps.QoS{Reliable: true, Depth: 10}})
	if err != nil {
		return err
	}
	a.status, err = n.p.NewWriter(rtps.WriterConfig{Topic: "rt" + at + "status", Type: typeName(statuses),
		UserData: n.userData(statuses), QoS: rtps.QoS{Reliable: true, TransientLocal: true, Depth: 1}})
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tell()
	return nil
}

func (a *actionServer) close() {
	a.cancel()
	for _, s := range a.services {
		s.close()
	}
	for _, w := range []*rtps.Writer{a.feedback, a.status} {
		if w != nil {
			w.Close()
		}
	}
}

// idOf returns the name of a goal in the graph.
func idOf(id msgs.UUID) action.ID {
	u := id.Uuid
	return action.ID(fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:]))
}

// send takes a goal, or refuses it.
func (a *actionServer) send(_ context.Context, who *peer, request any) (any, error) {
	v := reflect.ValueOf(request).Elem()
	id := v.FieldByName("GoalID").Interface().(msgs.UUID)
	now := msgs.TimeOf(a.n.g.Options().Now().UnixNano())
	client, err := a.n.g.SendGoal(a.name, v.FieldByName("Goal").Addr().Interface(), graph.GoalOptions{ID: idOf(id), Stamp: action.Time(now.Nanos()), Node: who.client.Node(), Account: who.account})
	if err != nil {
		a.n.warn("a goal from ROS 2 is refused", "action", a.ros, "peer", who.client.Node(), "why", err)
		return &msgs.SendGoalResponse{Stamp: now}, nil
	}
	first, known := a.decided(client)
	if known && first.State == action.Rejected {
		client.Close()
		a.n.warn("a goal from ROS 2 is refused", "action", a.ros, "peer", who.client.Node(), "why", first.Text)
		return &msgs.SendGoalResponse{Stamp: now}, nil
	}
	g := &goal{id: id, stamp: now, status: msgs.StatusAccepted}
	a.mu.Lock()
	a.goals = append(a.goals, g)
	a.tell()
	a.mu.Unlock()
	a.n.running.Go(func() { a.follow(client, g, first, known) })
	return &msgs.SendGoalResponse{Accepted: true, Stamp: now}, nil
}

// decided waits until a goal is accepted or refused, for a moment: one that waits for its turn
// is accepted meanwhile.
func (a *actionServer) decided(c *graph.GoalClient) (u graph.GoalUpdate, known bool) {
	ctx, cancel := context.WithTimeout(a.ctx, acceptWait)
	defer cancel()
	for {
		u, err := c.Next(ctx)
		if err != nil {
			return u, false
		}
		if u.State != action.Pending && u.State != action.Recalling {
			return u, true
		}
	}
}

// follow tells ROS 2 what becomes of a goal.
func (a *actionServer) follow(c *graph.GoalClient, g *goal, u graph.GoalUpdate, known bool) {
	defer c.Close()
	for {
		if known {
			switch {
			case u.Feedback != nil:
				a.tellFeedback(g, u.Feedback.Value)
			case u.State != action.Pending:
				a.mu.Lock()
				g.status = graph.StatusROS2(u.State, u.Cause)
				if u.Result != nil {
					g.ended = a.n.g.Options().Now()
				}
				a.tell()
				a.mu.Unlock()
			}
			if u.Result != nil {
				return
			}
		}
		var err error
		if u, err = c.Next(a.ctx); err != nil {
			return
		}
		known = true
	}
}

func (a *actionServer) tellFeedback(g *goal, f any) {
	if a.feedback.Readers() == 0 {
		return
	}
	m := a.typ.FeedbackMessage.New()
	v := reflect.ValueOf(m).Elem()
	v.FieldByName("GoalID").Set(reflect.ValueOf(g.id))
	v.FieldByName("Feedback").Set(reflect.ValueOf(f).Elem())
	if _, err := a.feedback.Write(codec.For(a.typ.FeedbackMessage, a.n.c.Form).Append(nil, m), nil); err == nil {
		a.n.stats.sent.Add(1)
	}
}

// tell writes where all goals stand. The lock is held.
func (a *actionServer) tell() {
	now := a.n.g.Options().Now()
	a.goals = slices.DeleteFunc(a.goals, func(g *goal) bool { return !g.ended.IsZero() && now.Sub(g.ended) > listEnded })
	if extra := len(a.goals) - mostGoals; extra > 0 {
		a.goals = slices.Delete(a.goals, 0, extra)
	}
	list := &msgs.ActionStatusArray{}
	for _, g := range a.goals {
		list.StatusList = append(list.StatusList, msgs.ActionStatus{GoalInfo: msgs.GoalInfo{GoalID: g.id, Stamp: g.stamp}, Status: g.status})
	}
	typ, _ := registry.For[msgs.ActionStatusArray]()
	if _, err := a.status.Write(codec.For(typ, a.n.c.Form).Append(nil, list), nil); err != nil && !errors.Is(err, rtps.ErrClosed) {
		a.n.warn("the states of goals are not sent to ROS 2", "action", a.ros, "why", err)
	}
}

// result waits for the end of a goal. One that is not known has no state.
func (a *actionServer) result(_ context.Context, who *peer, request any) (any, error) {
	id := request.(*msgs.GetResultRequest).GoalID
	out := a.typ.GetResultResponse.New()
	v := reflect.ValueOf(out).Elem()
	c, err := a.n.g.WatchGoal(a.name, idOf(id), graph.GoalOptions{Node: who.client.Node(), Queue: 1})
	if err != nil {
		v.FieldByName("Status").SetInt(msgs.StatusUnknown)
		return out, nil
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(a.ctx, afterward)
	defer cancel()
	u, err := c.Result(ctx)
	if err != nil {
		return nil, err
	}
	v.FieldByName("Status").SetInt(int64(graph.StatusROS2(u.State, u.Cause)))
	result := v.FieldByName("Result")
	result.Set(reflect.ValueOf(u.Result.Value).Elem())
	if text := result.FieldByName("ErrorString"); u.State != action.Succeeded && text.IsValid() && text.String() == "" {
		text.SetString(u.Text) // ROS 2 has no text of a state
	}
	return out, nil
}

// Answers to a request to cancel, of action_msgs/CancelGoal.
const (
	cancelNone    = 0
	cancelUnknown = 2
	cancelEnded   = 3
)

// callOff asks for the end of goals: of one, of all that are not newer than a stamp, or of all.
func (a *actionServer) callOff(_ context.Context, who *peer, request any) (any, error) {
	q := request.(*msgs.CancelGoalRequest).GoalInfo
	one := q.GoalID != (msgs.UUID{})
	out := &msgs.CancelGoalResponse{}
	var id action.ID
	if one {
		id = idOf(q.GoalID)
	}
	a.mu.Lock()
	known, ended := false, false
	for _, g := range a.goals {
		open := g.ended.IsZero()
		if one && g.id == q.GoalID {
			known, ended = true, !open
		}
		meant := one && g.id == q.GoalID || !one && q.Stamp.Nanos() == 0 || q.Stamp.Nanos() != 0 && g.stamp.Nanos() <= q.Stamp.Nanos()
		if open && meant {
			out.GoalsCanceling = append(out.GoalsCanceling, msgs.GoalInfo{GoalID: g.id, Stamp: g.stamp})
		}
	}
	a.mu.Unlock()
	switch {
	case one && ended:
		out.ReturnCode = cancelEnded
		return out, nil
	case one && !known:
		out.ReturnCode = cancelUnknown
		return out, nil
	}
	if _, err := a.n.g.CancelGoals(a.name, who.client.Node(), id, action.Time(q.Stamp.Nanos())); err != nil {
		return nil, err
	}
	out.ReturnCode = cancelNone
	return out, nil
}

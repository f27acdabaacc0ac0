package ros2

import (
	"context"
	"crypto/rand"
	"fmt"
	"reflect"
	"sync"
	"time"

	"poise/action"
	"poise/graph"
	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
	"poise/rtps"
	"poise/wire/rosnet"
)

// importedAction is an action of another node: goals that the graph sends it go there. Its
// topics are made with the first goal.
type importedAction struct {
	offer
	who    *peer
	n      *Node
	ros    string
	typ    *registry.Action
	server *graph.ActionServer
	ctx    context.Context
	end    context.CancelFunc

	send, result, cancel *caller

	mu       sync.Mutex
	goals    map[msgs.UUID]*graph.GoalHandle // under way
	feedback *rtps.Reader
	status   *rtps.Reader
	open     int    // goals of all clients that are not over, as the last status says
	heard    uint64 // statuses
}

// answerWithin is how long a goal may be without an answer, and a cancellation.
const answerWithin = 30 * time.Second

// lookAtActions gives back what is gone and takes what is new.
func (i *imports) lookAtActions(now map[string]offer) {
	n := i.n
	for ros, a := range i.actions {
		if now[ros] != a.offer || !n.peers.present(a.who) {
			a.close()
			delete(i.actions, ros)
		}
	}
	cancel, _, err := registry.ServiceNamed(cancelType)
	if err != nil {
		return
	}
	for ros, o := range now {
		t, _, err := registry.ActionNamed(o.kind)
		if err != nil || i.actions[ros] != nil || n.actions[ros] != nil || len(i.actions) >= maxImports {
			continue
		}
		who, err := n.peers.enter(o.from)
		if err != nil {
			continue
		}
		at := ros + "/_action/"
		a := &importedAction{offer: o, who: who, n: n, ros: ros, typ: t, goals: map[msgs.UUID]*graph.GoalHandle{},
			send:   newCaller(n, at+"send_goal", o, t.SendGoalRequest, t.SendGoalResponse),
			result: newCaller(n, at+"get_result", o, t.GetResultRequest, t.GetResultResponse),
			cancel: newCaller(n, at+"cancel_goal", o, cancel.Request, cancel.Response)}
		a.ctx, a.end = context.WithCancel(n.life)
		a.server, err = n.g.ServeAction(n.names.Graph(ros), o.kind, graph.ActionHandler{Goal: a.take, Cancel: a.callOff},
			graph.ActionOptions{Node: who.client.Node(), Account: who.account})
		if err != nil {
			a.end()
			i.refuse("action", ros, err)
			continue
		}
		delete(i.refused, ros)
		i.actions[ros] = a
	}
}

// close takes the action out of the graph; goals under way are lost.
func (a *importedAction) close() {
	a.server.Lose() // before the calls under way end, which would abort their goals
	a.end()
	for _, c := range []*caller{a.send, a.result, a.cancel} {
		c.close()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range []*rtps.Reader{a.feedback, a.status} {
		if r != nil {
			r.Close()
		}
	}
}

// listen makes the readers of feedback and status.
func (a *importedAction) listen() (err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.status != nil || a.ctx.Err() != nil {
		return a.ctx.Err()
	}
	statuses, _ := registry.For[msgs.ActionStatusArray]()
	at := "rt" + a.ros + "/_action/"
	if a.feedback, err = a.n.p.NewReader(rtps.ReaderConfig{Topic: at + "feedback", Type: typeName(a.typ.FeedbackMessage), QoS: rtps.QoS{Reliable: true, Depth: a.n.c.Limits.Queue}, Receive: a.feedbackCame}); err != nil {
		return err
	}
	a.status, err = a.n.p.NewReader(rtps.ReaderConfig{Topic: at + "status", Type: typeName(statuses), QoS: rtps.QoS{Reliable: true, TransientLocal: true, Depth: 1}, Receive: a.statusCame})
	return err
}

// take sends a goal of the graph.
func (a *importedAction) take(h *graph.GoalHandle) {
	var id msgs.UUID
	_, _ = rand.Read(id.Uuid[:]) // never fails
	a.mu.Lock()
	a.goals[id] = h
	a.mu.Unlock()
	a.n.running.Go(func() {
		a.run(h, id)
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.goals, id)
	})
}

// run follows a goal to its end.
func (a *importedAction) run(h *graph.GoalHandle, id msgs.UUID) {
	if err := a.listen(); err != nil {
		h.Reject(action.ServerGone, nil, err.Error())
		return
	}
	q := a.typ.SendGoalRequest.New()
	v := reflect.ValueOf(q).Elem()
	v.FieldByName("GoalID").Set(reflect.ValueOf(id))
	v.FieldByName("Goal").Set(reflect.ValueOf(h.Value()).Elem())
	within, done := context.WithTimeout(a.ctx, answerWithin)
	answer, err := a.send.call(within, q)
	done()
	if err != nil {
		h.Reject(action.ServerGone, nil, fmt.Sprintf("the ROS 2 action %s does not answer: %v", a.ros, err))
		return
	}
	if !answer.(*msgs.SendGoalResponse).Accepted {
		h.Reject(action.ConditionsUnmet, nil, fmt.Sprintf("the ROS 2 action %s refuses the goal", a.ros))
		return
	}
	h.Accept()
	answer, err = a.result.call(a.ctx, &msgs.GetResultRequest{GoalID: id})
	if err != nil {
		h.Abort(action.ServerGone, nil, err.Error())
		return
	}
	out := reflect.ValueOf(answer).Elem()
	result := out.FieldByName("Result").Addr().Interface()
	switch status := int8(out.FieldByName("Status").Int()); {
	case status == msgs.StatusSucceeded:
		h.Succeed(result, "")
	case status == msgs.StatusCanceled && h.State() == action.Preempting:
		h.Withdraw(action.ClientCancel, result, "")
	case status == msgs.StatusCanceled: // it was ended there
		h.Withdraw(action.ServerStopped, result, "")
	default:
		h.Abort(action.Failed, result, textOf(result))
	}
}

// textOf returns what a result says of why a goal failed.
func textOf(result any) string {
	if f := reflect.ValueOf(result).Elem().FieldByName("ErrorString"); f.IsValid() && f.Kind() == reflect.String {
		return f.String()
	}
	return ""
}

// callOff asks for the end of a goal, until it ends: it may not be known there yet.
func (a *importedAction) callOff(h *graph.GoalHandle) {
	a.n.running.Go(func() {
		for a.ctx.Err() == nil {
			id, under := a.idOf(h)
			if !under {
				return
			}
			within, done := context.WithTimeout(a.ctx, answerWithin)
			answer, err := a.cancel.call(within, &msgs.CancelGoalRequest{GoalInfo: msgs.GoalInfo{GoalID: id}})
			done()
			if err == nil && answer.(*msgs.CancelGoalResponse).ReturnCode == cancelNone {
				return
			}
			select {
			case <-a.ctx.Done():
			case <-time.After(cancelAgain):
			}
		}
	})
}

// statusWithin is how long the status of a server may take that has one.
const statusWithin = 500 * time.Millisecond

// cancelAgain is how long after a cancellation that is refused it is asked for again.
const cancelAgain = 100 * time.Millisecond

func (a *importedAction) idOf(h *graph.GoalHandle) (msgs.UUID, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, one := range a.goals {
		if one == h {
			return id, true
		}
	}
	return msgs.UUID{}, false
}

// feedbackCame passes feedback on.
func (a *importedAction) feedbackCame(s *rtps.Sample) {
	m := a.typ.FeedbackMessage.New()
	if err := codec.For(a.typ.FeedbackMessage, a.n.c.Form).Decode(s.Payload, m); err != nil {
		a.n.warn("feedback of a ROS 2 action is not understood", "action", a.ros, "why", err)
		return
	}
	v := reflect.ValueOf(m).Elem()
	a.mu.Lock()
	h := a.goals[v.FieldByName("GoalID").Interface().(msgs.UUID)]
	a.mu.Unlock()
	if h != nil {
		h.Accept() // its answer may come behind
		h.Feedback(v.FieldByName("Feedback").Addr().Interface())
	}
}

// statusCame counts the goals of all clients.
func (a *importedAction) statusCame(s *rtps.Sample) {
	typ, _ := registry.For[msgs.ActionStatusArray]()
	list := &msgs.ActionStatusArray{}
	if codec.For(typ, a.n.c.Form).Decode(s.Payload, list) != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.heard++
	a.open = 0
	for _, g := range list.StatusList {
		if !statusEnded(g.Status) {
			a.open++
		}
	}
}

// EndAll cancels every goal, of every client, and waits until none is left.
func (a *importedAction) EndAll(ctx context.Context, taken func()) (string, error) {
	if err := a.listen(); err != nil {
		return "", fmt.Errorf("action %s: %w", a.ros, err)
	}
	a.mu.Lock()
	before := a.heard
	a.mu.Unlock()
	answer, err := a.cancel.call(ctx, &msgs.CancelGoalRequest{}) // no id and no time: all goals
	if err != nil {
		return "", fmt.Errorf("action %s: %w", a.ros, err)
	}
	taken()
	called := len(answer.(*msgs.CancelGoalResponse).GoalsCanceling)
	began := time.Now()
	return rosnet.AwaitEnd(ctx, a.ros, func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.heard == 0 && called == 0 { // a server that never had a goal has no status
			return time.Since(began) > statusWithin
		}
		return a.heard > 0 && a.open == 0 && (called == 0 || a.heard > before)
	})
}

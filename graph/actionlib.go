package graph

import (
	"reflect"
	"slices"
	"time"

	"poise/action"
	"poise/msgs"
	"poise/msgs/registry"
)

// The five topics of ROS 1's actionlib, beside the action of ROS 2.

// actionQueue is the default queue of readers of an action's topics: a result
// must not be lost because a reader slept for a second.
const actionQueue = 256

// statusTime is how long a goal that is over stays in the list of states, as in
// actionlib.
const statusTime = 5 * time.Second

func (s *ActionServer) openTopics() error {
	open := func(a **Advertisement, what, typeName string, latched bool) error {
		made, err := s.g.Advertise(s.name+what, typeName, TopicOptions{Node: s.node, Own: true, QoS: QoS{Latched: latched, Depth: actionQueue}})
		*a = made
		return err
	}
	if err := open(&s.status, "/status", "actionlib_msgs/GoalStatusArray", false); err != nil {
		return err
	}
	if err := open(&s.feedback, "/feedback", s.typ.ActionFeedback.String(), false); err != nil {
		return err
	}
	if err := open(&s.result, "/result", s.typ.ActionResult.String(), false); err != nil {
		return err
	}
	end, err := s.g.sink(s.name+"/goal", s.typ.ActionGoal, s.goalCame)
	if err != nil {
		return err
	}
	s.ends = append(s.ends, end)
	goalID, _, err := registry.Message("actionlib_msgs/GoalID")
	if err != nil {
		return err
	}
	if end, err = s.g.sink(s.name+"/cancel", goalID, s.cancelCame); err != nil {
		return err
	}
	s.ends = append(s.ends, end)
	return nil
}

func (s *ActionServer) closeTopics() {
	s.mu.Lock()
	ends, out := s.ends, []*Advertisement{s.status, s.feedback, s.result}
	s.ends, s.status, s.feedback, s.result = nil, nil, nil, nil
	s.mu.Unlock()
	for _, end := range ends {
		end()
	}
	for _, a := range out {
		if a != nil {
			a.Close()
		}
	}
}

// goalCame takes a goal from the topic.
func (s *ActionServer) goalCame(m *Message) {
	v := reflect.ValueOf(m.Value).Elem()
	id := v.FieldByName("GoalID").Interface().(msgs.GoalID)
	goal := v.FieldByName("Goal").Addr().Interface()
	err := s.submit(GoalRequest{ID: action.ID(id.ID), Stamp: action.Time(id.Stamp.Nanos()), Caller: m.From, Goal: goal, Account: m.account})
	if err == nil {
		return
	}
	if _, duplicate := err.(*action.DuplicateError); duplicate {
		return // the goal that has the name will be answered
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse(id, err.Error())
}

// refusal is a goal that never got a state, and stands in the list of states all the
// same: some clients want a state besides a result.
type refusal struct {
	status msgs.GoalStatus
	at     time.Time
}

// maxRefused bounds the list; who refuses more within statusTime has other troubles.
const maxRefused = 64

// refuse answers a goal on the topics. The lock is held.
func (s *ActionServer) refuse(id msgs.GoalID, why string) {
	r := refusal{status: msgs.GoalStatus{GoalID: id, Status: msgs.GoalRejected, Text: why}, at: s.o.Now()}
	if s.refused = append(s.refused, r); len(s.refused) > maxRefused {
		s.refused = s.refused[1:]
	}
	s.tellStatus()
	s.publishResult(r.status, s.failure(why))
}

// RefuseGoal answers a goal of ROS 1's topics that could not be read: its client waits
// for a result and a state.
func (g *Graph) RefuseGoal(name string, id action.ID, why string) error {
	s, err := g.actionNamed(name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.views[id]; known != nil {
		return &action.DuplicateError{ID: id, State: known.last.State} // that one will be answered
	}
	s.refuse(msgs.GoalID{ID: string(id), Stamp: stampOf(s.o.Now())}, why)
	return nil
}

func (s *ActionServer) cancelCame(m *Message) {
	id := m.Value.(*msgs.GoalID)
	s.goals.Cancel(m.From, action.ID(id.ID), action.Time(id.Stamp.Nanos()))
}

// tellChange publishes a goal's new state, and its result. The lock is held.
func (s *ActionServer) tellChange(v *GoalView) {
	s.tellStatus()
	if v.last.Result != nil {
		s.publishResult(v.status(), v.last.Result.Value)
	}
}

func (s *ActionServer) publishResult(status msgs.GoalStatus, value any) {
	if s.result == nil || !s.result.Wanted() {
		return
	}
	m := reflect.New(s.typ.ActionResult.Go())
	v := m.Elem()
	v.FieldByName("Header").Set(reflect.ValueOf(s.header()))
	v.FieldByName("Status").Set(reflect.ValueOf(status))
	v.FieldByName("Result").Set(reflect.ValueOf(value).Elem())
	publish(s.result, m.Interface())
}

func (s *ActionServer) tellFeedback(v *GoalView, f any) {
	if s.feedback == nil || !s.feedback.Wanted() {
		return
	}
	m := reflect.New(s.typ.ActionFeedback.Go())
	out := m.Elem()
	out.FieldByName("Header").Set(reflect.ValueOf(s.header()))
	out.FieldByName("Status").Set(reflect.ValueOf(v.status()))
	out.FieldByName("Feedback").Set(reflect.ValueOf(f).Elem())
	publish(s.feedback, m.Interface())
}

// tellStatus publishes where all goals stand.
func (s *ActionServer) tellStatus() {
	if s.status == nil || !s.status.Wanted() {
		return
	}
	list := &msgs.GoalStatusArray{Header: s.header()}
	now := s.o.Now()
	for _, v := range s.order {
		if !v.last.State.Terminal() || now.Sub(v.ended) <= statusTime {
			list.StatusList = append(list.StatusList, v.status())
		}
	}
	s.refused = slices.DeleteFunc(s.refused, func(r refusal) bool { return now.Sub(r.at) > statusTime })
	for _, r := range s.refused {
		list.StatusList = append(list.StatusList, r.status)
	}
	publish(s.status, list)
}

// publish hands on what was made for the topic's type.
func publish(a *Advertisement, v any) {
	if err := a.Publish(v); err != nil {
		panic("graph: " + err.Error())
	}
}

func (s *ActionServer) header() msgs.Header { return msgs.Header{Stamp: stampOf(s.o.Now())} }

func (v *GoalView) status() msgs.GoalStatus {
	return msgs.GoalStatus{GoalID: msgs.GoalID{Stamp: msgs.TimeOf(int64(v.stamp)), ID: string(v.id)},
		Status: StatusROS1(v.last.State), Text: v.last.Text}
}

// StatusROS1 returns a state as actionlib numbers it.
func StatusROS1(s action.State) uint8 {
	return [...]uint8{
		action.Pending: msgs.GoalPending, action.Recalling: msgs.GoalRecalling, action.Active: msgs.GoalActive,
		action.Preempting: msgs.GoalPreempting, action.Recalled: msgs.GoalRecalled, action.Preempted: msgs.GoalPreempted,
		action.Succeeded: msgs.GoalSucceeded, action.Aborted: msgs.GoalAborted, action.Rejected: msgs.GoalRejected, action.Lost: msgs.GoalLost,
	}[s]
}

// StatusROS2 returns a state as action_msgs numbers it. ROS 2 knows no preempted
// goal: one that a newer goal replaced is aborted, one that its client called off
// is cancelled. It has no state for a rejected goal either; those are aborted.
func StatusROS2(s action.State, c action.Cause) int8 {
	switch s {
	case action.Pending, action.Recalling:
		return msgs.StatusUnknown
	case action.Active:
		return msgs.StatusExecuting
	case action.Preempting:
		return msgs.StatusCanceling
	case action.Succeeded:
		return msgs.StatusSucceeded
	case action.Recalled, action.Preempted:
		if c == action.ClientCancel {
			return msgs.StatusCanceled
		}
	}
	return msgs.StatusAborted
}

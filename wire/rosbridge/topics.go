package rosbridge

import (
	"encoding/json"
	"errors"
	"fmt"

	"poise/action"
	"poise/graph"
	"poise/msgs/registry"
	"poise/wire/rosbridge/frame"
)

// advert is a topic that the client publishes.
type advert struct {
	*graph.Advertisement
	audited bool
}

var errNoTopic = errors.New(`the member "topic" is missing`)

func (x *session) advertise(m *frame.Message) error {
	switch {
	case m.Topic == "":
		return errNoTopic
	case m.Type == "":
		return fmt.Errorf(`%s: the member "type" is missing`, m.Topic)
	}
	if a := x.adverts[m.Topic]; a != nil {
		typ, _, err := registry.Message(m.Type)
		if err == nil && typ != a.Type() {
			err = fmt.Errorf("%s is advertised already, as %v", m.Topic, a.Type())
		}
		return err
	}
	_, err := x.addAdvert(m.Topic, m.Type, m.Latch)
	return err
}

func (x *session) addAdvert(name, typeName string, latch bool) (*advert, error) {
	if err := x.roomToAdvertise(); err != nil {
		return nil, err
	}
	ad, err := x.server.g.Advertise(name, typeName, graph.TopicOptions{QoS: graph.QoS{Latched: latch}, Node: x.client.Node})
	if err != nil {
		return nil, err
	}
	a := &advert{Advertisement: ad}
	x.adverts[name] = a
	return a, nil
}

func (x *session) roomToAdvertise() error {
	limit := x.server.c.Limits.Advertisements
	if len(x.adverts)+x.served.names() >= limit {
		return &LimitError{What: "too many advertised names", Limit: float64(limit)}
	}
	return nil
}

func (x *session) unadvertise(m *frame.Message) error {
	a := x.adverts[m.Topic]
	if a == nil {
		return fmt.Errorf("the topic %q is not advertised by this client", m.Topic)
	}
	delete(x.adverts, m.Topic)
	a.Close()
	return nil
}

// publish takes a message for a topic. One that was not advertised may be
// published on if the graph knows its type.
func (x *session) publish(m *frame.Message) error {
	if m.Topic == "" {
		return errNoTopic
	}
	a := x.adverts[m.Topic]
	if a == nil {
		info, known := x.server.g.TopicInfo(m.Topic)
		if !known || info.Type == nil {
			return fmt.Errorf("the topic %q is not known here: advertise it first, with its type", m.Topic)
		}
		var err error
		if a, err = x.addAdvert(m.Topic, info.Type.String(), m.Latch); err != nil {
			return err
		}
	}
	if len(m.Msg) == 0 {
		return fmt.Errorf(`%s: the member "msg" is missing`, m.Topic)
	}
	name, part := x.actionOf(m.Topic)
	if part == "/goal" {
		return x.publishGoal(a, name, m)
	}
	if err := a.PublishJSON(m.Msg); err != nil {
		return fmt.Errorf("%s: %w", m.Topic, err)
	}
	x.auditPublish(a, m, name, part)
	return nil
}

// publishGoal takes a goal of ROS 1's topics. Whoever sends one waits for a result,
// and gets one even if it cannot be read.
func (x *session) publishGoal(a *advert, name string, m *frame.Message) error {
	var body struct {
		GoalID struct {
			ID string `json:"id"`
		} `json:"goal_id"`
	}
	// a goal that is not of this shape is refused below
	_ = json.Unmarshal(m.Msg, &body)
	id := body.GoalID.ID
	err := x.roomForGoal()
	if err == nil {
		err = a.PublishJSON(m.Msg)
	}
	switch {
	case err != nil:
		x.server.audit(x, Goal, name, id, err.Error())
		// if it cannot be answered there, the status below is all there is
		_ = x.server.g.RefuseGoal(name, action.ID(id), err.Error())
		return fmt.Errorf("%s: %w", m.Topic, err)
	case id == "":
		x.server.audit(x, Goal, name, "", "sent without an id")
	default:
		x.watchGoal(name, id)
	}
	return nil
}

// rejectUnread answers a goal of ROS 1's topics that came in a frame that is no JSON.
func (x *session) rejectUnread(m *frame.Message, data []byte, err error) {
	if m.Op != frame.Publish {
		return
	}
	name, part := x.actionOf(m.Topic)
	id := frame.IDText(string(frame.Dig(data, "msg", "goal_id", "id")))
	if part == "/goal" && id != "" {
		_ = x.server.g.RefuseGoal(name, action.ID(id), err.Error()) // the status is told anyway
	}
}

// auditPublish keeps the audit of what moves: cancels of ROS 1's action topics each,
// other topics once.
func (x *session) auditPublish(a *advert, m *frame.Message, action, part string) {
	switch {
	case part == "/cancel":
		x.server.audit(x, Cancel, action, "", "sent "+string(m.Msg))
	case !a.audited:
		a.audited = true
		x.server.audit(x, Publish, m.Topic, frame.IDText(m.ID), "done")
	}
}

func (x *session) subscribe(m *frame.Message) error {
	if m.Topic == "" {
		return errNoTopic
	}
	want, err := readSubscription(m)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Topic, err)
	}
	s := x.streams[m.Topic]
	id := frame.IDText(m.ID)
	isNew := s == nil || !s.has(id)
	if limit := x.server.c.Limits.Subscriptions; isNew && x.wants >= limit {
		return &LimitError{What: m.Topic + ": too many subscriptions", Limit: float64(limit)}
	}
	if s == nil {
		err = x.openStream(m, id, want)
	} else {
		err = s.join(m.Type, id, want)
	}
	if err == nil && isNew {
		x.wants++
	}
	return err
}

func (x *session) openStream(m *frame.Message, id string, want subscription) error {
	if m.Type == "" {
		if info, known := x.server.g.TopicInfo(m.Topic); !known || info.Type == nil {
			return fmt.Errorf("the topic %q is not known here: without a type only topics that exist can be subscribed to", m.Topic)
		}
	}
	s, err := newStream(x, m.Topic, m.Type, id, want)
	if err != nil {
		return err
	}
	x.streams[m.Topic] = s
	return nil
}

func (x *session) unsubscribe(m *frame.Message) error {
	s := x.streams[m.Topic]
	if s == nil {
		return fmt.Errorf("the topic %q is not subscribed to by this client", m.Topic)
	}
	if m.ID != "" {
		id := frame.IDText(m.ID)
		if !s.has(id) {
			return fmt.Errorf("%s: there is no subscription with the id %q", m.Topic, id)
		}
		x.wants--
		if s.drop(id) > 0 {
			return nil
		}
	}
	x.wants -= len(s.subs) // without an id, all
	delete(x.streams, m.Topic)
	s.close()
	return nil
}

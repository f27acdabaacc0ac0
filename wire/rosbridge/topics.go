package rosbridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"poise/action"
	"poise/graph"
	"poise/msgs/registry"
	"poise/wire/rosbridge/frame"
)

// advert is a topic that the client publishes.
type advert struct {
	*graph.Advertisement
	audited bool
	refused time.Time // when the client was last told that its messages are not admitted

	remarked time.Time // when it was last told something about one that was
}

var errNoTopic = errors.New(`the member "topic" is missing`)

func (ses *session) advertise(m *frame.Message) error {
	switch {
	case m.Topic == "":
		return errNoTopic
	case m.Type == "":
		return fmt.Errorf(`%s: the member "type" is missing`, m.Topic)
	}
	if a := ses.adverts[m.Topic]; a != nil {
		typ, _, err := registry.Message(m.Type)
		if err == nil && typ != a.Type() {
			err = fmt.Errorf("%s is advertised already, as %v", m.Topic, a.Type())
		}
		return err
	}
	_, err := ses.addAdvert(m.Topic, m.Type, m.Latch)
	return err
}

func (ses *session) addAdvert(name, typeName string, latch bool) (*advert, error) {
	if err := ses.roomToAdvertise(); err != nil {
		return nil, err
	}
	ad, err := ses.server.g.Advertise(name, typeName, graph.TopicOptions{QoS: graph.QoS{Latched: latch}, Node: ses.client.Node, Account: ses.account})
	if err != nil {
		return nil, err
	}
	a := &advert{Advertisement: ad}
	ses.adverts[name] = a
	return a, nil
}

func (ses *session) roomToAdvertise() error {
	limit := ses.server.c.Limits.Advertisements
	if len(ses.adverts)+ses.served.names() >= limit {
		return &LimitError{What: "too many advertised names", Limit: float64(limit)}
	}
	return nil
}

func (ses *session) unadvertise(m *frame.Message) error {
	a := ses.adverts[m.Topic]
	if a == nil {
		return fmt.Errorf("the topic %q is not advertised by this client", m.Topic)
	}
	delete(ses.adverts, m.Topic)
	a.Close()
	return nil
}

// publish takes a message for a topic. One that was not advertised may be
// published on if the graph knows its type.
func (ses *session) publish(m *frame.Message) error {
	if m.Topic == "" {
		return errNoTopic
	}
	a := ses.adverts[m.Topic]
	if a == nil {
		info, known := ses.server.g.TopicInfo(m.Topic)
		if !known || info.Type == nil {
			return fmt.Errorf("the topic %q is not known here: advertise it first, with its type%s", m.Topic, ses.nearTopics(m.Topic))
		}
		var err error
		if a, err = ses.addAdvert(m.Topic, info.Type.String(), m.Latch); err != nil {
			return err
		}
	}
	if len(m.Msg) == 0 {
		return fmt.Errorf(`%s: the member "msg" is missing`, m.Topic)
	}
	name, part := ses.actionOf(m.Topic)
	if part == "/goal" {
		return ses.publishGoal(a, name, m)
	}
	err := a.PublishJSON(m.Msg)
	var remark *graph.Remark
	switch {
	case errors.As(err, &remark):
		if now := time.Now(); now.Sub(a.remarked) >= refusedEvery {
			a.remarked = now
			ses.status(levelWarning, m.ID, fmt.Sprintf("%s: %s: %s", m.Op, m.Topic, remark.Text))
		}
	case err != nil && a.quiet(err):
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", m.Topic, err)
	}
	ses.auditPublish(a, m, name, part)
	return nil
}

// refusedEvery is how often a client is told that a stream of its messages is not admitted.
const refusedEvery = time.Second

// quiet reports whether the client was told not long ago that its messages are not
// admitted: a stream would be answered message by message.
func (a *advert) quiet(err error) bool {
	var refused *graph.RefusedError
	if !errors.As(err, &refused) {
		return false
	}
	now := time.Now()
	if now.Sub(a.refused) < refusedEvery {
		return true
	}
	a.refused = now
	return false
}

// publishGoal takes a goal of ROS 1's topics. Its client gets a result even if the goal
// cannot be read.
func (ses *session) publishGoal(a *advert, name string, m *frame.Message) error {
	var body struct {
		GoalID struct {
			ID string `json:"id"`
		} `json:"goal_id"`
	}
	// a goal that is not of this shape is refused below
	_ = json.Unmarshal(m.Msg, &body)
	id := body.GoalID.ID
	err := ses.roomForGoal()
	if err == nil {
		err = a.PublishJSON(m.Msg)
	}
	switch {
	case err != nil:
		ses.server.audit(ses, Goal, name, id, err.Error())
		// if it cannot be answered there, the client only gets the status below
		_ = ses.server.g.RefuseGoal(name, action.ID(id), err.Error())
		return fmt.Errorf("%s: %w", m.Topic, err)
	case id == "":
		ses.server.audit(ses, Goal, name, "", "sent without an id")
	default:
		ses.watchGoal(name, id)
	}
	return nil
}

// rejectUnread answers a goal of ROS 1's topics that came in a frame that is not valid JSON.
func (ses *session) rejectUnread(m *frame.Message, data []byte, err error) {
	if m.Op != frame.Publish {
		return
	}
	name, part := ses.actionOf(m.Topic)
	id := frame.IDText(string(frame.Dig(data, "msg", "goal_id", "id")))
	if part == "/goal" && id != "" {
		_ = ses.server.g.RefuseGoal(name, action.ID(id), err.Error()) // the status is told anyway
	}
}

// auditPublish audits each cancel of ROS 1's action topics, and the first message on any
// other topic.
func (ses *session) auditPublish(a *advert, m *frame.Message, action, part string) {
	switch {
	case part == "/cancel":
		ses.server.audit(ses, Cancel, action, "", "sent "+string(m.Msg))
	case !a.audited:
		a.audited = true
		ses.server.audit(ses, Publish, m.Topic, frame.IDText(m.ID), "done")
	}
}

func (ses *session) subscribe(m *frame.Message) error {
	if m.Topic == "" {
		return errNoTopic
	}
	want, err := readSubscription(m)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Topic, err)
	}
	s := ses.streams[m.Topic]
	id := frame.IDText(m.ID)
	isNew := s == nil || !s.has(id)
	if limit := ses.server.c.Limits.Subscriptions; isNew && ses.wants >= limit {
		return &LimitError{What: m.Topic + ": too many subscriptions", Limit: float64(limit)}
	}
	if s == nil {
		err = ses.openStream(m, id, want)
	} else {
		err = s.join(m.Type, id, want)
	}
	if err == nil && isNew {
		ses.wants++
	}
	return err
}

// nearTopics asks whether another topic was meant, at the end of a sentence.
func (ses *session) nearTopics(name string) string {
	return ses.server.g.NearTopics(name)
}

func (ses *session) openStream(m *frame.Message, id string, want subscription) error {
	if m.Type == "" {
		if info, known := ses.server.g.TopicInfo(m.Topic); !known || info.Type == nil {
			return fmt.Errorf("the topic %q is not known here: without a type only topics that exist can be subscribed to%s", m.Topic, ses.nearTopics(m.Topic))
		}
	}
	s, err := newStream(ses, m.Topic, m.Type, id, want)
	if err != nil {
		return err
	}
	ses.streams[m.Topic] = s
	return nil
}

func (ses *session) unsubscribe(m *frame.Message) error {
	s := ses.streams[m.Topic]
	if s == nil {
		return fmt.Errorf("the topic %q is not subscribed to by this client", m.Topic)
	}
	if m.ID != "" {
		id := frame.IDText(m.ID)
		if !s.has(id) {
			return fmt.Errorf("%s: there is no subscription with the id %q", m.Topic, id)
		}
		ses.wants--
		if s.drop(id) > 0 {
			return nil
		}
	}
	ses.wants -= len(s.subs) // without an id, all
	delete(ses.streams, m.Topic)
	s.close()
	return nil
}

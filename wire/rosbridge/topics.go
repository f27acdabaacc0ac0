package rosbridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"poise/action"
	"poise/graph"
	"poise/graph/actions"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/wire/rosbridge/frame"
	"poise/wire/rosbridge/outbox"
	"poise/wire/rosbridge/pack"
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
	ad, err := x.server.g.Advertise(name, typeName, graph.TopicOptions{Latched: latch, Node: x.client.Node})
	if err != nil {
		return nil, err
	}
	a := &advert{Advertisement: ad}
	x.adverts[name] = a
	return a, nil
}

func (x *session) roomToAdvertise() error {
	limit := x.server.c.Limits.Advertisements
	if len(x.adverts)+len(x.services)+len(x.actions) >= limit {
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
		info, known := x.findTopic(m.Topic)
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
		_ = actions.Refuse(x.server.g, name, action.ID(id), err.Error())
		return fmt.Errorf("%s: %w", m.Topic, err)
	case id == "":
		x.server.audit(x, Goal, name, "", "sent without an id")
	default:
		x.watchGoal(name, id)
	}
	return nil
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

// findTopic looks a topic up by any of its names.
func (x *session) findTopic(name string) (graph.TopicInfo, bool) {
	clean, err := graph.Clean(name)
	if err != nil {
		return graph.TopicInfo{}, false
	}
	for _, t := range x.server.g.Topics() {
		if t.Name == clean {
			return t, true
		}
	}
	return graph.TopicInfo{}, false
}

// stream is a topic that the client reads. However often it subscribes, each
// message comes once: clients hand it to all their listeners.
type stream struct {
	x      *session
	name   string          // as spelled
	wanted map[string]want // by subscription id
	lane   *outbox.Lane
	queued atomic.Bool

	mu       sync.Mutex
	sub      *graph.Subscription
	form     msgs.Form
	anyForm  bool // no type was given: ROS 2's form, until one is
	packing  string
	fragment int
}

// want is one subscription's wishes.
type want struct {
	throttle time.Duration
	queue    int
	fragment int
	packing  string
}

// graphQueue is how many messages wait for the pump, which never waits itself.
const graphQueue = 128

func (x *session) subscribe(m *frame.Message) error {
	if m.Topic == "" {
		return errNoTopic
	}
	if err := checkWishes(m); err != nil {
		return fmt.Errorf("%s: %w", m.Topic, err)
	}
	s := x.streams[m.Topic]
	id := frame.IDText(m.ID)
	isNew := true
	if s != nil {
		_, has := s.wanted[id]
		isNew = !has
	}
	if limit := x.server.c.Limits.Subscriptions; isNew && x.wants >= limit {
		return &LimitError{What: m.Topic + ": too many subscriptions", Limit: float64(limit)}
	}
	if s == nil {
		var err error
		if s, err = x.openStream(m); err != nil {
			return err
		}
	} else if err := s.join(m.Type, isNew); err != nil {
		return err
	}
	if isNew {
		x.wants++
	}
	s.wanted[id] = want{throttle: time.Duration(m.ThrottleRate * float64(time.Millisecond)),
		queue: m.QueueLength, fragment: m.FragmentSize, packing: m.Compression}
	s.merge()
	x.pump.wake(s)
	return nil
}

// checkWishes finds numbers that cannot be meant.
func checkWishes(m *frame.Message) error {
	const day = 24 * 3600 * 1000 // ms
	switch {
	case m.ThrottleRate < 0 || m.ThrottleRate > day:
		return fmt.Errorf("throttle_rate is %g ms, must be 0 to %d", m.ThrottleRate, day)
	case m.QueueLength < 0:
		return fmt.Errorf("queue_length is %d, must not be negative", m.QueueLength)
	case m.FragmentSize < 0:
		return fmt.Errorf("fragment_size is %d, must not be negative", m.FragmentSize)
	}
	return checkCompression(m.Compression)
}

func (x *session) openStream(m *frame.Message) (*stream, error) {
	if m.Type == "" {
		if info, known := x.findTopic(m.Topic); !known || info.Type == nil {
			return nil, fmt.Errorf("the topic %q is not known here: without a type only topics that exist can be subscribed to", m.Topic)
		}
	}
	s := &stream{x: x, name: m.Topic, wanted: map[string]want{}, anyForm: m.Type == ""}
	s.lane = x.box.Lane("topic "+m.Topic, x.server.c.Limits.Queue, 0)
	sub, err := x.server.g.Subscribe(m.Topic, graph.SubscribeOptions{Type: m.Type, Queue: graphQueue,
		Node: x.client.Node, Wake: func() { x.pump.wake(s) }})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.sub, s.form = sub, sub.Form()
	s.mu.Unlock()
	x.streams[m.Topic] = s
	return s, nil
}

// join checks a further subscription of the same topic against the first, and
// gives a new one what the topic has latched.
func (s *stream) join(typeName string, isNew bool) error {
	// the graph knows what types and forms are, and what is latched
	probe, err := s.x.server.g.Subscribe(s.name, graph.SubscribeOptions{Type: typeName, Queue: graphQueue, Node: s.x.client.Node})
	if err != nil {
		return err
	}
	defer probe.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case typeName == "":
	case s.anyForm:
		s.anyForm, s.form = false, probe.Form()
	case s.form != probe.Form():
		return fmt.Errorf("%s: this client reads it in the form of %v already; one topic has one form per connection", s.name, s.form)
	}
	for m, _, ok := probe.Poll(); ok && isNew; m, _, ok = probe.Poll() {
		s.lane.Put(s.frames(m))
	}
	return nil
}

// merge combines the wishes of all subscriptions: the least throttling, the
// longest queue, the smallest fragments; a compression only if all ask for it.
func (s *stream) merge() {
	var all want
	first := true
	for _, w := range s.wanted {
		if w.packing == "" {
			w.packing = "none"
		}
		if first {
			all, first = w, false
			continue
		}
		all.throttle = min(all.throttle, w.throttle)
		all.queue = max(all.queue, w.queue)
		if all.fragment == 0 || w.fragment > 0 && w.fragment < all.fragment {
			all.fragment = w.fragment
		}
		if all.packing != w.packing {
			all.packing = "none"
		}
	}
	queue := s.x.server.c.Limits.Queue
	switch {
	case all.queue > 0:
		queue = min(all.queue, queue)
	case all.throttle > 0:
		queue = 1 // nothing is to be kept back: the newest
	}
	s.mu.Lock()
	s.packing, s.fragment = all.packing, all.fragment
	s.mu.Unlock()
	s.lane.Set(queue, all.throttle)
}

func (x *session) unsubscribe(m *frame.Message) error {
	s := x.streams[m.Topic]
	if s == nil {
		return fmt.Errorf("the topic %q is not subscribed to by this client", m.Topic)
	}
	if m.ID == "" {
		x.wants -= len(s.wanted)
		clear(s.wanted)
	} else {
		id := frame.IDText(m.ID)
		if _, ok := s.wanted[id]; !ok {
			return fmt.Errorf("%s: there is no subscription with the id %q", m.Topic, id)
		}
		delete(s.wanted, id)
		x.wants--
	}
	if len(s.wanted) > 0 {
		s.merge()
		return nil
	}
	delete(x.streams, m.Topic)
	s.close()
	return nil
}

func (s *stream) close() {
	s.mu.Lock()
	sub := s.sub
	s.mu.Unlock()
	sub.Close()
	s.lane.Close()
}

func (s *stream) flag() *atomic.Bool { return &s.queued }

// drain moves a few messages to the lane, and says whether there may be more.
func (s *stream) drain() (more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sub == nil {
		return false // Subscribe has not returned yet; it wakes again when it has
	}
	const turn = 64
	for range turn {
		if s.x.ctx.Err() != nil {
			return false
		}
		m, lost, ok := s.sub.Poll()
		if !ok {
			return false
		}
		s.lane.Lose(lost)
		s.lane.Put(s.frames(m))
	}
	return true
}

// frameKey names a whole frame among a message's encodings.
type frameKey struct {
	packing, topic string
	form           msgs.Form
}

// frames returns the message as it goes over the wire. Clients that spell the
// topic alike share the bytes.
func (s *stream) frames(m *graph.Message) (frames [][]byte, binary bool) {
	key := frameKey{packing: s.packing, topic: s.name, form: s.form}
	switch s.packing {
	case "cbor":
		return [][]byte{m.Encoded(key, func() []byte {
			return pack.CBOR(publishHead(s.name), m.Value, s.form)
		})}, true
	case "cbor-raw":
		return [][]byte{m.Encoded(key, func() []byte { return rawFrame(s.name, m.Value, s.form) })}, true
	}
	msg := m.JSON(s.form)
	text := m.Encoded(key, func() []byte {
		out := frame.Message{Op: frame.Publish, Topic: s.name, Msg: msg}
		return out.Append(make([]byte, 0, len(msg)+len(s.name)+32))
	})
	return s.x.split(text, s.fragment), false
}

// publishHead is a publish frame in CBOR up to the value of msg.
func publishHead(topic string) []byte {
	b := pack.Object(nil, 3)
	b = pack.Text(pack.Text(b, "op"), frame.Publish)
	b = pack.Text(pack.Text(b, "topic"), topic)
	return pack.Text(b, "msg")
}

// rawFrame wraps ROS's own serialization, with the time at which it left.
func rawFrame(topic string, value any, form msgs.Form) []byte {
	now := time.Now()
	b := pack.Object(publishHead(topic), 3)
	b = pack.Uint(pack.Text(b, "secs"), uint64(now.Unix()))
	b = pack.Uint(pack.Text(b, "nsecs"), uint64(now.Nanosecond()))
	return pack.Bytes(pack.Text(b, "bytes"), pack.Raw(nil, value, form))
}

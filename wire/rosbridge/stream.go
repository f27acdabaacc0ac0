package rosbridge

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"poise/graph"
	"poise/msgs"
	"poise/msgs/codec"
	"poise/wire/rosbridge/frame"
)

// stream is a topic that a client reads. However often the client subscribes, each
// message is sent once, since clients hand it to all their listeners: the stream
// serves all its subscriptions together.
type stream struct {
	session *session
	name    string                  // as spelled
	subs    map[string]subscription // by subscription id
	all     subscription            // of them together
	lane    *lane
	queued  atomic.Bool

	mu          sync.Mutex
	sub         *graph.Subscription
	form        msgs.Form
	anyForm     bool // no type was given: ROS 2's form, until one is
	compression string
	fragment    int
}

// graphQueue is how many messages wait for the pump, which never waits itself.
const graphQueue = 128

// newStream begins to read a topic, of a type if one is given, for a first
// subscription.
func newStream(ses *session, topic, typ, id string, first subscription) (*stream, error) {
	s := &stream{session: ses, name: topic, subs: map[string]subscription{id: first}, anyForm: typ == ""}
	s.lane = ses.box.newLane("topic "+topic, ses.server.c.Limits.Queue, 0)
	s.lane.passed = s.tellWhen
	s.merge() // before anything can come
	sub, err := ses.server.g.Subscribe(topic, graph.SubscribeOptions{Type: typ, QoS: graph.QoS{Depth: graphQueue}, Node: ses.client.Node, Account: ses.account,
		Wake: func() { ses.pump.wake(s) }})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.sub, s.form = sub, sub.Form()
	s.mu.Unlock()
	ses.pump.wake(s)
	return s, nil
}

// join adds a subscription, or changes what one asks for. A new one gets what the
// topic has latched.
func (s *stream) join(typeName, id string, w subscription) error {
	// the graph knows what types and forms are, and what is latched
	probe, err := s.session.server.g.Subscribe(s.name, graph.SubscribeOptions{Type: typeName, QoS: graph.QoS{Depth: graphQueue}, Node: s.session.client.Node})
	if err != nil {
		return err
	}
	defer probe.Close()
	if err := s.takeForm(typeName, probe.Form()); err != nil {
		return err
	}
	isNew := !s.has(id)
	if s.subs[id] = w; isNew {
		s.all = s.all.and(w) // not merge: thousands may join
		s.apply()
	} else {
		s.merge()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for m, _, ok := probe.Poll(); ok && isNew; m, _, ok = probe.Poll() {
		s.lane.put(s.frames(m))
	}
	return nil
}

// takeForm takes the form that a subscription's type name asks for, if it gives one.
func (s *stream) takeForm(typeName string, form msgs.Form) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case typeName == "":
	case s.anyForm:
		s.anyForm, s.form = false, form
	case s.form != form:
		return fmt.Errorf("%s: this client reads it in the form of %v already; one topic has one form per connection", s.name, s.form)
	}
	return nil
}

// merge computes what serves all subscriptions together.
func (s *stream) merge() {
	first := true
	for _, w := range s.subs {
		if first {
			s.all, first = w, false
		} else {
			s.all = s.all.and(w)
		}
	}
	s.apply()
}

// apply sets the lane to what all subscriptions together ask for.
func (s *stream) apply() {
	queue := s.session.server.c.Limits.Queue
	switch {
	case s.all.queue > 0:
		queue = min(s.all.queue, queue)
	case s.all.throttle > 0:
		queue = 1 // only the newest
	}
	s.lane.set(queue, s.all.throttle)
	s.mu.Lock()
	s.compression, s.fragment = s.all.compression, s.all.fragment
	s.mu.Unlock()
	s.tellWhen()
}

// has reports whether the stream serves a subscription.
func (s *stream) has(id string) bool {
	_, has := s.subs[id]
	return has
}

// drop ends a subscription, and returns how many remain.
func (s *stream) drop(id string) int {
	if delete(s.subs, id); len(s.subs) > 0 {
		s.merge()
	}
	return len(s.subs)
}

// close ends the stream.
func (s *stream) close() {
	s.mu.Lock()
	sub := s.sub
	s.mu.Unlock()
	sub.Close()
	s.lane.close()
}

// inPump is for the pump.
func (s *stream) inPump() *atomic.Bool { return &s.queued }

// drain moves a few messages to the lane, and says whether there may be more.
func (s *stream) drain() (more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sub == nil {
		return false // Subscribe has not returned yet; it wakes again when it has
	}
	const turn = 64
	for range turn {
		if s.session.ctx.Err() != nil {
			return false
		}
		m, lost, ok := s.sub.Poll()
		if !ok {
			s.sub.NotBefore(s.lane.takes())
			return false
		}
		s.lane.lose(lost)
		s.lane.put(s.frames(m))
	}
	return true
}

// tellWhen tells the graph when the client takes the next message.
func (s *stream) tellWhen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sub != nil {
		s.sub.NotBefore(s.lane.takes())
	}
}

// frameKey names a whole frame among a message's encodings.
type frameKey struct {
	compression, topic string
	form               msgs.Form
}

// frames returns the message as it goes over the wire. Clients that spell the
// topic alike share the bytes.
func (s *stream) frames(m *graph.Message) (frames [][]byte, binary bool) {
	key := frameKey{compression: s.compression, topic: s.name, form: s.form}
	switch s.compression {
	case "cbor":
		return [][]byte{m.Encoded(key, func() []byte {
			return frame.PublishCBOR(s.name, m.Value, s.form)
		})}, true
	case "cbor-raw":
		return [][]byte{m.Encoded(key, func() []byte {
			return frame.PublishRaw(s.name, time.Now(), codec.For(m.Type, s.form).Append(nil, m.Value))
		})}, true
	}
	msg := m.JSON(s.form)
	text := m.Encoded(key, func() []byte {
		out := frame.Message{Op: frame.Publish, Topic: s.name, Msg: msg}
		return out.Append(make([]byte, 0, len(msg)+len(s.name)+32))
	})
	return s.session.split(text, s.fragment), false
}

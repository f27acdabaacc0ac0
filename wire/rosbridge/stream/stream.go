package stream

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"poise/graph"
	"poise/msgs"
	"poise/wire/rosbridge/frame"
	"poise/wire/rosbridge/outbox"
	"poise/wire/rosbridge/pack"
)

// Client is whom streams are for.
type Client struct {
	Graph *graph.Graph
	Node  string
	Box   *outbox.Box
	Queue int // messages of one topic that may wait
	Pump  *Pump
	Done  <-chan struct{} // closed when it has gone
	Split func(text []byte, size int) [][]byte
}

// Stream is a topic that a client reads.
type Stream struct {
	c      *Client
	name   string          // as spelled
	wanted map[string]Want // by subscription id
	all    Want            // of them together
	lane   *outbox.Lane
	queued atomic.Bool

	mu       sync.Mutex
	sub      *graph.Subscription
	form     msgs.Form
	anyForm  bool // no type was given: ROS 2's form, until one is
	packing  string
	fragment int
}

// graphQueue is how many messages wait for the pump, which never waits itself.
const graphQueue = 128

// Open begins to read a topic, of a type if one is given, for a first subscription.
func Open(c *Client, topic, typ, id string, w Want) (*Stream, error) {
	s := &Stream{c: c, name: topic, wanted: map[string]Want{id: w}, anyForm: typ == ""}
	s.lane = c.Box.Lane("topic "+topic, c.Queue, 0)
	s.merge() // before anything can come
	sub, err := c.Graph.Subscribe(topic, graph.SubscribeOptions{Type: typ, Queue: graphQueue, Node: c.Node, Wake: func() { c.Pump.Wake(s) }})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.sub, s.form = sub, sub.Form()
	s.mu.Unlock()
	c.Pump.Wake(s)
	return s, nil
}

// Join adds a subscription, or changes what one asks for. A new one gets what the topic
// has latched.
func (s *Stream) Join(typeName, id string, w Want) error {
	// the graph knows what types and forms are, and what is latched
	probe, err := s.c.Graph.Subscribe(s.name, graph.SubscribeOptions{Type: typeName, Queue: graphQueue, Node: s.c.Node})
	if err != nil {
		return err
	}
	defer probe.Close()
	if err := s.takeForm(typeName, probe.Form()); err != nil {
		return err
	}
	isNew := !s.Has(id)
	if s.wanted[id] = w; isNew {
		s.all = s.all.and(w) // thousands may join: no look at all the others
		s.serve()
	} else {
		s.merge()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for m, _, ok := probe.Poll(); ok && isNew; m, _, ok = probe.Poll() {
		s.lane.Put(s.frames(m))
	}
	return nil
}

// takeForm is the form that a subscription's type name asks for, if it gives one.
func (s *Stream) takeForm(typeName string, form msgs.Form) error {
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

// merge serves all subscriptions together.
func (s *Stream) merge() {
	first := true
	for _, w := range s.wanted {
		if first {
			s.all, first = w, false
		} else {
			s.all = s.all.and(w)
		}
	}
	s.serve()
}

// serve does what all subscriptions together ask for.
func (s *Stream) serve() {
	queue := s.c.Queue
	switch {
	case s.all.Queue > 0:
		queue = min(s.all.Queue, queue)
	case s.all.Throttle > 0:
		queue = 1 // nothing is to be kept back: the newest
	}
	s.mu.Lock()
	s.packing, s.fragment = s.all.Packing, s.all.Fragment
	s.mu.Unlock()
	s.lane.Set(queue, s.all.Throttle)
}

// Has reports whether the stream serves a subscription.
func (s *Stream) Has(id string) bool {
	_, has := s.wanted[id]
	return has
}

// Drop ends a subscription, and returns how many are left.
func (s *Stream) Drop(id string) int {
	if delete(s.wanted, id); len(s.wanted) > 0 {
		s.merge()
	}
	return len(s.wanted)
}

// Wanted returns how many subscriptions the stream serves.
func (s *Stream) Wanted() int { return len(s.wanted) }

// Close ends the reading.
func (s *Stream) Close() {
	s.mu.Lock()
	sub := s.sub
	s.mu.Unlock()
	sub.Close()
	s.lane.Close()
}

// Queued is for the pump.
func (s *Stream) Queued() *atomic.Bool { return &s.queued }

// Drain moves a few messages to the lane, and says whether there may be more.
func (s *Stream) Drain() (more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sub == nil {
		return false // Subscribe has not returned yet; it wakes again when it has
	}
	const turn = 64
	for range turn {
		select {
		case <-s.c.Done:
			return false
		default:
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
func (s *Stream) frames(m *graph.Message) (frames [][]byte, binary bool) {
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
	return s.c.Split(text, s.fragment), false
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

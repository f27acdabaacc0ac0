package graph

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"poise/internal/budget"
	"poise/msgs"
	"poise/msgs/registry"
)

// SubscribeOptions say how a topic is read.
type SubscribeOptions struct {
	Type string // refuse any other; empty takes what the topic has
	QoS  QoS    // what is asked for; default best effort, with the depth of the publishers, at least 10
	Node string // of the subscriber; default the graph's own
	Wake func() // called when the queue is no longer empty; may only signal

	// For reports whether the subscriber also reads for another node: what is published to that one alone
	// comes here, too. It may take no lock under which the graph is called. nil reads for itself.
	For func(node string) bool

	// Admit decides which messages of other nodes are published on the topic at all: what
	// it refuses takes no place in any queue. For topics that are there to be read by this
	// subscriber.
	Admit   Admission
	Account *budget.Account // that its name is charged to; nil for the server's own
}

// Subscription is a bounded queue of a topic's messages.
type Subscription struct {
	topic *topic
	node  string
	reads func(node string) bool // also for others; nil for none
	qos   QoS                    // without depth
	form  msgs.Form
	wake  func()
	ready chan struct{} // holds a token while the queue may have something
	admit *Admission    // nil if everything is admitted

	component bool         // of this program
	notBefore atomic.Int64 // ns since 1970
	every     atomic.Int64 // ns between messages, from then on

	account *budget.Account
	names   int64 // charged for it

	mu     sync.Mutex
	own    bool       // the limit is the subscriber's, whatever publishers offer
	limit  int        // of the queue
	ring   []*Message // grows up to the limit
	head   int
	count  int
	lost   int // since the last delivery
	total  uint64
	closed bool
}

// Subscribe reads a topic. It need not be published yet.
func (g *Graph) Subscribe(name string, o SubscribeOptions) (*Subscription, error) {
	var typ *registry.Type
	form := msgs.ROS2
	if o.Type != "" {
		var err error
		if typ, form, err = registry.Message(o.Type); err != nil {
			return nil, err
		}
	}
	return g.subscribe(name, typ, form, o, false)
}

func (g *Graph) subscribe(name string, typ *registry.Type, form msgs.Form, o SubscribeOptions, component bool) (*Subscription, error) {
	t, err := g.topicFor(name, typ, component)
	if err != nil {
		return nil, err
	}
	defer t.release()
	qos := o.QoS.asked()
	s := &Subscription{topic: t, node: g.node(o.Node), reads: o.For, qos: qos, form: form, wake: o.Wake, component: component,
		ready: make(chan struct{}, 1), own: qos.Depth > 0, limit: qos.Depth, account: o.Account, names: t.price()}
	if err := s.account.Take(budget.Names, s.names); err != nil {
		return nil, err
	}
	s.follow(t.depth())
	t.subs = append(t.subs, s)
	t.wanted.Add(1)
	if o.Admit != nil {
		s.admit = &o.Admit
		t.gather()
	}
	for _, a := range t.pubs {
		if !a.qos.meets(&s.qos) || s.admit != nil && !a.own {
			continue // what was published before could not be admitted
		}
		for _, m := range a.last {
			s.push(m)
		}
	}
	return s, nil
}

// follow makes the queue as deep as publishers offer, unless the subscriber said how
// deep.
func (s *Subscription) follow(depth int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.own {
		s.limit = max(s.limit, depth, defaultDepth)
	}
}

// push adds a message, and drops the oldest if the queue is full.
func (s *Subscription) push(m *Message) {
	s.expect()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	m.retain()
	if s.count == len(s.ring) && s.count < s.limit {
		s.grow()
	}
	if s.count == len(s.ring) {
		s.ring[s.head].release()
		s.ring[s.head] = m
		s.head = (s.head + 1) % len(s.ring)
		s.lost++
		s.total++
		s.mu.Unlock()
		return
	}
	s.ring[(s.head+s.count)%len(s.ring)] = m
	s.count++
	first := s.count == 1
	s.mu.Unlock()
	if first {
		s.signal()
	}
}

// grow enlarges the ring: most queues hold a message or two, whatever their limit.
func (s *Subscription) grow() {
	ring := make([]*Message, min(max(2*len(s.ring), 2), s.limit))
	n := copy(ring, s.ring[s.head:])
	copy(ring[n:], s.ring[:s.head])
	s.ring, s.head = ring, 0
}

func (s *Subscription) signal() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
	if s.wake != nil {
		s.wake()
	}
}

// Poll returns the oldest message, if there is one, and how many older ones were
// lost since the last.
func (s *Subscription) Poll() (m *Message, lost int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.count == 0 {
		return nil, 0, false
	}
	m, s.ring[s.head] = s.ring[s.head], nil
	s.head = (s.head + 1) % len(s.ring)
	s.count--
	lost, s.lost = s.lost, 0
	m.release()
	return m, lost, true
}

// Next waits for a message.
func (s *Subscription) Next(ctx context.Context) (m *Message, lost int, err error) {
	for {
		if m, lost, ok := s.Poll(); ok {
			return m, lost, nil
		}
		if s.isClosed() {
			return nil, 0, ErrClosed
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
}

func (s *Subscription) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// NotBefore says that the subscriber has no use for a message before a time, and after that
// one for none before an interval has passed, until it says something else: a publisher that
// soon has a newer one need not make it. What is published comes nevertheless.
func (s *Subscription) NotBefore(t time.Time, every time.Duration) {
	s.every.Store(int64(every))
	if t.IsZero() {
		s.notBefore.Store(0)
		return
	}
	s.notBefore.Store(t.UnixNano())
}

// expect notes that a message comes.
func (s *Subscription) expect() {
	every, from := s.every.Load(), s.notBefore.Load()
	if every > 0 && from > 0 && from <= time.Now().UnixNano() {
		s.notBefore.CompareAndSwap(from, from+every) // else the subscriber has said something newer
	}
}

// Topic returns the topic's full name.
func (s *Subscription) Topic() string { return s.topic.name }

// Type returns the topic's type, nil while it is not known.
func (s *Subscription) Type() *registry.Type {
	s.topic.mu.Lock()
	defer s.topic.mu.Unlock()
	return s.topic.typ
}

// QoS returns what the subscriber asks for, defaults filled in.
func (s *Subscription) QoS() QoS {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.qos
	q.Depth = s.limit
	return q
}

// Form returns the form that the subscriber's type name asked for.
func (s *Subscription) Form() msgs.Form { return s.form }

// Len returns how many messages wait.
func (s *Subscription) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// Lost returns how many messages this subscriber has lost in all.
func (s *Subscription) Lost() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// Close ends the subscription; a Next that waits returns ErrClosed.
func (s *Subscription) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	for _, m := range s.ring {
		if m != nil {
			m.release()
		}
	}
	clear(s.ring)
	s.count = 0
	s.mu.Unlock()
	s.signal()

	t := s.topic
	t.mu.Lock()
	defer t.release()
	s.account.Give(budget.Names, s.names)
	t.subs = slices.DeleteFunc(t.subs, func(x *Subscription) bool { return x == s })
	t.wanted.Add(-1)
	if s.admit != nil {
		t.gather()
	}
}

// gather collects what subscriptions admit. t is locked.
func (t *topic) gather() {
	var all []*Admission
	for _, s := range t.subs {
		if s.admit != nil {
			all = append(all, s.admit)
		}
	}
	t.admits.Store(&all)
}

// Listener is a component's subscription to T.
type Listener[T any] struct{ *Subscription }

// Listen reads a topic of T.
func Listen[T any](g *Graph, name string, o SubscribeOptions) (Listener[T], error) {
	s, err := g.subscribe(name, typeFor[T](), msgs.ROS2, o, true)
	return Listener[T]{s}, err
}

// Next waits for a value. It is shared and must not be written.
func (l Listener[T]) Next(ctx context.Context) (v *T, lost int, err error) {
	m, lost, err := l.Subscription.Next(ctx)
	if err != nil {
		return nil, 0, err
	}
	return m.Value.(*T), lost, nil
}

// Poll returns the oldest value that waits.
func (l Listener[T]) Poll() (v *T, lost int, ok bool) {
	m, lost, ok := l.Subscription.Poll()
	if !ok {
		return nil, 0, false
	}
	return m.Value.(*T), lost, true
}

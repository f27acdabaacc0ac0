package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"poise/internal/budget"
	"poise/msgs"
	"poise/msgs/registry"
	"poise/msgs/rosjson"
)

// TopicOptions say how a topic is published.
type TopicOptions struct {
	QoS  QoS    // what is offered; default reliable, 10 messages, not latched
	Node string // of the publisher; default the graph's own

	// Own makes the topic the publisher's own: no other may publish on it, so what is
	// heard there was said by the publisher. Topic sets it; a wire does not, on behalf of
	// its peers.
	Own bool
	// Others opens an Own topic to the messages of other nodes that it admits.
	Others Admission

	Account *budget.Account // that its name and messages are charged to; nil for the server's own
}

// Admission decides about a message of another node before it is published: it may change
// the message, and refuses it by an error, which the publisher gets. A Remark does not refuse
// it. It is called from any goroutine, without locks.
type Admission func(node string, v any) error

// Remark is what a publisher is told about a message that was published, such as a part of it
// that is left out.
type Remark struct{ Text string }

func (r *Remark) Error() string { return r.Text }

// topic is a name that messages are published on. It exists as long as it has a publisher
// or a subscriber.
type topic struct {
	g       *Graph
	name    string
	wanted  atomic.Int32 // subscribers and sinks
	size    atomic.Int32 // of the last text, and some more
	mu      sync.Mutex
	typ     *registry.Type // nil while only subscribers without a type are here
	pubs    []*Advertisement
	subs    []*Subscription
	sinks   []*func(*Message) // called by the publisher, without locks
	removed bool
	number  uint32 // of messages
	apart   bool   // clients gave it another type than a component, which has the name now

	owner  atomic.Pointer[Advertisement] // whose own the topic is; nil if it is unowned
	admits atomic.Pointer[[]*Admission]  // of subscriptions; nil if there are none
}

// Advertisement is a publisher's registration, used by wires; components have
// Publisher.
type Advertisement struct {
	topic *topic
	node  string
	qos   QoS
	form  msgs.Form
	last  []*Message // of a latched publisher, oldest first
	gone  bool

	sampled bool // PublishFunc is called again and again

	own    bool
	others Admission

	account *budget.Account
	names   int64 // charged for it
}

// OwnError is a publication on a topic that is another node's own.
type OwnError struct{ Topic, Owner string }

func (e *OwnError) Error() string {
	return fmt.Sprintf("topic %s is for %s alone to publish on; it may be subscribed to", e.Topic, e.Owner)
}

// RefusedError is a message that a subscriber of the topic, or its owner, does not admit.
type RefusedError struct {
	Topic string
	Err   error
}

func (e *RefusedError) Error() string { return e.Err.Error() }

func (e *RefusedError) Unwrap() error { return e.Err }

// topicNamed returns the topic of a name, locked; it is made if it does not exist.
func (g *Graph) topicNamed(name string) (*topic, error) {
	for {
		g.mu.Lock()
		name, err := g.resolve(name)
		if err == nil && g.closed {
			err = ErrClosed
		}
		t := g.topics[name]
		if err == nil && t == nil && len(g.topics) >= g.o.MaxNames {
			err = &FullError{What: "topics", Limit: g.o.MaxNames}
		}
		if err != nil {
			g.mu.Unlock()
			return nil, err
		}
		if t == nil {
			t = &topic{g: g, name: name}
			g.topics[name] = t
		}
		g.mu.Unlock()
		if t.mu.Lock(); !t.removed {
			return t, nil
		}
		t.mu.Unlock()
	}
}

// topicFor returns the topic of a name, locked and with its type set, for who publishes or
// reads typ there. A component has its type: clients that gave the name another one before
// keep their topic among themselves and lose the name.
func (g *Graph) topicFor(name string, typ *registry.Type, component bool) (*topic, error) {
	for {
		t, err := g.topicNamed(name)
		if err != nil {
			return nil, err
		}
		if component && t.typ != nil && t.typ != typ && !t.ofComponent() {
			t.apart = true
			t.release()
			continue
		}
		if err := t.setType(typ); err != nil {
			t.release()
			return nil, err
		}
		return t, nil
	}
}

// ofComponent reports whether a component publishes or reads the topic. t is locked.
func (t *topic) ofComponent() bool {
	return len(t.sinks) > 0 || slices.ContainsFunc(t.pubs, func(a *Advertisement) bool { return a.own }) ||
		slices.ContainsFunc(t.subs, func(s *Subscription) bool { return s.component })
}

// setType sets the topic's type, an error if it has another. t is locked.
func (t *topic) setType(typ *registry.Type) error {
	if t.typ != nil && typ != nil && t.typ != typ {
		return &TypeError{Kind: "topic", Name: t.name, Got: typ.String(), Want: t.typ.String()}
	}
	if t.typ == nil {
		t.typ = typ
	}
	return nil
}

// release unlocks a topic after a change, drops it if it has neither publishers nor
// subscribers, and notifies watchers.
func (t *topic) release() {
	t.removed = t.apart || len(t.pubs)+len(t.subs)+len(t.sinks) == 0
	removed := t.removed
	t.mu.Unlock()
	if removed {
		t.g.mu.Lock()
		if t.g.topics[t.name] == t {
			delete(t.g.topics, t.name)
		}
		t.g.mu.Unlock()
	}
	t.g.changed(TopicKind, t.name)
}

// depth returns the largest depth that publishers offer. t is locked.
func (t *topic) depth() (depth int) {
	for _, a := range t.pubs {
		depth = max(depth, a.qos.Depth)
	}
	return depth
}

func (t *topic) subscriptions() []*Subscription {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.subs)
}

// Advertise registers a publisher of a topic by the name of its type.
func (g *Graph) Advertise(name, typeName string, o TopicOptions) (*Advertisement, error) {
	typ, form, err := registry.Message(typeName)
	if err != nil {
		return nil, err
	}
	return g.advertise(name, typ, form, o, false)
}

// advertise registers a publisher. A component is let in even if another owns the topic.
func (g *Graph) advertise(name string, typ *registry.Type, form msgs.Form, o TopicOptions, component bool) (*Advertisement, error) {
	t, err := g.topicFor(name, typ, component)
	if err != nil {
		return nil, err
	}
	defer t.release()
	a := &Advertisement{topic: t, node: g.node(o.Node), qos: o.QoS.offered(), form: form, own: o.Own, others: o.Others, account: o.Account, names: t.price()}
	if err := t.admit(a); err != nil && !component {
		return nil, err
	}
	if err := a.account.Take(budget.Names, a.names); err != nil {
		return nil, err
	}
	t.pubs = append(t.pubs, a)
	for _, s := range t.subs {
		s.follow(t.depth())
	}
	return a, nil
}

// admit lets a publisher in unless the topic is another's own. One whose own it becomes
// silences those that were there before. t is locked.
func (t *topic) admit(a *Advertisement) error {
	owner := t.owner.Load()
	switch {
	case owner == nil && !a.own:
		return nil
	case owner == nil:
		t.owner.Store(a)
		for _, b := range t.pubs {
			b.unlatch()
		}
		return nil
	case !a.own && owner.others != nil, a.own && owner.node == a.node:
		return nil
	}
	return &OwnError{Topic: t.name, Owner: owner.node}
}

// may reports, by an error that is no Remark, that a message may not be published.
func (a *Advertisement) may(v any) error {
	if a.own {
		return nil
	}
	if owner := a.topic.owner.Load(); owner != nil {
		if owner.others == nil {
			return &OwnError{Topic: a.topic.name, Owner: owner.node}
		}
		if err := owner.others(a.node, v); err != nil {
			return &RefusedError{Topic: a.topic.name, Err: err}
		}
	}
	var remark *Remark
	if admits := a.topic.admits.Load(); admits != nil {
		for _, admit := range *admits {
			if err := (*admit)(a.node, v); err != nil && !errors.As(err, &remark) {
				return &RefusedError{Topic: a.topic.name, Err: err}
			}
		}
	}
	if remark != nil {
		return remark
	}
	return nil
}

// Type returns the topic's type.
func (a *Advertisement) Type() *registry.Type { return a.topic.typ }

// QoS returns what the publisher offers, defaults filled in.
func (a *Advertisement) QoS() QoS { return a.qos }

// Wanted reports whether a message published now would be kept or read.
func (a *Advertisement) Wanted() bool { return a.qos.Latched || a.Heard() }

// Heard reports whether a message published now would be read.
func (a *Advertisement) Heard() bool { return a.topic.wanted.Load() > 0 }

// HeardBy reports whether a subscriber wants a message by some time; see
// Subscription.NotBefore.
func (a *Advertisement) HeardBy(t time.Time) bool { return a.HeardFrom() <= t.UnixNano() }

// HeardFrom returns the first time at which a subscriber wants a message, ns since 1970: the
// greatest number without a subscriber, zero for one that wants all.
func (a *Advertisement) HeardFrom() int64 {
	first := int64(math.MaxInt64)
	if !a.Heard() {
		return first
	}
	t := a.topic
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.sinks) > 0 {
		return 0
	}
	for _, s := range t.subs {
		first = min(first, s.notBefore.Load())
	}
	return first
}

// Sampled says that PublishFunc is called again and again, also when HeardFrom says. What no
// subscriber wants yet is then left out.
func (a *Advertisement) Sampled() { a.sampled = true }

// Publish hands a value, a pointer to the topic's struct, to all subscribers. It
// must not be written any more.
func (a *Advertisement) Publish(v any) error {
	if !a.topic.typ.Holds(v) {
		return wrongValue("topic", a.topic.name, v, a.topic.typ)
	}
	return a.judged(v)
}

// judged publishes a value if it is admitted.
func (a *Advertisement) judged(v any) error {
	err := a.may(v)
	var remark *Remark
	if err != nil && !errors.As(err, &remark) {
		return err
	}
	if failed := a.publish(v); failed != nil {
		return failed
	}
	return err
}

// PublishJSON reads a message of either form and publishes it.
func (a *Advertisement) PublishJSON(data []byte) error {
	v := a.topic.typ.New()
	if err := rosjson.UnmarshalJSON(data, v); err != nil {
		return err
	}
	return a.judged(v)
}

// publish fails only for a client that holds too much.
func (a *Advertisement) publish(v any) error {
	if !a.Wanted() {
		return nil
	}
	t := a.topic
	m := &Message{Type: t.typ, Value: v, From: a.node, size: &t.size, kept: a.qos.Latched, account: a.account}
	if m.account != nil {
		m.cost = rosjson.Memory(v)
		if err := m.account.Take(budget.Messages, m.cost); err != nil {
			return err
		}
		m.retain()
		defer m.release()
	}
	t.mu.Lock()
	if a.gone {
		t.mu.Unlock()
		return nil
	}
	if err := a.keep(m); err != nil {
		t.mu.Unlock()
		return err
	}
	t.number++
	m.Number = t.number
	for _, s := range t.subs {
		if a.qos.meets(&s.qos) {
			s.push(m)
		}
	}
	sinks := t.sinks
	t.mu.Unlock()
	for _, sink := range sinks {
		(*sink)(m)
	}
	return nil
}

// keep keeps a message of a latched publisher for late subscribers, in place of its oldest.
// The topic is locked.
func (a *Advertisement) keep(m *Message) error {
	if !a.qos.Latched {
		return nil
	}
	var oldest int64
	full := len(a.last) == a.qos.Depth
	if full {
		oldest = a.last[0].cost
	}
	if more := m.cost - oldest; more > 0 {
		if err := a.account.Take(budget.Latched, more); err != nil {
			return err
		}
	} else {
		a.account.Give(budget.Latched, -more)
	}
	if full {
		a.last = append(a.last[:0], a.last[1:]...)
	}
	a.last = append(a.last, m)
	return nil
}

// unlatch drops what is kept. The topic is locked.
func (a *Advertisement) unlatch() {
	for _, m := range a.last {
		a.account.Give(budget.Latched, m.cost)
	}
	a.last = nil
}

// price is how many names a registration at the topic costs a client: none at the server's
// own. The topic is locked.
func (t *topic) price() int64 {
	if len(t.sinks) > 0 {
		return 0
	}
	for _, a := range t.pubs {
		if a.account == nil {
			return 0
		}
	}
	for _, s := range t.subs {
		if s.account == nil {
			return 0
		}
	}
	return 1
}

// Close ends the registration; latched messages are dropped.
func (a *Advertisement) Close() {
	t := a.topic
	t.mu.Lock()
	if a.gone {
		t.mu.Unlock()
		return
	}
	defer t.release()
	a.gone = true
	a.unlatch()
	a.account.Give(budget.Names, a.names)
	t.pubs = slices.DeleteFunc(t.pubs, func(x *Advertisement) bool { return x == a })
	if t.owner.Load() != a {
		return
	}
	t.owner.Store(nil)
	for _, b := range t.pubs {
		if b.own {
			t.owner.Store(b)
		}
	}
}

// sink calls f, from the publisher's goroutine, with every message of a topic. It
// returns what ends it.
func (g *Graph) sink(name string, typ *registry.Type, f func(*Message)) (func(), error) {
	t, err := g.topicFor(name, typ, false)
	if err != nil {
		return nil, err
	}
	defer t.release()
	t.sinks = append(slices.Clone(t.sinks), &f)
	t.wanted.Add(1)
	return func() {
		t.mu.Lock()
		defer t.release()
		t.sinks = slices.DeleteFunc(slices.Clone(t.sinks), func(x *func(*Message)) bool { return x == &f })
		t.wanted.Add(-1)
	}, nil
}

// Publisher is a component's registration to publish T.
type Publisher[T any] struct{ *Advertisement }

// Topic registers a publisher of T, whose own the topic is.
func Topic[T any](g *Graph, name string, o TopicOptions) (Publisher[T], error) {
	o.Own = true
	a, err := g.advertise(name, typeFor[T](), msgs.ROS2, o, true)
	return Publisher[T]{a}, err
}

// Publish hands a value to all subscribers. It must not be written any more.
func (p Publisher[T]) Publish(v *T) {
	_ = p.publish(v) // only clients can hold too much
}

// PublishFunc publishes what make returns; make is not called if nothing would be kept or read.
func (p Publisher[T]) PublishFunc(make func() *T) {
	if p.sampled && !p.qos.Latched && !p.HeardBy(time.Now()) {
		return
	}
	if p.Wanted() {
		p.Publish(make())
	}
}

// PublishTo hands a value to the subscriptions of one node alone: what concerns no other.
// It is not kept for late subscribers.
func (p Publisher[T]) PublishTo(node string, v *T) {
	t := p.topic
	m := &Message{Type: t.typ, Value: v, From: p.node, size: &t.size}
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.gone {
		return
	}
	for _, s := range t.subs {
		if (s.node == node || s.reads != nil && s.reads(node)) && p.qos.meets(&s.qos) {
			s.push(m)
		}
	}
}

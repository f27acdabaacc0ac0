package client

import (
	"context"
	"errors"
	"slices"
	"sync"

	"poise/msgs"
	"poise/msgs/rosjson"
	"poise/wire/rosbridge/frame"
)

// Text returns a message as JSON in a form, for Publish, Call and SendGoal.
func Text(msg any, f msgs.Form) []byte { return rosjson.Append(nil, msg, f) }

// Read reads JSON text into the message that dst points to.
func Read(text []byte, dst any) error { return rosjson.Unmarshal(text, dst) }

// SubscribeOptions say how a topic is read.
type SubscribeOptions struct {
	Queue       int     // messages kept for a slow reader; default 100
	Throttle    float64 // s between messages; 0 for all
	Compression string  // none or cbor
}

// Subscription is a topic of the server.
type Subscription struct {
	c     *Client
	id    string
	topic string
	typ   string
	o     SubscribeOptions
	queue *queue
}

// Subscribe reads a topic, now and after every reconnection. Without a type the
// server must know the topic already. Next returns its refusal.
func (c *Client) Subscribe(topic, typ string, o SubscribeOptions) (*Subscription, error) {
	if o.Queue <= 0 {
		o.Queue = 100
	}
	s := &Subscription{c: c, id: c.id("subscribe", topic), topic: topic, typ: typ, o: o, queue: newQueue(o.Queue)}
	c.mu.Lock()
	if c.ctx.Err() != nil {
		c.mu.Unlock()
		return nil, ErrClosed
	}
	c.subs = append(c.subs, s)
	c.statuses[s.id] = s.queue.end
	c.mu.Unlock()
	// if there is no connection, the next one says it
	if err := c.send(c.ctx, s.message()); errors.Is(err, ErrClosed) {
		return nil, err
	}
	return s, nil
}

func (s *Subscription) message() *frame.Message {
	return &frame.Message{Op: frame.Subscribe, ID: frame.StringID(s.id), Topic: s.topic, Type: s.typ,
		ThrottleRate: s.o.Throttle * 1000, Compression: s.o.Compression}
}

// Next waits for a message, and says how many were dropped before it because the
// reader was slow.
func (s *Subscription) Next(ctx context.Context) (msg []byte, lost int, err error) {
	return s.queue.next(ctx)
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.c.mu.Lock()
	known := slices.Contains(s.c.subs, s)
	s.c.subs = slices.DeleteFunc(s.c.subs, func(x *Subscription) bool { return x == s })
	delete(s.c.statuses, s.id)
	s.c.mu.Unlock()
	s.queue.end(ErrClosed)
	if known {
		// if that fails there is no connection, and so no subscription
		_ = s.c.send(s.c.ctx, &frame.Message{Op: frame.Unsubscribe, ID: frame.StringID(s.id), Topic: s.topic})
	}
}

// Publisher is a topic that this client publishes on.
type Publisher struct {
	c     *Client
	id    string
	topic string
	typ   string
	latch bool

	mu      sync.Mutex
	refused error
}

// Advertise announces a topic, now and after every reconnection.
func (c *Client) Advertise(topic, typ string, latch bool) (*Publisher, error) {
	p := &Publisher{c: c, id: c.id("advertise", topic), topic: topic, typ: typ, latch: latch}
	c.mu.Lock()
	if c.ctx.Err() != nil {
		c.mu.Unlock()
		return nil, ErrClosed
	}
	c.pubs = append(c.pubs, p)
	c.statuses[p.id] = p.refuse
	c.mu.Unlock()
	if err := c.send(c.ctx, p.message(frame.Advertise)); errors.Is(err, ErrClosed) {
		return nil, err
	}
	return p, nil
}

func (p *Publisher) message(op string) *frame.Message {
	m := &frame.Message{Op: op, ID: frame.StringID(p.id), Topic: p.topic}
	if op == frame.Advertise {
		m.Type, m.Latch = p.typ, p.latch
	}
	return m
}

func (p *Publisher) refuse(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refused == nil { // the first is the cause of the others
		p.refused = err
	}
}

// Publish sends a message as JSON text. The server's refusal is returned by a later
// call, since the protocol has no answer to a message.
func (p *Publisher) Publish(msg []byte) error {
	if err := p.Refused(); err != nil {
		return err
	}
	return p.c.send(p.c.ctx, &frame.Message{Op: frame.Publish, ID: frame.StringID(p.id), Topic: p.topic, Msg: msg})
}

// Refused returns what the server has said against the topic or a message since it was asked last.
func (p *Publisher) Refused() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.refused
	p.refused = nil
	return err
}

// Close withdraws the topic.
func (p *Publisher) Close() {
	p.c.mu.Lock()
	known := slices.Contains(p.c.pubs, p)
	p.c.pubs = slices.DeleteFunc(p.c.pubs, func(x *Publisher) bool { return x == p })
	delete(p.c.statuses, p.id)
	p.c.mu.Unlock()
	if known {
		_ = p.c.send(p.c.ctx, p.message(frame.Unadvertise)) // without a connection there is nothing to withdraw
	}
}

// queue keeps the newest messages.
type queue struct {
	mu    sync.Mutex
	items [][]byte
	max   int
	lost  int
	err   error // why nothing more will come
	ready chan struct{}
}

func newQueue(max int) *queue { return &queue{max: max, ready: make(chan struct{}, 1)} }

func (q *queue) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

func (q *queue) put(item []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		return
	}
	if q.items = append(q.items, item); len(q.items) > q.max {
		q.items = q.items[1:]
		q.lost++
	}
	q.signal()
}

func (q *queue) end(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil {
		q.err = err
	}
	q.signal()
}

func (q *queue) next(ctx context.Context) (item []byte, lost int, err error) {
	for {
		q.mu.Lock()
		if len(q.items) > 0 {
			item, q.items = q.items[0], q.items[1:]
			lost, q.lost = q.lost, 0
			q.mu.Unlock()
			return item, lost, nil
		}
		err = q.err
		q.mu.Unlock()
		if err != nil {
			q.signal() // for others who wait
			return nil, 0, err
		}
		select {
		case <-q.ready:
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
}

package raw

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"poise/wire/ros1/tcpros"
)

// Kind is what a topic is.
type Kind struct {
	Type, MD5, Definition string
	Latching              bool // later subscribers get the last message
}

// Publisher is a topic that the node publishes.
type Publisher struct {
	n     *Node
	topic string
	kind  Kind

	mu    sync.Mutex
	last  []byte // framed; of latching ones
	links map[*link]bool
	lost  uint64
}

// link is a subscriber.
type link struct {
	conn    net.Conn
	queue   chan []byte
	pending sync.WaitGroup // messages that are not written yet
}

// maxQueue is how many messages wait for a slow subscriber; the oldest goes then.
const maxQueue = 1000

// writeWithin is how long a subscriber may take none of what it is sent.
const writeWithin = 30 * time.Second

// Advertise announces a topic.
func (n *Node) Advertise(ctx context.Context, topic string, k Kind) (*Publisher, error) {
	p := &Publisher{n: n, topic: topic, kind: k, links: map[*link]bool{}}
	n.mu.Lock()
	if n.pubs[topic] != nil {
		n.mu.Unlock()
		return nil, fmt.Errorf("%s is published already", topic)
	}
	n.pubs[topic] = p
	n.mu.Unlock()
	_, err := n.master(ctx, "registerPublisher", topic, k.Type, n.uri)
	return p, err
}

func (n *Node) publisher(topic string) *Publisher {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.pubs[topic]
}

// Publish sends a message, serialised as ROS 1 does, to those who subscribe now.
func (p *Publisher) Publish(data []byte) {
	framed := tcpros.AppendBody(nil, func(b []byte) []byte { return append(b, data...) })
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kind.Latching {
		p.last = framed
	}
	for l := range p.links {
		p.put(l, framed)
	}
}

// put queues a message; the oldest makes room.
func (p *Publisher) put(l *link, framed []byte) {
	l.pending.Add(1)
	for {
		select {
		case l.queue <- framed:
			return
		default:
		}
		select {
		case <-l.queue:
			l.pending.Done()
			p.lost++
		default:
		}
	}
}

// Subscribers returns how many there are.
func (p *Publisher) Subscribers() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Lost returns how many messages slow subscribers did not get.
func (p *Publisher) Lost() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

// Drain waits until the subscribers have what was published, or ctx is done.
func (p *Publisher) Drain(ctx context.Context) {
	p.mu.Lock()
	links := make([]*link, 0, len(p.links))
	for l := range p.links {
		links = append(links, l)
	}
	p.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, l := range links {
			l.pending.Wait()
		}
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// accept takes subscribers until the node ends.
func (n *Node) accept() {
	for {
		c, err := n.links.Accept()
		if err != nil {
			return
		}
		n.running.Go(func() {
			defer c.Close()
			defer context.AfterFunc(n.life, func() { c.Close() })()
			if err := n.serve(c); err != nil {
				_ = tcpros.WriteHeader(c, tcpros.Header{"error": err.Error()}) // it may be gone
			}
		})
	}
}

// serve sends a subscriber what is published. An error is why it is refused.
func (n *Node) serve(c net.Conn) error {
	_ = c.SetDeadline(time.Now().Add(greetWithin))
	h, err := tcpros.ReadHeader(c, tcpros.MaxHeader)
	if err != nil {
		return err
	}
	p := n.publisher(h["topic"])
	if p == nil {
		return fmt.Errorf("received a connection for a nonexistent topic [%.200s]", h["topic"])
	}
	if sum := h["md5sum"]; sum != "*" && sum != p.kind.MD5 {
		return fmt.Errorf("topic %s has type %s with md5sum %s, and the peer wants %.200s with %.50s", p.topic, p.kind.Type, p.kind.MD5, h["type"], sum)
	}
	latching := "0"
	if p.kind.Latching {
		latching = "1"
	}
	if tcpros.WriteHeader(c, tcpros.Header{"callerid": n.self, "topic": p.topic, "type": p.kind.Type, "md5sum": p.kind.MD5,
		"message_definition": p.kind.Definition, "latching": latching}) != nil {
		return nil // it is gone
	}
	_ = c.SetDeadline(time.Time{})
	p.send(c)
	return nil
}

// send writes to a subscriber until it goes.
func (p *Publisher) send(c net.Conn) {
	l := &link{conn: c, queue: make(chan []byte, maxQueue)}
	p.mu.Lock()
	p.links[l] = true
	if p.last != nil {
		p.put(l, p.last)
	}
	p.mu.Unlock()
	ctx, cancel := context.WithCancel(p.n.life)
	defer cancel()
	p.n.running.Go(func() {
		_, _ = io.Copy(io.Discard, c) // a subscriber says nothing more: this is its end
		cancel()
	})
	defer p.leave(l)
	for {
		select {
		case framed := <-l.queue:
			_ = c.SetWriteDeadline(time.Now().Add(writeWithin))
			_, err := c.Write(framed)
			l.pending.Done()
			if err != nil {
				c.Close()
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// leave takes a subscriber off, with what waits for it.
func (p *Publisher) leave(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
	for {
		select {
		case <-l.queue:
			l.pending.Done()
		default:
			return
		}
	}
}

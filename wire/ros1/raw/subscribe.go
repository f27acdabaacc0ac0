package raw

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"poise/wire/ros1/tcpros"
)

// subscription is a topic that is read from all its publishers.
type subscription struct {
	n     *Node
	topic string
	take  func(from tcpros.Header, data []byte)

	publishers tcpros.Publishers
}

// Subscribe reads a topic. Take is called with the header of a publisher, which says what the
// topic is, and a message as it is; of several publishers at the same time. A publisher waits
// for it.
func (n *Node) Subscribe(ctx context.Context, topic string, take func(from tcpros.Header, data []byte)) error {
	s := &subscription{n: n, topic: topic, take: take}
	s.publishers.Own, s.publishers.Read = func(uri string) bool { return uri == n.uri }, s.begin
	n.mu.Lock()
	if n.subs[topic] != nil {
		n.mu.Unlock()
		return fmt.Errorf("%s is read already", topic)
	}
	n.subs[topic] = s
	n.mu.Unlock()
	v, err := n.master(ctx, "registerSubscriber", topic, "*", n.uri)
	if err != nil {
		return err
	}
	n.publishersOf(topic, v, false)
	return nil
}

// publishersOf takes a list of a topic's publishers: all there are, or some.
func (n *Node) publishersOf(topic string, list any, all bool) {
	n.mu.Lock()
	s := n.subs[topic]
	n.mu.Unlock()
	if s != nil {
		s.publishers.Listed(list, all)
	}
}

// begin begins to read a publisher.
func (s *subscription) begin(uri string) context.CancelFunc {
	if s.n.life.Err() != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(s.n.life)
	s.n.running.Go(func() { s.keep(ctx, uri) })
	return cancel
}

// keep reads a publisher as long as the master lists it.
func (s *subscription) keep(ctx context.Context, uri string) {
	for ctx.Err() == nil {
		if err := s.read(ctx, uri); err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) { // which is how a publisher goes
			s.n.c.Log.Warn("a ROS 1 publisher is not read; it is tried again", "topic", s.topic, "node", uri, "why", err)
		}
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
		}
	}
}

func (s *subscription) read(ctx context.Context, uri string) error {
	c, err := s.connect(ctx, uri)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	_ = c.SetDeadline(time.Now().Add(greetWithin))
	if err := tcpros.WriteHeader(c, tcpros.Header{"callerid": s.n.self, "topic": s.topic, "type": "*", "md5sum": "*", "tcp_nodelay": "1"}); err != nil {
		return err
	}
	h, err := tcpros.ReadHeader(c, tcpros.MaxHeader)
	if err != nil {
		return err
	}
	if why := h["error"]; why != "" {
		return fmt.Errorf("it refuses: %.500s", why)
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		return err
	}
	in := bufio.NewReaderSize(c, 64<<10)
	for {
		data, err := s.n.readBody(in)
		if err != nil {
			return err
		}
		if data != nil {
			s.take(h, data)
		}
	}
}

// connect asks a publisher where its messages are, and connects there.
func (s *subscription) connect(ctx context.Context, uri string) (net.Conn, error) {
	asking, cancel := context.WithTimeout(ctx, masterWaits)
	defer cancel()
	v, err := s.n.call(asking, uri, "requestTopic", s.topic, []any{[]any{"TCPROS"}})
	if err != nil {
		return nil, err
	}
	host, port, err := tcpros.Address(s.topic, v)
	if err != nil {
		return nil, err
	}
	return s.n.c.Dial(asking, "tcp", net.JoinHostPort(host, port))
}

package ros1

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"time"

	"poise/action"
	"poise/graph"
	"poise/internal/budget"
	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
	"poise/wire/ros1/tcpros"
)

// subscription is a topic of the graph that the node reads in ROS.
type subscription struct {
	n         *Node
	g         *graph.Graph // the node's, or that of its imports
	ros, name string       // in ROS and in the graph
	typ       *registry.Type
	ctx       context.Context
	cancel    context.CancelFunc

	publishers tcpros.Publishers
}

func newSubscription(n *Node, g *graph.Graph, ros, name string, typ *registry.Type) *subscription {
	s := &subscription{n: n, g: g, ros: ros, name: name, typ: typ}
	s.ctx, s.cancel = context.WithCancel(n.life)
	s.publishers.Most, s.publishers.Own, s.publishers.Read = maxSources, n.isOwn, s.begin
	return s
}

func (s *subscription) close() { s.cancel() }

// Bounds of the publishers that are read, of one topic and of all.
const (
	maxSources    = 1024
	maxAllSources = 2048
)

// publishersOf takes a list of a topic's publishers from the master.
func (n *Node) publishersOf(ros string, list any, all bool) {
	n.mu.Lock()
	s := n.subs[ros]
	n.mu.Unlock()
	if s != nil {
		s.publishers.Listed(list, all)
	}
}

// begin begins to read a publisher, if there are not too many.
func (s *subscription) begin(uri string) context.CancelFunc {
	n := s.n
	if s.ctx.Err() != nil {
		return nil
	}
	if n.sources.Add(1) > maxAllSources {
		n.sources.Add(-1)
		n.warn("a ROS 1 publisher is not read: there are too many", "topic", s.ros, "node", uri, "limit", maxAllSources)
		return nil
	}
	ctx, cancel := context.WithCancel(s.ctx)
	n.running.Go(func() {
		defer n.sources.Add(-1)
		s.keep(ctx, uri)
	})
	return cancel
}

// How a publisher that is not reached is tried again.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// keep reads a publisher as long as the master lists it.
func (s *subscription) keep(ctx context.Context, uri string) {
	wait := firstRetry
	for ctx.Err() == nil {
		if !s.n.tries.wait(ctx) {
			return
		}
		began := time.Now()
		err := s.read(ctx, uri)
		var own *graph.OwnError
		if errors.As(err, &own) {
			s.n.warn("a ROS 1 node publishes what is not its own", "topic", s.ros, "node", uri, "why", err)
			<-ctx.Done()
			return
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) {
			s.n.c.Log.Debug("a ROS 1 publisher is not read", "topic", s.ros, "node", uri, "why", err)
		}
		if time.Since(began) > lastRetry {
			wait = firstRetry
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		wait = min(2*wait, lastRetry)
	}
}

// read connects to a publisher and publishes in the graph what it says, until it ends.
func (s *subscription) read(ctx context.Context, uri string) error {
	c, err := s.connect(ctx, uri)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	h, err := s.shake(c)
	if err != nil {
		return err
	}
	who, err := s.n.peers.enter(h["callerid"])
	if err != nil {
		return err
	}
	defer s.n.peers.exit(who)
	a, err := s.g.Advertise(s.name, typeName(s.typ), graph.TopicOptions{QoS: graph.QoS{Latched: h["latching"] == "1"}, Node: who.client.Node(), Account: who.account})
	if err != nil {
		return err
	}
	defer a.Close()
	l := &link{peer: who.caller, direction: inward, topic: s.ros, conn: c}
	s.n.greet.add(l)
	defer s.n.greet.remove(l)
	in := bufio.NewReaderSize(c, 32<<10)
	for {
		if err := s.message(ctx, in, l, who, a); err != nil {
			return err
		}
	}
}

// connect asks a publisher where its messages are, and connects there.
func (s *subscription) connect(ctx context.Context, uri string) (net.Conn, error) {
	asking, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	v, err := s.n.client.Call(asking, uri, "requestTopic", s.n.self, s.ros, []any{[]any{"TCPROS"}})
	if err != nil {
		return nil, err
	}
	code, value, err := readAnswer("requestTopic", v)
	if err != nil {
		return nil, err
	}
	if code != success {
		value = nil // which is no address
	}
	host, port, err := tcpros.Address(s.ros, value)
	if err != nil {
		return nil, err
	}
	return s.n.c.dial(asking, "tcp", net.JoinHostPort(host, port))
}

// shake exchanges headers with a publisher.
func (s *subscription) shake(c net.Conn) (tcpros.Header, error) {
	_ = c.SetDeadline(time.Now().Add(greetWithin))
	err := tcpros.WriteHeader(c, tcpros.Header{"callerid": s.n.self, "topic": s.ros, "type": typeName(s.typ), "md5sum": s.typ.MD5(),
		"message_definition": s.typ.FullText(msgs.ROS1), "tcp_nodelay": "1"})
	if err != nil {
		return nil, err
	}
	h, err := tcpros.ReadHeader(c, tcpros.MaxHeader)
	if err != nil {
		return nil, err
	}
	if why := h["error"]; why != "" {
		return nil, fmt.Errorf("it refuses: %.500s", why)
	}
	if err := agree("topic "+s.ros, h, typeName(s.typ), s.typ.MD5()); err != nil {
		return nil, err
	}
	return h, c.SetDeadline(time.Time{})
}

// message reads one message and publishes it. What is too long, or what there is no room
// for, is skipped and counted.
func (s *subscription) message(ctx context.Context, reader *bufio.Reader, l *link, from *peer, a *graph.Advertisement) error {
	size, err := tcpros.ReadLength(reader)
	if err != nil {
		return err
	}
	skip := func(why error) error {
		l.skipped.Add(1)
		s.n.stats.skipped.Add(1)
		s.n.warn("a ROS 1 message is skipped", "peer", from.caller, "topic", s.ros, "why", why)
		return throwAway(reader, l.conn, from.account, size)
	}
	if limit := s.n.c.Limits.MessageBytes; int64(size) > int64(limit) {
		return skip(&tcpros.LengthError{What: "a message", Length: size, Limit: limit})
	}
	if !from.pace.wait(ctx) {
		return ctx.Err()
	}
	if size > budget.LongMessage {
		// it waits with its sender, which drops its oldest: no stop comes on this socket
		if err := from.account.AwaitLong(ctx); err != nil {
			return err
		}
		from.account.LongCame(int(size))
	}
	if err := from.account.Take(budget.Frames, int64(size)); err != nil {
		return skip(err)
	}
	defer from.account.Give(budget.Frames, int64(size))
	if size > budget.LongMessage {
		// one at a time, and then the next waits twice as long as this one took: decoding
		// takes memory and work
		if !s.n.large.Take(ctx) {
			return ctx.Err()
		}
		began := time.Now()
		defer func() { time.AfterFunc(min(2*time.Since(began), longestRest), s.n.large.Done) }()
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(reader, data); err != nil {
		return err
	}
	l.bytes.Add(int64(size) + 4)
	l.messages.Add(1)
	s.n.stats.received.Add(1)
	if size > budget.LongMessage {
		return s.take(ctx, a, from, data)
	}
	from.account.Work(ctx, func(ctx context.Context) { err = s.take(ctx, a, from, data) })
	return err
}

// longestRest is how long other long messages wait at most after one is done.
const longestRest = 500 * time.Millisecond

// take publishes a message that has come.
func (s *subscription) take(ctx context.Context, a *graph.Advertisement, who *peer, data []byte) error {
	v := s.typ.New()
	if err := codec.For(s.typ, msgs.ROS1).Decode(data, v); err != nil {
		return err // what follows cannot be trusted either
	}
	if err := s.publish(ctx, a, v); err != nil {
		s.refused(who, v, err)
	}
	return nil
}

// throwAway leaves out bytes that come on a connection, no faster than all clients together
// may send what is not kept. What was read before them is in the reader, which may be nil.
func throwAway(in *bufio.Reader, c net.Conn, account *budget.Account, size uint32) error {
	left := uint64(size)
	if in != nil {
		n, err := in.Discard(int(min(left, uint64(in.Buffered()))))
		if left -= uint64(n); err != nil {
			return err
		}
	}
	for left > 0 {
		n, err := account.Discard(c, left)
		if left -= uint64(n); err != nil {
			return err
		}
	}
	return nil
}

// roomWithin is how long a message waits for room in its peer's budget before it is refused.
const roomWithin = time.Second

// publish publishes a message in the graph. If its peer has too much in the graph that has not been
// taken yet, it is not read from meanwhile: what it sends then waits with itself, as TCP has it.
func (s *subscription) publish(ctx context.Context, a *graph.Advertisement, v any) error {
	err := a.Publish(v)
	var full *budget.Error
	if errors.As(err, &full) {
		budget.Waits(ctx)
	}
	for end := time.Now().Add(s.n.room); errors.As(err, &full) && ctx.Err() == nil && time.Now().Before(end); err = a.Publish(v) {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
		}
	}
	return err
}

// refused tells that a message was not admitted: who sent a goal waits for its result.
func (s *subscription) refused(who *peer, v any, why error) {
	var remark *graph.Remark
	if errors.As(why, &remark) {
		s.n.warn("of a ROS 1 message a part is left out", "peer", who.caller, "topic", s.ros, "why", why)
		return
	}
	s.n.warn("a ROS 1 message is refused", "peer", who.caller, "topic", s.ros, "why", why)
	name, isGoal := strings.CutSuffix(s.name, "/goal")
	if !isGoal {
		return
	}
	if id, ok := reflect.ValueOf(v).Elem().FieldByName("GoalID").Interface().(msgs.GoalID); ok {
		_ = s.n.g.RefuseGoal(name, action.ID(id.ID), why.Error()) // of an action that is gone there is none
	}
}

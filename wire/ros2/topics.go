package ros2

import (
	"context"
	"errors"
	"slices"
	"sync"

	"poise/graph"
	"poise/internal/budget"
	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
	"poise/rtps"
)

// publication is a topic of the graph that the node writes in ROS.
type publication struct {
	n         *Node
	ros, name string // in ROS and in the graph
	typ       *registry.Type
	latched   bool
	writer    *rtps.Writer
	stopped   context.CancelFunc // of its stream; nil if it has none
}

// rosNames returns the names in ROS of a topic of the graph.
func (n *Node) rosNames(name string) []string {
	if ros, isOther := n.foreign.renamed[name]; isOther { // which may be outside the namespace
		return []string{ros}
	}
	return n.names.ROSTopics(name)
}

// lookAtTopic decides whether a topic is written or read in ROS. The topics of ROS 1's actions
// are neither: ROS 2 has its own.
func (n *Node) lookAtTopic(name string) {
	info, exists := n.g.TopicInfo(name)
	exists = exists && info.Type != nil && info.Type.In(n.c.Form) && info.Action == ""
	own := func(e graph.Endpoint) bool { return !n.peers.has(e.Node) }
	write := exists && slices.ContainsFunc(info.Publishers, own)
	read := exists && info.Owner == "" && slices.ContainsFunc(info.Subscribers, own)
	for _, ros := range n.rosNames(name) {
		write := write && (n.c.Mirror == "" || n.foreign.read[ros])
		if p := n.pubs[ros]; p != nil && p.name == name && (!write || p.typ != info.Type || p.latched != info.QoS.Latched) {
			p.stop()
			p.writer.Close()
			delete(n.pubs, ros)
		}
		if p := n.pubs[ros]; write && p == nil {
			n.publish(ros, &info)
		} else if write && p.name != name {
			n.clash("topic", ros, p.name, name)
		}
		if s := n.subs[ros]; s != nil && s.name == name && (!read || s.typ != info.Type) {
			s.close()
			delete(n.subs, ros)
		}
		if read && n.subs[ros] == nil {
			n.subscribe(ros, &info)
		}
	}
}

// publish offers a topic of the graph: reliable, since less would not match those who ask
// for it; the log also transient local, as those of all nodes are.
func (n *Node) publish(ros string, info *graph.TopicInfo) {
	w, err := n.p.NewWriter(rtps.WriterConfig{Topic: "rt" + ros, Type: typeName(info.Type), UserData: n.userData(info.Type),
		QoS: rtps.QoS{Reliable: true, TransientLocal: info.QoS.Latched || ros == "/rosout", Depth: depth(n, info)}})
	if err != nil {
		n.warn("a topic is not shown to ROS 2", "topic", ros, "why", err)
		return
	}
	n.pubs[ros] = &publication{n: n, ros: ros, name: info.Name, typ: info.Type, latched: info.QoS.Latched, writer: w}
}

// depth returns how many messages are kept: of a latched topic as many as it latches.
func depth(n *Node, info *graph.TopicInfo) int {
	if info.QoS.Latched {
		return max(info.QoS.Depth, 1)
	}
	return max(info.QoS.Depth, n.c.Limits.Queue)
}

// look begins to write the topic when there is a reader, and ends it without readers. What
// is latched is always written: readers come later.
func (p *publication) look() {
	wanted := p.latched || p.writer.Readers() > 0
	switch {
	case wanted && p.stopped == nil:
		p.start()
	case !wanted && p.stopped != nil:
		p.stop()
	}
}

func (p *publication) start() {
	n := p.n
	node := n.peers.everyone
	if p.latched && p.writer.Readers() == 0 {
		node = "" // the graph's own: it is kept here for them
	}
	sub, err := n.g.Subscribe(p.name, graph.SubscribeOptions{Type: p.typ.String(), Node: node, For: n.peers.has, QoS: graph.QoS{Depth: n.c.Limits.Queue}})
	if err != nil {
		n.warn("a topic is not shown to ROS 2", "topic", p.ros, "why", err)
		return
	}
	ctx, cancel := context.WithCancel(n.life)
	p.stopped = cancel
	n.running.Go(func() {
		defer sub.Close()
		p.stream(ctx, sub)
	})
}

func (p *publication) stop() {
	if p.stopped != nil {
		p.stopped()
		p.stopped = nil
	}
}

// cdrKey names the encoding of a message in a form.
type cdrKey msgs.Form

// stream writes the messages of a subscription. Those of other ROS 2 nodes it leaves out:
// their readers have them from themselves.
func (p *publication) stream(ctx context.Context, sub *graph.Subscription) {
	n := p.n
	for {
		m, lost, err := sub.Next(ctx)
		if err != nil {
			return
		}
		n.stats.lost.Add(uint64(lost))
		if n.peers.has(m.From) {
			continue
		}
		data := m.Encoded(cdrKey(n.c.Form), func() []byte { return codec.For(m.Type, n.c.Form).Append(nil, m.Value) })
		if _, err := p.writer.Write(data, nil); err != nil {
			if !errors.Is(err, rtps.ErrClosed) {
				n.warn("a message is not sent to ROS 2", "topic", p.ros, "why", err)
				continue
			}
			return
		}
		n.stats.sent.Add(1)
	}
}

// subscription is a topic of the graph that the node reads in ROS. It has two readers: one
// for writers that are reliable, and keep what is latched, and one for those that are or do
// not, which the first would not match.
type subscription struct {
	n         *Node
	ros, name string
	typ       *registry.Type
	readers   [2]*rtps.Reader
	ctx       context.Context
	cancel    context.CancelFunc
	ready     chan struct{}

	mu    sync.Mutex
	queue []arrival // oldest first
}

// arrival is a message that has come.
type arrival struct {
	from    rtps.Prefix
	account *budget.Account
	data    []byte
}

// subscribe reads a topic for the graph.
func (n *Node) subscribe(ros string, info *graph.TopicInfo) {
	s := &subscription{n: n, ros: ros, name: info.Name, typ: info.Type, ready: make(chan struct{}, 1)}
	for i, reliable := range []bool{true, false} {
		r, err := n.p.NewReader(rtps.ReaderConfig{Topic: "rt" + ros, Type: typeName(info.Type), UserData: n.userData(info.Type),
			QoS: rtps.QoS{Reliable: reliable, TransientLocal: reliable && info.QoS.Latched, Depth: n.c.Limits.Queue}, Receive: func(sample *rtps.Sample) {
				if first := sample.Reliable && (sample.TransientLocal || !info.QoS.Latched); first == reliable {
					s.came(sample)
				}
			}})
		if err != nil {
			n.warn("a topic is not read from ROS 2", "topic", ros, "why", err)
			if i > 0 {
				s.readers[0].Close()
			}
			return
		}
		s.readers[i] = r
	}
	s.ctx, s.cancel = context.WithCancel(n.life)
	n.subs[ros] = s
	n.running.Go(s.run)
}

func (s *subscription) close() {
	s.cancel()
	for _, r := range s.readers {
		r.Close()
	}
}

// came queues a message. If there is no room the oldest goes.
func (s *subscription) came(sample *rtps.Sample) {
	n := s.n
	n.stats.received.Add(1)
	who, err := n.peers.meet(sample.Writer.Prefix)
	if err != nil {
		n.stats.lost.Add(1)
		return
	}
	if err := who.account.Take(budget.Frames, int64(len(sample.Payload))); err != nil {
		n.stats.lost.Add(1)
		n.warn("a ROS 2 message is skipped", "peer", n.peers.nameless(who.prefix), "topic", s.ros, "why", err)
		return
	}
	a := arrival{sample.Writer.Prefix, who.account, append([]byte(nil), sample.Payload...)}
	s.mu.Lock()
	if len(s.queue) >= n.c.Limits.Queue {
		s.queue[0].account.Give(budget.Frames, int64(len(s.queue[0].data)))
		s.queue = append(s.queue[:0], s.queue[1:]...)
		n.stats.lost.Add(1)
	}
	s.queue = append(s.queue, a)
	s.mu.Unlock()
	s.wake()
}

// wake has the queue looked at.
func (s *subscription) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// run publishes in the graph what has come.
func (s *subscription) run() {
	for {
		a, who := s.next()
		if who == nil {
			select {
			case <-s.ready:
				continue
			case <-s.ctx.Done():
				return
			}
		}
		a.account.Work(s.ctx, func(context.Context) { s.take(who, &a) })
		a.account.Give(budget.Frames, int64(len(a.data)))
	}
}

// next takes the oldest message out of the queue whose peer is in the graph. Those of a peer
// whose name has not come yet stay, and hold up no others.
func (s *subscription) next() (arrival, *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waits := map[rtps.Prefix]bool{}
	for i := 0; i < len(s.queue); {
		a := s.queue[i]
		if waits[a.from] {
			i++
			continue
		}
		who, err := s.n.peers.enter(a.from)
		if errors.Is(err, errNoName) {
			waits[a.from] = true
			continue
		}
		s.queue = slices.Delete(s.queue, i, i+1)
		if err == nil {
			return a, who
		}
		a.account.Give(budget.Frames, int64(len(a.data)))
	}
	return arrival{}, nil
}

// take publishes one message.
func (s *subscription) take(who *peer, a *arrival) {
	n := s.n
	v := s.typ.New()
	if err := codec.For(s.typ, n.c.Form).Decode(a.data, v); err != nil {
		n.warn("a ROS 2 message is not understood", "topic", s.ros, "why", err)
		return
	}
	ad := who.advertise(n, s.ros, s.name, s.typ, false)
	if ad == nil {
		return
	}
	if err := ad.Publish(v); err != nil {
		text := "a ROS 2 message is refused"
		if remark := (*graph.Remark)(nil); errors.As(err, &remark) {
			text = "of a ROS 2 message a part is left out"
		}
		n.warn(text, "peer", who.client.Node(), "topic", s.ros, "why", err)
	}
}

// advertise returns a peer's registration on a topic; nil if it is refused.
func (p *peer) advertise(n *Node, ros, name string, typ *registry.Type, latched bool) *graph.Advertisement {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := p.pubs[name]; a != nil || p.pubs == nil || p.refused[name] == typ {
		return a
	}
	a, err := n.g.Advertise(name, typ.String(), graph.TopicOptions{Node: p.client.Node(), Account: p.account, QoS: graph.QoS{Latched: latched}})
	if err != nil {
		p.refused[name] = typ // which is said once
		n.warn("a ROS 2 node publishes what it may not", "peer", p.client.Node(), "topic", ros, "why", err)
		return nil
	}
	p.pubs[name] = a
	return a
}

// lookAtWriters shows in the graph who reads, and who writes topics that are read or imported,
// and ends it of those who do not any more.
func (n *Node) lookAtWriters(others []rtps.ParticipantInfo) {
	bySource := map[string]*subscription{}
	for ros, s := range n.subs {
		bySource["rt"+ros] = s
	}
	for _, o := range others {
		writes := map[string]bool{}
		for _, w := range o.Writers {
			ros, name, typ, imported := "", "", (*registry.Type)(nil), false
			if n.c.Imports {
				ros, name, typ = n.foreign.topic(&w)
				imported = typ != nil
			}
			if s := bySource[w.Topic]; s != nil && w.Matched && !imported {
				ros, name, typ = s.ros, s.name, s.typ
			}
			if typ == nil {
				continue
			}
			if who, err := n.peers.enter(o.GUID.Prefix); err == nil {
				writes[name] = true
				who.advertise(n, ros, name, typ, imported && w.QoS.TransientLocal)
			}
		}
		reads := slices.ContainsFunc(o.Readers, func(r rtps.EndpointInfo) bool { return r.Matched && r.Topic != infoTopic })
		if reads {
			_, _ = n.peers.enter(o.GUID.Prefix) // beyond the limit it only has no name in the graph
		}
		n.peers.mu.Lock()
		who := n.peers.all[o.GUID.Prefix]
		n.peers.mu.Unlock()
		if who == nil {
			continue
		}
		who.mu.Lock()
		for name, a := range who.pubs {
			if !writes[name] {
				a.Close()
				delete(who.pubs, name)
			}
		}
		who.mu.Unlock()
	}
}

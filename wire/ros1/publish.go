package ros1

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"poise/graph"
	"poise/msgs"
	"poise/msgs/codec"
	"poise/msgs/registry"
	"poise/wire/ros1/tcpros"
)

// writeWithin is how long a reader may take none of what it is sent before it is cut off.
const writeWithin = 30 * time.Second

// serveTopic sends a subscriber the messages of a topic until it goes. An error is why it
// is refused.
func (n *Node) serveTopic(c net.Conn, h tcpros.Header) error {
	p := n.publicationOf(h["topic"])
	if p == nil {
		return fmt.Errorf("received a connection for a nonexistent topic [%.200s]", h["topic"])
	}
	if err := agree("topic "+p.ros, h, typeName(p.typ), p.typ.MD5()); err != nil {
		return err
	}
	who, err := n.peers.enter(h["callerid"])
	if err != nil {
		return err
	}
	defer n.peers.exit(who)
	info, _ := p.g.TopicInfo(p.name)
	sub, err := p.g.Subscribe(p.name, graph.SubscribeOptions{Type: typeName(p.typ), Node: who.client.Node(), Account: who.account,
		QoS: graph.QoS{Depth: max(n.c.Limits.Queue, info.QoS.Depth)}})
	if err != nil {
		return err
	}
	defer sub.Close()
	latching := "0"
	if info.QoS.Latched {
		latching = "1"
	}
	l := &link{peer: who.caller, direction: outward, topic: p.ros, conn: c, queue: sub}
	n.greet.add(l)
	defer func() {
		n.greet.remove(l)
		n.stats.lost.Add(l.lost())
	}()
	_ = c.SetWriteDeadline(time.Now().Add(writeWithin))
	if tcpros.WriteHeader(c, tcpros.Header{"callerid": n.self, "topic": p.ros, "type": typeName(p.typ), "md5sum": p.typ.MD5(),
		"latching": latching, "message_definition": p.typ.FullText(msgs.ROS1)}) != nil {
		return nil // it is gone
	}
	ctx, cancel := context.WithCancel(n.life)
	defer cancel()
	n.running.Go(func() {
		_, _ = io.Copy(io.Discard, c) // a subscriber says nothing more: this is its end
		cancel()
	})
	n.stream(ctx, l, sub)
	return nil
}

// agree reports, by an error, whether what a peer wants is what there is.
func agree(what string, h tcpros.Header, typ, sum string) error {
	switch {
	case h["md5sum"] == "":
		return fmt.Errorf("%s: the header has no md5sum", what)
	case h["md5sum"] != "*" && h["md5sum"] != sum:
		return fmt.Errorf("%s has type %s with md5sum %s, and the peer wants %.200s with %.50s", what, typ, sum, h["type"], h["md5sum"])
	case h["type"] != "" && h["type"] != "*" && h["type"] != typ && h["md5sum"] == "*":
		return fmt.Errorf("%s has type %s, not %.200s", what, typ, h["type"])
	}
	return nil
}

// stream writes the messages of a subscription. Those of other ROS nodes it leaves out:
// their subscribers have them from themselves.
func (n *Node) stream(ctx context.Context, l *link, sub *graph.Subscription) {
	out := bufio.NewWriterSize(l.conn, 32<<10)
	for {
		m, _, err := sub.Next(ctx)
		if err != nil {
			return
		}
		if n.peers.has(m.From) {
			continue
		}
		body := frame(m)
		_ = l.conn.SetWriteDeadline(time.Now().Add(writeWithin))
		_, err = out.Write(body)
		if err == nil && sub.Len() == 0 {
			err = out.Flush()
		}
		if err != nil {
			if ctx.Err() == nil {
				n.warn("a ROS 1 subscriber is cut off", "peer", l.peer, "topic", l.topic, "why", err)
			}
			return
		}
		l.bytes.Add(int64(len(body)))
		l.messages.Add(1)
		n.stats.sent.Add(1)
	}
}

// frameKey names the encoding of a message as TCPROS sends it.
type frameKey struct{}

// frame returns a message with its length before it, encoded once for all subscribers. A
// header that has no number of its own gets that of the message on its topic.
func frame(m *graph.Message) []byte {
	return m.Encoded(frameKey{}, func() []byte {
		b := tcpros.AppendBody(nil, func(b []byte) []byte { return codec.For(m.Type, msgs.ROS1).Append(b, m.Value) })
		if hasHeader(m.Type) && binary.LittleEndian.Uint32(b[4:]) == 0 {
			binary.LittleEndian.PutUint32(b[4:], m.Number)
		}
		return b
	})
}

// hasHeader reports whether messages of a type begin with a std_msgs/Header.
func hasHeader(t *registry.Type) bool {
	fields := t.Fields(msgs.ROS1)
	return len(fields) > 0 && fields[0].List == registry.Scalar && fields[0].TypeName(msgs.ROS1) == "std_msgs/Header"
}

package ros1

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"poise/graph"
	"poise/wire/ros1/tcpros"
)

// Directions of a link, as ROS writes them.
const (
	outward = "o"
	inward  = "i"
)

// link is a connection of a topic.
type link struct {
	number    int
	peer      string // its node name, or where it is
	direction string
	topic     string // in ROS
	conn      net.Conn

	queue *graph.Subscription // that is written from; nil of what is read

	bytes, messages, skipped atomic.Int64
}

// lost returns how many messages the link did not carry.
func (l *link) lost() uint64 {
	if l.queue != nil {
		return l.queue.Lost()
	}
	return uint64(l.skipped.Load())
}

func (l *link) text() string {
	return fmt.Sprintf("TCPROS connection to [%s], %v lost", l.conn.RemoteAddr(), l.lost())
}

// greeting holds the connections of the node: those that have not said yet what they want,
// and the links. One that has not said it keeps no newer one out.
type greeting struct {
	mu     sync.Mutex
	silent []net.Conn // oldest first
	links  map[*link]bool
	number int
	closed bool
}

// Bounds of connections that have not said what they want.
const (
	maxSilent   = 256
	greetWithin = 5 * time.Second
	maxGreeting = 128 << 10 // bytes: a definition is in it
)

func newGreeting() *greeting { return &greeting{links: map[*link]bool{}} }

// come notes a connection; the oldest goes if there are too many.
func (g *greeting) come(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		c.Close()
		return
	}
	if len(g.silent) >= maxSilent {
		g.silent[0].Close()
		g.silent = slices.Delete(g.silent, 0, 1)
	}
	g.silent = append(g.silent, c)
}

// spoke notes that a connection has said what it wants, or is gone.
func (g *greeting) spoke(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at := slices.Index(g.silent, c); at >= 0 {
		g.silent = slices.Delete(g.silent, at, at+1)
	}
}

// add makes a link of a connection.
func (g *greeting) add(l *link) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.number++
	l.number = g.number
	g.links[l] = true
	if g.closed {
		l.conn.Close()
	}
}

func (g *greeting) remove(l *link) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.links, l)
}

func (g *greeting) list() []*link {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]*link, 0, len(g.links))
	for l := range g.links {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b *link) int { return a.number - b.number })
	return out
}

// closeAll closes every connection, and those that come.
func (g *greeting) closeAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for _, c := range g.silent {
		c.Close()
	}
	for l := range g.links {
		l.conn.Close()
	}
}

// accept takes connections of peers until the node ends.
func (n *Node) accept() {
	n.running.Go(func() {
		<-n.life.Done()
		n.links.Close()
		n.greet.closeAll()
	})
	for {
		c, err := n.links.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ECONNABORTED):
			time.Sleep(10 * time.Millisecond) // until a descriptor is free
			continue
		case err != nil:
			n.c.Log.Error("ROS 1 takes no more connections", "why", err)
			return
		}
		n.greet.come(c)
		n.running.Go(func() { n.answer(c) })
	}
}

// answer reads what a connection wants, and serves it.
func (n *Node) answer(c net.Conn) {
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(greetWithin))
	h, err := tcpros.ReadHeader(c, maxGreeting)
	n.greet.spoke(c)
	if err != nil {
		if !errors.Is(err, io.EOF) && n.life.Err() == nil {
			n.stats.refused.Add(1)
		}
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	if name, ok := h["service"]; ok && n.stops(c, name, h) {
		return
	}
	if n.count.Add(1) > int64(n.c.Limits.Connections) {
		err = fmt.Errorf("too many connections: the limit is %d", n.c.Limits.Connections)
	} else if _, ok := h["service"]; ok {
		err = n.serveCalls(c, h)
	} else if _, ok := h["topic"]; ok {
		err = n.serveTopic(c, h)
	} else {
		err = errors.New("the header names neither a topic nor a service")
	}
	n.count.Add(-1)
	if err != nil {
		n.stats.refused.Add(1)
		n.warn("a ROS 1 peer is refused", "peer", h["callerid"], "addr", c.RemoteAddr().String(), "why", err)
		_ = c.SetWriteDeadline(time.Now().Add(greetWithin))
		_ = tcpros.WriteHeader(c, tcpros.Header{"error": err.Error()}) // it is closed either way
	}
}

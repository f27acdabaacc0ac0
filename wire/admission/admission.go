// Package admission bounds how many connections a server has, and keeps a reserve for
// requests that must be served whatever others have taken, such as a stop.
//
//	l := admission.Listen(listener, admission.Config{Most: 300, Urgent: handler})
//	err := web.Serve(l)
//
// Connections up to the bound are the server's. One beyond it, or one for which the process
// has no file descriptor left, gets a short time for one request: Urgent serves it or says
// why not, and the connection is closed. When many of those come at once some are closed
// early, so that none keeps a newer one out: first those that have sent nothing for a
// while, then those that request something else than a stop, then those that have just
// come, and last those that request a stop; each kind from the oldest on. So a queue
// of thousands of silent connections is cleared as fast as the system accepts them.
package admission

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Config is how connections are bounded.
type Config struct {
	Most   int          // connections of the server at a time
	Urgent http.Handler // serves the one request of a connection beyond it
	Log    *slog.Logger // nil is silent
}

// Bounds of what is beyond the bound.
const (
	beyond       = 64                     // connections at a time
	spare        = 8                      // descriptors that are kept for them
	headWithin   = 250 * time.Millisecond // for the head of the request
	bodyWithin   = 500 * time.Millisecond
	answerWithin = 3 * time.Second
	headBytes    = 8 << 10
)

// OwnDescriptors is how many file descriptors a server needs besides its connections.
const OwnDescriptors = 32

// Room returns how many connections the process has descriptors for, at most so many.
func Room(most int) int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || limit.Cur > 1<<30 {
		return most
	}
	return max(1, min(most, int(limit.Cur)-OwnDescriptors))
}

// Listener accepts the connections of a server. It is a net.Listener.
type Listener struct {
	net.Listener
	c      Config
	urgent *http.Server
	queue  *queue

	mu        sync.Mutex
	open      int        // connections of the server
	late      []*conn    // beyond it, oldest first
	spare     []*os.File // kept, to be closed when a connection needs a descriptor
	want      int        // of them; 0 once the listener is closed
	refilling bool
	told      time.Time
}

// Listen bounds the connections of a listener.
func Listen(l net.Listener, c Config) *Listener {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	a := &Listener{Listener: l, c: c, queue: newQueue(l.Addr())}
	a.urgent = &http.Server{Handler: c.Urgent, ReadHeaderTimeout: headWithin, ReadTimeout: bodyWithin, WriteTimeout: answerWithin,
		MaxHeaderBytes: headBytes, ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug)}
	a.urgent.SetKeepAlivesEnabled(false)
	a.want = spare
	a.refill()
	a.want = len(a.spare)
	go func() { _ = a.urgent.Serve(a.queue) }() // until Close
	return a
}

// Accept returns the next connection of the server. Those beyond the bound are served
// meanwhile.
func (a *Listener) Accept() (net.Conn, error) {
	for {
		c, err := a.Listener.Accept()
		switch {
		case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE):
			a.makeRoom()
		case err != nil:
			return nil, err
		default:
			if own := a.admit(c); own != nil {
				return own, nil
			}
		}
	}
}

// admit counts a connection, or hands it to those beyond the bound.
func (a *Listener) admit(c net.Conn) net.Conn {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := &conn{Conn: c, listener: a, since: time.Now()}
	if a.open < a.c.Most && len(a.spare) == a.want {
		a.open++
		one.counted = true
		return one
	}
	if now := time.Now(); now.Sub(a.told) > time.Second {
		a.told = now
		a.c.Log.Warn("too many connections: this one may only stop the robot", "addr", c.RemoteAddr().String(), "open", a.open, "limit", a.c.Most)
	}
	if len(a.late) >= beyond {
		a.giveUp(a.least())
	}
	a.late = append(a.late, one)
	a.queue.put(one)
	return nil
}

// makeRoom frees a descriptor for a connection that waits: a spare one, or else that of
// a connection beyond the bound.
func (a *Listener) makeRoom() {
	a.mu.Lock()
	if n := len(a.spare); n > 0 {
		a.spare[n-1].Close()
		a.spare = a.spare[:n-1]
		a.refillLater()
		a.mu.Unlock()
		return
	}
	wait := time.Millisecond // until something else is closed
	if i := a.least(); i >= 0 {
		// a stop that was asked for gets the time that serving it takes
		if wait = 0; a.late[i].kind() == stops {
			wait = stopWithin - time.Since(a.late[i].since)
		}
		if wait <= 0 {
			a.giveUp(i)
		}
	}
	a.mu.Unlock()
	time.Sleep(wait)
}

// stopWithin is how long one that asks for a stop is served before it may be given up for
// newer ones.
const stopWithin = time.Millisecond

// giveUp closes a connection beyond the bound. The lock is held.
func (a *Listener) giveUp(i int) {
	one := a.late[i]
	a.late = slices.Delete(a.late, i, i+1)
	a.queue.remove(one)
	one.Conn.Close()
}

// least returns which connection beyond the bound is given up first, −1 if there is none.
// The lock is held.
func (a *Listener) least() int {
	found, least := -1, kind(0)
	for i, one := range a.late {
		k := one.kind()
		if k == silent {
			return i
		}
		if found < 0 || k < least {
			found, least = i, k
		}
	}
	return found
}

// refill takes spare descriptors again. The lock is held, but by Listen.
func (a *Listener) refill() {
	for len(a.spare) < a.want {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return
		}
		a.spare = append(a.spare, f)
	}
}

// refillAfter is how long connections that come have the spare descriptors.
const refillAfter = 50 * time.Millisecond

// refillLater takes them again in a while: whatever is free until then is for connections.
// The lock is held.
func (a *Listener) refillLater() {
	if a.refilling {
		return
	}
	a.refilling = true
	time.AfterFunc(refillAfter, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.refilling = false
		if a.refill(); len(a.spare) < a.want {
			a.refillLater()
		}
	})
}

// Close ends the listener and what is served beyond the bound.
func (a *Listener) Close() error {
	err := a.Listener.Close()
	a.urgent.Close()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range a.spare {
		f.Close()
	}
	a.spare, a.want = nil, 0
	for len(a.late) > 0 {
		a.giveUp(0)
	}
	return err
}

// kind is what a connection has said, as far as is known: those with less are given up first.
type kind int32

const (
	silent kind = iota // for a while
	speaks             // it asks for something
	fresh              // it has just been accepted: what it says may be on the way
	stops              // it asks for a stop
)

// freshFor is how long a connection counts as just accepted.
const freshFor = 2 * time.Millisecond

// conn is a connection that is counted while it is open.
type conn struct {
	net.Conn
	listener *Listener
	since    time.Time
	counted  bool         // as one of the server's
	said     atomic.Int32 // a kind
	once     sync.Once
}

// Read reads, and notes what the client wants.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && !c.counted && kind(c.said.Load()) == silent {
		c.said.Store(int32(kindOf(p[:n])))
	}
	return n, err
}

// SyscallConn is that of the connection beneath.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	if below, ok := c.Conn.(syscall.Conn); ok {
		return below.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// kind tells what the connection has said, whether that has been read or not.
func (c *conn) kind() kind {
	if k := kind(c.said.Load()); k != silent {
		return k
	}
	var first [32]byte
	k := kindOf(first[:peek(c.Conn, first[:])])
	if k == silent && time.Since(c.since) < freshFor {
		return fresh
	}
	return k
}

// kindOf tells what a request is that begins so.
func kindOf(first []byte) kind {
	switch {
	case len(first) == 0:
		return silent
	case bytes.HasPrefix(first, []byte("POST /")) && bytes.HasPrefix(bytes.TrimLeft(first[5:], "/"), []byte("stop")):
		return stops
	}
	return speaks
}

// peek looks at what has come and was not read yet.
func peek(c net.Conn, first []byte) (n int) {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { // one that is closed has said nothing
		if got, _, err := syscall.Recvfrom(int(fd), first, syscall.MSG_PEEK|syscall.MSG_DONTWAIT); err == nil {
			n = max(0, got)
		}
	})
	return n
}

// Close closes the connection and gives its place free.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		a := c.listener
		a.mu.Lock()
		defer a.mu.Unlock()
		if c.counted {
			a.open--
			return
		}
		if i := slices.Index(a.late, c); i >= 0 {
			a.late = slices.Delete(a.late, i, i+1)
		}
	})
	return err
}

// queue hands connections over as a listener does. It is as long as there are connections
// beyond the bound.
type queue struct {
	at net.Addr

	mu     sync.Mutex
	come   sync.Cond
	conns  []*conn
	closed bool
}

func newQueue(at net.Addr) *queue {
	q := &queue{at: at}
	q.come.L = &q.mu
	return q
}

func (q *queue) put(c *conn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.conns = append(q.conns, c)
	q.come.Signal()
}

// remove takes a connection out that was not handed over yet.
func (q *queue) remove(c *conn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.conns, c); i >= 0 {
		q.conns = slices.Delete(q.conns, i, i+1)
	}
}

func (q *queue) Accept() (net.Conn, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.conns) == 0 && !q.closed {
		q.come.Wait()
	}
	if q.closed {
		return nil, net.ErrClosed
	}
	c := q.conns[0]
	q.conns = slices.Delete(q.conns, 0, 1)
	return c, nil
}

func (q *queue) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.come.Broadcast()
	return nil
}

func (q *queue) Addr() net.Addr { return q.at }

// Package admission bounds how many connections a server has, and keeps a reserve for
// requests that must be served whatever others have taken, such as a stop.
//
//	l := admission.Listen(listener, admission.Config{Most: 300, Urgent: handler})
//	err := web.Serve(l)
//
// Connections up to the bound are the server's. One beyond it, or one for which the process
// has no file descriptor left, gets a short time for one request: Urgent serves it or says
// why not, and the connection is closed. When many of those come at once the oldest is
// closed, so that none keeps a newer one out.
package admission

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
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

	mu    sync.Mutex
	open  int        // connections of the server
	late  []*conn    // beyond it, oldest first
	spare []*os.File // kept, to be closed when a connection needs a descriptor
	want  int        // of them; 0 once the listener is closed
	told  time.Time
}

// Listen bounds the connections of a listener.
func Listen(l net.Listener, c Config) *Listener {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	a := &Listener{Listener: l, c: c, queue: &queue{at: l.Addr(), conns: make(chan net.Conn, beyond), closed: make(chan struct{})}}
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
	one := &conn{Conn: c, listener: a}
	a.refill()
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
		go a.late[0].Close() // it takes the lock
		a.late = a.late[1:]
	}
	a.late = append(a.late, one)
	select {
	case a.queue.conns <- one:
	default: // the server that accepts them has ended
		go one.Close()
	}
	return nil
}

// makeRoom frees a descriptor for a connection that waits: a spare one, or else that of
// the oldest connection beyond the bound.
func (a *Listener) makeRoom() {
	a.mu.Lock()
	var oldest *conn
	if n := len(a.spare); n > 0 {
		a.spare[n-1].Close()
		a.spare = a.spare[:n-1]
	} else if len(a.late) > 0 {
		oldest = a.late[0]
	}
	a.mu.Unlock()
	if oldest != nil {
		oldest.Close()
	}
	time.Sleep(time.Millisecond) // those that were just accepted are read meanwhile
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
	return err
}

// conn is a connection that is counted while it is open.
type conn struct {
	net.Conn
	listener *Listener
	counted  bool // as one of the server's
	once     sync.Once
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
		}
		for i, one := range a.late {
			if one == c {
				a.late = append(a.late[:i], a.late[i+1:]...)
				break
			}
		}
		a.refill()
	})
	return err
}

// queue hands connections over as a listener does.
type queue struct {
	at     net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (q *queue) Accept() (net.Conn, error) {
	select {
	case c := <-q.conns:
		return c, nil
	case <-q.closed:
		return nil, net.ErrClosed
	}
}

func (q *queue) Close() error {
	q.once.Do(func() { close(q.closed) })
	return nil
}

func (q *queue) Addr() net.Addr { return q.at }

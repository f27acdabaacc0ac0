package stepped

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"
)

// Net is a network in memory with the addresses of this machine. Its zero value is
// ready; one belongs to one bubble.
type Net struct {
	mu        sync.Mutex
	listeners map[string]*listener
	port      int
}

// Listen is net.Listen. Port 0 takes a free one.
func (n *Net) Listen(network, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners == nil {
		n.listeners, n.port = map[string]*listener{}, 49152
	}
	if port == "0" {
		n.port++
		address = net.JoinHostPort(host, fmt.Sprint(n.port))
	}
	if n.listeners[address] != nil {
		return nil, &net.OpError{Op: "listen", Net: network, Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	}
	l := &listener{n: n, at: addr(address), come: make(chan net.Conn), gone: make(chan struct{})}
	n.listeners[address] = l
	return l, nil
}

// Dial is the Dial of a net.Dialer.
func (n *Net) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	refused := &net.OpError{Op: "dial", Net: network, Addr: addr(address), Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	n.mu.Lock()
	l := n.listeners[address]
	n.port++
	from := addr(fmt.Sprint("127.0.0.1:", n.port))
	n.mu.Unlock()
	if l == nil {
		return nil, refused
	}
	up, down := newBuffer(), newBuffer()
	there := &conn{in: up, out: down, local: l.at, remote: from}
	here := &conn{in: down, out: up, local: from, remote: l.at}
	select {
	case l.come <- there:
		return here, nil
	case <-l.gone:
		return nil, refused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Client returns an HTTP client of this network, with a connection for each request:
// none is left when the bubble ends.
func (n *Net) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: n.Dial, DisableKeepAlives: true}}
}

type addr string

func (addr) Network() string  { return "tcp" }
func (a addr) String() string { return string(a) }

type listener struct {
	n    *Net
	at   addr
	come chan net.Conn
	gone chan struct{}
	once sync.Once
}

func (l *listener) Addr() net.Addr { return l.at }

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.come:
		return c, nil
	case <-l.gone:
		return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.at, Err: net.ErrClosed}
	}
}

func (l *listener) Close() error {
	l.once.Do(func() {
		l.n.mu.Lock()
		delete(l.n.listeners, string(l.at))
		l.n.mu.Unlock()
		close(l.gone)
	})
	return nil
}

// conn is one end of a connection.
type conn struct {
	in, out       *buffer
	local, remote addr
}

func (c *conn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c *conn) Write(p []byte) (int, error) { return c.out.write(p) }
func (c *conn) LocalAddr() net.Addr         { return c.local }
func (c *conn) RemoteAddr() net.Addr        { return c.remote }

func (c *conn) Close() error {
	c.in.shut(net.ErrClosed, syscall.EPIPE)
	c.out.shut(io.EOF, net.ErrClosed)
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error  { c.in.reading.set(c.in, t); return nil }
func (c *conn) SetWriteDeadline(t time.Time) error { c.out.writing.set(c.out, t); return nil }
func (c *conn) SetDeadline(t time.Time) error {
	c.in.reading.set(c.in, t)
	c.out.writing.set(c.out, t)
	return nil
}

// room is how much of a direction waits unread until its writer has to: about what
// sockets of this machine hold.
const room = 1 << 18

// buffer is one direction of a connection. All waiting is on its condition, which
// counts as waiting in a bubble.
type buffer struct {
	mu      sync.Mutex
	changed sync.Cond
	data    []byte

	readErr, writeErr error // after Close; what was written before is still read
	reading, writing  deadline
}

func newBuffer() *buffer {
	b := &buffer{}
	b.changed.L = &b.mu
	return b
}

func (b *buffer) shut(read, write error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.readErr == nil {
		b.readErr = read
	}
	if b.writeErr == nil {
		b.writeErr = write
	}
	if read == net.ErrClosed { // it will not be read
		b.readErr, b.data = read, nil
	}
	b.changed.Broadcast()
}

func (b *buffer) read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		switch {
		case b.reading.over:
			return 0, os.ErrDeadlineExceeded
		case len(b.data) > 0 || len(p) == 0:
			n := copy(p, b.data)
			b.data = b.data[n:]
			b.changed.Broadcast()
			return n, nil
		case b.readErr != nil:
			return 0, b.readErr
		}
		b.changed.Wait()
	}
}

func (b *buffer) write(p []byte) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		switch {
		case b.writeErr != nil:
			return n, b.writeErr
		case b.writing.over:
			return n, os.ErrDeadlineExceeded
		case len(p) == 0:
			return n, nil
		case len(b.data) < room:
			k := min(len(p), room-len(b.data))
			b.data = append(b.data, p[:k]...)
			p, n = p[k:], n+k
			b.changed.Broadcast()
			continue
		}
		b.changed.Wait()
	}
}

// deadline wakes those who wait on a buffer.
type deadline struct {
	timer *time.Timer
	over  bool
}

func (d *deadline) set(b *buffer, t time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
	}
	d.timer, d.over = nil, false
	if !t.IsZero() {
		if d.over = !t.After(time.Now()); !d.over {
			var own *time.Timer
			own = time.AfterFunc(time.Until(t), func() {
				b.mu.Lock()
				defer b.mu.Unlock()
				if d.timer == own { // it was not set anew meanwhile
					d.over = true
					b.changed.Broadcast()
				}
			})
			d.timer = own
		}
	}
	b.changed.Broadcast()
}

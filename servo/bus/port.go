package bus

import (
	"errors"
	"io"
	"sync"
	"time"
)

// Port is one end of a serial line.
type Port interface {
	io.ReadWriteCloser

	// Read waits until the deadline for at least one byte; at the deadline it returns 0
	// bytes and no error. Close ends a Read that waits.
	SetReadDeadline(t time.Time) error

	// Flush drops what has arrived.
	Flush() error
}

// portError is what went wrong with a port: no servo is to blame, and it has to be opened anew.
type portError struct {
	op  string
	err error
}

func (e *portError) Error() string { return e.op + ": " + e.err.Error() }

func (e *portError) Unwrap() error { return e.err }

// ErrClosed is what an operation on a closed port returns.
var ErrClosed = errors.New("the port is closed")

// ErrBusy is what opening a port returns that another program uses.
var ErrBusy = errors.New("another program uses the port")

// bitsPerByte is what a byte takes on a line: 8 bits between a start and a stop bit.
const bitsPerByte = 10

// onLine returns how long bytes take on a line.
func onLine(bytes, baud int) time.Duration {
	return time.Duration(float64(bytes*bitsPerByte) / float64(baud) * float64(time.Second))
}

// Pipe returns the two ends of a line in memory, on which bytes take their time: those of
// the given baud rate, and a latency in the direction from b to a, as a USB adapter has one.
// It also works in the fake time of testing/synctest.
func Pipe(baud int, latency time.Duration) (a, b Port) {
	there, back := newCable(baud, 0), newCable(baud, latency)
	return &pipeEnd{in: back, out: there}, &pipeEnd{in: there, out: back}
}

// cable is one direction of a Pipe.
type cable struct {
	baud    int
	latency time.Duration
	news    chan struct{} // something was sent, or closed

	mu     sync.Mutex
	sent   []sentBytes
	busy   time.Time // until when the line carries what was sent
	closed bool
}

// sentBytes arrive one after the other.
type sentBytes struct {
	first time.Time // when the first has arrived
	each  time.Duration
	bytes []byte
}

func newCable(baud int, latency time.Duration) *cable {
	return &cable{baud: baud, latency: latency, news: make(chan struct{}, 1)}
}

func (c *cable) tell() {
	select {
	case c.news <- struct{}{}:
	default:
	}
}

func (c *cable) write(p []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	if now := time.Now(); c.busy.Before(now) {
		c.busy = now
	}
	each := onLine(1, c.baud)
	c.sent = append(c.sent, sentBytes{first: c.busy.Add(each + c.latency), each: each, bytes: append([]byte(nil), p...)})
	c.busy = c.busy.Add(time.Duration(len(p)) * each)
	c.tell()
	return nil
}

// take returns the bytes that have arrived, or when the next one does; zero if none is on
// its way.
func (c *cable) take(p []byte) (n int, next time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for len(c.sent) > 0 && n < len(p) {
		s := &c.sent[0]
		for len(s.bytes) > 0 && n < len(p) && !s.first.After(now) {
			p[n], s.bytes, s.first = s.bytes[0], s.bytes[1:], s.first.Add(s.each)
			n++
		}
		if len(s.bytes) > 0 {
			next = s.first
			break
		}
		c.sent = c.sent[1:]
	}
	if c.closed && n == 0 && len(c.sent) == 0 {
		return 0, next, ErrClosed
	}
	return n, next, nil
}

func (c *cable) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.tell()
}

// pipeEnd is one end of a Pipe.
type pipeEnd struct {
	in, out  *cable
	mu       sync.Mutex
	deadline time.Time
}

func (e *pipeEnd) Write(p []byte) (int, error) {
	if err := e.out.write(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (e *pipeEnd) SetReadDeadline(t time.Time) error {
	e.mu.Lock()
	e.deadline = t
	e.mu.Unlock()
	e.in.tell()
	return nil
}

func (e *pipeEnd) Read(p []byte) (int, error) {
	for {
		n, next, err := e.in.take(p)
		if n > 0 || err != nil {
			return n, err
		}
		e.mu.Lock()
		until := e.deadline
		e.mu.Unlock()
		if !until.IsZero() && !time.Now().Before(until) {
			return 0, nil
		}
		if until.IsZero() || !next.IsZero() && next.Before(until) {
			until = next
		}
		if until.IsZero() {
			<-e.in.news
			continue
		}
		timer := time.NewTimer(time.Until(until))
		select {
		case <-e.in.news:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// Flush drops what has arrived.
func (e *pipeEnd) Flush() error {
	var dump [256]byte
	for {
		if n, _, err := e.in.take(dump[:]); n == 0 {
			return err
		}
	}
}

// Close closes both directions.
func (e *pipeEnd) Close() error {
	e.in.close()
	e.out.close()
	return nil
}

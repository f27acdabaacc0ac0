package budget

import (
	"context"
	"net"
	"strconv"
	"time"
)

// Pace is how many bytes of long messages come per second. Keeping them all, one after the
// other and as fast as they come, would keep the cores busy with nothing else. A client may
// send some at once; those beyond are refused. Where a stop may follow on the same socket
// they are read on and thrown away, about half as fast as a line of a gigabit per second
// would bring them: a sender on the same machine is twenty times as fast, and would take the cores from the cycle.
type Pace struct {
	Keep         float64 // bytes per second of all clients that send long messages
	Burst        float64 // bytes that one client may send at once,
	BurstAll     float64 // and all together; who has sent none for a while may send one
	Discard      float64 // bytes per second that are thrown away, of all clients,
	DiscardBurst float64 // and how many without waiting
}

// StandardPace is that of a server.
var StandardPace = Pace{Keep: 8 << 20, Burst: 32 << 20, BurstAll: 48 << 20, Discard: 64 << 20, DiscardBurst: 256 << 20}

// LongMessage is the size from which on messages are long.
const LongMessage = 64 << 10

// PaceError is a long message beyond the pace.
type PaceError struct{ Limit float64 } // bytes per second, the client's share

func (e *PaceError) Error() string {
	return "too many bytes of long messages per second: the limit is " + strconv.FormatFloat(e.Limit, 'f', -1, 64)
}

// level is how many bytes have come beyond a rate.
type level struct {
	bytes float64
	last  time.Time
}

// falls lets as much go as the rate allows until now.
func (l *level) falls(rate float64, now time.Time) {
	if passed := now.Sub(l.last).Seconds(); passed > 0 {
		l.bytes = max(0, l.bytes-rate*passed)
		l.last = now
	}
}

// longWindow is how long a client that sent a long message has its share of the pace.
const longWindow = time.Second

// KeepLong reports whether a long message may be kept now, in a *PaceError.
func (a *Account) KeepLong(now time.Time) error {
	if a == nil {
		return nil
	}
	l := a.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.closed {
		return &PaceError{}
	}
	l.active[a] = now
	for other, at := range l.active {
		if now.Sub(at) > longWindow {
			delete(l.active, other)
		}
	}
	share := l.Pace.Keep / float64(len(l.active))
	a.long.falls(share, now)
	l.long.falls(l.Pace.Keep, now)
	if a.long.bytes >= l.Pace.Burst || a.long.bytes > 0 && l.long.bytes >= l.Pace.BurstAll {
		return &PaceError{Limit: share}
	}
	return nil
}

// LongCame notes a long message that was read.
func (a *Account) LongCame(size int) {
	if a == nil {
		return
	}
	l := a.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	a.long.bytes = min(a.long.bytes+float64(size), 2*l.Pace.Burst)
	l.long.bytes = min(l.long.bytes+float64(size), 2*l.Pace.BurstAll)
}

// AwaitLong waits until a long message may be kept.
func (a *Account) AwaitLong(ctx context.Context) error {
	const look = 10 * time.Millisecond
	for a.KeepLong(time.Now()) != nil {
		select {
		case <-time.After(look):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// discardAtOnce is how much is thrown away at once, and about how much waits on a socket
// whose client sends faster than it may.
const discardAtOnce = 1 << 20

// Discard throws away up to n bytes that come on a socket, once there are some, and returns
// how many. It returns later if clients send faster than they may.
func (a *Account) Discard(c net.Conn, n uint64) (int, error) {
	thrown, err := discard(c, min(n, discardAtOnce))
	if a == nil || err != nil {
		return thrown, err
	}
	l := a.ledger
	l.mu.Lock()
	l.thrown.falls(l.Pace.Discard, time.Now())
	l.thrown.bytes += float64(thrown)
	beyond := l.thrown.bytes - l.Pace.DiscardBurst
	wait := time.Duration(beyond / l.Pace.Discard * float64(time.Second))
	l.mu.Unlock()
	if wait > 0 {
		if !a.slowed {
			a.slowed = true
			if socket, ok := c.(interface{ SetReadBuffer(int) error }); ok {
				_ = socket.SetReadBuffer(discardAtOnce / 2) // the system doubles it (socket(7)): less waits before a stop
			}
		}
		time.Sleep(wait)
	}
	return thrown, nil
}

// readAway reads up to n bytes for nothing, and returns how many.
func readAway(c net.Conn, n uint64) (int, error) {
	const chunk = 32 << 10
	return c.Read(make([]byte, min(n, chunk)))
}

package bus

import (
	"bytes"
	"errors"
	"fmt"
	"time"
)

// Errors of an answer.
var (
	ErrSilent  = errors.New("no answer")
	ErrNoBrake = errors.New("has no brake")
)

// StatusError is a request that a servo refused.
type StatusError struct {
	ID     int
	Status uint16
	Why    string
}

func (e *StatusError) Error() string { return fmt.Sprintf("servo %d: %s", e.ID, e.Why) }

// Counts are those of a line since it was opened.
type Counts struct {
	Asked   uint64 // answers that were waited for
	Silent  uint64 // answers that did not come
	Garbage uint64 // bytes that belong to no packet
	Others  uint64 // packets that no request waited for: late, or of another servo
}

// usb is how long an adapter may keep bytes, each way together.
const usb = 2 * time.Millisecond

// Line is an open port with a family on it: requests out, packets in. For one goroutine.
type Line struct {
	Counts
	Patience time.Duration // more than the line and the servos need; default that of USB

	port     Port
	baud     int
	split    func([]byte) (Packet, int, bool)
	in       []byte // received, and not cut up yet
	used     int    // of it
	request  []byte
	deadline time.Time
	busy     time.Time // until when the line carries what was sent
	echo     echo
	heardOwn bool // the request itself was heard since it was sent
	dirty    bool // an answer may still be on its way
}

// echo is whether an adapter lets us hear what we send.
type echo uint8

const (
	echoUnknown echo = iota
	echoNo
	echoYes
)

// NewLine returns the line of a port.
func NewLine(p Port, baud int, f Family) *Line {
	return &Line{port: p, baud: baud, split: f.Split, Patience: usb, in: make([]byte, 0, 4096)}
}

// Baud returns the rate of the line.
func (l *Line) Baud() int { return l.baud }

// Send writes a request without an answer.
func (l *Line) Send(request []byte) error {
	now := time.Now()
	if l.busy.Before(now) {
		l.busy = now
	}
	l.busy = l.busy.Add(onLine(len(request), l.baud))
	l.request = append(l.request[:0], request...)
	l.heardOwn = false
	if _, err := l.port.Write(request); err != nil {
		return &portError{"write", err}
	}
	return nil
}

// drain waits until the line has carried what was sent.
func (l *Line) drain() { time.Sleep(time.Until(l.busy) + usb) }

// Ask forgets what has arrived, writes a request and sets the deadline of its answers: so
// many bytes, and so long that servos take before they begin.
func (l *Line) Ask(request []byte, answer int, delay time.Duration) error {
	if err := l.forget(); err != nil {
		return err
	}
	if err := l.Send(request); err != nil {
		return err
	}
	back := answer
	if l.echo != echoNo {
		back += len(request)
	}
	l.deadline = l.busy.Add(onLine(back, l.baud) + delay + l.Patience)
	l.Asked++
	return nil
}

// Await sets the deadline of an answer anew, from now on or from when the line has carried
// what was sent.
func (l *Line) Await(answer int, delay time.Duration) {
	from := time.Now()
	if l.busy.After(from) {
		from = l.busy
	}
	l.deadline = from.Add(onLine(answer, l.baud) + delay + l.Patience)
}

// forget drops what has arrived. After an answer that did not come it waits a little, so
// that a late one is dropped, too.
func (l *Line) forget() error {
	l.in, l.used = l.in[:0], 0
	if l.dirty {
		l.dirty = false
		var dump [512]byte
		if err := l.port.SetReadDeadline(time.Now().Add(l.Patience / 2)); err != nil {
			return &portError{"read", err}
		}
		for {
			n, err := l.port.Read(dump[:])
			if err != nil {
				return &portError{"read", err}
			}
			if n == 0 {
				break
			}
			l.Garbage += uint64(n)
		}
	}
	if err := l.port.Flush(); err != nil {
		return &portError{"flush", err}
	}
	return nil
}

// Next returns the next reply that arrives before the deadline, ErrSilent if none does.
// Echoes and requests of others are left out.
func (l *Line) Next() (Packet, error) {
	var own Packet // a packet like the request: an echo, or a reply that looks like one
	for {
		p, err := l.packet()
		switch {
		case errors.Is(err, ErrSilent) && own.Raw != nil:
			return own, nil // nothing followed: it was the reply
		case err != nil:
			if errors.Is(err, ErrSilent) {
				l.Silent++
				l.dirty = true
			}
			return p, err
		case l.echo != echoNo && !l.heardOwn && bytes.Equal(p.Raw, l.request):
			l.heardOwn = true
			if l.echo == echoUnknown && p.Reply {
				own = p
				own.Raw, own.Data = bytes.Clone(p.Raw), bytes.Clone(p.Data)
			}
		case !p.Reply:
			l.Others++
		default:
			if l.echo == echoUnknown {
				if l.echo = echoNo; l.heardOwn {
					l.echo = echoYes
				}
			}
			return p, nil
		}
	}
}

// packet cuts the next packet off, and reads on if there is none yet.
func (l *Line) packet() (Packet, error) {
	for {
		for l.used < len(l.in) {
			p, used, ok := l.split(l.in[l.used:])
			l.used += used
			if ok {
				l.Garbage += uint64(used - len(p.Raw))
				return p, nil
			}
			l.Garbage += uint64(used)
			if used == 0 {
				break
			}
		}
		if err := l.read(); err != nil {
			return Packet{}, err
		}
	}
}

// read waits for more bytes until the deadline.
func (l *Line) read() error {
	if l.used > 0 {
		l.in = l.in[:copy(l.in, l.in[l.used:])]
		l.used = 0
	}
	if len(l.in) == cap(l.in) {
		l.in = l.in[:0] // a line full of what is no packet
	}
	if err := l.port.SetReadDeadline(l.deadline); err != nil {
		return &portError{"read", err}
	}
	n, err := l.port.Read(l.in[len(l.in):cap(l.in)])
	if err != nil {
		return &portError{"read", err}
	}
	if n == 0 {
		return ErrSilent
	}
	l.in = l.in[:len(l.in)+n]
	return nil
}

// Reply waits for the answer of one servo; what others send is left out.
func (l *Line) Reply(id int, fits func(Packet) bool) (Packet, error) {
	for {
		p, err := l.Next()
		if err != nil {
			return p, err
		}
		if p.ID == id && (fits == nil || fits(p)) {
			return p, nil
		}
		l.Others++
	}
}

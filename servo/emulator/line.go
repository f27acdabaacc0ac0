package emulator

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"poise/servo/bus"
	"poise/servo/dynamixel"
)

// Trouble is what happens to packets on a line. Shares are of all packets, each way.
type Trouble struct {
	Loss    float64
	Corrupt float64
	Late    float64       // of replies
	LateBy  time.Duration // that they are late
	Swap    float64       // of replies that come with another's id
	Echo    bool          // the host hears what it sends
	Silent  bool          // nothing gets through
}

// Line is one line of an emulator.
type Line struct {
	e      *Emulator
	port   bus.Port
	family bus.Family
	baud   func() int // of the host
	servos []*Servo
	rng    *rand.Rand

	mu      sync.Mutex
	trouble Trouble
}

// Line returns a line of the emulator by its name, on a port that runs at a baud rate; a
// pseudo-terminal says itself which the host has set.
func (e *Emulator) Line(name string, p bus.Port, baud int) *Line {
	l := &Line{e: e, port: p, baud: func() int { return baud }, rng: rand.New(rand.NewPCG(19, uint64(len(name))))}
	if own, ok := p.(interface{ Baud() int }); ok {
		l.baud = own.Baud
	}
	for _, s := range e.servos {
		if s.Line == name {
			l.servos = append(l.servos, s)
			l.family = s.family
		}
	}
	return l
}

// Have sets what happens to packets.
func (l *Line) Have(t Trouble) {
	l.mu.Lock()
	l.trouble = t
	l.mu.Unlock()
}

func (l *Line) now() Trouble {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trouble
}

// answer is what a servo says to a request, after its delay.
type answer struct {
	delay time.Duration
	bytes []byte
}

// gap is the longest pause inside a packet.
const gap = 4 * time.Millisecond

// Serve answers until the port is closed.
func (l *Line) Serve() error {
	var heard []byte
	chunk := make([]byte, 4096)
	last := time.Now()
	for {
		if err := l.port.SetReadDeadline(time.Time{}); err != nil {
			return err
		}
		n, err := l.port.Read(chunk)
		if err != nil {
			return err
		}
		if time.Since(last) > gap {
			heard = heard[:0] // no packet has such a gap: what came before was none
		}
		last = time.Now()
		t := l.now()
		if t.Echo && !t.Silent {
			if _, err := l.port.Write(chunk[:n]); err != nil {
				return err
			}
		}
		heard = append(heard, chunk[:n]...)
		for len(heard) > 0 {
			p, used, ok := l.family.Split(heard)
			if !ok {
				heard = heard[used:]
				break
			}
			p.Raw, p.Data = bytes.Clone(p.Raw), bytes.Clone(p.Data)
			heard = heard[used:]
			if err := l.take(p, t); err != nil {
				return err
			}
		}
		if len(heard) > 2048 {
			heard = heard[:0]
		}
	}
}

// take carries a request out and answers it.
func (l *Line) take(p bus.Packet, t Trouble) error {
	switch {
	case t.Silent, l.draw(t.Loss):
		return nil
	case l.draw(t.Corrupt):
		raw := bytes.Clone(p.Raw)
		raw[l.rng.IntN(len(raw))] ^= 1 << l.rng.IntN(8)
		var ok bool
		if p, _, ok = l.family.Split(raw); !ok {
			return nil
		}
	}
	var all []answer
	l.e.With(func() { all = l.handle(p) })
	for _, a := range all {
		time.Sleep(a.delay)
		if err := l.answer(a.bytes, t); err != nil {
			return err
		}
	}
	return nil
}

func (l *Line) draw(share float64) bool { return share > 0 && l.rng.Float64() < share }

// answer sends a reply, as well as the line lets it.
func (l *Line) answer(data []byte, t Trouble) error {
	if l.draw(t.Loss) {
		return nil
	}
	if l.draw(t.Corrupt) {
		data[l.rng.IntN(len(data))] ^= 1 << l.rng.IntN(8)
	}
	if l.draw(t.Late) {
		time.AfterFunc(t.LateBy, func() { _, _ = l.port.Write(data) })
		return nil
	}
	_, err := l.port.Write(data)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil // a host that reads nothing hears nothing
	}
	return err
}

// handle carries a request out.
func (l *Line) handle(p bus.Packet) []answer {
	now := time.Now()
	var there []*Servo
	for _, s := range l.servos {
		if s.Baud == l.baud() && s.answers(now) {
			there = append(there, s)
		}
	}
	if asks(l.family.Name(), p.Kind) && l.draw(l.now().Swap) && len(there) > 1 { // a servo answers with another's id
		there[0].ID, there[1].ID = there[1].ID, there[0].ID
		defer func() { there[0].ID, there[1].ID = there[1].ID, there[0].ID }()
	}
	if l.family == (dynamixel.Old{}) {
		return handleOld(there, p)
	}
	switch l.family.Name() {
	case herkulexName:
		return handleHerkulex(there, p)
	case dynamixelName:
		return handleDynamixel(there, p)
	default:
		return handleFeetech(there, p)
	}
}

// asks reports whether a request only wants an answer.
func asks(family string, kind byte) bool {
	if family == herkulexName {
		return kind == 2 || kind == 4 || kind == 7
	}
	return kind == 1 || kind == 2 || kind == 0x82 || kind == oldBulkRead
}

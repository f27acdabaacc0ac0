package rosbridge

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"sync"
	"time"

	"poise/internal/budget"
)

// ahead reads a client's socket ahead of the WebSocket and finds stops in what has come,
// while the messages before them still wait to be read, decoded or answered. All bytes go on
// to the WebSocket, in order, but for pings beyond what anybody needs.
//
// Of long messages beyond their pace only the beginning goes on, and the rest is left to the
// system to throw away: reading it would keep the cores busy, and waiting until it may be kept
// could hold up a stop behind it.
//
// It knows no more of the protocol (RFC 6455, 5.2) than where frames begin and end. A stop
// that it cannot see, such as one in parts, is found in its turn.
type ahead struct {
	net.Conn
	stops   func(data []byte, binary bool) bool // stops the robots if a message is a call of stop
	account *budget.Account                     // of the client

	mu     sync.Mutex
	change sync.Cond
	data   []byte // that waits for the WebSocket, from begin on
	begin  int
	held   int64 // charged for data
	done   map[uint64]bool
	cuts   map[uint64]error // messages of which only the beginning goes on, and why
	err    error            // why no more comes
	closed bool

	// of the goroutine that reads
	first   []byte // came with the request
	blind   bool   // the client does not keep to the protocol: the WebSocket says so
	head    []byte // of the frame, as far as it has come
	payload bool   // it has come, and the payload comes
	left    uint64 // bytes of it that go on,
	drop    uint64 // and that do not, after them
	looks   bool   // it is short and looked at
	whole   []byte // then the frame, as far as it has come
	text    []byte // and its payload, without the mask
	inside  bool   // of a message in several frames
	count   uint64 // messages that have ended
	pings   bucket
	now     time.Time
	out     []byte
}

// Bounds of what is read ahead: enough for the floods of short messages that a socket holds,
// and little of a long message, which is read as fast as it comes anyway.
const (
	aheadMost  = 2 << 20
	aheadLong  = 64 << 10
	aheadChunk = 32 << 10 // that is read at once
	aheadCut   = 32 << 10 // of a long frame beyond the pace goes on: its head can be read, to refuse it
	pingRate   = 20       // per second that are answered
)

// newAhead begins with what came together with the request.
func newAhead(c net.Conn, first []byte, account *budget.Account) *ahead {
	a := &ahead{Conn: c, first: bytes.Clone(first), account: account, done: map[uint64]bool{}, cuts: map[uint64]error{}, pings: newBucket(pingRate)}
	a.change.L = &a.mu
	return a
}

// run reads the socket until it ends.
func (a *ahead) run() {
	if len(a.first) > 0 {
		a.scan(a.first)
		a.first = nil
	}
	chunk := make([]byte, aheadChunk)
	for {
		var err error
		if a.left == 0 && a.drop > 0 {
			err = a.throwAway()
		} else {
			if !a.room() {
				return
			}
			var n int
			n, err = a.Conn.Read(chunk)
			if a.left > shortMessage {
				// in turns: clients that send nothing but long messages keep no core busy
				a.account.Work(context.Background(), func(context.Context) { a.scan(chunk[:n]) })
			} else {
				a.scan(chunk[:n])
			}
		}
		if err != nil {
			a.mu.Lock()
			a.err = err
			a.change.Broadcast()
			a.mu.Unlock()
			return
		}
	}
}

// throwAway leaves out what has come of a frame that is not wanted.
func (a *ahead) throwAway() error {
	n, err := a.account.Discard(a.Conn, a.drop)
	if a.drop -= uint64(n); a.drop == 0 {
		a.pass(a.ends(nil))
	}
	return err
}

// room waits until more may be read, and is false when the connection is closed.
func (a *ahead) room() bool {
	most := aheadMost
	if a.left > shortMessage {
		most = aheadLong
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for !a.closed {
		waits := len(a.data) - a.begin
		need := int64(waits + aheadChunk - aheadLong)
		if need <= a.held {
			return true
		}
		if waits < most && a.account.Take(budget.Frames, need-a.held) == nil {
			a.held = need
			return true
		}
		a.change.Wait()
	}
	return false
}

// Read hands on what has come.
func (a *ahead) Read(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.data) == a.begin && a.err == nil && !a.closed {
		a.change.Wait()
	}
	switch {
	case a.closed:
		return 0, net.ErrClosed
	case len(a.data) == a.begin:
		return 0, a.err
	}
	n := copy(p, a.data[a.begin:])
	a.begin += n
	if waits := len(a.data) - a.begin; waits == 0 && a.held == 0 {
		a.data, a.begin = a.data[:0], 0
	} else if waits < aheadLong/2 && a.held > 0 {
		a.data, a.begin = bytes.Clone(a.data[a.begin:]), 0
		a.account.Give(budget.Frames, a.held)
		a.held = 0
	}
	a.change.Broadcast()
	return n, nil
}

// Close ends the connection, and what waits for it.
func (a *ahead) Close() error {
	a.mu.Lock()
	if !a.closed {
		a.closed = true
		a.account.Give(budget.Frames, a.held)
		a.data, a.begin, a.held = nil, 0, 0
	}
	a.change.Broadcast()
	a.mu.Unlock()
	return a.Conn.Close()
}

// pass hands bytes on to the WebSocket.
func (a *ahead) pass(b []byte) {
	if len(b) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	if a.begin > 0 && len(a.data)+len(b) > cap(a.data) {
		a.data = append(a.data[:0], a.data[a.begin:]...)
		a.begin = 0
	}
	a.data = append(a.data, b...)
	a.change.Broadcast()
}

// taken reports whether a message, counted from 0, was a stop that has been obeyed.
func (a *ahead) taken(number uint64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	ok := a.done[number]
	delete(a.done, number)
	return ok
}

// cut tells why only the beginning of a message, counted from 0, has come, or nil.
func (a *ahead) cut(number uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.cuts[number]
	delete(a.cuts, number)
	return err
}

// Opcodes of frames, and bits of their first two bytes.
const (
	opContinuation, opText, opBinary, opPing = 0x0, 0x1, 0x2, 0x9
	bitFin, bitsReserved, bitMask            = 0x80, 0x70, 0x80
	opBits, longestControl                   = 0x0f, 125
)

// scan looks at what has come, and passes it on.
func (a *ahead) scan(b []byte) {
	out := a.out[:0]
	a.now = time.Now()
	for len(b) > 0 && !a.blind {
		if !a.payload {
			n := min(len(b), headSize(a.head)-len(a.head))
			a.head, b = append(a.head, b[:n]...), b[n:]
			if len(a.head) < headSize(a.head) {
				continue
			}
			if a.begins(); a.looks {
				a.whole = append(a.whole[:0], a.head...)
			} else {
				out = append(out, a.head...)
			}
		} else if a.left == 0 && a.drop > 0 {
			n := min(uint64(len(b)), a.drop)
			a.drop, b = a.drop-n, b[n:]
		} else {
			n := int(min(uint64(len(b)), a.left))
			if a.looks {
				a.whole = append(a.whole, b[:n]...)
			} else {
				out = append(out, b[:n]...)
			}
			a.left, b = a.left-uint64(n), b[n:]
		}
		if a.payload && a.left == 0 && a.drop == 0 {
			out = a.ends(out)
		}
	}
	out = append(out, b...)
	a.pass(out)
	a.out = out
}

// headSize is the size of a frame's head, as far as it can be told. A client masks its
// frames.
func headSize(head []byte) int {
	if len(head) < 2 {
		return 2
	}
	switch head[1] &^ bitMask {
	case 126:
		return 8
	case 127:
		return 14
	}
	return 6
}

// begins reads the head of a frame.
func (a *ahead) begins() {
	first, second := a.head[0], a.head[1]
	if first&bitsReserved != 0 || second&bitMask == 0 {
		a.blind, a.looks = true, false
		return
	}
	switch a.left = uint64(second &^ bitMask); a.left {
	case 126:
		a.left = uint64(binary.BigEndian.Uint16(a.head[2:]))
	case 127:
		a.left = binary.BigEndian.Uint64(a.head[2:])
	}
	a.payload = true
	op := first & opBits
	if a.left > budget.LongMessage && (op == opText || op == opBinary || op == opContinuation) {
		a.shorten()
	}
	switch {
	case first&bitFin == 0:
		a.looks = false
	case op == opPing:
		a.looks = a.left <= longestControl
	case op == opText, op == opBinary:
		a.looks = a.left <= shortMessage && !a.inside
	default:
		a.looks = false
	}
}

// shorten leaves out most of a long frame if the client sends more of them than its pace allows.
func (a *ahead) shorten() {
	err := a.account.KeepLong(a.now)
	if err == nil {
		return
	}
	a.mu.Lock()
	a.cuts[a.count] = err
	a.mu.Unlock()
	a.left, a.drop = aheadCut, a.left-aheadCut
	key := [4]byte(a.head[len(a.head)-4:])
	a.head = append(a.head[:1], bitMask|126, aheadCut>>8, aheadCut&0xff)
	a.head = append(a.head, key[:]...)
}

// ends is called when a frame has come whole, and adds it to what is passed on.
func (a *ahead) ends(out []byte) []byte {
	first := a.head[0]
	op := first & opBits
	if op == opText || op == opBinary || op == opContinuation {
		if a.looks && a.isStop(op == opBinary) {
			a.mu.Lock()
			a.done[a.count] = true
			a.mu.Unlock()
		}
		if a.inside = first&bitFin == 0; !a.inside {
			a.count++
		}
	}
	if a.looks && (op != opPing || a.pings.take(a.now)) {
		out = append(out, a.whole...)
	}
	a.head, a.payload = a.head[:0], false
	return out
}

// isStop stops the robots if the frame is a call of stop.
func (a *ahead) isStop(binary bool) bool {
	masked, key := a.whole[len(a.head):], a.head[len(a.head)-4:]
	a.text = a.text[:0]
	for i, c := range masked {
		a.text = append(a.text, c^key[i&3])
	}
	return bytes.Contains(a.text, []byte("stop")) && a.stops(bytes.Clone(a.text), binary)
}

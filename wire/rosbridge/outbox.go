package rosbridge

import (
	"context"
	"fmt"
	"sync"
	"time"

	"poise/internal/budget"
	"poise/msgs"
)

// outgoing is a message ready to be written: one frame, or the fragments of one.
type outgoing struct {
	frames [][]byte
	binary bool

	// of an answer that is written as the client reads it, in place of frames
	head, tail []byte
	body       any
	form       msgs.Form
	large      int64 // bytes that it takes in memory; 0 for a small answer

	lane *lane // that it took; nil for an answer
	lost int   // messages of the lane that were lost since the last one
}

func (i *outgoing) size() (n int) {
	for _, f := range i.frames {
		n += len(f)
	}
	return n
}

// outbox is the bounded queue between all that send to a client and the one
// goroutine that writes to its socket. Nothing that is put in waits. Messages leave
// in the order in which they came, whichever lane they took:
//
//   - must is for answers: never lost. A client that asks much and reads nothing
//     overflows its outbox, which ends the connection. mustLarge is for large ones: one
//     fits always, and beside it what has room; who asks for more is refused that.
//   - A lane is for a stream, one per topic: when it is full its own oldest message
//     is dropped, and the next one tells how many were lost. A lane may be
//     throttled: then at most one message leaves per interval, and the newest are
//     kept.
//
// All of it may be called from any goroutine.
type outbox struct {
	mu     sync.Mutex
	max    int         // bytes
	bytes  int         // without large answers
	large  int64       // bytes of large answers
	unread int         // bytes of small answers that are not written yet
	queue  []*outgoing // removed ones have no frames
	dead   int         // removed ones in queue
	full   bool        // an answer did not fit
	closed bool
	began  time.Time     // of the intervals of throttled lanes
	notify chan struct{} // something to write, or the end
	relief chan struct{} // an answer was written, or the end

	account *budget.Account // of the client; nil charges no client
}

// newOutbox returns an outbox that holds at most maxBytes.
func newOutbox(maxBytes int, account *budget.Account) *outbox {
	return &outbox{max: maxBytes, account: account, notify: make(chan struct{}, 1), relief: make(chan struct{}, 1)}
}

// kind is what an item is charged as.
func (i *outgoing) kind() budget.Kind {
	if i.lane != nil {
		return budget.Streams
	}
	return budget.Answers
}

// mustLarge adds a large answer, or says why it does not fit.
func (b *outbox) mustLarge(item *outgoing) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.full {
		return nil // the client has gone
	}
	if b.large > 0 && b.large+item.large > int64(b.max) {
		return fmt.Errorf("the answer of %d bytes does not fit beside %d bytes that wait to be read; the limit is %d", item.large, b.large, b.max)
	}
	if err := b.account.TakeAlone(budget.Answers, item.large); err != nil {
		return err
	}
	b.large += item.large
	b.queue = append(b.queue, item)
	b.wake()
	return nil
}

// sent notes that an item has been written, which costs nothing more.
func (b *outbox) sent(item *outgoing) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return // everything has been given back
	}
	if item.large > 0 {
		b.large -= item.large
		b.account.Give(budget.Answers, item.large)
		return
	}
	b.account.Give(item.kind(), int64(item.size()))
	if item.lane == nil {
		b.unread -= item.size()
		signal(b.relief)
	}
}

// mostUnread is how many bytes of small answers may wait before the client's next messages
// do.
const mostUnread = 1 << 20

// await returns when few answers wait to be read, or there is no use in waiting. A client
// that asks faster than it reads so costs no more than what it reads.
func (b *outbox) await(ctx context.Context) {
	for {
		b.mu.Lock()
		over := b.closed || b.full || b.unread <= mostUnread
		b.mu.Unlock()
		if over {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-b.relief:
		}
	}
}

// must adds what may not be lost, and reports whether it fitted. Once something did not,
// next returns nothing more: the connection is to be closed.
func (b *outbox) must(frames [][]byte, binary bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	item := &outgoing{frames: frames, binary: binary}
	if b.closed || b.full {
		return false
	}
	if b.bytes+item.size() > b.max || b.account.TakeUncapped(budget.Answers, int64(item.size())) != nil {
		b.full = true
		b.wake()
		signal(b.relief)
		return false
	}
	b.unread += item.size()
	b.push(item)
	return true
}

// push appends an item and wakes the writer.
func (b *outbox) push(item *outgoing) {
	b.queue = append(b.queue, item)
	b.bytes += item.size()
	b.wake()
}

func (b *outbox) wake() { signal(b.notify) }

// signal wakes who waits on a channel of one place, now or when it comes.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// kill removes an item from the queue.
func (b *outbox) kill(item *outgoing) {
	b.bytes -= item.size()
	b.account.Give(item.kind(), int64(item.size()))
	item.frames = nil
	b.dead++
	if b.dead > 64 && b.dead > len(b.queue)/2 {
		alive := b.queue[:0]
		for _, i := range b.queue {
			if i.frames != nil || i.body != nil {
				alive = append(alive, i)
			}
		}
		clear(b.queue[len(alive):])
		b.queue, b.dead = alive, 0
	}
}

// after returns when a throttled lane sends again after it did: when one of its intervals
// begins, which all lanes count from one time, so that what comes together leaves together. A
// message that was late shortens the interval that follows, to a half at most.
func (b *outbox) after(now time.Time, every time.Duration) time.Time {
	if b.began.IsZero() {
		b.began = now
	}
	passed := now.Sub(b.began) + every/2
	return b.began.Add(passed - passed%every + every)
}

// isFull reports whether an answer did not fit.
func (b *outbox) isFull() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.full
}

// next waits for the next message; false when the outbox is closed, has overflowed,
// or the context is over.
func (b *outbox) next(ctx context.Context) (outgoing, bool) {
	for {
		b.mu.Lock()
		if b.closed || b.full {
			b.mu.Unlock()
			return outgoing{}, false
		}
		if item := b.pop(); item != nil {
			out := *item
			b.mu.Unlock()
			return out, true
		}
		b.mu.Unlock()
		select {
		case <-ctx.Done():
			return outgoing{}, false
		case <-b.notify:
		}
	}
}

// pop takes the first item that was not removed.
func (b *outbox) pop() *outgoing {
	for len(b.queue) > 0 {
		item := b.queue[0]
		b.queue[0] = nil
		b.queue = b.queue[1:]
		if item.frames == nil && item.body == nil {
			b.dead--
			continue
		}
		if item.large == 0 {
			b.bytes -= item.size()
		}
		if l := item.lane; l != nil {
			l.waiting = l.waiting[1:]
			item.lost, l.lost = l.lost, 0
		}
		return item
	}
	b.queue = nil // frees what pop cut off at the front
	return nil
}

// close drops everything; a next that waits returns.
func (b *outbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.queue, b.bytes, b.dead = true, nil, 0, 0
	b.account.Give(budget.Answers, b.account.Held(budget.Answers))
	b.account.Give(budget.Streams, b.account.Held(budget.Streams))
	b.wake()
	signal(b.relief)
}

// lane is one stream's share of an outbox.
type lane struct {
	name string // of the stream

	box     *outbox
	max     int
	every   time.Duration
	waiting []*outgoing // of this lane, in the box, oldest first
	lost    int
	held    []outgoing // throttled: to be sent later
	next    time.Time
	timer   *time.Timer
	passed  func() // called after a held message left; may be nil
	closed  bool
}

// newLane returns a new lane of which at most max messages wait, and at most one
// leaves per interval (0: as they come).
func (b *outbox) newLane(name string, max int, every time.Duration) *lane {
	return &lane{name: name, box: b, max: max, every: every}
}

// set changes the lane's bounds.
func (l *lane) set(max int, every time.Duration) {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	l.max, l.every = max, every
	l.trim()
}

// put adds a message to the lane.
func (l *lane) put(frames [][]byte, binary bool) {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	if l.closed || l.box.closed || l.box.full {
		return
	}
	item := outgoing{frames: frames, binary: binary, lane: l}
	if l.every <= 0 && len(l.held) == 0 {
		l.enter(item)
		return
	}
	now := time.Now()
	if len(l.held) == 0 && !now.Before(l.next) {
		l.next = l.box.after(now, l.every)
		l.enter(item)
		return
	}
	// the client asked to be throttled: what is dropped here does not count as lost
	for len(l.held) > 0 && len(l.held) >= l.max {
		l.dropHeld()
	}
	for l.box.account.Take(budget.Streams, int64(item.size())) != nil {
		if len(l.held) == 0 {
			return
		}
		l.dropHeld()
	}
	l.held = append(l.held, item)
	l.arm(now)
}

// takes returns when the lane takes a message that is not thrown away for a newer one, and how
// long after it the one that follows: zero if it takes every one.
func (l *lane) takes() (time.Time, time.Duration) {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	if l.every <= 0 || l.max > 1 {
		return time.Time{}, 0
	}
	return l.next, l.every
}

// lose counts messages that were lost before they got here.
func (l *lane) lose(n int) {
	if n == 0 {
		return
	}
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	l.lost += n
}

func (l *lane) arm(now time.Time) {
	if l.timer == nil && len(l.held) > 0 {
		l.timer = time.AfterFunc(l.next.Sub(now), l.release)
	}
}

// release sends a held message when its interval is over.
func (l *lane) release() {
	if l.releaseOne() && l.passed != nil {
		l.passed()
	}
}

func (l *lane) releaseOne() bool {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	l.timer = nil
	if l.closed || l.box.closed || len(l.held) == 0 {
		return false
	}
	now := time.Now()
	l.next = l.box.after(now, l.every)
	item := l.held[0]
	l.held[0] = outgoing{}
	l.held = l.held[1:]
	l.box.account.Give(budget.Streams, int64(item.size())) // enter charges it again
	l.enter(item)
	l.arm(now)
	return true
}

// enter puts an item into the outbox, after making room in the lane.
func (l *lane) enter(item outgoing) {
	size := item.size()
	most := l.box.max - l.box.max/4 // the rest is for answers
	for len(l.waiting) > 0 && (len(l.waiting) >= l.max || l.box.bytes+size > most) {
		l.dropOldest()
	}
	if l.box.bytes+size > most {
		l.lost++ // other lanes fill the outbox
		return
	}
	for l.box.account.Take(budget.Streams, int64(size)) != nil {
		if len(l.waiting) == 0 {
			l.lost++
			return
		}
		l.dropOldest()
	}
	l.waiting = append(l.waiting, &item)
	l.box.push(&item)
}

func (l *lane) trim() {
	for len(l.waiting) > l.max {
		l.dropOldest()
	}
	for len(l.held) > l.max {
		l.dropHeld()
	}
}

// dropHeld drops the oldest that is held.
func (l *lane) dropHeld() {
	l.box.account.Give(budget.Streams, int64(l.held[0].size()))
	l.held[0] = outgoing{}
	l.held = l.held[1:]
}

func (l *lane) dropOldest() {
	l.box.kill(l.waiting[0])
	l.waiting = l.waiting[1:]
	l.lost++
}

// close ends the lane; what waits in it is not sent.
func (l *lane) close() {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	if l.timer != nil {
		l.timer.Stop()
	}
	if l.box.closed {
		l.held = nil
		return
	}
	for len(l.held) > 0 {
		l.dropHeld()
	}
	for _, item := range l.waiting {
		l.box.kill(item)
	}
	l.waiting = nil
}

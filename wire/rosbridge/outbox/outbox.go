// Package outbox is the bounded queue between everybody who has something to say
// to a client and the one goroutine that writes to its socket.
//
// Whoever puts something in never waits. What leaves is in the order in which it
// came, whichever lane it took:
//
//   - Must is for answers: never lost. A client that asks much and reads nothing
//     overflows its box, and that is the end of the connection.
//   - A Lane is for a stream, one per topic: of what waits, the oldest of the same
//     lane goes first, other lanes do not suffer, and the count of what was lost
//     comes with the next message of that lane. A lane may be throttled: then at
//     most one message leaves per interval, and the newest are kept.
//
// All of it may be called from any goroutine.
package outbox

import (
	"context"
	"sync"
	"time"
)

// Item is a message ready to be written: one frame, or the fragments of one.
type Item struct {
	Frames [][]byte
	Binary bool

	Lane *Lane // that it took; nil for an answer
	Lost int   // messages of the lane that were lost since the last one
}

func (i *Item) size() (n int) {
	for _, f := range i.Frames {
		n += len(f)
	}
	return n
}

// Box is the queue of one connection.
type Box struct {
	mu     sync.Mutex
	max    int // bytes
	bytes  int
	queue  []*Item // dead ones have no frames
	dead   int
	full   bool // an answer did not fit
	closed bool
	notify chan struct{}
}

// New returns a box that holds at most maxBytes.
func New(maxBytes int) *Box {
	return &Box{max: maxBytes, notify: make(chan struct{}, 1)}
}

// Must puts in what may not be lost, and reports whether it fitted. Once it did
// not, Next returns what is there no more: the connection is to be closed.
func (b *Box) Must(frames [][]byte, binary bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	item := &Item{Frames: frames, Binary: binary}
	if b.closed || b.full {
		return false
	}
	if b.bytes+item.size() > b.max {
		b.full = true
		b.wake()
		return false
	}
	b.push(item)
	return true
}

// push appends an item and wakes the writer.
func (b *Box) push(item *Item) {
	b.queue = append(b.queue, item)
	b.bytes += item.size()
	b.wake()
}

func (b *Box) wake() {
	select {
	case b.notify <- struct{}{}:
	default:
	}
}

// kill takes an item out of the queue.
func (b *Box) kill(item *Item) {
	b.bytes -= item.size()
	item.Frames = nil
	b.dead++
	if b.dead > 64 && b.dead > len(b.queue)/2 {
		alive := b.queue[:0]
		for _, i := range b.queue {
			if i.Frames != nil {
				alive = append(alive, i)
			}
		}
		clear(b.queue[len(alive):])
		b.queue, b.dead = alive, 0
	}
}

// Full reports whether an answer did not fit.
func (b *Box) Full() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.full
}

// Waiting returns how many messages and bytes wait.
func (b *Box) Waiting() (messages, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue) - b.dead, b.bytes
}

// Next waits for the next message; false when the box is closed, has overflowed,
// or the context is over.
func (b *Box) Next(ctx context.Context) (Item, bool) {
	for {
		b.mu.Lock()
		if b.closed || b.full {
			b.mu.Unlock()
			return Item{}, false
		}
		if item := b.pop(); item != nil {
			out := *item
			b.mu.Unlock()
			return out, true
		}
		b.mu.Unlock()
		select {
		case <-ctx.Done():
			return Item{}, false
		case <-b.notify:
		}
	}
}

// pop takes out the first item that lives.
func (b *Box) pop() *Item {
	for len(b.queue) > 0 {
		item := b.queue[0]
		b.queue[0] = nil
		b.queue = b.queue[1:]
		if item.Frames == nil {
			b.dead--
			continue
		}
		b.bytes -= item.size()
		if l := item.Lane; l != nil {
			l.waiting = l.waiting[1:]
			item.Lost, l.lost = l.lost, 0
		}
		return item
	}
	b.queue = nil // what pop cut off at the front is let go
	return nil
}

// Close lets go of everything; a Next that waits returns.
func (b *Box) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.queue, b.bytes, b.dead = true, nil, 0, 0
	b.wake()
}

// Lane is one stream's way through a box.
type Lane struct {
	Name string // of the stream; not read here

	box     *Box
	max     int
	every   time.Duration
	waiting []*Item // of this lane, in the box, oldest first
	lost    int
	held    []Item // throttled: their time has not come
	next    time.Time
	timer   *time.Timer
	closed  bool
}

// Lane returns a new lane of which at most max messages wait, and at most one
// leaves per interval (0: as they come).
func (b *Box) Lane(name string, max int, every time.Duration) *Lane {
	return &Lane{Name: name, box: b, max: max, every: every}
}

// Set changes the lane's bounds.
func (l *Lane) Set(max int, every time.Duration) {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	l.max, l.every = max, every
	l.trim()
}

// Put sends a message down the lane.
func (l *Lane) Put(frames [][]byte, binary bool) {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	if l.closed || l.box.closed || l.box.full {
		return
	}
	item := Item{Frames: frames, Binary: binary, Lane: l}
	if l.every <= 0 && len(l.held) == 0 {
		l.enter(item)
		return
	}
	now := time.Now()
	if len(l.held) == 0 && !now.Before(l.next) {
		l.next = now.Add(l.every)
		l.enter(item)
		return
	}
	// to be throttled is what the client asked for: what goes here is not lost
	if l.held = append(l.held, item); len(l.held) > l.max {
		l.held = l.held[1:]
	}
	l.arm(now)
}

// Lose counts messages that were lost before they got here.
func (l *Lane) Lose(n int) {
	if n == 0 {
		return
	}
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	l.lost += n
}

func (l *Lane) arm(now time.Time) {
	if l.timer == nil && len(l.held) > 0 {
		l.timer = time.AfterFunc(l.next.Sub(now), l.release)
	}
}

// release lets a held message go when its time has come.
func (l *Lane) release() {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	l.timer = nil
	if l.closed || l.box.closed || len(l.held) == 0 {
		return
	}
	now := time.Now()
	l.next = now.Add(l.every)
	item := l.held[0]
	l.held = l.held[1:]
	l.enter(item)
	l.arm(now)
}

// enter puts an item into the box and makes room in the lane first.
func (l *Lane) enter(item Item) {
	size := item.size()
	for len(l.waiting) > 0 && (len(l.waiting) >= l.max || l.box.bytes+size > l.box.max) {
		l.dropOldest()
	}
	if l.box.bytes+size > l.box.max {
		l.lost++ // others fill the box: this one does not get in
		return
	}
	l.waiting = append(l.waiting, &item)
	l.box.push(&item)
}

func (l *Lane) trim() {
	for len(l.waiting) > l.max {
		l.dropOldest()
	}
	for len(l.held) > l.max {
		l.held = l.held[1:]
	}
}

func (l *Lane) dropOldest() {
	l.box.kill(l.waiting[0])
	l.waiting = l.waiting[1:]
	l.lost++
}

// Close ends the lane; what waits in it is not sent.
func (l *Lane) Close() {
	l.box.mu.Lock()
	defer l.box.mu.Unlock()
	if l.closed {
		return
	}
	l.closed, l.held = true, nil
	if l.timer != nil {
		l.timer.Stop()
	}
	if l.box.closed {
		return
	}
	for _, item := range l.waiting {
		l.box.kill(item)
	}
	l.waiting = nil
}

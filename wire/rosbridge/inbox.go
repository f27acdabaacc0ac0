package rosbridge

import (
	"fmt"
	"sync"
	"sync/atomic"

	"poise/wire/rosbridge/frame"
)

// incoming is a frame of the client that waits to be worked on.
type incoming struct {
	data   []byte
	binary bool
	joined bool // of fragments
	head   *frame.Head
	number uint64 // by arrival
	goal   *goal  // that it sends, if it does: known before it is read, so that it can be cancelled

	charged int64 // bytes of frames

	// claimed by who does what a cancel asks for: the worker in its turn, or overtake.
	claimed atomic.Bool
}

// parse reads the whole frame.
func (message *incoming) parse() (m *frame.Message, err error) {
	if frame.IsCBOR(message.data, message.binary) {
		m, err = frame.ParseCBOR(message.data)
	} else {
		m, err = frame.Parse(message.data)
	}
	if err != nil && message.joined {
		err = fmt.Errorf("the joined message: %w", err)
	}
	return m, err
}

// inbox is the bounded queue between the goroutine that reads the socket, which never
// waits, and the worker.
type inbox struct {
	max    int // bytes, of what waits and of what is being worked on
	mu     sync.Mutex
	queue  []*incoming
	bytes  int
	now    *incoming // being worked on
	count  uint64
	closed bool
	notify chan struct{}
}

// newInbox returns an inbox for messages of at most so many bytes each: two of those, and
// many short ones.
func newInbox(message int) *inbox {
	const short = 1 << 20
	return &inbox{max: 2*message + short, notify: make(chan struct{}, 1)}
}

// overhead is what a waiting frame costs besides its bytes.
const overhead = 512

func (message *incoming) size() int { return len(message.data) + overhead }

// put appends a frame. It reports whether others are before it, and is an error if there
// is no room. An empty inbox takes every frame.
func (b *inbox) put(message *incoming) (waits bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	waits = b.now != nil || len(b.queue) > 0
	if waits && b.bytes+message.size() > b.max {
		return true, &LimitError{What: "too many bytes wait to be worked on", Limit: float64(b.max)}
	}
	b.bytes += message.size()
	b.queue = append(b.queue, message)
	signal(b.notify)
	return waits, nil
}

// next numbers a frame.
func (b *inbox) next() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count++
	return b.count
}

// take ends the work on the last frame and waits for the next one; false when the inbox
// is closed and empty.
func (b *inbox) take() (*incoming, bool) {
	for {
		b.mu.Lock()
		if b.now != nil {
			b.bytes -= b.now.size()
			b.now = nil
		}
		if len(b.queue) > 0 {
			b.now = b.queue[0]
			b.queue[0] = nil
			b.queue = b.queue[1:]
			in := b.now
			b.mu.Unlock()
			return in, true
		}
		b.queue = nil
		closed := b.closed
		b.mu.Unlock()
		if closed {
			return nil, false
		}
		<-b.notify
	}
}

// close lets the worker end: after what waits, or without it.
func (b *inbox) close(drop bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if drop {
		b.queue = nil
	}
	signal(b.notify)
}

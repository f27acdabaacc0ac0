package rt

import "sync/atomic"

// Queue carries large values out of the cycle without copying them twice: the
// writer fills a slot that was made once, the reader looks at it in place. One
// writer, one reader; neither waits.
type Queue[T any] struct {
	slots []T
	mask  uint64
	head  atomic.Uint64 // next to be read
	tail  atomic.Uint64 // next to be written
}

// NewQueue returns a queue for at least size values; init prepares each slot and
// may be nil.
func NewQueue[T any](size int, init func(*T)) *Queue[T] {
	n := 1
	for n < size {
		n *= 2
	}
	q := &Queue[T]{slots: make([]T, n), mask: uint64(n - 1)}
	if init != nil {
		for i := range q.slots {
			init(&q.slots[i])
		}
	}
	return q
}

// Slot returns the next slot to be filled before Commit, nil if the queue is full.
// It holds something old. Loop-safe.
func (q *Queue[T]) Slot() *T {
	tail := q.tail.Load()
	if tail-q.head.Load() == uint64(len(q.slots)) {
		return nil
	}
	return &q.slots[tail&q.mask]
}

// Commit hands the slot to the reader. Loop-safe.
func (q *Queue[T]) Commit() { q.tail.Add(1) }

// Peek returns the oldest value, nil if there is none. It stays the reader's until
// Release. Loop-safe.
func (q *Queue[T]) Peek() *T {
	head := q.head.Load()
	if head == q.tail.Load() {
		return nil
	}
	return &q.slots[head&q.mask]
}

// Release gives the slot of the last Peek back. Loop-safe.
func (q *Queue[T]) Release() { q.head.Add(1) }

package rt

import (
	"sync"
	"sync/atomic"
)

// Ring carries values into the cycle or out of it, in order, none lost: a full
// ring refuses and the sender knows.
//
// One side belongs to the cycle and never waits. The other may be any number of
// goroutines, which share a lock among themselves only: TrySend and TryReceive
// are the cycle's, Send and Receive the others'. A ring is used in one direction.
type Ring[T any] struct {
	slots []T
	mask  uint64
	head  atomic.Uint64 // next to be read
	tail  atomic.Uint64 // next to be written
	many  sync.Mutex    // among the goroutines of the other side
}

// NewRing returns a ring for at least size values.
func NewRing[T any](size int) *Ring[T] {
	n := 1
	for n < size {
		n *= 2
	}
	return &Ring[T]{slots: make([]T, n), mask: uint64(n - 1)}
}

// Cap returns how many values fit.
func (r *Ring[T]) Cap() int { return len(r.slots) }

// Len returns how many values wait; by the time it is looked at it may be older.
func (r *Ring[T]) Len() int { return int(r.tail.Load() - r.head.Load()) }

// TrySend puts a value in, and reports false if the ring is full. For the one
// sender that the ring has. Loop-safe.
func (r *Ring[T]) TrySend(v T) bool {
	tail := r.tail.Load()
	if tail-r.head.Load() == uint64(len(r.slots)) {
		return false
	}
	r.slots[tail&r.mask] = v
	r.tail.Store(tail + 1)
	return true
}

// TryReceive takes the oldest value out, and reports false if there is none. For
// the one receiver that the ring has. Loop-safe.
func (r *Ring[T]) TryReceive() (v T, ok bool) {
	head := r.head.Load()
	if head == r.tail.Load() {
		return v, false
	}
	slot := &r.slots[head&r.mask]
	v = *slot
	var none T
	*slot = none // nothing is kept alive by a value that has gone
	r.head.Store(head + 1)
	return v, true
}

// Send is TrySend for any number of goroutines. Concurrent.
func (r *Ring[T]) Send(v T) bool {
	r.many.Lock()
	defer r.many.Unlock()
	return r.TrySend(v)
}

// Receive is TryReceive for any number of goroutines. Concurrent.
func (r *Ring[T]) Receive() (v T, ok bool) {
	r.many.Lock()
	defer r.many.Unlock()
	return r.TryReceive()
}

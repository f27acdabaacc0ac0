package rt

import "sync/atomic"

// Latest hands the newest value from one writer to one reader: neither ever
// waits, nothing is torn, and what the reader did not look at in time is gone.
// It is three slots that are exchanged, so a value may hold slices made once.
type Latest[T any] struct {
	slots [3]T
	ready atomic.Uint32 // slot between the two, with fresh set until it is taken
	write uint32        // the writer's slot
	read  uint32        // the reader's slot
}

const fresh = 4

// NewLatest returns a buffer; init prepares each of its three slots and may be
// nil.
func NewLatest[T any](init func(*T)) *Latest[T] {
	l := &Latest[T]{write: 0, read: 2}
	l.ready.Store(1)
	if init != nil {
		for i := range l.slots {
			init(&l.slots[i])
		}
	}
	return l
}

// Slot returns the writer's slot, to be filled before Publish. It holds something
// old. Loop-safe.
func (l *Latest[T]) Slot() *T { return &l.slots[l.write] }

// Publish makes the writer's slot the newest value. Loop-safe.
func (l *Latest[T]) Publish() { l.write = l.ready.Swap(l.write|fresh) &^ fresh }

// Load returns the newest value, which stays the reader's until the next Load,
// and whether it is one that was not seen before. Loop-safe.
func (l *Latest[T]) Load() (v *T, unseen bool) {
	if l.ready.Load()&fresh == 0 {
		return &l.slots[l.read], false
	}
	l.read = l.ready.Swap(l.read) &^ fresh
	return &l.slots[l.read], true
}

package stop

import "sync"

// Bounded bounds the stops that another server is asked for at once, so that a flood of
// them is passed on as fast as that server answers, and none is lost: a stop that finds
// Most of its kind K under way goes with the next, which all callers meanwhile share.
type Bounded[K comparable, P any] struct {
	Most int

	// Begin asks for a stop by a goroutine of its own, and returns at once. It calls settled
	// once, when the next of this kind may go.
	Begin func(kind K, one P, settled func())

	mu    sync.Mutex
	lines map[K]*line[P]
}

// line are the stops of one kind.
type line[P any] struct {
	asking int
	next   *P
}

// Ask asks for a stop of a kind, and returns the one it goes with: one, or one that waits.
func (b *Bounded[K, P]) Ask(kind K, one P) P {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.lines[kind]
	if l == nil {
		l = &line[P]{}
		if b.lines == nil {
			b.lines = map[K]*line[P]{}
		}
		b.lines[kind] = l
	}
	if l.asking < b.Most {
		b.begin(kind, l, one)
		return one
	}
	if l.next == nil {
		l.next = &one
	}
	return *l.next
}

// begin has the lock.
func (b *Bounded[K, P]) begin(kind K, l *line[P], one P) {
	l.asking++
	b.Begin(kind, one, func() { b.settled(kind, l) })
}

func (b *Bounded[K, P]) settled(kind K, l *line[P]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l.asking--
	if next := l.next; next != nil {
		l.next = nil
		b.begin(kind, l, *next)
	} else if l.asking == 0 {
		delete(b.lines, kind)
	}
}

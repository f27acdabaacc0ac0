package graph

import (
	"context"
	"sync"
	"sync/atomic"
)

// Kind is what a name in the graph stands for.
type Kind uint8

// The kinds of names.
const (
	TopicKind Kind = iota
	ServiceKind
	ActionKind
)

func (k Kind) String() string {
	switch k {
	case TopicKind:
		return "topic"
	case ServiceKind:
		return "service"
	}
	return "action"
}

// Change is a name that was added, removed or changed; a topic also changes with its publishers,
// subscribers and type. TopicInfo, ServiceInfo and ActionInfo return the present state.
type Change struct {
	Kind Kind
	Name string
	All  bool // more changed than was kept: everything is to be looked at; Kind and Name are empty
}

// Watcher receives changes. A name that changed several times before it was read comes
// once, so that a slow watcher costs little and misses no lasting change.
type Watcher struct {
	watchers *watchers
	limit    int
	wake     func()
	ready    chan struct{} // holds a token while something may wait

	mu      sync.Mutex
	queue   []Change
	waiting map[Change]bool
	closed  bool
}

// watchers are those of a graph.
type watchers struct {
	count atomic.Int32 // so that a change costs nothing without watchers
	mu    sync.Mutex
	list  []*Watcher
}

// Watch returns a watcher, for which everything that exists has just changed. wake, if
// given, is called when something waits; it may only signal.
func (g *Graph) Watch(wake func()) *Watcher {
	w := &Watcher{watchers: &g.watchers, limit: 4 * g.o.MaxNames, wake: wake, ready: make(chan struct{}, 1), waiting: map[Change]bool{}}
	g.watchers.mu.Lock()
	g.watchers.list = append(g.watchers.list, w)
	g.watchers.count.Add(1)
	g.watchers.mu.Unlock()
	// after it is in the list: what changes meanwhile comes twice rather than never
	for _, c := range g.all() {
		w.put(c)
	}
	return w
}

// all returns every name in the graph as changed.
func (g *Graph) all() (changes []Change) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	add := func(k Kind, name string) {
		changes = append(changes, Change{Kind: k, Name: name})
		for _, second := range g.secondNames(name) {
			changes = append(changes, Change{Kind: k, Name: second})
		}
	}
	for name := range g.topics {
		add(TopicKind, name)
	}
	for name := range g.services {
		add(ServiceKind, name)
	}
	for name := range g.actions {
		add(ActionKind, name)
	}
	return changes
}

// changed notifies watchers of a name and of its second names. It is called after the
// change, without locks.
func (g *Graph) changed(k Kind, name string) {
	if g.watchers.count.Load() == 0 {
		return
	}
	g.mu.RLock()
	names := append(g.secondNames(name), name)
	g.mu.RUnlock()
	g.watchers.mu.Lock()
	defer g.watchers.mu.Unlock()
	for _, w := range g.watchers.list {
		for _, n := range names {
			w.put(Change{Kind: k, Name: n})
		}
	}
}

// put adds a change that is not waiting yet.
func (w *Watcher) put(c Change) {
	w.mu.Lock()
	if w.closed || w.waiting[c] || w.waiting[Change{All: true}] {
		w.mu.Unlock()
		return
	}
	if len(w.queue) >= w.limit {
		w.queue, c = nil, Change{All: true}
		clear(w.waiting)
	}
	w.queue = append(w.queue, c)
	w.waiting[c] = true
	first := len(w.queue) == 1
	w.mu.Unlock()
	if first {
		w.signal()
	}
}

func (w *Watcher) signal() {
	select {
	case w.ready <- struct{}{}:
	default:
	}
	if w.wake != nil {
		w.wake()
	}
}

// Poll returns the next change, if there is one.
func (w *Watcher) Poll() (c Change, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		return Change{}, false
	}
	c, w.queue = w.queue[0], w.queue[1:]
	delete(w.waiting, c)
	if len(w.queue) == 0 {
		w.queue = nil // frees what was cut off at the front
	}
	return c, true
}

// Next waits for a change.
func (w *Watcher) Next(ctx context.Context) (Change, error) {
	for {
		if c, ok := w.Poll(); ok {
			return c, nil
		}
		if w.isClosed() {
			return Change{}, ErrClosed
		}
		select {
		case <-w.ready:
		case <-ctx.Done():
			return Change{}, ctx.Err()
		}
	}
}

func (w *Watcher) isClosed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

// Close ends the watching; a Next that waits returns ErrClosed.
func (w *Watcher) Close() {
	w.watchers.mu.Lock()
	for i, other := range w.watchers.list {
		if other == w {
			w.watchers.list = append(w.watchers.list[:i:i], w.watchers.list[i+1:]...)
			w.watchers.count.Add(-1)
			break
		}
	}
	w.watchers.mu.Unlock()
	w.mu.Lock()
	w.closed, w.queue = true, nil
	clear(w.waiting)
	w.mu.Unlock()
	w.signal()
}

// close ends all of them.
func (s *watchers) close() {
	s.mu.Lock()
	list := s.list
	s.list = nil
	s.mu.Unlock()
	for _, w := range list {
		w.Close()
	}
}

package rosbridge

import (
	"context"
	"sync"
	"sync/atomic"
)

// source is something in the graph that has messages for a client.
type source interface {
	drain() (more bool)   // moves some of them to the outbox
	inPump() *atomic.Bool // set while the source is in the pump's list
}

// pump moves messages from the graph to the outbox, one goroutine per client.
type pump struct {
	mu     sync.Mutex
	ready  []source
	signal chan struct{}
}

// newPump returns a pump; run moves its messages.
func newPump() *pump { return &pump{signal: make(chan struct{}, 1)} }

// wake says that a source has messages. It only signals: the graph's locks may be held.
func (p *pump) wake(s source) {
	if s.inPump().Swap(true) {
		return
	}
	p.mu.Lock()
	p.ready = append(p.ready, s)
	p.mu.Unlock()
	signal(p.signal)
}

// run moves messages until ctx is done.
func (p *pump) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.signal:
		}
		p.mu.Lock()
		ready := p.ready
		p.ready = nil
		p.mu.Unlock()
		for _, s := range ready {
			s.inPump().Store(false)
			if s.drain() {
				p.wake(s)
			}
		}
	}
}

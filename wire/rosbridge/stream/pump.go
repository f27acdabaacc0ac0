package stream

import (
	"context"
	"sync"
	"sync/atomic"
)

// Source is something of the graph that has news now and then.
type Source interface {
	Drain() (more bool)   // moves a few of the news on
	Queued() *atomic.Bool // set while the source stands in the pump's list
}

// Pump moves news from the graph to the outbox, one goroutine for a client.
type Pump struct {
	mu     sync.Mutex
	ready  []Source
	signal chan struct{}
}

// NewPump returns a pump that Run sets going.
func NewPump() *Pump { return &Pump{signal: make(chan struct{}, 1)} }

// Wake says that a source has news. It only signals: the graph's locks may be held.
func (p *Pump) Wake(s Source) {
	if s.Queued().Swap(true) {
		return
	}
	p.mu.Lock()
	p.ready = append(p.ready, s)
	p.mu.Unlock()
	select {
	case p.signal <- struct{}{}:
	default:
	}
}

// Run moves news until ctx is done.
func (p *Pump) Run(ctx context.Context) {
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
			s.Queued().Store(false)
			if s.Drain() {
				p.Wake(s)
			}
		}
	}
}

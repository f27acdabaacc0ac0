package rosbridge

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// source is something of the graph that has news now and then. wake may be called
// with the graph's locks held and only signals; drain moves the news on.
type source interface {
	drain() (more bool)
	flag() *atomic.Bool // set while the source stands in the pump's list
}

// pump moves news from the graph to the outbox, one goroutine for a session.
type pump struct {
	mu     sync.Mutex
	ready  []source
	signal chan struct{}
}

func (p *pump) wake(s source) {
	if s.flag().Swap(true) {
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
			s.flag().Store(false)
			if s.drain() {
				p.wake(s)
			}
		}
	}
}

// bucket allows so many messages per second, and twice as many in a burst.
type bucket struct {
	rate, level float64
	last        time.Time
	told        time.Time
}

const burstSeconds = 2

func newBucket(rate float64) bucket { return bucket{rate: rate, level: rate * burstSeconds} }

func (b *bucket) take(now time.Time) bool {
	if !b.last.IsZero() {
		b.level = math.Min(b.level+b.rate*now.Sub(b.last).Seconds(), b.rate*burstSeconds)
	}
	b.last = now
	if b.level < 1 {
		return false
	}
	b.level--
	return true
}

// tell reports once a second that it is time to complain.
func (b *bucket) tell() bool {
	if b.last.Sub(b.told) < time.Second {
		return false
	}
	b.told = b.last
	return true
}

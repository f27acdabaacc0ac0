package ros1

import (
	"context"
	"sync"
	"time"
)

// pace bounds how often something happens, by waiting. The zero value bounds nothing.
type pace struct {
	every time.Duration // one after the other, in the long run
	burst int           // without waiting

	mu   sync.Mutex
	next time.Time // when the next one may be
}

// burstSeconds is how long as many messages as are allowed may come at once.
const burstSeconds = 2

// perSecond allows so many, and those of two seconds at once; 0 bounds nothing.
func perSecond(rate float64) *pace {
	if rate <= 0 {
		return &pace{}
	}
	return &pace{every: time.Duration(float64(time.Second) / rate), burst: int(burstSeconds * rate)}
}

// wait waits for its turn, and is false when ctx is done.
func (p *pace) wait(ctx context.Context) bool {
	if p.every == 0 {
		return ctx.Err() == nil
	}
	p.mu.Lock()
	now := time.Now()
	if first := now.Add(-time.Duration(p.burst) * p.every); p.next.Before(first) {
		p.next = first
	}
	wait := p.next.Sub(now)
	p.next = p.next.Add(p.every)
	p.mu.Unlock()
	if wait <= 0 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(wait):
		return true
	case <-ctx.Done():
		return false
	}
}

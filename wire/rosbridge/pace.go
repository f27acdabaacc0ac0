package rosbridge

import (
	"sync"
	"time"
)

// Long messages are kept at a pace: taking them all, one after the other and as fast as
// they come, would keep the cores busy with nothing else. A client may send some at once;
// those beyond are refused, and thrown away unread but for their beginnings. Its socket does
// not wait: what follows may be a stop.
const (
	paceAll    = 16 << 20 // bytes per second of all clients that send long messages
	paceBurst  = 32 << 20 // that one client may send at once
	paceWindow = time.Second
)

// pacer shares the pace among the clients that send long messages.
type pacer struct {
	mu     sync.Mutex
	active map[*pace]time.Time // when they sent their last
}

// pace is that of one client.
type pace struct {
	of   *pacer
	debt float64 // bytes
	last time.Time
}

// take reports whether a long message may be kept now.
func (p *pace) take(now time.Time) error {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if p.of.active == nil {
		p.of.active = map[*pace]time.Time{}
	}
	p.of.active[p] = now
	for other, at := range p.of.active {
		if now.Sub(at) > paceWindow {
			delete(p.of.active, other)
		}
	}
	share := paceAll / float64(len(p.of.active))
	p.debt = max(0, p.debt-share*now.Sub(p.last).Seconds())
	p.last = now
	if p.debt >= paceBurst {
		return &LimitError{What: "too many bytes of long messages per second", Limit: share}
	}
	return nil
}

// took notes a message that was read.
func (p *pace) took(size int) {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.debt = min(p.debt+float64(size), 2*paceBurst)
}

// leave ends the client's share.
func (p *pace) leave() {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	delete(p.of.active, p)
}

package rosbridge

import (
	"sync"
	"time"
)

// Long messages are read at a pace: taking them off sockets, one after the other and as
// fast as they come, would keep the cores busy with nothing else. A client may send some at
// once; then the socket waits. Short messages, such as a stop, cost nothing.
const (
	paceAll    = 16 << 20 // bytes per second of all clients that send long messages
	paceBurst  = 16 << 20 // that one client may send at once
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
	debt float64 // bytes, beyond the burst they are waited for
	last time.Time
}

// took notes a long message and returns how long the client's socket rests.
func (p *pace) took(size int, now time.Time) time.Duration {
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
	p.debt = max(0, p.debt-share*now.Sub(p.last).Seconds()) + float64(size)
	p.last = now
	return time.Duration(max(0, p.debt-paceBurst) / share * float64(time.Second))
}

// leave ends the client's share.
func (p *pace) leave() {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	delete(p.of.active, p)
}

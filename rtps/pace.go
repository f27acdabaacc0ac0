package rtps

import (
	"sync"
	"time"
)

// pace bounds how much of a core a flood of datagrams can take: what is beyond is left to the socket,
// which drops it. What is spent is counted, and when it is used up the reader rests.
type pace struct {
	mu   sync.Mutex
	left time.Duration
	at   time.Time
}

const (
	paceShare   = 2                      // half a core
	paceBurst   = 100 * time.Millisecond // that may be spent at once
	paceRest    = 2 * time.Millisecond
	paceReading = 2 * time.Microsecond   // of a datagram, by the system
	paceMost    = 200 * time.Microsecond // of a datagram: beyond it others had the core
)

// spend counts a datagram that took so long, and returns how long to rest.
func (p *pace) spend(now time.Time, took time.Duration) (rest time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.IsZero() {
		p.left = paceBurst
	} else {
		p.left = min(p.left+max(now.Sub(p.at), 0)/paceShare, paceBurst)
	}
	p.at = now
	if p.left -= paceReading + min(took, paceMost); p.left < 0 {
		return paceRest
	}
	return 0
}

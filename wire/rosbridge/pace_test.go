package rosbridge

import (
	"strings"
	"testing"
	"time"
)

// TestLongMessagesAreKeptAtAPace: some at once, then all clients together so many bytes per
// second, in equal shares, and who leaves gives its share back.
func TestLongMessagesAreKeptAtAPace(t *testing.T) {
	all := &pacer{}
	now := time.Unix(100, 0)
	clients := make([]*pace, 4)
	sent := 0
	for i := range clients {
		clients[i] = &pace{of: all, last: now}
	}
	for step := now; step.Before(now.Add(time.Minute)); step = step.Add(10 * time.Millisecond) {
		for _, c := range clients {
			for range 10 {
				if c.take(step) == nil {
					c.took(1 << 20)
					sent += 1 << 20
				}
			}
		}
	}
	if most, least := 4*(paceBurst+1<<20)+61*paceAll, 4*paceBurst+50*paceAll; sent > most || sent < least {
		t.Errorf("%d bytes in a minute, want %d to %d", sent, least, most)
	}
	for _, c := range clients {
		c.leave()
	}
	fresh := &pace{of: all}
	if err := fresh.take(now); err != nil {
		t.Errorf("the first message: %v", err)
	}
	fresh.took(paceBurst)
	if err := fresh.take(now); err == nil || !strings.Contains(err.Error(), "long messages") {
		t.Errorf("the next: %v", err)
	}
	fresh.leave()
	if len(all.active) != 0 {
		t.Errorf("%d shares at the end", len(all.active))
	}
}

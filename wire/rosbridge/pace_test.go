package rosbridge

import (
	"testing"
	"time"
)

// TestLongMessagesAreReadAtAPace: some at once, then all clients together so many bytes per
// second, in equal shares, and who leaves gives its share back.
func TestLongMessagesAreReadAtAPace(t *testing.T) {
	all := &pacer{}
	now := time.Unix(100, 0)
	clients := make([]*pace, 4)
	at, sent := make([]time.Time, 4), 0
	for i := range clients {
		clients[i], at[i] = &pace{of: all}, now
	}
	for step := now; step.Before(now.Add(time.Minute)); step = step.Add(10 * time.Millisecond) {
		for i, c := range clients {
			for !at[i].After(step) {
				at[i] = step.Add(c.took(1<<20, step))
				sent += 1 << 20
			}
		}
	}
	if most, least := 4*paceBurst+61*paceAll, 50*paceAll; sent > most || sent < least {
		t.Errorf("%d bytes in a minute, want %d to %d", sent, least, most)
	}
	for _, c := range clients {
		c.leave()
	}
	fresh := &pace{of: all}
	if wait := fresh.took(paceBurst, now); wait != 0 {
		t.Errorf("the first message is waited for: %v", wait)
	}
	if wait := fresh.took(paceAll, now); wait != time.Second {
		t.Errorf("the next rests %v, want a second", wait)
	}
	fresh.leave()
	if len(all.active) != 0 {
		t.Errorf("%d shares at the end", len(all.active))
	}
}

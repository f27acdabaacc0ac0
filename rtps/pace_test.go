package rtps

import (
	"testing"
	"time"
)

// TestAFloodHasHalfACore: datagrams that come without a pause are worked on for half of the time,
// and those of a robot at 1 kHz, or of a long message, are never held up.
func TestAFloodHasHalfACore(t *testing.T) {
	run := func(every, took, length time.Duration) (worked, rested time.Duration) {
		var p pace
		began := time.Unix(1e9, 0)
		now := began
		for now.Sub(began) < length {
			now = now.Add(paceReading + took)
			worked += paceReading + took
			rest := p.spend(now, took)
			rested += rest
			now = now.Add(max(rest, every-paceReading-took))
		}
		return worked, rested
	}
	if worked, _ := run(0, 10*time.Microsecond, 10*time.Second); worked < 4500*time.Millisecond || worked > 5300*time.Millisecond {
		t.Errorf("of 10 s a flood was worked on for %v", worked)
	}
	if _, rested := run(25*time.Microsecond, 10*time.Microsecond, 10*time.Second); rested != 0 {
		t.Errorf("40,000 datagrams a second are held up for %v", rested)
	}
	if worked, _ := run(0, 10*time.Millisecond, 10*time.Second); worked < 9*time.Second {
		t.Errorf("a reader that others take the core from worked for %v of 10 s", worked)
	}
}

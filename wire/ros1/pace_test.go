package ros1

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestAPaceWaits beyond what may come at once, and ends with its context.
func TestAPaceWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := perSecond(100)
		began := time.Now()
		for range 200 + 50 { // those of two seconds at once
			if !p.wait(t.Context()) {
				t.Fatal("it does not wait")
			}
		}
		if took := time.Since(began); took < 490*time.Millisecond || took > 500*time.Millisecond {
			t.Errorf("50 beyond the burst took %v, at 100 per second", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if p.wait(ctx) {
			t.Error("it waits on")
		}
		free := perSecond(0)
		for range 1000000 {
			free.wait(t.Context())
		}
		if took := time.Since(began); took > 510*time.Millisecond {
			t.Errorf("without a bound it waits: %v", took)
		}
	})
}

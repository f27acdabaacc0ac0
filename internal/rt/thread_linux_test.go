package rt

import (
	"math"
	"testing"
)

// TestNowIsTheKernelsClock: never behind the clock that wakes sleepers, and not far before it,
// by the closest of many readings, since a busy machine may take its time for each.
func TestNowIsTheKernelsClock(t *testing.T) {
	ahead := int64(math.MaxInt64)
	for range 1000 {
		before, now := kernelNow(), Now()
		if now < before {
			t.Fatalf("now %d is %d ns behind the kernel's clock", now, before-now)
		}
		ahead = min(ahead, now-before)
	}
	if ahead > 50_000 {
		t.Errorf("now is at least %d ns before the kernel's clock", ahead)
	}
}

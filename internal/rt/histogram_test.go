package rt

import (
	"math/rand/v2"
	"testing"
)

// TestHistogramBelowCounts compares with counting, for bounds on the edges of
// bins and between them.
func TestHistogramBelowCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var h Histogram
	var all []int64
	sum := int64(0)
	for range 5000 {
		v := rng.Int64N(1 << (1 + rng.IntN(40)))
		all = append(all, v)
		sum += v
		h.Add(v)
	}
	for _, bound := range []int64{0, 1, 7, 8, 1 << 10, 9 << 7, 1 << 20, 15 << 17, 1 << 41} {
		want := uint64(0)
		for _, v := range all {
			if v < bound {
				want++
			}
		}
		if got := h.Below(bound); got != want {
			t.Errorf("below %d: %d, want %d", bound, got, want)
		}
	}
	last := uint64(0)
	for bound := int64(1); bound < 1<<41; bound += 1 + bound/3 {
		if n := h.Below(bound); n < last {
			t.Errorf("below %d: %d, and %d below less", bound, n, last)
		} else {
			last = n
		}
	}
	if h.Sum() != sum {
		t.Errorf("sum %d, want %d", h.Sum(), sum)
	}
}

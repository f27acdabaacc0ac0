package rt

import "math/bits"

// Histogram counts durations in bins that widen with the value: relative width
// one eighth, from nanoseconds to centuries, in fixed memory.
type Histogram struct {
	bins  [62 * 8]uint64
	count uint64
	sum   int64
	max   int64
}

// Add counts one duration in nanoseconds; a negative one counts as zero.
// Loop-safe.
func (h *Histogram) Add(nanos int64) {
	nanos = max(nanos, 0)
	h.bins[bin(nanos)]++
	h.count++
	h.sum += nanos
	h.max = max(h.max, nanos)
}

// bin numbers a value by its highest bit and the three bits below it.
func bin(v int64) int {
	if v < 8 {
		return int(v)
	}
	top := bits.Len64(uint64(v)) - 1 // ≥ 3
	return (top-2)*8 + int(v>>(top-3))&7
}

// lowest returns the smallest value of a bin.
func lowest(b int) int64 {
	if b < 8 {
		return int64(b)
	}
	top := b/8 + 2
	return 1<<top | int64(b%8)<<(top-3)
}

// Count returns how many durations were counted.
func (h *Histogram) Count() uint64 { return h.count }

// Max returns the largest duration, ns.
func (h *Histogram) Max() int64 { return h.max }

// Mean returns the average, ns; zero if nothing was counted.
func (h *Histogram) Mean() float64 {
	if h.count == 0 {
		return 0
	}
	return float64(h.sum) / float64(h.count)
}

// Sum returns all durations together, ns.
func (h *Histogram) Sum() int64 { return h.sum }

// Below returns how many durations were shorter than a bound, ns; exactly, if the
// bound is a power of two or eighths of one, otherwise those of the bins below it.
func (h *Histogram) Below(bound int64) (n uint64) {
	for b := range h.bins {
		if lowest(b+1) > bound {
			break
		}
		n += h.bins[b]
	}
	return n
}

// Quantile returns the upper end of the bin in which the share p of all durations
// is reached, ns, and never more than Max.
func (h *Histogram) Quantile(p float64) int64 {
	if h.count == 0 {
		return 0
	}
	want := uint64(p*float64(h.count) + 0.5)
	seen := uint64(0)
	for b, n := range h.bins {
		if seen += n; n > 0 && seen >= want {
			return min(lowest(b+1)-1, h.max)
		}
	}
	return h.max
}

package msgs

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestDurationsReadBack: nanoseconds never leave [0, 10⁹), and count upwards also where
// seconds are negative.
func TestDurationsReadBack(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 1))
	nanos := []int64{0, 1, -1, 999_999_999, 1_000_000_000, -999_999_999, -1_000_000_000, -1_000_000_001, math.MaxInt32 * nanosPerSecond}
	for range 1000 {
		nanos = append(nanos, r.Int64N(2<<40)-1<<40)
	}
	for _, n := range nanos {
		d := DurationOf(n)
		if d.Nanos() != n || d.Nanosec >= nanosPerSecond || TimeOf(n).Nanos() != n {
			t.Errorf("seed %d: %d ns is %+v, which is %d ns", seed, n, d, d.Nanos())
		}
	}
	if d := DurationOf(-1); d != (Duration{Sec: -1, Nanosec: 999_999_999}) {
		t.Errorf("-1 ns is %+v", d)
	}
}

func TestDurationsFromSecondsAreTheNearestOrSaturate(t *testing.T) {
	for s, want := range map[float64]Duration{
		0: {}, 0.25: {Nanosec: 250_000_000}, -0.25: {Sec: -1, Nanosec: 750_000_000}, 1.4e-9: {Nanosec: 1}, 0.1: {Nanosec: 100_000_000},
		1e12: {Sec: math.MaxInt32}, -1e12: {Sec: math.MinInt32}, math.Inf(1): {Sec: math.MaxInt32}, math.Inf(-1): {Sec: math.MinInt32},
	} {
		if got := DurationFromSeconds(s); got != want {
			t.Errorf("%g s is %+v, want %+v", s, got, want)
		}
	}
	if got := DurationFromSeconds(math.NaN()); got != (Duration{}) {
		t.Errorf("NaN is %+v", got)
	}
	if got := (Duration{Sec: -1, Nanosec: 750_000_000}).Seconds(); got != -0.25 {
		t.Errorf("%g s, want -0.25", got)
	}
}

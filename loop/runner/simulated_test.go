package runner

import (
	"context"
	"math"
	"testing"
	"time"

	"poise/servo"
)

// wallClock is a clock underneath: sleeping jumps, and asking for the time takes some.
type wallClock struct{ now, asking int64 }

func (c *wallClock) Now() int64          { c.now += c.asking; return c.now }
func (c *wallClock) SleepUntil(ns int64) { c.now = max(c.now, ns) }
func (c *wallClock) Stamp() int64        { return 0 }

// TestSimulatedTimeGoesAtItsRate: what a tick takes on the clock underneath is the period
// over the rate; simulated time is exact, whatever that clock does.
func TestSimulatedTimeGoesAtItsRate(t *testing.T) {
	wall := &wallClock{}
	s := NewSimulated(wall)
	if s.Now() != 0 || s.Stamp() != 0 {
		t.Errorf("it begins at %d, %d", s.Now(), s.Stamp())
	}
	at := int64(0)
	for _, rate := range []float64{1, 4, 0.25, 20} {
		if !s.SetRate(rate) {
			t.Fatalf("rate %g is refused", rate)
		}
		began := wall.now
		for range 1000 {
			at += 1e6
			if s.SleepUntil(at); s.Now() != at || s.Stamp() != at {
				t.Fatalf("it is %d, want %d", s.Now(), at)
			}
		}
		took := float64(wall.now - began)
		if math.Abs(took-1e9/rate) > 2e6 {
			t.Errorf("rate %g: a second took %g s", rate, took*1e-9)
		}
		if wanted, reached := s.Rate(); wanted != rate || rate < 2 && math.Abs(reached/rate-1) > 0.05 {
			t.Errorf("rate %g: wanted %g, reached %g", rate, wanted, reached)
		}
	}
	s.SetRate(math.Inf(1))
	began := wall.now
	for range 1000 {
		at += 1e6
		s.SleepUntil(at)
	}
	if wall.now != began || s.Now() != at {
		t.Errorf("as fast as possible: %d ns, now %d of %d", wall.now-began, s.Now(), at)
	}
	for _, bad := range []float64{0, -1, 1e-3, 1e4, math.NaN(), math.Inf(-1)} {
		if s.SetRate(bad) {
			t.Errorf("rate %g is accepted", bad)
		}
	}
}

// TestSlowMachinesMakeTimeSlow: what is lost beyond a quarter of a second is not made good.
func TestSlowMachinesMakeTimeSlow(t *testing.T) {
	wall := &wallClock{}
	s := NewSimulated(wall)
	s.SleepUntil(1e6)
	wall.now += 10e9
	s.SleepUntil(2e6)
	began := wall.now
	s.SleepUntil(102e6)
	if took := wall.now - began; took < 90e6 {
		t.Errorf("100 ms after a gap of 10 s took %d ns", took)
	}
}

// TestSimulatedTimeStandsStill: no tick while it is paused but those that are asked for,
// and none of them late.
func TestSimulatedTimeStandsStill(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	clock := NewSimulated(nil)
	clock.SetRate(math.Inf(1))
	clock.Pause()
	ticks := make(chan servo.Tick, 100)
	l, _ := newLoop(t, "one", func(_ string, x servo.Tick, _ bool) {
		select {
		case ticks <- x:
		default:
		}
	})
	r, err := New(Config{Clock: clock, Members: []Member{{Loop: l, Period: 2 * time.Millisecond}}})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	stands := func() {
		t.Helper()
		for !clock.Frozen() { // the runner comes to it
			time.Sleep(100 * time.Microsecond)
		}
	}
	stands()
	if len(ticks) != 0 || !clock.Paused() {
		t.Fatalf("%d ticks while it was paused", len(ticks))
	}
	for n := range 3 {
		if !clock.Step(2) {
			t.Fatal("no step is made")
		}
		stands()
		for k := range 2 {
			if x := <-ticks; x.N != uint64(2*n+k) || x.Stamp != int64(2*n+k+1)*2e6 || x.Time != int64(x.N)*2e6 {
				t.Errorf("tick %+v", x)
			}
		}
		if len(ticks) != 0 || clock.Now() != int64(2*n+2)*2e6 {
			t.Fatalf("%d ticks too many, it is %d", len(ticks), clock.Now())
		}
	}
	clock.Resume()
	if <-ticks; clock.Paused() || clock.Step(1) {
		t.Error("a time that goes makes single steps")
	}
	clock.Pause()
	stands()
	clock.Release() // an end does not wait for who has paused it
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	stats, _, _ := r.Stats()
	if s := &stats[0]; s.Missed != 0 || s.Overruns != 0 || s.Lateness.Max() != 0 {
		t.Errorf("%d missed, %d overruns, late by %d ns", s.Missed, s.Overruns, s.Lateness.Max())
	}
}

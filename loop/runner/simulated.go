package runner

import (
	"math"
	"sync"
	"sync/atomic"
)

// Simulated is time that a simulation makes: it begins at 0, goes at a rate of the time
// of a clock underneath, stands still, or makes single steps. In it no tick is late: when
// the machine is too slow, time goes more slowly. Methods are concurrent; the Clock's own
// belong to one runner.
type Simulated struct {
	wall Clock
	now  atomic.Int64 // ns

	mu       sync.Mutex
	changed  chan struct{} // closed at every change
	paused   bool
	steps    uint64  // that may still be made while it is paused
	rate     float64 // +Inf is as fast as possible
	released bool

	stood    atomic.Bool   // the runner waits, and goes on when it is told to
	since    [2]int64      // wall and simulated time at which the rate was set
	measured [2]int64      // and at which it was last measured; the runner's own
	reached  atomic.Uint64 // bits of the rate that was
}

// Rates of simulated time: RealTime is that of the underlying clock; others are within minRate and maxRate.
const (
	RealTime = 1.0
	minRate  = 0.01
	maxRate  = 1000
)

// How the runner waits: it looks for changes of the rate this often, and makes good what it
// lost up to this much, ns of the clock underneath.
const (
	lookEvery    = 10e6
	mostLag      = 250e6
	measureEvery = 500e6
)

// NewSimulated returns time that goes at the rate of a clock; nil is the machine's.
func NewSimulated(wall Clock) *Simulated {
	if wall == nil {
		wall = machine{}
	}
	s := &Simulated{wall: wall, changed: make(chan struct{}), rate: RealTime}
	s.since = [2]int64{wall.Now(), 0}
	s.measured = s.since
	s.reached.Store(math.Float64bits(RealTime))
	return s
}

// Now returns the simulated time, ns.
func (s *Simulated) Now() int64 { return s.now.Load() }

// Stamp returns the simulated time: messages carry it.
func (s *Simulated) Stamp() int64 { return s.now.Load() }

// Work returns a time by which the work of a tick is measured, ns: that of the clock
// underneath.
func (s *Simulated) Work() int64 { return s.wall.Now() }

// SleepUntil waits until the simulated time may be ns, and makes it so.
func (s *Simulated) SleepUntil(ns int64) {
	for ns > s.now.Load() {
		s.mu.Lock()
		paused, rate, changed, since := s.paused && !s.released, s.rate, s.changed, s.since
		if paused && s.steps > 0 {
			s.steps--
			s.now.Store(ns)
			s.mu.Unlock()
			return
		}
		s.stood.Store(paused)
		s.mu.Unlock()
		if paused {
			<-changed
			s.measured = [2]int64{s.wall.Now(), s.now.Load()}
			continue
		}
		wall := s.wall.Now()
		if math.IsInf(rate, 1) {
			s.advance(ns, wall)
			return
		}
		due := since[0] + int64(float64(ns-since[1])/rate)
		switch {
		case wall >= due:
			if wall-due > mostLag { // too slow: what is lost is not made good
				s.mu.Lock()
				s.since = [2]int64{wall, ns}
				s.mu.Unlock()
			}
			s.advance(ns, wall)
			return
		case due-wall <= lookEvery:
			s.wall.SleepUntil(due)
		default:
			s.wall.SleepUntil(wall + lookEvery)
		}
	}
}

// advance makes it a time, and measures how fast it went.
func (s *Simulated) advance(ns, wall int64) {
	if took := wall - s.measured[0]; took > measureEvery {
		s.reached.Store(math.Float64bits(float64(ns-s.measured[1]) / float64(took)))
		s.measured = [2]int64{wall, ns}
	}
	s.now.Store(ns)
}

// change is told to a runner that waits.
func (s *Simulated) change(f func()) {
	s.mu.Lock()
	f()
	s.since = [2]int64{s.wall.Now(), s.now.Load()}
	s.stood.Store(false)
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
}

// Pause lets time stand still.
func (s *Simulated) Pause() { s.change(func() { s.paused, s.steps = true, 0 }) }

// Resume continues simulated time.
func (s *Simulated) Resume() { s.change(func() { s.paused, s.steps = false, 0 }) }

// Step advances a paused time by some ticks. It reports false if it does not
// stand still.
func (s *Simulated) Step(ticks uint64) (ok bool) {
	s.change(func() {
		if ok = s.paused; ok {
			s.steps += ticks
		}
	})
	return ok
}

// SetRate sets how fast time goes: a share of the clock underneath, or +Inf for as fast
// as possible. It reports false if there is no such rate.
func (s *Simulated) SetRate(rate float64) bool {
	if !(rate >= minRate && rate <= maxRate) && !math.IsInf(rate, 1) {
		return false
	}
	s.change(func() { s.rate = rate })
	return true
}

// Rate returns how fast time is to go, and how fast it went within about the last half
// second in which it went.
func (s *Simulated) Rate() (wanted, reached float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rate, math.Float64frombits(s.reached.Load())
}

// Frozen reports whether time stands still until it is told otherwise, and no tick is under
// way.
func (s *Simulated) Frozen() bool { return s.stood.Load() }

// Paused reports whether time stands still but for single steps.
func (s *Simulated) Paused() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paused && !s.released
}

// Release continues time for good, so that goroutines that wait for it can end.
func (s *Simulated) Release() {
	s.change(func() {
		s.released = true
		if math.IsInf(s.rate, 1) || s.rate > RealTime {
			return
		}
		s.rate = RealTime
	})
}

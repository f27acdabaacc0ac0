package loop

import (
	"math"

	"poise/control"
	"poise/servo"
)

// Ticks that did not take place, because the cycle was late, are left out of the numbers:
// time is the number of a tick times the period, and goes on by itself. What the cycle plans
// for joints (hand-overs, stops, holds) goes on where it was, on a time without the gaps, so
// that nothing jumps. Motions with a clock of their own catch up: see hurry.
//
// docs/decisions/0071-missed-ticks-count.md has the reasons.

// Catching up.
const (
	mostCaughtUp   = 0.02 // s; what is missed beyond is a delay
	longestGap     = 0.1  // s; a longer gap is a stop or a pause, and nothing is caught up
	catchUpTime    = 0.1  // s, time constant
	mostHurry      = 0.25 // of the rate
	nearlyCaughtUp = 1e-4 // s, that are left as they are
)

// miss notes how many ticks before this one did not take place. Loop-safe.
func (l *Loop) miss(t servo.Tick) {
	l.input.Missed = 0
	if l.ticking && t.N > l.tick.N+1 {
		l.input.Missed = t.N - l.tick.N - 1
		l.behind += int64(l.input.Missed) * int64(math.Round(t.Dt*1e9))
	}
	l.ticking = true
}

// hurry returns how fast the clock of a motion is to go that is wanted at a rate: faster for
// a while after ticks were missed, until it is where it would have been. Its limits hold
// it back where they must.
func (s *seat) hurry(rate float64) float64 {
	gap := float64(s.l.input.Missed) * s.l.tick.Dt
	switch {
	case rate == 0 || s.stamped: // it slows down to stand, or is in time with its next value
		s.behind = 0
	case gap > 0 && gap <= longestGap:
		s.behind = min(s.behind+gap*rate, mostCaughtUp)
	}
	if s.behind == 0 {
		return rate
	}
	return min(rate+min(max(s.behind/catchUpTime, -mostHurry), mostHurry)*min(rate, 1), maxRate)
}

// caughtUp notes by how much the clock of a motion went on in a tick. What has no clock,
// or one that follows the time of ticks, is not behind: its reference may have jumped over
// the gap, and is bridged. The clock of a motion goes on at its rate, or as in the tick
// before while it speeds up or slows down.
func (s *seat) caughtUp(passed, rate float64) {
	dt := s.l.tick.Dt
	whole := float64(s.l.input.Missed+1) * dt // of one that follows the time of ticks
	jumped := passed > whole-dt/4
	if s.status != control.Done { // the last tick of a motion is as short as what is left of it
		jumped = jumped || passed == 0 && rate != 0 || min(math.Abs(passed-rate*dt), math.Abs(passed-s.passed)) > dt/2
	}
	s.ref.Cut = s.ref.Cut || s.l.input.Missed > 0 && jumped
	s.passed = passed
	if s.behind == 0 {
		return
	}
	s.behind -= passed - rate*dt
	if passed == 0 || math.Abs(s.behind) < nearlyCaughtUp {
		s.behind = 0
	}
}

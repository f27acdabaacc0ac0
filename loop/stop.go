package loop

import (
	"math"

	"poise/arbiter"
	"poise/control"
)

// stopping is a stop under way, or one that waits to be reset. Categories are
// those of IEC 60204-1: 0 takes the torque away, 1 ramps down and then takes it
// away, 2 ramps down and holds. They are modelled here, not certified.
type stopping struct {
	active   bool
	held     bool // stopped, and a separate act is needed to go on
	category uint8
	number   uint64 // of the last stop that was asked for
	began    float64
	ended    float64
	from     []float64 // where the joints were
	plain    bool      // power was ordered off: ordering it on again is act enough
	taken    bool      // category 2: motions did not slow down in time and were taken away
	watching bool      // category 2: still holds the pose that must not change
	still    []float64
}

// settleTime is how long servos may take to come to rest after their command, s.
const settleTime = 0.5

// blocks reports whether goals and power are refused until a reset.
func (s *stopping) blocks() bool { return s.active || s.held }

// ramping reports whether motions are to slow down along their paths.
func (s *stopping) ramping() bool { return s.active && s.category == 2 }

// readStop takes the stop word.
func (l *Loop) readStop() {
	word, number := l.stopLine.take()
	l.taken.Stop = word
	if word != 0 {
		l.stops.begin(l, word-1)
		l.stops.number = number
	}
}

// begin starts a stop; the more severe of two wins.
func (s *stopping) begin(l *Loop, category uint8) {
	s.plain = false
	if s.active && s.category <= category {
		return
	}
	if !s.active {
		s.began = l.now
		copy(s.from, l.command.Q)
	}
	s.active, s.watching, s.category, s.taken = true, false, category, false
	switch category {
	case 0:
		l.powered.off(l)
	case 1:
		if l.powered.state == Enabled {
			l.powered.set(l, Stopping)
		}
		l.letGo() // everything is unowned: every joint takes its shortest stop
	}
}

// powerOff ramps down and takes the torque away by order, not for a fault.
func (s *stopping) powerOff(l *Loop) {
	if !l.powered.torque() {
		return
	}
	plain := s.plain || !s.blocks()
	s.begin(l, 1)
	s.plain = plain
}

// letGo ends all goals; the holder takes over.
func (l *Loop) letGo() {
	for _, s := range l.seats {
		s.end(control.Quit, control.Because(control.Stopping))
	}
}

// update ends a stop when the robot stands still, or its deadline is over, and
// watches the standstill afterwards.
func (s *stopping) update(l *Loop) {
	if !s.active {
		s.watch(l)
		return
	}
	late := l.now-s.began > l.cfg.StopDeadline
	still := l.shaper.AtRest()
	switch s.category {
	case 0:
		s.finish(l)
	case 1:
		if still || late {
			l.powered.off(l)
			s.finish(l)
		}
	case 2:
		l.dropHandOvers()
		if late && !s.taken {
			s.taken = true // some motion did not slow down
			l.letGo()
		}
		if still && l.mayEnd() {
			l.letGo()
			s.finish(l)
		}
	}
}

// mayEnd reports whether everything that is performed can be ended where it is.
func (l *Loop) mayEnd() bool {
	for _, s := range l.seats {
		if !s.mayEnd() {
			return false
		}
	}
	return true
}

// dropHandOvers takes away motions that are still being handed over: a hand-over
// has no path to slow down on, and its shortest stop is the holder's.
func (l *Loop) dropHandOvers() {
	for _, s := range l.seats {
		if s.bridging() && s.mayEnd() {
			s.end(control.Quit, control.Because(control.Stopping))
		}
	}
}

// watch notes the pose of a standstill of category 2, once the servos have
// settled; from then on the fault monitor compares.
func (s *stopping) watch(l *Loop) {
	if l.leaving.phase == rests {
		s.watching = false // it moves on purpose
		return
	}
	if !s.held || s.category != 2 || s.watching || l.now-s.ended < settleTime {
		return
	}
	s.watching = true
	for j := range s.still {
		s.still[j] = l.reading.Joints[j].Position
	}
}

// finish reports how long the stop took and how far joints went.
func (s *stopping) finish(l *Loop) {
	way := 0.0
	for j, q := range s.from {
		way = max(way, math.Abs(l.command.Q[j]-q))
	}
	s.active, s.held, s.ended = false, !s.plain, l.now
	l.stopLine.end(s.number, s.category, l.now-s.began, way)
	l.report(Report{Kind: Stopped, Controller: arbiter.NoClient, Value: float64(s.category), Time: l.now - s.began, Way: way})
}

// reset is the separate act after a stop.
func (s *stopping) reset(l *Loop) {
	if s.active || l.leaving.phase != stays || l.faults.robot >= SeverityRampOff {
		return
	}
	s.held, s.watching = false, false
}

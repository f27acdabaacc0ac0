package loop

import (
	"math"

	"poise/control"
)

// stopping is a stop under way, or one that waits to be reset. Categories are
// those of IEC 60204-1: 0 takes the torque away, 1 ramps down and then takes it
// away, 2 ramps down and holds. They are modelled here, not certified.
type stopping struct {
	active   bool
	held     bool // stopped, and a separate act is needed to go on
	category uint8
	began    float64
	from     []float64 // where the joints were
	ramped   bool      // category 2: motions were let go after their ramp
}

// blocks reports whether goals and power are refused until a reset.
func (s *stopping) blocks() bool { return s.active || s.held }

// ramping reports whether motions are to slow down along their paths.
func (s *stopping) ramping() bool { return s.active && s.category == 2 }

// readStop takes the stop word.
func (l *Loop) readStop() {
	if word := l.stopWord.Swap(0); word != 0 {
		l.stops.begin(l, uint8(word-1))
	}
}

// begin starts a stop; the more severe of two wins.
func (s *stopping) begin(l *Loop, category uint8) {
	if s.active && s.category <= category {
		return
	}
	if s.from == nil {
		s.from = make([]float64, l.dof)
	}
	if !s.active {
		s.began = l.now
		copy(s.from, l.command.Q)
	}
	s.active, s.category, s.ramped = true, category, false
	switch category {
	case 0:
		l.powered.off(l, Ready)
	case 1:
		if l.powered.state == Enabled {
			l.powered.set(l, Stopping)
		}
		l.letGo() // nobody owns anything: every joint takes its shortest stop
	}
}

// letGo ends all goals; the holder takes over.
func (l *Loop) letGo() {
	for _, s := range l.seats {
		s.end(control.Quit, control.Because(control.Stopping))
	}
}

// update ends a stop when the robot stands still, or its deadline is over.
func (s *stopping) update(l *Loop) {
	if !s.active {
		return
	}
	late := l.now-s.began > l.cfg.StopDeadline
	still := l.atRest()
	switch s.category {
	case 0:
		s.finish(l)
	case 1:
		if still || late {
			l.powered.off(l, Ready)
			s.finish(l)
		}
	case 2:
		if late && !s.ramped {
			s.ramped = true // some motion did not slow down: take it away
			l.letGo()
		}
		if still {
			l.letGo()
			s.finish(l)
		}
	}
}

// finish reports how long the stop took and how far joints went.
func (s *stopping) finish(l *Loop) {
	way := 0.0
	for j, q := range s.from {
		way = max(way, math.Abs(l.command.Q[j]-q))
	}
	s.active, s.held = false, true
	l.report(Report{Kind: Stopped, Value: float64(s.category), Time: l.now - s.began, Way: way})
}

// reset is the separate act after a stop.
func (s *stopping) reset(*Loop) {
	if !s.active {
		s.held = false
	}
}

// atRest reports whether every joint's command stands still.
func (l *Loop) atRest() bool {
	for j := range l.state {
		if math.Abs(l.limiter.Velocity(j)) > restSpeed {
			return false
		}
	}
	return true
}

package loop

import (
	"math"
	"sync/atomic"
)

// stopLine is where the outside asks for a stop and reads what became of it: words that
// both sides read and write without a lock. Every stop that is asked for has a number.
type stopLine struct {
	asked atomic.Uint64 // number of the last one, and in the lowest eight bits 1 + category of what the cycle has not taken yet, 0 if it has taken all
	taken atomic.Uint64 // number of the last one that the cycle has taken
	over  atomic.Uint64 // number of the last one after which the robot stands, or has no torque

	// of the stop that was over last; turn is odd while they are written
	turn      atomic.Uint32
	category  atomic.Uint32
	time, way atomic.Uint64 // bits of float64
}

const (
	stopBits = 8
	stopMask = 1<<stopBits - 1
)

// StopState is what became of the stops that were asked for.
type StopState struct {
	Asked uint64 // how many there were so far: the number of the last one
	Taken uint64 // number of the last one that the cycle has taken
	Over  uint64 // number of the last one that is complete
	Tick  uint64 // the newest of the cycle

	// of the stop that was complete last
	Category uint8
	Time     float64 // s
	Way      float64 // the largest way of a joint, rad or m
}

// ask enters a stop; the more severe of two that wait wins.
func (s *stopLine) ask(category uint8) (number uint64) {
	word := uint64(min(category, 2)) + 1
	for {
		old := s.asked.Load()
		if waits := old & stopMask; waits != 0 {
			word = min(word, waits)
		}
		next := (old>>stopBits+1)<<stopBits | word
		if s.asked.CompareAndSwap(old, next) {
			return next >> stopBits
		}
	}
}

// take returns 1 + category of what was asked for since the last time, 0 if nothing was,
// and the number. Loop-safe.
func (s *stopLine) take() (word uint8, number uint64) {
	if s.asked.Load()&stopMask == 0 {
		return 0, 0
	}
	old := s.asked.And(^uint64(stopMask))
	s.taken.Store(old >> stopBits)
	return uint8(old & stopMask), old >> stopBits
}

// end tells that all stops up to a number are complete. Loop-safe.
func (s *stopLine) end(number uint64, category uint8, time, way float64) {
	s.turn.Add(1)
	s.category.Store(uint32(category))
	s.time.Store(math.Float64bits(time))
	s.way.Store(math.Float64bits(way))
	s.over.Store(number)
	s.turn.Add(1)
}

// Stop asks for a stop of category 0, 1 or 2 (IEC 60204-1). It is a word that the
// cycle reads each tick: it needs no room, takes no lock and cannot be refused. The more
// severe of two wins. It returns the number of the stop, for StopState. Concurrent.
func (l *Loop) Stop(category uint8) (number uint64) { return l.stopLine.ask(category) }

// StopState returns what became of the stops that were asked for. It takes no
// lock. Concurrent.
func (l *Loop) StopState() StopState {
	s := &l.stopLine
	for {
		turn := s.turn.Load()
		state := StopState{Over: s.over.Load(), Category: uint8(s.category.Load()),
			Time: math.Float64frombits(s.time.Load()), Way: math.Float64frombits(s.way.Load()),
			Taken: s.taken.Load(), Asked: s.asked.Load() >> stopBits, Tick: l.heard.now.Load()}
		if turn%2 == 0 && s.turn.Load() == turn {
			return state
		}
	}
}

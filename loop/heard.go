package loop

import (
	"sync/atomic"

	"poise/robot"
)

// heard is when the bus last brought a reading of each joint: words that the cycle writes and the outside reads without
// a lock.
type heard struct {
	ticks []atomic.Uint64 // [joints] 1 + the tick at whose end it came; 0: never
	now   atomic.Uint64   // the newest tick
}

// note keeps what was read in a tick, which came at the end of the one before. Loop-safe.
func (h *heard) note(l *Loop) {
	for j := range h.ticks {
		if l.reading.Joints[j].Age == 0 {
			h.ticks[j].Store(1 + h.now.Load())
		}
	}
	h.now.Store(l.tick.N)
}

// Confirmer says which servos of a robot, whose servos can be silent, have not answered. It is safe for concurrent use.
type Confirmer interface {
	// Unheard is that of the robot's Loop.
	Unheard(since uint64) robot.Set

	// Servos names the servos of joints.
	Servos(joints robot.Set) string
}

// toldLater is how many ticks after one the readings of a line are from after what servos were told in it: what comes
// with the next may be from a turn of the line that had begun before.
const toldLater = 2

// Unheard are the joints of which nothing was measured since their servos were told something in a tick: whether they do it
// is unknown. Servos that were missing from the start are left out. It takes no lock. Concurrent.
func (l *Loop) Unheard(since uint64) (silent robot.Set) {
	for j := range l.heard.ticks {
		leaf := robot.LeafID(j)
		switch at := l.heard.ticks[j].Load(); {
		case at == 0 && l.cfg.Absent.Has(leaf):
		case at < 1+since+toldLater:
			silent = silent.With(leaf)
		}
	}
	return silent
}

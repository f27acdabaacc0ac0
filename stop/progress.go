package stop

import (
	"fmt"
	"sync/atomic"
	"time"

	"poise/robot"
)

// Remote is another server, whose robots are shown here below its name.
type Remote interface {
	Name() string

	// Stops reports whether a service of that server, such as stop or NAME/stop, is the
	// stop of a robot.
	Stops(service string) bool

	// Stop asks for a stop by such a service, of all robots without one, and returns at
	// once. hops counts the servers that have passed it on, this one included.
	Stop(service string, category uint8, hops int) Progress
}

// Progress is how far the stop of one robot or remote is. Its methods wait for nothing and
// are safe for concurrent use.
type Progress interface {
	Taken() bool    // by the cycle; its servos have answered since
	Over() bool     // the robot stands; its servos have answered since
	Failed() bool   // it gets no further
	String() string // for people
}

// part is one robot, or remote, of a stop.
type part struct {
	name string
	Progress
}

// local is how far a stop of a robot of this server is.
type local struct {
	robot       Robot
	number      uint64
	category    uint8
	taken, over mark
}

// mark is when something of a stop was first seen.
type mark struct{ at atomic.Pointer[moment] }

type moment struct {
	tick uint64
	time time.Time
}

// note keeps the first tick that it is given, and returns it.
func (m *mark) note(tick uint64) *moment {
	if m.at.Load() == nil {
		m.at.CompareAndSwap(nil, &moment{tick, time.Now()})
	}
	return m.at.Load()
}

// Unconfirmed is how long a robot that stands waits for its servos to confirm it: longer than lines need that have
// missed some answers.
const Unconfirmed = time.Second

// silent are the joints whose servos have not answered since a moment, if they have to.
func (l *local) silent(since *moment) (none robot.Set) {
	if l.robot.Confirm == nil {
		return none
	}
	return l.robot.Confirm.Unheard(since.tick)
}

func (l *local) Taken() bool {
	s := l.robot.Cycle.StopState()
	return s.Taken >= l.number && l.silent(l.taken.note(s.Tick)).Empty()
}

func (l *local) Over() bool {
	s := l.robot.Cycle.StopState()
	return s.Over >= l.number && l.silent(l.over.note(s.Tick)).Empty()
}

func (l *local) Failed() bool {
	s := l.robot.Cycle.StopState()
	if s.Over < l.number {
		return false
	}
	over := l.over.note(s.Tick)
	return time.Since(over.time) > Unconfirmed && !l.silent(over).Empty()
}

// told is what became of a robot at the end of a stop of each category, as far as is known without its servos.
var told = [Mildest + 1]string{"was sent torque off", "was sent torque off", "was told to stop"}

func (l *local) String() string {
	s := l.robot.Cycle.StopState()
	switch {
	case s.Over >= l.number:
		if silent := l.silent(l.over.note(s.Tick)); !silent.Empty() {
			return fmt.Sprintf("%s, which is not confirmed by %s", told[l.category], l.robot.Confirm.Servos(silent))
		}
		return fmt.Sprintf("stands after %.3f s", s.Time)
	case s.Taken >= l.number:
		text := fmt.Sprintf("stops by category %d, and does not stand yet", l.category)
		if silent := l.silent(l.taken.note(s.Tick)); !silent.Empty() {
			text += ", which is not confirmed by " + l.robot.Confirm.Servos(silent)
		}
		return text
	}
	return fmt.Sprintf("is told to stop by category %d; its cycle has not taken it yet", l.category)
}

package stop

import "fmt"

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
	Taken() bool    // by the cycle
	Over() bool     // the robot stands
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
	cycle    Cycle
	number   uint64
	category uint8
}

func (l *local) Taken() bool  { return l.cycle.StopState().Taken >= l.number }
func (l *local) Over() bool   { return l.cycle.StopState().Over >= l.number }
func (l *local) Failed() bool { return false }

func (l *local) String() string {
	switch s := l.cycle.StopState(); {
	case s.Over >= l.number:
		return fmt.Sprintf("stands after %.3f s", s.Time)
	case s.Taken >= l.number:
		return fmt.Sprintf("stops by category %d, and does not stand yet", l.category)
	}
	return fmt.Sprintf("is told to stop by category %d; its cycle has not taken it yet", l.category)
}

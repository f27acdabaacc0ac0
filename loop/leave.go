package loop

import (
	"encoding"
	"fmt"
	"slices"

	"poise/problem"
	"poise/robot"
)

// LeaveAction is what a robot does at the end of its program.
type LeaveAction uint8

// The actions.
const (
	LeaveHold LeaveAction = iota // keeps its torque and stays where it is
	LeaveOff                     // loses its torque
	LeaveRest                    // goes to a pose in which it needs no torque, and loses it there
)

var leaveNames = [...]string{"hold", "off", "rest"}

func (a LeaveAction) String() string { return leaveNames[a] }

// MarshalText writes the name.
func (a LeaveAction) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads a name.
func (a *LeaveAction) UnmarshalText(text []byte) error {
	at := slices.Index(leaveNames[:], string(text))
	if at < 0 {
		return fmt.Errorf("loop: leaving by %q is unknown: want hold, off or rest%s", text, problem.Hint(string(text), leaveNames[:]))
	}
	*a = LeaveAction(at)
	return nil
}

var _ encoding.TextUnmarshaler = (*LeaveAction)(nil)

// Leaving is what a robot does at the end of its program, once its motions have ramped
// down. Joints without torque stay without it.
type Leaving struct {
	Do       LeaveAction
	Rest     []RestPlace // of LeaveRest
	Speed    float64     // of LeaveRest: share of the joints' limits; default 0.2
	Deadline float64     // of LeaveRest, s: then the torque goes wherever the joints are; default 10
}

// RestPlace is where a joint rests.
type RestPlace struct {
	Joint    robot.JointID
	Position float64 // rad or m
}

// Defaults of Leaving.
const (
	defaultLeaveSpeed    = 0.2
	defaultLeaveDeadline = 10.0 // s
)

// leavePhase is how far a robot is on its way out.
type leavePhase uint8

const (
	stays   leavePhase = iota
	ramps              // until its motions have stopped
	rests              // on its way to the pose
	holds              // stopped on that way: until it stands
	goesOff            // until the torque is gone
	left
)

// leaving brings a robot to the state that it is left in.
type leaving struct {
	asked bool // since the last tick
	phase leavePhase
	began float64 // of the way to the pose, s
}

// leaveBit marks a tick in which Leave was asked for, in TickRecord.Stop.
const leaveBit = 1 << 7

// Leave asks for what the robot does at the end of its program; Left tells when that is
// done. Goals and torque are refused from then on, and no reset changes that. For the thread that steps; a replay repeats it.
func (l *Loop) Leave() { l.leaving.asked = true }

// Left reports whether the robot is as it is to be left. For the thread that steps.
func (l *Loop) Left() bool { return l.leaving.phase == left }

// Leaving returns what the robot does at the end of its program.
func (l *Loop) Leaving() Leaving { return l.cfg.Leave }

// Unpowered returns the joints without torque. For the thread that steps.
func (l *Loop) Unpowered() robot.Set { return l.powered.unpowered(l) }

// update goes on with leaving, one phase at a time.
func (v *leaving) update(l *Loop) {
	if v.asked {
		v.asked = false
		l.taken.Stop |= leaveBit
		if v.phase == stays {
			v.phase = ramps
			if !l.stops.blocks() {
				l.stops.begin(l, 2)
			}
		}
	}
	switch {
	case v.phase == stays || v.phase == left:
	case !l.powered.torque():
		v.phase = left
	case v.phase == rests:
		v.goOn(l)
	case l.stops.active: // ramping down
	case v.phase == holds, v.phase == ramps && l.cfg.Leave.Do == LeaveHold:
		v.phase = left
	case v.phase == ramps && l.cfg.Leave.Do == LeaveRest:
		v.phase, v.began = rests, l.now
		l.cycles.yield(l)
		v.eachSent(l, func(j int, place float64) { l.shaper.Send(j, place) })
	default:
		v.goOff(l)
	}
}

// goOn leads the joints to the pose, until they are there or the deadline is over. A
// stop on the way ends it: of category 2 the robot then holds.
func (v *leaving) goOn(l *Loop) {
	if l.stops.active {
		v.eachSent(l, func(j int, _ float64) { l.shaper.Stay(j) })
		if v.phase = goesOff; l.stops.category == 2 {
			v.phase = holds
		}
		return
	}
	there := l.now > v.began
	v.eachSent(l, func(j int, place float64) {
		there = there && l.shaper.Arrived(j) && l.command.Q[j] == place
	})
	if late := l.now-v.began > l.cfg.Leave.Deadline; there || late {
		if !there {
			v.eachSent(l, func(j int, _ float64) { l.shaper.Stay(j) })
		}
		v.goOff(l)
	}
}

// goOff takes the torque away, after a ramp.
func (v *leaving) goOff(l *Loop) {
	v.phase = goesOff
	l.stops.begin(l, 1)
}

// eachSent visits the joints that go to their places: those with torque that no fault
// holds.
func (v *leaving) eachSent(l *Loop, visit func(j int, place float64)) {
	stay := l.powered.unpowered(l).Union(l.faults.blocked)
	for i := range l.cfg.Leave.Rest {
		if p := &l.cfg.Leave.Rest[i]; !stay.Has(robot.LeafID(p.Joint)) {
			visit(int(p.Joint), p.Position)
		}
	}
}

// share is the share of the limits that joints on their way to a place use: that of
// leaving, or all.
func (v *leaving) share(l *Loop) float64 {
	if v.phase == rests {
		return min(l.cfg.Leave.Speed, 1)
	}
	return 1
}

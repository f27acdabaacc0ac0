package loop

import (
	"math"

	"poise/arbiter"
	"poise/control"
	"poise/loop/fault"
	"poise/robot"
	"poise/servo"
)

// lateFade is how much of the count of late ticks is left after a tick on time:
// the threshold of Overrun is about ticks among the last hundred.
const lateFade = 0.99

// monitor watches for faults, and reacts. Its rows are the joints, and the robot.
type monitor struct {
	*fault.Monitor
	bus   servo.Fault
	late  uint32 // periods, told by the runner for this tick
	lates float64

	reaction
}

func (f *monitor) init(m *robot.Model, rules fault.Rules) {
	f.Monitor = fault.New(len(m.Joints())+1, rules)
	f.reaction.init(m)
}

// update judges what was read in this tick.
func (f *monitor) update(l *Loop) {
	for j := range l.reading.Joints {
		f.updateJoint(l, j)
	}
	robotRow := len(l.reading.Joints)
	note := func(k fault.Kind, value float64, c fault.Change) { f.note(l, k, robotRow, value, c) }
	if volt := l.measured.Volt; volt > 0 { // servos that do not measure it say zero
		note(fault.LowVoltage, volt, f.Below(fault.LowVoltage, robotRow, volt))
	}
	silent := f.bus&servo.BusDown != 0
	note(fault.BusSilent, float64(f.bus), f.Judge(fault.BusSilent, robotRow, silent, !silent))
	l.frame.Late = f.late
	f.lates = f.lates*lateFade + float64(f.late)
	f.late = 0
	note(fault.Overrun, f.lates, f.Above(fault.Overrun, robotRow, f.lates, true))
	f.progress(l)
}

func (f *monitor) updateJoint(l *Loop, j int) {
	torque, r := l.powered.torque(), &l.reading.Joints[j]
	note := func(k fault.Kind, value float64, c fault.Change) { f.note(l, k, j, value, c) }
	if r.Age == 0 { // what was not heard is not judged
		held := torque && l.mode[j] == servo.Position
		off := math.Abs(l.command.Q[j] - r.Position)
		note(fault.Tracking, off, f.Above(fault.Tracking, j, off, held))
		note(fault.Hot, r.Temperature, f.Above(fault.Hot, j, r.Temperature, true))
		own := r.Fault &^ (servo.NoAnswer | servo.BadPacket)
		note(fault.ServoFault, float64(own), f.Judge(fault.ServoFault, j, own != 0, own == 0))
		moved := math.Abs(r.Position - l.stops.still[j])
		note(fault.Standstill, moved, f.Above(fault.Standstill, j, moved, held && l.stops.watching))
	}
	age := float64(r.Age) * l.tick.Dt
	// a joint that was never read has no torque
	note(fault.StaleReading, age, f.Above(fault.StaleReading, j, age, torque && r.Age != servo.Never))
}

// note acts on what a judgement came to.
func (f *monitor) note(l *Loop, k fault.Kind, row int, value float64, c fault.Change) {
	switch c {
	case fault.Raised:
		rule := &f.Rules[k]
		why := control.Reason{Code: control.StoppedByFault, Joint: f.joint(row), Who: arbiter.Nobody, At: l.now, Value: value, Max: rule.Threshold}
		l.report(Report{Kind: FaultRaised, Controller: arbiter.Nobody, Fault: k, Severity: rule.Severity, Reason: why, Value: value})
		f.react(l, f.concerned(k, row), rule.Severity, disobeys(k), why)
	case fault.Cleared:
		f.cleared(l, k, row)
		f.relax(l)
	}
}

// panicked is the fault of a controller whose code failed.
func (f *monitor) panicked(l *Loop, who arbiter.ClientID) {
	f.note(l, fault.ControllerPanic, l.dof, float64(who), f.Raise(fault.ControllerPanic, l.dof))
}

func (f *monitor) cleared(l *Loop, k fault.Kind, row int) {
	l.report(Report{Kind: FaultCleared, Controller: arbiter.Nobody, Fault: k, Reason: control.Reason{Joint: f.joint(row), Who: arbiter.Nobody}})
}

// disobeys tells the faults of a joint that does not do what it is told: a limb
// with one cannot be led to a pose any more.
func disobeys(k fault.Kind) bool {
	return k == fault.Tracking || k == fault.StaleReading || k == fault.ServoFault
}

func (f *monitor) joint(row int) robot.JointID {
	if row == len(f.limbOf) {
		return robot.NoJoint
	}
	return robot.JointID(row)
}

// concerned returns the leaves that a fault is about.
func (f *monitor) concerned(k fault.Kind, row int) robot.Set {
	switch scope := f.Rules[k].Scope; {
	case row == len(f.limbOf), scope == fault.OfRobot:
		return f.whole
	case scope == fault.OfLimb:
		return f.limbs[f.limbOf[row]].set
	}
	return robot.Leaf(robot.LeafID(row))
}

// reset forgets the faults that are gone; those that are not are told as the
// reason why the reset did not do all.
func (f *monitor) reset(l *Loop, o Order) {
	f.Reset(func(k fault.Kind, row int, forgotten bool) {
		if forgotten {
			f.cleared(l, k, row)
			return
		}
		if f.Rules[k].Severity <= fault.Warn {
			return // nothing to be reset waits for it
		}
		r := refusal(o, control.Reason{Code: control.StoppedByFault, Joint: f.joint(row), Who: arbiter.Nobody, At: l.now, Max: f.Rules[k].Threshold})
		r.Fault = k
		l.report(r)
	})
	f.relax(l)
}

// relax reduces reactions to what the faults that are left ask for.
func (f *monitor) relax(l *Loop) {
	f.robot = fault.Ignore
	clear(f.wanted)
	for k, row := range f.All {
		rule := &f.Rules[k]
		concerned := f.concerned(k, row)
		if concerned == f.whole {
			f.robot = max(f.robot, rule.Severity)
		}
		for leaf := range concerned.All {
			if int(leaf) < len(f.wanted) {
				f.wanted[leaf] = max(f.wanted[leaf], rule.Severity)
			}
		}
	}
	f.lower(l)
}

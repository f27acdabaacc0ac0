package loop

import (
	"math"

	"poise/arbiter"
	"poise/control"
	"poise/robot"
	"poise/servo"
)

// lateFade is how much of the count of missed periods is left after a tick: the
// threshold of Overrun is for about the last hundred ticks, one of which can miss many.
const lateFade = 0.99

// monitor watches for faults, and reacts. Its rows are the joints, and the robot.
type monitor struct {
	latch *latches
	bus   servo.Fault
	late  uint32 // periods, told by the runner for this tick
	lates float64

	unheard float64 // s for which the inertial unit has not been heard at all

	gapPauses bool // see Settings.GapPauses

	reaction
}

func (f *monitor) init(m *robot.Model, rules FaultRules, gapPauses bool) {
	f.latch = newLatches(len(m.Joints())+1, rules)
	if gap := &f.latch.rules[CycleGap]; gapPauses && gap.Severity == SeverityHold {
		gap.Severity, f.gapPauses = SeverityWarn, true // it pauses, and holds nothing
	}
	f.reaction.init(m)
	if silent := &f.latch.rules[BusSilent]; silent.Severity == SeverityRampOff && f.allHold() {
		silent.Severity = SeveritySafe // its servos hold by themselves, and would fall when the bus is back
	}
}

// allHold reports whether every limb declares to hold as its safe state.
func (f *monitor) allHold() bool {
	for i := range f.limbs {
		if f.limbs[i].do != robot.SafeHold {
			return false
		}
	}
	return true
}

// update judges what was read in this tick.
func (f *monitor) update(l *Loop) {
	for j := range l.reading.Joints {
		f.updateJoint(l, j)
	}
	robotRow := len(l.reading.Joints)
	note := func(k FaultKind, value float64, c latchChange) { f.note(l, k, robotRow, value, c) }
	if volt := l.measured.Volt; volt > 0 { // servos that do not measure it say zero
		note(LowVoltage, volt, f.latch.below(LowVoltage, robotRow, volt))
	}
	if len(l.reading.IMU) > 0 { // of several the first is the one that is used
		seconds := float64(l.reading.IMU[0].Age) * l.tick.Dt
		if l.reading.IMU[0].Age == servo.Never { // since the cycle began
			f.unheard += l.tick.Dt
			seconds = f.unheard
		}
		note(SilentUnit, seconds, f.latch.above(SilentUnit, robotRow, seconds, true))
	}
	silent := f.bus&servo.BusDown != 0
	note(BusSilent, float64(f.bus), f.latch.judge(BusSilent, robotRow, silent, !silent))
	l.taken.Late = f.late
	f.lates = f.lates*lateFade + float64(f.late)
	gap := float64(f.late) * l.tick.Dt
	f.late = 0
	note(CycleGap, gap, f.latch.above(CycleGap, robotRow, gap, f.judgesGaps(l)))
	note(Overrun, f.lates, f.latch.above(Overrun, robotRow, f.lates, true))
	f.progress(l)
}

// judgesGaps reports whether a gap of the cycle matters: of a robot that only pauses, while
// it moves; of hardware always, since what a limp robot did meanwhile was not observed either.
func (f *monitor) judgesGaps(l *Loop) bool {
	if f.gapPauses {
		return l.powered.torque() && l.busy()
	}
	return l.powered.torque() || l.powered.state == Ready
}

func (f *monitor) updateJoint(l *Loop, j int) {
	torque, r := l.powered.torque(), &l.reading.Joints[j]
	note := func(k FaultKind, value float64, c latchChange) {
		if c != latchUnchanged {
			f.note(l, k, j, value, c)
		}
	}
	if r.Age == 0 { // what was not heard is not judged
		held := torque && l.mode[j].Powered()
		off := math.Abs(l.command.Q[j] - r.Position)
		note(TrackingError, off, f.latch.above(TrackingError, j, off, held))
		note(Overheat, r.Temperature, f.latch.above(Overheat, j, r.Temperature, true))
		own := r.Fault &^ (servo.NoAnswer | servo.BadPacket)
		note(ServoFault, float64(own), f.latch.judge(ServoFault, j, own != 0, own == 0))
		moved := math.Abs(r.Position - l.stops.still[j])
		note(StandstillMoved, moved, f.latch.above(StandstillMoved, j, moved, held && l.stops.watching))
	}
	age := float64(r.Age) * l.tick.Dt
	// a joint that was never read has no torque
	note(StaleReading, age, f.latch.above(StaleReading, j, age, torque && r.Age != servo.Never))
}

// note acts on what a judgement came to.
func (f *monitor) note(l *Loop, k FaultKind, row int, value float64, c latchChange) {
	switch c {
	case latchRaised:
		rule := &f.latch.rules[k]
		why := control.Reason{Code: control.StoppedByFault, Joint: f.joint(row), Who: arbiter.NoClient, At: l.now, Value: value, Max: rule.Threshold}
		l.report(Report{Kind: FaultRaised, Controller: arbiter.NoClient, Fault: k, Severity: rule.Severity, Reason: why, Value: value})
		if k == CycleGap && f.afterGap(l) {
			return
		}
		f.react(l, f.concerned(k, row), rule.Severity, disobeys(k), why)
	case latchCleared:
		f.cleared(l, k, row)
		f.relax(l)
	}
}

// afterGap pauses or stops a robot whose cycle stood still: what happened meanwhile
// was not observed, so nothing goes on by itself. It reports false for rules that people made
// milder or more severe.
func (f *monitor) afterGap(l *Loop) bool {
	switch {
	case f.gapPauses:
		l.rates.paused = true
	case f.latch.rules[CycleGap].Severity == SeverityHold:
		if !l.stops.blocks() { // otherwise it stands, and is watched
			l.stops.begin(l, 2)
		}
	default:
		return false
	}
	return true
}

// resumed forgets the gap that had paused the robot.
func (f *monitor) resumed(l *Loop) {
	row := len(f.limbOf)
	if f.gapPauses && f.latch.state[row][CycleGap].latched {
		f.latch.forget(CycleGap, row)
		f.cleared(l, CycleGap, row)
	}
}

// panicked is the fault of a controller whose code failed.
func (f *monitor) panicked(l *Loop, who arbiter.ClientID) {
	f.note(l, ControllerPanic, l.dof, float64(who), f.latch.raise(ControllerPanic, l.dof))
}

func (f *monitor) cleared(l *Loop, k FaultKind, row int) {
	l.report(Report{Kind: FaultCleared, Controller: arbiter.NoClient, Fault: k, Reason: control.Reason{Joint: f.joint(row), Who: arbiter.NoClient}})
}

// disobeys tells the faults of a joint that does not do what it is told: a limb
// with one cannot be led to a pose any more.
func disobeys(k FaultKind) bool {
	return k == TrackingError || k == StaleReading || k == ServoFault
}

func (f *monitor) joint(row int) robot.JointID {
	if row == len(f.limbOf) {
		return robot.NoJoint
	}
	return robot.JointID(row)
}

// concerned returns the leaves that a fault is about.
func (f *monitor) concerned(k FaultKind, row int) robot.Set {
	switch scope := f.latch.rules[k].Scope; {
	case row == len(f.limbOf), scope == ScopeRobot:
		return f.whole
	case scope == ScopeLimb:
		return f.limbs[f.limbOf[row]].set
	}
	return robot.Leaf(robot.LeafID(row))
}

// reset forgets the faults that are gone; those that are not are told as the
// reason why the reset did not do all.
func (f *monitor) reset(l *Loop, o Order) {
	f.latch.reset(func(k FaultKind, row int, forgotten bool) {
		if forgotten {
			f.cleared(l, k, row)
			return
		}
		if f.latch.rules[k].Severity <= SeverityWarn {
			return // nothing to be reset waits for it
		}
		r := refusal(o, control.Reason{Code: control.StoppedByFault, Joint: f.joint(row), Who: arbiter.NoClient, At: l.now, Max: f.latch.rules[k].Threshold})
		r.Fault = k
		l.report(r)
	})
	f.relax(l)
}

// relax reduces reactions to what the faults that are left ask for.
func (f *monitor) relax(l *Loop) {
	f.robot = SeverityIgnore
	clear(f.wanted)
	for k, row := range f.latch.all {
		rule := &f.latch.rules[k]
		if k == CycleGap && rule.Severity == SeverityHold {
			continue // its stop holds the robot
		}
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

package loop

import (
	"math"

	"poise/arbiter"
	"poise/control"
	"poise/robot"
	"poise/servo"
)

// FaultKind is what is wrong. The numbers are stable: records and wires carry
// them.
type FaultKind uint8

// The faults.
const (
	Tracking        FaultKind = 1 // a joint is too far from its command
	StaleReading    FaultKind = 2 // a joint was not heard of for too long
	Hot             FaultKind = 3
	LowVoltage      FaultKind = 4
	ServoFault      FaultKind = 5 // the servo says so itself
	BusSilent       FaultKind = 6
	Overrun         FaultKind = 7 // ticks come late too often
	ControllerPanic FaultKind = 8
	Standstill      FaultKind = 9 // a joint moved after a stop of category 2
	numFaults                 = 10
)

var faultNames = [numFaults]string{"", "tracking error", "stale reading", "hot", "low voltage", "servo fault",
	"bus silent", "overrun", "controller panic", "moved at standstill"}

func (k FaultKind) String() string { return faultNames[k] }

// Severity is what is done about a fault, from mild to severe. The most severe
// wins.
type Severity uint8

// The severities.
const (
	Ignore    Severity = iota
	Warn               // said, and nothing else
	Slow               // motions at half speed
	Hold               // ramped stop, then held
	Safe               // the safe state that the robot declares for the limb
	RampOff            // ramped stop, then no torque; of the robot: category 1
	TorqueOff          // no torque at once; of the robot: category 0
)

var severityNames = [...]string{"ignore", "warn", "slow", "hold", "safe state", "ramp down and off", "torque off"}

func (s Severity) String() string { return severityNames[s] }

// Scope is how much of the robot a fault concerns.
type Scope uint8

// The scopes.
const (
	OfJoint Scope = iota
	OfLimb        // the resource that the joint belongs to
	OfRobot
)

// Rule is when something is a fault, what it concerns, how severe it is, and when
// it is over.
type Rule struct {
	Threshold float64 // rad, s, °C, V, or a count
	Clear     float64 // the value at which it is gone; 0 is Threshold
	Debounce  int     // ticks in a row
	Scope     Scope
	Severity  Severity
	Auto      bool // forgotten as soon as it is gone; otherwise latched until a reset
}

// FaultRules are the rules by kind of fault; one with severity Ignore is off.
type FaultRules [numFaults]Rule

// DefaultFaults suits small position servos.
func DefaultFaults() (r FaultRules) {
	r[Tracking] = Rule{Threshold: 0.35, Debounce: 20, Scope: OfLimb, Severity: Hold}
	r[StaleReading] = Rule{Threshold: 0.2, Debounce: 1, Scope: OfLimb, Severity: Safe}
	r[Hot] = Rule{Threshold: 75, Clear: 65, Debounce: 50, Scope: OfLimb, Severity: Safe}
	r[LowVoltage] = Rule{Threshold: 6.5, Clear: 7, Debounce: 200, Scope: OfRobot, Severity: Safe}
	r[ServoFault] = Rule{Debounce: 5, Scope: OfLimb, Severity: Hold}
	r[BusSilent] = Rule{Debounce: 20, Scope: OfRobot, Severity: RampOff}
	r[Overrun] = Rule{Threshold: 5, Clear: 1, Scope: OfRobot, Severity: Warn, Auto: true}
	r[ControllerPanic] = Rule{Scope: OfRobot, Severity: Warn}
	r[Standstill] = Rule{Threshold: 0.1, Debounce: 5, Scope: OfRobot, Severity: RampOff}
	return r
}

// slowRate is how fast time goes while a fault asks to slow down.
const slowRate = 0.5

// lateFade is how much of the count of late ticks is left after a tick on time:
// the threshold of Overrun is about ticks among the last hundred.
const lateFade = 0.99

// monitor watches for faults, and reacts.
type monitor struct {
	rules   FaultRules
	counts  [][numFaults]int  // ticks in a row, by joint; the last row is the robot
	latched [][numFaults]bool // by joint and robot
	active  int

	bus   servo.Fault
	late  uint32 // periods, told by the runner for this tick
	lates float64

	reaction
}

func (f *monitor) init(m *robot.Model, rules FaultRules) {
	n := len(m.Joints())
	if rules == (FaultRules{}) {
		rules = DefaultFaults()
	}
	f.rules = rules
	f.counts, f.latched = make([][numFaults]int, n+1), make([][numFaults]bool, n+1)
	f.reaction.init(m)
}

// update judges what was read in this tick.
func (f *monitor) update(l *Loop) {
	torque := l.powered.torque()
	rules := &f.rules
	for j := range l.reading {
		r := &l.reading[j]
		if r.Age == 0 { // what was not heard is not judged
			off := math.Abs(l.command.Q[j] - r.Position)
			held := l.mode[j] == servo.Position
			f.above(l, Tracking, j, off, torque && held)
			f.above(l, Hot, j, r.Temperature, true)
			bad := r.Fault &^ (servo.NoAnswer | servo.BadPacket)
			f.judge(l, ServoFault, j, float64(bad), bad != 0, bad == 0)
			f.above(l, Standstill, j, math.Abs(r.Position-l.stops.still[j]), torque && held && l.stops.watching)
		}
		age := float64(r.Age) * l.tick.Dt
		if r.Age == servo.Never {
			age = 0 // a joint that was never read has no torque
		}
		f.above(l, StaleReading, j, age, torque)
	}
	row, volt := len(l.reading), l.measured.Volt
	low, clear := rules[LowVoltage].Threshold, max(rules[LowVoltage].Clear, rules[LowVoltage].Threshold)
	f.judge(l, LowVoltage, row, volt, volt > 0 && volt < low, volt == 0 || volt >= clear)
	silent := f.bus&servo.BusDown != 0
	f.judge(l, BusSilent, row, float64(f.bus), silent, !silent)
	l.frame.Late = f.late
	f.lates = f.lates*lateFade + float64(f.late)
	f.late = 0
	f.above(l, Overrun, row, f.lates, true)
	f.progress(l)
}

// above judges a value that must not exceed its threshold; where it does not
// apply there is no fault.
func (f *monitor) above(l *Loop, k FaultKind, row int, value float64, applies bool) {
	rule := &f.rules[k]
	clear := rule.Threshold
	if rule.Clear != 0 {
		clear = rule.Clear
	}
	f.judge(l, k, row, value, applies && value > rule.Threshold, !applies || value <= clear)
}

// judge counts, raises and forgets one fault. row is a joint, or the robot.
func (f *monitor) judge(l *Loop, k FaultKind, row int, value float64, bad, gone bool) {
	rule, count := &f.rules[k], &f.counts[row][k]
	switch {
	case rule.Severity == Ignore:
	case bad:
		*count++
		if *count >= max(rule.Debounce, 1) && !f.latched[row][k] {
			f.raise(l, k, row, value)
		}
	case gone:
		if *count != 0 && f.latched[row][k] && rule.Auto {
			*count = 0
			f.forget(l, k, row)
			f.relax(l)
		}
		*count = 0
	case !f.latched[row][k]:
		*count = 0 // between the two values, and never a fault
	}
}

// raise latches a fault and does what its severity asks for.
func (f *monitor) raise(l *Loop, k FaultKind, row int, value float64) {
	if f.latched[row][k] {
		return
	}
	f.latched[row][k] = true
	f.active++
	rule := &f.rules[k]
	why := control.Reason{Code: control.StoppedByFault, Joint: f.joint(row), Who: arbiter.Nobody, At: l.now, Value: value, Max: rule.Threshold}
	l.report(Report{Kind: FaultRaised, Controller: arbiter.Nobody, Fault: k, Severity: rule.Severity, Reason: why, Value: value})
	f.react(l, f.concerned(k, row), rule, disobeys(k), why)
}

// disobeys tells the faults of a joint that does not do what it is told: a limb
// with one cannot be led to a pose any more.
func disobeys(k FaultKind) bool { return k == Tracking || k == StaleReading || k == ServoFault }

func (f *monitor) joint(row int) robot.JointID {
	if row == len(f.limbOf) {
		return robot.NoJoint
	}
	return robot.JointID(row)
}

// concerned returns the leaves that a fault is about.
func (f *monitor) concerned(k FaultKind, row int) robot.Set {
	switch scope := f.rules[k].Scope; {
	case row == len(f.limbOf), scope == OfRobot:
		return f.whole
	case scope == OfLimb:
		return f.limbs[f.limbOf[row]].set
	}
	return robot.Leaf(robot.LeafID(row))
}

func (f *monitor) forget(l *Loop, k FaultKind, row int) {
	f.latched[row][k] = false
	f.active--
	l.report(Report{Kind: FaultCleared, Controller: arbiter.Nobody, Fault: k,
		Reason: control.Reason{Joint: f.joint(row), Who: arbiter.Nobody}})
}

// reset forgets the faults that are gone; those that are not are told as the
// reason why the reset did not do all.
func (f *monitor) reset(l *Loop) {
	for row := range f.latched {
		for k := FaultKind(1); k < numFaults; k++ {
			switch {
			case !f.latched[row][k]:
			case f.counts[row][k] == 0:
				f.forget(l, k, row)
			default:
				l.report(Report{Kind: OrderRefused, Controller: arbiter.Nobody, Fault: k, Reason: control.Reason{
					Code: control.StoppedByFault, Joint: f.joint(row), Who: arbiter.Nobody, At: l.now, Max: f.rules[k].Threshold}})
			}
		}
	}
	f.relax(l)
}

// relax reduces reactions to what the faults that are left ask for.
func (f *monitor) relax(l *Loop) {
	f.robot = Ignore
	clear(f.wanted)
	for row := range f.latched {
		for k := FaultKind(1); k < numFaults; k++ {
			if !f.latched[row][k] {
				continue
			}
			rule := &f.rules[k]
			if rule.Scope == OfRobot || row == len(f.limbOf) {
				f.robot = max(f.robot, rule.Severity)
			}
			for leaf := range f.concerned(k, row).All {
				if int(leaf) < len(f.wanted) {
					f.wanted[leaf] = max(f.wanted[leaf], rule.Severity)
				}
			}
		}
	}
	f.lower(l)
}

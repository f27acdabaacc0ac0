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
	Overrun         FaultKind = 7 // the cycle took too long too often
	ControllerPanic FaultKind = 8
	numFaults                 = 9
)

var faultNames = [numFaults]string{"", "tracking error", "stale reading", "hot", "low voltage", "servo fault", "bus silent", "overrun", "controller panic"}

func (k FaultKind) String() string { return faultNames[k] }

// Severity is what is done about a fault. The most severe wins.
type Severity uint8

// The severities.
const (
	Ignore    Severity = iota
	Warn               // said, and nothing else
	Slow               // motions at half speed
	StopLimb           // ramped stop of the limb, which holds
	SafeLimb           // the limb's safe state
	StopRobot          // category 1
	TorqueOff          // category 0
)

// Rule is when something is a fault, and how severe it is.
type Rule struct {
	Threshold float64 // rad, s, °C, V, or a count
	Debounce  int     // ticks in a row
	Severity  Severity
}

// FaultRules are the rules by kind of fault; one with severity Ignore is off.
type FaultRules [numFaults]Rule

// DefaultFaults suits small position servos.
func DefaultFaults() (r FaultRules) {
	r[Tracking] = Rule{Threshold: 0.35, Debounce: 20, Severity: StopLimb}
	r[StaleReading] = Rule{Threshold: 0.2, Debounce: 1, Severity: SafeLimb}
	r[Hot] = Rule{Threshold: 75, Debounce: 50, Severity: SafeLimb}
	r[LowVoltage] = Rule{Threshold: 6.5, Debounce: 200, Severity: StopRobot}
	r[ServoFault] = Rule{Debounce: 5, Severity: StopLimb}
	r[BusSilent] = Rule{Debounce: 20, Severity: StopRobot}
	r[Overrun] = Rule{Threshold: 5, Debounce: 1, Severity: Warn}
	r[ControllerPanic] = Rule{Severity: Warn}
	return r
}

// slowRate is how fast time goes while a fault asks to slow down.
const slowRate = 0.5

// monitor watches for faults. A fault is latched: it stays until it is gone and
// somebody has reset it.
type monitor struct {
	rules   FaultRules
	counts  [][numFaults]int  // ticks in a row, by joint; the last row is the robot
	latched [][numFaults]bool // by joint and robot
	limb    []robot.Set       // the leaves that stop with a joint
	safe    []robot.SafeState // and its safe state
	bus     servo.Fault
	active  int
	slow    float64
	overrun bool // told by the runner for this tick
}

func (f *monitor) init(m *robot.Model, rules FaultRules) {
	n := len(m.Joints())
	if rules == (FaultRules{}) {
		rules = DefaultFaults()
	}
	f.rules, f.slow = rules, 1
	f.counts, f.latched = make([][numFaults]int, n+1), make([][numFaults]bool, n+1)
	f.limb, f.safe = make([]robot.Set, n), make([]robot.SafeState, n)
	res, err := m.Resources()
	for j := range n {
		f.limb[j] = robot.Leaf(robot.LeafID(j))
		if err != nil {
			continue
		}
		for _, r := range res.List() {
			if r.Set.Has(robot.LeafID(j)) {
				f.limb[j] = r.Set
				f.safe[j] = m.SafeState(r.Group)
			}
		}
	}
}

// update judges what was read in this tick.
func (f *monitor) update(l *Loop) {
	torque := l.powered.state == Enabled || l.powered.state == Stopping
	for j := range l.reading {
		r := &l.reading[j]
		off := math.Abs(l.command.Q[j] - r.Position)
		fresh := r.Age == 0
		f.judge(l, Tracking, j, off, torque && fresh && off > f.rules[Tracking].Threshold && l.powered.mode(l, j) == servo.Position)
		age := float64(r.Age) * l.tick.Dt
		f.judge(l, StaleReading, j, age, torque && age > f.rules[StaleReading].Threshold)
		f.judge(l, Hot, j, r.Temperature, fresh && r.Temperature > f.rules[Hot].Threshold)
		f.judge(l, ServoFault, j, float64(r.Fault), fresh && r.Fault&^(servo.NoAnswer|servo.BadPacket) != 0)
	}
	robotRow := len(l.reading)
	f.judge(l, LowVoltage, robotRow, l.measured.Volt, torque && l.measured.Volt > 0 && l.measured.Volt < f.rules[LowVoltage].Threshold)
	f.judge(l, BusSilent, robotRow, float64(f.bus), f.bus&servo.BusDown != 0)
	f.judge(l, Overrun, robotRow, 1, f.overrun)
	f.overrun = false
}

// judge counts and raises one fault. row is a joint, or the robot.
func (f *monitor) judge(l *Loop, k FaultKind, row int, value float64, bad bool) {
	rule := &f.rules[k]
	if rule.Severity == Ignore {
		return
	}
	if !bad {
		f.counts[row][k] = 0
		return
	}
	f.counts[row][k]++
	if f.counts[row][k] >= max(rule.Debounce, 1) && !f.latched[row][k] {
		joint := robot.JointID(row)
		if row == len(l.reading) {
			joint = robot.NoJoint
		}
		f.raise(l, k, joint, value)
	}
}

// raise latches a fault and does what its severity asks for.
func (f *monitor) raise(l *Loop, k FaultKind, joint robot.JointID, value float64) {
	row := len(l.reading)
	if joint != robot.NoJoint {
		row = int(joint)
	}
	if !f.latched[row][k] {
		f.latched[row][k] = true
		f.active++
	}
	rule := &f.rules[k]
	why := control.Reason{Code: control.StoppedByFault, Joint: joint, Who: arbiter.Nobody, At: l.now, Value: value, Max: rule.Threshold}
	l.report(Report{Kind: FaultRaised, Fault: k, Reason: why, Value: value})
	switch severity := rule.Severity; {
	case severity == Slow:
		f.slow = slowRate
	case joint == robot.NoJoint && (severity == StopLimb || severity == SafeLimb), severity == StopRobot:
		l.stops.begin(l, 1)
	case severity == TorqueOff:
		l.stops.begin(l, 0)
	case severity == StopLimb:
		f.stopLimb(l, joint, why)
	case severity == SafeLimb:
		f.stopLimb(l, joint, why)
		f.makeSafe(l, joint)
	}
}

// stopLimb takes the joint's limb from whoever moves it: it stops and holds.
func (f *monitor) stopLimb(l *Loop, joint robot.JointID, why control.Reason) {
	for _, s := range l.seats {
		if s.program != nil && s.owned().Overlaps(f.limb[joint]) {
			s.end(control.Failed, why)
		}
	}
}

// makeSafe puts a limb into the state that the robot declares for it; a robot that
// does not say holds.
func (f *monitor) makeSafe(l *Loop, joint robot.JointID) {
	limb := f.limb[joint]
	switch f.safe[joint].Do {
	case robot.SafeOff, robot.SafeCrouchThenOff:
		// crouching is a motion, and a limb with a fault is not to be moved: what is
		// left of it is to let go
		l.powered.limp = l.powered.limp.Union(limb)
	case robot.SafeBrake:
		l.powered.brake = l.powered.brake.Union(limb)
	}
}

// reset forgets the faults that are gone.
func (f *monitor) reset(l *Loop) {
	for row := range f.latched {
		for k := range f.latched[row] {
			if !f.latched[row][k] || f.counts[row][k] > 0 {
				continue
			}
			f.latched[row][k] = false
			f.active--
			joint := robot.NoJoint
			if row < len(l.reading) {
				joint = robot.JointID(row)
				l.powered.limp = l.powered.limp.Minus(f.limb[joint])
				l.powered.brake = l.powered.brake.Minus(f.limb[joint])
			}
			l.report(Report{Kind: FaultCleared, Fault: FaultKind(k), Reason: control.Reason{Joint: joint, Who: arbiter.Nobody}})
		}
	}
	if f.active == 0 {
		f.slow = 1
	}
}

// Package fault decides when something is a fault, and when it is over: the rules
// of a robot, and a monitor that counts, latches and forgets. What is done about a
// fault is the business of the loop.
//
// Everything here is pure and loop-safe: no clock, no allocation after New.
package fault

// Kind is what is wrong. The numbers are stable: records and wires carry
// them.
type Kind uint8

// The faults.
const (
	Tracking        Kind = 1 // a joint is too far from its command
	StaleReading    Kind = 2 // a joint was not heard of for too long
	Hot             Kind = 3
	LowVoltage      Kind = 4
	ServoFault      Kind = 5 // the servo says so itself
	BusSilent       Kind = 6
	Overrun         Kind = 7 // ticks come late too often
	ControllerPanic Kind = 8
	Standstill      Kind = 9 // a joint moved after a stop of category 2
	NumKinds        Kind = 10
)

var kindNames = [NumKinds]string{"", "tracking error", "stale reading", "hot", "low voltage", "servo fault",
	"bus silent", "overrun", "controller panic", "moved at standstill"}

func (k Kind) String() string { return kindNames[k] }

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

// Rules are the rules by kind of fault; one with severity Ignore is off.
type Rules [NumKinds]Rule

// Defaults suits small position servos.
func Defaults() (r Rules) {
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

// Change is what a judgement came to.
type Change uint8

// The changes.
const (
	Unchanged Change = iota
	Raised
	Cleared
)

// Monitor keeps the faults of a robot by kind and row; a row is a joint, or the
// robot.
type Monitor struct {
	Rules   Rules
	counts  [][NumKinds]int  // ticks in a row
	latched [][NumKinds]bool // until reset
	active  int
}

// New returns a monitor for some rows; rules that are all zero are the defaults.
func New(rows int, rules Rules) *Monitor {
	if rules == (Rules{}) {
		rules = Defaults()
	}
	return &Monitor{Rules: rules, counts: make([][NumKinds]int, rows), latched: make([][NumKinds]bool, rows)}
}

// Active returns how many faults are latched.
func (m *Monitor) Active() int { return m.active }

// Above judges a value that must not exceed its threshold; where it does not
// apply there is no fault.
func (m *Monitor) Above(k Kind, row int, value float64, applies bool) Change {
	rule := &m.Rules[k]
	clear := rule.Threshold
	if rule.Clear != 0 {
		clear = rule.Clear
	}
	return m.Judge(k, row, applies && value > rule.Threshold, !applies || value <= clear)
}

// Below judges a value that must not fall under its threshold.
func (m *Monitor) Below(k Kind, row int, value float64) Change {
	rule := &m.Rules[k]
	return m.Judge(k, row, value < rule.Threshold, value >= max(rule.Clear, rule.Threshold))
}

// Judge counts a tick in which something is bad, or gone, or between the two.
func (m *Monitor) Judge(k Kind, row int, bad, gone bool) Change {
	rule, count, latched := &m.Rules[k], &m.counts[row][k], m.latched[row][k]
	switch {
	case rule.Severity == Ignore:
	case bad:
		*count++
		if *count >= max(rule.Debounce, 1) && !latched {
			return m.Raise(k, row)
		}
	case gone:
		*count = 0
		if latched && rule.Auto {
			m.forget(k, row)
			return Cleared
		}
	case !latched:
		*count = 0 // between the two values, and never a fault
	}
	return Unchanged
}

// Raise latches a fault at once.
func (m *Monitor) Raise(k Kind, row int) Change {
	if m.latched[row][k] || m.Rules[k].Severity == Ignore {
		return Unchanged
	}
	m.latched[row][k] = true
	m.active++
	return Raised
}

func (m *Monitor) forget(k Kind, row int) {
	m.latched[row][k] = false
	m.active--
}

// Reset forgets the faults that are gone; it yields every latched one, and whether
// it is forgotten.
func (m *Monitor) Reset(yield func(k Kind, row int, forgotten bool)) {
	for row := range m.latched {
		for k := Kind(1); k < NumKinds; k++ {
			if !m.latched[row][k] {
				continue
			}
			gone := m.counts[row][k] == 0
			if gone {
				m.forget(k, row)
			}
			yield(k, row, gone)
		}
	}
}

// All yields the latched faults.
func (m *Monitor) All(yield func(k Kind, row int) bool) {
	for row := range m.latched {
		for k := Kind(1); k < NumKinds; k++ {
			if m.latched[row][k] && !yield(k, row) {
				return
			}
		}
	}
}

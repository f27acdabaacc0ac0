package loop

// FaultKind is what is wrong. The numbers are stable: records and wires carry
// them.
type FaultKind uint8

// The faults.
const (
	TrackingError   FaultKind = 1 // a joint is too far from its command
	StaleReading    FaultKind = 2 // a joint was not heard of for too long
	Overheat        FaultKind = 3
	LowVoltage      FaultKind = 4
	ServoFault      FaultKind = 5 // the servo says so itself
	BusSilent       FaultKind = 6
	Overrun         FaultKind = 7 // ticks come late too often
	ControllerPanic FaultKind = 8
	StandstillMoved FaultKind = 9  // a joint moved after a stop of category 2
	CycleGap        FaultKind = 10 // the cycle stood still for too long
	SilentUnit      FaultKind = 11 // an inertial unit was not heard of for too long
	Fallen          FaultKind = 12 // a robot that a controller had on its feet lies
	NumFaultKinds   FaultKind = 13
)

var faultNames = [NumFaultKinds]string{"", "tracking error", "stale reading", "hot", "low voltage", "servo fault",
	"bus silent", "overrun", "controller panic", "moved at standstill", "cycle gap", "inertial unit silent", "fallen"}

func (k FaultKind) String() string { return faultNames[k] }

// Severity is what is done about a fault, from mild to severe. The most severe
// wins.
type Severity uint8

// The severities.
const (
	SeverityIgnore    Severity = iota
	SeverityWarn               // said, and nothing else
	SeveritySlow               // motions at half speed
	SeverityHold               // ramped stop, then held
	SeveritySafe               // the safe state that the robot declares for the limb
	SeverityRampOff            // ramped stop, then no torque; of the robot: category 1
	SeverityTorqueOff          // no torque at once; of the robot: category 0
)

var severityNames = [...]string{"ignore", "warn", "slow", "hold", "safe state", "ramp down and off", "torque off"}

func (s Severity) String() string { return severityNames[s] }

// FaultScope is how much of the robot a fault concerns.
type FaultScope uint8

// The scopes.
const (
	ScopeJoint FaultScope = iota
	ScopeLimb             // the resource that the joint belongs to
	ScopeRobot
)

// FaultRule is when something is a fault, what it concerns, how severe it is, and
// when it is over.
type FaultRule struct {
	Threshold float64 // rad, s, °C, V, or a count
	Clear     float64 // the value at which it is gone; 0 is Threshold
	Debounce  int     // ticks in a row
	Scope     FaultScope
	Severity  Severity
	Auto      bool // forgotten as soon as it is gone; otherwise latched until a reset
}

// FaultRules are the rules by kind of fault; one with SeverityIgnore is off.
type FaultRules [NumFaultKinds]FaultRule

// DefaultFaultRules suits small position servos.
func DefaultFaultRules() (r FaultRules) {
	r[TrackingError] = FaultRule{Threshold: 0.35, Debounce: 20, Scope: ScopeLimb, Severity: SeverityHold}
	r[StaleReading] = FaultRule{Threshold: 0.2, Debounce: 3, Scope: ScopeLimb, Severity: SeveritySafe} // at 56 ms 0.2 s are four answers: of one in twenty lost, some minute has them
	r[Overheat] = FaultRule{Threshold: 75, Clear: 65, Debounce: 50, Scope: ScopeLimb, Severity: SeveritySafe}
	r[LowVoltage] = FaultRule{Threshold: 6.5, Clear: 7, Debounce: 200, Scope: ScopeRobot, Severity: SeveritySafe}
	r[ServoFault] = FaultRule{Debounce: 5, Scope: ScopeLimb, Severity: SeverityHold}
	r[BusSilent] = FaultRule{Debounce: 20, Scope: ScopeRobot, Severity: SeverityRampOff}
	r[Overrun] = FaultRule{Threshold: 5, Clear: 1, Scope: ScopeRobot, Severity: SeverityWarn, Auto: true}
	r[ControllerPanic] = FaultRule{Scope: ScopeRobot, Severity: SeverityWarn}
	r[StandstillMoved] = FaultRule{Threshold: 0.1, Debounce: 5, Scope: ScopeRobot, Severity: SeverityRampOff}
	r[CycleGap] = FaultRule{Threshold: 0.1, Scope: ScopeRobot, Severity: SeverityHold}
	r[SilentUnit] = FaultRule{Threshold: 0.5, Scope: ScopeRobot, Severity: SeverityWarn, Auto: true} // some measure ten times a second
	r[Fallen] = FaultRule{Scope: ScopeRobot, Severity: SeveritySafe}                                 // by how much is for the controller to say
	return r
}

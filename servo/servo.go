package servo

import "math"

// Tick is one turn of the cycle. Time is N times the period exactly; Stamp is
// the time of day, for messages only and never for maths.
type Tick struct {
	N     uint64
	Time  int64   // ns since the cycle began
	Dt    float64 // period, s
	Stamp int64   // ns since the epoch
}

// Mode is what a servo does with its motor.
type Mode uint8

// The modes.
const (
	Off      Mode = iota // no torque: the joint is free
	Position             // goes to the target and holds it
	Brake                // motor shorted: resists, without holding
)

var modeNames = [...]string{"off", "position", "brake"}

func (m Mode) String() string { return modeNames[m] }

// Setpoint is what a servo is told.
type Setpoint struct {
	Target    float64 // rad or m
	PlayTime  float64 // time to get there, s
	Stiffness float64 // share of the servo's full stiffness, 0 … 1
	Mode      Mode
}

// Reading is what a servo says of itself.
type Reading struct {
	Position, Velocity float64 // rad or m, and per s; an angle without limits counts its turns as targets do
	Effort             float64 // N·m or N
	Voltage            float64 // V
	Temperature        float64 // °C
	Age                uint32  // ticks since it was measured; Never if it was not
	Fault              Fault
}

// Never is the age of a reading that never was.
const Never = math.MaxUint32

// Fault is what is wrong with a servo or its bus, one bit each. The numbers are
// stable: records and wires carry them.
type Fault uint16

// The faults that servos and buses report.
const (
	NoAnswer        Fault = 1 << iota // asked, and silent this tick
	BadPacket                         // answered, and not understood
	OverTemperature                   // by the servo's own judgement
	OverVoltage
	UnderVoltage
	Overload    // more torque than it can give for long
	OutOfRange  // target beyond what it can turn
	SensorFault // position not to be trusted
	BusDown     // the whole bus is silent
)

var faultNames = [...]string{
	"no answer", "bad packet", "over temperature", "over voltage", "under voltage",
	"overload", "out of range", "sensor fault", "bus down",
}

// All yields the names of the faults that are set, in order of their bits.
func (f Fault) All(yield func(name string) bool) {
	for i, name := range faultNames {
		if f>>i&1 != 0 && !yield(name) {
			return
		}
	}
}

// Bus exchanges setpoints for readings of all joints of a robot, in array order.
// It never blocks: dst is filled with what is known, src goes out as soon as it
// can. The return value is what is wrong with the bus as a whole. Loop-safe.
type Bus interface {
	Exchange(t Tick, dst []Reading, src []Setpoint) Fault
}

// Placer is a Bus whose joints can be put somewhere at once: a virtual robot.
// Place is called between exchanges, by whoever exchanges. Loop-safe.
type Placer interface {
	Bus
	Place(joints []int, positions []float64)
}

// Lead makes up for the time that a setpoint takes: the target is where the joint
// is to be a lead later, and the servo is given the period and the lead to get
// there. A packet that is lost then costs a little lead, not a halt.
type Lead struct {
	Time float64 // s, ≥ 0
}

// Invert returns the setpoint for a joint commanded to be at q with velocity v at
// the end of a period dt. Loop-safe.
func (l Lead) Invert(q, v, dt float64) Setpoint {
	return Setpoint{Target: q + v*l.Time, PlayTime: dt + l.Time, Stiffness: 1, Mode: Position}
}

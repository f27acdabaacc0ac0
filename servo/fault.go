package servo

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
	BadMode     // told a mode that it does not have
	Restarted   // lost its torque by itself: it started anew, or protects itself
	Unpowered   // had no torque when its line came back: it gets it again soon, unless it is told off
)

var faultNames = [...]string{
	"no answer", "bad packet", "over temperature", "over voltage", "under voltage",
	"overload", "out of range", "sensor fault", "bus down", "bad mode", "restarted", "unpowered",
}

// AllFaults has every fault set.
const AllFaults Fault = 1<<len(faultNames) - 1

// FaultNamed returns the fault of a name.
func FaultNamed(name string) (Fault, bool) {
	for i, known := range faultNames {
		if known == name {
			return 1 << i, true
		}
	}
	return 0, false
}

// All yields the names of the faults that are set, in order of their bits.
func (f Fault) All(yield func(name string) bool) {
	for i, name := range faultNames {
		if f>>i&1 != 0 && !yield(name) {
			return
		}
	}
}

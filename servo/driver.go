package servo

import "context"

// Driver is a Bus with a life: it is opened before the first exchange and closed after
// the last.
//
//	constructed ──Open──▶ (Calibrate) ──▶ Exchange … Exchange ──Close──▶ closed, may be opened again
//
// Open, Calibrate and Close may take their time and are never called while another of
// them or an Exchange runs. A constructor touches no hardware. Package servo/servotest
// holds every driver to this contract.
type Driver interface {
	Bus

	// Capabilities says what the machine is and can do. It does not change.
	Capabilities() Capabilities

	// Open finds the machine and connects to it. It moves nothing and switches
	// no torque. An error names the part that failed and leaves the driver closed. To
	// open an open driver does nothing.
	Open(ctx context.Context) error

	// Close sends the last setpoints, closes the connection and ends everything that Open began. Servos stay as
	// they were last told. To close a closed driver does nothing. An Exchange with a closed driver moves nothing,
	// lets readings grow older and reports BusDown.
	Close() error
}

// Capabilities says what a machine is and can do. Drivers that can do more say so by
// their methods: see Placer, HandPoser, Calibrator, Rester, Paced, Adopter,
// Surveyor, Releaser and Bounded.
type Capabilities struct {
	Simulated bool    // nothing real moves, so it may have torque from the start
	Exact     bool    // joints are where they are told to be: the command is their position
	Torque    bool    // torque can be switched off and on
	Modes     Modes   // that it obeys, or some of its joints; a setpoint of another mode changes nothing and is reported as BadMode, one that is not finite changes nothing
	Sensors   Sensors // besides the joints
	Models    bool    // its servos behave as the robot's servo models say
	Stiffness bool    // it heeds Setpoint.Stiffness; otherwise servos keep their gain
	Lead      float64 // periods until a setpoint acts: so far ahead servos are told where to be, unless the configuration says otherwise
}

// Placer is a Bus whose joints can be put somewhere at once.
// Place is called between exchanges, by the goroutine that exchanges. Loop-safe.
type Placer interface {
	Bus
	Place(joints []int, positions []float64)
}

// HandPoser is a Bus whose joints a program can move as a person's hand would.
type HandPoser interface {
	Bus

	// PoseByHand moves a joint that has no torque, in the next exchange. It reports false
	// if the joint has torque, the position is not finite, or too many moves wait
	// already. Concurrent.
	PoseByHand(joint int, position float64) bool
}

// Calibrator is a Driver that has to find something out before it can be used, such as
// the zero of an encoder or the bias of a gyroscope.
type Calibrator interface {
	Driver

	// Calibrate is called after each Open, before the first Exchange. It ends early when
	// ctx does.
	Calibrate(ctx context.Context) error
}

// Rester is a Driver whose servos another process can bring to rest when this one is dead:
// by writing bytes to a duplicate of a descriptor of its bus.
type Rester interface {
	Driver

	// Rest returns what has to be written. It is called once after Open and Calibrate; the
	// descriptors stay open until Close.
	Rest() []RestWrite
}

// RestWrite is one write that helps to bring servos to rest. It may follow half of another
// packet, since a process can be killed at any instant: its bytes begin with some that end
// one, or it is written several times.
type RestWrite struct {
	Descriptor uintptr // of the bus
	Bytes      []byte
	Times      int // that it is written; 0 is once
}

// Paced is a Driver whose machine has a rhythm of its own.
type Paced interface {
	Driver

	// Rhythm returns the shortest period at which all servos are told and heard of in each,
	// s. It may be called before Open; an error is one that Open would have, too.
	Rhythm() (float64, error)
}

// Adopter is a Driver that may find servos with torque. It leaves them holding, though they
// are told Off, until they are told something else: then Off is off.
type Adopter interface {
	Driver

	// Holding lists the joints whose servos had torque when Open found them.
	Holding() []int

	// Missing lists the joints whose servos were not found, if the robot may be used without
	// them, and says of each what is wrong.
	Missing() (joints []int, why []string)
}

// Surveyor is a Driver that says what Open found.
type Surveyor interface {
	Driver

	// Found lists the servos that answered: joint, id, model, firmware.
	Found() []string

	// Beyond names those that stand beyond their limits, and by how much.
	Beyond() []string
}

// Releaser is a Driver whose servos tell whether their torque is gone. Its Close switches off what was told Off last.
type Releaser interface {
	Driver

	// Unconfirmed names, after Close, the servos that were told Off last and have not confirmed that their torque is
	// gone, or hold because they were found so and were never told anything else.
	Unconfirmed() []string

	// Servo says which servo a joint has, after Open: "servo 1 on line arm"; "" if it has none.
	Servo(joint int) string
}

// Bounded is a Driver whose joints get torque only where they can be told to stay: elsewhere they would move by
// themselves.
type Bounded interface {
	Driver

	// Within returns where joints can have torque, after Open.
	Within() []Within
}

// StandingSlack is how far a joint may stand beyond its limits and still get torque, rad: play and resolution explain it.
const StandingSlack = 0.02

// Within is where a joint can have torque, rad. Nowhere, if Low is above High.
type Within struct {
	Joint     int
	Low, High float64
}

// Modes is a set of modes.
type Modes uint8

// AllModes has every mode.
const AllModes Modes = 1<<NumModes - 1

// ModesOf returns the set of some modes.
func ModesOf(modes ...Mode) (s Modes) {
	for _, m := range modes {
		s |= 1 << m
	}
	return s
}

// Has reports whether a mode is in the set.
func (s Modes) Has(m Mode) bool { return m < NumModes && s>>m&1 != 0 }

// All yields the modes of the set in their order.
func (s Modes) All(yield func(Mode) bool) {
	for m := range NumModes {
		if s.Has(m) && !yield(m) {
			return
		}
	}
}

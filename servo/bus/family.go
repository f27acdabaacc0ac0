package bus

import (
	"fmt"
	"time"

	"poise/servo"
)

// Family is a make of servos: how they are spoken to, and what models there are.
type Family interface {
	Name() string // herkulex, dynamixel or feetech
	Bauds() []int // that servos can be set to, that of the factory first
	Models() []Model
	LastID() int // 0 is the first

	// BaudCode returns what the register baud holds for a rate.
	BaudCode(baud int) (code int64, ok bool)

	// Split cuts the first packet off what has arrived: used bytes are done with, and ok says
	// whether they end in a packet. Nothing used means that more has to arrive.
	Split(data []byte) (p Packet, used int, ok bool)

	// Talk returns the Talker for servos of the family on a line.
	Talk(l *Line) Talker
}

// Searcher is a Family whose servos answer one question to all of them.
type Searcher interface {
	Family
	Complete() bool // all models do
}

// Moder is a Family whose servos stop by themselves when no packets come, so that some obey other modes than position.
type Moder interface {
	Family

	// Modes returns the powered modes of a servo by its model and the operating mode that robot.yaml declares; −1 if it declares no mode.
	Modes(m *Model, operating int) servo.Modes
}

// Packet is what arrived in one piece. Its bytes are good until more are received.
type Packet struct {
	ID     int
	Reply  bool   // not the request of someone
	Kind   byte   // of a HerkuleX reply: which request it answers
	Status uint16 // error bits; of HerkuleX the detail is the high byte
	Data   []byte
	Raw    []byte
}

// Model is a kind of servo.
type Model struct {
	Name      string // as in robot.yaml, such as xm430-w350
	Number    int    // by which it identifies itself
	Family    string
	Step      float64 // rad of a step of its position
	Low, High int32   // steps that it can be told to go to
	Centre    int32   // step in the middle
	Effort    float64 // N·m for a unit of what it says of its effort
	EffortOf  string  // what that is: current, load or pwm
	Registers []Register
	Baud      int    // of the factory, if it is not that of the family
	Variant   string // of the family: which protocol or table it has
}

// Register is a value in a servo's control table.
type Register struct {
	Name     string
	Address  int
	Size     int // bytes
	Sign     Sign
	Saved    bool // in EEPROM: kept without power, worn out by 10⁵ writes
	Shadow   bool // of those: written while the table is locked it holds until power is gone, and wears nothing
	ReadOnly bool
	Moves    bool   // writing it can move the servo or switch its torque on
	Shifts   bool   // writing it can move a servo that has torque: what its goal means, or how far it may turn
	Unit     string // of one step, for people
}

// Sign is how a register shows numbers below zero.
type Sign uint8

// The signs: the number of a sign bit stands for sign and magnitude.
const (
	Unsigned Sign = 0
	Twos     Sign = 255
)

// Value turns bits into a number.
func (r *Register) Value(bits uint64) int64 {
	switch {
	case r.Sign == Unsigned:
		return int64(bits)
	case r.Sign == Twos:
		shift := 64 - 8*r.Size
		return int64(bits<<shift) >> shift
	case bits>>r.Sign&1 != 0:
		return -int64(bits &^ (1 << r.Sign))
	}
	return int64(bits)
}

// Bits turns a number into bits; the error says what the register holds.
func (r *Register) Bits(v int64) (uint64, error) {
	var low, high int64
	switch {
	case r.Sign == Unsigned:
		low, high = 0, 1<<(8*r.Size)-1
	case r.Sign == Twos:
		low, high = -1<<(8*r.Size-1), 1<<(8*r.Size-1)-1
	default:
		high = 1<<r.Sign - 1
		low = -high
	}
	if v < low || v > high {
		return 0, fmt.Errorf("register %s holds %d … %d, not %d", r.Name, low, high, v)
	}
	switch {
	case r.Sign == Unsigned || v >= 0:
		return uint64(v), nil
	case r.Sign == Twos:
		return uint64(v) & (1<<(8*r.Size) - 1), nil
	}
	return uint64(-v) | 1<<r.Sign, nil
}

// Register finds one by its name.
func (m *Model) Register(name string) (*Register, bool) {
	for i := range m.Registers {
		if m.Registers[i].Name == name {
			return &m.Registers[i], true
		}
	}
	return nil, false
}

// Identity is the identity that a servo reports.
type Identity struct {
	ID       int
	Number   int // of its model
	Firmware string
}

// Goal is what a servo is to do. Velocity and effort are those of its own shaft.
type Goal struct {
	Servo    *Servo
	Mode     servo.Mode // Position unless the servo has others
	Position int32      // steps
	Velocity float64    // rad/s; of Position how fast the goal moves
	Effort   float64    // N·m
	PlayTime float64    // s
	Low      int32      // steps that it is to stay between
	High     int32
	Still    bool // nothing is known of it, or the cycle says nothing: it is to stop, whatever its mode
}

// State is what a servo says each cycle. Velocity and effort are those of its own shaft.
type State struct {
	Position    int32
	Velocity    float64 // rad/s
	Effort      float64 // N·m
	Voltage     float64 // V; 0 is unknown
	Temperature float64 // °C; 0 is unknown
	Fault       servo.Fault
	Torque      Torque
}

// Torque is whether a servo has any, as far as it has said.
type Torque uint8

// What is known of it.
const (
	TorqueUnknown Torque = iota
	TorqueOff
	TorqueOn
)

// Servo is a servo on a line, as its Talker sees it.
type Servo struct {
	ID    int
	Model *Model

	State   State
	Heard   bool // by the last States: State is new
	Low     int32
	High    int32       // limits of its own, by its registers
	Turn    int32       // steps of a turn, if its position counts turns, which it forgets without power; else 0
	Set     any         // what the Talker found in its registers
	Mid     float64     // V in the middle of what it allows: above it a voltage error is too much
	Modes   servo.Modes // powered ones, by its model and the registers that robot.yaml declares
	Variant bool        // read another piece of memory than last time, so that a late answer differs
}

// ServoOf finds a servo by its id.
func ServoOf(servos []*Servo, id int) *Servo {
	for _, s := range servos {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// FactoryBaud returns the rate that new servos of a model have.
func FactoryBaud(f Family, m *Model) int {
	if m.Baud != 0 {
		return m.Baud
	}
	return f.Bauds()[0]
}

// VoltageFault says which way a voltage is wrong.
func (s *Servo) VoltageFault() servo.Fault {
	if s.State.Voltage > s.Mid {
		return servo.OverVoltage
	}
	return servo.UnderVoltage
}

// Talker speaks with servos of one family on one line. Errors say what went wrong; ErrSilent
// is silence. Its methods are for one goroutine.
type Talker interface {
	// Ping asks whether a servo is there, and what it is.
	Ping(id int) (Identity, error)

	// Search finds servos by one question to all, if the family is a Searcher.
	Search() (ids []int, err error)

	// Read and Write access a register of a servo. Write checks what the servo answers.
	Read(id int, m *Model, r *Register) (int64, error)
	Write(id int, m *Model, r *Register, v int64) error

	// Prepare reads what has to be known of a servo before it is used, and sets what must be
	// set and is forgotten without power. It says what makes a servo unusable.
	Prepare(s *Servo) error

	// States asks servos for their state, in one question where the family has one.
	States(servos []*Servo) error

	// Slow asks one servo for what does not change every cycle.
	Slow(s *Servo) error

	// Goals tells servos that have torque where to go, in one packet.
	Goals(goals []Goal) error

	// SwitchOn gives a servo torque at its present position, which State has.
	SwitchOn(s *Servo) error

	// Release takes the torque of servos, in as few packets as there can be. Nothing is
	// waited for: States and Slow show whether it is gone.
	Release(servos []*Servo) error

	// Brake shorts the motor; families without one say so with ErrNoBrake.
	Brake(s *Servo) error

	// Rest returns the bytes that let servos stop where they are though no program sends any
	// more; nil where they hold their last goal by themselves.
	Rest(servos []*Servo) []byte

	// CycleBytes returns how many bytes a cycle has for so many servos, and in how many
	// answers a wait for the servo or for the host is.
	CycleBytes(servos int) (bytes, servoWaits, hostWaits int)

	// ReplyDelay is how long a servo waits before it answers.
	ReplyDelay() time.Duration
}

// Leaver is a Talker whose servos have to be told that no more packets come, and that this is
// in order.
type Leaver interface {
	Leave(servos []*Servo) error
}

// Watchdog is a Talker whose servos stop by themselves after they have heard nothing for a while, and obey no goal from then on.
type Watchdog interface {
	Tripped(s *Servo) (bool, error)
}

// ModelNamed finds a model by its name in robot.yaml.
func ModelNamed(families []Family, name string) (Family, *Model, bool) {
	for _, f := range families {
		for i, m := range f.Models() {
			if m.Name == name {
				return f, &f.Models()[i], true
			}
		}
	}
	return nil, nil, false
}

// ModelNumbered finds a model of a family by the number it says.
func ModelNumbered(f Family, number int) (*Model, bool) {
	for i, m := range f.Models() {
		if m.Number == number {
			return &f.Models()[i], true
		}
	}
	return nil, false
}

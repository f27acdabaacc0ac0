package emulator

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"time"

	"poise/robot"
	"poise/servo"
	"poise/servo/bus"
)

// Event is something that happened to a servo.
type Event struct {
	Time  float64 `json:"time"` // s since the emulator began
	Joint string  `json:"joint"`
	ID    int     `json:"id"`
	What  string  `json:"event"` // torque on, torque off, goal, reboot, watchdog, saved, violation
	Text  string  `json:"text,omitempty"`
	Goal  float64 `json:"goal"`     // rad of the joint
	At    float64 `json:"position"` // rad
}

// Violation is the event of a request that moves what is to be free, or lets it jump.
const Violation = "violation"

// Config makes an Emulator.
type Config struct {
	Model    *robot.Model
	World    World
	Families []bus.Family
	Assign   func(joint int) robot.Servo // which servo a joint has; nil is by robot.yaml
	On       bool                        // servos begin with torque, holding where they are
	Bare     bool                        // the robot may have no servos: only its inertial unit is emulated
	Baud     int                         // that servos listen to; 0 is the factory's
	Log      func(Event)                 // may be nil; called by the goroutine that speaks with the servos
}

// Emulator is the servos of a robot, on all its lines.
type Emulator struct {
	cfg   Config
	began time.Time

	mu     sync.Mutex
	last   time.Time // until when the world has advanced
	servos []*Servo
}

// New returns the servos of a robot, limp unless the configuration says otherwise.
func New(c Config) (*Emulator, error) {
	e := &Emulator{cfg: c, began: time.Now(), last: time.Now()}
	if c.Assign == nil {
		c.Assign = func(joint int) robot.Servo { return c.Model.Servo(robot.JointID(joint)) }
	}
	for i, j := range c.Model.Joints() {
		a := c.Assign(i)
		if !a.Assigned {
			continue
		}
		family, model, ok := bus.ModelNamed(c.Families, a.Type)
		if !ok {
			return nil, fmt.Errorf("joint %q: no servo of type %q is known", j.Name, a.Type)
		}
		s := &Servo{Joint: j.Name, Line: a.Bus, Model: model, e: e, index: i, scale: bus.ScaleOf(a, model)}
		s.make(family, a.ID)
		e.servos = append(e.servos, s)
		if c.On {
			s.torque(servo.Position)
			s.aim(s.present(), 0)
		}
	}
	if len(e.servos) == 0 && !c.Bare {
		return nil, fmt.Errorf("robot %q has no servos: robot.yaml names them", c.Model.Name())
	}
	return e, nil
}

// Servo returns the servo of a joint, nil if it has none.
func (e *Emulator) Servo(joint string) *Servo {
	for _, s := range e.servos {
		if s.Joint == joint {
			return s
		}
	}
	return nil
}

// Servos returns all of them. Their methods may be called while lines are served.
func (e *Emulator) Servos() []*Servo { return e.servos }

// Lines lists the names of the lines, in the order of the joints.
func (e *Emulator) Lines() (names []string) {
	seen := map[string]bool{}
	for _, s := range e.servos {
		if !seen[s.Line] {
			seen[s.Line] = true
			names = append(names, s.Line)
		}
	}
	return names
}

// With calls f while no line speaks with the servos and the world is up to date.
func (e *Emulator) With(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.advance()
	f()
}

// advance lets the world catch up with the clock.
func (e *Emulator) advance() {
	now := time.Now()
	for _, s := range e.servos {
		s.watch(now)
	}
	passed := now.Sub(e.last)
	if passed < finest {
		return
	}
	e.last = now
	e.cfg.World.Advance(passed.Seconds())
}

// finest is the shortest time that the world advances by: answers do not wait for physics.
const finest = 2 * time.Millisecond

// Servo is one emulated servo.
type Servo struct {
	ID    int
	Joint string
	Line  string
	Model *bus.Model
	Baud  int // that it listens to

	e      *Emulator
	family bus.Family
	index  int
	scale  bus.Scale
	ram    [256]byte // the control table; of HerkuleX what lies in RAM
	eep    [256]byte // of HerkuleX what lies in EEPROM
	mode   servo.Mode
	goal   int32
	status uint16 // error bits
	dead   bool
	armed  time.Time // when the watchdog was last fed; zero if it is off
	trip   bool      // it has tripped
	ready  time.Time // after a reboot
	hand   hand
	lost   int32 // steps of whole turns that it has forgotten
}

// present returns the reading of its position: within a turn, unless it counts turns.
func (s *Servo) present() int32 {
	at := s.counted()
	if turn := s.turn(); turn > 0 && !s.counts() {
		at = (at%turn + turn) % turn
	}
	return at
}

// counted returns the reading that it would have if it counted turns.
func (s *Servo) counted() int32 {
	return s.scale.Steps(s.e.cfg.World.Read(s.index).Position) + s.shift() - s.lost
}

// position returns where its joint is at a goal, rad.
func (s *Servo) position(goal int32) float64 {
	return s.scale.Position(goal + s.counted() - s.present() - s.shift() + s.lost)
}

// turn is how many steps a turn of its encoder has; 0 if it cannot pass the end of it.
func (s *Servo) turn() int32 {
	if s.Model.Family == herkulexName || s.big() || s.old() {
		return 0
	}
	return 4096
}

// counts reports whether its position counts turns.
func (s *Servo) counts() bool {
	if s.Model.Family == dynamixelName {
		return s.ram[11] == dxlVelocity || s.ram[11] == 4 || s.ram[11] == dxlCurrentPosition
	}
	return s.ram[18]&0x10 != 0
}

// shift is what its homing offset adds to a reading.
func (s *Servo) shift() int32 {
	switch {
	case s.Model.Family == herkulexName:
		return -int32(int8(s.ram[47]))
	case s.old():
		return 0
	case s.Model.Family == dynamixelName:
		return int32(binary.LittleEndian.Uint32(s.ram[20:]))
	case s.big():
		return 0
	}
	offset := int32(s.word(31))
	if offset&(1<<11) != 0 {
		offset = -(offset &^ (1 << 11))
	}
	return -offset
}

// forgetTurns is what a servo that counts turns does without power.
func (s *Servo) forgetTurns() {
	if turn := s.turn(); turn > 0 {
		at := s.counted()
		s.lost += at - (at%turn+turn)%turn
	}
}

func (s *Servo) log(what, format string, a ...any) {
	if s.e.cfg.Log == nil {
		return
	}
	s.e.cfg.Log(Event{Time: time.Since(s.e.began).Seconds(), Joint: s.Joint, ID: s.ID, What: what, Text: fmt.Sprintf(format, a...),
		Goal: s.position(s.goal), At: s.e.cfg.World.Read(s.index).Position})
}

// torque switches it.
func (s *Servo) torque(to servo.Mode) {
	if s.mode == to {
		return
	}
	s.mode = to
	switch to {
	case servo.Position:
		turns := s.Model.Family == dynamixelName && !s.old() && s.ram[11] == dxlVelocity
		if far := s.position(s.goal) - s.e.cfg.World.Read(s.index).Position; math.Abs(far) > jump && s.Model.Family != herkulexName && !turns {
			s.log(Violation, "torque comes on with a goal that is %.3f rad away", far)
		}
		if v := int32(binary.LittleEndian.Uint32(s.ram[104:])); turns && v != 0 {
			s.log(Violation, "torque comes on with a velocity of %d units", v)
		}
		s.log("torque on", "")
		if s.Model.Family == dynamixelName && !s.old() {
			s.drive()
			break
		}
		s.aim(s.goal, 0)
	case servo.Brake:
		s.log("brake", "")
		s.e.cfg.World.Tell(s.index, servo.Setpoint{Mode: servo.Brake})
	default:
		s.log("torque off", "")
		s.e.cfg.World.Tell(s.index, servo.Setpoint{})
	}
}

// jump is how far away a goal may be when torque comes on, rad: a joint may have sunk since
// it was read.
const jump = 0.06

// aim gives it a goal that it is to reach in some time.
func (s *Servo) aim(goal int32, seconds float64) {
	s.goal = goal
	s.e.cfg.World.Tell(s.index, servo.Setpoint{Mode: servo.Position, Position: s.position(goal), Stiffness: 1, PlayTime: seconds})
}

// offered takes a goal that came while it had no torque: none may come, unless it is where
// the servo is.
func (s *Servo) offered(goal int32) {
	if far := s.position(goal) - s.e.cfg.World.Read(s.index).Position; math.Abs(far) > jump {
		s.log(Violation, "a goal %.3f rad away, without torque", far)
	}
}

// Hand moves a servo without torque to where a hand holds its joint, rad, and reports whether
// it could: with torque the servo is stronger.
func (s *Servo) Hand(at float64) bool {
	if s.mode != servo.Off {
		return false
	}
	s.hand = hand{holds: true, at: at}
	s.e.cfg.World.Tell(s.index, servo.Setpoint{Mode: servo.Position, Position: at, Stiffness: 1, PlayTime: handTime})
	return true
}

// hand is what holds a joint from outside.
type hand struct {
	holds, there bool
	at, push     float64
}

// LetGo ends the force of the hand.
func (s *Servo) LetGo() {
	if s.hand = (hand{}); s.mode == servo.Off {
		s.e.cfg.World.Tell(s.index, servo.Setpoint{})
	}
}

// Hold lets the hand push against the joint's weight; it is called again and again. The event
// "hand" tells when the joint is where it is to be.
func (s *Servo) Hold() {
	switch {
	case !s.hand.holds:
		return
	case s.mode != servo.Off:
		s.hand = hand{}
		return
	}
	off := s.hand.at - s.e.cfg.World.Read(s.index).Position
	s.hand.push = max(-strongest, min(s.hand.push+handGain*off, strongest))
	s.e.cfg.World.Tell(s.index, servo.Setpoint{Mode: servo.Position, Position: s.hand.at + s.hand.push, Stiffness: 1})
	if !s.hand.there && math.Abs(off) < 0.01 {
		s.hand.there = true
		s.log("hand", "")
	}
}

// strongest is how far beyond its place a hand pushes a joint, rad, and handGain how fast it
// learns to.
const (
	strongest = 0.3
	handGain  = 0.1
)

// handTime is how long a hand takes to move a joint, s.
const handTime = 0.3

// Mode returns whether it has torque.
func (s *Servo) Mode() servo.Mode { return s.mode }

// Kill lets it never answer again, and lose its torque; or mends it.
func (s *Servo) Kill(dead bool) {
	s.dead = dead
	if dead {
		s.torque(servo.Off)
	}
}

// Ail gives it error bits, as it reports them.
func (s *Servo) Ail(bits uint16) { s.status = bits }

// Reset lets it start anew, as after a brown-out.
func (s *Servo) Reset() {
	s.log("reboot", "")
	id := s.ID
	s.torque(servo.Off)
	s.forgetTurns()
	s.forget()
	if s.Model.Family != herkulexName { // which takes a new one at its start
		s.ID = id
	}
	s.ready = time.Now().Add(rebootTime)
}

// rebootTime is how long a servo is dead after a reboot.
const rebootTime = 300 * time.Millisecond

// answers reports whether it is there.
func (s *Servo) answers(now time.Time) bool { return !s.dead && !now.Before(s.ready) }

// make gives a new servo its control table.
func (s *Servo) make(f bus.Family, id int) {
	s.family, s.ID = f, id
	if s.Baud = s.e.cfg.Baud; s.Baud == 0 {
		s.Baud = bus.FactoryBaud(f, s.Model)
	}
	s.forget()
}

// forget sets all registers to what a servo has when it starts. What a person saved stays in
// the tables where it lies apart.
func (s *Servo) forget() {
	s.status, s.armed, s.trip = 0, time.Time{}, false
	switch s.Model.Family {
	case herkulexName:
		if s.eep[0] == 0 {
			makeHerkulex(s)
		} else {
			s.loadHerkulex()
		}
	case dynamixelName:
		if s.old() {
			s.restart(makeOld, 24)
			break
		}
		s.restart(makeDynamixel, 64)
		s.settleMode()
	default:
		s.restart(makeFeetech, 40)
	}
}

// restart gives a table its first values, and keeps what is saved below an address.
func (s *Servo) restart(fill func(*Servo), saved int) {
	var kept [64]byte
	had := copy(kept[:saved], s.ram[:saved]) > 0 && s.ram[0]|s.ram[1]|s.ram[3]|s.ram[4] != 0
	clear(s.ram[:])
	fill(s)
	if had {
		copy(s.ram[:saved], kept[:saved])
	}
	s.goal = s.present()
}

// listen sets the rate that a servo hears by the code of its register.
func (s *Servo) listen(f bus.Family, code byte) {
	for _, baud := range f.Bauds() {
		if c, ok := f.BaudCode(baud); ok && c == int64(code) {
			s.Baud = baud
		}
	}
}

// Now returns how it is, as an event.
func (s *Servo) Now() Event {
	return Event{Time: time.Since(s.e.began).Seconds(), Joint: s.Joint, ID: s.ID, What: "state", Text: "torque " + s.mode.String(),
		Goal: s.position(s.goal), At: s.e.cfg.World.Read(s.index).Position}
}

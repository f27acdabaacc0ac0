package physics

import (
	"math"
	"math/rand/v2"
	"sync/atomic"

	"poise/kinematics"
	"poise/robot"
	"poise/servo"
	"poise/sim"
	"poise/spatial"
)

// Config makes a Bus.
type Config struct {
	Model  *sim.Model
	Motors []Motor // of each joint
	Ground *sim.Ground
	Start  []float64 // NumQ; nil is neutral
	Line   Line
	Supply Supply
	Unit   Unit
	Seed   uint64
}

// Line is what happens to setpoints on their way.
type Line struct {
	Delay  float64 // s from Exchange until a setpoint takes effect
	Jitter float64 // s that it may take longer, at random
	Loss   float64 // share of setpoints and of readings that get lost, 0 … 1
}

// Supply is what feeds the servos: it sags by its resistance with the current they take.
type Supply struct {
	Voltage    float64 // V, without load; 0 is nominal
	Resistance float64 // Ω
}

// pending is how many setpoints may be on their way to a servo.
const pending = 32

// sent is a setpoint on its way.
type sent struct {
	at   uint64  // step that it has arrived by
	late float64 // s before which it arrived
	p    servo.Setpoint
}

// joint is the servo of a joint as it is now.
type joint struct {
	goal    servo.Setpoint
	refused bool
	ramp    float64 // where its own ramp is
	left    float64 // s left on the ramp
	line    [pending]sent
	n       int
	last    servo.Reading
	trouble Trouble
	stuck   float64 // where it is jammed
}

// Bus is a robot with mass behind a servo bus. It implements servo.Bus.
type Bus struct {
	model    *sim.Model
	data     *sim.Data
	state    *sim.State
	in       sim.Input
	motors   []Motor
	joints   []joint
	line     Line
	supply   Supply
	supplied bool    // the supply has a voltage of its own
	volts    float64 // of the supply now, as a share of nominal where motors have one
	rng      *rand.Rand
	broken   sim.Fault
	silent   atomic.Bool // nothing is heard of the robot, and it hears nothing

	kin      *kinematics.Data // for the tips of feet
	contacts []sim.Contact
	feet     []robot.ChainID
	force    []spatial.Vec3 // on each foot, in the world,
	moment   []spatial.Vec3 // and its moment about the world's origin
	middle   []spatial.Vec3 // of each foot's sole, in its tip's frame
	unit     unit

	world  *World // nil if the ones who step the bus change its world themselves
	acting []timedPush
	grab   grab
	held   uint64 // steps for which it is held where it was put, unless servos get torque
}

// New returns a robot at its start, its torque off. Joints of several coordinates have no
// servo and are free.
func New(c Config) *Bus {
	m := c.Model.Robot()
	b := &Bus{
		model: c.Model, data: sim.NewData(c.Model), state: sim.NewState(c.Model), motors: c.Motors,
		joints: make([]joint, len(m.Joints())), line: c.Line, supply: c.Supply,
		rng: rand.New(rand.NewPCG(c.Seed, 0x6c696e65)), feet: c.Model.Feet(),
	}
	if len(c.Motors) != len(b.joints) {
		panic("physics: one motor per joint")
	}
	if c.Start != nil {
		copy(b.state.Q, c.Start)
	}
	b.in = sim.Input{Ground: c.Ground, Drives: make([]sim.Drive, len(b.joints)), Pushes: make([]sim.Push, 0, maxPushes)}
	b.contacts = make([]sim.Contact, 0, c.Model.Contacts())
	b.force, b.moment = make([]spatial.Vec3, len(b.feet)), make([]spatial.Vec3, len(b.feet))
	for _, foot := range b.feet {
		m := b.model.Robot()
		b.middle = append(b.middle, sim.SoleMiddle(&m.Contacts()[m.Chains()[foot].Contact]))
	}
	b.kin = kinematics.NewData(m)
	for i := range b.joints {
		q := b.state.Q[m.Joints()[i].Q]
		b.joints[i] = joint{goal: servo.Setpoint{Position: q}, ramp: q, last: servo.Reading{Age: servo.Never}}
	}
	b.unit.init(m, c.Unit, c.Seed)
	b.volts, b.supplied = 1, c.Supply.Voltage > 0
	b.acting = make([]timedPush, 0, maxPushes-1)
	return b
}

// maxPushes is how many forces may act on a robot at once.
const maxPushes = 16

// Sensors returns what the robot measures besides its joints.
func (b *Bus) Sensors() servo.Sensors {
	s := servo.Sensors{Touch: len(b.feet)}
	if b.unit.has {
		s.IMU = 1
	}
	return s
}

// State returns the true state of the simulated robot, for tests and displays.
func (b *Bus) State() *sim.State { return b.state }

// Data returns what the last step found: torques and contacts.
func (b *Bus) Data() *sim.Data { return b.data }

// Input returns what acts on the robot: ground and pushes may be changed between steps.
func (b *Bus) Input() *sim.Input { return &b.in }

// Broken returns why the simulation ended, sim.OK while it runs.
func (b *Bus) Broken() sim.Fault { return b.broken }

// Target returns where the motor of a joint is told to be now.
func (b *Bus) Target(i int) float64 {
	if j := &b.joints[i]; j.goal.Mode == servo.Position {
		return j.ramp
	} else if j.goal.Mode == servo.Impedance {
		return j.goal.Position
	}
	return b.state.Q[b.model.Robot().Joints()[i].Q]
}

// Limit returns what the motor of a joint can give at nominal voltage, 0 if nothing limits
// it.
func (b *Bus) Limit(i int) float64 { return b.motors[i].Limit }

// Silence cuts the line, so that nothing is heard, and mends it again.
func (b *Bus) Silence(on bool) { b.silent.Store(on) }

// SetLoss changes the share of packets that get lost.
func (b *Bus) SetLoss(share float64) { b.line.Loss = share }

// SetVoltage changes the supply, V without load.
func (b *Bus) SetVoltage(v float64) { b.supply.Voltage, b.supplied = v, true }

// Swap puts another model in the place of the robot's: one that differs in masses alone.
func (b *Bus) Swap(m *sim.Model) { b.model, b.data = m, sim.NewData(m) }

// Aim sets the target of a joint at once, past the line and its ramp.
func (b *Bus) Aim(i int, position float64) {
	j := &b.joints[i]
	if j.trouble.Silent {
		return
	}
	j.goal = servo.Setpoint{Mode: servo.Position, Position: position, Stiffness: 1}
	j.ramp, j.left, j.n = position, 0, 0
}

// Try makes a step that does not count: for forces and torques at the start.
func (b *Bus) Try() {
	s := sim.NewState(b.model)
	s.Copy(b.state)
	for i := range b.joints {
		b.drive(i)
	}
	b.data.Step(s, &b.in)
}

// drive sets what the motor of a joint does in the next step.
func (b *Bus) drive(i int) {
	j := &b.joints[i]
	b.motors[i].drive(&b.in.Drives[i], &j.goal, j.ramp, b.volts)
	j.fail(&b.in.Drives[i])
	if b.model.Robot().Joints()[i].Virtual {
		b.in.Drives[i].Position = j.goal.Position
	}
}

// Exchange takes setpoints, moves the robot by a period and measures. Loop-safe.
func (b *Bus) Exchange(t servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	if b.world != nil {
		b.obey()
	}
	if !b.silent.Load() {
		b.Send(src)
	}
	for range max(1, int(math.Round(t.Dt/b.model.Step()))) {
		if b.Step() != sim.OK {
			break
		}
	}
	if b.world != nil {
		b.truthTo(b.world.truth.Slot())
		b.world.truth.Publish()
	}
	return b.Measure(dst)
}

// Send puts setpoints on their way, one for each joint. Loop-safe.
func (b *Bus) Send(src []servo.Setpoint) {
	for i := range b.joints {
		if !b.lost() {
			b.send(i, &src[i])
		}
	}
}

func (b *Bus) lost() bool { return b.line.Loss > 0 && b.rng.Float64() < b.line.Loss }

// send puts a setpoint on its way. A full line drops the oldest.
func (b *Bus) send(i int, p *servo.Setpoint) {
	delay := b.line.Delay
	if b.line.Jitter > 0 {
		delay += b.line.Jitter * b.rng.Float64()
	}
	j := &b.joints[i]
	if j.n == pending {
		copy(j.line[:], j.line[1:])
		j.n--
	}
	h := b.model.Step()
	steps := math.Ceil(delay/h - 1e-6)
	j.line[j.n] = sent{at: b.state.Tick + uint64(steps), late: math.Max(0, steps*h-delay), p: *p}
	j.n++
}

// Step moves the robot by one step of physics. Loop-safe.
func (b *Bus) Step() sim.Fault {
	if b.broken != sim.OK {
		return b.broken
	}
	h := b.model.Step()
	for i := range b.joints {
		j := &b.joints[i]
		for j.n > 0 && j.line[0].at <= b.state.Tick {
			b.receive(i, &j.line[0])
			copy(j.line[:j.n-1], j.line[1:j.n])
			j.n--
		}
		j.follow(h)
		b.drive(i)
	}
	if b.world != nil {
		b.act()
	}
	if b.held > 0 && b.hold() {
		return sim.OK
	}
	b.unit.before(b.state)
	b.broken = b.data.Step(b.state, &b.in)
	if b.broken != sim.OK {
		return b.broken
	}
	b.sag()
	b.unit.after(b.state, h)
	return sim.OK
}

// receive takes a setpoint that arrived.
func (b *Bus) receive(i int, s *sent) {
	j, p := &b.joints[i], &s.p
	if j.trouble.Silent {
		return
	}
	if j.refused = !servo.AllModes.Has(p.Mode); j.refused || !p.Finite() {
		return
	}
	if j.goal.Mode != servo.Position && p.Mode == servo.Position {
		j.ramp = b.state.Q[b.model.Robot().Joints()[i].Q] // it begins where it is
	}
	j.goal, j.left = *p, p.PlayTime-s.late // its ramp ends when it should
	j.goal.Position = b.motors[i].quantise(p.Position)
}

// follow moves the servo's own ramp: straight to the goal in the time that is left.
func (j *joint) follow(h float64) {
	if j.goal.Mode != servo.Position {
		return
	}
	if j.left <= h {
		j.ramp, j.left = j.goal.Position, 0
		return
	}
	j.ramp += (j.goal.Position - j.ramp) * h / j.left
	j.left -= h
}

// sag lets the supply give way to the current that the motors take.
func (b *Bus) sag() {
	nominal, current := 0.0, 0.0
	for i := range b.motors {
		m := &b.motors[i]
		nominal = math.Max(nominal, m.Voltage)
		if m.Voltage > 0 && m.Limit > 0 {
			current += m.Stall * math.Abs(b.data.Torque(i)) / m.Limit
		}
	}
	if nominal == 0 {
		return
	}
	volts := nominal
	if b.supplied {
		volts = b.supply.Voltage
	}
	b.volts = math.Max(0, volts-b.supply.Resistance*current) / nominal
}

// Measure fills in what servos and sensors say. Loop-safe.
func (b *Bus) Measure(dst *servo.Measurement) servo.Fault {
	if b.broken != sim.OK || b.silent.Load() {
		for i := range dst.Joints {
			dst.Joints[i] = b.older(i)
		}
		b.unit.age(dst)
		return servo.BusDown
	}
	joints := b.model.Robot().Joints()
	for i := range dst.Joints {
		if b.lost() || b.joints[i].trouble.Silent {
			dst.Joints[i] = b.older(i)
			continue
		}
		m, j := &b.motors[i], &b.joints[i]
		r := servo.Reading{Position: m.quantise(b.state.Q[joints[i].Q]), Velocity: b.state.V[joints[i].V],
			Effort: b.data.Torque(i), Voltage: b.volts * m.Voltage, Temperature: roomTemperature}
		if !j.goal.Mode.Powered() {
			r.Effort = 0
		}
		if j.refused {
			r.Fault = servo.BadMode
		}
		r.Fault |= j.trouble.Fault
		j.last = r
		dst.Joints[i] = r
	}
	b.feel(dst)
	b.unit.read(dst)
	return 0
}

const roomTemperature = 25.0 // °C

// older returns the last answer of a servo, a tick older.
func (b *Bus) older(i int) servo.Reading {
	last := &b.joints[i].last
	if last.Age != servo.Never {
		last.Age++
	}
	r := *last
	r.Fault |= servo.NoAnswer
	return r
}

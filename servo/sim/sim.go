package sim

import (
	"math"
	"math/rand/v2"
	"sync/atomic"

	"poise/internal/rt"
	"poise/servo"
)

// Servo says how a simulated servo behaves. The zero value is ideal: it is where
// it was told to be, at once.
type Servo struct {
	Lag        float64 // time constant of following its ramp, s; 0 follows exactly
	Delay      int     // ticks from Exchange until a setpoint takes effect
	Quantum    float64 // step of position readings, rad; 0 is exact
	Noise      float64 // standard deviation of position readings, rad
	Stiffness  float64 // N·m/rad in mode position: it sags by what it carries over stiffness; 0 does not sag
	Damping    float64 // N·m·s/rad by which the joint resists in modes effort and impedance; 0 is 1
	Brake      float64 // N·m·s/rad by which it resists in mode brake; 0 does not give way
	Loss       float64 // share of packets lost, each way, 0 … 1
	VMax       float64 // largest speed, rad/s; 0 is unlimited
	Unreadable bool    // never answers
}

// Idle values of what a healthy servo reports.
const (
	roomTemperature = 25.0 // °C
	nominalVoltage  = 12.0 // V
)

// Trouble is something that happens to one servo for a while.
type Trouble struct {
	Joint       int
	From, Until uint64 // ticks, Until excluded; 0 is without end
	Frozen      bool   // position does not change any more
	Silent      bool   // no answer
	NonFinite   bool   // answers with NaN and infinities
	Temperature float64
	Voltage     float64
	Fault       servo.Fault // reported in addition
}

func (t *Trouble) at(n uint64) bool { return n >= t.From && (t.Until == 0 || n < t.Until) }

// Bus is a simulated robot. It implements servo.Bus and servo.Placer.
type Bus struct {
	servos    []Servo
	state     []state
	load      func(dst, q []float64) // N·m that each joint carries; nil is nothing
	loads     []float64
	where     []float64
	queue     [][]servo.Setpoint // of the last ticks, for delays; used as a ring
	last      uint64             // tick of the last exchange,
	exchanged bool               // if there was one
	rng       *rand.Rand
	plans     []Trouble
	pushes    []float64 // N·m on each joint, from outside
	down      func(n uint64) bool

	moves *rt.Ring[handMove] // of free joints by hand, until the next tick
	limp  []atomic.Bool      // joints that can be moved so
}

// handMove is a free joint moved by a person.
type handMove struct {
	joint    int
	position float64
}

// handMoves is how many moves by hand may wait for a tick.
const handMoves = 256

// state is that of one servo.
type state struct {
	goal     servo.Setpoint // newest that got through
	refused  bool           // the newest had a mode that there is not
	ramp     float64        // where its own ramp is
	left     float64        // time left on the ramp, s
	position float64        // of the joint
	velocity float64
	effort   float64       // that the servo gives, N·m
	last     servo.Reading // newest answer that got through, with its age
}

// Config makes a Bus.
type Config struct {
	Servos   []Servo
	Position []float64 // where the joints are at first; nil is zero
	Seed     uint64
	// Load returns what each joint carries at positions q, N·m; nil is nothing.
	Load func(dst, q []float64)
}

// New returns a simulated robot with its torque off.
func New(c Config) *Bus {
	n := len(c.Servos)
	b := &Bus{servos: c.Servos, state: make([]state, n), load: c.Load, loads: make([]float64, n), where: make([]float64, n), pushes: make([]float64, n),
		rng: newRand(c.Seed), moves: rt.NewRing[handMove](handMoves), limp: make([]atomic.Bool, n)}
	longest := 0
	for i := range b.state {
		s := &b.state[i]
		if c.Position != nil {
			s.position = c.Position[i]
		}
		s.ramp, s.goal.Position = s.position, s.position
		s.last = servo.Reading{Age: servo.Never}
		b.limp[i].Store(true)
		longest = max(longest, c.Servos[i].Delay)
	}
	b.queue = make([][]servo.Setpoint, longest+1)
	for i := range b.queue {
		b.queue[i] = make([]servo.Setpoint, n)
	}
	return b
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5eed)) }

// Plan adds trouble. Setup.
func (b *Bus) Plan(t Trouble) { b.plans = append(b.plans, t) }

// Down sets when the whole bus is silent; nil is never. Setup.
func (b *Bus) Down(f func(n uint64) bool) { b.down = f }

// PoseByHand moves a joint that has no torque, as a person would, in the next
// tick. It reports false if the joint holds itself, or there is no room for
// another move before that tick. Concurrent.
func (b *Bus) PoseByHand(joint int, position float64) bool {
	return b.limp[joint].Load() && b.moves.Send(handMove{joint, position})
}

// Place puts joints somewhere at once, at rest, whether they have torque or not;
// setpoints that are still on their way change with them. Loop-safe.
func (b *Bus) Place(joints []int, positions []float64) {
	for k, j := range joints {
		b.put(j, positions[k])
		b.state[j].last.Position, b.state[j].last.Velocity = positions[k], 0
		for _, sent := range b.queue {
			sent[j].Position = positions[k]
		}
	}
}

var _ servo.Placer = (*Bus)(nil)

// put moves a joint, and its servo's ramp with it.
func (b *Bus) put(joint int, position float64) {
	s := &b.state[joint]
	s.position, s.ramp, s.goal.Position, s.left, s.velocity = position, position, position, 0, 0
}

// moveByHand moves limp joints as people did since the last tick.
func (b *Bus) moveByHand() {
	for {
		h, ok := b.moves.TryReceive()
		if !ok {
			return
		}
		if b.state[h.joint].goal.Mode == servo.Off { // torque may have come back meanwhile
			b.put(h.joint, h.position)
		}
	}
}

// Push loads a joint from outside, as a hand would, until it is pushed by zero,
// N·m. Only a servo with a stiffness gives way.
func (b *Bus) Push(joint int, effort float64) { b.pushes[joint] = effort }

// Joint returns where a joint really is, whatever its servo says.
func (b *Bus) Joint(i int) float64 { return b.state[i].position }

// Exchange moves all servos by one tick. Loop-safe.
func (b *Bus) Exchange(t servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	b.fillMissed(t.N)
	if b.down != nil && b.down(t.N) {
		b.move(t, nil)
		return b.nothing(dst)
	}
	copy(b.queue[t.N%uint64(len(b.queue))], src)
	b.move(t, src)
	for i := range b.state {
		b.read(t, i)
	}
	b.tell(dst)
	return 0
}

// nothing is what is heard of a silent bus.
func (b *Bus) nothing(dst *servo.Measurement) servo.Fault {
	for i := range b.state {
		b.state[i].grow()
	}
	b.tell(dst)
	return servo.BusDown
}

// tell fills in the newest answers.
func (b *Bus) tell(dst *servo.Measurement) {
	for i := range dst.Joints {
		dst.Joints[i] = b.state[i].last
	}
}

// fillMissed lets the last setpoints stand for ticks that did not take place.
func (b *Bus) fillMissed(now uint64) {
	n := uint64(len(b.queue))
	if b.exchanged && now > b.last+1 {
		for k := b.last + 1; k < now && k <= b.last+n; k++ {
			copy(b.queue[k%n], b.queue[b.last%n])
		}
	}
	b.last, b.exchanged = now, true
}

// move takes the setpoints that arrive now and moves the joints.
func (b *Bus) move(t servo.Tick, src []servo.Setpoint) {
	for i := range b.state {
		b.where[i] = b.state[i].position
	}
	clear(b.loads)
	if b.load != nil {
		b.load(b.loads, b.where)
	}
	for i, push := range b.pushes {
		b.loads[i] += push
	}
	if src != nil {
		for i := range b.state {
			b.receive(t, i)
		}
	}
	b.moveByHand()
	for i := range b.state {
		if !b.frozen(t.N, i) {
			b.step(i, t.Dt)
		} else {
			b.state[i].velocity = 0
		}
	}
}

// receive takes the setpoint that was sent a delay ago, unless it was lost.
func (b *Bus) receive(t servo.Tick, i int) {
	d := uint64(b.servos[i].Delay)
	if t.N < d || b.lost(i) {
		return
	}
	p := &b.queue[(t.N-d)%uint64(len(b.queue))][i]
	s := &b.state[i]
	if s.refused = !servo.AllModes.Has(p.Mode); s.refused || !p.Finite() {
		return
	}
	if s.goal.Mode != servo.Position && p.Mode == servo.Position {
		s.ramp = s.position // it begins where it is
	}
	if s.goal.Mode != p.Mode {
		b.limp[i].Store(p.Mode == servo.Off)
	}
	s.goal, s.left = *p, p.PlayTime
}

func (b *Bus) lost(i int) bool {
	return b.servos[i].Loss > 0 && b.rng.Float64() < b.servos[i].Loss
}

func (b *Bus) frozen(n uint64, i int) bool {
	for k := range b.plans {
		if p := &b.plans[k]; p.Joint == i && p.Frozen && p.at(n) {
			return true
		}
	}
	return false
}

func (b *Bus) silent(n uint64, i int) bool {
	for k := range b.plans {
		if p := &b.plans[k]; p.Joint == i && p.Silent && p.at(n) {
			return true
		}
	}
	return false
}

// read takes the answer of one servo, if there is any.
func (b *Bus) read(t servo.Tick, i int) {
	s, c := &b.state[i], &b.servos[i]
	if c.Unreadable || b.lost(i) || b.silent(t.N, i) {
		s.grow()
		return
	}
	r := &s.last
	*r = servo.Reading{Voltage: nominalVoltage, Temperature: roomTemperature}
	r.Position, r.Velocity, r.Effort = s.position, s.velocity, s.effort
	if s.refused {
		r.Fault = servo.BadMode
	}
	for k := range b.plans {
		p := &b.plans[k]
		if p.Joint != i || !p.at(t.N) {
			continue
		}
		if p.NonFinite {
			r.Position, r.Velocity = math.NaN(), math.Inf(1)
		}
		r.Fault |= p.Fault
		if p.Temperature != 0 {
			r.Temperature = p.Temperature
		}
		if p.Voltage != 0 {
			r.Voltage = p.Voltage
		}
	}
	if c.Noise > 0 {
		r.Position += c.Noise * b.rng.NormFloat64()
	}
	if c.Quantum > 0 {
		r.Position = c.Quantum * math.Round(r.Position/c.Quantum)
	}
}

// grow lets the last answer be a tick older, where this one has no answer.
func (s *state) grow() {
	if s.last.Age != servo.Never {
		s.last.Age++
	}
	s.last.Fault |= servo.NoAnswer
}

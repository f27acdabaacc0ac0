package external_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/external"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/model"
	"poise/servo/physics"
	"poise/sim"
	"poise/spatial"
)

// plant is a pony whose trunk is held, in our engine, with servos that differ from their models,
// and the sense that sees goals, readings and voltage of it, and nothing else.
type plant struct {
	t     testing.TB
	m     *robot.Model
	bus   *physics.Bus
	sense *external.Sense
	rng   *rand.Rand
	dt    float64
	n     int
	read  *servo.Measurement
	told  []servo.Setpoint
	rest  []float64
	waves [][]wave // of each joint
	feet  []robot.ChainID
	x     external.Sample
	loss  float64
	lost  float64
	due   func()  // happens within the next tick,
	dueAt float64 // after this share of it
}

const simStep = 0.0014

type wave struct{ size, rate, phase float64 }

// config is what a plant has.
type config struct {
	dt    float64
	seed  uint64
	off   float64 // by which parameters of servos and masses are off, uniformly
	loss  float64 // share of readings that are lost,
	lost  float64 // and of setpoints
	delay float64
	pose  string
	speed float64 // of random motions, share of 1 Hz
}

func newPlant(t testing.TB, c config) *plant {
	t.Helper()
	bot, err := load.Robot("pony", load.Options{Base: robot.BaseFixed})
	if err != nil {
		t.Fatal(err)
	}
	m := bot.Model
	p := &plant{t: t, m: m, dt: c.dt, loss: c.loss, lost: c.lost, rng: rand.New(rand.NewPCG(c.seed, 7)), rest: m.RestPositions()}
	if c.pose != "" {
		pose, _ := m.Pose(c.pose)
		for i, j := range pose.Joints {
			p.rest[j] = pose.Q[i][0]
		}
	}
	factor := func(by float64) float64 { return 1 + by*(2*p.rng.Float64()-1) }
	known := make([]*model.Model, len(m.Joints()))
	motors := physics.MotorsOf(m)
	for i := range known {
		own := m.Servo(robot.JointID(i)).Model
		if own == nil {
			continue
		}
		known[i] = own
		real := *own
		for k := range real.A {
			real.A[k] *= factor(c.off)
		}
		motors[i] = physics.FromModel(&real)
	}
	inertias := make([]spatial.Inertia, len(m.Bodies()))
	for i := range inertias {
		inertias[i] = m.Bodies()[i].Inertia
		k := factor(c.off)
		inertias[i].Mass *= k
		inertias[i].I = inertias[i].I.Scale(k)
	}
	world, err := sim.NewModel(m.WithInertias(inertias), sim.Config{Step: simStep, Passive: physics.PassiveOf(motors)})
	if err != nil {
		t.Fatal(err)
	}
	start := make([]float64, m.NumQ())
	for i, j := range m.Joints() {
		start[j.Q] = p.rest[i]
	}
	p.bus = physics.New(physics.Config{Model: world, Motors: motors, Start: start, Seed: c.seed,
		Line: physics.Line{Delay: c.delay}, Supply: physics.Supply{Voltage: 12, Resistance: 0.05}})
	if p.sense, err = external.New(external.Config{Model: m, Servos: known, Options: external.Options{Delay: c.delay}}); err != nil {
		t.Fatal(err)
	}
	p.read = servo.NewMeasurement(len(m.Joints()), servo.Sensors{})
	p.told = make([]servo.Setpoint, len(m.Joints()))
	p.x = external.Sample{Dt: c.dt, Joints: p.read.Joints, Setpoints: p.told, Expected: make([]external.Expectation, len(m.Chains()))}
	for i := range p.x.Expected {
		p.x.Expected[i].Phase = -1
		if m.Chains()[i].Contact != robot.NoContact {
			p.feet = append(p.feet, robot.ChainID(i))
		}
	}
	p.waves = make([][]wave, len(m.Joints()))
	for i := range p.waves {
		for range 3 {
			p.waves[i] = append(p.waves[i], wave{0.12 * p.rng.Float64(), 2 * math.Pi * c.speed * (0.2 + 0.8*p.rng.Float64()), 2 * math.Pi * p.rng.Float64()})
		}
	}
	return p
}

// time of the next tick, s.
func (p *plant) time() float64 { return float64(p.n) * p.dt }

// step makes a tick of the random motion.
func (p *plant) step() {
	t := p.time()
	fade := math.Min(1, t/1)
	for i := range p.told {
		q := p.rest[i]
		if p.m.Servo(robot.JointID(i)).Model != nil {
			for _, w := range p.waves[i] {
				q += fade * w.size * math.Sin(w.rate*(t+p.dt)+w.phase)
			}
		}
		p.told[i] = servo.Setpoint{Mode: servo.Position, Position: q, Stiffness: 1, PlayTime: p.dt}
	}
	p.bus.SetLoss(p.lost)
	p.bus.Send(p.told)
	p.bus.SetLoss(p.loss)
	for k := range p.steps() {
		if p.due != nil && k >= int(p.dueAt*float64(p.steps())) {
			p.due()
			p.due = nil
		}
		p.bus.Step()
	}
	p.bus.Measure(p.read)
	p.n++
	p.x.Time, p.x.Voltage = p.time(), 0
	for i := range p.read.Joints {
		if r := &p.read.Joints[i]; r.Age == 0 {
			p.x.Voltage = math.Max(p.x.Voltage, r.Voltage)
		}
	}
	p.sense.Update(&p.x)
}

// steps of the engine in a tick.
func (p *plant) steps() int { return int(math.Round(p.dt / simStep)) }

// delay is how long after the beginning of the tick due happens, s.
func (p *plant) delay() float64 { return float64(int(p.dueAt*float64(p.steps()))) * simStep }

// push lets a force act on the middle of a foot's sole.
func (p *plant) push(foot robot.ChainID, f spatial.Vec3) {
	in := p.bus.Input()
	in.Pushes = in.Pushes[:0]
	if f != (spatial.Vec3{}) {
		c := &p.m.Chains()[foot]
		at := &p.m.Frames()[c.Tip]
		in.Pushes = append(in.Pushes, sim.Push{Body: at.Body, Point: at.Pose.Apply(sim.SoleMiddle(&p.m.Contacts()[c.Contact])), Force: f})
	}
}

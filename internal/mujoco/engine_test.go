package mujoco

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"poise/action"
	"poise/contact"
	"poise/control"
	"poise/control/follow"
	"poise/controllers"
	"poise/estimate"
	"poise/executive"
	"poise/floatingbase"
	"poise/loop"
	"poise/motion/library"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	servomodel "poise/servo/model"
	"poise/servo/physics"
	"poise/sim"
	"poise/spatial"
)

// engine is a robot in ours or in MuJoCo, of which the truth is known.
type engine interface {
	servo.Bus
	Measure(dst *servo.Measurement) servo.Fault
	sensors() servo.Sensors
	truth(q []float64)    // of the joints
	base() spatial.Pose   // in the world
	loads(load []float64) // vertical force on each foot, N
	zmp() contact.Point   // centre of pressure of the ground on all feet: the measured zero-moment point
	push(f spatial.Vec3)  // on the base, from the next exchange on
}

// plant is what both engines simulate.
type plant struct {
	models   []*servomodel.Model // that the cycle knows
	motors   []physics.Motor     // that there are
	masses   []float64           // [bodies] factors
	supply   physics.Supply
	friction float64
	boxes    []sim.Box    // on the ground
	line     physics.Line // to the servos
	ground   *sim.Ground  // its slope and its heights; nil is level
	start    []float64    // NumQ; nil is the rest pose, on its feet
	seed     uint64
	unit     physics.Unit     // how its inertial unit errs
	step     float64          // of physics, s; 0 is 1 ms
	numb     bool             // without touch sensors, in MuJoCo
	untold   bool             // the cycle does not know the friction
	every    int              // steps from one look at the feet to the next; 0 takes none
	motions  *library.Library // nil has none
}

// batteryResistance is that of a small battery and its wires, Ω, as package scenario has it.
const batteryResistance = 0.05

// servosAt returns the pony's own servos at a gain and a supply. By a share the parameters of each
// are off at random, and by half of it the masses.
func servosAt(bot *load.Loaded, kp, volts, off float64) plant {
	return servosDrawn(bot, kp, volts, off, 1)
}

// servosDrawn does so with another seed.
func servosDrawn(bot *load.Loaded, kp, volts, off float64, seed uint64) plant {
	m := bot.Model
	rng := rand.New(rand.NewPCG(seed, 2))
	factor := func(by float64) float64 { return 1 + by*(2*rng.Float64()-1) }
	p := plant{models: make([]*servomodel.Model, len(m.Joints())), motors: physics.MotorsOf(m),
		supply: physics.Supply{Voltage: volts, Resistance: batteryResistance}, friction: sim.DefaultFriction, seed: seed,
		unit: physics.TypicalErrors.Unit(seed)}
	for i := range p.models {
		known := m.Servo(robot.JointID(i)).Model
		if known == nil {
			continue
		}
		own := *known
		own.Kp = kp
		p.models[i] = &own
		real := own
		for k := range real.A {
			real.A[k] *= factor(off)
		}
		p.motors[i] = physics.FromModel(&real)
	}
	for range m.Bodies() {
		p.masses = append(p.masses, factor(off/2))
	}
	return p
}

// world is what it stands on.
func (p *plant) world() *sim.Ground {
	g := sim.Level()
	if p.ground != nil {
		*g = *p.ground
	}
	g.Friction, g.Boxes = p.friction, p.boxes
	return g
}

// oursOf is the plant in our engine.
func oursOf(t testing.TB, bot *load.Loaded, p plant) engine {
	t.Helper()
	m := bot.Model
	inertias := make([]spatial.Inertia, len(m.Bodies()))
	for i := range inertias {
		inertias[i] = m.Bodies()[i].Inertia
		inertias[i].Mass *= p.masses[i]
		inertias[i].I = inertias[i].I.Scale(p.masses[i])
	}
	world, err := sim.NewModel(m.WithInertias(inertias), sim.Config{Step: p.step, Passive: physics.PassiveOf(p.motors)})
	if err != nil {
		t.Fatal(err)
	}
	ground := p.world()
	start := p.start
	if start == nil {
		if start, err = world.Settled(m.RestPositions(), ground); err != nil {
			t.Fatal(err)
		}
	}
	e := &inOurs{Bus: physics.New(physics.Config{Model: world, Motors: p.motors, Ground: ground, Start: start, Supply: p.supply, Line: p.line, Unit: p.unit, Seed: p.seed}), m: m}
	e.Bus.Try()
	return e
}

type inOurs struct {
	*physics.Bus
	m        *robot.Model
	contacts []sim.Contact
}

func (e *inOurs) sensors() servo.Sensors { return e.Bus.Sensors() }
func (e *inOurs) truth(q []float64) {
	for i, j := range e.m.Joints() {
		q[i] = e.State().Q[j.Q]
	}
}

func (e *inOurs) base() spatial.Pose {
	q := e.State().Q
	return spatial.Pose{R: spatial.Quat{X: q[3], Y: q[4], Z: q[5], W: q[6]}.Matrix(), P: spatial.Vec3{X: q[0], Y: q[1], Z: q[2]}}
}

func (e *inOurs) loads(load []float64) {
	clear(load)
	e.contacts = e.Data().ContactsTo(e.contacts[:0])
	for k, id := range feetOf(e.m) {
		for _, c := range e.contacts {
			if c.Link == e.m.Chains()[id].Tip && c.Other == robot.NoFrame {
				load[k] += c.Force.Z
			}
		}
	}
}

func (e *inOurs) zmp() (p contact.Point) {
	sum := 0.0
	e.contacts = e.Data().ContactsTo(e.contacts[:0])
	for _, c := range e.contacts {
		if c.Other == robot.NoFrame {
			p.X, p.Y, sum = p.X+c.Point.X*c.Force.Z, p.Y+c.Point.Y*c.Force.Z, sum+c.Force.Z
		}
	}
	return contact.Point{X: p.X / sum, Y: p.Y / sum}
}

// trunk is the first body that moves.
const trunk = robot.World + 1

func (e *inOurs) push(f spatial.Vec3) {
	in := e.Input()
	in.Pushes = in.Pushes[:0]
	if f != (spatial.Vec3{}) {
		in.Pushes = append(in.Pushes, sim.Push{Body: trunk, Point: e.m.Bodies()[trunk].Inertia.Com, Force: f})
	}
}

// feetOf returns the chains that stand, in the order of sim.Model.Feet.
func feetOf(m *robot.Model) (feet []robot.ChainID) {
	for i, c := range m.Chains() {
		if c.Contact != robot.NoContact {
			feet = append(feet, robot.ChainID(i))
		}
	}
	return feet
}

// mujocoOf is the plant in MuJoCo.
func mujocoOf(t testing.TB, bot *load.Loaded, p plant) engine {
	t.Helper()
	d := Open(t, bot.Model, bot.URDF, Config{Motors: p.motors, Masses: p.masses, Supply: p.supply, Friction: p.friction, Boxes: p.boxes, Line: p.line,
		Ground: p.ground, Start: p.start, Seed: p.seed, Unit: p.unit, Step: p.step, Every: p.every, Numb: p.numb})
	if err := d.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &inMuJoCo{d}
}

type inMuJoCo struct{ *Driver }

func (e *inMuJoCo) sensors() servo.Sensors { return e.Capabilities().Sensors }
func (e *inMuJoCo) truth(q []float64)      { copy(q, e.Q) }
func (e *inMuJoCo) base() spatial.Pose     { return e.Base }
func (e *inMuJoCo) loads(load []float64)   { copy(load, e.Loads) }
func (e *inMuJoCo) zmp() contact.Point     { return contact.Point{X: e.ZMP[0], Y: e.ZMP[1]} }
func (e *inMuJoCo) push(f spatial.Vec3)    { e.Push(Push{Force: f, Lasts: math.Inf(1)}) }

// driven is a robot in an engine, driven by the loop and the executive that ship.
type driven struct {
	t       testing.TB
	m       *robot.Model
	e       engine
	p       plant
	l       *loop.Loop
	exec    *executive.Executive
	n       uint64
	period  float64 // of the cycle, s
	hold    bool    // it does not move
	read    *servo.Measurement
	inverse *floatingbase.Inverse
	answer  floatingbase.Answer
}

// cyclePeriod is that of the cycle, s.
const cyclePeriod = 0.01

// assumedAcceleration is that of transitions where the robot declares none, rad/s², as package scenario has it.
const assumedAcceleration = 8

// drive puts a plant on the cycle: 0 with a lead, 1 or 2. Its time begins when it has its torque, and
// the torques of cycle 1 are taken up.
func drive(t testing.TB, bot *load.Loaded, p plant, e engine, cycle int, lead float64) *driven {
	t.Helper()
	return driveAt(t, bot, p, e, cycle, lead, cyclePeriod)
}

// driveAt does so at another period, s.
func driveAt(t testing.TB, bot *load.Loaded, p plant, e engine, cycle int, lead, period float64) *driven {
	t.Helper()
	m := bot.Model
	d := &driven{t: t, m: m, e: e, p: p, period: period, hold: true, read: servo.NewMeasurement(len(m.Joints()), e.sensors())}
	settings := loop.Settings{Sensors: e.sensors()}
	if !m.TransitionAcceleration().Has {
		settings.Transition.Acceleration = assumedAcceleration
	}
	settings.Inversion.Lead.Time, settings.Inversion.Beyond = lead, servo.Beyond(period, lead)
	if p.friction < sim.DefaultFriction && !p.untold {
		settings.WholeBody.Friction = p.friction * 5 / 6
	}
	if cycle > 0 {
		settings.Cycle1, settings.Cycle2 = control.JointLeaves(len(m.Joints())), cycle == 2
		settings.Inversion.Name, settings.Inversion.Models = "model", p.models
		settings.External.On = slices.ContainsFunc(p.models, func(known *servomodel.Model) bool { return known != nil })
	}
	seats, err := controllers.For(m, settings.Transition, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := loop.Config{Model: m, Bus: d, Settings: settings}
	known := make([]executive.Controller, len(seats))
	for i, seat := range seats {
		cfg.Controllers = append(cfg.Controllers, seat.Loop)
		known[i] = seat.Executive
	}
	if d.l, err = loop.New(cfg); err != nil {
		t.Fatal(err)
	}
	motions := p.motions
	if motions == nil {
		motions = library.Open("", nil)
	}
	if d.exec, err = executive.New(executive.Config{Model: m, Loop: d.l, Controllers: known, Library: motions, Go: func(job func()) { job() }}); err != nil {
		t.Fatal(err)
	}
	if d.inverse, err = floatingbase.NewInverse(m); err != nil {
		t.Fatal(err)
	}
	d.run(0.02, nil)
	for range 10 { // a servo that was not heard yet is asked again
		if d.exec.State().Power == loop.Enabled {
			break
		}
		d.exec.Power("test", true)
		d.run(0.17, nil)
	}
	d.run(1.53, nil)
	if p := d.exec.State().Power; p != loop.Enabled {
		t.Fatalf("power is %v", p)
	}
	d.hold = false
	return d
}

// Exchange implements servo.Bus.
func (d *driven) Exchange(t servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	fault := servo.Fault(0)
	if d.hold {
		fault = d.e.Measure(dst)
	} else {
		fault = d.e.Exchange(t, dst, src)
	}
	d.read.Copy(dst)
	return fault
}

// run makes the ticks of some seconds; after each it looks.
func (d *driven) run(seconds float64, look func(at float64)) {
	for k := range int(math.Round(seconds / d.period)) {
		at := servo.Tick{N: d.n, Time: int64(math.Round(float64(d.n) * d.period * 1e9)), Dt: d.period}
		d.exec.Pump(at.Time)
		d.l.Step(at)
		d.exec.Pump(at.Time)
		d.n++
		if look != nil {
			look(float64(k+1) * d.period)
		}
	}
}

// submit begins a motion, which must succeed.
func (d *driven) submit(goal follow.Goal) { d.perform(&executive.Follow{Goal: goal}) }

// perform starts a goal, which has to succeed.
func (d *driven) perform(goal executive.Goal) {
	d.t.Helper()
	_, err := d.exec.Submit("test", action.ID("motion"), 0, goal, executive.Watch{Changed: func(c executive.Change) {
		if c.To.Terminal() && c.To != action.Succeeded {
			d.t.Errorf("the motion ended: %v: %s", c.To, c.Result.Text())
		}
	}})
	if err != nil {
		d.t.Fatal(err)
	}
}

// figures are those of a run: roots of mean squares over joints or feet and time, and means.
type figures struct {
	joints float64 // distance from the command at the end of each period, rad
	force  float64 // loads of feet less those of inverse dynamics of the command, N
	sag    float64 // of the base below its start, m
	moved  float64 // of the base from its start along the ground, at most, m
	tilt   float64 // rad, at most
	power  float64 // electrical, W
}

// measured runs for some seconds and takes the figures from some time on.
func (d *driven) measured(seconds, from float64) (f figures) {
	joints := d.m.Joints()
	q, load := make([]float64, len(joints)), make([]float64, len(feetOf(d.m)))
	start := d.e.base()
	n, feet := 0.0, 0.0
	d.run(seconds, func(at float64) {
		X := d.e.base()
		f.sag = math.Max(f.sag, start.P.Z-X.P.Z)
		f.moved = math.Max(f.moved, math.Hypot(X.P.X-start.P.X, X.P.Y-start.P.Y))
		f.tilt = math.Max(f.tilt, math.Acos(math.Min(1, X.R[8])))
		if at < from {
			return
		}
		d.e.truth(q)
		for i, j := range joints {
			if !j.Virtual {
				e := d.l.Command().Q[i] - q[i]
				f.joints, n = f.joints+e*e, n+1
			}
			r := &d.read.Joints[i]
			f.power += d.p.motors[i].Power(r.Effort, r.Velocity)
		}
		d.e.loads(load)
		for k, want := range d.wanted() {
			f.force, feet = f.force+(load[k]-want)*(load[k]-want), feet+1
		}
	})
	f.joints, f.force = math.Sqrt(f.joints/n), math.Sqrt(f.force/feet)
	f.power /= feet / float64(len(load))
	return f
}

// wanted returns the vertical forces that inverse dynamics of the command has.
func (d *driven) wanted() []float64 {
	d.t.Helper()
	c := d.l.Command()
	q, v, a := make([]float64, d.m.NumQ()), make([]float64, d.m.NumV()), make([]float64, d.m.NumV())
	R, X := c.Base.Pose.R.Quat(), c.Base.Pose.P
	copy(q, []float64{X.X, X.Y, X.Z, R.X, R.Y, R.Z, R.W})
	for k, x := range [...]struct{ v, a spatial.Vec3 }{{c.Base.Twist.Linear, c.Base.Acceleration.Linear}, {c.Base.Twist.Angular, c.Base.Acceleration.Angular}} {
		copy(v[3*k:], []float64{x.v.X, x.v.Y, x.v.Z})
		copy(a[3*k:], []float64{x.a.X, x.a.Y, x.a.Z})
	}
	for i, j := range d.m.Joints() {
		q[j.Q], v[j.V], a[j.V] = c.Q[i], c.V[i], c.A[i]
	}
	var supports []floatingbase.Support
	for _, id := range feetOf(d.m) {
		supports = append(supports, floatingbase.Support{Chain: id, Contact: d.m.Chains()[id].Contact, Coefficient: 1})
	}
	if err := d.inverse.Solve(&d.answer, q, v, a, supports, estimate.Friction); err != nil {
		d.t.Fatal(err)
	}
	out := make([]float64, len(supports))
	for k, w := range d.answer.Contacts {
		out[k] = w.Force.Z
	}
	return out
}

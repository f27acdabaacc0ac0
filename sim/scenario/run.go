package scenario

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"poise/robot"
	"poise/servo"
	"poise/servo/physics"
	"poise/sim"
	"poise/spatial"
)

// Watch is what a run tells while it goes on. Nil functions are not called.
type Watch struct {
	Frame    func(f *Frame)        // at every multiple of the trace's interval
	Progress func(seconds float64) // now and then
}

// run is one run of a plant.
type run struct {
	p        *Plant
	w        Watch
	bus      *physics.Bus
	state    *sim.State
	motors   []physics.Motor
	loads    []spatial.Inertia
	ramps    []ramp
	src      []servo.Setpoint
	cycle    *cycle // nil unless motions are played
	step     int    // that comes next
	next     int    // action that comes next
	pushes   []happening
	troubles []*happening // that are not over
	due      []*Action    // motions to play from the next tick on
	err      error
	notes    []string

	line            int       // of the trace that comes next
	before, between sim.State // at the last step, and at a line between it and this one

	observed
	known estimates
}

// ramp is how the target of a joint moves, past the controllers.
type ramp struct {
	on           bool
	from, to     float64
	begun, takes float64 // s
}

// at is where a ramp is.
func (r *ramp) at(t float64) float64 {
	if r.takes <= 0 || t >= r.begun+r.takes {
		return r.to
	}
	return r.from + (r.to-r.from)*(t-r.begun)/r.takes
}

// Run makes one run and judges it.
func (p *Plant) Run(seed uint64, w Watch) (*Result, error) {
	r, err := p.begin(seed, w)
	if err != nil {
		return nil, err
	}
	period := int(math.Round(p.s.period() / p.s.step()))
	total := p.s.steps()
	r.look(0)
	for r.step < total && r.err == nil {
		n := min(period, total-r.step)
		if r.err = r.act(r.now()); r.err != nil {
			break
		}
		if r.cycle != nil {
			if r.err = r.play(); r.err == nil {
				r.err = r.cycle.tick(n)
			}
			continue
		}
		if p.s.Model != nil {
			r.aim()
			r.bus.Send(r.src)
		}
		r.advance(n)
		r.measure()
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.result(), nil
}

// Samples of quantities are taken this often, s; progress is told every so many steps.
const (
	sampleEvery   = 0.002
	progressEvery = 1000
)

func (r *run) now() float64 { return float64(r.step) * r.p.s.step() }

// advance makes some steps of physics.
func (r *run) advance(steps int) {
	direct := r.cycle == nil && r.p.s.Model == nil
	for range steps {
		if r.err = r.act(r.now()); r.err != nil {
			return
		}
		if direct {
			for i := range r.ramps {
				r.bus.Aim(i, r.ramps[i].at(r.now()))
			}
		}
		r.endPushes(r.now())
		if fault := r.bus.Step(); fault != sim.OK {
			r.err = fmt.Errorf("simulation ended at %.4g s: %v", r.now(), fault)
			return
		}
		r.step++
		r.look(r.step)
	}
}

// look observes and tells what is due after some steps.
func (r *run) look(n int) {
	s := r.p.s
	t, h := float64(n)*s.step(), s.step()
	if n%max(1, int(math.Round(sampleEvery/h))) == 0 || n == s.steps() {
		r.observe(t)
	}
	if r.w.Frame != nil {
		r.trace(t)
	}
	if r.w.Progress != nil && n%progressEvery == 0 {
		r.w.Progress(t)
	}
}

// aim makes setpoints of ramps: where each target is to be at the end of the period.
func (r *run) aim() {
	period := r.p.s.period()
	for i := range r.src {
		if r.ramps[i].on || r.cycle == nil {
			r.src[i] = servo.Setpoint{Mode: servo.Position, Position: r.ramps[i].at(r.now() + period), Stiffness: 1, PlayTime: period}
		}
	}
}

// begin makes a run at its start.
func (p *Plant) begin(seed uint64, w Watch) (*run, error) {
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b9))
	r := &run{p: p, w: w, loads: make([]spatial.Inertia, len(p.m.Bodies()))}
	r.seed = seed
	ground := p.ground(rng)
	r.motors = p.drawMotors(rng)
	model, err := r.build()
	if err != nil {
		return nil, err
	}
	start := make([]float64, p.m.NumQ())
	if err := p.place(start, model, ground); err != nil {
		return nil, err
	}
	c := physics.Config{Model: model, Motors: r.motors, Ground: ground, Start: start, Seed: seed, Unit: p.s.Unit.errors().Unit(seed)}
	if m := p.s.Model; m != nil {
		c.Line = physics.Line{Delay: m.Delay, Jitter: m.Jitter, Loss: m.Loss}
	}
	if p.modelled() {
		c.Supply.Resistance = supplyResistance
	}
	r.bus = physics.New(c)
	r.state = r.bus.State()
	r.before, r.between = *sim.NewState(model), *sim.NewState(model)
	joints := p.m.Joints()
	r.ramps, r.src = make([]ramp, len(joints)), make([]servo.Setpoint, len(joints))
	for i, j := range joints {
		r.ramps[i] = ramp{from: start[j.Q], to: start[j.Q]}
		r.bus.Aim(i, start[j.Q])
	}
	r.observed.begin(r, model)
	if err := r.beginEstimates(model.Feet()); err != nil {
		return nil, err
	}
	if p.plays || p.s.Control.Cycle > 0 {
		if r.cycle, err = newCycle(r); err != nil {
			return nil, err
		}
	}
	r.bus.Try()
	return r, nil
}

// supplyResistance is that of a small battery and its wires, Ω.
const supplyResistance = 0.05

// build makes the model with the loads of now. Masses are drawn by the seed alone, so that
// they stay the same.
func (r *run) build() (*sim.Model, error) {
	return r.p.build(rand.New(rand.NewPCG(r.seed, 0x6d617373)), r.loads, r.motors)
}

// play gives the cycle the motions that are due.
func (r *run) play() error {
	for _, a := range r.due {
		if err := r.cycle.play(a); err != nil {
			return err
		}
	}
	r.due = r.due[:0]
	return nil
}

// act lets begin what is due in this step: a push begins when it should however long a
// period is. The cycle hears of motions at its next tick.
func (r *run) act(t float64) error {
	const early = 1e-9
	r.troubles = slices.DeleteFunc(r.troubles, func(a *happening) bool {
		over := t+early >= a.until
		if over {
			r.bus.SetTrouble(a.joints[0], physics.Trouble{})
		}
		return over
	})
	input := r.bus.Input()
	for ; r.next < len(r.order) && r.order[r.next].at <= t+early; r.next++ {
		a := &r.order[r.next]
		switch w := a.what; {
		case w.Trouble != nil:
			r.bus.SetTrouble(a.joints[0], a.trouble)
			r.troubles = append(r.troubles, a)
		case a.joints != nil && r.p.s.Control.Cycle > 0:
			if err := r.cycle.move(a); err != nil {
				return err
			}
		case a.joints != nil:
			for k, i := range a.joints {
				from := r.bus.Target(i)
				if r.cycle == nil {
					from = r.ramps[i].at(t)
				}
				r.ramps[i] = ramp{on: true, from: from, to: w.Joints[k].Value, begun: a.at, takes: a.takes}
			}
		case w.Play != "":
			r.due = append(r.due, w)
		case w.Velocity != nil:
			if err := r.cycle.walk(w); err != nil {
				return err
			}
		case w.GetUp != "":
			r.cycle.rises = w
		case w.Push != nil || w.Grab != nil:
			acts := *a
			acts.until += t - a.at // as long as it should from this step on
			r.pushes = append(r.pushes, acts)
		case w.Drop != nil:
			r.bus.Lift(*w.Drop)
		case w.Friction != nil:
			input.Ground.Friction = *w.Friction
		case w.Slope != nil:
			input.Ground.SetSlope(w.Slope.Roll, w.Slope.Pitch)
		case w.Voltage != nil:
			r.bus.SetVoltage(*w.Voltage)
		case w.Loss != nil:
			r.bus.SetLoss(*w.Loss)
		case w.Payload != nil:
			r.loads[a.body] = r.loads[a.body].Add(a.load)
			model, err := r.build()
			if err != nil {
				return err
			}
			r.bus.Swap(model)
			r.weigh(model)
		}
	}
	return nil
}

// endPushes lets those act whose time is not over.
func (r *run) endPushes(t float64) {
	const early = 1e-9
	input := r.bus.Input()
	input.Pushes = input.Pushes[:0]
	kept := r.pushes[:0]
	for _, a := range r.pushes {
		if t+early < a.until {
			if a.what.Grab != nil {
				r.kin.UpdatePosition(r.state.Q)
				a.push = a.spring.Push(r.kin, r.p.s.step())
			}
			kept = append(kept, a)
			push := a.push
			if share := (a.until - t) / r.p.s.step(); share < 1-1e-6 { // the rest of it
				push.Force = push.Force.Scale(share)
			}
			input.Pushes = append(input.Pushes, push)
		}
	}
	r.pushes = kept
}

// Frame is a line of the trace.
type Frame struct {
	T        float64        `json:"t"`
	Base     *BaseFrame     `json:"base"`
	Q        []float64      `json:"q"`
	V        []float64      `json:"v"`
	Tau      []float64      `json:"tau"`
	Contacts []ContactFrame `json:"contacts"`
	Com      [3]float64     `json:"com"`
	Zmp      *[2]float64    `json:"zmp"`
}

// BaseFrame is where the base is.
type BaseFrame struct {
	Position    [3]float64 `json:"position"`
	Orientation [4]float64 `json:"orientation"` // x y z w
}

// ContactFrame is a force on the robot.
type ContactFrame struct {
	Link  string     `json:"link"`
	Point [3]float64 `json:"point"`
	Force [3]float64 `json:"force"`
}

func list(v spatial.Vec3) [3]float64 { return [3]float64{v.X, v.Y, v.Z} }

// trace tells the lines up to a time. Those between two steps are between their states, as
// positions go straight in a step.
func (r *run) trace(t float64) {
	const early = 1e-9
	every, now := r.p.s.every(), r.state
	for ; ; r.line++ {
		at := math.Round(float64(r.line)*every*1e9) / 1e9
		if at > t+early || at > r.p.s.Duration+early {
			break
		}
		between := now
		if share := (t - at) / r.p.s.step(); share > 1e-6 {
			between = &r.between
			r.mix(share)
		}
		r.w.Frame(r.frame(at, between))
	}
	copy(r.before.Q, now.Q)
	copy(r.before.V, now.V)
}

// mix sets the state between two steps, a share of the way back to the one before.
func (r *run) mix(share float64) {
	dst, now := &r.between, r.state
	for i := range now.Q {
		dst.Q[i] = now.Q[i] + share*(r.before.Q[i]-now.Q[i])
	}
	for i := range now.V {
		dst.V[i] = now.V[i] + share*(r.before.V[i]-now.V[i])
	}
	for _, b := range r.p.m.Bodies()[1:] {
		if b.Kind != robot.Floating || b.Mimic {
			continue
		}
		q := dst.Q[b.Q+3 : b.Q+7]
		length := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
		for i := range q {
			q[i] /= length
		}
	}
}

// frame makes a line of the trace.
func (r *run) frame(t float64, s *sim.State) *Frame {
	m := r.p.m
	f := &Frame{T: t, Contacts: []ContactFrame{}}
	q, v := 0, 0
	if m.Floating() {
		q, v = 7, 6
		f.Base = &BaseFrame{Position: [3]float64(s.Q[:3]), Orientation: [4]float64(s.Q[3:7])}
	}
	f.Q, f.V = append([]float64{}, s.Q[q:]...), append([]float64{}, s.V[v:]...)
	f.Tau = make([]float64, m.NumV()-v)
	for i, j := range m.Joints() {
		if j.Kind.NumV() == 1 {
			f.Tau[j.V-v] = r.bus.Data().Torque(i)
		}
	}
	r.contacts = r.bus.Data().ContactsTo(r.contacts[:0])
	for _, c := range r.contacts {
		if c.Other == robot.NoFrame {
			f.Contacts = append(f.Contacts, ContactFrame{Link: m.Frames()[c.Link].Name, Point: list(c.Point), Force: list(c.Force)})
		}
	}
	r.kin.UpdatePosition(s.Q)
	com, _ := r.kin.Com()
	f.Com = list(com)
	if p, ok := sim.ZMP(r.contacts); ok {
		f.Zmp = &[2]float64{p.X, p.Y}
	}
	return f
}

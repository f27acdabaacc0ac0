package scenario

import (
	"fmt"
	"math"
	"math/rand/v2"

	"poise/kinematics"
	"poise/robot"
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
	p      *Plant
	model  *sim.Model
	data   *sim.Data
	state  *sim.State
	in     sim.Input
	rng    *rand.Rand // draws the plant
	loads  []spatial.Inertia
	from   []float64 // targets of joints where their ramps began
	to     []float64
	begun  []float64 // s
	span   []float64 // length of the ramp, s
	next   int       // action that comes next
	pushes []action

	observed
}

// Run makes one run and judges it.
func (p *Plant) Run(seed uint64, w Watch) (*Result, error) {
	r, err := p.begin(seed)
	if err != nil {
		return nil, err
	}
	h := p.s.step()
	steps := int(math.Round(p.s.Duration / h))
	every := int(math.Round(p.s.every() / h))
	sample := max(1, int(math.Round(sampleEvery/h)))
	r.try()
	for n := 0; ; n++ {
		t := float64(n) * h
		if n%sample == 0 || n == steps {
			r.observe(t)
		}
		if w.Frame != nil && n%every == 0 {
			w.Frame(r.frame(t))
		}
		if w.Progress != nil && n%progressEvery == 0 {
			w.Progress(t)
		}
		if n == steps {
			break
		}
		if err := r.act(t); err != nil {
			return nil, err
		}
		r.drive(t)
		if fault := r.data.Step(r.state, &r.in); fault != sim.OK {
			return nil, fmt.Errorf("simulation ended at %.4g s: %v", t, fault)
		}
	}
	return r.result(), nil
}

// Samples of quantities are taken this often, s; progress is told every so many steps.
const (
	sampleEvery   = 0.002
	progressEvery = 1000
)

// begin makes a run at its start.
func (p *Plant) begin(seed uint64) (*run, error) {
	r := &run{p: p, rng: rand.New(rand.NewPCG(seed, 0x9e3779b9))}
	ground := p.ground(r.rng)
	r.loads = make([]spatial.Inertia, len(p.m.Bodies()))
	if err := r.rebuild(seed); err != nil {
		return nil, err
	}
	r.state = sim.NewState(r.model)
	if err := p.place(r.state.Q, r.model, ground); err != nil {
		return nil, err
	}
	joints := p.m.Joints()
	r.in.Ground, r.in.Drives = ground, make([]sim.Drive, len(joints))
	r.from, r.to = make([]float64, len(joints)), make([]float64, len(joints))
	r.begun, r.span = make([]float64, len(joints)), make([]float64, len(joints))
	for i, j := range joints {
		r.from[i] = r.state.Q[j.Q]
		r.to[i] = r.from[i]
		s := &p.servos[i]
		r.in.Drives[i] = sim.Drive{Kp: s.kp, Kd: s.kd, Limit: s.effort, Position: r.to[i]}
		if s.effort == 0 && joints[i].Limits.Effort.Has {
			r.in.Drives[i].Kp, r.in.Drives[i].Kd = 0, 0 // it can give nothing
		}
	}
	r.observed.begin(r)
	return r, nil
}

// rebuild makes the model with the loads of now. Masses are drawn by the seed alone, so that
// they stay the same.
func (r *run) rebuild(seed uint64) error {
	model, err := r.p.build(rand.New(rand.NewPCG(seed, 0x6d617373)), r.loads)
	if err != nil {
		return err
	}
	r.seed, r.model, r.data = seed, model, sim.NewData(model)
	return nil
}

// try makes a step that does not count: for forces and torques at the start.
func (r *run) try() {
	s := sim.NewState(r.model)
	s.Copy(r.state)
	r.data.Step(s, &r.in)
}

// act lets begin what is due, and end pushes.
func (r *run) act(t float64) error {
	const early = 1e-9
	for ; r.next < len(r.order) && r.order[r.next].at <= t+early; r.next++ {
		a := &r.order[r.next]
		switch {
		case a.joints != nil:
			for k, i := range a.joints {
				r.from[i] = r.target(i, t)
				r.to[i], r.begun[i], r.span[i] = a.what.Joints[k].Value, a.at, a.in
			}
		case a.what.Push != nil:
			r.pushes = append(r.pushes, *a)
		case a.what.Friction != nil:
			r.in.Ground.Friction = *a.what.Friction
		case a.what.Slope != nil:
			r.in.Ground.SetSlope(a.what.Slope.Roll, a.what.Slope.Pitch)
		case a.what.Payload != nil:
			r.loads[a.body] = r.loads[a.body].Add(a.load)
			if err := r.rebuild(r.seed); err != nil {
				return err
			}
		}
	}
	r.in.Pushes = r.in.Pushes[:0]
	kept := r.pushes[:0]
	for _, a := range r.pushes {
		if t+early < a.until {
			kept = append(kept, a)
			r.in.Pushes = append(r.in.Pushes, a.push)
		}
	}
	r.pushes = kept
	return nil
}

// target is where a joint's ramp is.
func (r *run) target(i int, t float64) float64 {
	if r.span[i] <= 0 || t >= r.begun[i]+r.span[i] {
		return r.to[i]
	}
	return r.from[i] + (r.to[i]-r.from[i])*(t-r.begun[i])/r.span[i]
}

// drive sets the targets of the step that begins at t.
func (r *run) drive(t float64) {
	for i := range r.in.Drives {
		r.in.Drives[i].Position = r.target(i, t)
	}
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

// frame makes a line of the trace. Times are exact multiples of the interval.
func (r *run) frame(t float64) *Frame {
	m, s := r.p.m, r.state
	every := r.p.s.every()
	f := &Frame{T: math.Round(t/every) * every, Contacts: []ContactFrame{}}
	f.T = math.Round(f.T*1e9) / 1e9
	q, v := 0, 0
	if m.Floating() {
		q, v = 7, 6
		f.Base = &BaseFrame{Position: [3]float64(s.Q[:3]), Orientation: [4]float64(s.Q[3:7])}
	}
	f.Q, f.V = append([]float64{}, s.Q[q:]...), append([]float64{}, s.V[v:]...)
	f.Tau = make([]float64, m.NumV()-v)
	for i, j := range m.Joints() {
		if j.Kind.NumV() == 1 {
			f.Tau[j.V-v] = r.data.Torque(i)
		}
	}
	r.contacts = r.data.ContactsTo(r.contacts[:0])
	for _, c := range r.contacts {
		if c.Other == robot.NoFrame {
			f.Contacts = append(f.Contacts, ContactFrame{Link: m.Frames()[c.Link].Name, Point: list(c.Point), Force: list(c.Force)})
		}
	}
	r.kin.UpdatePosition(s.Q)
	com, _ := r.kin.Com()
	f.Com = list(com)
	if p, ok := zmp(r.contacts); ok {
		f.Zmp = &[2]float64{p.X, p.Y}
	}
	return f
}

func newKinematics(m *sim.Model) *kinematics.Data { return kinematics.NewData(m.Robot()) }

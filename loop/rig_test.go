package loop

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/control/swing"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
	"poise/trajectory/move"
)

const period = 0.001

// busPeriod is that of a HerkuleX bus, s.
const busPeriod = 0.0112

// soak runs what takes long.
var soak = os.Getenv("POISE_SOAK") != ""

// unruly is a swing that misbehaves on demand.
type unruly struct {
	*swing.Controller
	refuse, nan, jump, stubborn bool
	limp                        bool
	panics                      string // the method that does
}

func (c *unruly) Check(input *control.Input, p control.Program) control.Reason {
	c.panic("Check")
	if c.refuse {
		return control.Because(control.StartTooFar)
	}
	return c.Controller.Check(input, p)
}

func (c *unruly) Start(input *control.Input, p control.Program) control.Reason {
	c.panic("Start")
	return c.Controller.Start(input, p)
}

func (c *unruly) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	c.panic("Update")
	own := *input
	if c.stubborn {
		own.Rate = 1 // it does not slow down, whatever it is told
	}
	st, reason := c.Controller.Update(&own, out)
	if c.limp {
		clear(out.Stiff)
	}
	for leaf := range out.Has.All {
		if j := int(leaf); j < len(out.Q) {
			switch {
			case c.nan:
				out.Q[j] = math.NaN()
			case c.jump:
				out.Q[j] += 3 * math.Sin(1e4*input.Tick.Dt*float64(input.Tick.N))
			}
		}
	}
	return st, reason
}

func (c *unruly) Owned(input *control.Input, now robot.Set) control.Status {
	c.panic("Owned")
	return c.Controller.Owned(input, now)
}

func (c *unruly) panic(method string) {
	if c.panics == method {
		panic("test")
	}
}

// rig is a loop on a simulated robot, stepped by hand.
type rig struct {
	t       testing.TB
	l       *Loop
	bus     *sim.Bus
	m       *robot.Model
	limits  []move.Limits
	n       uint64
	dt      float64
	stamp   func(n uint64) int64 // time of day
	reports []Report
	swings  []*unruly
	before  []float64 // command of the tick before, and its step
	step    []float64
	mode    []servo.Mode // of the tick before
	heard   uint64       // number of the tick after the last one whose reports were read
	checks  bool
}

// parts of a rig; zero values are defaults
type parts struct {
	robot       string
	period      float64
	controllers int
	servo       sim.Servo
	load        func(dst, q []float64) // that joints carry
	pose        []float64              // at first
	inverter    servo.Inverter
	others      []Registration // after the unruly ones
	settings    Settings
	granted     bool // PolicyNone: every claim is; otherwise a policy of none is PolicyPriority
	options     load.Options
	tap         Tap
	reports     int
}

// torque switches the torque of some joints.
func (r *rig) torque(on bool, joints robot.Set) {
	kind := TorqueOff
	if on {
		kind = TorqueOn
	}
	r.l.Send(Order{Kind: kind, Program: &control.Torque{Joints: joints}})
}

// model loads a robot once for all tests: a model never changes.
func model(t testing.TB, name string, o load.Options) *robot.Model {
	t.Helper()
	key := fmt.Sprint(name, o)
	if m := models[key]; m != nil {
		return m
	}
	bot, err := load.Robot(name, o)
	if err != nil {
		t.Fatal(err)
	}
	models[key] = bot.Model
	return bot.Model
}

var models = map[string]*robot.Model{}

func newRig(t testing.TB, p parts) *rig {
	t.Helper()
	if p.period == 0 {
		p.period = period
	}
	m := model(t, p.robot, p.options)
	n := len(m.Joints())
	all := make([]sim.Servo, n)
	for i := range all {
		all[i] = p.servo
	}
	r := &rig{t: t, m: m, dt: p.period, bus: sim.New(sim.Config{Servos: all, Seed: 1, Load: p.load, Position: p.pose}), before: make([]float64, n), step: make([]float64, n), mode: make([]servo.Mode, n)}
	var err error
	if r.limits, _, err = control.JointLimits(m, p.settings.Transition); err != nil {
		t.Fatal(err)
	}
	if p.settings.Policy == arbiter.PolicyNone && !p.granted {
		p.settings.Policy = arbiter.PolicyPriority
	}
	cfg := Config{Model: m, Bus: r.bus, Settings: p.settings, Tap: p.tap, Reports: p.reports, Inverter: p.inverter}
	for i := range p.controllers {
		c := &unruly{Controller: swing.New(r.limits)}
		r.swings = append(r.swings, c)
		cfg.Controllers = append(cfg.Controllers, Registration{Name: string(rune('a' + i)), Kind: "swing", Controller: c, Pending: float32(i), Operational: float32(i)})
	}
	cfg.Controllers = append(cfg.Controllers, p.others...)
	if r.l, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	for r.run(2); r.l.powered.state != Ready && r.n < 200; {
		r.run(1) // a lossy bus takes a while to be heard
	}
	r.l.Send(Order{Kind: PowerOn})
	r.run(1)
	if r.l.powered.state != Enabled {
		t.Fatalf("power is %v", r.l.powered.state)
	}
	return r
}

// run steps some ticks; with checks on it judges every command.
func (r *rig) run(ticks int) {
	for range ticks {
		copy(r.before, r.l.command.Q)
		tick := servo.Tick{N: r.n, Time: int64(math.Round(float64(r.n) * r.dt * 1e9)), Dt: r.dt}
		if r.stamp != nil {
			tick.Stamp = r.stamp(r.n)
		}
		r.l.Step(tick)
		r.n++
		for {
			rep, ok := r.l.Receive()
			if !ok {
				break
			}
			// of this tick, or of one since reports were last read
			if rep.Tick.N < r.heard || rep.Tick.N > tick.N || rep.Tick.N == tick.N && rep.Tick != tick {
				r.t.Fatalf("tick %d: a report of tick %d", tick.N, rep.Tick.N)
			}
			r.reports = append(r.reports, rep)
		}
		r.heard = r.n
		for j, q := range r.l.command.Q {
			v := (q - r.before[j]) / r.dt
			had, has := r.mode[j].Powered(), r.l.mode[j].Powered()
			switch {
			case has && !had: // torque comes back where the joint is
				at := r.l.reading.Joints[j].Position
				if r.checks && math.Abs(q-at) > r.limits[j].AccMax*r.dt*r.dt*(1+1e-6) {
					r.t.Fatalf("tick %d, joint %d: torque on at %g, and the joint is at %g", r.n, j, q, at)
				}
				v = (q - at) / r.dt
			case !has: // without torque the command is where the joint is
				if at := r.l.reading.Joints[j].Position; r.checks && q != at {
					r.t.Fatalf("tick %d, joint %d: no torque, command %g, and the joint is at %g", r.n, j, q, at)
				}
				v = 0
			case r.checks:
				r.judge(j, q, v)
			}
			r.step[j], r.mode[j] = v, r.l.mode[j]
		}
	}
}

// judge asks that a command is within the limits of its joint, and that what
// reaches the servo is a number.
func (r *rig) judge(j int, q, v float64) {
	r.t.Helper()
	joint := &r.m.Joints()[j]
	b, s := joint.Limits, r.l.setpoint[j]
	switch {
	case !finite(q) || !finite(s.Position) || !finite(s.PlayTime) || !finite(s.Stiffness):
		r.t.Fatalf("tick %d, %s: command %g, setpoint %+v", r.n, joint.Name, q, s)
	case b.Lower.Has && q < b.Lower.Value-1e-6 || b.Upper.Has && q > b.Upper.Value+1e-6:
		r.t.Fatalf("tick %d, %s: position %g outside %s", r.n, joint.Name, q, b.Range())
	case b.Velocity.Has && math.Abs(v) > b.Velocity.Value*(1+1e-5):
		r.t.Fatalf("tick %d, %s: velocity %g, limit %g", r.n, joint.Name, v, b.Velocity.Value)
	}
	if acc := math.Abs(v-r.step[j]) / r.dt; b.Acceleration.Has && acc > b.Acceleration.Value*(1+1e-4)+1e-5 {
		r.t.Fatalf("tick %d, %s: acceleration %g, limit %g", r.n, joint.Name, acc, b.Acceleration.Value)
	}
}

// limb returns the leaves of a group.
func (r *rig) limb(group string) robot.Set {
	r.t.Helper()
	res, err := r.m.Resources()
	if err != nil {
		r.t.Fatal(err)
	}
	s, ok := res.Find(group)
	if !ok {
		r.t.Fatalf("no resource %q", group)
	}
	return s
}

// program swings some leaves about the middle of their ranges.
func (r *rig) program(set robot.Set, amplitude, ω float64) *swing.Program {
	p := &swing.Program{Needs: set, Centre: make([]float64, r.l.dof), Amplitude: amplitude, Frequency: ω}
	for j := range p.Centre {
		l := r.m.Joints()[j].Limits
		if l.Lower.Has && l.Upper.Has {
			p.Centre[j] = (l.Lower.Value + l.Upper.Value) / 2
		}
	}
	return p
}

func (r *rig) goal(controller int, goal uint64, p control.Program) {
	r.t.Helper()
	if !r.l.Send(Order{Kind: StartGoal, Controller: arbiter.ClientID(controller), Goal: goal, Program: p}) {
		r.t.Fatal("no room for an order")
	}
}

// must starts a goal that has to be taken.
func (r *rig) must(controller int, goal uint64, p control.Program) {
	r.t.Helper()
	r.goal(controller, goal, p)
	r.run(1)
	if s := r.l.seats[controller]; s.program == nil || s.goal != goal {
		r.t.Fatalf("goal %d was not taken: %+v", goal, r.told(GoalRejected))
	}
}

// told returns the reports of a kind, and forgets all.
func (r *rig) told(k ReportKind) (out []Report) {
	for _, rep := range r.reports {
		if rep.Kind == k {
			out = append(out, rep)
		}
	}
	r.reports = nil
	return out
}

func (r *rig) raised(k FaultKind) bool {
	return slices.ContainsFunc(r.reports, func(rep Report) bool { return rep.Kind == FaultRaised && rep.Fault == k })
}

func first(s robot.Set) robot.LeafID {
	for leaf := range s.All {
		return leaf
	}
	return 0
}

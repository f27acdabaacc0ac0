package follow

import (
	"math"
	"os"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/loop"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
	"poise/trajectory"
)

const (
	period    = 0.001
	busPeriod = 0.0112 // of a HerkuleX bus, s
)

// soak runs what takes long.
var soak = os.Getenv("POISE_SOAK") != ""

// rig is a loop with followers on a simulated robot, stepped by hand.
type rig struct {
	t        testing.TB
	m        *robot.Model
	l        *loop.Loop
	bus      *sim.Bus
	all      []*Controller
	n        uint64
	dt       float64
	stamp    int64 // time of day at tick 0
	goals    uint64
	reports  []loop.Report
	s        *loop.Snapshot
	q, v     []float64 // command of the tick before
	judging  bool      // every command, by the limits of its joint
	programs map[uint64]*Program
}

// parts of a rig; zero values are defaults
type parts struct {
	model    *robot.Model
	robot    string
	period   float64
	servo    sim.Servo
	settings loop.Settings
	pose     []float64
	tap      loop.Tap
	load     func(dst, q []float64)
}

// models keeps what was loaded: a model never changes.
var models = map[string]*robot.Model{}

func model(t testing.TB, name string) *robot.Model {
	t.Helper()
	if models[name] == nil {
		bot, err := load.Robot(name, load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		models[name] = bot.Model
	}
	return models[name]
}

func newRig(t testing.TB, p parts) *rig {
	t.Helper()
	if p.model == nil {
		p.model = model(t, p.robot)
	}
	if p.period == 0 {
		p.period = period
	}
	n := len(p.model.Joints())
	servos := make([]sim.Servo, n)
	for i := range servos {
		servos[i] = p.servo
	}
	r := &rig{t: t, m: p.model, dt: p.period, programs: map[uint64]*Program{}, q: make([]float64, n), v: make([]float64, n),
		bus: sim.New(sim.Config{Servos: servos, Position: p.pose, Seed: 1, Load: p.load})}
	if p.settings.Policy == arbiter.PolicyNone {
		p.settings.Policy = arbiter.PolicyLast
	}
	cfg := loop.Config{Model: p.model, Bus: r.bus, Settings: p.settings, Tap: p.tap}
	for _, name := range []string{"a", "b"} {
		c := New(p.model)
		r.all = append(r.all, c)
		cfg.Controllers = append(cfg.Controllers, loop.Registration{Name: name, Kind: "follow", Controller: c})
	}
	var err error
	if r.l, err = loop.New(cfg); err != nil {
		t.Fatal(err)
	}
	for r.run(2); r.s.Power != loop.Ready && r.n < 500; {
		r.run(1) // a lossy bus takes a while to be heard
	}
	r.l.Send(loop.Order{Kind: loop.PowerOn})
	r.run(2)
	if r.s.Power != loop.Enabled {
		t.Fatalf("power is %v", r.s.Power)
	}
	r.judging = true
	return r
}

// tick returns the tick that comes next.
func (r *rig) tick() servo.Tick {
	at := int64(math.Round(float64(r.n) * r.dt * 1e9))
	return servo.Tick{N: r.n, Time: at, Dt: r.dt, Stamp: r.stamp + at}
}

// run steps some ticks and judges every command.
func (r *rig) run(ticks int) {
	for range ticks {
		r.l.Step(r.tick())
		r.n++
		for {
			rep, ok := r.l.Receive()
			if !ok {
				break
			}
			r.reports = append(r.reports, rep)
		}
		r.s, _ = r.l.Snapshot()
		for j, q := range r.s.Command.Q {
			v := (q - r.q[j]) / r.dt
			if r.judging {
				r.judge(j, q, v)
			}
			r.q[j], r.v[j] = q, v
			if !r.judging {
				r.v[j] = 0
			}
		}
	}
}

// judge asks that a command is within the limits of its joint.
func (r *rig) judge(j int, q, v float64) {
	r.t.Helper()
	joint := &r.m.Joints()[j]
	b := joint.Limits
	turns := joint.Kind == robot.Continuous
	switch {
	case !finite(q):
		r.t.Fatalf("tick %d, %s: command %g", r.n, joint.Name, q)
	case !turns && (b.Lower.Has && q < b.Lower.Value-1e-6 || b.Upper.Has && q > b.Upper.Value+1e-6):
		r.t.Fatalf("tick %d, %s: position %g outside %s", r.n, joint.Name, q, b.Range())
	case b.Velocity.Has && math.Abs(v) > b.Velocity.Value*(1+1e-5):
		r.t.Fatalf("tick %d, %s: velocity %g, limit %g", r.n, joint.Name, v, b.Velocity.Value)
	}
	if acc := math.Abs(v-r.v[j]) / r.dt; b.Acceleration.Has && acc > b.Acceleration.Value*(1+1e-4)+1e-5 {
		r.t.Fatalf("tick %d, %s: acceleration %g, limit %g", r.n, joint.Name, acc, b.Acceleration.Value)
	}
}

// compile makes a program for the pose that the robot is in.
func (r *rig) compile(g *Goal) *Program {
	r.t.Helper()
	p, err := Compile(r.m, Options{}, &r.s.Command, g)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// send starts a program on a controller, and lets the tick pass that takes it.
func (r *rig) send(controller int, p *Program) (goal uint64) {
	r.t.Helper()
	r.goals++
	r.programs[r.goals] = p
	if !r.l.Send(loop.Order{Kind: loop.StartGoal, Controller: arbiter.ClientID(controller), Goal: r.goals, Program: p}) {
		r.t.Fatal("no room for an order")
	}
	r.run(1)
	return r.goals
}

// must compiles and starts a goal that has to be taken.
func (r *rig) must(controller int, g *Goal) (goal uint64) {
	r.t.Helper()
	goal = r.send(controller, r.compile(g))
	if rej, ok := r.report(loop.GoalRejected, goal); ok {
		r.t.Fatalf("goal %d was rejected: %+v", goal, rej.Reason)
	}
	return goal
}

func (r *rig) order(k loop.OrderKind, value float64) {
	r.t.Helper()
	if !r.l.Send(loop.Order{Kind: k, Value: value}) {
		r.t.Fatal("no room for an order")
	}
}

// report returns the first report of a kind about a goal.
func (r *rig) report(k loop.ReportKind, goal uint64) (loop.Report, bool) {
	for _, rep := range r.reports {
		if rep.Kind == k && rep.Goal == goal {
			return rep, true
		}
	}
	return loop.Report{}, false
}

// finish steps until a goal ends, and returns how.
func (r *rig) finish(goal uint64, most float64) loop.Report {
	r.t.Helper()
	for range int(most / r.dt) {
		if rep, ok := r.report(loop.GoalEnded, goal); ok {
			return rep
		}
		r.run(1)
	}
	r.t.Fatalf("goal %d of %v does not end within %g s: %+v, %g off its path", goal, r.programs[goal].Record().Names, most, r.s.Active[0], r.offPath(0))
	return loop.Report{}
}

// left returns the events that a goal let go, as words, and when.
func (r *rig) left(goal uint64) (words []string, ticks []uint64) {
	for _, rep := range r.reports {
		if rep.Kind == loop.EventsLeft && rep.Goal == goal {
			for i := rep.From; i < rep.To; i++ {
				words, ticks = append(words, r.programs[goal].Event(i).Command), append(ticks, rep.Tick.N)
			}
		}
	}
	return words, ticks
}

// at returns where a joint's command is.
func (r *rig) at(name string) float64 {
	r.t.Helper()
	j, ok := r.m.Joint(name)
	if !ok {
		r.t.Fatalf("no joint %q", name)
	}
	return r.s.Command.Q[j]
}

// line is a goal of one joint through positions at even times.
func line(joint string, step float64, q ...float64) *Goal {
	g := &Goal{Joints: []string{joint}}
	for i, x := range q {
		g.Points = append(g.Points, trajectory.Point{Time: float64(i) * step, Position: []float64{x}})
	}
	return g
}

// arm is a goal of all six joints of arm6 through poses at even times.
func arm(step float64, poses ...[]float64) *Goal {
	g := &Goal{Joints: []string{"joint_1", "joint_2", "joint_3", "joint_4", "joint_5", "joint_6"}}
	for i, q := range poses {
		g.Points = append(g.Points, trajectory.Point{Time: float64(i) * step, Position: q})
	}
	return g
}

// within gives every joint of a goal one tolerance of position.
func within(g *Goal, path, final float64) *Goal {
	for _, name := range g.Joints {
		if path != 0 {
			g.Path = append(g.Path, Tolerance{Joint: name, Tolerance: trajectory.Tolerance{Position: path}})
		}
		if final != 0 {
			g.Final = append(g.Final, Tolerance{Joint: name, Tolerance: trajectory.Tolerance{Position: final}})
		}
	}
	return g
}

func ended(t testing.TB, rep loop.Report, st control.Status, code control.Code) {
	t.Helper()
	if rep.Status != st || rep.Reason.Code != code {
		t.Fatalf("ended with %d, %+v; want %d, %v", rep.Status, rep.Reason, st, code)
	}
}

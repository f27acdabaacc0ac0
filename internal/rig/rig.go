// Package rig is a robot on the cycle for tests of controllers: simulated servos,
// power on, stepped by hand, every command judged.
package rig

import (
	"math"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/loop"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
	"poise/trajectory/move"
)

// Options of a rig; zero values are defaults.
type Options struct {
	Robot    string  // pony
	Period   float64 // s, 1 ms
	Pose     string  // where it stands, by name; stand, if the robot has it
	Servo    sim.Servo
	Settings loop.Settings // policy: the last request wins
	Tap      loop.Tap
}

// Rig is a loop on a simulated robot.
type Rig struct {
	T       testing.TB
	M       *robot.Model
	L       *loop.Loop
	Bus     *sim.Bus
	Limits  []move.Limits
	N       uint64 // of the next tick
	Dt      float64
	Reports []loop.Report
	Now     *loop.Snapshot

	goal   uint64
	before []float64 // command of the tick before, and its step
	step   []float64
	mode   []servo.Mode
	Slack  float64 // by how much accelerations may pass the limits of transitions, as a share
}

// Model loads a robot.
func Model(t testing.TB, name string) *robot.Model {
	t.Helper()
	bot, err := load.Robot(name, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return bot.Model
}

// New returns a rig with its power on. Controllers are made for its model by the
// caller, see Model.
func New(t testing.TB, m *robot.Model, o Options, controllers ...loop.Registration) *Rig {
	t.Helper()
	if o.Period == 0 {
		o.Period = 0.001
	}
	n := len(m.Joints())
	at := make([]float64, n)
	if o.Pose == "" {
		o.Pose = "stand"
	}
	stand, _ := m.Pose("stand")
	named, _ := m.Pose(o.Pose)
	for _, p := range []*robot.NamedPose{stand, named} {
		if p == nil {
			continue
		}
		for i, j := range p.Joints {
			at[j] = p.Q[i][0]
		}
	}
	all := make([]sim.Servo, n)
	for i := range all {
		all[i] = o.Servo
	}
	r := &Rig{T: t, M: m, Dt: o.Period, Bus: sim.New(sim.Config{Servos: all, Position: at, Seed: 1}),
		before: make([]float64, n), step: make([]float64, n), mode: make([]servo.Mode, n), Slack: 0.02}
	var err error
	if r.Limits, _, err = control.JointLimits(m, o.Settings.Transition); err != nil {
		t.Fatal(err)
	}
	if o.Settings.Policy == arbiter.PolicyNone {
		o.Settings.Policy = arbiter.PolicyLast
	}
	if r.L, err = loop.New(loop.Config{Model: m, Bus: r.Bus, Settings: o.Settings, Tap: o.Tap, Controllers: controllers}); err != nil {
		t.Fatal(err)
	}
	r.Run(3)
	r.Send(loop.Order{Kind: loop.PowerOn})
	r.Run(2)
	if r.Now.Power != loop.Enabled {
		t.Fatalf("power is %v", r.Now.Power)
	}
	r.Reports = nil
	return r
}

// Tick returns the tick that Run takes next.
func (r *Rig) Tick() servo.Tick {
	return servo.Tick{N: r.N, Time: int64(math.Round(float64(r.N) * r.Dt * 1e9)), Dt: r.Dt}
}

// Seconds returns the time of the next tick, s.
func (r *Rig) Seconds() float64 { return float64(r.Tick().Time) * 1e-9 }

// Run steps some ticks and judges every command.
func (r *Rig) Run(ticks int) {
	r.T.Helper()
	for range ticks {
		r.L.Step(r.Tick())
		r.N++
		for {
			rep, ok := r.L.Receive()
			if !ok {
				break
			}
			r.Reports = append(r.Reports, rep)
		}
		r.Now, _ = r.L.Snapshot()
		r.judge()
	}
}

// For runs for some seconds.
func (r *Rig) For(seconds float64) {
	r.T.Helper()
	r.Run(int(math.Round(seconds / r.Dt)))
}

// judge asks that commands are numbers within the limits of their joints, and that
// joints with torque keep to what transitions may do.
func (r *Rig) judge() {
	r.T.Helper()
	for j, q := range r.Now.Command.Q {
		joint, v := &r.M.Joints()[j], (q-r.before[j])/r.Dt
		driven := r.mode[j].Powered() && r.Now.Mode[j].Powered()
		if q-q != 0 {
			r.T.Fatalf("tick %d, %s: command %g", r.N, joint.Name, q)
		}
		if driven {
			b, l := &joint.Limits, &r.Limits[j]
			fastest := l.VelMax
			if math.IsInf(r.Slack, 1) && b.Velocity.Has { // more than a transition: its own limit counts
				fastest = b.Velocity.Value
			}
			switch acc := math.Abs(v-r.step[j]) / r.Dt; {
			case b.Lower.Has && q < b.Lower.Value-1e-6 || b.Upper.Has && q > b.Upper.Value+1e-6:
				r.T.Fatalf("tick %d, %s: position %g outside %s", r.N, joint.Name, q, b.Range())
			case math.Abs(v) > fastest*(1+1e-5):
				r.T.Fatalf("tick %d, %s: velocity %g, limit %g", r.N, joint.Name, v, fastest)
			case acc > l.AccMax*(1+r.Slack)+1e-5:
				r.T.Fatalf("tick %d, %s: acceleration %g, limit %g", r.N, joint.Name, acc, l.AccMax)
			}
		} else {
			v = 0
		}
		r.before[j], r.step[j], r.mode[j] = q, v, r.Now.Mode[j]
	}
}

// Send gives an order.
func (r *Rig) Send(o loop.Order) {
	r.T.Helper()
	if !r.L.Send(o) {
		r.T.Fatal("no room for an order")
	}
}

// Place puts joints somewhere at once, within one tick; the jump is not judged.
func (r *Rig) Place(joints []robot.JointID, q []float64) {
	r.T.Helper()
	r.Send(loop.Order{Kind: loop.Place, Program: &control.Placement{Joints: joints, Q: q}})
	r.L.Step(r.Tick())
	r.N++
	r.Now, _ = r.L.Snapshot()
	copy(r.before, r.Now.Command.Q)
	clear(r.step)
}

// Controller returns the number of a controller.
func (r *Rig) Controller(name string) arbiter.ClientID {
	r.T.Helper()
	id, ok := r.L.Controller(name)
	if !ok {
		r.T.Fatalf("no controller %q", name)
	}
	return id
}

// Ask sends a goal, runs one tick and returns its number.
func (r *Rig) Ask(name string, p control.Program) uint64 {
	r.T.Helper()
	r.goal++
	r.Send(loop.Order{Kind: loop.StartGoal, Controller: r.Controller(name), Goal: r.goal, Program: p})
	r.Run(1)
	return r.goal
}

// Start sends a goal that has to be taken.
func (r *Rig) Start(name string, p control.Program) uint64 {
	r.T.Helper()
	goal := r.Ask(name, p)
	if why, refused := r.Refused(goal); refused {
		r.T.Fatalf("%s: goal %d was refused: %v %+v", name, goal, why.Code, why)
	}
	return goal
}

// Feed gives a controller a value of its stream.
func (r *Rig) Feed(name string, p control.Program) {
	r.T.Helper()
	r.Send(loop.Order{Kind: loop.Feed, Controller: r.Controller(name), Program: p})
}

// Cancel ends what a controller does.
func (r *Rig) Cancel(name string) {
	r.T.Helper()
	r.Send(loop.Order{Kind: loop.CancelGoal, Controller: r.Controller(name)})
}

// Refused tells whether a goal was rejected, and why.
func (r *Rig) Refused(goal uint64) (control.Reason, bool) {
	for _, rep := range r.Reports {
		if rep.Kind == loop.GoalRejected && rep.Goal == goal {
			return rep.Reason, true
		}
	}
	return control.Reason{}, false
}

// Ended tells whether a goal is over, and how.
func (r *Rig) Ended(goal uint64) (control.Status, control.Reason, bool) {
	for _, rep := range r.Reports {
		if rep.Kind == loop.GoalEnded && rep.Goal == goal {
			return rep.Status, rep.Reason, true
		}
	}
	return 0, control.Reason{}, false
}

// Until runs until a goal is over, for so many seconds at most.
func (r *Rig) Until(goal uint64, seconds float64) (control.Status, control.Reason) {
	r.T.Helper()
	for range int(math.Round(seconds / r.Dt)) {
		if st, why, over := r.Ended(goal); over {
			return st, why
		}
		r.Run(1)
	}
	r.T.Fatalf("goal %d is not over after %g s", goal, seconds)
	return 0, control.Reason{}
}

// Activity returns what a controller does.
func (r *Rig) Activity(name string) loop.Activity { return r.Now.Active[r.Controller(name)] }

// Set returns the leaves of resources.
func (r *Rig) Set(names ...string) robot.Set { return Set(r.T, r.M, names...) }

// Set returns the leaves of resources of a robot.
func Set(t testing.TB, m *robot.Model, names ...string) (all robot.Set) {
	t.Helper()
	res, err := m.Resources()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		s, ok := res.Find(n)
		if !ok {
			t.Fatalf("no resource %q", n)
		}
		all = all.Union(s)
	}
	return all
}

// Joint returns the number of a joint.
func (r *Rig) Joint(name string) int {
	r.T.Helper()
	j, ok := r.M.Joint(name)
	if !ok {
		r.T.Fatalf("no joint %q", name)
	}
	return int(j)
}

// Periods are those that timing is tested with, s: of a virtual robot, and of a
// HerkuleX bus; the short variants of tests take the second, which has fewer ticks.
func Periods() []float64 {
	if testing.Short() {
		return []float64{0.0112}
	}
	return []float64{0.001, 0.0112}
}

package loop

import (
	"math"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/dynamics"
	"poise/robot"
	"poise/servo"
	"poise/servo/sim"
)

// gravity returns what each joint of a fixed robot carries at a pose, N·m.
func gravity(m *robot.Model) func(dst, q []float64) {
	d := dynamics.NewData(m)
	full, tau := make([]float64, m.NumQ()), make([]float64, m.NumV())
	return func(dst, q []float64) {
		for i, j := range m.Joints() {
			full[j.Q] = q[i]
		}
		d.GravityTo(tau, full)
		for i, j := range m.Joints() {
			dst[i] = tau[j.V]
		}
	}
}

// keeper is a controller that keeps joints at a place, with or without the torque
// that gravity asks for there.
type keeper struct {
	gravity func(dst, q []float64) // nil gives no feed-forward
	p       *keep
}

type keep struct {
	joints robot.Set
	q      []float64
}

func (p *keep) Claim() (needs, wants robot.Set) { return p.joints, wants }

func (c *keeper) Check(*control.Input, control.Program) control.Reason {
	return control.Because(control.OK)
}

func (c *keeper) Start(_ *control.Input, p control.Program) control.Reason {
	c.p = p.(*keep)
	return control.Because(control.OK)
}

func (c *keeper) Update(_ *control.Input, out *control.Reference) (control.Status, control.Reason) {
	out.Has = c.p.joints
	copy(out.Q, c.p.q)
	clear(out.V)
	clear(out.A)
	if c.gravity != nil {
		c.gravity(out.Tau, c.p.q)
	}
	return control.Going, control.Because(control.OK)
}

func (c *keeper) Owned(*control.Input, robot.Set) control.Status { return control.Going }

// effortRig is an arm on servos of finite stiffness that carries its own weight,
// with a keeper that knows of it and one that does not.
type effortRig struct {
	*rig
	load  []float64 // gravity at pose
	q     []float64
	bound float64 // of a change of effort per tick, N·m
	goal  uint64
}

const (
	plainKeeper arbiter.ClientID = iota
	fedKeeper
)

func newEffortRig(t testing.TB, period float64) *effortRig {
	t.Helper()
	p := parts{robot: "arm6", period: period, servo: sim.Servo{Stiffness: 1500, Lag: 0.02}, settings: Settings{Policy: arbiter.PolicyLast}}
	m := model(t, p.robot, p.options)
	r := &effortRig{q: []float64{0.3, 0.9, 0.2, 0.1, -0.6, 0.2, 0.01}, load: make([]float64, len(m.Joints()))}
	gravity(m)(r.load, r.q)
	p.load, p.pose = gravity(m), r.q
	p.others = []Registration{{Name: "plain", Controller: &keeper{}}, {Name: "fed", Controller: &keeper{gravity: gravity(m)}}}
	r.rig = newRig(t, p)
	for _, x := range r.load {
		r.bound = max(r.bound, math.Abs(x))
	}
	r.bound *= period / 0.25 * (1 + 1e-9) // a hand-over takes a quarter of a second at least
	return r
}

// watch runs for some seconds; neither command nor setpoint may step.
func (r *effortRig) watch(seconds float64) {
	r.t.Helper()
	tau, effort := make([]float64, len(r.q)), make([]float64, len(r.q))
	for range int(seconds / r.dt) {
		for j := range r.q {
			tau[j], effort[j] = r.l.command.Tau[j], r.l.setpoint[j].Effort
		}
		r.run(1)
		for j := range r.q {
			if d := math.Abs(r.l.command.Tau[j] - tau[j]); d > r.bound {
				r.t.Fatalf("tick %d, joint %d: the command's effort steps by %g N·m, %g at most", r.n, j, d, r.bound)
			}
			if d := math.Abs(r.l.setpoint[j].Effort - effort[j]); d > r.bound {
				r.t.Fatalf("tick %d, joint %d: the setpoint's effort steps by %g N·m, %g at most", r.n, j, d, r.bound)
			}
		}
	}
}

// give hands the arm to a keeper.
func (r *effortRig) give(who arbiter.ClientID) {
	r.goal++
	r.l.Send(Order{Kind: StartGoal, Controller: who, Goal: r.goal, Program: &keep{joints: control.JointLeaves(len(r.q)), q: r.q}})
}

// error is how far the arm is from its command, the largest of its joints, rad.
func (r *effortRig) error() (worst float64) {
	for j := range r.q {
		worst = max(worst, math.Abs(r.l.command.Q[j]-r.bus.Joint(j)))
	}
	return worst
}

// TestFeedForwardRemovesTheSag gives the arm from hand to hand: gravity torque as
// feed-forward removes at least nine tenths of the sag that the servos have without,
// the holder keeps it removed, and no hand-over steps.
func TestFeedForwardRemovesTheSag(t *testing.T) {
	for _, dt := range []float64{period, busPeriod} {
		r := newEffortRig(t, dt)
		r.give(plainKeeper)
		r.watch(2)
		sag := r.error()
		if sag < 0.02 {
			t.Fatalf("the arm sags by %g rad only", sag)
		}
		const most = 0.1 // of the sag that may be left
		worst := 0.0
		straight := func(who string) {
			t.Helper()
			if left := r.error(); left > most*sag {
				t.Errorf("%s: %g rad of %g are left", who, left, sag)
			} else {
				worst = max(worst, left)
			}
		}
		sags := func(who string) {
			t.Helper()
			if left := r.error(); left < (1-most)*sag {
				t.Errorf("%s: %g rad, %g without feed-forward", who, left, sag)
			}
		}
		r.give(fedKeeper)
		r.watch(2)
		straight("with feed-forward")
		r.l.Send(Order{Kind: Halt, Controller: fedKeeper}) // unowned
		r.watch(2)
		straight("held")
		for j, want := range r.load {
			if r.l.command.Tau[j] != want {
				t.Errorf("joint %d is held with %g N·m, carried %g", j, r.l.command.Tau[j], want)
			}
		}
		r.l.Send(Order{Kind: Run, Controller: fedKeeper})
		r.give(fedKeeper)
		r.watch(1)
		straight("and back")
		r.give(plainKeeper)
		r.watch(2)
		sags("without again")
		r.give(fedKeeper)
		r.watch(0.1) // in the middle of a hand-over
		r.give(plainKeeper)
		r.watch(0.1)
		r.give(fedKeeper)
		r.watch(0.1)
		r.l.Send(Order{Kind: Halt, Controller: fedKeeper})
		r.watch(2)
		r.give(plainKeeper)
		r.watch(2)
		sags("at last")
		t.Logf("period %g s: sag %.4f rad, with feed-forward %.2g rad: %.3f %% removed", dt, sag, worst, 100*(1-worst/sag))
	}
}

// TestStopAndTorqueOffEndTheEffort: a stop that holds carries on, one that ends
// without torque has none, and torque comes back without.
func TestStopAndTorqueOffEndTheEffort(t *testing.T) {
	r := newEffortRig(t, period)
	r.give(fedKeeper)
	r.watch(1)
	r.l.Stop(2)
	r.watch(1)
	if r.l.command.Tau[1] != r.load[1] {
		t.Errorf("held after a stop with %g N·m, carried %g", r.l.command.Tau[1], r.load[1])
	}
	r.l.Stop(0)
	r.run(2)
	if r.l.command.Tau[1] != 0 || r.l.setpoint[1].Effort != 0 || r.l.setpoint[1].Mode != servo.Off {
		t.Errorf("no torque, and %g N·m; %+v", r.l.command.Tau[1], r.l.setpoint[1])
	}
	r.l.Send(Order{Kind: Reset})
	r.l.Send(Order{Kind: PowerOn})
	r.watch(0.5)
	if r.l.powered.state != Enabled || r.l.command.Tau[1] != 0 {
		t.Errorf("%v with %g N·m", r.l.powered.state, r.l.command.Tau[1])
	}
}

func TestEffortDoesNotAllocate(t *testing.T) {
	r := newEffortRig(t, period)
	a, b := &keep{control.JointLeaves(len(r.q)), r.q}, &keep{control.JointLeaves(len(r.q)), r.q}
	n := 0
	if allocs := testing.AllocsPerRun(400, func() {
		if n%50 == 0 {
			r.l.Send(Order{Kind: StartGoal, Controller: arbiter.ClientID(n / 50 % 2), Goal: uint64(n + 1), Program: []*keep{a, b}[n/50%2]})
		}
		r.l.Step(servo.Tick{N: r.n, Time: int64(r.n) * 1e6, Dt: period})
		r.n++
		n++
		for {
			if _, ok := r.l.Receive(); !ok {
				break
			}
		}
	}); allocs != 0 {
		t.Errorf("%v allocations a tick", allocs)
	}
	if r.l.command.Tau[1] == 0 {
		t.Error("no effort at all")
	}
}

// spring drives every joint as a spring, and notes what it is told.
type spring struct {
	off  bool // tries to take the torque away
	seen []servo.Command
}

func (s *spring) InvertTo(dst *servo.Setpoint, c *servo.Command) {
	s.seen[c.Joint] = *c
	if *dst = (servo.Setpoint{}); s.off {
		return
	}
	*dst = servo.Setpoint{Mode: servo.Impedance, Position: c.Position, Velocity: c.Velocity, Effort: c.Effort, Kp: 2000 * c.Stiffness, Kd: 20}
}

// TestInverterChoosesTheMode: an inverter of one's own drives the servos by
// impedance; it sees the whole command, and cannot decide about torque.
func TestInverterChoosesTheMode(t *testing.T) {
	m := model(t, "arm6", parts{}.options)
	s := &spring{seen: make([]servo.Command, len(m.Joints()))}
	q := []float64{0.3, 0.9, 0.2, 0.1, -0.6, 0.2, 0.01}
	r := newRig(t, parts{robot: "arm6", inverter: s, load: gravity(m), pose: q,
		others: []Registration{{Name: "fed", Controller: &keeper{gravity: gravity(m)}}}})
	r.l.Send(Order{Kind: StartGoal, Goal: 1, Program: &keep{joints: control.JointLeaves(len(q)), q: q}})
	r.run(2000)
	snap, _ := r.l.Snapshot()
	for j := range q {
		if snap.Mode[j] != servo.Impedance || r.l.setpoint[j].Mode != servo.Impedance {
			t.Fatalf("joint %d: mode %v, setpoint %+v", j, snap.Mode[j], r.l.setpoint[j])
		}
		if d := math.Abs(r.bus.Joint(j) - q[j]); d > 1e-3 {
			t.Errorf("joint %d is %g rad off", j, d)
		}
		c := &s.seen[j]
		if c.Joint != j || c.Position != q[j] || c.Effort != r.l.command.Tau[j] || c.Stiffness != 1 || c.Voltage != 12 || c.Dt != r.dt {
			t.Errorf("joint %d: %+v", j, c)
		}
	}
	s.off = true
	r.run(1)
	if !r.l.mode[0].Powered() || !r.l.setpoint[0].Mode.Powered() {
		t.Errorf("the inverter took the torque away: %+v", r.l.setpoint[0])
	}
	s.off = false
	r.l.Stop(0)
	r.run(1)
	if r.l.setpoint[0].Mode != servo.Off {
		t.Errorf("stopped, and %+v", r.l.setpoint[0])
	}
}

func TestUnknownInversionIsRefused(t *testing.T) {
	m := model(t, "arm6", parts{}.options)
	if _, err := New(Config{Model: m, Bus: sim.New(sim.Config{Servos: make([]sim.Servo, 7)}), Settings: Settings{Inversion: servo.InversionConfig{Name: "magic"}}}); err == nil {
		t.Error("accepted")
	}
}

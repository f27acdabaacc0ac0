package loop

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
)

const period = 0.001

// swing is a test controller: a sine about a centre, for the joints of its
// program, on a clock of its own that follows the rate.
type swing struct {
	l       *swingProgram
	t       float64
	clock   float64 // rate, slewed
	refuse  bool
	panics  bool
	nan     bool
	updates int
}

type swingProgram struct {
	needs, wants robot.Set
	centre       []float64 // of each joint
	amplitude, ω float64
	duration     float64 // 0 is for ever
}

func (p *swingProgram) Claim() (needs, wants robot.Set) { return p.needs, p.wants }

func (c *swing) Check(in *control.Input, p control.Program) control.Reason {
	if _, ok := p.(*swingProgram); !ok {
		return control.Because(control.BadProgram)
	}
	if c.refuse {
		return control.Because(control.StartTooFar)
	}
	return control.Because(control.OK)
}

func (c *swing) Start(in *control.Input, p control.Program) control.Reason {
	if why := c.Check(in, p); why.Code != control.OK {
		return why
	}
	c.l, c.t, c.clock = p.(*swingProgram), 0, 1
	return control.Because(control.OK)
}

func (c *swing) Update(in *control.Input, out *control.Reference) (control.Status, control.Reason) {
	c.updates++
	if c.panics {
		panic("test")
	}
	// a clock that slows within two seconds
	step := 2 * in.Tick.Dt
	c.clock += min(max(in.Rate-c.clock, -step), step)
	c.t += c.clock * in.Tick.Dt
	s, cos := math.Sincos(c.l.ω * c.t)
	out.Has, out.Peak = c.l.needs.Union(c.l.wants), 0.5
	for leaf := range out.Has.All {
		if j := int(leaf); j < len(out.Q) {
			out.Q[j] = c.l.centre[j] + c.l.amplitude*s
			out.V[j] = c.l.amplitude * c.l.ω * cos * c.clock
			out.A[j] = -c.l.amplitude * c.l.ω * c.l.ω * s * c.clock * c.clock
			if c.nan {
				out.Q[j] = math.NaN()
			}
		}
	}
	if c.l.duration > 0 && c.t >= c.l.duration {
		return control.Done, control.Because(control.OK)
	}
	return control.Going, control.Because(control.OK)
}

func (c *swing) Owned(in *control.Input, now robot.Set) control.Status {
	if !now.Contains(c.l.needs) {
		return control.Quit
	}
	return control.Going
}

// rig is a loop on a simulated robot, stepped by hand.
type rig struct {
	t       testing.TB
	l       *Loop
	bus     *sim.Bus
	m       *robot.Model
	n       uint64
	dt      float64
	reports []Report
	swings  []*swing
	last    []float64 // command of the tick before, and its step
	step    []float64
	checks  bool
}

func newRig(t testing.TB, name string, dt float64, controllers int, servos sim.Servo) *rig {
	t.Helper()
	bot, err := load.Robot(name, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := bot.Model
	all := make([]sim.Servo, len(m.Joints()))
	for i := range all {
		all[i] = servos
	}
	r := &rig{t: t, m: m, dt: dt, bus: sim.New(sim.Config{Servos: all, Seed: 1})}
	cfg := Config{Model: m, Bus: r.bus, Policy: arbiter.PolicyPriority}
	for i := range controllers {
		c := &swing{}
		r.swings = append(r.swings, c)
		cfg.Controllers = append(cfg.Controllers, Registration{Name: string(rune('a' + i)), Controller: c, Pending: float32(i), Operational: float32(i)})
	}
	if r.l, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	r.last, r.step = make([]float64, len(m.Joints())), make([]float64, len(m.Joints()))
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
		before := slices.Clone(r.l.command.Q)
		r.l.Step(servo.Tick{N: r.n, Time: int64(math.Round(float64(r.n) * r.dt * 1e9)), Dt: r.dt})
		r.n++
		for {
			rep, ok := r.l.Receive()
			if !ok {
				break
			}
			r.reports = append(r.reports, rep)
		}
		for j, q := range r.l.command.Q {
			v := (q - before[j]) / r.dt
			if r.checks {
				r.judge(j, q, v)
			}
			r.last[j], r.step[j] = q, v
		}
	}
}

// judge asks that a command is within the limits of its joint.
func (r *rig) judge(j int, q, v float64) {
	r.t.Helper()
	joint := &r.m.Joints()[j]
	b := joint.Limits
	switch {
	case !finite(q):
		r.t.Fatalf("tick %d, %s: command %g", r.n, joint.Name, q)
	case b.Lower.Has && q < b.Lower.Value-1e-6 || b.Upper.Has && q > b.Upper.Value+1e-6:
		r.t.Fatalf("tick %d, %s: position %g outside %s", r.n, joint.Name, q, b.Range())
	case b.Velocity.Has && math.Abs(v) > b.Velocity.Value*(1+1e-5):
		r.t.Fatalf("tick %d, %s: velocity %g, limit %g", r.n, joint.Name, v, b.Velocity.Value)
	}
	acc := math.Abs(v-r.step[j]) / r.dt
	if b.Acceleration.Has && acc > b.Acceleration.Value*(1+1e-4)+1e-5 {
		r.t.Fatalf("tick %d, %s: acceleration %g, limit %g", r.n, joint.Name, acc, b.Acceleration.Value)
	}
}

// limb returns the leaves of a group, and a program that swings it.
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

func (r *rig) program(set robot.Set, amplitude, ω float64) *swingProgram {
	p := &swingProgram{needs: set, centre: make([]float64, r.l.dof), amplitude: amplitude, ω: ω}
	for j := range p.centre {
		l := r.m.Joints()[j].Limits
		if l.Lower.Has && l.Upper.Has {
			p.centre[j] = (l.Lower.Value + l.Upper.Value) / 2
		}
	}
	return p
}

func (r *rig) goal(controller int, goal uint64, p control.Program) {
	r.l.Send(Order{Kind: StartGoal, Controller: arbiter.ClientID(controller), Goal: goal, Program: p})
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

func TestTorqueOnBeginsAtTheMeasuredPose(t *testing.T) {
	bot, _ := load.Robot("arm6", load.Options{})
	n := len(bot.Model.Joints())
	pose := make([]float64, n)
	for i := range pose {
		pose[i] = 0.01 * float64(i+1)
	}
	bus := sim.New(sim.Config{Servos: make([]sim.Servo, n), Position: pose})
	l, err := New(Config{Model: bot.Model, Bus: bus})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 10 {
		if k == 5 {
			l.Send(Order{Kind: PowerOn})
		}
		l.Step(servo.Tick{N: uint64(k), Time: int64(k) * 1e6, Dt: period})
		for j := range pose {
			if bus.Joint(j) != pose[j] {
				t.Fatalf("tick %d: joint %d jumped from %g to %g", k, j, pose[j], bus.Joint(j))
			}
		}
	}
	if l.powered.state != Enabled {
		t.Errorf("power %v", l.powered.state)
	}
}

func TestJointNeverReadIsNotEnergised(t *testing.T) {
	bot, _ := load.Robot("arm6", load.Options{})
	servos := make([]sim.Servo, len(bot.Model.Joints()))
	servos[3].Unreadable = true
	l, _ := New(Config{Model: bot.Model, Bus: sim.New(sim.Config{Servos: servos})})
	l.Send(Order{Kind: PowerOn})
	for k := range 20 {
		l.Step(servo.Tick{N: uint64(k), Time: int64(k) * 1e6, Dt: period})
	}
	if l.powered.state != Off {
		t.Errorf("power %v", l.powered.state)
	}
	for j := range l.setpoint {
		if l.setpoint[j].Mode != servo.Off {
			t.Errorf("joint %d has torque", j)
		}
	}
}

func TestGoalRunsToItsEndOnTheReference(t *testing.T) {
	r := newRig(t, "arm6", period, 1, sim.Servo{})
	r.checks = true
	p := r.program(r.limb("manipulator"), 0.2, 1)
	p.duration = 3
	r.goal(0, 7, p)
	r.run(4000)
	var story []ReportKind
	for _, rep := range r.reports {
		if rep.Kind == GoalStarted || rep.Kind == GoalEnded {
			story = append(story, rep.Kind)
			if rep.Goal != 7 || (rep.Kind == GoalEnded && rep.Status != control.Done) {
				t.Errorf("%+v", rep)
			}
		}
	}
	if !slices.Equal(story, []ReportKind{GoalStarted, GoalEnded}) {
		t.Errorf("story %v", story)
	}
	if o := r.l.arb.Owner(0); o != arbiter.Nobody {
		t.Errorf("joint 1 is still with %d", o)
	}
}

// TestCommandIsTheReferenceOnceTheBridgeEnds looks at every tick: while bridging
// the command is smooth, afterwards it is the reference bit for bit.
func TestCommandIsTheReferenceOnceTheBridgeEnds(t *testing.T) {
	r := newRig(t, "arm6", period, 1, sim.Servo{})
	r.checks = true
	r.goal(0, 1, r.program(r.limb("manipulator"), 0.2, 1))
	equal := 0
	for range 5000 {
		r.run(1)
		c := r.swings[0]
		if c.l == nil {
			continue
		}
		ref := r.l.seats[0].ref
		same := true
		for leaf := range c.l.needs.All {
			same = same && r.l.command.Q[leaf] == ref.Q[leaf] && r.l.command.V[leaf] == ref.V[leaf]
		}
		if same {
			equal++
		}
	}
	if equal < 1000 {
		t.Errorf("command equals reference in %d of 5000 ticks", equal)
	}
}

func TestHigherPriorityTakesTheLimbAndGivesItBack(t *testing.T) {
	r := newRig(t, "pony", period, 2, sim.Servo{})
	r.checks = true
	head := r.limb("head")
	low := r.program(robot.Set{}, 0.05, 1)
	low.needs, low.wants = r.limb("tail"), head
	r.goal(0, 1, low)
	r.run(500)
	high := r.program(head, 0.05, 2)
	high.duration = 0.5
	r.goal(1, 2, high)
	r.run(200)
	if o := r.l.arb.Owner(first(head)); o != 1 {
		t.Fatalf("the head is with %d", o)
	}
	r.run(2000)
	if o := r.l.arb.Owner(first(head)); o != 0 {
		t.Errorf("the head did not come back: %d", o)
	}
	if r.l.seats[0].program == nil {
		t.Error("losing a wanted limb ended the goal")
	}
}

func first(s robot.Set) robot.LeafID {
	for leaf := range s.All {
		return leaf
	}
	return 0
}

func TestRefusalsHaveTheirReason(t *testing.T) {
	r := newRig(t, "pony", period, 2, sim.Servo{})
	head := r.limb("head")
	r.goal(1, 1, r.program(head, 0.05, 1))
	r.run(5)
	for _, tc := range []struct {
		name string
		do   func()
		want control.Code
	}{
		{"held by a higher priority", func() { r.goal(0, 2, r.program(head, 0.05, 1)) }, control.NotGranted},
		{"conditions unmet", func() { r.swings[0].refuse = true; r.goal(0, 3, r.program(r.limb("tail"), 0.05, 1)) }, control.StartTooFar},
		{"not its program", func() { r.swings[0].refuse = false; r.goal(0, 4, other{}) }, control.BadProgram},
		{"no program", func() { r.goal(0, 5, nil) }, control.BadProgram},
		{"not running", func() {
			r.l.Send(Order{Kind: Halt, Controller: 0})
			r.goal(0, 6, r.program(r.limb("tail"), 0.05, 1))
		}, control.NotRunning},
	} {
		r.reports = nil
		tc.do()
		r.run(2)
		got := r.told(GoalRejected)
		if len(got) != 1 || got[0].Reason.Code != tc.want {
			t.Errorf("%s: %+v, want %v", tc.name, got, tc.want)
		}
		if r.l.seats[1].program == nil {
			t.Fatalf("%s: the running goal was disturbed", tc.name)
		}
	}
}

type other struct{}

func (other) Claim() (a, b robot.Set) { return }

func TestHeldResourcesAreSwappedInTheSameTick(t *testing.T) {
	r := newRig(t, "pony", period, 1, sim.Servo{})
	r.checks = true
	p := r.program(r.limb("leg1"), 0.05, 1)
	r.goal(0, 1, p)
	r.run(300)
	r.reports = nil
	q := r.program(r.limb("leg1"), 0.05, 3)
	r.goal(0, 2, q)
	r.run(1)
	if r.l.seats[0].goal != 2 {
		t.Error("not swapped in one tick")
	}
	if ended := r.told(GoalEnded); len(ended) != 1 || ended[0].Goal != 1 || ended[0].Reason.Code != control.Replaced {
		t.Errorf("%+v", ended)
	}
	r.run(2000)
}

func TestCancelRampsDown(t *testing.T) {
	r := newRig(t, "arm6", period, 1, sim.Servo{})
	r.checks = true
	r.goal(0, 1, r.program(r.limb("manipulator"), 0.3, 2))
	r.run(2500)
	r.l.Send(Order{Kind: CancelGoal, Controller: 0})
	r.run(3000)
	ended := r.told(GoalEnded)
	if len(ended) != 1 || ended[0].Reason.Code != control.Cancelled {
		t.Fatalf("%+v", ended)
	}
	if !r.l.atRest() {
		t.Error("not at rest")
	}
}

// TestStopsAtEveryInstant stops motions of all categories at many instants: the
// command stays within its limits on the way, and afterwards it is held.
func TestStopsAtEveryInstant(t *testing.T) {
	instants := 60
	if testing.Short() {
		instants = 8
	}
	for category := uint8(0); category <= 2; category++ {
		for k := range instants {
			r := newRig(t, "arm6", 0.0112, 1, sim.Servo{})
			r.checks = true
			r.goal(0, 1, r.program(r.limb("manipulator"), 0.3, 2))
			r.run(200 + k*3)
			r.l.Stop(category)
			r.run(300)
			stopped := r.told(Stopped)
			if len(stopped) != 1 || stopped[0].Value != float64(category) || stopped[0].Time > defaultDeadline+0.1 {
				t.Fatalf("category %d at %d: %+v", category, k, stopped)
			}
			held := slices.Clone(r.l.command.Q)
			r.run(50)
			if !slices.Equal(held, r.l.command.Q) {
				t.Fatalf("category %d at %d: not held", category, k)
			}
			want := servo.Position
			if category < 2 {
				want = servo.Off
			}
			if got := r.l.setpoint[0].Mode; got != want {
				t.Fatalf("category %d: servo is %v, want %v", category, got, want)
			}
			// nothing moves before a separate act
			r.goal(0, 2, r.program(r.limb("manipulator"), 0.3, 2))
			r.run(5)
			if rej := r.told(GoalRejected); len(rej) != 1 {
				t.Fatalf("category %d: a goal was taken after a stop: %+v", category, rej)
			}
		}
	}
}

func TestRestartAfterAStopIsASeparateAct(t *testing.T) {
	r := newRig(t, "arm6", period, 1, sim.Servo{})
	r.l.Stop(1)
	r.run(50)
	r.l.Send(Order{Kind: PowerOn})
	r.run(2)
	if r.l.powered.state == Enabled {
		t.Error("power came back without a reset")
	}
	r.l.Send(Order{Kind: Reset})
	r.l.Send(Order{Kind: PowerOn})
	r.run(3)
	if r.l.powered.state != Enabled {
		t.Errorf("power %v after reset", r.l.powered.state)
	}
}

func TestPanicIsTheControllersOwnFault(t *testing.T) {
	r := newRig(t, "pony", period, 2, sim.Servo{})
	r.checks = true
	r.goal(0, 1, r.program(r.limb("leg1"), 0.1, 2))
	r.goal(1, 2, r.program(r.limb("leg2"), 0.1, 2))
	r.run(900)
	r.reports = nil
	r.swings[0].panics = true
	r.run(1000)
	ended := r.told(GoalEnded)
	if len(ended) != 1 || ended[0].Goal != 1 || ended[0].Reason.Code != control.Panicked || ended[0].Status != control.Failed {
		t.Fatalf("%+v", ended)
	}
	if r.l.seats[1].program == nil {
		t.Error("another controller was stopped")
	}
	if o := r.l.arb.Owner(first(r.limb("leg1"))); o != arbiter.Nobody {
		t.Errorf("leg 1 is with %d", o)
	}
}

func TestNotANumberStopsItsController(t *testing.T) {
	r := newRig(t, "pony", period, 1, sim.Servo{})
	r.checks = true
	r.goal(0, 1, r.program(r.limb("leg1"), 0.1, 2))
	r.run(900)
	r.swings[0].nan = true
	r.run(500)
	if ended := r.told(GoalEnded); len(ended) != 1 || ended[0].Status != control.Failed {
		t.Errorf("%+v", ended)
	}
}

func TestFullRingRefusesTheSender(t *testing.T) {
	r := newRig(t, "pony", period, 1, sim.Servo{})
	sent := 0
	for r.l.Send(Order{Kind: SetRate, Value: 1}) {
		sent++
	}
	if sent != defaultOrders {
		t.Errorf("%d orders taken, want %d", sent, defaultOrders)
	}
	r.run(defaultOrders/ordersPerTick + 1)
	if !r.l.Send(Order{Kind: SetRate, Value: 1}) {
		t.Error("still full after the ring was drained")
	}
}

// TestOneWriterPerJoint lets two controllers fight for a leg at every tick.
func TestOneWriterPerJoint(t *testing.T) {
	r := newRig(t, "pony", period, 2, sim.Servo{})
	r.checks = true
	rng := rand.New(rand.NewPCG(3, 9))
	leg := r.limb("leg1")
	for n := range 3000 {
		r.goal(rng.IntN(2), uint64(n+1), r.program(leg, 0.05, 1+3*rng.Float64()))
		r.run(1)
		writer := r.l.source[int(first(leg))]
		for leaf := range leg.All {
			if int(leaf) < r.l.dof && r.l.source[leaf] != writer {
				t.Fatalf("tick %d: leg 1 has two writers", n)
			}
		}
	}
}

func TestRandomSwitchesKeepTheLimits(t *testing.T) {
	r := newRig(t, "arm6", period, 3, sim.Servo{})
	r.checks = true
	rng := rand.New(rand.NewPCG(5, 5))
	set := r.limb("manipulator")
	switches := 1000
	if testing.Short() {
		switches = 50
	}
	for n := range switches {
		p := r.program(set, 0.1+0.2*rng.Float64(), 0.5+2*rng.Float64())
		for j := range p.centre {
			p.centre[j] *= rng.Float64()
		}
		r.goal(rng.IntN(3), uint64(n+1), p)
		r.run(1 + rng.IntN(60))
		if rng.IntN(10) == 0 {
			r.l.Send(Order{Kind: CancelGoal, Controller: arbiter.ClientID(rng.IntN(3))})
		}
	}
}

func TestFaultsOfOneJointStopItsLimb(t *testing.T) {
	for _, tc := range []struct {
		name    string
		trouble sim.Trouble
		kind    FaultKind
	}{
		{"frozen servo", sim.Trouble{Frozen: true}, Tracking},
		{"over temperature", sim.Trouble{Temperature: 90}, Hot},
		{"silent servo", sim.Trouble{Silent: true}, StaleReading},
		{"servo fault", sim.Trouble{Fault: servo.Overload}, ServoFault},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, "pony", period, 2, sim.Servo{})
			r.checks = true
			tc.trouble.Joint = int(first(r.limb("leg1")))
			tc.trouble.From = 1000
			r.bus.Plan(tc.trouble)
			r.goal(0, 1, r.program(r.limb("leg1"), 0.5, 2))
			r.goal(1, 2, r.program(r.limb("leg2"), 0.1, 2))
			r.run(4000)
			var raised bool
			for _, rep := range r.reports {
				raised = raised || rep.Kind == FaultRaised && rep.Fault == tc.kind && int(rep.Reason.Joint) == tc.trouble.Joint
			}
			if !raised {
				t.Fatal("no fault was raised")
			}
			if r.l.seats[0].program != nil || r.l.seats[1].program == nil {
				t.Errorf("leg 1 runs: %v, leg 2 runs: %v", r.l.seats[0].program != nil, r.l.seats[1].program != nil)
			}
		})
	}
}

func TestBusDownStopsTheRobot(t *testing.T) {
	r := newRig(t, "pony", period, 1, sim.Servo{})
	r.goal(0, 1, r.program(r.limb("leg1"), 0.1, 2))
	r.run(500)
	r.bus.Down(func(n uint64) bool { return n > 600 })
	r.run(3000)
	if r.l.powered.state == Enabled {
		t.Error("still enabled")
	}
}

func TestSameTicksSameCommands(t *testing.T) {
	run := func() [][]float64 {
		r := newRig(t, "pony", period, 2, sim.Servo{Lag: 0.03, Loss: 0.1, Noise: 1e-3})
		var out [][]float64
		for n := range 1500 {
			if n%100 == 0 {
				r.goal(n/100%2, uint64(n+1), r.program(r.limb("leg1"), 0.1, 2))
			}
			if n == 900 {
				r.l.Stop(2)
			}
			r.run(1)
			out = append(out, slices.Clone(r.l.command.Q))
		}
		return out
	}
	a, b := run(), run()
	for n := range a {
		if !slices.Equal(a[n], b[n]) {
			t.Fatalf("tick %d differs", n)
		}
	}
}

func TestStepDoesNotAllocate(t *testing.T) {
	r := newRig(t, "pony", period, 3, sim.Servo{Lag: 0.02, Loss: 0.05})
	programs := []*swingProgram{r.program(r.limb("leg1"), 0.1, 2), r.program(r.limb("leg1"), 0.1, 3), r.program(r.limb("head"), 0.05, 1)}
	n := 0
	if a := testing.AllocsPerRun(2000, func() {
		if n%50 == 0 {
			r.l.Send(Order{Kind: StartGoal, Controller: arbiter.ClientID(n / 50 % 3), Goal: uint64(n + 1), Program: programs[n/50%3]})
		}
		r.l.Step(servo.Tick{N: r.n, Time: int64(r.n) * 1e6, Dt: period})
		r.n++
		n++
		for {
			if _, ok := r.l.Receive(); !ok {
				break
			}
		}
		r.l.Snapshot()
	}); a != 0 {
		t.Errorf("%v allocations a tick", a)
	}
}

// BenchmarkStep is a tick of the pony with six controllers.
func BenchmarkStep(b *testing.B) {
	r := newRig(b, "pony", period, 6, sim.Servo{})
	for i, g := range []string{"leg1", "leg2", "leg3", "leg4", "head", "tail"} {
		r.goal(i, uint64(i+1), r.program(r.limb(g), 0.05, 1))
	}
	r.run(10)
	for _, s := range r.l.seats {
		if s.program == nil {
			b.Fatal("not all controllers are active")
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		r.l.Step(servo.Tick{N: r.n, Time: int64(r.n) * 1e6, Dt: period})
		r.n++
	}
}

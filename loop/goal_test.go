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

func TestTorqueOnBeginsAtTheMeasuredPose(t *testing.T) {
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
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
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	servos := make([]sim.Servo, len(bot.Model.Joints()))
	servos[3].Unreadable = true
	l, err := New(Config{Model: bot.Model, Bus: sim.New(sim.Config{Servos: servos})})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 20 {
		if k == 10 {
			l.Send(Order{Kind: PowerOn})
		}
		l.Step(servo.Tick{N: uint64(k), Time: int64(k) * 1e6, Dt: period})
	}
	if l.powered.state != Off {
		t.Errorf("power %v", l.powered.state)
	}
	refused, told := false, []Report{}
	for r, ok := l.Receive(); ok; r, ok = l.Receive() {
		told = append(told, r)
		refused = refused || r.Kind == OrderRefused && r.Reason.Code == control.NeverRead && r.Reason.Joint == 3
	}
	if !refused {
		t.Errorf("the joint that was never read is not named: %+v", told)
	}
	for j := range l.setpoint {
		if l.setpoint[j].Mode != servo.Off {
			t.Errorf("joint %d has torque", j)
		}
	}
}

// TestGoalEndsOnItsLastReference: what a controller writes in the tick in which it
// is done still counts, so a motion ends where it was to end.
func TestGoalEndsOnItsLastReference(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 1})
	r.checks = true
	p := r.program(r.limb("manipulator"), 0.2, 1)
	p.Duration = 3
	r.must(0, 7, p)
	var last []float64
	for r.l.seats[0].program != nil {
		r.run(1)
		last = slices.Clone(r.l.seats[0].ref.Q)
		for leaf := range p.Needs.All {
			if j := int(leaf); j < r.l.dof && r.l.seats[0].program == nil && r.l.command.Q[j] != last[j] {
				t.Errorf("joint %d ends at %v, its last reference is %v", j, r.l.command.Q[j], last[j])
			}
		}
	}
	if r.l.arb.Owner(0) != arbiter.NoClient {
		t.Errorf("joint 1 is still with %d", r.l.arb.Owner(0))
	}
	ended := r.told(GoalEnded)
	if len(ended) != 1 || ended[0].Goal != 7 || ended[0].Status != control.Done || ended[0].Tick.N != r.n-1 {
		t.Errorf("%+v", ended)
	}
}

// TestCommandIsTheReferenceOnceTheBridgeEnds looks at every tick: while bridging
// the command is smooth, afterwards it is the reference bit for bit.
func TestCommandIsTheReferenceOnceTheBridgeEnds(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 1})
	r.checks = true
	p := r.program(r.limb("manipulator"), 0.2, 1)
	r.must(0, 1, p)
	equal := 0
	for range 5000 {
		r.run(1)
		ref, over, same := r.l.seats[0].ref, true, true
		for leaf := range p.Needs.All {
			over = over && !r.l.shaper.HandingOver(int(leaf))
			same = same && r.l.command.Q[leaf] == ref.Q[leaf] && r.l.command.V[leaf] == ref.V[leaf]
		}
		if over && !same {
			t.Fatalf("tick %d: the hand-over is over, and the command is not the reference", r.n)
		}
		if over {
			equal++
		}
	}
	if equal < 1000 {
		t.Errorf("command equals reference in %d of 5000 ticks", equal)
	}
}

func TestHigherPriorityTakesTheLimbAndGivesItBack(t *testing.T) {
	r := newRig(t, parts{robot: "pony", controllers: 2})
	r.checks = true
	head := r.limb("head")
	low := r.program(r.limb("tail"), 0.05, 1)
	low.Wants = head
	r.must(0, 1, low)
	r.run(500)
	high := r.program(head, 0.05, 2)
	high.Duration = 0.5
	r.must(1, 2, high)
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

func TestRefusalsHaveTheirReason(t *testing.T) {
	r := newRig(t, parts{robot: "pony", controllers: 2})
	head := r.limb("head")
	r.must(1, 1, r.program(head, 0.05, 1))
	for _, tc := range []struct {
		name string
		do   func()
		want control.Code
	}{
		{"held by a higher priority", func() { r.goal(0, 2, r.program(head, 0.05, 1)) }, control.NotGranted},
		{"conditions unmet", func() { r.swings[0].refuse = true; r.goal(0, 3, r.program(r.limb("tail"), 0.05, 1)) }, control.StartTooFar},
		{"not its program", func() { r.swings[0].refuse = false; r.goal(0, 4, other{}) }, control.BadProgram},
		{"no program", func() { r.goal(0, 5, nil) }, control.BadProgram},
		{"too fast", func() { r.goal(0, 7, r.program(r.limb("tail"), 5, 10)) }, control.BeyondLimit},
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
		if tc.want == control.NotGranted && (got[0].Reason.Who != 1 || !head.Has(robot.LeafID(got[0].Reason.Joint))) {
			t.Errorf("%s: not told who has what: %+v", tc.name, got[0].Reason)
		}
		if r.l.seats[1].program == nil {
			t.Fatalf("%s: the running goal was disturbed", tc.name)
		}
	}
	r.l.Send(Order{Kind: Run, Controller: 0})
	r.must(0, 8, r.program(r.limb("tail"), 0.05, 1))
}

type other struct{}

func (other) Claim() (a, b robot.Set) { return }

func TestRefusedOrdersAreTold(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 1})
	for _, o := range []Order{
		{Kind: SetRate, Value: math.NaN()}, {Kind: SetRate, Value: -0.1}, {Kind: SetRate, Value: 2.1}, {Kind: GoalRate, Value: 3},
		{Kind: CancelGoal}, {Kind: StartGoal, Controller: 9}, {Kind: 77},
	} {
		r.reports = nil
		r.l.Send(o)
		r.run(1)
		if got := r.told(OrderRefused); len(got) != 1 || got[0].Reason.Code == control.OK {
			t.Errorf("%+v: %+v", o, got)
		}
	}
	if r.l.rates.all != 1 {
		t.Errorf("rate is %g", r.l.rates.all)
	}
}

func TestHeldResourcesAreSwappedInTheSameTick(t *testing.T) {
	r := newRig(t, parts{robot: "pony", controllers: 1})
	r.checks = true
	r.must(0, 1, r.program(r.limb("leg1"), 0.05, 1))
	r.run(300)
	r.reports = nil
	r.goal(0, 2, r.program(r.limb("leg1"), 0.05, 3))
	r.run(1)
	if r.l.seats[0].goal != 2 {
		t.Error("not swapped in one tick")
	}
	if ended := r.told(GoalEnded); len(ended) != 1 || ended[0].Goal != 1 || ended[0].Reason.Code != control.Replaced {
		t.Errorf("%+v", ended)
	}
	r.run(2000)
}

func TestFullRingRefusesTheSender(t *testing.T) {
	r := newRig(t, parts{robot: "pony", controllers: 1})
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

// TestReportsAreNeverLost: while reports are not read, orders wait, and their senders are
// told in the end.
func TestReportsAreNeverLost(t *testing.T) {
	r := newRig(t, parts{robot: "pony", controllers: 1})
	r.reports = nil
	sent := 0
	for n := range 3000 {
		for r.l.Send(Order{Kind: CancelGoal, Goal: uint64(sent + 1)}) {
			sent++
		}
		r.l.Step(servo.Tick{N: r.n + uint64(n), Time: int64(r.n+uint64(n)) * 1e6, Dt: period})
	}
	r.n += 3000
	if r.l.lost != 0 {
		t.Fatalf("%d reports lost", r.l.lost)
	}
	for range 2000 {
		r.run(1)
	}
	for i, rep := range r.told(OrderRefused) {
		if rep.Goal != uint64(i+1) {
			t.Fatalf("report %d is about order %d", i, rep.Goal)
		}
	}
}

// TestOneWriterPerJoint lets two controllers fight for a leg at every tick.
func TestOneWriterPerJoint(t *testing.T) {
	fights := 3000
	if testing.Short() {
		fights = 300
	}
	for _, dt := range []float64{period, busPeriod} {
		r := newRig(t, parts{robot: "pony", controllers: 2, period: dt, settings: Settings{Policy: arbiter.PolicyLast}})
		r.checks = true
		rng := rand.New(rand.NewPCG(3, 9))
		leg := r.limb("leg1")
		writers := map[arbiter.ClientID]int{}
		for n := range fights {
			r.goal(rng.IntN(2), uint64(n+1), r.program(leg, 0.05, 1+3*rng.Float64()))
			r.run(1)
			writer := r.l.merge.Writer[first(leg)]
			writers[writer]++
			for leaf := range leg.All {
				if r.l.merge.Writer[leaf] != writer {
					t.Fatalf("tick %d: leg 1 has two writers", n)
				}
				if r.l.merge.Writer[leaf] != r.l.arb.Owner(leaf) {
					t.Fatalf("tick %d: leaf %d is written by %d and owned by %d", n, leaf, r.l.merge.Writer[leaf], r.l.arb.Owner(leaf))
				}
			}
		}
		t.Logf("period %g ms: %d fights, writers %v", dt*1e3, fights, writers)
	}
}

// TestOwnerAloneWrites without a policy too: both controllers are granted the leg and
// perform, and the newer one owns what it writes.
func TestOwnerAloneWrites(t *testing.T) {
	r := newRig(t, parts{robot: "pony", controllers: 2, granted: true})
	leg := r.limb("leg1")
	for n, who := range []int{1, 0} { // the one that does not own it is asked last
		r.must(who, uint64(n+1), r.program(leg, 0.05, 1))
		r.run(5)
		for leaf := range leg.All {
			if w, o := r.l.merge.Writer[leaf], r.l.arb.Owner(leaf); w != o || w == arbiter.NoClient {
				t.Errorf("goal %d: leaf %d is written by %d and owned by %d", n+1, leaf, w, o)
			}
		}
	}
	for i, s := range r.l.seats {
		if s.program == nil || !r.l.arb.Owned(s.id).Contains(leg) {
			t.Errorf("controller %d does not hold the leg that it was granted", i)
		}
	}
}

func TestSupportGoesWithTheLeg(t *testing.T) {
	r := newRig(t, parts{robot: "pony", controllers: 1})
	res, _ := r.m.Resources()
	support, ok := res.Find("support/leg1")
	if !ok {
		t.Fatal("no support leaf")
	}
	chain, _ := r.m.Chain("leg1")
	if r.l.command.Support[chain].Weight != 1 {
		t.Error("legs do not carry at first")
	}
	r.must(0, 1, r.program(r.limb("leg1").Minus(support), 0.05, 1)) // the joints alone
	if r.l.arb.Owner(first(support)) != 0 {
		t.Error("who owns the leg's joints does not own its support")
	}
	if r.l.merge.Age[first(support)] == 0 {
		t.Error("support was not written, and is not old")
	}
	r.must(0, 2, r.program(r.limb("leg1"), 0.05, 1))
	if r.l.command.Support[chain].Weight != 0 {
		t.Error("a swinging leg still carries")
	}
}

func TestSameTicksSameCommands(t *testing.T) {
	run := func(stamp func(uint64) int64) []uint64 {
		var hashes []uint64
		tap := tapFunc(func(f *TickRecord) { hashes = append(hashes, f.Hash) })
		r := newRig(t, parts{robot: "pony", controllers: 2, servo: sim.Servo{Lag: 0.03, Loss: 0.1, Noise: 1e-3}, tap: tap})
		r.stamp = stamp
		for n := range 1500 {
			if n%100 == 0 {
				r.goal(n/100%2, uint64(n+1), r.program(r.limb("leg1"), 0.1, 2))
			}
			if n == 900 {
				r.l.Stop(2)
			}
			r.run(1)
		}
		return hashes
	}
	// the time of day jumps by an hour, forth and back: no effect
	steps := func(n uint64) int64 { return int64(n)*1e6 + int64(n/200%3-1)*3600e9 }
	if a, b := run(nil), run(steps); !slices.Equal(a, b) {
		t.Error("the same ticks gave different commands")
	}
}

type tapFunc func(*TickRecord)

func (f tapFunc) Tick(x *TickRecord) { f(x) }

// TestProbeIsTold of every stage in order, and nothing of it comes back.
func TestProbeIsTold(t *testing.T) {
	run := func(p Probe) (hashes []uint64) {
		tap := tapFunc(func(f *TickRecord) { hashes = append(hashes, f.Hash) })
		r := newRig(t, parts{robot: "pony", controllers: 1, servo: sim.Servo{Lag: 0.02, Noise: 1e-3}, tap: tap})
		r.l.SetProbe(p)
		r.must(0, 1, r.program(r.limb("leg1"), 0.1, 2))
		r.run(200)
		return hashes
	}
	var p stageProbe
	if with, without := run(&p), run(nil); !slices.Equal(with, without) {
		t.Error("a probe changes what the robot does")
	}
	if len(p) != 201*int(NumStages) {
		t.Fatalf("told %d times", len(p))
	}
	for i, s := range p {
		if s != Stage(i%int(NumStages)) {
			t.Fatalf("stage %v at place %d", s, i)
		}
	}
}

type stageProbe []Stage

func (p *stageProbe) Done(s Stage) { *p = append(*p, s) }

package loop

import (
	"slices"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/robot"
	"poise/servo"
	"poise/servo/sim"
)

func TestFaultsOfOneJointConcernItsLimb(t *testing.T) {
	for _, tc := range []struct {
		name    string
		trouble sim.Trouble
		kind    FaultKind
		off     bool // its leg lets go in the end
	}{
		{"frozen servo", sim.Trouble{Frozen: true}, TrackingError, false},
		{"over temperature", sim.Trouble{Temperature: 90}, Overheat, true},
		{"silent servo", sim.Trouble{Silent: true}, StaleReading, true},
		{"servo fault", sim.Trouble{Fault: servo.Overload}, ServoFault, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, parts{robot: "pony", period: busPeriod, controllers: 3})
			r.checks = true
			leg := r.limb("leg1")
			tc.trouble.Joint, tc.trouble.From = int(first(leg))+1, 100
			r.bus.Plan(tc.trouble)
			r.must(2, 1, r.program(leg, 0.5, 1.5))
			r.must(1, 2, r.program(r.limb("leg2"), 0.1, 2))
			tail := r.program(r.limb("tail"), 0.1, 1)
			tail.Wants = leg // and would have it once it is free
			r.must(0, 3, tail)
			r.run(900)
			if !slices.ContainsFunc(r.reports, func(rep Report) bool {
				return rep.Kind == FaultRaised && rep.Fault == tc.kind && int(rep.Reason.Joint) == tc.trouble.Joint
			}) {
				t.Fatal("no fault was raised")
			}
			for i, runs := range []bool{true, true, false} {
				if (r.l.seats[i].program != nil) != runs {
					t.Errorf("controller %d runs: %v", i, !runs)
				}
			}
			for leaf := range leg.All {
				if int(leaf) < r.l.dof && r.l.merge.Writer[leaf] != arbiter.NoClient {
					t.Errorf("leaf %d of a faulty limb is written by %d", leaf, r.l.merge.Writer[leaf])
				}
			}
			if got := r.l.mode[first(leg)] == servo.Off; got != tc.off {
				t.Errorf("off: %v, want %v", got, tc.off)
			}
			r.goal(2, 9, r.program(leg, 0.1, 1))
			r.run(1)
			if rej := r.told(GoalRejected); len(rej) != 1 || rej[0].Reason.Code != control.StoppedByFault {
				t.Errorf("a goal on a faulty limb: %+v", rej)
			}
		})
	}
}

// TestCrouchThenOff: a leg that is too hot goes to its safe pose within its
// limits and lets go there; after a reset it is limp, and with torque it begins where
// it then is.
func TestCrouchThenOff(t *testing.T) {
	r := newRig(t, parts{robot: "pony", period: 5 * period, controllers: 1, options: ponyLimits(t)})
	r.checks = true
	leg := r.limb("leg1")
	joint := int(first(leg)) + 2
	r.bus.Plan(sim.Trouble{Joint: joint, From: 300, Until: 1600, Temperature: 90})
	r.must(0, 1, r.program(leg, 0.3, 1))
	r.run(300 + 60)
	if !r.raised(Overheat) || !r.l.mode[joint].Powered() {
		t.Fatalf("raised %v, mode %v", r.raised(Overheat), r.l.mode[joint])
	}
	r.run(1100)
	pose, _ := r.m.Pose("lying")
	for k, id := range pose.Joints {
		if !leg.Has(robot.LeafID(id)) {
			continue
		}
		if got := r.bus.Joint(int(id)); got != pose.Q[k][0] {
			t.Errorf("%s is at %g, lying is %g", r.m.Joints()[id].Name, got, pose.Q[k][0])
		}
		if r.l.mode[id] != servo.Off {
			t.Errorf("%s is %v", r.m.Joints()[id].Name, r.l.mode[id])
		}
	}
	r.l.Send(Order{Kind: Reset})
	r.run(1)
	if refused := r.told(OrderRefused); len(refused) != 1 || refused[0].Fault != Overheat || r.l.faults.latch.active != 1 {
		t.Fatalf("a fault that is not gone was reset: %+v", refused)
	}
	r.run(400)
	r.bus.PoseByHand(joint, 0.7)
	r.run(2)
	r.l.Send(Order{Kind: Reset})
	r.run(100)
	if r.l.faults.latch.active != 0 || r.l.mode[joint] != servo.Off || r.bus.Joint(joint) != 0.7 {
		t.Errorf("%d faults, mode %v, joint at %g", r.l.faults.latch.active, r.l.mode[joint], r.bus.Joint(joint))
	}
	r.torque(true, leg)
	r.run(100)
	if !r.l.mode[joint].Powered() || r.bus.Joint(joint) != 0.7 {
		t.Errorf("mode %v, joint at %g", r.l.mode[joint], r.bus.Joint(joint))
	}
	r.must(0, 2, r.program(leg, 0.1, 1))
}

// TestSeverities raises the same fault with every severity and scope, and looks at
// what becomes of the joint, its limb and the rest.
func TestSeverities(t *testing.T) {
	const same, slow, held, off = "same", "slow", "held", "off"
	for _, tc := range []struct {
		severity          Severity
		scope             FaultScope
		joint, limb, rest string
	}{
		{SeverityWarn, ScopeJoint, same, same, same},
		{SeveritySlow, ScopeJoint, slow, slow, same},
		{SeveritySlow, ScopeLimb, slow, slow, same},
		{SeveritySlow, ScopeRobot, slow, slow, slow},
		{SeverityHold, ScopeLimb, held, held, same},
		{SeverityHold, ScopeRobot, held, held, held},
		{SeveritySafe, ScopeLimb, off, off, same},
		{SeveritySafe, ScopeRobot, off, off, held}, // the pony's legs let go, its head holds
		{SeverityRampOff, ScopeLimb, off, off, same},
		{SeverityRampOff, ScopeRobot, off, off, off},
		{SeverityTorqueOff, ScopeLimb, off, off, same},
		{SeverityTorqueOff, ScopeRobot, off, off, off},
	} {
		if testing.Short() && tc.scope != ScopeLimb {
			continue
		}
		rules := FaultRules{Overheat: {Threshold: 75, Debounce: 3, Severity: tc.severity, Scope: tc.scope}}
		r := newRig(t, parts{robot: "pony", period: busPeriod, controllers: 2, settings: Settings{Faults: rules}})
		r.checks = true
		leg, head := r.limb("leg1"), r.limb("head")
		r.must(0, 1, r.program(leg, 0.1, 1))
		r.must(1, 2, r.program(head, 0.1, 1))
		r.bus.Plan(sim.Trouble{Joint: int(first(leg)), From: 60, Temperature: 80})
		r.run(700)
		become := func(seat int, leaf robot.LeafID) string {
			switch {
			case r.l.mode[leaf] == servo.Off:
				return off
			case r.l.seats[seat].program == nil && r.l.shaper.Still(int(leaf)):
				return held
			case r.l.seats[seat].ref.Rate == slowRate:
				return slow
			}
			return same
		}
		got := [3]string{become(0, first(leg)), become(0, first(leg)+1), become(1, first(head))}
		if want := [3]string{tc.joint, tc.limb, tc.rest}; got != want {
			t.Errorf("%v, scope %d: joint, limb, rest are %v, want %v", tc.severity, tc.scope, got, want)
		}
	}
}

// TestAllPairsOfFaults raises every pair of faults, one after the other and in the
// same tick: the limb and the robot end as the more severe of the two alone would
// have left them.
func TestAllPairsOfFaults(t *testing.T) {
	single := map[FaultKind][2]string{}
	for k := FaultKind(1); k < NumFaultKinds; k++ {
		single[k] = pairOfFaults(t, k, k, 0)
	}
	rank := func(s string) int { return slices.Index([]string{"going", "held", "off"}, s) }
	pairs := 0
	for a := FaultKind(1); a < NumFaultKinds; a++ {
		for b := FaultKind(1); b < NumFaultKinds; b++ {
			if a == b {
				continue
			}
			for _, apart := range []int{0, 37} {
				if testing.Short() && (3*int(a)+int(b))%24 != 0 {
					continue
				}
				pairs++
				got := pairOfFaults(t, a, b, apart)
				for i, what := range []string{"limb", "rest"} {
					want := single[a][i]
					if rank(single[b][i]) > rank(want) {
						want = single[b][i]
					}
					if rank(got[i]) < rank(want) {
						t.Errorf("%v and %v, %d ticks apart: the %s is %s, want %s", a, b, apart, what, got[i], want)
					}
				}
			}
		}
	}
	t.Logf("%d ordered pairs of %d kinds of faults", pairs, NumFaultKinds-1)
}

// pairOfFaults brings two faults about, and says what becomes of a leg and of the
// head.
func pairOfFaults(t *testing.T, a, b FaultKind, apart int) [2]string {
	t.Helper()
	r := newRig(t, parts{robot: "pony", period: busPeriod, controllers: 2, servo: sim.Servo{Stiffness: 20}, settings: Settings{Sensors: servo.Sensors{IMU: 1}}})
	r.checks = true
	leg, head := r.limb("leg1"), r.limb("head")
	r.must(0, 1, r.program(leg, 0.5, 1.5))
	r.must(1, 2, r.program(head, 0.05, 1))
	r.run(100)
	r.cause(a)
	r.run(apart)
	if a != b {
		r.cause(b)
	}
	r.run(900)
	if a == b && !r.raised(a) {
		t.Errorf("%v was never raised", a)
	}
	become := func(leaf robot.LeafID) string {
		switch {
		case r.l.mode[leaf] == servo.Off:
			return "off"
		case r.l.merge.Writer[leaf] == arbiter.NoClient:
			return "held"
		}
		return "going"
	}
	return [2]string{become(first(leg)), become(first(head))}
}

// cause brings one fault about, now.
func (r *rig) cause(k FaultKind) {
	joint := int(first(r.limb("leg1")))
	switch k {
	case TrackingError:
		r.bus.Plan(sim.Trouble{Joint: joint, From: r.n, Frozen: true})
	case StaleReading:
		r.bus.Plan(sim.Trouble{Joint: joint, From: r.n, Silent: true})
	case Overheat:
		r.bus.Plan(sim.Trouble{Joint: joint, From: r.n, Temperature: 90})
	case LowVoltage:
		for j := range r.l.dof {
			r.bus.Plan(sim.Trouble{Joint: j, From: r.n, Voltage: 5})
		}
	case ServoFault:
		r.bus.Plan(sim.Trouble{Joint: joint, From: r.n, Fault: servo.Overload})
	case BusSilent:
		from := r.n
		r.bus.Down(func(n uint64) bool { return n >= from })
	case Overrun:
		r.l.Late(6)
	case CycleGap:
		r.l.Late(20)
	case SilentUnit:
		r.l.raw.IMU[0].Age = 1000 // its bus has none that would answer
	case ControllerPanic:
		r.swings[0].panics = "Update"
	case Fallen:
		r.l.falls.on, r.l.falls.height, r.l.falls.ticks = true, 10, fallTicks // as low as that over its feet it lies
	case StandstillMoved: // a stop, and then a push
		r.l.Stop(2)
		r.run(250)
		r.bus.Push(int(first(r.limb("head"))), 4)
	}
}

func TestBusDownStopsTheRobot(t *testing.T) {
	r := newRig(t, parts{robot: "pony", controllers: 1})
	r.must(0, 1, r.program(r.limb("leg1"), 0.1, 2))
	r.run(500)
	r.bus.Down(func(n uint64) bool { return n > 600 && n < 2000 })
	r.run(3000)
	if r.l.powered.state != Faulted {
		t.Errorf("power %v", r.l.powered.state)
	}
	r.l.Send(Order{Kind: PowerOn})
	r.run(2)
	if r.l.powered.state != Faulted {
		t.Error("a robot with a fault was switched on")
	}
	r.l.Send(Order{Kind: Reset})
	r.l.Send(Order{Kind: PowerOn})
	r.run(2)
	if r.l.powered.state != Enabled {
		t.Errorf("power %v after the bus came back, a reset and power on", r.l.powered.state)
	}
}

// TestLatePacketsAreNoFault: a bus that loses every fifth packet and answers late
// is slow, not broken.
func TestLatePacketsAreNoFault(t *testing.T) {
	r := newRig(t, parts{robot: "pony", period: busPeriod, controllers: 1, servo: sim.Servo{Loss: 0.2, Delay: 3, Lag: 0.05}, settings: Settings{Inversion: servo.InversionConfig{Lead: servo.Lead{Time: 0.05}}}})
	r.checks = true
	r.must(0, 1, r.program(r.limb("leg1"), 0.3, 1.5))
	r.run(3000)
	if r.l.faults.latch.active != 0 || r.l.seats[0].program == nil {
		t.Errorf("%d faults: %+v", r.l.faults.latch.active, r.told(FaultRaised))
	}
}

// TestLostAnswersInARowAreNoFault: at 56 ms a joint that misses five answers goes on: 0.2 s are over after four, and a reading is stale only if it is so in three ticks in a
// row. One that misses six does not.
func TestLostAnswersInARowAreNoFault(t *testing.T) {
	const begins = 50
	for _, lost := range []uint64{5, 6} {
		r := newRig(t, parts{robot: "pony", period: 0.056})
		r.bus.Plan(sim.Trouble{Joint: 1, From: begins, Until: begins + lost, Silent: true})
		r.run(begins + 20)
		if got, want := r.raised(StaleReading), lost > 5; got != want {
			t.Errorf("%d answers of a joint are lost: a fault %v, want %v", lost, got, want)
		}
	}
}

// TestNonFiniteReadingIsNone: a servo that answers with non-finite numbers counts as silent.
func TestNonFiniteReadingIsNone(t *testing.T) {
	r := newRig(t, parts{robot: "pony", controllers: 1})
	r.checks = true
	r.must(0, 1, r.program(r.limb("leg1"), 0.3, 1.5))
	r.run(100)
	r.bus.Plan(sim.Trouble{Joint: 1, From: r.n, NonFinite: true})
	r.run(1000)
	if !r.raised(StaleReading) {
		t.Errorf("%+v", r.told(FaultRaised))
	}
	if !finite(r.l.measured.Q[1]) {
		t.Error("nonsense is measured")
	}
}

// TestPanicIsTheControllersOwnFault panics in every method.
func TestPanicIsTheControllersOwnFault(t *testing.T) {
	for _, method := range []string{"Check", "Start", "Update", "Owned"} {
		t.Run(method, func(t *testing.T) {
			r := newRig(t, parts{robot: "pony", controllers: 3})
			r.checks = true
			p := r.program(r.limb("leg1"), 0.1, 2)
			p.Wants = r.limb("head")
			r.must(0, 1, p)
			r.must(1, 2, r.program(r.limb("leg2"), 0.1, 2))
			r.run(1050) // more than an excerpt remembers
			r.reports = nil
			r.swings[0].panics = method
			r.goal(2, 3, r.program(r.limb("head"), 0.1, 2)) // takes the head from the first: Owned
			if method == "Check" || method == "Start" {
				r.goal(0, 4, r.program(r.limb("leg1"), 0.1, 3))
			}
			r.run(500)
			if !r.raised(ControllerPanic) {
				t.Fatal("no fault was raised")
			}
			var told *Report
			for i := range r.reports {
				if rep := &r.reports[i]; (rep.Kind == GoalEnded || rep.Kind == GoalRejected) && rep.Controller == 0 {
					told = rep
				}
			}
			if told == nil {
				t.Fatal("no report")
			}
			if method == "Update" {
				e := told.Last
				if told.Reason.Code != control.Panicked || told.Status != control.Failed || e == nil {
					t.Fatalf("%+v", told)
				}
				if n := len(e.Moments); n < 1000 || e.Moments[n-1].Tick.N != told.Tick.N-1 || e.Moments[0].Tick.N != told.Tick.N-uint64(n) {
					t.Errorf("excerpt of %d moments, %d … %d, of tick %d", n, e.Moments[0].Tick.N, e.Moments[n-1].Tick.N, told.Tick.N)
				}
				e.Release()
			}
			if r.l.seats[1].program == nil {
				t.Error("another controller was stopped")
			}
			leaf := first(r.limb("leg1"))
			if o := r.l.arb.Owner(leaf); o != arbiter.NoClient || r.l.seats[0].program != nil || !r.l.shaper.Still(int(leaf)) {
				t.Errorf("leg 1 is with %d, goal %v, at rest %v", o, r.l.seats[0].program, r.l.shaper.Still(int(leaf)))
			}
			// it takes goals again after a separate act
			r.swings[0].panics = ""
			r.reports = nil
			r.goal(0, 5, p)
			r.run(1)
			if rej := r.told(GoalRejected); len(rej) != 1 || rej[0].Reason.Code != control.NotRunning {
				t.Errorf("%+v", rej)
			}
			r.l.Send(Order{Kind: Run, Controller: 0})
			r.must(0, 6, r.program(r.limb("leg1"), 0.1, 2))
		})
	}
}

func TestOverrunsAreAFaultThatFades(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 1})
	for range 4 {
		r.l.Late(1)
		r.run(1)
	}
	if r.raised(Overrun) {
		t.Error("four late ticks are a fault")
	}
	for range 4 {
		r.l.Late(1)
		r.run(1)
	}
	if !r.raised(Overrun) || r.l.faults.latch.active != 1 {
		t.Error("eight late ticks are none")
	}
	r.run(1000)
	if r.l.faults.latch.active != 0 {
		t.Error("it does not fade")
	}
}

// TestLetGoByAController: stiffness zero is no torque, stiffness alone does not bring
// it back, and when it is ordered it begins where the joint then is.
func TestLetGoByAController(t *testing.T) {
	r := newRig(t, parts{robot: "pony", controllers: 1})
	r.checks = true
	tail := r.limb("tail")
	r.must(0, 1, r.program(tail, 0.1, 1))
	r.run(1500)
	limp := &limpController{Controller: r.swings[0]}
	r.l.seats[0].controller = limp
	limp.limp = true
	r.run(10)
	j := int(first(tail))
	if r.l.mode[j] != servo.Off || !r.bus.PoseByHand(j, 0.4) {
		t.Fatalf("mode %v", r.l.mode[j])
	}
	r.run(10)
	limp.limp = false
	r.run(10)
	if r.l.mode[j] != servo.Off {
		t.Errorf("mode %v: a controller has switched torque on", r.l.mode[j])
	}
	r.torque(true, tail)
	r.run(1)
	if !r.l.mode[j].Powered() || r.bus.Joint(j) < 0.39 {
		t.Errorf("mode %v, joint at %g", r.l.mode[j], r.bus.Joint(j))
	}
	r.run(2000)
}

type limpController struct {
	control.Controller
	limp bool
}

func (c *limpController) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	st, why := c.Controller.Update(input, out)
	if c.limp {
		clear(out.Stiff)
	}
	return st, why
}

package loop

import (
	"math"
	"slices"
	"testing"
	"time"

	"poise/arbiter"
	"poise/control"
	"poise/dynamics"
	"poise/kinematics"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	servomodel "poise/servo/model"
	"poise/servo/sim"
)

// largestStep is by how much the effort of a joint may change in a tick when its cycle is
// switched under load, N·m.
const largestStep = 0.1

// ponyPose is where a pony stands.
func ponyPose(t testing.TB) []float64 { return model(t, "pony", load.Options{}).RestPositions() }

func (r *rig) cycle(number int, joints robot.Set) {
	r.l.Send(Order{Kind: SetCycle, Program: &control.Cycle{Number: number, Joints: joints}})
}

// efforts runs some ticks and returns by how much an effort changed at most in one.
func (r *rig) efforts(ticks int) (worst float64) {
	was := append([]float64{}, r.l.command.Tau...)
	for range ticks {
		r.run(1)
		for j, x := range r.l.command.Tau {
			worst = math.Max(worst, math.Abs(x-was[j]))
			if r.l.setpoint[j].Effort != x && r.l.mode[j].Powered() {
				r.t.Fatalf("tick %d: joint %d is told %g N·m, and the command has %g", r.n, j, r.l.setpoint[j].Effort, x)
			}
		}
		copy(was, r.l.command.Tau)
	}
	return worst
}

// TestCyclesAreSwitchedUnderLoad: a pony that stands is switched to cycle 1 and back, as a whole
// and leg by leg, at a fast period and at those of servo lines: efforts go to what the motion
// needs and back to nothing, by 0.1 N·m a tick at most, and the others' stay.
func TestCyclesAreSwitchedUnderLoad(t *testing.T) {
	for _, dt := range []float64{0.001, 0.0112, 0.056} {
		r := newRig(t, parts{robot: "pony", period: dt, pose: ponyPose(t)})
		ticks := int(3 / dt)
		if worst := r.efforts(20); worst != 0 {
			t.Fatalf("cycle 0 has efforts: %g", worst)
		}
		loaded := func(what string, joints robot.Set) {
			t.Helper()
			most := 0.0
			for j, x := range r.l.command.Tau {
				want := 0.0
				if joints.Has(robot.LeafID(j)) {
					want = r.l.cycles.stage.Tau[j]
				}
				if math.Abs(x-want) > 1e-12 {
					t.Errorf("period %g, %s: joint %d has %g N·m, want %g", dt, what, j, x, want)
				}
				most = math.Max(most, math.Abs(x))
			}
			if !joints.Empty() && most < 0.1 {
				t.Errorf("period %g, %s: no more than %g N·m is carried", dt, what, most)
			}
		}
		leg := r.limb("leg1").Intersect(r.l.all)
		for _, step := range []struct {
			what   string
			number int
			joints robot.Set
			then   robot.Set
		}{
			{"a leg in cycle 1", 1, leg, leg},
			{"all in cycle 1", 1, r.l.all, r.l.all},
			{"a leg in cycle 0", 0, leg, r.l.all.Minus(leg)},
			{"all in cycle 0", 0, r.l.all, robot.Set{}},
		} {
			r.cycle(step.number, step.joints)
			if worst := r.efforts(ticks); worst > largestStep {
				t.Errorf("period %g, %s: an effort changes by %g N·m in a tick", dt, step.what, worst)
			}
			loaded(step.what, step.then)
			if s, ok := r.l.Snapshot(); !ok || s.Cycle1 != step.then {
				t.Errorf("period %g, %s: the snapshot has %v", dt, step.what, s.Cycle1)
			}
		}
		if r.l.cycles.needed() {
			t.Errorf("period %g: torques are computed, and nothing uses them", dt)
		}
	}
}

// TestCyclesAreSwitchedInPhysics: a pony with mass that stands on its own servos is switched to cycle 1, by the models of
// its servos, and back: neither the torque that goals ask of a servo nor the one that it gives changes by more than
// 0.1 N·m in a tick.
func TestCyclesAreSwitchedInPhysics(t *testing.T) {
	m := model(t, "pony", load.Options{})
	known := make([]*servomodel.Model, len(m.Joints()))
	for i := range known {
		known[i] = m.Servo(robot.JointID(i)).Model
	}
	all := control.JointLeaves(len(known))
	for _, dt := range []float64{0.001, 0.0112, 0.056} {
		bus := &spoiled{Bus: standingPony(t, m)}
		l, err := New(Config{Model: m, Bus: bus, Controllers: []Registration{{Name: "stand", Controller: &nodder{m: m}}},
			Settings: Settings{Inversion: servo.InversionConfig{Name: "model", Models: known}, Sensors: bus.Sensors(), Policy: arbiter.PolicyLast}})
		if err != nil {
			t.Fatal(err)
		}
		n := uint64(0)
		asked, given := make([]float64, len(known)), make([]float64, len(known))
		run := func(seconds float64) (asks, gives, most float64) {
			for range int(seconds / dt) {
				l.Step(servo.Tick{N: n, Time: int64(math.Round(float64(n) * dt * 1e9)), Dt: dt})
				n++
				for i, p := range bus.told {
					if known[i] == nil {
						continue
					}
					tau, felt := p.Stiffness*known[i].FullStiffness(known[i].Voltage)*(p.Position-m.RestPositions()[i]), l.measured.Effort[i]
					asks, gives, most = math.Max(asks, math.Abs(tau-asked[i])), math.Max(gives, math.Abs(felt-given[i])), math.Max(most, math.Abs(tau))
					asked[i], given[i] = tau, felt
				}
			}
			return asks, gives, most
		}
		run(0.2)
		l.Send(Order{Kind: PowerOn})
		run(0.2)
		l.Send(Order{Kind: StartGoal, Controller: 0, Goal: 1, Program: &keep{joints: all, q: m.RestPositions()}})
		run(3)
		for _, cycle := range []int{1, 0} {
			l.Send(Order{Kind: SetCycle, Program: &control.Cycle{Number: cycle, Joints: all}})
			asks, gives, most := run(3)
			t.Logf("period %g, to cycle %d: goals ask for %.3f N·m more in a tick at most, servos give %.3f N·m more; %.2f N·m are asked for", dt, cycle, asks, gives, most)
			if asks > largestStep || gives > largestStep || most < 0.15 {
				t.Errorf("period %g, to cycle %d: goals ask for %g N·m more in a tick, servos give %g N·m more, of %g N·m", dt, cycle, asks, gives, most)
			}
			if s, ok := l.Snapshot(); !ok || (s.Inversion.Modelled > 0) != (cycle == 1) || s.Inversion.Blending || s.Power != Enabled {
				t.Errorf("period %g, to cycle %d: %+v, power %v", dt, cycle, s.Inversion, s.Power)
			}
		}
	}
}

// TestCycle1HandsOver: in cycle 1 motions begin, are replaced, stop and end without a step of
// effort: what the motion needs is not handed over as if a reference had asked for it.
func TestCycle1HandsOver(t *testing.T) {
	r := newRig(t, parts{robot: "pony", controllers: 2, pose: ponyPose(t), settings: Settings{Cycle1: control.JointLeaves(64)}})
	r.run(1000)
	head := r.limb("head")
	worst := 0.0
	for k := range 6 {
		p := r.program(head, 0.2, 3)
		r.goal(k%2, uint64(k+1), p)
		worst = math.Max(worst, r.efforts(700))
	}
	r.l.Stop(2)
	worst = math.Max(worst, r.efforts(1500))
	t.Logf("efforts change by %.4f N·m in a tick at most", worst)
	if worst > largestStep {
		t.Errorf("an effort changes by %g N·m in a tick", worst)
	}
	for j, x := range r.l.command.Tau {
		if math.Abs(x-r.l.cycles.stage.Tau[j]) > 1e-9 {
			t.Errorf("at rest joint %d has %g N·m, and needs %g", j, x, r.l.cycles.stage.Tau[j])
		}
	}
}

// TestCycle1WithoutTorque: joints that are let go have no effort, and take it up gradually when
// torque comes back.
func TestCycle1WithoutTorque(t *testing.T) {
	r := newRig(t, parts{robot: "pony", pose: ponyPose(t), settings: Settings{Cycle1: control.JointLeaves(64)}})
	r.run(1000)
	leg := r.limb("leg1").Intersect(r.l.all)
	r.torque(false, leg)
	r.run(5)
	for leaf := range leg.All {
		if r.l.command.Tau[leaf] != 0 {
			t.Errorf("joint %d has no torque and %g N·m", leaf, r.l.command.Tau[leaf])
		}
	}
	r.torque(true, leg)
	if worst := r.efforts(2000); worst > largestStep {
		t.Errorf("an effort changes by %g N·m in a tick", worst)
	}
}

// TestCyclesThatAreRefused: what is no cycle, names no joint, or needs masses that are unknown.
func TestCyclesThatAreRefused(t *testing.T) {
	r := newRig(t, parts{robot: "pony", pose: ponyPose(t)})
	refused := func(what string, p control.Program, code control.Code) {
		t.Helper()
		r.reports = nil
		r.l.Send(Order{Kind: SetCycle, Program: p})
		r.run(1)
		for _, rep := range r.told(OrderRefused) {
			if rep.Order == SetCycle && rep.Reason.Code == code {
				return
			}
		}
		t.Errorf("%s is not refused as %v", what, code)
	}
	refused("another program", &control.Torque{}, control.BadProgram)
	refused("no joint", &control.Cycle{Number: 1}, control.BadProgram)
	refused("cycle 3", &control.Cycle{Number: 3, Joints: r.l.all}, control.BadValue)
	refused("cycle 2 of a leg", &control.Cycle{Number: 2, Joints: r.limb("leg1")}, control.WholeRobotOnly)
	refused("cycle -1", &control.Cycle{Number: -1, Joints: r.l.all}, control.BadValue)
	r.l.cycles.stage = nil // as of a robot without mass
	refused("cycle 1 without masses", &control.Cycle{Number: 1, Joints: r.l.all}, control.NoMasses)
}

// wholeCycle1 is a pony on the models of its servos that swings its head in cycle 1, its torques taken up.
func wholeCycle1(t testing.TB) *rig {
	t.Helper()
	m := model(t, "pony", load.Options{})
	known := make([]*servomodel.Model, len(m.Joints()))
	for i := range known {
		known[i] = m.Servo(robot.JointID(i)).Model
	}
	inversion := servo.InversionConfig{Name: "model", Models: known}
	inverter, err := servo.NewInverter(inversion)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, parts{robot: "pony", controllers: 1, pose: ponyPose(t), inverter: inverter, settings: Settings{Cycle1: control.JointLeaves(64), Inversion: inversion}})
	r.must(0, 1, r.program(r.limb("head"), 0.2, 3))
	r.run(3000)
	if s, _ := r.l.Snapshot(); len(s.Forces) != 4 {
		t.Fatalf("%d contacts carry, want 4", len(s.Forces))
	}
	return r
}

// TestCycle1DoesNotAllocate: a tick of a pony that swings its head, with models of its servos and without.
func TestCycle1DoesNotAllocate(t *testing.T) {
	bare := newRig(t, parts{robot: "pony", controllers: 1, pose: ponyPose(t), settings: Settings{Cycle1: control.JointLeaves(64)}})
	bare.must(0, 1, bare.program(bare.limb("head"), 0.2, 3))
	bare.run(100)
	for name, r := range map[string]*rig{"bare": bare, "by models": wholeCycle1(t)} {
		if n := testing.AllocsPerRun(300, func() { r.run(1) }); n != 0 {
			t.Errorf("%s: %v allocations in a tick", name, n)
		}
	}
}

// BenchmarkWholeCycle1 is a whole tick of the pony in cycle 1: reading, both odometries, arbitration, inverse
// dynamics with contacts, balance, inversion by servo models, snapshot, and its simulated servos. Inverse
// dynamics alone is timed in turn with it, and the ratio is that of the medians.
func BenchmarkWholeCycle1(b *testing.B) {
	r := wholeCycle1(b)
	d := dynamics.NewData(r.m)
	q, zero, tau := make([]float64, r.m.NumQ()), make([]float64, r.m.NumV()), make([]float64, r.m.NumV())
	kinematics.NewSpace(r.m).NeutralTo(q)
	ticks, inverses := make([]float64, 0, 1<<20), make([]float64, 0, 1<<20)
	const each = 10 // of which one is too short for the clock
	b.ReportAllocs()
	for b.Loop() {
		begun := time.Now()
		r.l.Step(servo.Tick{N: r.n, Time: int64(math.Round(float64(r.n) * r.dt * 1e9)), Dt: r.dt})
		stepped := time.Now()
		for range each {
			d.InverseTo(tau, q, zero, zero, dynamics.Load{})
		}
		if r.n++; len(ticks) < cap(ticks) {
			ticks, inverses = append(ticks, float64(stepped.Sub(begun))), append(inverses, float64(time.Since(stepped))/each)
		}
	}
	slices.Sort(ticks)
	slices.Sort(inverses)
	tick, inverse := ticks[len(ticks)/2], inverses[len(inverses)/2]
	b.ReportMetric(tick/1e3, "µs/tick")
	b.ReportMetric(inverse/1e3, "µs/inverse")
	b.ReportMetric(tick/inverse, "inverses/tick")
}

// TestServosAreToldTheReference: what is made of a command, friction above all, goes by the
// velocity that is commanded, not by the one that is measured.
func TestServosAreToldTheReference(t *testing.T) {
	r := newRig(t, parts{robot: "pony", controllers: 1, pose: ponyPose(t), servo: sim.Servo{Lag: 0.1}, settings: Settings{Cycle1: control.JointLeaves(64)}})
	r.must(0, 1, r.program(r.limb("head"), 0.2, 3))
	apart := 0.0
	for range 600 {
		r.run(1)
		for j := range r.l.setpoint {
			if got, want := r.l.asked.Velocity, r.l.command.V[r.l.asked.Joint]; got != want || r.l.setpoint[j].Velocity != r.l.command.V[j] {
				t.Fatalf("tick %d: joint %d is told %g rad/s, commanded %g", r.n, j, r.l.setpoint[j].Velocity, r.l.command.V[j])
			}
			apart = math.Max(apart, math.Abs(r.l.command.V[j]-r.l.measured.V[j]))
		}
	}
	if apart < 0.01 {
		t.Errorf("measured velocities are within %g of the command: nothing is told apart", apart)
	}
}

package loop

import (
	"math"
	"testing"

	"poise/control"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
	"poise/spatial"
)

// standingOn adds an inertial unit and touch sensors of all feet to simulated servos.
type standingOn struct {
	*sim.Bus
	unit    servo.Inertial
	pressed [4]bool
}

func (b *standingOn) Exchange(t servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	f := b.Bus.Exchange(t, dst, src)
	if len(dst.IMU) > 0 {
		dst.IMU[0] = b.unit
	}
	for i := range dst.Touch {
		dst.Touch[i] = servo.Contact{Force: spatial.Vec3{Z: 6}, Pressed: b.pressed[i]}
	}
	return f
}

// felt returns the bus with the sensors that a robot has.
func (b *standingOn) felt(s servo.Sensors) servo.Bus {
	if s == (servo.Sensors{}) {
		return b.Bus
	}
	return b
}

func newStanding(t *testing.T) (*Loop, *standingOn, func(ticks int)) {
	t.Helper()
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bus := &standingOn{Bus: sim.New(sim.Config{Servos: make([]sim.Servo, len(bot.Model.Joints()))}), pressed: [4]bool{true, true, true, true}}
	bus.unit = servo.Inertial{Orientation: spatial.Identity3.Quat(), Acceleration: spatial.Vec3{Z: 9.81}}
	l, err := New(Config{Model: bot.Model, Bus: bus, Settings: Settings{Sensors: servo.Sensors{IMU: 1, Touch: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	n := uint64(0)
	return l, bus, func(ticks int) {
		for range ticks {
			l.Step(servo.Tick{N: n, Time: int64(n) * 1e6, Dt: 1e-3})
			n++
		}
	}
}

// TestTheBaseIsTheSensors: the measured base is turned as the inertial unit says, and stands
// on the feet whose sensors are pressed; the command knows nothing of either.
func TestTheBaseIsTheSensors(t *testing.T) {
	l, bus, run := newStanding(t)
	run(20)
	stood := l.measured.Base.Pose
	bus.unit.Orientation = spatial.FromRPY(0.1, 0.05, 0).Quat()
	bus.pressed[1] = false
	run(2000)
	if off := spatial.FromRPY(0.1, 0.05, 0).Transpose().Mul(l.measured.Base.Pose.R).Quat().Log().Norm(); off > 1e-9 {
		t.Errorf("the base is %g rad from what the unit says", off)
	}
	if b := &l.command.Base; b.Pose.R.Quat().Log().Norm() > 1e-9 {
		t.Errorf("the command is turned: %v", b.Pose.R)
	}
	stand := 0
	for i := range l.measured.Support {
		if l.measured.Support[i].Weight > 0 {
			stand++
		}
	}
	if c := l.cfg.Model.Chains(); stand != 3 || l.measured.Base.Pose == stood {
		t.Errorf("%d of %d chains stand", stand, len(c))
	}
	for range 200 { // old news are not believed
		bus.unit.Age++
		run(1)
	}
	if allocs := testing.AllocsPerRun(100, func() { run(1) }); allocs != 0 {
		t.Errorf("%v allocations in a tick", allocs)
	}
}

// TestWhereTheBaseIsCanBeSaid: both odometries go on from where an order says that the base
// is, and the feet stand there; what cannot be a pose is refused.
func TestWhereTheBaseIsCanBeSaid(t *testing.T) {
	l, _, run := newStanding(t)
	run(20)
	was := l.measured.Base.Pose
	X := spatial.Pose{R: spatial.TurnZ(1), P: spatial.Vec3{X: 2, Y: -1, Z: was.P.Z}}
	l.Send(Order{Kind: SetBase, Program: &control.BasePlacement{Pose: X}})
	run(50)
	for name, b := range map[string]*control.BaseRef{"measured": &l.measured.Base, "commanded": &l.command.Base} {
		d := X.Inverse().Mul(b.Pose)
		if off := max(d.P.Norm(), d.R.Quat().Log().Norm()); off > 1e-9 {
			t.Errorf("%s: %g away from where it was said to be", name, off)
		}
	}
	for _, p := range []control.Program{nil, &control.Torque{}, &control.BasePlacement{Pose: spatial.Pose{R: X.R, P: spatial.Vec3{X: math.NaN()}}}, &control.BasePlacement{Pose: spatial.Pose{R: spatial.Mat3{math.Inf(1)}}}} {
		l.Send(Order{Kind: SetBase, Program: p})
		run(1)
		refused := false
		for {
			r, ok := l.Receive()
			if !ok {
				break
			}
			refused = refused || r.Kind == OrderRefused && r.Order == SetBase
		}
		if !refused {
			t.Errorf("%+v is not refused", p)
		}
	}
	bolted, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	arm, err := New(Config{Model: bolted.Model, Bus: sim.New(sim.Config{Servos: make([]sim.Servo, len(bolted.Model.Joints()))})})
	if err != nil {
		t.Fatal(err)
	}
	arm.Send(Order{Kind: SetBase, Program: &control.BasePlacement{Pose: X}})
	arm.Step(servo.Tick{Dt: 1e-3})
	for {
		r, ok := arm.Receive()
		if !ok {
			t.Error("the base of a bolted arm can be set")
			break
		}
		if r.Kind == OrderRefused && r.Reason.Code == control.NotPlaceable {
			break
		}
	}
}

// TestAnOverriddenBaseStaysThere: a base that is said to be high, tilted or far away stays so, of the
// measurement and of the command, with feet that are felt and with such that are found; torques of
// cycle 1 go there without a step.
func TestAnOverriddenBaseStaysThere(t *testing.T) {
	for _, sensors := range []servo.Sensors{{Touch: 4}, {}} {
		bot, err := load.Robot("pony", load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := len(bot.Model.Joints())
		bus := &standingOn{Bus: sim.New(sim.Config{Servos: make([]sim.Servo, n)}), pressed: [4]bool{true, true, true, true}}
		l, err := New(Config{Model: bot.Model, Bus: bus.felt(sensors), Settings: Settings{Sensors: sensors, Cycle1: control.JointLeaves(n)}})
		if err != nil {
			t.Fatal(err)
		}
		const dt = 0.0112
		tick, most, last := uint64(0), 0.0, make([]float64, n)
		run := func(ticks int) {
			for range ticks {
				l.Step(servo.Tick{N: tick, Time: int64(float64(tick) * dt * 1e9), Dt: dt})
				tick++
				for j, x := range l.cycles.stage.Tau {
					most = max(most, math.Abs(x-last[j]))
					last[j] = x
				}
			}
		}
		run(200)
		z := l.measured.Base.Pose.P.Z
		for _, X := range []spatial.Pose{
			{R: spatial.Identity3, P: spatial.Vec3{Z: 0.5}},
			{R: spatial.FromRPY(0.2, 0, 0), P: spatial.Vec3{Z: z}},
			{R: spatial.FromRPY(-0.3, 0.1, 2), P: spatial.Vec3{X: 5, Z: -3}},
			{R: spatial.TurnZ(1), P: spatial.Vec3{X: control.FarthestBase, Y: -control.FarthestBase, Z: z}},
		} {
			most = 0
			l.Send(Order{Kind: SetBase, Program: &control.BasePlacement{Pose: X}})
			run(300)
			for name, b := range map[string]*control.BaseRef{"measured": &l.measured.Base, "commanded": &l.command.Base} {
				d := X.Inverse().Mul(b.Pose)
				if off := max(d.P.Norm(), d.R.Quat().Log().Norm()); !(off < 1e-7) {
					t.Errorf("%d touch sensors, said to be at %v: %s %g away from there", sensors.Touch, X, name, off)
				}
			}
			for i := range l.measured.Support {
				if l.cfg.Model.Chains()[i].Contact != robot.NoContact && l.measured.Support[i].Weight != 1 {
					t.Errorf("%d touch sensors, said to be at %v: chain %d stands with %g", sensors.Touch, X, i, l.measured.Support[i].Weight)
				}
			}
			if !(most < 0.1) {
				t.Errorf("%d touch sensors, said to be at %v: a torque changes by %g N·m in a tick", sensors.Touch, X, most)
			}
		}
		l.Send(Order{Kind: SetBase, Program: &control.BasePlacement{Pose: spatial.Pose{R: spatial.Identity3, P: spatial.Vec3{X: 1e16}}}})
		run(1)
		if x := l.measured.Base.Pose.P.X; x > 2*control.FarthestBase {
			t.Errorf("the base is at x = %g m", x)
		}
	}
}

// TestAUnitThatWasNeverHeardIsAFault: one that never answered is told after as long as one that fell silent, and the
// fault ends when it is heard.
func TestAUnitThatWasNeverHeardIsAFault(t *testing.T) {
	l, bus, run := newStanding(t)
	unit := bus.unit
	bus.unit = servo.Inertial{Age: servo.Never}
	told := func(kind ReportKind) (n int) {
		for {
			r, ok := l.Receive()
			if !ok {
				return n
			}
			if r.Kind == kind && r.Fault == SilentUnit {
				n++
			}
		}
	}
	run(300)
	if n := told(FaultRaised); n != 0 {
		t.Errorf("after 0.3 s it is told %d times", n)
	}
	run(700)
	if n := told(FaultRaised); n != 1 {
		t.Errorf("after a second it is told %d times, must be once", n)
	}
	bus.unit = unit
	run(1000)
	if n := told(FaultCleared); n != 1 {
		t.Errorf("when it is heard the fault ends %d times", n)
	}
}

// TestFeetThatDragCountLess: a foot that touches counts by as much as a walk has it carry: one that is being lifted or comes down drags over the ground.
// Where the plan has none of those that touch carry, they count as they touch; without a plan they do, too. What is measured of a foot is
// always that it touches: a walk has to know of one that meets the ground early.
func TestFeetThatDragCountLess(t *testing.T) {
	l, bus, run := newStanding(t)
	run(5)
	for _, c := range []struct {
		name    string
		planned bool
		carries [4]float64 // by the plan
		pressed [4]bool
		want    [4]float64
	}{
		{"all stand", true, [4]float64{1, 1, 1, 1}, [4]bool{true, true, true, true}, [4]float64{1, 1, 1, 1}},
		{"one drags, one is lifted", true, [4]float64{1, 0, 1, 0.4}, [4]bool{true, true, true, true}, [4]float64{1, 0, 1, 0.4}},
		{"one is not there yet", true, [4]float64{1, 1, 1, 0}, [4]bool{true, false, true, false}, [4]float64{1, 0, 1, 0}},
		{"only those that are to be aloft", true, [4]float64{0, 1, 0, 1}, [4]bool{true, false, true, false}, [4]float64{1, 0, 1, 0}},
		{"without a plan", false, [4]float64{1, 0, 1, 0}, [4]bool{true, true, true, true}, [4]float64{1, 1, 1, 1}},
	} {
		bus.pressed = c.pressed
		run(3)
		for k, chain := range l.base.sensed {
			l.command.Support[chain].Weight, l.command.Support[chain].Planned = c.carries[k], c.planned
		}
		l.base.measure(l)
		for k, chain := range l.base.sensed {
			if got := l.base.sample.Support[chain].Weight; math.Abs(got-c.want[k]) > 1e-12 {
				t.Errorf("%s: foot %d counts %g, want %g", c.name, k, got, c.want[k])
			}
			if got := l.measured.Support[chain].Weight > 0; got != c.pressed[k] {
				t.Errorf("%s: foot %d is pressed %v, and measured to touch %v", c.name, k, c.pressed[k], got)
			}
		}
	}
}

package mujoco

import (
	"math"
	"testing"

	"poise/action"
	"poise/controllers"
	"poise/executive"
	"poise/loop"
	"poise/motion/library"
	"poise/motion/shipped"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/physics"
	"poise/sim"
	"poise/spatial"
)

const period = 0.005

func pony(t *testing.T) *load.Loaded {
	t.Helper()
	Needed(t)
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return bot
}

// smooth are the motors of the pony without dry friction, which makes loads depend on history.
func smooth(bot *load.Loaded) []physics.Motor {
	motors := physics.MotorsOf(bot.Model)
	for i := range motors {
		motors[i].Passive.Friction = 0
	}
	return motors
}

// ours is the pony in our own engine, behind the same bus.
func ours(t *testing.T, bot *load.Loaded, motors []physics.Motor) *physics.Bus {
	t.Helper()
	model, err := sim.NewModel(bot.Model, sim.Config{Passive: physics.PassiveOf(motors)})
	if err != nil {
		t.Fatal(err)
	}
	start, err := model.Settled(bot.Model.RestPositions(), sim.Level())
	if err != nil {
		t.Fatal(err)
	}
	return physics.New(physics.Config{Model: model, Motors: motors, Ground: sim.Level(), Start: start, Seed: 1})
}

// TestBothEnginesMeasureTheSame: the same setpoints to the pony in ours and in MuJoCo, standing
// and in a squat: joints, inertial unit, load of each foot.
func TestBothEnginesMeasureTheSame(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	m, motors := bot.Model, smooth(bot)
	a, b := ours(t, bot, motors), Open(t, m, bot.URDF, Config{Motors: motors})
	if err := b.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a.Sensors() != b.Capabilities().Sensors {
		t.Fatalf("sensors: %+v and %+v", a.Sensors(), b.Capabilities().Sensors)
	}
	x, y := servo.NewMeasurement(len(m.Joints()), a.Sensors()), servo.NewMeasurement(len(m.Joints()), a.Sensors())
	src := make([]servo.Setpoint, len(m.Joints()))
	rest := m.RestPositions()
	crouched, _ := m.Pose("crouched")
	n := uint64(0)
	run := func(seconds float64, share func(s float64) float64) (worst float64) {
		for k := range int(math.Round(seconds / period)) {
			for i, q := range rest {
				src[i] = servo.Setpoint{Mode: servo.Position, Position: q, Stiffness: 1, PlayTime: period}
			}
			for i, id := range crouched.Joints {
				s := share(float64(k) * period / seconds)
				src[id].Position += s * (crouched.Q[i][0] - rest[id])
			}
			at := servo.Tick{N: n, Time: int64(math.Round(float64(n) * period * 1e9)), Dt: period}
			if f := a.Exchange(at, x, src) | b.Exchange(at, y, src); f != 0 {
				t.Fatalf("fault %v", f)
			}
			for i := range x.Joints {
				worst = math.Max(worst, math.Abs(x.Joints[i].Position-y.Joints[i].Position))
			}
			n++
		}
		return worst
	}
	stand := run(2, func(float64) float64 { return 0 })
	// readings are steps of 0.0057 rad: two that straddle one differ by it
	const step = 0.005672
	if stand > 0.01+step {
		t.Errorf("standing, joints differ by %g rad", stand)
	}
	weight := m.Mass() * 9.81
	sum := [2]float64{}
	for i := range x.Touch {
		f, g := x.Touch[i].Force.Norm(), y.Touch[i].Force.Norm()
		sum[0], sum[1] = sum[0]+x.Touch[i].Force.Z, sum[1]+y.Touch[i].Force.Z
		if !x.Touch[i].Pressed || !y.Touch[i].Pressed || math.Abs(f-g) > 0.05*math.Max(f, g) {
			t.Errorf("foot %d: %+v and %+v", i, x.Touch[i], y.Touch[i])
		}
	}
	for i, f := range sum {
		if math.Abs(f/weight-1) > 0.01 {
			t.Errorf("engine %d: feet feel %g N of %g N", i, f, weight)
		}
	}
	u, v := x.IMU[0], y.IMU[0]
	if d := u.Acceleration.Sub(v.Acceleration).Norm(); d > 0.02 || math.Abs(v.Acceleration.Norm()-9.81) > 0.01 {
		t.Errorf("inertial units feel %v and %v", u.Acceleration, v.Acceleration)
	}
	if d := u.Orientation.Conj().Mul(v.Orientation); math.Abs(d.W) < 1-1e-5 || u.Rate.Sub(v.Rate).Norm() > 0.01 {
		t.Errorf("inertial units are turned by %v, at %v and %v", d, u.Rate, v.Rate)
	}
	if z := a.State().Q[2] - b.Base.P.Z; math.Abs(z) > 1e-3 {
		t.Errorf("heights differ by %g m", z)
	}
	squat := run(2, func(s float64) float64 { return 1 - math.Abs(2*s-1) })
	if squat > 0.01+step {
		t.Errorf("in a squat joints differ by %g rad", squat)
	}
	t.Logf("joints differ by %.4f rad standing, %.4f rad in a squat", stand, squat)
}

// TestEveryModeInMuJoCo: off is limp, a brake resists, a speed is kept, an effort and a spring
// act.
func TestEveryModeInMuJoCo(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	m := bot.Model
	head, ok := m.Joint("joint51")
	if !ok {
		t.Fatal("no joint51")
	}
	for _, c := range []struct {
		name  string
		p     servo.Setpoint
		check func(r servo.Reading, from float64) bool
	}{
		{"velocity", servo.Setpoint{Mode: servo.Velocity, Velocity: 0.4}, func(r servo.Reading, _ float64) bool { return math.Abs(r.Velocity-0.4) < 0.05 }},
		{"impedance", servo.Setpoint{Mode: servo.Impedance, Position: -0.2, Kp: 40, Kd: 1}, func(r servo.Reading, _ float64) bool { return math.Abs(r.Position+0.2) < 0.05 }},
		{"effort", servo.Setpoint{Mode: servo.Effort, Effort: -2}, func(r servo.Reading, from float64) bool { return r.Position < from-0.05 && r.Effort == -2 }},
		{"off", servo.Setpoint{}, func(r servo.Reading, _ float64) bool { return r.Effort == 0 }},
	} {
		d := Open(t, m, bot.URDF, Config{})
		if err := d.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		dst := servo.NewMeasurement(len(m.Joints()), d.Capabilities().Sensors)
		src := make([]servo.Setpoint, len(m.Joints()))
		for i, q := range m.RestPositions() {
			src[i] = servo.Setpoint{Mode: servo.Position, Position: q, Stiffness: 1, PlayTime: period}
		}
		src[head] = c.p
		for n := range 60 {
			d.Exchange(servo.Tick{N: uint64(n), Dt: period}, dst, src)
		}
		if r := dst.Joints[head]; !c.check(r, m.RestPositions()[head]) {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

// TestTheCycleRunsInMuJoCo: loop, executive and controllers that ship, closed through MuJoCo:
// the pony gets its torque, crouches, plays a motion and stands; a push is felt.
func TestTheCycleRunsInMuJoCo(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	m := bot.Model
	d := Open(t, m, bot.URDF, Config{})
	if err := d.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	settings := loop.Settings{Sensors: d.Capabilities().Sensors}
	seats, err := controllers.For(m, settings.Transition, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg := loop.Config{Model: m, Bus: d, Settings: settings}
	known := make([]executive.Controller, len(seats))
	for i, seat := range seats {
		cfg.Controllers = append(cfg.Controllers, seat.Loop)
		known[i] = seat.Executive
	}
	l, err := loop.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	e, err := executive.New(executive.Config{Model: m, Loop: l, Controllers: known, Library: library.Open("", shipped.Of(m.Name())), Go: func(job func()) { job() }})
	if err != nil {
		t.Fatal(err)
	}
	n := uint64(0)
	run := func(seconds float64) {
		for range int(math.Round(seconds / period)) {
			at := servo.Tick{N: n, Time: int64(math.Round(float64(n) * period * 1e9)), Dt: period}
			e.Pump(at.Time)
			l.Step(at)
			n++
		}
		e.Pump(int64(float64(n) * period * 1e9))
	}
	run(0.02)
	e.Power("test", true)
	run(0.5)
	if p := e.State().Power; p != loop.Enabled {
		t.Fatalf("power is %v", p)
	}
	play := func(id string, g executive.Goal, seconds float64) {
		t.Helper()
		var end executive.Change
		_, err := e.Submit("test", action.ID(id), 0, g, executive.Watch{Changed: func(c executive.Change) {
			if c.To.Terminal() {
				end = c
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if run(seconds); end.To != action.Succeeded {
			t.Errorf("%s: %v", id, end)
		}
		if tilt := math.Acos(math.Min(1, d.Base.R[8])); tilt > 0.3 {
			t.Fatalf("after %s it is tilted by %g rad", id, tilt)
		}
	}
	play("crouch", &executive.Pose{Name: "crouched"}, 3)
	if z := d.Base.P.Z; z > 0.21 {
		t.Errorf("crouched it is %g m high", z)
	}
	play("stand", &executive.Pose{Name: "stand"}, 3)
	play("nod", &executive.Play{Name: "nod", Approach: true}, 6)
	var now felt
	e.View(func(s *loop.Snapshot) {
		now = felt{s.Measured.IMU[0], append([]servo.Contact(nil), s.Measured.Touch...)}
	})
	if math.Abs(now.imu.Acceleration.Norm()-9.81) > 0.1 {
		t.Errorf("the cycle feels %v", now.imu.Acceleration)
	}
	for i, c := range now.touch {
		if !c.Pressed {
			t.Errorf("foot %d is not pressed", i)
		}
	}
	d.Push(Push{Force: spatial.Vec3{Y: 30}, Lasts: 0.15})
	run(1.15)
	if tilt := math.Acos(math.Max(-1, math.Min(1, d.Base.R[8]))); tilt < 0.7 {
		t.Errorf("after a push of 4.5 N·s it is tilted by %g rad", tilt)
	}
}

// felt is what the cycle felt.
type felt struct {
	imu   servo.Inertial
	touch []servo.Contact
}

// TestTheUnitInMuJoCoErrs: it has noise, bias and delay, as that of our engine has: a controller does not see the truth.
func TestTheUnitInMuJoCoErrs(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	m := bot.Model
	dst := func(d *Driver) *servo.Measurement {
		return servo.NewMeasurement(len(m.Joints()), d.Capabilities().Sensors)
	}
	src := make([]servo.Setpoint, len(m.Joints()))
	for i, q := range m.RestPositions() {
		src[i] = servo.Setpoint{Mode: servo.Position, Position: q, Stiffness: 1, PlayTime: period}
	}
	run := func(u physics.Unit, seed uint64) (noise, off float64) {
		d := Open(t, m, bot.URDF, Config{Unit: u, Seed: seed})
		if err := d.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		read, last := dst(d), spatial.Vec3{}
		for n := range 400 {
			d.Exchange(servo.Tick{N: uint64(n), Dt: period}, read, src)
			if u.Delay > 0 && n == 0 && read.IMU[0].Age != servo.Never {
				t.Error("a unit that is read a period late is read in the first")
			}
			if n < 100 { // it stands still then
				continue
			}
			noise += read.IMU[0].Rate.Sub(last).Norm() / 300
			off += (read.IMU[0].Acceleration.Norm() - 9.81) / 300
			last = read.IMU[0].Rate
		}
		return noise, math.Abs(off)
	}
	if noise, off := run(physics.Unit{}, 1); noise > 1e-3 || off > 0.01 {
		t.Errorf("a unit without errors is off by %g rad/s and %g m/s²", noise, off)
	}
	u := physics.TypicalErrors.Unit(1)
	u.AccelerationBias = spatial.Vec3{Z: 0.05}
	if noise, off := run(u, 1); noise < 0.005 || math.Abs(off-0.05) > 0.02 {
		t.Errorf("its noise is %g rad/s, its bias %g m/s²", noise, off)
	}
}

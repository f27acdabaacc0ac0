package physics

import (
	"math"
	"slices"
	"testing"

	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	servomodel "poise/servo/model"
	"poise/servo/servotest"
	"poise/sim"
	"poise/spatial"
	"poise/urdf"
)

func model(t testing.TB, name string) *robot.Model {
	t.Helper()
	bot, err := load.Robot(name, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return bot.Model
}

// TestContract holds the driver to the contract of drivers.
func TestContract(t *testing.T) {
	m := turntables(t)
	servotest.Run(t, func(t testing.TB) servotest.Subject {
		d, err := NewDriver(m, 0.01, DefaultSettings())
		if err != nil {
			t.Fatal(err)
		}
		bus := d.(*Driver).Bus()
		return servotest.Subject{Driver: d, Joints: len(m.Joints()), Period: 0.01,
			Silence: func(on bool) { bus.Silence(on) }, Ticks: 100, Tolerance: 0.01, Effort: 1}
	})
}

// turntables are two joints about vertical axes, which carry nothing.
func turntables(t testing.TB) *robot.Model {
	t.Helper()
	link := func(name string) string {
		return `<link name="` + name + `"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>`
	}
	joint := func(name, parent, child string) string {
		return `<joint name="` + name + `" type="revolute"><parent link="` + parent + `"/><child link="` + child + `"/><origin xyz="0.2 0 0"/><axis xyz="0 0 1"/>
			<limit lower="-3" upper="3" effort="10" velocity="5"/><dynamics damping="1"/></joint>`
	}
	doc, _, err := urdf.Parse([]byte(`<robot name="turntables">`+link("a")+link("b")+link("c")+joint("j1", "a", "b")+joint("j2", "b", "c")+`</robot>`), "test.urdf")
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := robot.Build(doc, robot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// standing is the pony behind its bus, told to stand.
func standing(t testing.TB, c Config) (*Bus, *servo.Measurement, []servo.Setpoint) {
	t.Helper()
	m := model(t, "pony")
	c.Motors = MotorsOf(m)
	var err error
	if c.Model, err = sim.NewModel(m, sim.Config{Passive: PassiveOf(c.Motors)}); err != nil {
		t.Fatal(err)
	}
	c.Ground = sim.Level()
	rest := m.RestPositions()
	if c.Start, err = c.Model.Settled(rest, c.Ground); err != nil {
		t.Fatal(err)
	}
	b := New(c)
	src := make([]servo.Setpoint, len(rest))
	for i, q := range rest {
		src[i] = servo.Setpoint{Mode: servo.Position, Position: q, Stiffness: 1, PlayTime: 0.02}
	}
	return b, servo.NewMeasurement(len(rest), b.Sensors()), src
}

func run(t testing.TB, b *Bus, dst *servo.Measurement, src []servo.Setpoint, seconds float64) {
	t.Helper()
	const dt = 0.02
	for n := range int(math.Round(seconds / dt)) {
		if f := b.Exchange(servo.Tick{N: uint64(n), Dt: dt}, dst, src); f != 0 {
			t.Fatalf("exchange %d: fault %v", n, f)
		}
	}
}

// TestSenses: at rest the inertial unit feels 9.81 m/s² upwards and no turn, all hooves are
// pressed and carry the weight; without torque the robot lies down, and limp is limp.
func TestSenses(t *testing.T) {
	b, dst, src := standing(t, Config{})
	if s := b.Sensors(); s.IMU != 1 || s.Touch != 4 {
		t.Fatalf("%+v", s)
	}
	run(t, b, dst, src, 1.5)
	u := dst.IMU[0]
	if math.Abs(u.Acceleration.Norm()-9.81) > 0.01 || u.Rate.Norm() > 0.01 || u.Acceleration.Z < 9.7 {
		t.Errorf("%+v", u)
	}
	weight := 0.0
	for _, c := range dst.Touch {
		if !c.Pressed {
			t.Errorf("a hoof is not pressed: %+v", dst.Touch)
		}
		weight += c.Force.Z
	}
	if want := b.model.Robot().Mass() * 9.81; math.Abs(weight/want-1) > 0.02 {
		t.Errorf("hooves feel %g N of %g N", weight, want)
	}
	z := b.State().Q[2]
	for i := range src {
		src[i] = servo.Setpoint{}
	}
	run(t, b, dst, src, 4)
	if b.State().Q[2] > 0.85*z { // where dry friction holds it, in MuJoCo too
		t.Errorf("without torque it still stands at %g m of %g m", b.State().Q[2], z)
	}
	for i := range dst.Joints {
		if dst.Joints[i].Effort != 0 {
			t.Errorf("joint %d gives %g N·m without torque", i, dst.Joints[i].Effort)
		}
	}
}

// TestBrakeResists: with its motors shorted the robot sinks more slowly than limp.
func TestBrakeResists(t *testing.T) {
	var sunk [2]float64
	for k, mode := range []servo.Mode{servo.Off, servo.Brake} {
		b, dst, src := standing(t, Config{})
		run(t, b, dst, src, 0.4)
		z := b.State().Q[2]
		for i := range src {
			src[i] = servo.Setpoint{Mode: mode}
		}
		run(t, b, dst, src, 0.3)
		sunk[k] = z - b.State().Q[2]
	}
	if !(sunk[1] < 0.8*sunk[0]) {
		t.Errorf("limp it sinks by %g m, braked by %g m", sunk[0], sunk[1])
	}
}

// TestSupplySags: under load the voltage falls by what the motors take, and readings say it.
func TestSupplySags(t *testing.T) {
	b, dst, src := standing(t, Config{Supply: Supply{Resistance: 0.5}})
	run(t, b, dst, src, 0.5)
	v := dst.Joints[0].Voltage
	if !(v < 11.9 && v > 9) {
		t.Errorf("%g V under load", v)
	}
	b.SetVoltage(8)
	run(t, b, dst, src, 0.2)
	if dst.Joints[0].Voltage > 8 {
		t.Errorf("%g V of 8 V", dst.Joints[0].Voltage)
	}
}

// TestLineDelays: a setpoint takes effect after its delay and not before.
func TestLineDelays(t *testing.T) {
	b, dst, src := standing(t, Config{Line: Line{Delay: 0.1}})
	for i := range b.joints {
		b.Aim(i, src[i].Position)
	}
	head := 26 // joint53 or so: any joint of the head
	src[head].Position += 0.2
	run(t, b, dst, src, 0.1)
	if b.Target(head) > src[head].Position-0.19 {
		t.Errorf("after 0.1 s the target is at %g already", b.Target(head))
	}
	run(t, b, dst, src, 0.1)
	if math.Abs(b.Target(head)-src[head].Position) > 0.006 {
		t.Errorf("after 0.2 s the target is at %g, told %g", b.Target(head), src[head].Position)
	}
}

func TestExchangeDoesNotAllocate(t *testing.T) {
	b, dst, src := standing(t, Config{Line: Line{Loss: 0.1, Delay: 0.01, Jitter: 0.01}, Unit: Unit{RateNoise: 0.1, Delay: 2}})
	if n := testing.AllocsPerRun(50, func() { b.Exchange(servo.Tick{Dt: 0.02}, dst, src) }); n != 0 {
		t.Errorf("an exchange allocates %v times", n)
	}
}

// TestTheUnitErrs: its noise has the deviation that was asked for, its bias the size, and
// its measurements come late by its delay.
func TestTheUnitErrs(t *testing.T) {
	s := DefaultSettings()
	s.RateNoise, s.RateBias, s.Noise, s.Bias, s.UnitDelay = 0.02, 0.1, 0.3, 0.5, 3
	u := s.unit()
	if math.Abs(u.RateBias.Norm()-0.1) > 1e-12 || math.Abs(u.AccelerationBias.Norm()-0.5) > 1e-12 {
		t.Errorf("%+v", u)
	}
	b, dst, src := standing(t, Config{Unit: u, Seed: 1})
	run(t, b, dst, src, 1)
	var mean, square spatial.Vec3
	const n = 400
	for range n {
		run(t, b, dst, src, 0.02)
		r := dst.IMU[0].Rate
		mean = mean.Add(r.Scale(1. / n))
		d := r.Sub(u.RateBias)
		square = square.Add(spatial.Vec3{X: d.X * d.X, Y: d.Y * d.Y, Z: d.Z * d.Z}.Scale(1. / n))
	}
	if off := mean.Sub(u.RateBias).Norm(); off > 0.005 {
		t.Errorf("rates are biased by %v, want %v", mean, u.RateBias)
	}
	if σ := math.Sqrt((square.X + square.Y + square.Z) / 3); math.Abs(σ/0.02-1) > 0.1 {
		t.Errorf("rates have a deviation of %g rad/s, want 0.02", σ)
	}

	late, exact := s, DefaultSettings()
	late.RateNoise, late.RateBias, late.Noise, late.Bias = 0, 0, 0, 0
	var rates [2][]float64
	for k, settings := range []Settings{late, exact} {
		b, dst, src := standing(t, Config{Unit: settings.unit()})
		b.Input().Pushes = append(b.Input().Pushes, sim.Push{Body: 1, Force: spatial.Vec3{Y: 5}})
		for range 30 {
			run(t, b, dst, src, 0.02)
			rates[k] = append(rates[k], dst.IMU[0].Rate.X)
		}
	}
	for i := 5; i < 30; i++ {
		if rates[0][i] != rates[1][i-3] {
			t.Fatalf("reading %d is %g, three before it was %g", i, rates[0][i], rates[1][i-3])
		}
	}
	if slices.Max(rates[1])-slices.Min(rates[1]) < 1e-3 {
		t.Errorf("nothing turned: %v", rates[1])
	}
}

// TestTheUnitFindsItsOrientation: by what it measures, not by the truth. Its heading drifts with the bias of its rates, its
// tilt is off by what the bias of its accelerations makes of gravity, and it turns with the robot.
func TestTheUnitFindsItsOrientation(t *testing.T) {
	u := Unit{RateNoise: 0.005, RateBias: spatial.Vec3{Z: 0.01}, AccelerationBias: spatial.Vec3{X: 0.2}}
	b, dst, src := standing(t, Config{Unit: u, Seed: 1})
	const seconds = 10.0
	run(t, b, dst, src, seconds)
	truth := baseRotation(b.State())
	off := dst.IMU[0].Orientation.Mul(truth.Quat().Conj()).Log()
	if math.Abs(off.Z-0.01*seconds) > 0.005 {
		t.Errorf("the heading is %.4f rad off after %g s of 0.01 rad/s", off.Z, seconds)
	}
	if tilt, want := math.Hypot(off.X, off.Y), 0.2/9.81; math.Abs(tilt-want) > 0.1*want {
		t.Errorf("the tilt is %.4f rad off, and gravity with the bias %.4f rad", tilt, want)
	}
	exact, seen, still := standing(t, Config{})
	exact.Input().Pushes = append(exact.Input().Pushes, sim.Push{Body: 1, Force: spatial.Vec3{Y: 5}})
	most := 0.0
	for range 100 {
		run(t, exact, seen, still, 0.02)
		truth := baseRotation(exact.State())
		most = max(most, truth.Quat().Log().Norm())
		if off := seen.IMU[0].Orientation.Mul(truth.Quat().Conj()).Log().Norm(); off > 0.015 {
			t.Fatalf("without errors it is %.4f rad off", off)
		}
	}
	if most < 0.005 {
		t.Errorf("nothing turned: %g rad", most)
	}
}

// TestMotorsOfModels: a motor is what its model says at the joint, behind a gear too.
func TestMotorsOfModels(t *testing.T) {
	m := servomodel.Model{Kp: 100, Voltage: 12, Gear: 2, Saturation: 37, Backlash: 0.02, A: [6]float64{2, 50, 8, 200, 4, -3}, Speed: 0.1}
	got := FromModel(&m)
	want := Motor{Kp: 100 * 12 * 4 / 200.0, Limit: 37 * 12 * 2 / 200.0, Slack: 0.01, Brake: 50 * 4 / 200.0, Voltage: 12, Stall: stallCurrent,
		Passive: sim.Passive{Armature: 2 * 4 / 200.0, Damping: 50 * 4 / 200.0, Friction: 8 * 2 / 200.0, Stribeck: 4 * 2 / 200.0, Speed: 0.05, Offset: 3 * 2 / 200.0}}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestALeadBridgesLostGoals: with a lead of two periods a servo whose goals get lost moves on, as
// fast as before, for two periods; without lead it halts at the first.
func TestALeadBridgesLostGoals(t *testing.T) {
	const period, speed = 0.01, 0.5
	for _, lead := range []float64{0, 0.02} {
		b, dst, src := standing(t, Config{})
		const head = 26
		b.motors[head].Quantum = 0
		from := src[head].Position
		halted := 0
		for n := range 30 {
			at := float64(n) * period
			was := b.Target(head)
			src[head].Position, src[head].PlayTime = from+speed*(at+period+lead), period+lead
			lost := src[head]
			if n == 20 || n == 21 { // a setpoint that is not finite changes nothing
				src[head].Position = math.NaN()
			}
			b.Exchange(servo.Tick{N: uint64(n), Dt: period}, dst, src)
			src[head] = lost
			if moved := b.Target(head) - was; n > 10 && moved < 0.9*speed*period {
				halted++
			}
		}
		if want := map[float64]int{0: 2, 0.02: 0}[lead]; halted != want {
			t.Errorf("lead %g s: it halted in %d periods, want %d", lead, halted, want)
		}
	}
}

// TestPowerIsVoltageTimesCurrent: at rest a motor that gives all it can takes its stall current at
// nominal voltage, one that gives half a quarter of that; turning without load, all of its voltage is
// back-EMF; what braking feeds back is lost; of plain servos nothing is known.
func TestPowerIsVoltageTimesCurrent(t *testing.T) {
	m := FromModel(&servomodel.Model{Kp: 100, Voltage: 12, Effort: 2, A: [6]float64{2, 50, 12, 200}})
	free := m.Limit / m.Passive.Damping // rad/s without load
	for _, c := range []struct{ torque, velocity, want float64 }{
		{2, 0, 24}, {-2, 0, 24}, {1, 0, 6}, {2, free, 0}, {2, free / 2, 12}, {-1, free / 2, 12}, {0.5, free, 0}, {0, 1, 0},
	} {
		if got := m.Power(c.torque, c.velocity); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%g N·m at %g rad/s take %g W, want %g W", c.torque, c.velocity, got, c.want)
		}
	}
	if plain := (&Motor{Kp: 1, Limit: 1}); plain.Power(1, 0) != 0 {
		t.Errorf("a plain servo takes %g W", plain.Power(1, 0))
	}
}

package external_test

import (
	"math"
	"testing"

	"poise/dynamics"
	"poise/external"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/model"
	"poise/spatial"
)

// TestMomentumIsTheTextbooks: the observer in increments is r = K·(p − p₀ − ∫(τ + Ṁu − h + r) dt), computed
// with the mass matrix, its derivative along the motion and inverse dynamics; of an arm that moves all joints.
func TestMomentumIsTheTextbooks(t *testing.T) {
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := bot.Model
	n, nv := len(m.Joints()), m.NumV()
	const dt, gain = 1e-3, 0.03
	const k = gain / dt
	ideal := &model.Model{Kp: 1, Voltage: 12, A: [6]float64{0.02, 0, 0, 1}, DeadZone: 1}
	servos := make([]*model.Model, n)
	armature := make([]float64, nv)
	for i := range servos {
		servos[i], armature[m.Joints()[i].V] = ideal, 0.02
	}
	sense, err := external.New(external.Config{Model: m, Servos: servos, Options: external.Options{Gain: gain}})
	if err != nil {
		t.Fatal(err)
	}
	d := dynamics.NewData(m)
	at := func(i int, s float64) (q, v float64) {
		w := 2 + float64(i)
		return 0.3 * math.Sin(w*s), 0.3 * w * math.Cos(w*s)
	}
	state := func(s float64) (q, v []float64) {
		q, v = make([]float64, m.NumQ()), make([]float64, nv)
		for i, j := range m.Joints() {
			q[j.Q], v[j.V] = at(i, s)
		}
		return q, v
	}
	effort := func(i int, s float64) float64 { return math.Sin(3*s + float64(i)) }
	M, M2, h := make([]float64, nv*nv), make([]float64, nv*nv), make([]float64, nv)
	I, r, p0 := make([]float64, nv), make([]float64, nv), make([]float64, nv)
	mul := func(A, x []float64) []float64 {
		y := make([]float64, nv)
		for a := range nv {
			for b := range nv {
				y[a] += A[a*nv+b] * x[b]
			}
		}
		return y
	}
	l := dynamics.Load{Armature: armature}
	read, told := make([]servo.Reading, n), make([]servo.Setpoint, n)
	worst, most := 0.0, 0.0
	for k1 := range 600 {
		s := float64(k1) * dt
		q, v := state(s)
		d.MassMatrixTo(M, q, l)
		p := mul(M, v)
		if k1 == 0 {
			copy(p0, p)
		}
		const eps = 1e-5
		q1, _ := state(s + eps)
		q2, _ := state(s - eps)
		d.MassMatrixTo(M, q1, l)
		d.MassMatrixTo(M2, q2, l)
		a, b := mul(M, v), mul(M2, v)
		d.BiasTo(h, q, v, dynamics.Load{})
		for i, j := range m.Joints() {
			read[i] = servo.Reading{Position: q[j.Q], Voltage: 12}
			told[i] = servo.Setpoint{Mode: servo.Effort, Effort: effort(i, s-dt/2)}
			if k1 > 0 {
				x := j.V
				I[x] += dt * (effort(i, s) + (a[x]-b[x])/(2*eps) - h[x] + r[x])
				r[x] = k * (p[x] - p0[x] - I[x])
			}
		}
		sense.Update(&external.Sample{Time: s, Dt: dt, Joints: read, Setpoints: told, Base: spatial.IdentityPose})
		if s > 0.3 { // both have forgotten how they began
			for i, j := range m.Joints() {
				worst, most = math.Max(worst, math.Abs(sense.Joint(i).Momentum-r[j.V])), math.Max(most, math.Abs(r[j.V]))
			}
		}
	}
	if worst > 0.03*most || most < 0.5 {
		t.Errorf("the observer is off by %g of %g N·m", worst, most)
	}
}

// TestAGearIsSeenFromTheJoint: the original forgot it on one of the two ways. A servo behind a gear that is described at its
// shaft, and the same described at the joint, feel the same.
func TestAGearIsSeenFromTheJoint(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{Base: robot.BaseFixed})
	if err != nil {
		t.Fatal(err)
	}
	m := bot.Model
	n := len(m.Joints())
	var felt [2][]external.Joint
	for way := range 2 {
		servos := make([]*model.Model, n)
		for i := range servos {
			if own := m.Servo(robot.JointID(i)).Model; own != nil {
				geared := *own
				geared.Gear = 2
				if way == 1 {
					geared = geared.AtJoint()
				}
				servos[i] = &geared
			}
		}
		sense, err := external.New(external.Config{Model: m, Servos: servos})
		if err != nil {
			t.Fatal(err)
		}
		read, told := make([]servo.Reading, n), make([]servo.Setpoint, n)
		for k := range 100 {
			for i := range read {
				read[i] = servo.Reading{Position: 0.1 * math.Sin(0.1*float64(k)), Voltage: 12}
				told[i] = servo.Setpoint{Mode: servo.Position, Position: 0.1 * math.Sin(0.1*float64(k)+0.2), Stiffness: 1, PlayTime: 0.01}
			}
			sense.Update(&external.Sample{Time: float64(k) * 0.01, Dt: 0.01, Joints: read, Setpoints: told, Base: spatial.IdentityPose, Voltage: 12})
		}
		felt[way] = append(felt[way], sense.Joints()...)
	}
	for i := range felt[0] {
		if a, b := felt[0][i], felt[1][i]; a != b {
			t.Errorf("%s: %+v, described at the joint %+v", m.Joints()[i].Name, a, b)
		}
	}
}

// TestExternalTorquesStayBoundedAtAStart: the original took the velocity before the first for zero, and jumped. A robot that moves when it is first seen,
// after a gap or with torque just given, tells nothing until its observer is settled, and then little.
func TestExternalTorquesStayBoundedAtAStart(t *testing.T) {
	p := newPlant(t, config{dt: 0.0224, seed: 4, speed: 1, pose: crouched})
	p.expect(-1)
	p.run(1)
	p.sense.Reset()
	for k := range 60 {
		p.x.Missed = k == 30
		p.step()
		for _, i := range p.m.Chains()[p.feet[0]].Joints {
			j := p.sense.Joint(int(i))
			if j.Valid && (math.Abs(j.Momentum) > 0.4 || math.Abs(j.External) > 0.4) || (k < 5 || k >= 30 && k < 35) && j.Valid {
				t.Fatalf("tick %d: %s is %+v", k, p.m.Joints()[i].Name, *j)
			}
		}
		for _, e := range p.sense.Events() {
			if e.Chain == p.feet[0] {
				t.Errorf("tick %d: %v", k, e)
			}
		}
	}
}

// TestResidualsAreOfWhatIsMeasured: the original took accelerations and torques of the reference. A joint that is held while its
// goal goes on shows what holds it, and the force at the foot is the one that acts.
func TestResidualsAreOfWhatIsMeasured(t *testing.T) {
	p := newPlant(t, config{dt: 0.0112, seed: 6, pose: crouched})
	for i := range p.waves {
		p.waves[i] = nil
	}
	p.run(1)
	foot := p.feet[0]
	knee := p.m.Chains()[foot].Joints[2]
	still := p.read.Joints[knee].Position
	p.waves[knee] = []wave{{0.1, 2 * math.Pi, 0}}
	worst := 0.0
	for range 40 {
		p.step()
		// the reading is of a joint that something holds
		p.read.Joints[knee].Position = still
		p.sense.Update(&p.x)
		worst = math.Max(worst, math.Abs(p.sense.Joint(int(knee)).Residual))
	}
	if worst < 0.3 {
		t.Errorf("a joint that is held against 0.1 rad of its servo feels %g N·m at most", worst)
	}
}

// TestConfigurationsAreChecked: the original compared sizes the wrong way round.
func TestConfigurationsAreChecked(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := bot.Model
	servos := make([]*model.Model, len(m.Joints()))
	for i := range servos {
		servos[i] = m.Servo(robot.JointID(i)).Model
	}
	if _, err := external.New(external.Config{Model: m, Servos: servos}); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]external.Config{
		"one model too few": {Model: m, Servos: servos[1:]},
		"no models":         {Model: m, Servos: make([]*model.Model, len(servos))},
		"a gain of 2":       {Model: m, Servos: servos, Options: external.Options{Gain: 2}},
		"a negative delay":  {Model: m, Servos: servos, Options: external.Options{Delay: -1}},
		"NaN":               {Model: m, Servos: servos, Options: external.Options{ForceOn: math.NaN()}},
	} {
		if _, err := external.New(c); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

// TestTheWholeWrenchIsInTheWorld: the original mixed axes. A robot that is held still and tilted is carried by
// its weight, upwards in the world.
func TestTheWholeWrenchIsInTheWorld(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := bot.Model
	n := len(m.Joints())
	servos := make([]*model.Model, n)
	for i := range servos {
		servos[i] = m.Servo(robot.JointID(i)).Model
	}
	sense, err := external.New(external.Config{Model: m, Servos: servos})
	if err != nil {
		t.Fatal(err)
	}
	X := spatial.Pose{R: spatial.ExpRotation(spatial.Vec3{X: 0.3, Y: -0.5, Z: 1}).Matrix(), P: spatial.Vec3{X: 1, Z: 0.2}}
	unit := &servo.Inertial{Acceleration: X.R.TMulVec(m.Gravity().Neg())}
	read, told := make([]servo.Reading, n), make([]servo.Setpoint, n)
	for i := range read {
		read[i] = servo.Reading{Position: m.RestPositions()[i], Voltage: 12}
		told[i] = servo.Setpoint{Mode: servo.Position, Position: read[i].Position, Stiffness: 1, PlayTime: 0.01}
	}
	for k := range 100 {
		sense.Update(&external.Sample{Time: float64(k) * 0.01, Dt: 0.01, Joints: read, Setpoints: told, Base: X, Unit: unit})
	}
	f := sense.Base().Force
	if up := m.Mass() * 9.81; math.Hypot(f.X, f.Y) > 1e-6*up || math.Abs(f.Z-up) > 0.001*up {
		t.Errorf("it is carried by %v N, and weighs %g N", f, up)
	}
}

// BenchmarkUpdate beside BenchmarkInverse: what the sense of a pony costs, and inverse dynamics.
func BenchmarkUpdate(b *testing.B) {
	p := newPlant(b, config{dt: 0.0112, seed: 1, speed: 1})
	p.run(0.5)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		p.sense.Update(&p.x)
	}
}

func BenchmarkInverse(b *testing.B) {
	p := newPlant(b, config{dt: 0.0112, seed: 1})
	d := dynamics.NewData(p.m)
	q, v := make([]float64, p.m.NumQ()), make([]float64, p.m.NumV())
	tau := make([]float64, p.m.NumV())
	for b.Loop() {
		d.InverseTo(tau, q, v, v, dynamics.Load{})
	}
}

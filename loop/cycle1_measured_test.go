package loop

import (
	"math"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	servomodel "poise/servo/model"
	"poise/servo/physics"
	"poise/sim"
	"poise/spatial"
)

// nodder holds a robot where it rests and moves some joints of it, on feet that stand.
type nodder struct {
	m      *robot.Model
	joints map[int]float64 // amplitudes
}

func (c *nodder) Check(*control.Input, control.Program) control.Reason {
	return control.Because(control.OK)
}

func (c *nodder) Start(*control.Input, control.Program) control.Reason {
	return control.Because(control.OK)
}

func (c *nodder) Update(in *control.Input, out *control.Reference) (control.Status, control.Reason) {
	rest := c.m.RestPositions()
	out.Has = control.JointLeaves(len(rest))
	const w = 2 * math.Pi * 0.5
	t := math.Max(0, float64(in.Tick.Time)*1e-9-1)
	for i, q := range rest {
		size := c.joints[i]
		out.Q[i], out.V[i], out.A[i] = q+size*(1-math.Cos(w*t))/2, size*w*math.Sin(w*t)/2, size*w*w*math.Cos(w*t)/2
		if t == 0 {
			out.V[i], out.A[i] = 0, 0
		}
	}
	return control.Going, control.Because(control.OK)
}

func (c *nodder) Owned(*control.Input, robot.Set) control.Status { return control.Going }

// spoiled is a robot with mass of which not all is measured as it is.
type spoiled struct {
	*physics.Bus
	spoil func(n uint64, dst *servo.Measurement)
	told  []servo.Setpoint // in the last tick
}

func (b *spoiled) Exchange(t servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	b.told = append(b.told[:0], src...)
	f := b.Bus.Exchange(t, dst, src)
	if b.spoil != nil {
		b.spoil(t.N, dst)
	}
	return f
}

// TestCycle1OnBadMeasurements: a pony that stands and moves its head by its servos' models goes on to
// do so, upright, with finite setpoints near those of a pony that measures all, whatever of its
// measurements is NaN, absurd, missing or contradicts its pose; and what is wrong is told.
func TestCycle1OnBadMeasurements(t *testing.T) {
	m := model(t, "pony", load.Options{})
	n := len(m.Joints())
	nan := math.NaN()
	each := func(f func(r *servo.Reading)) func(uint64, *servo.Measurement) {
		return func(_ uint64, dst *servo.Measurement) {
			for i := range dst.Joints {
				f(&dst.Joints[i])
			}
		}
	}
	known := make([]*servomodel.Model, n)
	for i := range known {
		known[i] = m.Servo(robot.JointID(i)).Model
	}
	some := append([]*servomodel.Model(nil), known...)
	for i := range some {
		if i%2 == 0 {
			some[i] = nil
		}
	}
	var asMeasured [][]float64 // goals of each tick
	for _, c := range []struct {
		name   string
		models []*servomodel.Model
		spoil  func(n uint64, dst *servo.Measurement)
		near   float64 // of the goals of a pony that measures all, rad
		told   func(s *Snapshot) bool
	}{
		{"all", known, nil, 0, func(s *Snapshot) bool { return s.Inversion.Measured && !s.Inversion.Stale && !s.Inversion.Absurd }},
		{"positions, now and then", known, func(n uint64, dst *servo.Measurement) {
			for i := range dst.Joints {
				if n > 50 && (n+uint64(i))%3 > 0 { // torque comes when all is read
					dst.Joints[i].Position, dst.Joints[i].Velocity = nan, math.Inf(1)
				}
			}
		}, 0.01, func(s *Snapshot) bool { return s.Measured.Age[0]+s.Measured.Age[1]+s.Measured.Age[2] > 0 }},
		{"voltage", known, each(func(r *servo.Reading) { r.Voltage = nan }), 0.01, func(s *Snapshot) bool { return !s.Inversion.Measured }},
		{"voltage after a while", known, func(n uint64, dst *servo.Measurement) {
			if n > 150 {
				each(func(r *servo.Reading) { r.Voltage = nan })(n, dst)
			}
		}, 0.01, func(s *Snapshot) bool { return s.Inversion.Stale }},
		{"voltage in hundredths", known, each(func(r *servo.Reading) { r.Voltage *= 100 }), 0.06, func(s *Snapshot) bool { return s.Inversion.Absurd }},
		{"efforts and temperatures", known, each(func(r *servo.Reading) { r.Effort, r.Temperature = nan, math.Inf(1) }), 0.01, func(s *Snapshot) bool { return s.Measured.Age[0] == 0 && s.Power == Enabled }},
		{"inertial unit", known, func(_ uint64, dst *servo.Measurement) { dst.IMU[0].Orientation.W = nan }, 0.01, func(s *Snapshot) bool { return s.Measured.IMU[0].Age > 100 }},
		{"touch", known, func(_ uint64, dst *servo.Measurement) {
			for i := range dst.Touch {
				dst.Touch[i].Force.Z = nan
			}
		}, 0.01, func(s *Snapshot) bool { return s.Measured.Touch[0].Age > 100 }},
		{"feet that stand and are not pressed", known, func(_ uint64, dst *servo.Measurement) {
			for i := range dst.Touch {
				dst.Touch[i] = servo.Contact{}
			}
		}, 0.02, func(s *Snapshot) bool {
			return !s.Measured.Touch[0].Pressed && s.Dynamics.Contradicts && s.Dynamics.Recent.Aloft
		}},
		{"a unit that says it lies on its back", known, func(_ uint64, dst *servo.Measurement) {
			dst.IMU[0].Orientation = spatial.Quat{X: 1}
		}, 0.01, func(s *Snapshot) bool { return s.Measured.IMU[0].Orientation.X == 1 }},
		{"models of half of the joints", some, nil, math.Inf(1), func(s *Snapshot) bool { return s.Inversion.Modelled > 5 && s.Inversion.Modelled < n-5 }},
	} {
		if testing.Short() && len(asMeasured) > 0 && c.name != "positions, now and then" {
			continue
		}
		bus := &spoiled{Bus: standingPony(t, m), spoil: c.spoil}
		nods := &nodder{m: m, joints: map[int]float64{}}
		for _, name := range []string{"joint51", "joint52", "joint53"} {
			j, _ := m.Joint(name)
			nods.joints[int(j)] = 0.3
		}
		l, err := New(Config{Model: m, Bus: bus, Controllers: []Registration{{Name: "nod", Controller: nods}},
			Settings: Settings{Inversion: servo.InversionConfig{Name: "model", Models: c.models}, Cycle1: control.JointLeaves(n), Sensors: bus.Sensors(), Policy: arbiter.PolicyLast}})
		if err != nil {
			t.Fatal(err)
		}
		off := 0.0
		for k := range 380 {
			switch k {
			case 2:
				l.Send(Order{Kind: PowerOn})
			case 4:
				l.Send(Order{Kind: StartGoal, Controller: 0, Goal: 1, Program: &keep{joints: control.JointLeaves(n), q: m.RestPositions()}})
			}
			l.Step(servo.Tick{N: uint64(k), Time: int64(k) * 1e7, Dt: 0.01})
			for {
				rep, ok := l.Receive()
				if !ok {
					break
				}
				if unheard := c.name == "inertial unit" && rep.Fault == SilentUnit; rep.Kind == FaultRaised && !unheard {
					t.Errorf("%s: tick %d: fault %v of joint %v: %g", c.name, k, rep.Fault, rep.Reason.Joint, rep.Value)
				}
			}
			goals := make([]float64, n)
			for i, p := range bus.told {
				if !p.Finite() {
					t.Fatalf("%s: tick %d, joint %d is told %+v", c.name, k, i, p)
				}
				if goals[i] = p.Position; c.spoil != nil {
					off = math.Max(off, math.Abs(p.Position-asMeasured[k][i]))
				}
			}
			if c.name == "all" {
				asMeasured = append(asMeasured, goals)
			}
		}
		if s, _ := l.Snapshot(); l.powered.state != Enabled || !c.told(s) || s.Dynamics.Failed {
			t.Errorf("%s: power %v, %+v, %+v", c.name, l.powered.state, s.Inversion, s.Dynamics)
		}
		q := bus.State().Q
		nod, _ := m.Joint("joint52")
		if up := (spatial.Quat{X: q[3], Y: q[4], Z: q[5], W: q[6]}).Matrix()[8]; up < math.Cos(0.02) || q[2] < 0.218 || math.Abs(q[m.Joints()[nod].Q]-l.command.Q[nod]) > 0.03 {
			t.Errorf("%s: it is %g m high and tilted by %g rad, its head at %g of %g rad", c.name, q[2], math.Acos(up), q[m.Joints()[nod].Q], l.command.Q[nod])
		}
		if off > c.near {
			t.Errorf("%s: goals are off by %g rad", c.name, off)
		}
	}
}

// standingPony is a pony with mass on level ground, with its own servos.
func standingPony(t *testing.T, m *robot.Model) *physics.Bus {
	t.Helper()
	motors := physics.MotorsOf(m)
	world, err := sim.NewModel(m, sim.Config{Passive: physics.PassiveOf(motors)})
	if err != nil {
		t.Fatal(err)
	}
	start, err := world.Settled(m.RestPositions(), sim.Level())
	if err != nil {
		t.Fatal(err)
	}
	return physics.New(physics.Config{Model: world, Motors: motors, Ground: sim.Level(), Start: start, Seed: 1})
}

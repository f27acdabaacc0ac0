package loop

import (
	"math"
	"slices"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/dynamics"
	"poise/kinematics"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	servomodel "poise/servo/model"
	"poise/servo/physics"
	"poise/sim"
	"poise/spatial"
)

// swayer moves every joint about a place, with the torque that the rigid bodies need for it.
type swayer struct {
	m                    *robot.Model
	d                    *dynamics.Data
	centre               []float64
	q, v, a, tau         []float64
	amplitude, frequency float64
}

func newSwayer(m *robot.Model, centre []float64, amplitude, frequency float64) *swayer {
	return &swayer{m: m, d: dynamics.NewData(m), centre: centre, amplitude: amplitude, frequency: frequency,
		q: make([]float64, m.NumQ()), v: make([]float64, m.NumV()), a: make([]float64, m.NumV()), tau: make([]float64, m.NumV())}
}

func (c *swayer) Check(*control.Input, control.Program) control.Reason {
	return control.Because(control.OK)
}

func (c *swayer) Start(*control.Input, control.Program) control.Reason {
	return control.Because(control.OK)
}

func (c *swayer) Update(in *control.Input, out *control.Reference) (control.Status, control.Reason) {
	out.Has = control.JointLeaves(len(c.centre))
	t := float64(in.Tick.Time)*1e-9 + in.Tick.Dt
	grow := math.Min(1, t/2)                              // the amplitude comes within 2 s,
	grow, dgrow, ddgrow := grow*grow*(3-2*grow), 0.0, 0.0 // smoothly
	if x := t / 2; x < 1 {
		dgrow, ddgrow = (6*x-6*x*x)/2, (6-12*x)/4
	}
	for i, j := range c.m.Joints() {
		w := 2 * math.Pi * c.frequency * (1 + 0.1*float64(i%5))
		s, k := math.Sin(w*t), math.Cos(w*t)
		size := c.amplitude
		if l := j.Limits; l.Lower.Has && l.Upper.Has {
			size = min(size, 0.3*(l.Upper.Value-l.Lower.Value))
		}
		out.Q[i] = c.centre[i] + size*grow*s
		out.V[i] = size * (dgrow*s + grow*w*k)
		out.A[i] = size * (ddgrow*s + 2*dgrow*w*k - grow*w*w*s)
		c.q[j.Q], c.v[j.V], c.a[j.V] = out.Q[i], out.V[i], out.A[i]
	}
	c.d.InverseTo(c.tau, c.q, c.v, c.a, dynamics.Load{})
	for i, j := range c.m.Joints() {
		out.Tau[i] = c.tau[j.V]
	}
	return control.Going, control.Because(control.OK)
}

func (c *swayer) Owned(*control.Input, robot.Set) control.Status { return control.Going }

// deaf is a bus whose servos do not know efforts, as real position servos.
type deaf struct {
	*physics.Bus
	src []servo.Setpoint
}

func (d *deaf) Exchange(t servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	d.src = append(d.src[:0], src...)
	for i := range d.src {
		d.src[i].Effort = 0
	}
	return d.Bus.Exchange(t, dst, d.src)
}

// sway lets a robot with mass sway and returns the root mean square of what its joints are off,
// rad, from the third second on. off is by how much its servos differ from their models.
func sway(t *testing.T, m *robot.Model, period float64, inversion servo.InversionConfig, off float64, supply physics.Supply) float64 {
	t.Helper()
	n := len(m.Joints())
	motors := make([]physics.Motor, n)
	for i := range motors {
		own := *modelOf(m, i)
		for k := range own.A {
			own.A[k] *= 1 + off*math.Cos(float64(3*i+5*k)) // between − and + off, always the same
		}
		own.Quantum = 0 // what steps of goals cost is not the model's to mend
		motors[i] = physics.FromModel(&own)
	}
	world, err := sim.NewModel(m, sim.Config{Passive: physics.PassiveOf(motors)})
	if err != nil {
		t.Fatal(err)
	}
	centre := make([]float64, n)
	for i, j := range m.Joints() {
		if l := j.Limits; l.Lower.Has && l.Upper.Has {
			centre[i] = 0.5 * (l.Lower.Value + l.Upper.Value)
		}
	}
	start := make([]float64, m.NumQ())
	for i, j := range m.Joints() {
		start[j.Q] = centre[i]
	}
	bus := &deaf{Bus: physics.New(physics.Config{Model: world, Motors: motors, Start: start, Seed: 1, Supply: supply})}
	c := newSwayer(m, centre, 0.15, 0.8)
	l, err := New(Config{Model: m, Bus: bus, Settings: Settings{Inversion: inversion, ByModel: true, Sensors: bus.Sensors(), Policy: arbiter.PolicyLast},
		Controllers: []Registration{{Name: "sway", Controller: c}}})
	if err != nil {
		t.Fatal(err)
	}
	sum, count := 0.0, 0
	for k := range uint64(5 / period) {
		switch k {
		case 2:
			l.Send(Order{Kind: PowerOn})
		case 4:
			l.Send(Order{Kind: StartGoal, Controller: 0, Goal: 1, Program: &keep{joints: control.JointLeaves(n), q: centre}})
		}
		l.Step(servo.Tick{N: k, Time: int64(float64(k) * period * 1e9), Dt: period})
		if float64(k)*period < 3 {
			continue
		}
		for i, j := range m.Joints() {
			if j.Virtual {
				continue
			}
			d := l.command.Q[i] - bus.State().Q[j.Q]
			sum, count = sum+d*d, count+1
		}
	}
	if l.powered.state != Enabled || l.faults.latch.active > 0 {
		t.Fatalf("power %v, %d faults", l.powered.state, l.faults.latch.active)
	}
	return math.Sqrt(sum / float64(count))
}

// modelOf is the model of a joint's servo, one of its strength if it has none.
func modelOf(m *robot.Model, joint int) *servomodel.Model {
	if s := m.Servo(robot.JointID(joint)).Model; s != nil {
		return s
	}
	strength := 1.0
	if e := m.Joints()[joint].Limits.Effort; e.Has {
		strength = e.Value
	}
	return &servomodel.Model{Kp: 100, Voltage: 12, Gear: 1, DeadZone: 0.02, Saturation: 37, A: [6]float64{2.1, 54, 7, 37 * 12 / strength}}
}

// TestModelsFollowBetterThanLead: a robot with mass that sways is several times nearer to its
// command if its servos' models are inverted than by lead alone, even with models off by 20 % and
// a supply that is lower than nominal.
func TestModelsFollowBetterThanLead(t *testing.T) {
	for _, c := range []struct {
		robot  string
		period float64
		off    float64
		supply physics.Supply
		ratio  float64 // at least
	}{
		{"arm6", 0.01, 0, physics.Supply{}, 20},
		{"pony", 0.0112, 0, physics.Supply{}, 20},
		{"pony", 0.0112, 0.2, physics.Supply{Voltage: 10.5}, 4},
	} {
		m := model(t, c.robot, load.Options{Base: robot.BaseFixed})
		known := make([]*servomodel.Model, len(m.Joints()))
		for i := range known {
			known[i] = modelOf(m, i)
		}
		best := math.Inf(1)
		for _, lead := range []float64{0, 2, 5} { // periods
			best = min(best, sway(t, m, c.period, servo.InversionConfig{Lead: servo.Lead{Time: lead * c.period}}, c.off, c.supply))
		}
		by := sway(t, m, c.period, servo.InversionConfig{Name: "model", Models: known}, c.off, c.supply)
		t.Logf("%s at %g s, models off by %g, supply %g V: lead %.4f rad, model %.5f rad, ratio %.1f", c.robot, c.period, c.off, c.supply.Voltage, best, by, best/by)
		if !(best/by >= c.ratio) {
			t.Errorf("%s: %.1f times better than lead, want %g", c.robot, best/by, c.ratio)
		}
	}
}

// TestServoModelsAreOrdered: models that are sent are taken over; of a
// wrong number, or for a loop without models, they are refused. None of it allocates.
func TestServoModelsAreOrdered(t *testing.T) {
	m := model(t, "so101", load.Options{})
	n := len(m.Joints())
	known := make([]*servomodel.Model, n)
	for i := range known {
		known[i] = modelOf(m, i)
	}
	inverter, err := servo.NewInverter(servo.InversionConfig{Name: "model", Models: known})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, parts{robot: "so101", inverter: inverter, settings: Settings{ByModel: true, Inversion: servo.InversionConfig{Name: "model", Models: known}}})
	r.run(20)
	other := *known[0]
	other.A[2] *= 2
	set := &control.ServoModels{ModelSet: servo.ModelSet{Version: 5, Joints: make([]*servomodel.Model, n)}}
	set.Joints[0] = &other
	r.l.Send(Order{Kind: SetModels, Goal: 77, Program: set})
	r.l.Send(Order{Kind: SetModels, Goal: 78, Program: &control.ServoModels{}})
	r.run(5)
	refused := false
	for _, rep := range r.reports {
		refused = refused || rep.Kind == OrderRefused && rep.Goal == 78 && rep.Reason.Code == control.BadProgram
	}
	s, _ := r.l.Snapshot()
	if !refused || s.Inversion.Version != 5 || s.Inversion.Modelled != n {
		t.Errorf("refused %v, %+v", refused, s.Inversion)
	}
	tick := servo.Tick{N: r.n, Dt: r.dt}
	if allocs := testing.AllocsPerRun(50, func() {
		tick.N++
		tick.Time = int64(math.Round(float64(tick.N) * r.dt * 1e9))
		r.l.Send(Order{Kind: SetModels, Goal: 79, Program: set})
		r.l.Step(tick)
		r.l.Receive()
	}); allocs != 0 {
		t.Errorf("%g allocations", allocs)
	}
	if _, err := New(Config{Model: m, Bus: r.bus, Settings: Settings{Inversion: servo.InversionConfig{Name: "model", Models: known[:2]}}}); err == nil {
		t.Error("two models for six joints are taken")
	}
	blob, err := set.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	again, err := control.DecodeServoModels(blob)
	if err != nil || *again.(*control.ServoModels).Joints[0] != other || again.(*control.ServoModels).Joints[1] != nil {
		t.Errorf("written down and read: %+v, %v", again, err)
	}
}

// TestForcesDeflectByStiffness: a force on the tip of an arm that is held by models moves its joints by
// Jᵀ·F/k, as far as friction lets them, at three stiffnesses.
func TestForcesDeflectByStiffness(t *testing.T) {
	m := model(t, "so101", load.Options{})
	n, last := len(m.Joints()), m.Joints()[4].Body // the wrist carries the gripper
	place, force := spatial.Vec3{Z: 0.05}, spatial.Vec3{Z: -4}
	for _, share := range []float64{1, 0.5, 0.25} {
		known := make([]*servomodel.Model, n)
		for i := range known {
			own := *modelOf(m, i)
			own.Stiffness, own.Quantum = share*own.FullStiffness(own.Voltage), 0
			known[i] = &own
		}
		bus, l := held(t, m, known, 0.01)
		k := uint64(0)
		run := func(seconds float64) {
			for range int(seconds / 0.01) {
				switch k {
				case 2:
					l.Send(Order{Kind: PowerOn})
				case 4:
					l.Send(Order{Kind: StartGoal, Controller: 0, Goal: 1, Program: &keep{joints: control.JointLeaves(n), q: make([]float64, n)}})
				}
				l.Step(servo.Tick{N: k, Time: int64(k) * 1e7, Dt: 0.01})
				k++
			}
		}
		run(4)
		at := slices.Clone(bus.State().Q)
		bus.Input().Pushes = append(bus.Input().Pushes[:0], sim.Push{Body: last, Point: place, Force: force})
		run(4)
		now := bus.State().Q
		turn := torqueOf(m, now, last, place, force)
		weightThen, weightNow := make([]float64, n), make([]float64, n)
		gravity(m)(weightThen, at)
		gravity(m)(weightNow, now)
		judged := 0
		for i := range n {
			stiffness := share * known[i].FullStiffness(known[i].Voltage)
			friction := known[i].A[2] / known[i].A[3]
			push := turn[i] - (weightNow[i] - weightThen[i])
			if math.Abs(push) < 5*friction { // what friction can hold says nothing
				continue
			}
			judged++
			moved := now[i] - at[i]
			least, most := (math.Abs(push)-2*friction)/stiffness, (math.Abs(push)+2*friction)/stiffness
			if size := moved * math.Copysign(1, push); size < 0.8*least || size > 1.2*most {
				t.Errorf("share %g, %s: %g N·m move it by %g rad, want %g … %g", share, m.Joints()[i].Name, push, moved, least, most)
			}
		}
		if judged < 2 {
			t.Errorf("share %g: %d joints are judged", share, judged)
		}
	}
}

// torqueOf is what a force at a point of a body does to the joints: Jᵀ·F, by differences.
func torqueOf(m *robot.Model, q []float64, body robot.BodyID, at, force spatial.Vec3) []float64 {
	d := kinematics.NewData(m)
	work := func(q []float64) float64 {
		d.UpdatePosition(q)
		p := d.BodyPose(body).Apply(at)
		return p.X*force.X + p.Y*force.Y + p.Z*force.Z
	}
	const h = 1e-6
	out, x := make([]float64, len(m.Joints())), slices.Clone(q)
	for i, j := range m.Joints() {
		x[j.Q] = q[j.Q] + h
		up := work(x)
		x[j.Q] = q[j.Q] - h
		out[i] = (up - work(x)) / (2 * h)
		x[j.Q] = q[j.Q]
	}
	return out
}

// held is a robot with mass at zero, and a loop that keeps it there with the torque of its weight.
func held(t *testing.T, m *robot.Model, known []*servomodel.Model, period float64) (*deaf, *Loop) {
	t.Helper()
	motors := make([]physics.Motor, len(known))
	for i := range motors {
		motors[i] = physics.FromModel(known[i])
	}
	world, err := sim.NewModel(m, sim.Config{Passive: physics.PassiveOf(motors)})
	if err != nil {
		t.Fatal(err)
	}
	bus := &deaf{Bus: physics.New(physics.Config{Model: world, Motors: motors, Seed: 1})}
	l, err := New(Config{Model: m, Bus: bus, Controllers: []Registration{{Name: "keep", Controller: &keeper{gravity: gravity(m)}}},
		Settings: Settings{Inversion: servo.InversionConfig{Name: "model", Models: known}, ByModel: true, Sensors: bus.Sensors(), Policy: arbiter.PolicyLast}})
	if err != nil {
		t.Fatal(err)
	}
	return bus, l
}

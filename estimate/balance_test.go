package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/contact"
	"poise/control"
	"poise/external"
	"poise/robot"
	"poise/servo"
	"poise/servo/physics"
	"poise/sim"
	"poise/spatial"
)

// standing is a command of the pony at rest in a pose, with its base where it settles.
func standing(t testing.TB, m *robot.Model, q []float64) control.Motion {
	t.Helper()
	c := control.NewMotion(len(m.Joints()), len(m.Chains()), 0)
	copy(c.Q, q)
	g, err := contact.NewGround(m)
	if err != nil {
		t.Fatal(err)
	}
	X, ok := g.Settle(q, g.DefaultFeetTo(nil))
	if !ok {
		t.Fatal("it has no feet")
	}
	c.Base = atRest(X)
	for i, chain := range m.Chains() {
		c.Support[i] = control.Support{Weight: 1, Contact: chain.Contact}
	}
	return c
}

func balancer(t testing.TB, m *robot.Model) *Balancer {
	t.Helper()
	b, err := NewBalancer(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func gap(a, b contact.Point) float64 { return math.Hypot(a.X-b.X, a.Y-b.Y) }

func under(v spatial.Vec3) contact.Point { return contact.Point{X: v.X, Y: v.Y} }

// TestAtRestAllPointsAreBelowTheMass: centre of pressure, zero-moment point and capture
// point of a robot at rest are below its centre of mass, on the level, on soles of different
// heights and turned in the world; the feet carry its weight.
func TestAtRestAllPointsAreBelowTheMass(t *testing.T) {
	m := model(t, "pony")
	b := balancer(t, m)
	var found Balance
	for _, X := range []spatial.Pose{
		spatial.IdentityPose,
		{R: spatial.TurnZ(2), P: spatial.Vec3{X: 3, Y: -1, Z: 0.7}},
		{R: spatial.FromRPY(0.12, 0, 0.4), P: spatial.Vec3{Z: -2}}, // a slope across
		{R: spatial.FromRPY(0, -0.2, 1), P: spatial.Vec3{Y: 5}},    // and along
	} {
		c := standing(t, m, crouched(t, m))
		c.Base.Pose = X.Mul(c.Base.Pose)
		b.ReferenceTo(&found, &c)
		com, load := under(found.Com), 0.0
		if !found.HasCoP || !found.HasZMP || gap(found.ZMP, com) > 1e-9 || gap(found.CoP, com) > 1e-6 || gap(found.Capture, com) > 1e-12 {
			t.Errorf("at %v: mass above %v, cop %v, zmp %v, capture point %v", X.P, com, found.CoP, found.ZMP, found.Capture)
		}
		if found.ZMPMargin <= 0 || found.ZMPMargin != found.Support.Margin(found.ZMP) || math.Abs(found.ComMargin-found.ZMPMargin) > 1e-9 {
			t.Errorf("at %v: margins %g, %g", X.P, found.ZMPMargin, found.ComMargin)
		}
		for _, f := range found.Feet {
			load += f.Force.Z
		}
		if weight := m.Mass() * 9.81; len(found.Feet) != 4 || math.Abs(load-weight) > 1e-6*weight {
			t.Errorf("at %v: %d feet carry %g N of %g", X.P, len(found.Feet), load, weight)
		}
	}
}

// TestTheZMPFollowsTheAcceleration: a base that accelerates has its zero-moment point behind
// its mass by a·height/g, as far as the mass is a point: the cart on a table of Kajita. Its
// velocity alone moves the capture point and nothing else.
func TestTheZMPFollowsTheAcceleration(t *testing.T) {
	m := model(t, "pony")
	b := balancer(t, m)
	c := standing(t, m, crouched(t, m))
	for i := range c.Support {
		c.Support[i].Weight = 1e-7 // soles, which do not keep the base from moving
	}
	var found Balance
	c.Base.Acceleration.Linear = spatial.Vec3{X: 0.5, Y: -0.2}
	b.ReferenceTo(&found, &c)
	height := found.Com.Z - found.Ground
	want := contact.Point{X: found.Com.X - 0.5*height/9.81, Y: found.Com.Y + 0.2*height/9.81}
	if gap(found.ZMP, want) > 1e-5 { // all of the robot moves alike: no angular momentum; soles hold 1e-7 of it back
		t.Errorf("zmp %v, want %v", found.ZMP, want)
	}
	c.Base.Acceleration = spatial.Twist{}
	c.Base.Twist.Linear = spatial.Vec3{X: 0.3, Y: 0.1}
	b.ReferenceTo(&found, &c)
	k := math.Sqrt(height / 9.81)
	if want := (contact.Point{X: found.Com.X + 0.3*k, Y: found.Com.Y + 0.1*k}); gap(found.Capture, want) > 1e-9 || gap(found.ZMP, under(found.Com)) > 1e-6 {
		t.Errorf("capture point %v, want %v; zmp %v", found.Capture, want, found.ZMP)
	}
}

// TestAFadingFootGoesOutOfTheBalance: the load of a foot goes to zero with its weight, and with
// it the polygon is that of the others.
func TestAFadingFootGoesOutOfTheBalance(t *testing.T) {
	m := model(t, "pony")
	b := balancer(t, m)
	c := standing(t, m, crouched(t, m))
	leg, _ := m.Chain("leg1")
	var found Balance
	last := math.Inf(1)
	for _, w := range []float64{1, 0.3, 0.1, 1e-2, 1e-4, 1e-6} {
		c.Support[leg].Weight = w
		b.ReferenceTo(&found, &c)
		for _, f := range found.Feet {
			if f.Chain != leg {
				continue
			}
			if f.Force.Z > last+1e-9 || f.Force.Z > w/(1-w+1e-12)*m.Mass()*9.81 {
				t.Errorf("with weight %g it carries %g N, after %g", w, f.Force.Z, last)
			}
			last = f.Force.Z
		}
	}
	c.Support[leg].Weight = 0
	b.ReferenceTo(&found, &c)
	if len(found.Feet) != 3 || last > 1e-3 {
		t.Errorf("%d feet; the last of it was %g N", len(found.Feet), last)
	}
	for i := range c.Support {
		c.Support[i].Weight = 0
	}
	b.ReferenceTo(&found, &c)
	if found.HasCoP || found.HasZMP || !math.IsInf(found.ZMPMargin, -1) || len(found.Feet) != 0 {
		t.Errorf("in the air it has %+v", found)
	}
}

// seenBy is a pony in physics, and the balance of its senses beside the truth.
type seenBy struct {
	t     *testing.T
	m     *robot.Model
	bus   *physics.Bus
	read  *servo.Measurement
	state control.Measured
	b     *Balancer
	found Balance
}

func inPhysics(t *testing.T, slope float64) *seenBy {
	t.Helper()
	m := model(t, "pony")
	solid, err := sim.NewModel(m, sim.Config{Step: 0.001, Passive: physics.PassiveOf(physics.MotorsOf(m))})
	if err != nil {
		t.Fatal(err)
	}
	ground := &sim.Ground{R: spatial.FromRPY(0, slope, 0), Friction: 0.8}
	joints := crouched(t, m)
	at, err := solid.Settled(joints, ground)
	if err != nil {
		t.Fatal(err)
	}
	start := make([]float64, m.NumQ())
	copy(start, at)
	for i, j := range m.Joints() {
		start[j.Q] = joints[i]
	}
	s := &seenBy{t: t, m: m, b: balancer(t, m), bus: physics.New(physics.Config{Model: solid, Motors: physics.MotorsOf(m), Ground: ground, Start: start, Seed: 1})}
	for i := range joints {
		s.bus.Aim(i, joints[i])
	}
	s.read = servo.NewMeasurement(len(joints), s.bus.Sensors())
	s.state = control.NewMeasured(len(joints), len(m.Chains()), s.bus.Sensors())
	return s
}

// step lets time go on by some milliseconds and looks.
func (s *seenBy) step(n int) (truth contact.Point) {
	s.t.Helper()
	for range n {
		if f := s.bus.Step(); f != sim.OK {
			s.t.Fatal(f)
		}
	}
	s.bus.Measure(s.read)
	st := s.bus.State()
	for i := range s.read.Joints {
		s.state.Q[i], s.state.V[i] = s.read.Joints[i].Position, s.read.Joints[i].Velocity
	}
	copy(s.state.IMU, s.read.IMU)
	copy(s.state.Touch, s.read.Touch)
	s.state.Base = control.BaseRef{Has: true,
		Pose:  spatial.Pose{R: spatial.Quat{X: st.Q[3], Y: st.Q[4], Z: st.Q[5], W: st.Q[6]}.Matrix(), P: spatial.Vec3{X: st.Q[0], Y: st.Q[1], Z: st.Q[2]}},
		Twist: spatial.Twist{Linear: spatial.Vec3{X: st.V[0], Y: st.V[1], Z: st.V[2]}, Angular: spatial.Vec3{X: st.V[3], Y: st.V[4], Z: st.V[5]}}}
	s.b.MeasurementTo(&s.found, &s.state)
	p, ok := sim.ZMP(s.bus.Data().ContactsTo(nil))
	if !ok {
		s.t.Fatal("nothing carries it")
	}
	return p
}

// TestSensesAgreeWithPhysics: what the touch sensors and the inertial unit say of the balance
// is what the contacts of physics have, on the level, on a slope and under a push. A sensor that
// feels no moments is off by the radius of its sole at most; of the motion, joints that accelerate
// are missing.
func TestSensesAgreeWithPhysics(t *testing.T) {
	m := model(t, "pony")
	sole := m.Contacts()[m.Chains()[Sensed(m)[0]].Contact].Sole
	for _, slope := range []float64{0, 0.1} {
		s := inPhysics(t, slope)
		truth := s.step(1500)
		if off := gap(s.found.ZMP, truth); !s.found.HasZMP || off > 0.002 {
			t.Errorf("slope %g, at rest: zmp %v, truth %v", slope, s.found.ZMP, truth)
		}
		if off := gap(s.found.CoP, truth); !s.found.HasCoP || off > 0.001 {
			t.Errorf("slope %g, at rest: cop %v, truth %v", slope, s.found.CoP, truth)
		}
		if off := gap(s.found.CoP, under(s.found.Com)); off > 0.002 {
			t.Errorf("slope %g, at rest: cop %v is %g m off the mass above %v", slope, s.found.CoP, off, s.found.Com)
		}
		for i := range s.state.Touch { // of forces alone
			s.state.Touch[i].Moment = spatial.Vec3{}
		}
		if s.b.MeasurementTo(&s.found, &s.state); gap(s.found.CoP, truth) > sole {
			t.Errorf("slope %g, at rest, by forces alone: cop %v, truth %v", slope, s.found.CoP, truth)
		}
		if off := gap(under(s.found.Com), truth); off > 0.002 {
			t.Errorf("slope %g, at rest: mass above %v, truth %v", slope, s.found.Com, truth)
		}
		load := 0.0
		for _, f := range s.found.Feet {
			load += f.Force.Z
		}
		if weight := s.m.Mass() * 9.81; math.Abs(load-weight) > 0.02*weight {
			t.Errorf("slope %g: sensors feel %g N of %g", slope, load, weight)
		}
		com := under(s.found.Com)
		body, _ := s.m.Frame("base_link")
		s.bus.Input().Pushes = append(s.bus.Input().Pushes[:0], sim.Push{Body: s.m.Frames()[body].Body, Force: spatial.Vec3{X: 6}})
		worst, moved := 0.0, 0.0
		for range 30 {
			truth = s.step(10)
			worst, moved = max(worst, gap(s.found.CoP, truth)), max(moved, gap(truth, com))
		}
		t.Logf("slope %g, pushed: the truth moves by %.1f mm, cop within %.1f mm of it", slope, 1e3*moved, 1e3*worst)
		if worst > 0.002 || moved < 0.02 {
			t.Errorf("slope %g, pushed: cop %g m off the truth, which moved by %g m", slope, worst, moved)
		}
	}
}

// TestSwitchesHaveAModelledPressure: sensors without forces say who carries, and inverse
// dynamics how much.
func TestSwitchesHaveAModelledPressure(t *testing.T) {
	m := model(t, "pony")
	b := balancer(t, m)
	c := standing(t, m, crouched(t, m))
	s := control.NewMeasured(len(m.Joints()), len(m.Chains()), servo.Sensors{Touch: 4})
	copy(s.Q, c.Q)
	s.Base = c.Base
	for i := range s.Touch {
		s.Touch[i].Pressed = i != 3
	}
	var found Balance
	b.MeasurementTo(&found, &s)
	if len(found.Feet) != 3 || !found.HasZMP || gap(found.ZMP, under(found.Com)) > 1e-9 {
		t.Errorf("%+v", found)
	}
	rng := rand.New(rand.NewPCG(21, 13))
	for range 100 { // a push that no foot can hold leaves the centre of pressure inside
		s.Base.Twist.Linear = spatial.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64()}
		b.MeasurementTo(&found, &s)
		if found.HasCoP && found.CoPMargin < -0.013 {
			t.Fatalf("cop %v is %g outside", found.CoP, found.CoPMargin)
		}
	}
}

// TestTheMeasuredZMPFollowsTheUnit: what the inertial unit feels at the base moves the measured
// zero-moment point as a cart on a table does, wherever the robot is, however it is turned and
// however high it stands.
func TestTheMeasuredZMPFollowsTheUnit(t *testing.T) {
	m := model(t, "pony")
	b := balancer(t, m)
	c := standing(t, m, crouched(t, m))
	for _, X := range []spatial.Pose{spatial.IdentityPose, {R: spatial.FromRPY(0.2, -0.3, 2), P: spatial.Vec3{X: 1, Y: 2, Z: 0.7}}} {
		s := control.NewMeasured(len(m.Joints()), len(m.Chains()), servo.Sensors{IMU: 1})
		copy(s.Q, c.Q)
		copy(s.Support, c.Support)
		s.Base = atRest(X.Mul(c.Base.Pose))
		a := spatial.Vec3{X: 0.5, Y: -0.3, Z: 0.4}
		s.IMU[0] = servo.Inertial{Acceleration: s.Base.Pose.R.TMulVec(a.Sub(m.Gravity()))}
		var found Balance
		b.MeasurementTo(&found, &s)
		k := (found.Com.Z - found.Ground) / (9.81 + a.Z)
		if want := (contact.Point{X: found.Com.X - k*a.X, Y: found.Com.Y - k*a.Y}); !found.HasZMP || gap(found.ZMP, want) > 1e-9 {
			t.Errorf("at %v: zmp %v, want %v", X.P, found.ZMP, want)
		}
	}
}

// TestPressureIsOfWhatIsFelt: where servos feel the forces on feet, the centre of pressure is that of these forces, not the one that masses
// would give; where they do not, it is below the mass of a robot at rest.
func TestPressureIsOfWhatIsFelt(t *testing.T) {
	m := model(t, "pony")
	b := balancer(t, m)
	c := standing(t, m, crouched(t, m))
	var found Balance
	b.ReferenceTo(&found, &c)
	at := control.NewMeasured(len(m.Joints()), len(m.Chains()), servo.Sensors{})
	copy(at.Q, c.Q)
	copy(at.Support, c.Support)
	at.Base, at.Felt = c.Base, true
	r := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		var sum, mean spatial.Vec3
		for i, chain := range m.Chains() {
			if chain.Contact == robot.NoContact {
				continue
			}
			f := 2 + 10*r.Float64()
			at.Contacts[i] = external.Contact{Foot: true, State: external.Stance, Force: f}
			p := b.kin.Pose(b.kin.At(chain.Tip)).Apply(sim.SoleMiddle(&m.Contacts()[chain.Contact]))
			sum, mean = sum.Add(spatial.Vec3{Z: f}), mean.Add(p.Scale(f))
		}
		b.MeasurementTo(&found, &at)
		if want := under(mean.Scale(1 / sum.Z)); !found.HasCoP || gap(found.CoP, want) > 1e-9 {
			t.Errorf("the centre of pressure is at %v, that of what is felt at %v", found.CoP, want)
		}
	}
	at.Felt = false
	if b.MeasurementTo(&found, &at); gap(found.CoP, under(found.Com)) > 1e-6 {
		t.Errorf("without feeling the centre of pressure is at %v, the mass above %v", found.CoP, found.Com)
	}
}

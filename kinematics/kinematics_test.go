package kinematics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"poise/internal/approx"
	"poise/internal/randbot"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
	"poise/urdf"
)

var (
	// tolExact is for two ways to one number: rounding along 40 bodies, the last
	// of them some metres away.
	tolExact = approx.Tol{Abs: 1e-11, Rel: 1e-12}

	// tolDiff is for central differences with step: truncation h² and rounding
	// ε/h are both near 1e-10, times velocities of up to 1e2.
	tolDiff = approx.Tol{Abs: 1e-7, Rel: 1e-7}
)

// step is ∛ε, where truncation and rounding of a central difference balance.
const step = 6e-6

// robots calls f with random robots of 2 to 40 bodies of all kinds, fixed and
// floating, with mimics, and a random state of each.
func robots(t *testing.T, f func(t *testing.T, m *robot.Model, s state)) {
	count := uint64(60)
	if testing.Short() {
		count = 8
	}
	for seed := range count {
		rng := randbot.New(seed)
		cfg := randbot.Config{
			Bodies: 2 + int(seed*7)%39, Fixed: int(seed % 4), Mimics: int(seed % 5),
			Serial: seed%3 == 0, Floating: seed%2 == 0,
		}
		m := randbot.Model(t, rng, cfg)
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { f(t, m, newState(rng, m)) })
	}
}

type state struct {
	rng     *rand.Rand
	q, v, a []float64
}

func newState(rng *rand.Rand, m *robot.Model) state {
	return state{rng, randbot.Position(rng, m), randbot.Velocity(rng, m), randbot.Velocity(rng, m)}
}

// at returns d updated to the state.
func at(m *robot.Model, s state) *kinematics.Data {
	d := kinematics.NewData(m)
	d.UpdatePosition(s.q)
	d.UpdateVelocity(s.v)
	d.UpdateAcceleration(s.a)
	return d
}

// along returns the state after the time h on the way with constant a.
func along(m *robot.Model, s state, h float64) state {
	v := make([]float64, m.NumV())
	mid := make([]float64, m.NumV())
	for i := range v {
		v[i] = s.v[i] + h*s.a[i]
		mid[i] = s.v[i] + h/2*s.a[i]
	}
	q := make([]float64, m.NumQ())
	kinematics.NewSpace(m).IntegrateTo(q, s.q, mid, h)
	return state{s.rng, q, v, s.a}
}

// place returns a random offset from a random frame.
func place(rng *rand.Rand, d *kinematics.Data) kinematics.Place {
	f := robot.FrameID(rng.IntN(len(d.Model().Frames())))
	return d.At(f).Offset(spatial.Pose{
		R: randbot.Quat(rng).Matrix(),
		P: spatial.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()},
	})
}

func TestPoseFollowsTheDocument(t *testing.T) {
	// an own walk over the file: origins, axes as written, Rodrigues' formula
	for seed := range uint64(40) {
		rng := randbot.New(seed)
		doc := randbot.Document(rng, randbot.Config{Bodies: 2 + int(seed), Fixed: int(seed % 5), Mimics: int(seed % 4)})
		base := []robot.Base{robot.BaseFixed, robot.BaseFloating}[seed%2]
		m, _, err := robot.Build(doc, robot.Options{Base: base})
		if err != nil {
			t.Fatal(err)
		}
		q := randbot.Position(rng, m)
		d := kinematics.NewData(m)
		d.UpdatePosition(q)
		for f, frame := range m.Frames() {
			want := documentPose(doc, m, q, frame.Name)
			got := d.Pose(d.At(robot.FrameID(f)))
			approx.Equal(t, fmt.Sprintf("seed %d: rotation of %s", seed, frame.Name), got.R[:], want.R[:], tolExact)
			approx.Equal(t, fmt.Sprintf("seed %d: position of %s", seed, frame.Name), vec(got.P), vec(want.P), tolExact)
		}
	}
}

// documentPose multiplies up the joints of the file from link to root.
func documentPose(doc *urdf.Document, m *robot.Model, q []float64, link string) spatial.Pose {
	for i := range doc.Joints {
		if j := &doc.Joints[i]; j.Child == link {
			return documentPose(doc, m, q, j.Parent).Mul(j.Origin.Pose()).Mul(documentMotion(doc, m, q, j))
		}
	}
	if m.Floating() {
		return pose7(q)
	}
	return spatial.IdentityPose
}

func documentMotion(doc *urdf.Document, m *robot.Model, q []float64, j *urdf.Joint) spatial.Pose {
	X := spatial.IdentityPose
	a, _ := j.Axis.Unit()
	switch j.Type {
	case urdf.Revolute, urdf.Continuous:
		X.R = spatial.AxisAngle(a, documentValue(doc, m, q, j))
	case urdf.Prismatic:
		X.P = a.Scale(documentValue(doc, m, q, j))
	case urdf.Floating:
		id, _ := m.Joint(j.Name)
		X = pose7(q[m.Joints()[id].Q:])
	case urdf.Planar:
		// in a plane normal to the axis; its two directions are the model's
		// choice, which for an axis along z are those of the file
		id, _ := m.Joint(j.Name)
		joint := m.Joints()[id]
		R_JB := m.Frames()[m.Bodies()[joint.Body].Link].Pose.R.Transpose()
		u := q[joint.Q : joint.Q+3]
		X.P = R_JB.MulVec(spatial.Vec3{X: u[0], Y: u[1]})
		X.R = spatial.AxisAngle(a, u[2])
	}
	return X
}

func documentValue(doc *urdf.Document, m *robot.Model, q []float64, j *urdf.Joint) float64 {
	if j.Mimic == nil {
		id, _ := m.Joint(j.Name)
		return q[m.Joints()[id].Q]
	}
	for i := range doc.Joints {
		if doc.Joints[i].Name == j.Mimic.Joint {
			return j.Mimic.Multiplier*documentValue(doc, m, q, &doc.Joints[i]) + j.Mimic.Offset
		}
	}
	panic("no leader")
}

func TestPlanarDirectionsAreTheFilesForAxisZ(t *testing.T) {
	doc := &urdf.Document{
		Name:   "cart",
		Links:  []urdf.Link{{Name: "world"}, {Name: "cart"}},
		Joints: []urdf.Joint{{Name: "slide", Type: urdf.Planar, Parent: "world", Child: "cart", Axis: spatial.Vec3{Z: 1}}},
	}
	m, _, err := robot.Build(doc, robot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := kinematics.NewData(m)
	d.UpdatePosition([]float64{2, 3, math.Pi / 2})
	X := d.Pose(d.At(1))
	approx.Equal(t, "position", vec(X.P), []float64{2, 3, 0}, tolExact)
	approx.Equal(t, "its x axis", vec(X.R.Col(0)), []float64{0, 1, 0}, tolExact)

	// moving along the world's x, whatever the angle
	d.UpdateVelocity([]float64{1, 0, 0})
	approx.Equal(t, "velocity", vec(d.Twist(d.At(1)).Linear), []float64{1, 0, 0}, tolExact)
}

func TestTwistIsTheDerivativeOfPose(t *testing.T) {
	robots(t, func(t *testing.T, m *robot.Model, s state) {
		d := at(m, s)
		p := place(s.rng, d)
		fore, aft := at(m, along(m, s, step)).Pose(p), at(m, along(m, s, -step)).Pose(p)
		V := d.Twist(p)
		approx.Equal(t, "velocity", vec(V.Linear), vec(fore.P.Sub(aft.P).Scale(0.5/step)), tolDiff)
		turn := fore.R.Mul(aft.R.Transpose()).Quat().Log().Scale(0.5 / step)
		approx.Equal(t, "angular velocity", vec(V.Angular), vec(turn), tolDiff)
	})
}

func TestAccelerationIsTheDerivativeOfTwist(t *testing.T) {
	robots(t, func(t *testing.T, m *robot.Model, s state) {
		d := at(m, s)
		p := place(s.rng, d)
		fore, aft := at(m, along(m, s, step)).Twist(p), at(m, along(m, s, -step)).Twist(p)
		A := d.Acceleration(p)
		approx.Equal(t, "acceleration", vec(A.Linear), vec(fore.Linear.Sub(aft.Linear).Scale(0.5/step)), tolDiff)
		approx.Equal(t, "angular acceleration", vec(A.Angular), vec(fore.Angular.Sub(aft.Angular).Scale(0.5/step)), tolDiff)
	})
}

func TestJacobianTimesVelocityIsTwist(t *testing.T) {
	robots(t, func(t *testing.T, m *robot.Model, s state) {
		d := at(m, s)
		p := place(s.rng, d)
		J := make([]float64, 6*m.NumV())
		V := d.Twist(p)
		X := d.Pose(p)

		d.JacobianTo(J, p)
		approx.Equal(t, "world axes", times(J, s.v), six(V), tolExact)

		d.BodyJacobianTo(J, p)
		approx.Equal(t, "own axes", times(J, s.v), six(V.In(X.R.Transpose())), tolExact)

		d.SpaceJacobianTo(J, p.Body)
		approx.Equal(t, "at the world's origin", times(J, s.v), six(V.At(X.P.Neg())), tolExact)
	})
}

func TestJacobianColumnsAreDerivativesOfPose(t *testing.T) {
	robots(t, func(t *testing.T, m *robot.Model, s state) {
		d := at(m, s)
		p := place(s.rng, d)
		n := m.NumV()
		J, fd := make([]float64, 6*n), make([]float64, 6*n)
		d.JacobianTo(J, p)
		for i := range n {
			e := state{rng: s.rng, q: s.q, v: make([]float64, n), a: make([]float64, n)}
			e.v[i] = 1
			fore, aft := at(m, along(m, e, step)).Pose(p), at(m, along(m, e, -step)).Pose(p)
			V := spatial.Twist{
				Linear:  fore.P.Sub(aft.P).Scale(0.5 / step),
				Angular: fore.R.Mul(aft.R.Transpose()).Quat().Log().Scale(0.5 / step),
			}
			for k, x := range six(V) {
				fd[k*n+i] = x
			}
		}
		approx.Equal(t, "J", J, fd, tolDiff)
	})
}

func TestAccelerationIsJacobianTimesAccelerationPlusBias(t *testing.T) {
	robots(t, func(t *testing.T, m *robot.Model, s state) {
		d := at(m, s)
		p := place(s.rng, d)
		J := make([]float64, 6*m.NumV())
		d.JacobianTo(J, p)
		got := times(J, s.a)
		for i, x := range six(d.BiasAcceleration(p)) {
			got[i] += x
		}
		approx.Equal(t, "J·a + J̇·v", got, six(d.Acceleration(p)), tolExact)
	})
}

func TestJacobianOfTheWorldIsZero(t *testing.T) {
	robots(t, func(t *testing.T, m *robot.Model, s state) {
		d := at(m, s)
		J := []float64{7}
		for len(J) < 6*m.NumV() {
			J = append(J, 7)
		}
		d.JacobianTo(J, kinematics.Place{Body: robot.World, Pose: spatial.IdentityPose})
		approx.Equal(t, "J", J, make([]float64, len(J)), approx.Tol{})
	})
}

func TestComAndItsJacobian(t *testing.T) {
	robots(t, func(t *testing.T, m *robot.Model, s state) {
		d := at(m, s)
		c, ok := d.Com()
		v, ok2 := d.ComVelocity()
		if !ok || !ok2 {
			t.Fatal("no centre of mass")
		}

		// weighted by hand, link by link
		sum, mass := spatial.Vec3{}, 0.0
		for b, body := range m.Bodies() {
			sum = sum.Add(d.BodyPose(robot.BodyID(b)).Apply(body.Inertia.Com).Scale(body.Inertia.Mass))
			mass += body.Inertia.Mass
		}
		approx.Equal(t, "com", vec(c), vec(sum.Scale(1/mass)), tolExact)
		approx.Scalar(t, "mass", mass, m.Mass(), tolExact)

		fore, _ := at(m, along(m, s, step)).Com()
		aft, _ := at(m, along(m, s, -step)).Com()
		approx.Equal(t, "velocity", vec(v), vec(fore.Sub(aft).Scale(0.5/step)), tolDiff)

		J := make([]float64, 3*m.NumV())
		if !d.ComJacobianTo(J) {
			t.Fatal("no Jacobian")
		}
		approx.Equal(t, "J·v", times(J, s.v), vec(v), tolExact)
	})
}

func TestRobotWithoutMassHasNoCom(t *testing.T) {
	doc := randbot.Document(randbot.New(1), randbot.Config{Bodies: 4})
	for i := range doc.Links {
		doc.Links[i].Inertial = nil
	}
	m, _, err := robot.Build(doc, robot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := at(m, newState(randbot.New(2), m))
	if c, ok := d.Com(); ok || c != (spatial.Vec3{}) {
		t.Errorf("Com() = %v, %v", c, ok)
	}
	if v, ok := d.ComVelocity(); ok || v != (spatial.Vec3{}) {
		t.Errorf("ComVelocity() = %v, %v", v, ok)
	}
	J := make([]float64, 3*m.NumV())
	J[0] = 1
	if ok := d.ComJacobianTo(J); ok || J[0] != 0 {
		t.Errorf("ComJacobianTo: %v, J[0] = %v", ok, J[0])
	}
}

func TestWrenchOnBodyKeepsPower(t *testing.T) {
	robots(t, func(t *testing.T, m *robot.Model, s state) {
		d := at(m, s)
		p := place(s.rng, d)
		w := spatial.Wrench{
			Force:  spatial.Vec3{X: s.rng.NormFloat64(), Y: s.rng.NormFloat64(), Z: s.rng.NormFloat64()},
			Torque: spatial.Vec3{X: s.rng.NormFloat64(), Y: s.rng.NormFloat64(), Z: s.rng.NormFloat64()},
		}
		onBody := d.WrenchOnBody(p, w)
		body := kinematics.Place{Body: p.Body, Pose: spatial.IdentityPose}
		R_BW := d.Pose(body).R.Transpose()
		approx.Scalar(t, "power", onBody.Power(d.Twist(body).In(R_BW)), w.Power(d.Twist(p)), tolExact)
	})
}

func TestQuaternionOfAnyLength(t *testing.T) {
	rng := randbot.New(5)
	m := randbot.Model(t, rng, randbot.Config{Bodies: 5, Floating: true})
	s := newState(rng, m)
	a := at(m, s)
	long := state{rng, append([]float64(nil), s.q...), s.v, s.a}
	for i := 3; i < 7; i++ {
		long.q[i] *= -3.7
	}
	b := at(m, long)
	p := place(rng, a)
	x, y := a.Pose(p), b.Pose(p)
	approx.Equal(t, "rotation", y.R[:], x.R[:], tolExact)
	approx.Equal(t, "position", vec(y.P), vec(x.P), tolExact)
}

func TestPartIsLikeTheWhole(t *testing.T) {
	robots(t, func(t *testing.T, m *robot.Model, s state) {
		whole := at(m, s)
		p, o := place(s.rng, whole), place(s.rng, whole)
		part := kinematics.NewDataFor(m, p, o)
		part.UpdatePosition(s.q)
		part.UpdateVelocity(s.v)
		part.UpdateAcceleration(s.a)
		a, b := make([]float64, 6*m.NumV()), make([]float64, 6*m.NumV())
		for _, p := range []kinematics.Place{p, o} {
			if whole.Pose(p) != part.Pose(p) || whole.Twist(p) != part.Twist(p) || whole.Acceleration(p) != part.Acceleration(p) ||
				whole.BiasAcceleration(p) != part.BiasAcceleration(p) {
				t.Error("the part moves otherwise than the whole")
			}
			whole.JacobianTo(a, p)
			part.JacobianTo(b, p)
			approx.Equal(t, "J", b, a, approx.Tol{})
		}
	})
}

func TestPartKnowsNothingOfTheRest(t *testing.T) {
	m := randbot.Model(t, randbot.New(1), randbot.Config{Bodies: 3, Serial: true})
	q := randbot.Position(randbot.New(1), m)
	first := kinematics.Place{Body: 1, Pose: spatial.IdentityPose}
	last := kinematics.Place{Body: 3, Pose: spatial.IdentityPose}
	for _, tc := range []struct {
		want string
		call func(d *kinematics.Data)
	}{
		{"kinematics: body 3 carries none of the places that the Data was made for", func(d *kinematics.Data) { d.Pose(last) }},
		{"kinematics: Com of a part of the robot", func(d *kinematics.Data) { d.Com() }},
	} {
		t.Run(tc.want, func(t *testing.T) {
			defer func() {
				if r := recover(); r != tc.want {
					t.Errorf("panic %v", r)
				}
			}()
			d := kinematics.NewDataFor(m, first)
			d.UpdatePosition(q)
			tc.call(d)
		})
	}
}

func TestUpdatingTwiceChangesNothing(t *testing.T) {
	robots(t, func(t *testing.T, m *robot.Model, s state) {
		d := at(m, s)
		p := place(s.rng, d)
		x, v, a := d.Pose(p), d.Twist(p), d.Acceleration(p)
		d.UpdatePosition(s.q)
		d.UpdateVelocity(s.v)
		d.UpdateAcceleration(s.a)
		if d.Pose(p) != x || d.Twist(p) != v || d.Acceleration(p) != a {
			t.Error("the second time differs")
		}
	})
}

func TestStagesInOrder(t *testing.T) {
	m := randbot.Model(t, randbot.New(1), randbot.Config{Bodies: 3})
	q := randbot.Position(randbot.New(1), m)
	v := make([]float64, m.NumV())
	for _, tc := range []struct {
		want string
		call func(d *kinematics.Data)
	}{
		{"kinematics: BodyPose before UpdatePosition", func(d *kinematics.Data) { d.Pose(d.At(0)) }},
		{"kinematics: UpdateVelocity before UpdatePosition", func(d *kinematics.Data) { d.UpdateVelocity(v) }},
		{"kinematics: Twist before UpdateVelocity", func(d *kinematics.Data) { d.UpdatePosition(q); d.Twist(d.At(0)) }},
		{"kinematics: Acceleration before UpdateAcceleration", func(d *kinematics.Data) {
			d.UpdatePosition(q)
			d.UpdateVelocity(v)
			d.Acceleration(d.At(0))
		}},
		{"kinematics: Twist before UpdateVelocity", func(d *kinematics.Data) {
			d.UpdatePosition(q)
			d.UpdateVelocity(v)
			d.UpdatePosition(q) // what was known of velocities is gone
			d.Twist(d.At(0))
		}},
		{fmt.Sprintf("kinematics: len(q) = 0, want %d", m.NumQ()), func(d *kinematics.Data) { d.UpdatePosition(nil) }},
		{fmt.Sprintf("kinematics: len(dst) = 1, want %d", 6*m.NumV()), func(d *kinematics.Data) {
			d.UpdatePosition(q)
			d.JacobianTo(make([]float64, 1), d.At(0))
		}},
	} {
		t.Run(tc.want, func(t *testing.T) {
			defer func() {
				if r := recover(); r != tc.want {
					t.Errorf("panic %v", r)
				}
			}()
			tc.call(kinematics.NewData(m))
		})
	}
}

func TestNoAlloc(t *testing.T) {
	rng := randbot.New(3)
	m := randbot.Model(t, rng, randbot.Config{Bodies: 20, Mimics: 3, Floating: true})
	s := newState(rng, m)
	d := at(m, s)
	p := place(rng, d)
	space := kinematics.NewSpace(m)
	J6, J3 := make([]float64, 6*m.NumV()), make([]float64, 3*m.NumV())
	q, v := make([]float64, m.NumQ()), make([]float64, m.NumV())
	for name, f := range map[string]func(){
		"UpdatePosition":     func() { d.UpdatePosition(s.q); d.UpdateVelocity(s.v); d.UpdateAcceleration(s.a) },
		"UpdateVelocity":     func() { d.UpdateVelocity(s.v); d.UpdateAcceleration(s.a) },
		"UpdateAcceleration": func() { d.UpdateAcceleration(s.a) },
		"At":                 func() { p = d.At(1).Offset(p.Pose) },
		"Pose":               func() { d.Pose(p); d.BodyPose(1) },
		"Twist":              func() { d.Twist(p) },
		"Acceleration":       func() { d.Acceleration(p) },
		"BiasAcceleration":   func() { d.BiasAcceleration(p) },
		"WrenchOnBody":       func() { d.WrenchOnBody(p, spatial.Wrench{}) },
		"JacobianTo":         func() { d.JacobianTo(J6, p) },
		"BodyJacobianTo":     func() { d.BodyJacobianTo(J6, p) },
		"SpaceJacobianTo":    func() { d.SpaceJacobianTo(J6, p.Body) },
		"Com":                func() { d.Com(); d.ComVelocity() },
		"ComJacobianTo":      func() { d.ComJacobianTo(J3) },
		"IntegrateTo":        func() { space.IntegrateTo(q, s.q, s.v, 0.1) },
		"DifferenceTo":       func() { space.DifferenceTo(v, q, s.q) },
		"NeutralTo":          func() { space.NeutralTo(q) },
		"RandomTo":           func() { space.RandomTo(q, rng) },
	} {
		if n := testing.AllocsPerRun(50, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func vec(v spatial.Vec3) []float64 { return []float64{v.X, v.Y, v.Z} }

// six returns linear then angular.
func six(v spatial.Twist) []float64 { return append(vec(v.Linear), vec(v.Angular)...) }

func pose7(q []float64) spatial.Pose {
	return spatial.Pose{R: spatial.Quat{X: q[3], Y: q[4], Z: q[5], W: q[6]}.Matrix(), P: spatial.Vec3{X: q[0], Y: q[1], Z: q[2]}}
}

func times(J, v []float64) []float64 {
	y := make([]float64, len(J)/len(v))
	for i := range y {
		for k, x := range v {
			y[i] += J[i*len(v)+k] * x
		}
	}
	return y
}

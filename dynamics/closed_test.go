package dynamics_test

import (
	"math"
	"testing"

	"poise/dynamics"
	"poise/internal/approx"
	"poise/internal/oracle"
	"poise/internal/randbot"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
	"poise/urdf"
)

func build(t *testing.T, doc *urdf.Document, base robot.Base) *robot.Model {
	t.Helper()
	m, _, err := robot.Build(doc, robot.Options{Base: base})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestPendulum(t *testing.T) {
	p := oracle.Pendulum{Mass: 1.3, Length: 0.7, Inertia: 0.05, Gravity: robot.StandardGravity}
	m := build(t, p.Document(), robot.BaseFixed)
	d := dynamics.NewData(m)
	for q := -3.0; q < 3; q += 0.37 {
		for _, a := range []float64{-2, 0, 5} {
			var tau [1]float64
			d.InverseTo(tau[:], []float64{q}, []float64{1.7}, []float64{a}, none)
			approx.Scalar(t, "τ", tau[0], p.Force(q, a), tolIdentity)
		}
	}
}

func TestPendulumSwingsInItsPeriod(t *testing.T) {
	p := oracle.Pendulum{Mass: 1.3, Length: 0.7, Inertia: 0.05, Gravity: robot.StandardGravity}
	m := build(t, p.Document(), robot.BaseFixed)
	const q0 = 2.5 // rad: far from harmonic
	const steps = 2000
	s := motion{m: m, d: dynamics.NewData(m), q: []float64{q0}, v: []float64{0}}
	for range steps {
		s.step(t, p.Period(q0)/steps)
	}
	// Runge–Kutta of fourth order leaves some 1e-10
	approx.Scalar(t, "angle after a period", s.q[0], q0, approx.Tol{Abs: 1e-8})
	approx.Scalar(t, "velocity after a period", s.v[0], 0, approx.Tol{Abs: 1e-7})
}

func TestTwoLinkArm(t *testing.T) {
	r := oracle.TwoLink{M1: 2, M2: 1.1, L1: 0.6, C1: 0.25, C2: 0.31, I1: 0.07, I2: 0.03, Gravity: robot.StandardGravity}
	m := build(t, r.Document(), robot.BaseFixed)
	d := dynamics.NewData(m)
	rng := randbot.New(4)
	for range 50 {
		q := [2]float64{3 * rng.NormFloat64(), 3 * rng.NormFloat64()}
		v := [2]float64{rng.NormFloat64(), rng.NormFloat64()}
		a := [2]float64{rng.NormFloat64(), rng.NormFloat64()}
		M, h := r.Mass(q), r.Bias(q, v)
		tau := []float64{M[0]*a[0] + M[1]*a[1] + h[0], M[2]*a[0] + M[3]*a[1] + h[1]}

		var gotM [4]float64
		var got [2]float64
		d.MassMatrixTo(gotM[:], q[:], none)
		approx.Equal(t, "M", gotM[:], M[:], tolIdentity)
		d.BiasTo(got[:], q[:], v[:], none)
		approx.Equal(t, "h", got[:], h[:], tolIdentity)
		d.InverseTo(got[:], q[:], v[:], a[:], none)
		approx.Equal(t, "τ", got[:], tau, tolIdentity)
		if err := d.ForwardTo(got[:], q[:], v[:], tau, none); err != nil {
			t.Fatal(err)
		}
		approx.Equal(t, "a", got[:], a[:], tolInverse)
	}
}

func TestFreeTopPrecesses(t *testing.T) {
	top := oracle.Top{Mass: 0.4, Across: 0.02, Long: 0.035}
	m := build(t, top.Document(), robot.BaseFloating)
	ω := spatial.Vec3{X: 1, Y: -0.4, Z: 9}
	q := []float64{0, 0, 0, 0.5, 0.5, 0.5, 0.5}
	s := motion{m: m, d: dynamics.NewData(m), q: q, v: []float64{0, 0, 0, ω.X, ω.Y, ω.Z}}
	before, _ := s.d.Momentum(s.q, s.v)
	const steps, time = 4000, 2.0
	for range steps {
		s.step(t, time/steps)
	}
	want := top.Spin(ω, time)
	approx.Equal(t, "ω", s.v[3:], []float64{want.X, want.Y, want.Z}, approx.Tol{Abs: 1e-8})

	// the axis goes round the angular momentum, which stands still
	after, _ := s.d.Momentum(s.q, s.v)
	approx.Equal(t, "angular momentum", momentum(after)[3:], momentum(before)[3:], approx.Tol{Abs: 1e-10})
}

func TestFreeFlightKeepsEnergyAndMomentum(t *testing.T) {
	count := uint64(12)
	if testing.Short() {
		count = 3
	}
	for seed := range count {
		rng := randbot.New(seed)
		m := randbot.Model(t, rng, randbot.Config{Bodies: 2 + int(seed), Fixed: 2, Floating: true,
			Types: []urdf.JointType{urdf.Revolute, urdf.Continuous, urdf.Planar, urdf.Floating}})
		s := motion{m: m, d: dynamics.NewData(m), q: randbot.Position(rng, m), v: randbot.Velocity(rng, m)}
		k := kinematics.NewData(m)
		com := func() spatial.Vec3 {
			k.UpdatePosition(s.q)
			c, _ := k.Com()
			return c
		}
		energy := func() float64 { return s.d.KineticEnergy(s.q, s.v) + s.d.PotentialEnergy(s.q) }

		E0, c0 := energy(), com()
		K0 := s.d.KineticEnergy(s.q, s.v)
		h0, _ := s.d.Momentum(s.q, s.v)
		const h, steps = 1e-3, 400
		for range steps {
			s.step(t, h)
		}
		const time = h * steps
		h1, _ := s.d.Momentum(s.q, s.v)

		drift := approx.Tol{Abs: 1e-6 * math.Max(1, K0)}
		approx.Scalar(t, "energy", energy(), E0, drift)
		approx.Equal(t, "angular momentum", momentum(h1)[3:], momentum(h0)[3:], drift)
		fall := m.Gravity().Scale(m.Mass() * time)
		approx.Equal(t, "linear momentum", momentum(h1)[:3], momentum(spatial.Momentum{Linear: h0.Linear.Add(fall)})[:3], drift)

		// and the centre of mass flies a parabola
		flown := h0.Linear.Scale(time / m.Mass()).Add(m.Gravity().Scale(time * time / 2))
		approx.Equal(t, "centre of mass", list(com()), list(c0.Add(flown)), drift)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestSwingingTreeKeepsEnergy(t *testing.T) {
	for seed := range uint64(6) {
		rng := randbot.New(seed)
		m := randbot.Model(t, rng, randbot.Config{Bodies: 3 + 2*int(seed), Mimics: int(seed % 2), Types: []urdf.JointType{urdf.Revolute, urdf.Prismatic}})
		s := motion{m: m, d: dynamics.NewData(m), q: randbot.Position(rng, m), v: randbot.Velocity(rng, m)}
		energy := func() float64 { return s.d.KineticEnergy(s.q, s.v) + s.d.PotentialEnergy(s.q) }
		E0, K0 := energy(), s.d.KineticEnergy(s.q, s.v)
		for range 400 {
			s.step(t, 5e-4)
		}
		approx.Scalar(t, "energy", energy(), E0, approx.Tol{Abs: 1e-6 * math.Max(1, K0)})
	}
}

// motion integrates forward dynamics without forces by the classical Runge–Kutta
// scheme, on the plain numbers of q.
type motion struct {
	m    *robot.Model
	d    *dynamics.Data
	q, v []float64
}

func (s *motion) step(t *testing.T, h float64) {
	nq, nv := s.m.NumQ(), s.m.NumV()
	dq, dv, sumQ, sumV := make([]float64, nq), make([]float64, nv), make([]float64, nq), make([]float64, nv)
	q, v, tau := make([]float64, nq), make([]float64, nv), make([]float64, nv)
	for _, stage := range []struct{ ahead, weight float64 }{{0, 1. / 6}, {0.5, 1. / 3}, {0.5, 1. / 3}, {1, 1. / 6}} {
		// a piece ahead with the slope of the stage before
		for i := range q {
			q[i] = s.q[i] + stage.ahead*h*dq[i]
		}
		for i := range v {
			v[i] = s.v[i] + stage.ahead*h*dv[i]
		}
		rates(s.m, dq, q, v)
		if err := s.d.ForwardTo(dv, q, v, tau, none); err != nil {
			t.Fatal(err)
		}
		for i := range dq {
			sumQ[i] += stage.weight * dq[i]
		}
		for i := range dv {
			sumV[i] += stage.weight * dv[i]
		}
	}
	for i := range s.q {
		s.q[i] += h * sumQ[i]
	}
	for i := range s.v {
		s.v[i] += h * sumV[i]
	}
}

// rates stores the derivative of the numbers of q: those of v but for free
// bodies, where ṗ = R·v and the quaternion Q changes by ½·Q·ω.
func rates(m *robot.Model, dq, q, v []float64) {
	for _, b := range m.Bodies()[1:] {
		if b.Kind != robot.Floating {
			for i := range b.Kind.NumV() {
				dq[b.Q+i] = v[b.V+i]
			}
			continue
		}
		x, u := q[b.Q:b.Q+7], v[b.V:b.V+6]
		Q := spatial.Quat{W: x[6], X: x[3], Y: x[4], Z: x[5]}
		unit, _ := Q.Unit()
		p := unit.Matrix().MulVec(spatial.Vec3{X: u[0], Y: u[1], Z: u[2]})
		w := Q.Mul(spatial.Quat{X: u[3] / 2, Y: u[4] / 2, Z: u[5] / 2})
		copy(dq[b.Q:], []float64{p.X, p.Y, p.Z, w.X, w.Y, w.Z, w.W})
	}
}

func list(v spatial.Vec3) []float64 { return []float64{v.X, v.Y, v.Z} }

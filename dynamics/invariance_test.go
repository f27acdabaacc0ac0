package dynamics_test

import (
	"fmt"
	"testing"

	"poise/dynamics"
	"poise/internal/approx"
	"poise/internal/oracle"
	"poise/internal/randbot"
	"poise/robot"
	"poise/spatial"
	"poise/urdf"
)

// all returns inverse, forward and mass matrix in one vector.
func all(t *testing.T, m *robot.Model, s state) []float64 {
	t.Helper()
	d := dynamics.NewData(m)
	n := m.NumV()
	out := make([]float64, 2*n+n*n)
	d.InverseTo(out[:n], s.q, s.v, s.a, none)
	forward(t, d, out[n:2*n], s, s.tau, none)
	d.MassMatrixTo(out[2*n:], s.q, none)
	return out
}

func TestWhereTheRobotStandsDoesNotMatter(t *testing.T) {
	trees(t, func(t *testing.T, m *robot.Model, s state) {
		if !m.Floating() {
			t.Skip("fixed base")
		}
		want := all(t, m, s)

		// turned about z and carried away, further than a robot should be
		yaw := spatial.AxisAngle(spatial.Vec3{Z: 1}, 2.1).Quat()
		for _, far := range []float64{1, 1e6} {
			q := append([]float64(nil), s.q...)
			Q := yaw.Mul(spatial.Quat{W: q[6], X: q[3], Y: q[4], Z: q[5]})
			p := yaw.Matrix().MulVec(spatial.Vec3{X: q[0], Y: q[1], Z: q[2]})
			copy(q, []float64{p.X + far, p.Y - 2*far, p.Z + 3*far, Q.X, Q.Y, Q.Z, Q.W})
			approx.Equal(t, fmt.Sprintf("%g m away", far), all(t, m, state{q: q, v: s.v, a: s.a, tau: s.tau}), want, tolInverse)
		}
	})
}

func TestUniformMotionCostsNoForce(t *testing.T) {
	// seen from a train: v gains Rᵀ·u, whose components change by −ω × Rᵀ·u
	trees(t, func(t *testing.T, m *robot.Model, s state) {
		if !m.Floating() {
			t.Skip("fixed base")
		}
		d := dynamics.NewData(m)
		want, got := make([]float64, m.NumV()), make([]float64, m.NumV())
		d.InverseTo(want, s.q, s.v, s.a, none)
		R := spatial.Quat{W: s.q[6], X: s.q[3], Y: s.q[4], Z: s.q[5]}.Matrix()
		u := R.TMulVec(vector(s.rng).Scale(10))
		du := u.Cross(vec3(s.v[3:]))
		v, a := append([]float64(nil), s.v...), append([]float64(nil), s.a...)
		for i, x := range list(u) {
			v[i] += x
		}
		for i, x := range list(du) {
			a[i] += x
		}
		d.InverseTo(got, s.q, v, a, none)
		approx.Equal(t, "τ", got, want, tolIdentity)
	})
}

func TestOrderOfSiblingsDoesNotMatter(t *testing.T) {
	for seed := range uint64(20) {
		rng := randbot.New(seed)
		doc := randbot.Document(rng, randbot.Config{Bodies: 3 + int(seed), Fixed: 2})
		base := []robot.Base{robot.BaseFixed, robot.BaseFloating}[seed%2]
		a := build(t, doc, base)

		// other names, another order among the children of a link
		names := map[string]string{}
		perm := rng.Perm(len(doc.Joints))
		for i := range doc.Joints {
			names[doc.Joints[i].Name] = fmt.Sprintf("other%03d", perm[i])
		}
		renamed := *doc
		renamed.Joints = append([]urdf.Joint(nil), doc.Joints...)
		for i := range renamed.Joints {
			renamed.Joints[i].Name = names[renamed.Joints[i].Name]
		}
		b := build(t, &renamed, base)

		s := newState(rng, a)
		perV, perQ := make([]int, a.NumV()), make([]int, a.NumQ()) // index of b for each of a
		if a.Floating() {
			for i := range 7 {
				perQ[i] = i
			}
			for i := range 6 {
				perV[i] = i
			}
		}
		for _, j := range a.Joints() {
			id, _ := b.Joint(names[j.Name])
			k := b.Joints()[id]
			for i := range j.Kind.NumQ() {
				perQ[j.Q+i] = k.Q + i
			}
			for i := range j.Kind.NumV() {
				perV[j.V+i] = k.V + i
			}
		}
		to := func(x []float64, per []int) []float64 {
			y := make([]float64, len(x))
			for i := range x {
				y[per[i]] = x[i]
			}
			return y
		}
		da, db := dynamics.NewData(a), dynamics.NewData(b)
		n := a.NumV()
		x, y := make([]float64, n), make([]float64, n)
		da.InverseTo(x, s.q, s.v, s.a, none)
		db.InverseTo(y, to(s.q, perQ), to(s.v, perV), to(s.a, perV), none)
		approx.Equal(t, fmt.Sprintf("seed %d: τ", seed), y, to(x, perV), tolIdentity)
		if err := da.ForwardTo(x, s.q, s.v, s.tau, none); err != nil {
			t.Fatal(err)
		}
		if err := db.ForwardTo(y, to(s.q, perQ), to(s.v, perV), to(s.tau, perV), none); err != nil {
			t.Fatal(err)
		}
		approx.Equal(t, fmt.Sprintf("seed %d: a", seed), y, to(x, perV), tolInverse)
	}
}

// TestPlanarIsTwoSlidesAndATurn compares the planar joint with the three joints
// it stands for, with nothing of mass between them.
func TestPlanarIsTwoSlidesAndATurn(t *testing.T) {
	rng := randbot.New(8)
	arm := func(joints []urdf.Joint, links ...urdf.Link) *robot.Model {
		doc := &urdf.Document{Name: "cart", Links: append([]urdf.Link{
			oracle.Link("base", 3, spatial.Vec3{X: 0.1}, 0.1, 0.2, 0.15),
			oracle.Link("trunk", 2, spatial.Vec3{Z: 0.2}, 0.05, 0.04, 0.06),
			oracle.Link("cart", 1.5, spatial.Vec3{X: 0.1, Y: -0.2, Z: 0.3}, 0.02, 0.03, 0.04),
			oracle.Link("mast", 0.7, spatial.Vec3{X: 0.3}, 0.01, 0.02, 0.02),
		}, links...)}
		doc.Joints = append(doc.Joints, oracle.Joint("a", urdf.Continuous, "base", "trunk", spatial.Vec3{Z: 0.3}, spatial.Vec3{X: 1, Y: 1}))
		doc.Joints = append(doc.Joints, joints...)
		doc.Joints = append(doc.Joints, oracle.Joint("z", urdf.Continuous, "cart", "mast", spatial.Vec3{X: 0.2}, spatial.Vec3{Y: 1}))
		return build(t, doc, robot.BaseFloating)
	}
	at := spatial.Vec3{X: 0.1, Y: 0.2, Z: 0.3}
	planar := arm([]urdf.Joint{oracle.Joint("p", urdf.Planar, "trunk", "cart", at, spatial.Vec3{Z: 1})})
	three := arm([]urdf.Joint{
		oracle.Joint("px", urdf.Prismatic, "trunk", "x", at, spatial.Vec3{X: 1}),
		oracle.Joint("py", urdf.Prismatic, "x", "y", spatial.Vec3{}, spatial.Vec3{Y: 1}),
		oracle.Joint("pz", urdf.Continuous, "y", "cart", spatial.Vec3{}, spatial.Vec3{Z: 1}),
	}, urdf.Link{Name: "x"}, urdf.Link{Name: "y"})
	for range 20 {
		s := newState(rng, planar)
		approx.Equal(t, "all", all(t, planar, s), all(t, three, s), tolInverse)
	}
}

// TestFloatingJointIsAFreeBase compares a floating joint on the world with a
// free base, and one inside the tree with its own equations of motion.
func TestFloatingJointIsAFreeBase(t *testing.T) {
	for seed := range uint64(10) {
		rng := randbot.New(seed)
		doc := randbot.Document(rng, randbot.Config{Bodies: 6})
		free := build(t, doc, robot.BaseFloating)
		root := free.Frames()[0].Name
		held := *doc
		held.Links = append([]urdf.Link{{Name: "ground"}}, doc.Links...)
		held.Joints = append([]urdf.Joint{oracle.Joint("free", urdf.Floating, "ground", root, spatial.Vec3{}, spatial.Vec3{X: 1})}, doc.Joints...)
		joint := build(t, &held, robot.BaseFixed)
		s := newState(rng, free)
		approx.Equal(t, fmt.Sprintf("seed %d", seed), all(t, joint, s), all(t, free, s), approx.Tol{})
	}
}

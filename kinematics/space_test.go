package kinematics_test

import (
	"math"
	"testing"

	"poise/internal/approx"
	"poise/internal/randbot"
	"poise/kinematics"
	"poise/robot"
	"poise/urdf"
)

func TestIntegrateUndoesDifference(t *testing.T) {
	robots(t, func(t *testing.T, m *robot.Model, s state) {
		space := kinematics.NewSpace(m)
		p := randbot.Position(s.rng, m)
		v := make([]float64, m.NumV())
		q := make([]float64, m.NumQ())
		space.DifferenceTo(v, p, s.q)
		space.IntegrateTo(q, s.q, v, 1)

		// the same place: no difference left, and the same poses
		space.DifferenceTo(v, p, q)
		approx.Equal(t, "p ⊖ (q ⊕ (p ⊖ q))", v, make([]float64, len(v)), tolExact)
		a, b := kinematics.NewData(m), kinematics.NewData(m)
		a.UpdatePosition(p)
		b.UpdatePosition(q)
		for i := range m.Bodies() {
			x, y := a.BodyPose(robot.BodyID(i)), b.BodyPose(robot.BodyID(i))
			approx.Equal(t, "rotation", y.R[:], x.R[:], approx.Tol{Abs: 1e-10})
			approx.Equal(t, "position", vec(y.P), vec(x.P), approx.Tol{Abs: 1e-10})
		}
	})
}

func TestDifferenceUndoesIntegrate(t *testing.T) {
	robots(t, func(t *testing.T, m *robot.Model, s state) {
		space := kinematics.NewSpace(m)
		v, q := make([]float64, m.NumV()), make([]float64, m.NumQ())
		for _, h := range []float64{0, 1e-12, 1e-3, 0.02, 0.3} { // |ω·h| stays below π
			space.IntegrateTo(q, s.q, s.v, h)
			space.DifferenceTo(v, q, s.q)
			want := make([]float64, len(v))
			for i := range want {
				want[i] = h * s.v[i]
			}
			approx.Equal(t, "(q ⊕ h·v) ⊖ q", v, want, tolExact)
		}
	})
}

func TestIntegrateInSmallStepsIsIntegrate(t *testing.T) {
	// a body that keeps its own twist follows one screw
	robots(t, func(t *testing.T, m *robot.Model, s state) {
		space := kinematics.NewSpace(m)
		whole, part := make([]float64, m.NumQ()), append([]float64(nil), s.q...)
		space.IntegrateTo(whole, s.q, s.v, 0.8)
		for range 64 {
			space.IntegrateTo(part, part, s.v, 0.8/64)
		}
		v := make([]float64, m.NumV())
		space.DifferenceTo(v, whole, part)
		approx.Equal(t, "one step ⊖ many", v, make([]float64, len(v)), tolExact)
	})
}

func TestDifferenceTakesTheShortWay(t *testing.T) {
	rng := randbot.New(1)
	for _, tc := range []struct {
		typ  urdf.JointType
		p, q []float64
		want []float64
	}{
		{urdf.Continuous, []float64{3}, []float64{-3}, []float64{6 - 2*math.Pi}},
		{urdf.Continuous, []float64{100 * math.Pi}, []float64{0}, []float64{0}},
		{urdf.Revolute, []float64{3}, []float64{-3}, []float64{6}}, // bounded: there is no other way
		{urdf.Planar, []float64{1, 2, -3}, []float64{0, 0, 3}, []float64{1, 2, 2*math.Pi - 6}},
		{urdf.Floating, []float64{1, 2, 3, 0, 0, 0, -1}, []float64{0, 0, 0, 0, 0, 0, 1}, []float64{1, 2, 3, 0, 0, 0}},
	} {
		m := randbot.Model(t, rng, randbot.Config{Bodies: 1, Types: []urdf.JointType{tc.typ}})
		v := make([]float64, m.NumV())
		kinematics.NewSpace(m).DifferenceTo(v, tc.p, tc.q)
		approx.Equal(t, "difference", v, tc.want, tolExact)
	}
}

func TestNeutralIsAllowedAndPlain(t *testing.T) {
	doc := randbot.Document(randbot.New(4), randbot.Config{Bodies: 6, Types: []urdf.JointType{urdf.Revolute, urdf.Prismatic}})
	doc.Joints[0].Limit.Lower, doc.Joints[0].Limit.Upper = 0.3, 0.9
	doc.Joints[1].Limit.Lower, doc.Joints[1].Limit.Upper = -0.9, -0.4
	m, _, err := robot.Build(doc, robot.Options{Base: robot.BaseFloating})
	if err != nil {
		t.Fatal(err)
	}
	q := make([]float64, m.NumQ())
	kinematics.NewSpace(m).NeutralTo(q)
	want := make([]float64, m.NumQ())
	want[6] = 1
	for name, x := range map[string]float64{doc.Joints[0].Name: 0.3, doc.Joints[1].Name: -0.4} {
		id, _ := m.Joint(name)
		want[m.Joints()[id].Q] = x
	}
	approx.Equal(t, "neutral", q, want, approx.Tol{})
}

func TestRandomStaysWithinLimits(t *testing.T) {
	robots(t, func(t *testing.T, m *robot.Model, s state) {
		space := kinematics.NewSpace(m)
		q := make([]float64, m.NumQ())
		for range 20 {
			space.RandomTo(q, s.rng)
			for _, j := range m.Joints() {
				l := j.Limits
				if x := q[j.Q]; l.Lower.Has && x < l.Lower.Value || l.Upper.Has && x > l.Upper.Value {
					t.Errorf("%s = %v outside [%v, %v]", j.Name, x, l.Lower.Value, l.Upper.Value)
				}
			}
		}
	})
}

package kinematics_test

import (
	"fmt"
	"math"
	"testing"

	"poise/internal/approx"
	"poise/internal/oracle"
	"poise/internal/randbot"
	"poise/kinematics"
	"poise/robot"
)

// tolGolden is what the reference files are good for: relative to max(1, max|ref|).
var tolGolden = approx.Tol{Rel: 1e-9}

func TestGoldenKinematics(t *testing.T) {
	for _, name := range oracle.DynamicsFiles {
		t.Run(name, func(t *testing.T) {
			ref := oracle.ReadDynamics(t, name)
			m := ref.Model
			for i, j := range m.Joints() {
				if j.Name != ref.Joints[i] {
					t.Fatalf("joint %d is %s, want %s", i, j.Name, ref.Joints[i])
				}
			}
			approx.Scalar(t, "mass", m.Mass(), ref.Mass, tolGolden)
			d := kinematics.NewData(m)
			for i, c := range ref.Cases {
				d.UpdatePosition(c.Q)
				d.UpdateVelocity(c.V)
				d.UpdateAcceleration(c.A)
				compareFrames(t, fmt.Sprintf("case %d: ", i), d, c)
				compareCom(t, fmt.Sprintf("case %d: ", i), d, ref, c)
			}
		})
	}
}

func compareFrames(t *testing.T, at string, d *kinematics.Data, c oracle.Case) {
	for link, want := range c.Frames {
		f, ok := d.Model().Frame(link)
		if !ok {
			t.Fatalf("no frame %s", link)
		}
		p := d.At(f)
		X := d.Pose(p)
		approx.Equal(t, at+link+" position", vec(X.P), want.Position, tolGolden)
		Q := X.R.Quat()
		got := []float64{Q.X, Q.Y, Q.Z, Q.W}
		if dot(got, want.Quaternion) < 0 {
			got = []float64{-Q.X, -Q.Y, -Q.Z, -Q.W}
		}
		approx.Equal(t, at+link+" orientation", got, want.Quaternion, tolGolden)

		J := make([]float64, 6*d.Model().NumV())
		d.JacobianTo(J, p)
		var ref []float64
		for _, row := range want.Jacobian {
			ref = append(ref, row...)
		}
		approx.Equal(t, at+link+" jacobian", J, ref, tolGolden)
		approx.Equal(t, at+link+" J̇·v", six(d.BiasAcceleration(p)), want.JdotV, tolGolden)

		// classical acceleration = jacobian·a + jdotv
		acc := times(ref, c.A)
		for i := range acc {
			acc[i] += want.JdotV[i]
		}
		approx.Equal(t, at+link+" acceleration", six(d.Acceleration(p)), acc, tolGolden)
	}
}

func compareCom(t *testing.T, at string, d *kinematics.Data, ref *oracle.Dynamics, c oracle.Case) {
	com, ok := d.Com()
	if ok == (ref.Mass == 0) {
		t.Fatalf("centre of mass: %v, mass %v", ok, ref.Mass)
	}
	if !ok {
		return
	}
	want := c.ComWithBase
	if want == nil {
		want = c.Com
	}
	approx.Equal(t, at+"com", vec(com), want, tolGolden)

	// the reference counts the moving bodies only, we count every link
	v, _ := d.ComVelocity()
	approx.Equal(t, at+"vcom", vec(v.Scale(ref.Mass/ref.Moving)), c.VCom, tolGolden)
}

func TestRelationsOnRealRobots(t *testing.T) {
	for _, name := range oracle.Robots() {
		for _, base := range []robot.Base{robot.BaseFixed, robot.BaseFloating} {
			t.Run(fmt.Sprintf("%s/%d", name, base), func(t *testing.T) {
				m := oracle.Robot(t, name, base)
				rng := randbot.New(11)
				s := newState(rng, m)
				d := at(m, s)
				J := make([]float64, 6*m.NumV())
				fore, aft := at(m, along(m, s, step)), at(m, along(m, s, -step))
				for f := range m.Frames() {
					p := d.At(robot.FrameID(f))
					d.JacobianTo(J, p)
					approx.Equal(t, "J·v", times(J, s.v), six(d.Twist(p)), tolExact)
					acc := times(J, s.a)
					for i, x := range six(d.BiasAcceleration(p)) {
						acc[i] += x
					}
					approx.Equal(t, "J·a + J̇·v", acc, six(d.Acceleration(p)), tolExact)
					diff := fore.Pose(p).P.Sub(aft.Pose(p).P).Scale(0.5 / step)
					approx.Equal(t, "velocity", vec(d.Twist(p).Linear), vec(diff), tolDiff)
				}
			})
		}
	}
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		s += a[i] * b[i]
	}
	if math.IsNaN(s) {
		panic("not a number")
	}
	return s
}

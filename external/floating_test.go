package external_test

import (
	"math"
	"testing"

	"poise/dynamics"
	"poise/external"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/model"
	"poise/spatial"
)

// flight is a robot whose free base and joints move along given curves.
type flight struct {
	axis spatial.Vec3
	n    int
}

// base returns the pose of the base, its velocity and acceleration in the world, and the angle's two derivatives.
func (f *flight) base(s float64) (X spatial.Pose, v, a spatial.Vec3, rate spatial.Vec3) {
	P := spatial.Vec3{X: 0.1 * math.Sin(2*s), Y: 0.05 * math.Cos(3*s), Z: 0.3 + 0.08*math.Sin(2.5*s)}
	v = spatial.Vec3{X: 0.2 * math.Cos(2*s), Y: -0.15 * math.Sin(3*s), Z: 0.2 * math.Cos(2.5*s)}
	a = spatial.Vec3{X: -0.4 * math.Sin(2*s), Y: -0.45 * math.Cos(3*s), Z: -0.5 * math.Sin(2.5*s)}
	angle, turns := 0.6*math.Sin(3*s), 1.8*math.Cos(3*s)
	return spatial.Pose{R: spatial.ExpRotation(f.axis.Scale(angle)).Matrix(), P: P}, v, a, f.axis.Scale(turns)
}

// state fills in coordinates and velocities, those of the base in its own axes.
func (f *flight) state(q, v []float64, s float64) {
	X, speed, _, rate := f.base(s)
	Q, u := X.R.Quat(), X.R.TMulVec(speed)
	copy(q, []float64{X.P.X, X.P.Y, X.P.Z, Q.X, Q.Y, Q.Z, Q.W})
	copy(v, []float64{u.X, u.Y, u.Z, rate.X, rate.Y, rate.Z})
	for i := range f.n {
		w := 2 + 0.3*float64(i%7)
		q[7+i], v[6+i] = 0.2*math.Sin(w*s), 0.2*w*math.Cos(w*s)
	}
}

// TestMomentumOfAFreeBaseIsTheTextbooks: all rows of r = K·(p − p₀ − ∫(τ + Ṁu − h + r) dt) of a pony whose base flies and turns, by
// odometry and by an inertial unit; those of the base are the wrench of the world, the others the torques on the joints.
func TestMomentumOfAFreeBaseIsTheTextbooks(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := bot.Model
	n, nq, nv := len(m.Joints()), m.NumQ(), m.NumV()
	axis, _ := spatial.Vec3{X: 1, Y: -0.5, Z: 2}.Unit()
	f := &flight{axis: axis, n: n}
	const dt, gain, k = 1e-3, 0.03, 30.0
	ideal := &model.Model{Kp: 1, Voltage: 12, A: [6]float64{0.002, 0, 0, 1}, DeadZone: 1}
	armature := make([]float64, nv)
	servos := make([]*model.Model, n)
	for i := range servos {
		if !m.Joints()[i].Virtual {
			servos[i], armature[m.Joints()[i].V] = ideal, 0.002
		}
	}
	effort := func(i int, s float64) float64 { return 0.1 * math.Sin(3*s+float64(i)) }
	for _, inertial := range []bool{false, true} {
		sense, err := external.New(external.Config{Model: m, Servos: servos, Options: external.Options{Gain: gain}})
		if err != nil {
			t.Fatal(err)
		}
		d, l := dynamics.NewData(m), dynamics.Load{Armature: armature}
		M, h, q, v, q1, v1 := make([]float64, nv*nv), make([]float64, nv), make([]float64, nq), make([]float64, nv), make([]float64, nq), make([]float64, nv)
		momentum := func(at float64) []float64 { // M(q(at))·u, u of the present
			f.state(q1, v1, at)
			d.MassMatrixTo(M, q1, l)
			p := make([]float64, nv)
			for a := range nv {
				for b := range nv {
					p[a] += M[a*nv+b] * v[b]
				}
			}
			return p
		}
		I, r, p0 := make([]float64, nv), make([]float64, nv), []float64(nil)
		read, told := make([]servo.Reading, n), make([]servo.Setpoint, n)
		var worst, most [3]float64 // force, torque, joints
		for tick := range 700 {
			s := float64(tick) * dt
			f.state(q, v, s)
			p := momentum(s)
			if p0 == nil {
				p0 = p
			}
			const eps = 1e-5
			high, low := momentum(s+eps), momentum(s-eps)
			d.BiasTo(h, q, v, dynamics.Load{})
			for x := range nv {
				tau := 0.0
				if i := x - 6; i >= 0 {
					tau = effort(i, s)
				}
				if tick > 0 {
					I[x] += dt * (tau + (high[x]-low[x])/(2*eps) - h[x] + r[x])
					r[x] = k * (p[x] - p0[x] - I[x])
				}
			}
			for i, j := range m.Joints() {
				read[i] = servo.Reading{Position: q[j.Q], Voltage: 12}
				told[i] = servo.Setpoint{Mode: servo.Effort, Effort: effort(j.V-6, s-dt/2)}
			}
			X, speed, _, rate := f.base(s)
			x := external.Sample{Time: s, Dt: dt, Joints: read, Setpoints: told, Base: X, Twist: spatial.Twist{Linear: X.R.TMulVec(speed), Angular: rate}}
			if inertial {
				_, _, a, _ := f.base(s - dt/2) // of the period, in the mean
				x.Unit = &servo.Inertial{Rate: rate, Acceleration: X.R.TMulVec(a.Sub(m.Gravity()))}
			}
			sense.Update(&x)
			if s < 0.4 { // both have to forget how they began
				continue
			}
			w := sense.Base()
			F, T := X.R.TMulVec(w.Force), X.R.TMulVec(w.Torque)
			for i, got := range []float64{F.X, F.Y, F.Z, T.X, T.Y, T.Z} {
				worst[i/3], most[i/3] = math.Max(worst[i/3], math.Abs(got-r[i])), math.Max(most[i/3], math.Abs(r[i]))
			}
			for i, j := range m.Joints() {
				if servos[i] != nil {
					worst[2], most[2] = math.Max(worst[2], math.Abs(sense.Joint(i).Momentum-r[j.V])), math.Max(most[2], math.Abs(r[j.V]))
				}
			}
		}
		t.Logf("inertial unit %v: off by %.3g of %.3g N, %.3g of %.3g N·m, joints %.3g of %.3g N·m", inertial, worst[0], most[0], worst[1], most[1], worst[2], most[2])
		for i := range worst {
			if worst[i] > 0.03*most[i] || most[i] < 0.05 {
				t.Errorf("inertial unit %v, rows %d: off by %g of %g", inertial, i, worst[i], most[i])
			}
		}
	}
}

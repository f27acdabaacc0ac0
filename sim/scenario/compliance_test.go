package scenario

import (
	"fmt"
	"math"
	"testing"

	"poise/dynamics"
	"poise/kinematics"
	"poise/loop"
	"poise/robot"
	"poise/robot/load"
	"poise/servo/physics"
	"poise/spatial"
)

// soften makes the servos that the cycle knows as stiff as a share of what they can be; they have
// no steps, and dry friction only if they are to.
func soften(p *Plant, share float64, friction bool) {
	for i, m := range p.models {
		if m == nil {
			continue
		}
		own := *m
		own.Quantum, own.Stiffness = 0, share*own.FullStiffness(own.Voltage)
		if !friction {
			own.A[2] = 0
		}
		p.models[i], p.motors[i] = &own, physics.FromModel(&own)
	}
}

// TestForcesDeflectByStiffnessInContact: a force on the body of a robot that stands on four feet
// moves joints and body as springs at the joints let them, K·δ = Jᵀ·F with feet that stay where
// they are, within 20 % at three stiffnesses; dry friction takes what it can hold.
func TestForcesDeflectByStiffnessInContact(t *testing.T) {
	if testing.Short() {
		t.Skip("much physics; nothing in it is concurrent")
	}
	for _, c := range []struct {
		friction bool
		force    float64 // N, downwards
	}{{false, 8}, {true, 30}} {
		for _, share := range []float64{1, 0.5, 0.25} {
			p := prepare(t, loaded(t, "pony", load.Options{}), fmt.Sprintf("duration: 4\nstart: {pose: stand}\nmodel: {kp: 230}\n"+inCycle1+"do: [{at: 1, push: {link: base_link, point: [0, 0, 0], force: [0, 0, -%g], for: 10}}]\nexpect: [{what: fallen, is: false}]", c.force))
			soften(p, share, c.friction)
			before, after := pushedDown(t, p)
			s := statics{t: t, m: p.m, q: before, stiffness: make([]float64, len(p.m.Joints()))}
			for i, m := range p.models {
				if s.stiffness[i] = 1e4; m != nil {
					s.stiffness[i] = share * m.FullStiffness(m.Voltage)
				}
			}
			want := s.deflection(spatial.Vec3{Z: -c.force})
			down, sink := before[2]-after[2], -want[2]
			// what friction holds of the force, by the work of both: f·|δq| = F·δz
			held := 0.0
			for i, m := range p.models {
				if m != nil {
					held += m.A[2] / m.A[3] * math.Abs(want[p.m.Joints()[i].V]) / sink
				}
			}
			t.Logf("%.2f N·m/rad: %g N sink it by %.2f mm, springs by %.2f mm; friction holds up to %.1f N", s.stiffness[0], c.force, 1e3*down, 1e3*sink, held)
			if down < 0.8*sink*(1-held/c.force) || down > 1.2*sink {
				t.Errorf("share %g: it sank by %g m, springs by %g m, of %g N friction holds %g N", share, down, sink, c.force, held)
			}
			judged := 0
			for i, j := range p.m.Joints() {
				moved, by := after[j.Q]-before[j.Q], want[j.V]
				if c.friction || math.Abs(by)*s.stiffness[i] < 0.02 {
					continue
				}
				judged++
				if math.Abs(moved-by) > 0.2*math.Abs(by) {
					t.Errorf("share %g, %s: it moved by %g rad, want %g", share, j.Name, moved, by)
				}
			}
			if !c.friction && judged < 8 {
				t.Errorf("share %g: %d joints are judged", share, judged)
			}
		}
	}
}

// pushedDown runs a plant and returns where the robot is before the first second is over, and in
// the end.
func pushedDown(t *testing.T, p *Plant) (before, after []float64) {
	t.Helper()
	r, err := p.Run(1, Watch{Frame: func(f *Frame) {
		after = append(append(append([]float64(nil), f.Base.Position[:]...), f.Base.Orientation[:]...), f.Q...)
		if f.T < 0.995 {
			before = after
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Pass() {
		t.Fatalf("%+v", r.Criteria)
	}
	return before, after
}

// statics is a robot at rest whose joints are springs about where they are, loaded so that it is in
// balance there, and whose feet are held by springs that hardly give.
type statics struct {
	t         *testing.T
	m         *robot.Model
	q         []float64
	stiffness []float64 // [joints]
}

// deflection returns by how far it gives way to a force at the origin of its base, as a velocity
// for one second: Newton's method on the balance of forces, in which the weight stays.
func (s *statics) deflection(force spatial.Vec3) []float64 {
	s.t.Helper()
	n := s.m.NumV()
	k, d, space := kinematics.NewData(s.m), dynamics.NewData(s.m), kinematics.NewSpace(s.m)
	q, J, zero := make([]float64, s.m.NumQ()), make([]float64, 6*n), make([]float64, n)
	var feet []kinematics.Place
	var at []spatial.Pose
	k.UpdatePosition(s.q)
	for _, c := range s.m.Chains() {
		if c.Contact != robot.NoContact {
			feet, at = append(feet, k.At(c.Tip)), append(at, k.Pose(k.At(c.Tip)))
		}
	}
	held := make([]float64, n) // by feet and joints at the start: it goes on to be
	d.InverseTo(held, s.q, zero, zero, dynamics.Load{})
	missing := func(dst, u []float64) {
		space.IntegrateTo(q, s.q, u, 1)
		k.UpdatePosition(q)
		d.InverseTo(dst, q, zero, zero, dynamics.Load{})
		X := base(q).R.TMulVec(force)
		dst[0], dst[1], dst[2] = dst[0]-X.X, dst[1]-X.Y, dst[2]-X.Z
		for i, j := range s.m.Joints() {
			dst[j.V] += s.stiffness[i] * u[j.V]
		}
		const hard = 1e6 // N/m and N·m/rad
		for f, place := range feet {
			k.JacobianTo(J, place)
			Y := k.Pose(place)
			off, turned := Y.P.Sub(at[f].P), Y.R.Mul(at[f].R.Transpose()).Quat().Log()
			for row, e := range []float64{off.X, off.Y, off.Z, turned.X, turned.Y, turned.Z} {
				for i := range dst {
					dst[i] += hard * e * J[row*n+i]
				}
			}
		}
		for i := range dst {
			dst[i] -= held[i]
		}
	}
	u, r, r2, A := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n*n)
	for range 20 {
		missing(r, u)
		const h = 1e-6
		for i := range n {
			u[i] += h
			missing(r2, u)
			u[i] -= h
			for row := range n {
				A[row*n+i] = (r2[row] - r[row]) / h
			}
		}
		solve(A, r, n)
		for i := range u {
			u[i] -= r[i]
		}
	}
	missing(r, u)
	for i, x := range r {
		if math.Abs(x) > 1e-4 {
			s.t.Fatalf("row %d is out of balance by %g", i, x)
		}
	}
	return u
}

// solve replaces b by the solution of A·x = b: Gauss's elimination with pivots.
func solve(A, b []float64, n int) {
	for c := range n {
		p := c
		for r := c + 1; r < n; r++ {
			if math.Abs(A[r*n+c]) > math.Abs(A[p*n+c]) {
				p = r
			}
		}
		for i := range n {
			A[c*n+i], A[p*n+i] = A[p*n+i], A[c*n+i]
		}
		b[c], b[p] = b[p], b[c]
		for r := c + 1; r < n; r++ {
			f := A[r*n+c] / A[c*n+c]
			for i := c; i < n; i++ {
				A[r*n+i] -= f * A[c*n+i]
			}
			b[r] -= f * b[c]
		}
	}
	for c := n - 1; c >= 0; c-- {
		for i := c + 1; i < n; i++ {
			b[c] -= A[c*n+i] * b[i]
		}
		b[c] /= A[c*n+c]
	}
}

// TestAnUnevenFloorIsSharedMoreEvenly: with 3 mm under one hoof the loads of a robot that squats,
// and of one that stands after it, are nearer to those that balance it than in cycle 0 at the same
// gain; softer ones are nearer still. (One that never moved is held by the friction of its servos
// where it was put down, and no cycle changes that.)
func TestAnUnevenFloorIsSharedMoreEvenly(t *testing.T) {
	if testing.Short() {
		t.Skip("much physics; nothing in it is concurrent")
	}
	for _, under := range []struct {
		foot string
		x, y float64
	}{{"leg1", 0.1024, 0.0386}, {"leg4", -0.0584, -0.0386}} {
		loads := func(text string, stiffness float64) (moving, standing float64) {
			p := prepare(t, loaded(t, "pony", load.Options{}), fmt.Sprintf("duration: 5\nperiod: 0.01\nstart: {pose: stand}\nmodel: {kp: 100}\nworld: {boxes: [{size: [0.06, 0.06, 0.003], at: [%g, %g, 0.0015]}]}\n", under.x, under.y)+
				text+"expect: [{what: force_error, of: rms, max: 100, from: 1, to: 4.5}, {what: force_error, of: last, max: 100}]")
			for i, m := range p.models {
				if m != nil {
					own := *m
					own.Stiffness = stiffness
					p.models[i] = &own
				}
			}
			res := squatting(t, p).result()
			return *res.Criteria[0].Value, *res.Criteria[1].Value
		}
		was, rested := loads("", 0)
		now, rests := loads(inCycle1, 0)
		soft, soften := loads(inCycle1, 2.5)
		t.Logf("3 mm under %s: loads are off by %.2f N, then %.2f N; in cycle 0 %.2f N and %.2f N; at 2.5 N·m/rad %.2f N and %.2f N", under.foot, now, rests, was, rested, soft, soften)
		if now > 0.9*was || rests > 0.9*rested || soft > 0.6*was || soften > 0.6*rested {
			t.Errorf("3 mm under %s: off by %g and %g N, soft %g and %g N, in cycle 0 %g and %g N", under.foot, now, rests, soft, soften, was, rested)
		}
	}
}

// TestElectricalEnergy: standing in cycle 1 costs what the torques of inverse dynamics cost, whose
// contact forces are as even as can be. Cycle 0 costs less: springs of one stiffness settle where
// the squares of their torques, and with them the heat, are least, the soles turned against each other,
// and friction holds a part. In a squat cycle 1 also pays for friction and rotors, which cycle 0
// leaves out of its motion.
func TestElectricalEnergy(t *testing.T) {
	if testing.Short() {
		t.Skip("much physics; nothing in it is concurrent")
	}
	power := func(text string, friction bool) (mean, needed float64) {
		p := prepare(t, loaded(t, "pony", load.Options{}), "duration: 3\nstart: {pose: stand}\nmodel: {kp: 100}\n"+text)
		soften(p, 1, friction)
		p.plays = true
		r, err := p.begin(1, Watch{})
		if err != nil {
			t.Fatal(err)
		}
		for r.look(0); r.step < p.s.steps(); {
			if err := r.cycle.tick(min(10, p.s.steps()-r.step)); err != nil {
				t.Fatal(err)
			}
		}
		r.cycle.exec.View(func(s *loop.Snapshot) {
			for i, x := range s.Needed {
				needed += r.motors[i].Power(x, 0)
			}
		})
		return r.result().Figures["power"].Mean, needed
	}
	now, needed := power(inCycle1, true)
	was, _ := power("", true)
	smooth, _ := power(inCycle1, false)
	smoothly, _ := power("", false)
	squat := func(text string) float64 {
		p := prepare(t, loaded(t, "pony", load.Options{}), ownServos+"model: {kp: 100}\n"+text)
		return squatting(t, p).result().Figures["power"].Mean
	}
	moving, moved := squat(inCycle1), squat("")
	t.Logf("stand: %.2f W, by inverse dynamics %.2f W, in cycle 0 %.2f W; without friction %.2f W and %.2f W; squat: %.2f W, in cycle 0 %.2f W", now, needed, was, smooth, smoothly, moving, moved)
	if math.Abs(now/needed-1) > 0.05 || math.Abs(smooth/needed-1) > 0.05 || smooth > 2*smoothly {
		t.Errorf("stand: %g W, without friction %g W, by inverse dynamics %g W; in cycle 0 %g W, without friction %g W", now, smooth, needed, was, smoothly)
	}
	if moving > 2*moved {
		t.Errorf("squat: %g W, in cycle 0 %g W", moving, moved)
	}
}

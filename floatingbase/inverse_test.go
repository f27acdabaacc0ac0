package floatingbase_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"poise/dynamics"
	"poise/floatingbase"
	"poise/internal/legged"
	"poise/internal/randbot"
	"poise/qp"
	"poise/robot"
	"poise/spatial"
)

// The wrenches act on the bodies as loads of plain inverse dynamics: what is left must be
// torques at the joints and the residual at the base.
func TestEquationOfMotionCloses(t *testing.T) {
	everyRobot(t, func(t *testing.T, s *subject, rng *rand.Rand) {
		limited := 0
		for trial := range 40 {
			st := s.random(rng)
			ans := s.solve(t, st)
			if ans.Limited {
				limited++
			}
			s.kin.UpdatePosition(st.q)
			loads := make([]spatial.Wrench, len(s.m.Bodies()))
			add := func(body robot.BodyID, w spatial.Wrench) { loads[body] = loads[body].Add(w) }
			for i, c := range ans.Contacts {
				sup := st.supports[i]
				for k := i; st.supports[k].Chain != c.Chain; k++ {
					sup = st.supports[k+1]
				}
				p := place(s, sup, legged.Origin(&s.m.Contacts()[sup.Contact]))
				if d := s.kin.Pose(p).P.Sub(c.Point).Norm(); d > 1e-12 {
					t.Fatalf("trial %d: point is %g off", trial, d)
				}
				add(p.Body, s.kin.WrenchOnBody(p, c.Wrench))
			}
			base := s.kin.At(s.m.Bodies()[1].Link)
			base.Pose = spatial.IdentityPose
			add(1, s.kin.WrenchOnBody(base, ans.Residual))
			tau := make([]float64, s.m.NumV())
			s.dyn.InverseTo(tau, st.q, st.v, ans.Acceleration, dynamics.Load{Wrench: loads})
			want := append(make([]float64, 6), ans.Torque...)
			plain := make([]float64, s.m.NumV())
			s.dyn.InverseTo(plain, st.q, st.v, ans.Acceleration, dynamics.Load{})
			if e := differ(tau, want) / max(1, largest(plain)); !(e <= 1e-9) {
				t.Fatalf("trial %d: equation of motion is open by %.2g", trial, e)
			}
		}
		if limited == 0 {
			t.Error("no trial reached a limit: the test does not see them")
		}
	})
}

func TestNoWrenchLeavesItsLimits(t *testing.T) {
	everyRobot(t, func(t *testing.T, s *subject, rng *rand.Rand) {
		for trial := range 60 {
			st := s.random(rng)
			ans := s.solve(t, st)
			if ans.Status != qp.Optimal {
				t.Errorf("trial %d: %v after %d iterations", trial, ans.Status, ans.Iterations)
			}
			for _, c := range ans.Contacts {
				var sup floatingbase.Support
				for _, x := range st.supports {
					if x.Chain == c.Chain {
						sup = x
					}
				}
				s.judge(t, st, c, sup)
			}
		}
	})
}

func (s *subject) judge(t *testing.T, st state, c floatingbase.ContactWrench, sup floatingbase.Support) {
	t.Helper()
	const slack = 1 + 1e-12
	set, friction := &s.m.Contacts()[sup.Contact], st.friction
	f, m := c.Force, c.Torque
	if f.Z < 0 || math.Hypot(f.X, f.Y) > slack*friction*f.Z {
		t.Errorf("force %v leaves the cone of friction %g", f, friction)
	}
	if legged.OnCorners(set) {
		s.judgeCorners(t, st, c, sup)
	} else if m.Norm() > slack*set.Sole*f.Z {
		t.Errorf("moment %v is more than sole %g times %g", m, set.Sole, f.Z)
	}
	if sup.Coefficient < 1 && f.Norm() > slack*sup.Coefficient/(1-sup.Coefficient)*s.weight() {
		t.Errorf("a support of %g carries %v", sup.Coefficient, f)
	}
	switch len(set.Points) {
	case 1:
		if m != (spatial.Vec3{}) {
			t.Errorf("%s transmits %v", set.Name, m)
		}
	case 2:
		if m.Z != 0 {
			t.Errorf("%s transmits a torsion of %g", set.Name, m.Z)
		}
	case 3:
		if !legged.OnCorners(set) && math.Abs(m.Z) > slack*0.6*friction*set.Sole*f.Z {
			t.Errorf("torsion %g is too much for %g", m.Z, f.Z)
		}
	}
}

// judgeCorners: about no edge is there a moment that would lift the corners behind it.
func (s *subject) judgeCorners(t *testing.T, st state, c floatingbase.ContactWrench, sup floatingbase.Support) {
	t.Helper()
	set, f, m := &s.m.Contacts()[sup.Contact], c.Force, c.Torque
	s.kin.UpdatePosition(st.q)
	R, o := s.kin.Pose(place(s, sup, spatial.Vec3{})).R, legged.Origin(set)
	up := R.Col(2)
	if up.Z < 0 {
		up = up.Scale(-1)
	}
	nearest, little := math.Inf(1), 1e-12*s.weight()
	for i, p := range set.Points {
		a, b := R.MulVec(p.Sub(o)), R.MulVec(set.Points[(i+1)%len(set.Points)].Sub(o))
		edge, _ := b.Sub(a).Unit()
		if up.Cross(edge).Dot(a) > 0 { // the order of the corners, seen from above
			edge = edge.Scale(-1)
		}
		if by := edge.Dot(m.Sub(a.Cross(f))); by < -little {
			t.Errorf("about an edge %v and %v have %g N·m", f, m, by)
		}
		nearest = min(nearest, a.Cross(edge).Norm())
	}
	if twist, most := math.Abs(up.Dot(m)), 0.6*min(st.friction, 1)*nearest*up.Dot(f); twist > most+little {
		t.Errorf("torsion is %g, and %g is allowed", twist, most)
	}
}

// Points that stand do not accelerate, and nothing is changed that this does not need: the
// change is M-orthogonal to every motion that keeps the points.
func TestAccelerationIsConsistentByTheLeastChange(t *testing.T) {
	everyRobot(t, func(t *testing.T, s *subject, rng *rand.Rand) {
		n := s.m.NumV()
		M, rest := make([]float64, n*n), make([]float64, n)
		for trial := range 40 {
			st := s.random(rng)
			for i := range st.supports {
				st.supports[i].Coefficient = 1
				st.supports[i].Contact = robot.ContactID(trial % 3)
			}
			if len(s.m.Contacts()[trial%3].Points) > 1 || s.name != "pony" {
				clear(st.v) // points of a turning foot cannot all stand, nor those of short chains
			}
			ans := s.solve(t, st)
			still := state{q: st.q, v: rest, a: randbot.Velocity(rng, s.m), supports: st.supports, friction: 1}
			u := s.solve(t, still).Acceleration
			s.kin.UpdatePosition(st.q)
			s.kin.UpdateVelocity(st.v)
			s.kin.UpdateAcceleration(ans.Acceleration)
			for _, sup := range st.supports {
				for _, p := range s.m.Contacts()[sup.Contact].Points {
					if a := s.kin.Acceleration(place(s, sup, p)).Linear.Norm(); a > 1e-6*max(1, largest(st.a)) {
						t.Fatalf("trial %d: a point of %s accelerates by %g", trial, s.m.Contacts()[sup.Contact].Name, a)
					}
				}
			}
			s.dyn.MassMatrixTo(M, st.q, dynamics.Load{})
			along, size := 0.0, 0.0
			for i := range n {
				for j := range n {
					x := u[i] * M[i*n+j] * (ans.Acceleration[j] - st.a[j])
					along, size = along+x, size+math.Abs(x)
				}
			}
			if math.Abs(along) > 1e-7*size+1e-8 {
				t.Fatalf("trial %d: the change has %g of %g along a free motion", trial, along, size)
			}
		}
	})
}

func TestThePonyStandsOnItsCentreOfMass(t *testing.T) {
	s := pony(t)
	for _, set := range []string{"hoof_center", "hoof_flat", "hoof_fixed"} {
		ans := s.solve(t, s.standing(t, randbot.New(1), 0, set))
		sum := 0.0
		for _, c := range ans.Contacts {
			sum += c.Force.Z
		}
		if w := s.weight(); math.Abs(sum-w) > 1e-5*w || ans.Residual.Force.Norm() > 1e-5*w || ans.Limited {
			t.Errorf("%s: the hooves carry %g of %g N, residual %v", set, sum, w, ans.Residual)
		}
		if !ans.HasCoP || !ans.HasZMP || math.Hypot(ans.CoP.X-ans.Com.X, ans.CoP.Y-ans.Com.Y) > 1e-6 || math.Hypot(ans.ZMP.X-ans.Com.X, ans.ZMP.Y-ans.Com.Y) > 1e-9 {
			t.Errorf("%s: centre of pressure %v, zero-moment point %v, centre of mass %v", set, ans.CoP, ans.ZMP, ans.Com)
		}
		if len(ans.Polygon.Corners) < 4 || ans.Margin < 0.03 {
			t.Errorf("%s: polygon %v, margin %g", set, ans.Polygon.Corners, ans.Margin)
		}
	}
}

// Two feet may press against each other along the line between their points, and turn
// against each other, without any effect on the base: at the least weighted norm none of this is left.
func TestWrenchesHaveTheLeastWeightedNorm(t *testing.T) {
	s, rng := pony(t), randbot.New(3)
	for range 50 {
		st := s.standing(t, rng, 0.3, "hoof_fixed")
		for i := range st.supports {
			st.supports[i].Coefficient = 0.5 + rng.Float64()/2
		}
		st.friction = 5
		ans := s.solve(t, st)
		if ans.Limited {
			continue
		}
		for i, a := range ans.Contacts {
			for k, b := range ans.Contacts[:i] {
				line, _ := a.Point.Sub(b.Point).Unit()
				sa, sb := st.supports[i].Coefficient, st.supports[k].Coefficient
				left := a.Force.Scale(1 / sa).Sub(b.Force.Scale(1 / sb)).Dot(line)
				turn := a.Torque.Scale(1 / sa).Sub(b.Torque.Scale(1 / sb)).Norm()
				if math.Abs(left) > 1e-4*s.weight() || turn > 1e-6*s.weight() {
					t.Fatalf("%g N are left along the line between two feet, %g N·m between them", left, turn)
				}
			}
		}
	}
}

func TestSupportsFadeContinuously(t *testing.T) {
	s, rng := pony(t), randbot.New(5)
	for trial := range 24 {
		st := s.standing(t, rng, 1, []string{"hoof_center", "hoof_flat", "hoof_fixed"}[trial%3])
		if trial%3 == 0 { // others cannot stand while the leg turns them
			for i := range st.v {
				st.v[i] = 0.3 * rng.NormFloat64()
			}
		}
		st.supports = st.supports[:1+trial%4]
		fading := &st.supports[trial%len(st.supports)]
		at := func(coefficient float64) *floatingbase.Answer {
			fading.Coefficient = coefficient
			return s.solve(t, st)
		}
		none, little := at(0), at(1e-6)
		if d := apart(none, little); d > 1e-3 {
			t.Errorf("trial %d: 1e-6 and 0 differ by %g", trial, d)
		}
		kept := st.supports
		st.supports = append(append([]floatingbase.Support{}, kept[:trial%len(kept)]...), kept[trial%len(kept)+1:]...)
		if d := apart(none, s.solve(t, st)); d != 0 {
			t.Errorf("trial %d: 0 and absent differ by %g", trial, d)
		}
		st.supports = kept
		for coefficient := 1.0; coefficient > 1e-6; coefficient *= 0.7 {
			jump := apart(at(coefficient), at(coefficient*(1-1e-9)))
			if jump > 1e-3 {
				t.Errorf("trial %d: a jump of %g at %g", trial, jump, coefficient)
			}
		}
	}
}

// apart is the greatest difference of what the robot is told, forces by chain.
func apart(a, b *floatingbase.Answer) (most float64) {
	most = max(differ(a.Torque, b.Torque), differ(a.Acceleration, b.Acceleration),
		a.Residual.Force.Sub(b.Residual.Force).Norm(), a.Residual.Torque.Sub(b.Residual.Torque).Norm())
	for chain := range robot.ChainID(16) {
		var d spatial.Wrench
		for _, c := range a.Contacts {
			if c.Chain == chain {
				d = c.Wrench
			}
		}
		for _, c := range b.Contacts {
			if c.Chain == chain {
				d.Force, d.Torque = d.Force.Sub(c.Force), d.Torque.Sub(c.Torque)
			}
		}
		most = max(most, d.Force.Norm(), d.Torque.Norm())
	}
	return most
}

func TestTurningTheWorldTurnsTheAnswer(t *testing.T) {
	everyRobot(t, func(t *testing.T, s *subject, rng *rand.Rand) {
		for trial := range 30 {
			st := s.random(rng)
			ans := s.solve(t, st)
			turn := spatial.TurnZ(2 * math.Pi * rng.Float64())
			moved := st
			moved.q = append([]float64(nil), st.q...)
			p := turn.MulVec(spatial.Vec3{X: st.q[0], Y: st.q[1], Z: st.q[2]}).Add(spatial.Vec3{X: 3, Y: -2, Z: 1})
			o := turn.Quat().Mul(spatial.Quat{X: st.q[3], Y: st.q[4], Z: st.q[5], W: st.q[6]})
			copy(moved.q, []float64{p.X, p.Y, p.Z, o.X, o.Y, o.Z, o.W})
			got := s.solve(t, moved)
			tol := 1e-6 * max(s.weight(), largest(ans.Torque), ans.Residual.Force.Norm(), ans.Residual.Torque.Norm())
			for i := range ans.Contacts {
				c := &ans.Contacts[i]
				c.Force, c.Torque = turn.MulVec(c.Force), turn.MulVec(c.Torque)
			}
			ans.Residual = ans.Residual.In(turn)
			if d := apart(ans, got); d > tol {
				t.Fatalf("trial %d: the turned world differs by %g, allowed %g", trial, d, tol)
			}
		}
	})
}

func TestInFlightNothingCarries(t *testing.T) {
	s := pony(t)
	st := s.random(randbot.New(6))
	st.supports = nil
	ans := s.solve(t, st)
	if ans.Correction != 0 || differ(ans.Acceleration, st.a) != 0 || len(ans.Contacts) > 0 || ans.HasCoP || ans.HasZMP || len(ans.Polygon.Corners) > 0 {
		t.Errorf("in flight: %+v", ans)
	}
}

func TestWhatCannotBeTakenIsNamed(t *testing.T) {
	s := pony(t)
	for _, c := range []struct {
		change func(st *state)
		want   string
	}{
		{func(st *state) { st.v[7] = math.NaN() }, "v[7] is NaN, want a finite number"},
		{func(st *state) { st.friction = -1 }, "friction is -1, want a finite number, 0 or more"},
		{func(st *state) { st.supports[2].Coefficient = 1.5 }, "coefficient of support[2] is 1.5, want 0 to 1"},
		{func(st *state) { st.supports[1].Chain = st.supports[0].Chain }, "chain of support[1] is 0, want each chain once"},
		{func(st *state) { st.supports[0].Contact = 99 }, "contact of support[0] is 99, want one of the robot's, with points"},
	} {
		st := s.standing(t, randbot.New(1), 0, "hoof_flat")
		c.change(&st)
		err := s.inv.Solve(new(floatingbase.Answer), st.q, st.v, st.a, st.supports, st.friction)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestNoAlloc(t *testing.T) {
	s, rng := pony(t), randbot.New(7)
	calm, wild := s.standing(t, rng, 0, "hoof_flat"), s.standing(t, rng, 20, "hoof_fixed")
	bad := s.standing(t, rng, 0, "hoof_flat")
	bad.friction = math.NaN()
	var ans floatingbase.Answer
	for _, st := range []state{calm, wild, bad} {
		if n := testing.AllocsPerRun(50, func() { _ = s.inv.Solve(&ans, st.q, st.v, st.a, st.supports, st.friction) }); n != 0 {
			t.Errorf("%g allocations", n)
		}
	}
	s = newSubject(t, "g1", legged.Cornered(t, "g1"))
	for range 20 {
		st := s.random(rng)
		if n := testing.AllocsPerRun(5, func() { _ = s.inv.Solve(&ans, st.q, st.v, st.a, st.supports, st.friction) }); n != 0 {
			t.Errorf("on corners: %g allocations", n)
		}
	}
}

// TestTheZMPIsOnThePlaneOfTheSoles: raising the world changes neither ZMP nor centre of pressure of
// a robot that accelerates.
func TestTheZMPIsOnThePlaneOfTheSoles(t *testing.T) {
	s := pony(t)
	rng := randbot.New(7)
	for trial := range 20 {
		st := s.random(rng)
		for i := range st.supports {
			st.supports[i].Coefficient = 1
		}
		low := s.solve(t, st)
		st.q[2]++
		high := s.solve(t, st)
		off := math.Hypot(low.ZMP.X-high.ZMP.X, low.ZMP.Y-high.ZMP.Y) + math.Hypot(low.CoP.X-high.CoP.X, low.CoP.Y-high.CoP.Y)
		if low.HasZMP != high.HasZMP || off > 1e-6*(1+math.Hypot(low.ZMP.X, low.ZMP.Y)) {
			t.Fatalf("trial %d: zmp %v, cop %v; a metre higher %v, %v", trial, low.ZMP, low.CoP, high.ZMP, high.CoP)
		}
	}
}

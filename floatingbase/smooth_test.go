package floatingbase_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"poise/floatingbase"
	"poise/internal/legged"
	"poise/internal/randbot"
	"poise/qp"
	"poise/robot"
	"poise/spatial"
)

func (st *state) fade(coefficient float64) {
	for i := range st.supports {
		st.supports[i].Coefficient = coefficient
	}
}

func (st *state) turn(r spatial.Vec3) {
	o := spatial.ExpRotation(r)
	copy(st.q[3:7], []float64{o.X, o.Y, o.Z, o.W})
}

// TestFeetDoNotPressAgainstEachOther: where fading feet cannot carry the weight, they do not use
// up their friction against each other for a millionth of the residual; a small turn of the robot
// and a small change of the coefficients change torques a little.
func TestFeetDoNotPressAgainstEachOther(t *testing.T) {
	s := pony(t)
	for _, set := range []string{"hoof_center", "hoof_flat", "hoof_fixed"} {
		st := s.standing(t, randbot.New(1), 0, set)
		solve := func(coefficient float64, tilt spatial.Vec3) *floatingbase.Answer {
			st.fade(coefficient)
			st.turn(tilt)
			return s.solve(t, st)
		}
		for _, tilt := range []float64{1e-6, 1e-5, 1e-4} {
			for _, r := range []spatial.Vec3{{X: tilt}, {Y: tilt}} {
				if d := differ(solve(0.1, r).Torque, solve(0.1, r.Scale(-1)).Torque); d > 20*tilt {
					t.Errorf("%s: a turn by %v on both sides changes torques by %g N·m", set, r, d)
				}
			}
		}
		const step = 0.001
		tilt := spatial.Vec3{Y: 1e-4}
		before := solve(0.25, tilt).Torque
		for c := 0.25; c > 0.005; c -= step {
			ans := solve(c, tilt)
			if d := differ(before, ans.Torque); d > 10*step {
				t.Errorf("%s: coefficients that fall by %g to %g change torques by %g N·m", set, step, c, d)
			}
			before = ans.Torque
			for _, f := range ans.Contacts {
				if across := math.Hypot(f.Force.X, f.Force.Y); across > 0.02*f.Force.Z {
					t.Errorf("%s: at %g a foot pushes sideways by %g N and carries %g", set, c, across, f.Force.Z)
				}
			}
		}
	}
}

// TestTorquesFollowSmallTurns: on any of its feet, leaning over, so that they cannot hold it, the
// pony's torques change by 200 N·m/rad at most. By the least residual alone it was 2,700.
func TestTorquesFollowSmallTurns(t *testing.T) {
	s := pony(t)
	const step = 1e-5
	for _, set := range []string{"hoof_center", "hoof_flat", "hoof_fixed"} {
		st := s.standing(t, randbot.New(1), 0, set)
		all := st.supports
		for mask := 1; mask < 16; mask++ {
			st.supports = nil
			for i := range all {
				if mask>>i&1 == 1 {
					st.supports = append(st.supports, all[i])
				}
			}
			for _, coefficient := range []float64{1, 0.4, 0.1} {
				st.fade(coefficient)
				for _, lean := range []spatial.Vec3{{}, {X: 0.1}, {Y: 0.1}, {Y: -0.1}} {
					for _, by := range []spatial.Vec3{{X: step}, {Y: step}, {Z: step}, {X: step, Y: step}} {
						st.turn(lean.Add(by))
						one := s.solve(t, st).Torque
						st.turn(lean.Sub(by))
						if slope := differ(one, s.solve(t, st).Torque) / (2 * step); slope > 200 {
							t.Errorf("%s, feet %04b of %g, leaning by %v: a turn by %v changes torques by %.0f N·m/rad", set, mask, coefficient, lean, by, slope)
						}
					}
				}
			}
		}
	}
}

// TestAFixedFootGivesItsWholeMoment: a robot on one fixed foot whose centre of mass is almost a
// sole away from the middle is held without torsion.
func TestAFixedFootGivesItsWholeMoment(t *testing.T) {
	s := pony(t)
	st := s.standing(t, randbot.New(1), 0, "hoof_fixed")
	leg, _ := s.m.Chain("leg1")
	for _, sup := range st.supports {
		if sup.Chain == leg {
			st.supports = []floatingbase.Support{sup}
		}
	}
	sole := s.m.Contacts()[st.supports[0].Contact].Sole
	for _, st.friction = range []float64{0.4, 0.8, 1, 2} {
		share := 0.0
		for range 30 { // to the tilt that has the centre of mass where it is wanted
			ans := s.solve(t, st)
			p := ans.Contacts[0].Point
			off := spatial.Vec3{X: ans.Com.X - p.X, Y: ans.Com.Y - p.Y}
			share = off.Norm() / sole
			arm := ans.Com.Z - p.Z
			to := spatial.Vec3{X: 0.97 * sole}.Sub(off).Scale(1 / arm)
			o := spatial.ExpRotation(spatial.Vec3{X: -to.Y, Y: to.X}).Mul(spatial.Quat{X: st.q[3], Y: st.q[4], Z: st.q[5], W: st.q[6]})
			copy(st.q[3:7], []float64{o.X, o.Y, o.Z, o.W})
		}
		ans := s.solve(t, st)
		left := math.Hypot(ans.Residual.Force.Norm(), ans.Residual.Torque.Norm())
		if math.Abs(share-0.97) > 1e-6 || left > 1e-3*s.weight() || ans.Contacts[0].Torque.Norm() < 0.96*sole*s.weight() {
			t.Errorf("friction %g: the weight is %g of a sole off, the moment %v, %g of the weight is left", st.friction, share, ans.Contacts[0].Torque, left/s.weight())
		}
	}
}

// TestAFadingFootCarriesItsShare: s/(1 − s) of the weight at most, and as much where that is
// needed and nothing pushes sideways.
func TestAFadingFootCarriesItsShare(t *testing.T) {
	s := pony(t)
	for _, set := range []string{"hoof_center", "hoof_flat", "hoof_fixed"} {
		st := s.standing(t, randbot.New(1), 0, set)
		st.supports = st.supports[:1]
		for _, c := range []float64{0.01, 0.3, 0.4, 0.45} {
			for _, st.friction = range []float64{0, 0.1, 0.8, 2, 10} {
				st.fade(c)
				ans := s.solve(t, st)
				share := c / (1 - c) * s.weight()
				if up := ans.Contacts[0].Force.Z; up > share*(1+1e-12) || up < 0.995*share {
					t.Errorf("%s, friction %g: a foot of %g carries %g N, want %g", set, st.friction, c, up, share)
				}
			}
		}
		// sideways: 0.4 % of its whole force are the most that chords lose
		st.friction = 1
		st.fade(0.3)
		clear(st.a)
		st.a[0] = 20
		ans := s.solve(t, st)
		if f, share := ans.Contacts[0].Force, 0.3/0.7*s.weight(); f.Norm() > share*(1+1e-12) || f.Norm() < 0.99*share || math.Hypot(f.X, f.Y) < 0.3*f.Z {
			t.Errorf("%s: a foot of 0.3 gives %v N, want a length of %g", set, f, share)
		}
	}
}

// TestDependentContactsFadeContinuously: contacts that all but depend on each other hold what
// they hold exactly, and as one of them begins to fade nothing jumps.
func TestDependentContactsFadeContinuously(t *testing.T) {
	s := newSubject(t, "anymal_c", legged.Shared(t, "anymal_c"))
	n := s.m.NumV()
	st := state{q: make([]float64, s.m.NumQ()), v: make([]float64, n), a: make([]float64, n), friction: 0.8}
	st.q[2], st.q[6] = 0.5, 1
	for _, j := range s.m.Joints() {
		q := map[string]float64{"HAA": 0.1, "HFE": 0.7, "KFE": -1.2}[j.Name[3:]]
		if strings.Contains(j.Name[:3], "H_") && j.Name[3:] != "HAA" {
			q = -q
		}
		st.q[j.Q] = q
	}
	flat, _ := s.m.Contact("flat")
	for c := range s.m.Chains() {
		st.supports = append(st.supports, floatingbase.Support{Chain: robot.ChainID(c), Contact: flat, Coefficient: 1})
	}
	st.a[0] = 0.5 // the base may not move at all
	whole := s.solve(t, st)
	if a := largest(whole.Acceleration); a > 1e-6 {
		t.Errorf("a robot that is held wholly accelerates by %g", a)
	}
	before, at := whole, 0.0
	for by := 1e-14; by < 1e-2; by *= 1.1 {
		st.supports[0].Coefficient = 1 - by
		ans := s.solve(t, st)
		if d := apart(before, ans); d > 0.01+1e3*(by-at) {
			t.Errorf("coefficients %g and %g below 1: answers are %g apart", at, by, d)
		}
		before, at = ans, by
	}
}

// TestAnswersAreContinuous: small changes of pose and coefficients change all answers a little,
// whatever the robot is asked for and whether or not its feet can give it.
func TestAnswersAreContinuous(t *testing.T) {
	everyRobot(t, func(t *testing.T, s *subject, rng *rand.Rand) {
		trials := 60
		if testing.Short() {
			trials = 10
		}
		for trial := range trials {
			st := s.random(rng)
			if trial%2 == 0 {
				clear(st.v)
				for i := range st.a {
					st.a[i] /= 50
				}
			}
			for i := range st.supports {
				if set := &st.supports[i]; s.name != "pony" || trial%4 == 1 { // contacts that legs cannot hold change fast
					set.Contact = 0
				}
				if trial%3 == 0 {
					st.supports[i].Coefficient = 0.02 + 0.2*rng.Float64()
				}
			}
			ans := s.solve(t, st)
			if ans.Status != qp.Optimal {
				t.Fatalf("trial %d: %v", trial, ans.Status)
			}
			const step = 1e-7
			moved := st
			moved.q = append([]float64(nil), st.q...)
			moved.supports = append([]floatingbase.Support(nil), st.supports...)
			for i := range 3 {
				moved.q[i] += step * rng.NormFloat64()
			}
			for i := 7; i < len(moved.q); i++ {
				if s.name == "pony" { // elsewhere coordinates may be on a circle
					moved.q[i] += step * rng.NormFloat64()
				}
			}
			o := spatial.ExpRotation(spatial.Vec3{X: step * rng.NormFloat64(), Y: step * rng.NormFloat64(), Z: step * rng.NormFloat64()}).
				Mul(spatial.Quat{X: st.q[3], Y: st.q[4], Z: st.q[5], W: st.q[6]})
			copy(moved.q[3:7], []float64{o.X, o.Y, o.Z, o.W})
			for i := range moved.supports {
				if c := &moved.supports[i].Coefficient; *c > 0 {
					*c = min(max(*c*(1+step*rng.NormFloat64()), 0), 1)
				}
			}
			size := max(s.weight(), largest(ans.Torque), ans.Residual.Force.Norm(), ans.Residual.Torque.Norm(), largest(ans.Acceleration))
			if d := apart(ans, s.solve(t, moved)); d > 1e-2*size {
				t.Errorf("trial %d: a step of %g changes an answer of %g by %g", trial, step, size, d)
			}
		}
	})
}

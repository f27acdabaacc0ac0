package floatingbase_test

import (
	"math"
	"testing"

	"poise/floatingbase"
	"poise/internal/legged"
	"poise/internal/randbot"
	"poise/kinematics"
	"poise/robot"
)

// TestSolesCountInThePolygon: a foot that transmits moments stands on a disc, one that does not on
// its point; the margin of the zero-moment point says so, on one foot and on four.
func TestSolesCountInThePolygon(t *testing.T) {
	s := pony(t)
	const sole, lost = 0.0215, 0.0215 * 0.005
	for _, c := range []struct {
		set  string
		disc float64
	}{{"hoof_center", 0}, {"hoof_flat", sole}} {
		st := s.standing(t, randbot.New(1), 0, c.set)
		st.supports = st.supports[:1]
		ans := s.solve(t, st)
		away := math.Hypot(ans.ZMP.X-ans.Contacts[0].Point.X, ans.ZMP.Y-ans.Contacts[0].Point.Y)
		if want := c.disc - away; !ans.HasZMP || ans.Margin > want+1e-9 || ans.Margin < want-lost {
			t.Errorf("%s: on one foot, %g m from its point, the margin is %g, want %g", c.set, away, ans.Margin, want)
		}
		if area := ans.Polygon.Area(); math.Abs(area-math.Pi*c.disc*c.disc) > 0.01*math.Pi*sole*sole {
			t.Errorf("%s: one foot is %g m² large", c.set, area)
		}
	}
	points := s.solve(t, s.standing(t, randbot.New(1), 0, "hoof_center")).Margin
	if discs := s.solve(t, s.standing(t, randbot.New(1), 0, "hoof_flat")).Margin; discs > points+sole+1e-9 || discs < points+sole-lost {
		t.Errorf("on four discs of %g m the margin is %g, on four points %g", sole, discs, points)
	}
}

// TestPolygonAndForcesMeanTheSameFoot: at rest in random poses, on one to four feet of any kind, forces
// suffice wherever the zero-moment point is inside the polygon; on one foot they do not where it is
// outside (several at different heights may press against each other).
func TestPolygonAndForcesMeanTheSameFoot(t *testing.T) {
	s, rng := pony(t), randbot.New(21)
	const enough = 1e-3 // of the weight
	for _, set := range []string{"hoof_center", "hoof_flat", "hoof_fixed"} {
		inside, outside := 0, 0
		for range 6000 {
			st := s.standing(t, rng, 0, set)
			for i := 7; i < len(st.q); i++ {
				st.q[i] += 0.25 * rng.NormFloat64()
			}
			rng.Shuffle(len(st.supports), func(i, j int) { st.supports[i], st.supports[j] = st.supports[j], st.supports[i] })
			st.supports = st.supports[:1+rng.IntN(len(st.supports))]
			ans := s.solve(t, st)
			lacks := (ans.Residual.Force.Norm() + ans.Residual.Torque.Norm()) / s.weight()
			switch {
			case ans.Margin > 1e-5:
				if inside++; lacks > enough {
					t.Fatalf("%s: %d feet, margin %g m, and they lack %g of the weight", set, len(st.supports), ans.Margin, lacks)
				}
			case ans.Margin < -0.002 && len(st.supports) == 1:
				if outside++; lacks < enough/10 {
					t.Fatalf("%s: %d feet, margin %g m, and they lack %g of the weight", set, len(st.supports), ans.Margin, lacks)
				}
			}
		}
		if inside < 100 || outside < 100 {
			t.Errorf("%s: %d poses inside, %d outside", set, inside, outside)
		}
	}
}

// TestMarginAgreesWithForces: on one flat foot that does not slide the zero-moment point is inside
// the sole exactly if the foot can give the moments that the motion needs.
func TestMarginAgreesWithForces(t *testing.T) {
	s, rng := pony(t), randbot.New(9)
	inside, outside := 0, 0
	for range 10000 {
		st := s.standing(t, rng, 25, "hoof_flat")
		st.supports, st.friction = st.supports[:1], 50
		ans := s.solve(t, st)
		f := ans.Contacts[0].Force
		if !ans.HasZMP || math.Hypot(f.X, f.Y) > 40*f.Z {
			continue
		}
		// about the vertical a flat foot gives nothing
		lacks := math.Hypot(ans.Residual.Torque.X, ans.Residual.Torque.Y) + ans.Residual.Force.Norm()*0.02
		if ans.Margin > 0 {
			inside++
			if lacks > 1e-3*s.weight() && math.Abs(ans.Residual.Torque.Z) < 1e-3*s.weight() {
				t.Fatalf("margin %g m, and the foot lacks %v", ans.Margin, ans.Residual)
			}
		} else if ans.Margin < -0.001 {
			outside++
			if lacks < 1e-5*s.weight() {
				t.Fatalf("margin %g m, and the foot lacks nothing", ans.Margin)
			}
		}
	}
	if inside < 10 || outside < 10 {
		t.Errorf("%d states inside, %d outside", inside, outside)
	}
}

// TestMarginAgreesWithCorners: on the bare corners of one level foot the zero-moment point is inside of them exactly if the foot
// can give the moments that the motion needs, and then the forces act there.
func TestMarginAgreesWithCorners(t *testing.T) {
	s, rng := newSubject(t, "g1", legged.Cornered(t, "g1")), randbot.New(4)
	for _, name := range []string{"triangle", "corners"} {
		set, _ := s.m.Contact(name)
		inside, outside := 0, 0
		for range 3000 {
			st := state{q: make([]float64, s.m.NumQ()), v: make([]float64, s.m.NumV()), a: make([]float64, s.m.NumV()), friction: 50}
			kinematics.NewSpace(s.m).NeutralTo(st.q)
			st.q[2] = 0.8
			foot := rng.IntN(2)
			st.a[0], st.a[1], st.a[2] = 0.5*rng.NormFloat64(), (float64(2*foot)-1)*(1.5+0.5*rng.NormFloat64()), rng.NormFloat64()
			st.supports = []floatingbase.Support{{Chain: robot.ChainID(foot), Contact: set, Coefficient: 1}}
			ans := s.solve(t, st)
			if !ans.HasZMP || math.Abs(ans.Residual.Torque.Z) > 1e-3*s.weight() { // about the vertical it gives little
				continue
			}
			lacks := math.Hypot(ans.Residual.Torque.X, ans.Residual.Torque.Y) + ans.Residual.Force.Norm()
			switch {
			case ans.Margin > 1e-5:
				if inside++; lacks > 1e-3*s.weight() {
					t.Fatalf("%s: margin %g m, and the foot lacks %v", name, ans.Margin, ans.Residual)
				}
				if away := math.Hypot(ans.CoP.X-ans.ZMP.X, ans.CoP.Y-ans.ZMP.Y); !ans.HasCoP || away > 1e-4 {
					t.Fatalf("%s: the forces are %g m from the zero-moment point", name, away)
				}
			case ans.Margin < -0.001:
				if outside++; lacks < 1e-5*s.weight() {
					t.Fatalf("%s: margin %g m, and the foot lacks nothing", name, ans.Margin)
				}
			}
		}
		t.Logf("%s: %d states inside, %d outside", name, inside, outside)
		if inside < 100 || outside < 100 {
			t.Errorf("%s: %d states inside, %d outside", name, inside, outside)
		}
	}
}

// TestLittlePressureHasNoCentre: there is a zero-moment point where the motion needs more than a twentieth of the weight
// from the ground, and a centre of pressure where feet press by more than that.
func TestLittlePressureHasNoCentre(t *testing.T) {
	s := pony(t)
	for _, c := range []struct {
		share float64 // of the weight
		has   bool
	}{{0.0495, false}, {0.0505, true}, {-0.1, false}} {
		st := s.standing(t, randbot.New(1), 0, "hoof_flat")
		for i := range st.supports {
			st.supports[i].Coefficient = 1e-8 // they hold no base that falls
		}
		st.a[2] = (c.share - 1) * s.m.Gravity().Norm()
		if ans := s.solve(t, st); ans.HasZMP != c.has || ans.HasCoP || math.IsInf(ans.Margin, -1) == c.has {
			t.Errorf("the ground is to carry %g of the weight: zmp %t, cop %t, margin %g", c.share, ans.HasZMP, ans.HasCoP, ans.Margin)
		}
		if c.share < 0 {
			continue
		}
		still := s.standing(t, randbot.New(1), 0, "hoof_flat")
		still.supports = still.supports[:1]
		still.supports[0].Coefficient = c.share / (1 + c.share) // of which it carries at most that share
		ans := s.solve(t, still)
		if got := ans.Contacts[0].Force.Z / s.weight(); ans.HasCoP != c.has || !ans.HasZMP || math.Abs(got-c.share) > 3e-4 {
			t.Errorf("a foot carries %g of the weight, want %g: cop %t, zmp %t", got, c.share, ans.HasCoP, ans.HasZMP)
		}
	}
}

package floatingbase_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"poise/dynamics"
	"poise/floatingbase"
	"poise/internal/legged"
	"poise/internal/randbot"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
)

// subject is a robot under test with its working memory.
type subject struct {
	name string
	m    *robot.Model
	inv  *floatingbase.Inverse
	kin  *kinematics.Data
	dyn  *dynamics.Data
}

func newSubject(t testing.TB, name string, m *robot.Model) *subject {
	t.Helper()
	inv, err := floatingbase.NewInverse(m)
	if err != nil {
		t.Fatal(err)
	}
	return &subject{name, m, inv, kinematics.NewData(m), dynamics.NewData(m)}
}

func pony(t testing.TB) *subject {
	t.Helper()
	return newSubject(t, "pony", legged.Pony(t))
}

// everyRobot runs f for the pony, robots of ../shared and random trees.
func everyRobot(t *testing.T, f func(t *testing.T, s *subject, rng *rand.Rand)) {
	t.Run("pony", func(t *testing.T) { f(t, pony(t), randbot.New(1)) })
	for _, name := range []string{"go2", "anymal_c", "g1"} {
		t.Run(name, func(t *testing.T) {
			f(t, newSubject(t, name, legged.Shared(t, name)), randbot.New(2))
		})
	}
	t.Run("g1 on corners", func(t *testing.T) { f(t, newSubject(t, "g1", legged.Cornered(t, "g1")), randbot.New(3)) })
	for seed := range uint64(8) {
		t.Run(fmt.Sprintf("random%d", seed), func(t *testing.T) {
			rng := randbot.New(seed)
			doc := randbot.Document(rng, randbot.Config{Bodies: 6 + rng.IntN(20), Floating: true, Mimics: int(seed % 3)})
			f(t, newSubject(t, fmt.Sprint("random", seed), legged.WithFeet(t, doc, legged.Leaves(doc)...)), rng)
		})
	}
}

// state is a question to Solve.
type state struct {
	q, v, a  []float64
	supports []floatingbase.Support
	friction float64
}

func (s *subject) random(rng *rand.Rand) state {
	st := state{q: randbot.Position(rng, s.m), v: randbot.Velocity(rng, s.m), a: randbot.Velocity(rng, s.m), friction: rng.Float64()}
	for i := range st.a {
		st.a[i] *= 5
	}
	for c, chain := range s.m.Chains() {
		if chain.Contact == robot.NoContact {
			continue
		}
		coefficient := []float64{0, 1, 1, 1, rng.Float64(), 1e-6}[rng.IntN(6)]
		st.supports = append(st.supports, floatingbase.Support{Chain: robot.ChainID(c), Contact: robot.ContactID(rng.IntN(len(s.m.Contacts()))), Coefficient: coefficient})
	}
	return st
}

// standing is the pony on its four hooves, pushed about a little.
func (s *subject) standing(t testing.TB, rng *rand.Rand, size float64, set string) state {
	t.Helper()
	id, ok := s.m.Contact(set)
	if !ok {
		t.Fatalf("no contact %q", set)
	}
	st := state{q: legged.Stand(s.m), v: make([]float64, s.m.NumV()), a: make([]float64, s.m.NumV()), friction: 0.8}
	for i := range st.a {
		st.a[i] = size * rng.NormFloat64()
	}
	for c, chain := range s.m.Chains() {
		if chain.Contact != robot.NoContact {
			st.supports = append(st.supports, floatingbase.Support{Chain: robot.ChainID(c), Contact: id, Coefficient: 1})
		}
	}
	return st
}

func (s *subject) solve(t testing.TB, st state) *floatingbase.Answer {
	t.Helper()
	ans := new(floatingbase.Answer)
	if err := s.inv.Solve(ans, st.q, st.v, st.a, st.supports, st.friction); err != nil {
		t.Fatal(err)
	}
	return ans
}

func (s *subject) weight() float64 { return s.m.Mass() * s.m.Gravity().Norm() }

func largest(x []float64) (most float64) {
	for _, e := range x {
		most = max(most, math.Abs(e))
	}
	return most
}

func differ(a, b []float64) (most float64) {
	for i := range a {
		most = max(most, math.Abs(a[i]-b[i]))
	}
	return most
}

func place(s *subject, sup floatingbase.Support, p spatial.Vec3) kinematics.Place {
	return s.kin.At(s.m.Chains()[sup.Chain].Tip).Offset(spatial.Pose{R: spatial.Identity3, P: p})
}

package wholebody_test

import (
	"fmt"
	"testing"

	"poise/dynamics"
	"poise/floatingbase"
	"poise/internal/randbot"
	"poise/robot"
	"poise/wholebody"
)

// BenchmarkGrowth is one foot after the other on the ground and a base that is asked for
// nothing, for robots of more and more joints, beside their inverse dynamics.
func BenchmarkGrowth(b *testing.B) {
	for _, name := range []string{"go2", "anymal_c", "pony", "g1", "atlas"} {
		s := pony(b)
		if name != "pony" {
			s = shared(b, name)
		}
		rng := randbot.New(1)
		st := s.random(rng)
		clear(st.v)
		tau, a := make([]float64, s.m.NumV()), make([]float64, s.m.NumV())
		b.Run(name+"/inverse", func(b *testing.B) {
			for b.Loop() {
				s.dyn.InverseTo(tau, st.q, st.v, a, dynamics.Load{})
			}
		})
		st.r = wholebody.Request{Friction: 1, HasLinear: true, HasAngular: true}
		for c, chain := range s.m.Chains() {
			if chain.Contact == robot.NoContact {
				continue
			}
			st.r.Supports = append(st.r.Supports, floatingbase.Support{Chain: robot.ChainID(c), Contact: chain.Contact, Coefficient: 1})
			b.Run(fmt.Sprintf("%s/feet=%d", name, len(st.r.Supports)), func(b *testing.B) {
				var ans wholebody.Answer
				for b.Loop() {
					if err := s.s.Solve(&ans, st.q, st.v, &st.r); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(s.m.NumV()), "velocities")
				b.ReportMetric(float64(ans.Iterations), "iterations")
			})
		}
	}
}

// BenchmarkPony is the whole body beside inverse dynamics, in the same run: at rest, with the
// base asking for more than friction gives, with a hoof lifted, and in random states that ask
// for what cannot be had.
func BenchmarkPony(b *testing.B) {
	s := pony(b)
	calm := s.standing(b)
	tau, a := make([]float64, s.m.NumV()), make([]float64, s.m.NumV())
	b.Run("inverse", func(b *testing.B) {
		for b.Loop() {
			s.dyn.InverseTo(tau, calm.q, calm.v, a, dynamics.Load{})
		}
	})
	slip := s.standing(b)
	slip.r.Friction, slip.r.Base.Linear.X = 0.3, 6
	lift := s.standing(b)
	lift.r.Limbs = []wholebody.Limb{{Chain: lift.r.Supports[0].Chain}}
	lift.r.Limbs[0].Linear.Z = 1
	lift.r.Supports = lift.r.Supports[1:]
	for _, c := range []struct {
		name string
		st   state
	}{{"stand", calm}, {"slip", slip}, {"lift", lift}} {
		for _, order := range []wholebody.Order{wholebody.Seed, wholebody.Default} {
			b.Run(c.name+"/"+order.String(), func(b *testing.B) {
				b.ReportAllocs()
				st := c.st
				st.r.Order = order
				var ans wholebody.Answer
				for b.Loop() {
					if err := s.s.Solve(&ans, st.q, st.v, &st.r); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(ans.Iterations), "iterations")
			})
		}
	}
	b.Run("random", func(b *testing.B) {
		rng := randbot.New(1)
		var states []state
		for range 50 {
			states = append(states, s.random(rng))
		}
		var ans wholebody.Answer
		i, most := 0, 0
		for b.Loop() {
			st := &states[i%len(states)]
			i++
			s.s.Forget()
			if err := s.s.Solve(&ans, st.q, st.v, &st.r); err != nil {
				b.Fatal(err)
			}
			most = max(most, ans.Iterations)
		}
		b.ReportMetric(float64(most), "iterations")
	})
}

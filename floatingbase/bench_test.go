package floatingbase_test

import (
	"testing"

	"poise/dynamics"
	"poise/floatingbase"
	"poise/internal/randbot"
)

// BenchmarkPony is inverse dynamics of the standing pony with and without contacts; limits
// is with a quadratic program.
func BenchmarkPony(b *testing.B) {
	s := pony(b)
	calm := s.standing(b, randbot.New(1), 0, "hoof_flat")
	push := s.standing(b, randbot.New(1), 5, "hoof_flat")
	push.friction = 0.3
	tau := make([]float64, s.m.NumV())
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			s.dyn.InverseTo(tau, calm.q, calm.v, calm.a, dynamics.Load{})
		}
	})
	var ans floatingbase.Answer
	for _, c := range []struct {
		name  string
		state state
	}{{"contacts", calm}, {"limits", push}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := s.inv.Solve(&ans, c.state.q, c.state.v, c.state.a, c.state.supports, c.state.friction); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(ans.Iterations), "iterations")
		})
	}
}

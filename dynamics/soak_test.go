package dynamics_test

import (
	"os"
	"testing"

	"poise/dynamics"
	"poise/internal/approx"
	"poise/internal/randbot"
)

// TestSoakIdentities asks ten thousand random robots, where the other tests ask
// sixty: inverse dynamics is M·a + h, forward dynamics gives its forces back.
func TestSoakIdentities(t *testing.T) {
	if os.Getenv("POISE_SOAK") == "" {
		t.Skip("absent: POISE_SOAK=1, a part of make soak")
	}
	for seed := uint64(1000); seed < 11_000; seed++ {
		rng := randbot.New(seed)
		m := randbot.Model(t, rng, randbot.Config{
			Bodies: 2 + rng.IntN(39), Fixed: rng.IntN(4), Mimics: rng.IntN(3), Serial: rng.IntN(5) == 0, Floating: rng.IntN(2) == 0,
		})
		s := newState(rng, m)
		d := dynamics.NewData(m)
		n := m.NumV()
		M, h, tau, a := make([]float64, n*n), make([]float64, n), make([]float64, n), make([]float64, n)
		d.MassMatrixTo(M, s.q, none)
		d.BiasTo(h, s.q, s.v, none)
		d.InverseTo(tau, s.q, s.v, s.a, none)
		want := times(M, s.a)
		for i := range want {
			want[i] += h[i]
		}
		approx.Equal(t, "τ", tau, want, tolIdentity)
		if err := d.ForwardTo(a, s.q, s.v, tau, none); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		approx.Equal(t, "a", a, s.a, roundingTol(m, s, tau))
		if t.Failed() {
			t.Fatalf("seed %d, %d velocities", seed, n)
		}
	}
}

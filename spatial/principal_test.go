package spatial_test

import (
	"math/rand/v2"
	"testing"

	"poise/internal/approx"
	"poise/spatial"
)

func TestPrincipalPutsTogetherAgain(t *testing.T) {
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, 0))
	cases := []spatial.Mat3{
		{}, spatial.Identity3, {3, 0, 0, 0, 2, 0, 0, 0, 1}, {0, 1, 0, 1, 0, 0, 0, 0, 0},
		{1, 1e-17, 0, 1e-17, 1, 0, 0, 0, 1}, {1e-9, 1e-10, 0, 1e-10, 2e-9, 0, 0, 0, 5}, {2, 2, 2, 2, 2, 2, 2, 2, 2},
		{1e-320, 1e-320, 0, 1e-320, 1e-320, 0, 0, 0, 0},
	}
	for range 2000 {
		var G spatial.Mat3
		for i := range G {
			G[i] = rng.NormFloat64()
		}
		cases = append(cases, G.Add(G.Transpose()))
	}
	for _, A := range cases {
		λ, R := spatial.Principal(A)
		if λ[0] > λ[1] || λ[1] > λ[2] {
			t.Errorf("eigenvalues %v do not rise", λ)
		}
		RtR := R.Transpose().Mul(R)
		approx.Equal(t, "RᵀR", RtR[:], spatial.Identity3[:], tolScrew)
		if det := R.Col(0).Cross(R.Col(1)).Dot(R.Col(2)); det < 0 {
			t.Errorf("%v: not a rotation", A)
		}
		back := R.Mul(spatial.Mat3{λ[0], 0, 0, 0, λ[1], 0, 0, 0, λ[2]}).Mul(R.Transpose())
		approx.Equal(t, "R·diag(λ)·Rᵀ", back[:], A[:], tolScrew)
		if t.Failed() {
			t.Fatalf("seed %d, A = %v", seed, A)
		}
	}
}

package linalg_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/linalg"
)

func TestSymmetricEigenPutsTogetherAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const n = 12
	A, D, V := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			x := rng.NormFloat64()
			A[i*n+j], A[j*n+i] = x, x
		}
	}
	copy(D, A)
	linalg.SymmetricEigen(D, V, n)
	for i := range n {
		for j := range n {
			sum := 0.0
			for k := range n {
				sum += V[i*n+k] * D[k*n+k] * V[j*n+k]
			}
			if math.Abs(sum-A[i*n+j]) > 1e-12 {
				t.Fatalf("element (%d, %d) is %g, want %g", i, j, sum, A[i*n+j])
			}
		}
	}
}

func TestEigenNoAlloc(t *testing.T) {
	A, V := make([]float64, 9), make([]float64, 9)
	if n := testing.AllocsPerRun(10, func() {
		copy(A, []float64{2, 1, 0, 1, 2, 1, 0, 1, 2})
		linalg.SymmetricEigen(A, V, 3)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

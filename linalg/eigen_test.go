package linalg_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/linalg"
)

// A = B·Bᵀ with B n×r has rank r: the answer solves the normal equations and lies in the
// range of A, which makes it the shortest.
func TestPseudoSolveIsTheShortestLeastSquaresSolution(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		n := 1 + rng.IntN(24)
		r := 1 + rng.IntN(n)
		B, A, V := make([]float64, n*r), make([]float64, n*n), make([]float64, n*n)
		for i := range B {
			B[i] = rng.NormFloat64()
		}
		b, u := make([]float64, n), make([]float64, r)
		for i := range b {
			b[i] = rng.NormFloat64()
		}
		for k := range u {
			u[k] = rng.NormFloat64()
		}
		// b = A·x₀ + (what is orthogonal to the range of A), with x₀ = B·u in that range
		want, rest := make([]float64, n), append([]float64(nil), b...)
		for i := range n {
			for j := range n {
				for k := range r {
					A[i*n+j] += B[i*r+k] * B[j*r+k]
				}
			}
			for k := range r {
				want[i] += B[i*r+k] * u[k]
			}
		}
		orthogonal(rest, B, n, r)
		for i := range n {
			b[i] = rest[i]
			for j := range n {
				b[i] += A[i*n+j] * want[j]
			}
		}
		x := make([]float64, n)
		linalg.PseudoSolveTo(x, A, V, b, n, 1e-11)
		for i := range x {
			if math.Abs(x[i]-want[i]) > 1e-5*(1+math.Abs(want[i])) {
				t.Fatalf("n %d, rank %d: x = %v, want %v", n, r, x, want)
			}
		}
	}
}

// orthogonal takes from v its part in the range of B, by Gram and Schmidt twice.
func orthogonal(v, B []float64, n, r int) {
	Q := append([]float64(nil), B...)
	column := func(k, i int) *float64 { return &Q[i*r+k] }
	for k := range r {
		for range 2 {
			for j := range k {
				s := 0.0
				for i := range n {
					s += *column(j, i) * *column(k, i)
				}
				for i := range n {
					*column(k, i) -= s * *column(j, i)
				}
			}
		}
		s := 0.0
		for i := range n {
			s += *column(k, i) * *column(k, i)
		}
		for i := range n {
			*column(k, i) /= math.Sqrt(s)
		}
	}
	for range 2 {
		for k := range r {
			s := 0.0
			for i := range n {
				s += *column(k, i) * v[i]
			}
			for i := range n {
				v[i] -= s * *column(k, i)
			}
		}
	}
}

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
	A, V, b, x := make([]float64, 9), make([]float64, 9), []float64{1, 2, 3}, make([]float64, 3)
	if n := testing.AllocsPerRun(10, func() {
		copy(A, []float64{2, 1, 0, 1, 2, 1, 0, 1, 2})
		linalg.PseudoSolveTo(x, A, V, b, 3, 1e-12)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

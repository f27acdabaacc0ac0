package robot

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"poise/internal/approx"
	"poise/spatial"
)

// TestEigenvaluesOfTurnedTensors turns diagonal tensors and wants the diagonal
// back. Rounding of the product R·Λ·Rᵀ is a few ulp of the largest value.
func TestEigenvaluesOfTurnedTensors(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 500 {
		λ := []float64{rng.NormFloat64(), 1e-3 * rng.NormFloat64(), 1e3 * rng.NormFloat64()}
		if n%5 == 0 {
			λ[1] = λ[0] // double eigenvalues are the hard ones
		}
		q, _ := spatial.Quat{W: rng.NormFloat64(), X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Unit()
		R := q.Matrix()
		A := R.Mul(spatial.Mat3{λ[0], 0, 0, 0, λ[1], 0, 0, 0, λ[2]}).Mul(R.Transpose())
		A[3], A[6], A[7] = A[1], A[2], A[5]
		got := eigenvalues(A)
		slices.Sort(λ)
		approx.Equal(t, fmt.Sprintf("case %d: eigenvalues", n), got[:], λ, approx.Tol{Rel: 1e-14})
	}
}

// TestSmallEigenvaluesKeepTheirDigits is what the cubic formula cannot do.
func TestSmallEigenvaluesKeepTheirDigits(t *testing.T) {
	got := eigenvalues(spatial.Mat3{1, 1e-12, 0, 1e-12, 1e-20, 0, 0, 0, 2})
	want := 1e-20 - 1e-24 // det of the upper block over its trace, to first order
	approx.Scalar(t, "smallest eigenvalue · 1e20", got[0]*1e20, want*1e20, approx.Tol{Rel: 1e-10})
}

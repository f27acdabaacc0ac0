package spatial

import "math"

// Principal returns the eigenvalues of the symmetric matrix A in rising order and
// a rotation whose columns are their directions: A = R·diag(λ)·Rᵀ. For an
// inertia these are the principal moments and axes.
//
// It is Jacobi's method: turn away the largest off-diagonal element until there
// is none, which converges quadratically and keeps full relative accuracy of the
// whole.
func Principal(A Mat3) (λ [3]float64, R Mat3) {
	R = Identity3
	for range 64 {
		// the largest off-diagonal element (p, q)
		p, q := 0, 1
		for _, pq := range [][2]int{{0, 2}, {1, 2}} {
			if math.Abs(A[3*pq[0]+pq[1]]) > math.Abs(A[3*p+q]) {
				p, q = pq[0], pq[1]
			}
		}
		a := A[3*p+q]
		if a == 0 || math.Abs(a) < 1e-300 {
			break
		}

		// tan of the angle that makes it zero, the smaller one
		d := (A[3*q+q] - A[3*p+p]) / (2 * a)
		t := math.Copysign(1, d) / (math.Abs(d) + math.Hypot(d, 1))
		c := 1 / math.Hypot(t, 1)
		s := t * c
		J := Identity3
		J[3*p+p], J[3*p+q], J[3*q+p], J[3*q+q] = c, s, -s, c
		A = J.Transpose().Mul(A).Mul(J)
		A[3*p+q], A[3*q+p] = 0, 0
		R = R.Mul(J)
	}
	λ = [3]float64{A[0], A[4], A[8]}

	// sort, keeping a right-handed frame
	for _, pq := range [][2]int{{0, 1}, {1, 2}, {0, 1}} {
		p, q := pq[0], pq[1]
		if λ[p] > λ[q] {
			λ[p], λ[q] = λ[q], λ[p]
			for i := range 3 {
				R[3*i+p], R[3*i+q] = R[3*i+q], -R[3*i+p]
			}
		}
	}
	return λ, R
}

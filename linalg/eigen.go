package linalg

import "math"

// sweeps of Jacobi's method; it converges quadratically, six are usual.
const sweeps = 30

// SymmetricEigen replaces the symmetric n×n matrix A by a diagonal one and stores its
// eigenvectors in the columns of V: A = V·D·Vᵀ. Both triangles of A are read. It is
// Jacobi's method: each rotation makes one element zero.
func SymmetricEigen(A, V []float64, n int) {
	mustLen("A", A, n*n)
	mustLen("V", V, n*n)
	clear(V)
	for i := range n {
		V[i*n+i] = 1
	}
	for range sweeps {
		off, all := 0.0, 0.0
		for i := range n {
			for j := range n {
				x := A[i*n+j] * A[i*n+j]
				all += x
				if i != j {
					off += x
				}
			}
		}
		if !(off > 1e-32*all) {
			return
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				jacobi(A, V, n, p, q)
			}
		}
	}
}

// jacobi makes element (p, q) zero.
func jacobi(A, V []float64, n, p, q int) {
	apq := A[p*n+q]
	if apq == 0 {
		return
	}
	θ := (A[q*n+q] - A[p*n+p]) / (2 * apq)
	t := math.Copysign(1, θ) / (math.Abs(θ) + math.Sqrt(θ*θ+1))
	c := 1 / math.Sqrt(t*t+1)
	s := t * c
	for k := range n {
		x, y := A[k*n+p], A[k*n+q]
		A[k*n+p], A[k*n+q] = c*x-s*y, s*x+c*y
		x, y = V[k*n+p], V[k*n+q]
		V[k*n+p], V[k*n+q] = c*x-s*y, s*x+c*y
	}
	for k := range n {
		x, y := A[p*n+k], A[q*n+k]
		A[p*n+k], A[q*n+k] = c*x-s*y, s*x+c*y
	}
}

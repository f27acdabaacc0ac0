package linalg

import (
	"fmt"
	"math"
)

// CholeskyTo stores in L the lower triangle of A = L·Lᵀ for a symmetric positive
// definite n×n matrix A, of which only the lower triangle is read. The upper
// triangle of L is left as it was. L may alias A.
//
// A pivot that is not above tol times the diagonal element it came from carries
// no digits any more: then A is singular to working precision, and its row is
// returned. The result is n if all went well.
func CholeskyTo(L, A []float64, n int, tol float64) (row int) {
	mustLen("L", L, n*n)
	mustLen("A", A, n*n)
	for i := range n {
		Li := L[i*n : i*n+i+1]
		Ai := A[i*n : i*n+i+1]
		for j := range i {
			Lj := L[j*n : j*n+j+1]
			s := Ai[j]
			for k, ljk := range Lj[:j] {
				s -= Li[k] * ljk
			}
			Li[j] = s / Lj[j]
		}
		a := Ai[i]
		d := a
		for _, lik := range Li[:i] {
			d -= lik * lik
		}
		if !(d > tol*a) || math.IsInf(d, 0) { // not d ≤ …: NaN must not pass
			return i
		}
		Li[i] = math.Sqrt(d)
	}
	return n
}

// CholeskySolve replaces b by the solution x of L·Lᵀ·x = b, with the lower
// triangle that CholeskyTo made.
func CholeskySolve(b, L []float64, n int) {
	mustLen("b", b, n)
	mustLen("L", L, n*n)
	// L·y = b
	for i := range n {
		Li := L[i*n : i*n+i+1]
		s := b[i]
		for k, lik := range Li[:i] {
			s -= lik * b[k]
		}
		b[i] = s / Li[i]
	}
	// Lᵀ·x = y
	for i := n - 1; i >= 0; i-- {
		Li := L[i*n : i*n+i+1]
		x := b[i] / Li[i]
		b[i] = x
		for k, lik := range Li[:i] {
			b[k] -= lik * x
		}
	}
}

func mustLen(name string, x []float64, n int) {
	if len(x) != n {
		panic(fmt.Sprintf("linalg: len(%s) = %d, want %d", name, len(x), n))
	}
}

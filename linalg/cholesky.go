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
	if n > narrow {
		return choleskyByColumns(L, A, n, tol)
	}
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

// narrow matrices are factored number by number.
const narrow = 8

// choleskyByColumns takes one column after the other, many rows at a time.
func choleskyByColumns(L, A []float64, n int, tol float64) (row int) {
	var sums [64]float64
	for j := range n {
		Lj := L[j*n : j*n+j]
		a := A[j*n+j]
		d := a - Dot(Lj, Lj)
		if !(d > tol*a) || math.IsInf(d, 0) {
			return j
		}
		d = math.Sqrt(d)
		L[j*n+j] = d
		for i := j + 1; i < n; i += len(sums) {
			part := sums[:min(len(sums), n-i)]
			clear(part)
			if j > 0 {
				MulRows(part, L[i*n:], Lj, n)
			}
			for k, sum := range part {
				at := (i+k)*n + j
				L[at] = (A[at] - sum) / d
			}
		}
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

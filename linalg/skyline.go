package linalg

import "math"

// SkylineTo is CholeskyTo for a matrix whose rows begin with zeros: it stores in
// first where each row begins and passes over what stands before. The zeros of A
// stay zeros of L, so a matrix that is reordered to have long ones costs little:
// the mass matrix of a tree, from its tips to its root, is of this kind.
func SkylineTo(L, A []float64, first []int, n int, tol float64) (row int) {
	mustLen("L", L, n*n)
	mustLen("A", A, n*n)
	first = first[:n]
	for i := range n {
		Li, Ai := L[i*n:i*n+i+1], A[i*n:i*n+i+1]
		f := 0
		for f < i && Ai[f] == 0 {
			Li[f] = 0
			f++
		}
		first[i] = f
		for j := f; j < i; j++ {
			Lj := L[j*n : j*n+j+1]
			s := Ai[j]
			for k := max(f, first[j]); k < j; k++ {
				s -= Li[k] * Lj[k]
			}
			Li[j] = s / Lj[j]
		}
		a := Ai[i]
		d := a
		for _, l := range Li[f:i] {
			d -= l * l
		}
		if !(d > tol*a) || math.IsInf(d, 0) {
			return i
		}
		Li[i] = math.Sqrt(d)
	}
	return n
}

// SkylineSolve replaces b by the solution x of L·Lᵀ·x = b, with what SkylineTo
// made.
func SkylineSolve(b, L []float64, first []int, n int) {
	mustLen("b", b, n)
	mustLen("L", L, n*n)
	for i := range n {
		Li := L[i*n : i*n+i+1]
		s := b[i]
		for k := first[i]; k < i; k++ {
			s -= Li[k] * b[k]
		}
		b[i] = s / Li[i]
	}
	for i := n - 1; i >= 0; i-- {
		Li := L[i*n : i*n+i+1]
		x := b[i] / Li[i]
		b[i] = x
		for k := first[i]; k < i; k++ {
			b[k] -= Li[k] * x
		}
	}
}

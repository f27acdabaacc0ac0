package track

import "math"

// What the factorisation takes for singular, and how it is then damped: of
// columns whose size is near one.
const (
	singular = 1e-8
	damping  = 1e-5
)

// lsq solves linear equations in the sense of least squares, by orthogonalising
// the columns one after the other (modified Gram–Schmidt). Columns that depend on
// each other are damped: what they could do together is then kept small.
type lsq struct {
	n, m   int
	a      []float64 // columns of m+n numbers each; the last n are for damping
	q      []float64 // the same, orthonormal
	r      []float64 // n×n, upper triangle
	b      []float64 // m+n
	Damped bool
}

func newLSQ(rows, columns int) lsq {
	h := rows + columns
	return lsq{n: columns, m: rows, a: make([]float64, h*columns), q: make([]float64, h*columns),
		r: make([]float64, columns*columns), b: make([]float64, h)}
}

// column returns column k to be filled.
func (l *lsq) column(k int) []float64 { h := l.m + l.n; return l.a[k*h : k*h+l.m] }

// factor takes the columns as they are, damped if they must be.
func (l *lsq) factor() {
	h := l.m + l.n
	for k := range l.n {
		clear(l.a[k*h+l.m : (k+1)*h])
	}
	l.Damped = !l.orthogonalise(l.m)
	if l.Damped {
		for k := range l.n {
			l.a[k*h+l.m+k] = damping
		}
		l.orthogonalise(h)
	}
}

// orthogonalise works on the first rows; false if a column depends on others.
func (l *lsq) orthogonalise(rows int) bool {
	h, n := l.m+l.n, l.n
	copy(l.q, l.a)
	for k := range n {
		u := l.q[k*h : k*h+rows]
		norm := 0.0
		for _, x := range u {
			norm += x * x
		}
		norm = math.Sqrt(norm)
		if !(norm > singular) && rows == l.m {
			return false
		}
		l.r[k*n+k] = norm
		inv := 1 / norm
		for i := range u {
			u[i] *= inv
		}
		for j := k + 1; j < n; j++ {
			v := l.q[j*h : j*h+rows]
			dot := 0.0
			for i, x := range u {
				dot += x * v[i]
			}
			l.r[k*n+j] = dot
			for i, x := range u {
				v[i] -= dot * x
			}
		}
	}
	return true
}

// solveTo stores in x the solution for the right-hand side in b[:m], which is
// used up.
func (l *lsq) solveTo(x []float64) {
	h, n, rows := l.m+l.n, l.n, l.m
	if l.Damped {
		rows = h
		clear(l.b[l.m:])
	}
	b := l.b[:rows]
	for k := range n {
		u := l.q[k*h : k*h+rows]
		dot := 0.0
		for i, v := range u {
			dot += v * b[i]
		}
		for i, v := range u {
			b[i] -= dot * v
		}
		x[k] = dot
	}
	for k := n - 1; k >= 0; k-- {
		for j := k + 1; j < n; j++ {
			x[k] -= l.r[k*n+j] * x[j]
		}
		x[k] /= l.r[k*n+k]
	}
}

package linalg

// LQ writes r rows of k numbers as L·Qᵀ: the columns of Q are orthonormal, and L has as
// many columns as there are independent rows. Householder's reflections take the row of
// which most is left first, so that the rank shows. Make one with NewLQ; the other methods
// are loop-safe.
type LQ struct {
	r, k, rank int

	a          []float64 // row i of L, then from i on the vector of its reflection
	diag, beta []float64
	order      []int // row of the problem at each place
	scale      []float64
	work, rhs  []float64
	left       []float64 // square of what is left of each row
	known      []float64 // what that was when it was computed afresh
	columns    []float64
}

// NewLQ makes room for so many rows of so many numbers.
func NewLQ(rows, length int) *LQ {
	f := func(n int) []float64 { return make([]float64, n) }
	least := min(rows, length)
	return &LQ{
		a: f(rows * length), diag: f(least), beta: f(least), order: make([]int, rows), scale: f(rows),
		work: f(max(rows, length)), rhs: f(rows), left: f(rows), known: f(rows), columns: f(rows * least),
	}
}

// Reset begins with rows of k numbers.
func (f *LQ) Reset(k int) { f.r, f.k, f.rank = 0, k, 0 }

// Row appends a row of zeros to be filled in by the caller. Of size is what is left of it
// judged: for a row that was projected, its length before.
func (f *LQ) Row(size float64) []float64 {
	row := f.a[f.r*f.k : (f.r+1)*f.k]
	clear(row)
	f.order[f.r], f.scale[f.r] = f.r, size
	f.r++
	return row
}

// Order returns the rows' places in the order in which they were taken: those before the rank
// are independent.
func (f *LQ) Order() []int { return f.order[:f.r] }

// tolLeft is the part of a row's square from which on what is left of it is computed afresh.
const tolLeft = 1e-4

// Decompose finds L and Q. A row counts as dependent if not more than tol of its size is left.
func (f *LQ) Decompose(tol float64) (rank int) {
	k := f.k
	for j := range f.r {
		f.left[j] = Dot(f.a[j*k:(j+1)*k], f.a[j*k:(j+1)*k])
		f.known[j] = f.left[j]
	}
	for f.rank = 0; f.rank < min(f.r, k); f.rank++ {
		i := f.rank
		best, most := -1, tol*tol
		for j := i; j < f.r; j++ {
			if size := f.scale[j] * f.scale[j]; size > 0 && f.left[j] > most*size {
				best, most = j, f.left[j]/size
			}
		}
		if best < 0 {
			break
		}
		f.swap(i, best)
		f.reflect(i)
		for j := i + 1; j < f.r; j++ {
			L := f.a[j*k+i]
			if f.left[j] -= L * L; !(f.left[j] > tolLeft*f.known[j]) {
				row := f.a[j*k+i+1 : (j+1)*k]
				f.left[j] = Dot(row, row)
				f.known[j] = f.left[j]
			}
		}
	}
	return f.rank
}

func (f *LQ) swap(i, j int) {
	if i == j {
		return
	}
	a, b := f.a[i*f.k:(i+1)*f.k], f.a[j*f.k:(j+1)*f.k]
	for m := range a {
		a[m], b[m] = b[m], a[m]
	}
	f.order[i], f.order[j] = f.order[j], f.order[i]
	f.scale[i], f.scale[j] = f.scale[j], f.scale[i]
	f.left[i], f.left[j] = f.left[j], f.left[i]
	f.known[i], f.known[j] = f.known[j], f.known[i]
}

// reflect makes row i zero behind its diagonal element, and applies that to the rows below.
func (f *LQ) reflect(i int) {
	k := f.k
	v := f.a[i*k+i : (i+1)*k]
	length := Norm(v)
	if v[0] > 0 {
		length = -length
	}
	f.diag[i] = length
	v[0] -= length
	f.beta[i] = 0
	if square := Dot(v, v); square > 0 {
		f.beta[i] = 2 / square
	}
	if i+1 < f.r {
		f.mirror(f.a[(i+1)*k+i:], f.r-i-1, v, f.beta[i], k)
	}
}

// mirror applies the reflection of v to rows of a matrix.
func (f *LQ) mirror(A []float64, rows int, v []float64, beta float64, stride int) {
	for ; rows > 0; rows -= len(f.work) {
		t := f.work[:min(rows, len(f.work))]
		MulRows(t, A, v, stride)
		for j := range t {
			t[j] *= -beta
		}
		AddOuter(A, t, v, stride)
		A = A[min(len(t)*stride, len(A)):]
	}
}

// TurnRows is Turn of so many rows, the first numbers of which are stride apart.
func (f *LQ) TurnRows(A []float64, rows, stride int) {
	for i := range f.rank {
		f.mirror(A[i:], rows, f.a[i*f.k+i:(i+1)*f.k], f.beta[i], stride)
	}
}

func reflected(x, v []float64, beta float64) {
	AddScaled(x, -beta*Dot(x, v), v)
}

// Turn replaces a row z by z·Q: its first Rank numbers are its parts along the rows, the
// others those along their null space.
func (f *LQ) Turn(z []float64) {
	mustLen("z", z, f.k)
	for i := range f.rank {
		reflected(z[i:], f.a[i*f.k+i:(i+1)*f.k], f.beta[i])
	}
}

// TurnBack replaces the parts t by the vector Q·t.
func (f *LQ) TurnBack(t []float64) {
	mustLen("t", t, f.k)
	for i := f.rank - 1; i >= 0; i-- {
		reflected(t[i:], f.a[i*f.k+i:(i+1)*f.k], f.beta[i])
	}
}

// Solve stores in x the shortest vector that brings the rows nearest to b, one number of b
// for each row.
func (f *LQ) Solve(x, b []float64) {
	mustLen("x", x, f.k)
	mustLen("b", b, f.r)
	clear(x)
	for place, row := range f.order[:f.r] {
		f.rhs[place] = b[row]
	}
	if f.rank == f.r {
		f.forward(x)
	} else {
		f.leastSquares(x)
	}
	f.TurnBack(x)
}

// forward solves L·x = rhs for a square L.
func (f *LQ) forward(x []float64) {
	for i := range f.rank {
		t := f.rhs[i] - Dot(f.a[i*f.k:i*f.k+i], x)
		x[i] = t / f.diag[i]
	}
}

// leastSquares minimises |L·x − rhs| by reflections of the columns of L.
func (f *LQ) leastSquares(x []float64) {
	r, n := f.r, f.rank
	C := f.columns[:r*n] // by columns
	for j := range n {
		c := C[j*r : (j+1)*r]
		clear(c[:j])
		c[j] = f.diag[j]
		for i := j + 1; i < r; i++ {
			c[i] = f.a[i*f.k+j]
		}
	}
	for j := range n {
		v := C[j*r+j : (j+1)*r]
		length := Norm(v)
		if v[0] > 0 {
			length = -length
		}
		v[0] -= length
		if square := Dot(v, v); square > 0 {
			for m := j + 1; m < n; m++ {
				reflected(C[m*r+j:(m+1)*r], v, 2/square)
			}
			reflected(f.rhs[j:r], v, 2/square)
		}
		f.work[j] = length
	}
	for j := n - 1; j >= 0; j-- {
		t := f.rhs[j]
		for m := j + 1; m < n; m++ {
			t -= C[m*r+j] * x[m]
		}
		x[j] = t / f.work[j]
	}
}

// Multipliers stores in u, one for each row, the numbers with Σ uᵢ·rowᵢ nearest to g; those
// of dependent rows are zero. It overwrites g.
func (f *LQ) Multipliers(u, g []float64) {
	mustLen("u", u, f.r)
	f.Turn(g)
	clear(u)
	for i := f.rank - 1; i >= 0; i-- { // Lᵀ·u = g
		t := g[i]
		for j := i + 1; j < f.rank; j++ {
			t -= f.a[j*f.k+i] * f.rhs[j]
		}
		f.rhs[i] = t / f.diag[i]
		u[f.order[i]] = f.rhs[i]
	}
}

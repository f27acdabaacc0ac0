package linalg

// Products with the rows of a matrix: row i begins at A[i·stride]. Processors with wide
// registers take four numbers at a time (matrix_amd64.s); others one row after the other, and
// the answers differ by rounding.

// MulRows stores in y the products of len(y) rows of len(x) numbers with x.
func MulRows(y, A, x []float64, stride int) {
	if len(y) == 0 {
		return
	}
	_ = A[:(len(y)-1)*stride+len(x)]
	if wide && len(x) > 0 {
		mulRows(&y[0], &A[0], &x[0], len(y), len(x), stride)
		return
	}
	for i := range y {
		y[i] = Dot(x, A[i*stride:])
	}
}

// AddRows adds to y the sum of kᵢ times row i, of len(y) numbers.
func AddRows(y, k, A []float64, stride int) {
	if len(k) == 0 || len(y) == 0 {
		return
	}
	_ = A[:(len(k)-1)*stride+len(y)]
	if wide {
		addRows(&y[0], &k[0], &A[0], len(k), len(y), stride)
		return
	}
	for i, factor := range k {
		AddScaled(y, factor, A[i*stride:])
	}
}

// AddOuter adds kᵢ·v to row i, for len(k) rows of len(v) numbers.
func AddOuter(A, k, v []float64, stride int) {
	if len(k) == 0 || len(v) == 0 {
		return
	}
	_ = A[:(len(k)-1)*stride+len(v)]
	if wide {
		addOuter(&A[0], &k[0], &v[0], len(k), len(v), stride)
		return
	}
	for i, factor := range k {
		AddScaled(A[i*stride:i*stride+len(v)], factor, v)
	}
}

package sim

import "math"

// tolPivot is the share of a diagonal element below which a pivot has no digits left.
const tolPivot = 1e-14

// factor replaces A, of which the lower triangle counts, by the L of A = Lᵀ·L: [RBDA]
// table 6.3. Rows reach only the rows that carry them, and so does L. It reports false if
// nothing resists some motion.
func (m *Model) factor(a []float64) bool {
	n := m.n
	for k := n - 1; k >= 0; k-- {
		rowK := a[k*n : k*n+k+1]
		d := rowK[k]
		if !(d > 0) || math.IsInf(d, 0) {
			return false
		}
		d = math.Sqrt(d)
		rowK[k] = d
		inv := 1 / d
		for i := m.up[k]; i >= 0; i = m.up[i] {
			rowK[i] *= inv
		}
		for i := m.up[k]; i >= 0; i = m.up[i] {
			rowI := a[int(i)*n : int(i)*n+int(i)+1]
			aki := rowK[i]
			was := rowI[i]
			for j := i; j >= 0; j = m.up[j] {
				rowI[j] -= aki * rowK[j]
			}
			if !(rowI[i] > tolPivot*was) {
				return false
			}
		}
	}
	return true
}

// carry replaces b by L⁻ᵀ·b.
func (m *Model) carry(b, l []float64) {
	n := m.n
	for i := n - 1; i >= 0; i-- {
		li := l[i*n : i*n+i+1]
		y := b[i] / li[i]
		b[i] = y
		for j := m.up[i]; j >= 0; j = m.up[j] {
			b[j] -= li[j] * y
		}
	}
}

// spread replaces z by L⁻¹·z.
func (m *Model) spread(z, l []float64) {
	n := m.n
	for i := range n {
		li := l[i*n : i*n+i+1]
		x := z[i]
		for j := m.up[i]; j >= 0; j = m.up[j] {
			x -= li[j] * z[j]
		}
		z[i] = x / li[i]
	}
}

// carryPath is carry for k numbers per row that stand only on a path, the last row first.
func (m *Model) carryPath(y []float64, k int, path []int32, l []float64) {
	n := m.n
	for a, i := range path {
		li := l[int(i)*n : int(i)*n+int(i)+1]
		inv := 1 / li[i]
		ya := y[a*k : a*k+k]
		for c := range ya {
			ya[c] *= inv
		}
		for b := a + 1; b < len(path); b++ {
			lij := li[path[b]]
			if lij == 0 {
				continue
			}
			yb := y[b*k : b*k+k][:len(ya)]
			for c, x := range ya {
				yb[c] -= lij * x
			}
		}
	}
}

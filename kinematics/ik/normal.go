package ik

import "poise/linalg"

// The damped step has two equal forms; the smaller system is solved:
//
//	Δx = Jᵀ·(J·Jᵀ + λ·1)⁻¹·e = (Jᵀ·J + λ·1)⁻¹·Jᵀ·e

// factor prepares the normal matrix with damping λ.
func (w *workspace) factor(λ float64) {
	switch {
	case w.rows > len(w.x):
		w.factorColumns(λ)
	case w.rows == 6:
		w.six.factor(w.jac, w.fixed, λ)
	default:
		w.factorRows(λ)
	}
}

// solveStep fills w.step with the step for the present error.
func (w *workspace) solveStep() {
	n, m := len(w.x), w.rows
	switch {
	case m > n:
		for i := range n {
			w.rhs[i] = 0
			if !w.fixed[i] {
				w.rhs[i] = w.gradient(i)
			}
		}
		linalg.CholeskySolve(w.rhs[:n], w.normal[:n*n], n)
		copy(w.step, w.rhs[:n])
	case m == 6:
		y := w.six.solve((*[6]float64)(w.err))
		for i := range w.step {
			w.step[i] = 0
			if !w.fixed[i] {
				c := (*[6]float64)(w.jac[6*i:])
				w.step[i] = c[0]*y[0] + c[1]*y[1] + c[2]*y[2] + c[3]*y[3] + c[4]*y[4] + c[5]*y[5]
			}
		}
	default:
		copy(w.rhs, w.err)
		linalg.CholeskySolve(w.rhs[:m], w.normal[:m*m], m)
		w.backTo(w.step, w.rhs[:m])
	}
}

// backTo stores Jᵀ·y for the coordinates that are free to move.
func (w *workspace) backTo(dst, y []float64) {
	m := w.rows
	for i := range dst {
		s := 0.0
		if !w.fixed[i] {
			c := w.jac[i*m : i*m+m]
			for r, v := range y {
				s += c[r] * v
			}
		}
		dst[i] = s
	}
}

// factorRows fills and factors J·Jᵀ + λ·1 over the coordinates free to move.
func (w *workspace) factorRows(λ float64) {
	m := w.rows
	A := w.product[:m*m]
	clear(A)
	for i, fixed := range w.fixed {
		if fixed {
			continue
		}
		c := w.jac[i*m : i*m+m]
		for r := range c {
			v := c[r]
			row := A[r*m : r*m+r+1]
			for k := range row {
				row[k] += v * c[k]
			}
		}
	}
	for r := range m {
		A[r*m+r] += λ
	}
	linalg.CholeskyTo(w.normal[:m*m], A, m, 0)
}

// factorColumns fills and factors Jᵀ·J + λ·1; a fixed coordinate keeps λ alone.
func (w *workspace) factorColumns(λ float64) {
	n, m := len(w.x), w.rows
	A := w.product[:n*n]
	for i := range n {
		for k := range i + 1 {
			s := 0.0
			if !w.fixed[i] && !w.fixed[k] {
				for r := range m {
					s += w.jac[i*m+r] * w.jac[k*m+r]
				}
			}
			A[i*n+k] = s
		}
		A[i*n+i] += λ
	}
	linalg.CholeskyTo(w.normal[:n*n], A, n, 0)
}

// ldl6 is the factor L·D·Lᵀ of a symmetric 6×6 matrix, written out: the loops of
// the general form cost more than the arithmetic.
type ldl6 struct {
	d [6]float64 // 1/D_i

	l10, l20, l21, l30, l31, l32, l40, l41, l42, l43, l50, l51, l52, l53, l54 float64
}

// factor fills f with the factor of J·Jᵀ + λ·1, J given by columns of six.
func (f *ldl6) factor(jac []float64, fixed []bool, λ float64) {
	a00, a11, a22, a33, a44, a55 := λ, λ, λ, λ, λ, λ
	var a10, a20, a21, a30, a31, a32, a40, a41, a42, a43, a50, a51, a52, a53, a54 float64
	for i, skip := range fixed {
		if skip {
			continue
		}
		c := (*[6]float64)(jac[6*i:])
		c0, c1, c2, c3, c4, c5 := c[0], c[1], c[2], c[3], c[4], c[5]
		a00 += c0 * c0
		a10 += c1 * c0
		a11 += c1 * c1
		a20 += c2 * c0
		a21 += c2 * c1
		a22 += c2 * c2
		a30 += c3 * c0
		a31 += c3 * c1
		a32 += c3 * c2
		a33 += c3 * c3
		a40 += c4 * c0
		a41 += c4 * c1
		a42 += c4 * c2
		a43 += c4 * c3
		a44 += c4 * c4
		a50 += c5 * c0
		a51 += c5 * c1
		a52 += c5 * c2
		a53 += c5 * c3
		a54 += c5 * c4
		a55 += c5 * c5
	}

	// column by column: L_ij = (a_ij − Σ L_ik·D_k·L_jk) / D_j
	i0 := 1 / a00
	l10, l20, l30, l40, l50 := a10*i0, a20*i0, a30*i0, a40*i0, a50*i0
	a11 -= l10 * a10
	a21 -= l20 * a10
	a31 -= l30 * a10
	a41 -= l40 * a10
	a51 -= l50 * a10
	i1 := 1 / a11
	l21, l31, l41, l51 := a21*i1, a31*i1, a41*i1, a51*i1
	a22 -= l20*a20 + l21*a21
	a32 -= l30*a20 + l31*a21
	a42 -= l40*a20 + l41*a21
	a52 -= l50*a20 + l51*a21
	i2 := 1 / a22
	l32, l42, l52 := a32*i2, a42*i2, a52*i2
	a33 -= l30*a30 + l31*a31 + l32*a32
	a43 -= l40*a30 + l41*a31 + l42*a32
	a53 -= l50*a30 + l51*a31 + l52*a32
	i3 := 1 / a33
	l43, l53 := a43*i3, a53*i3
	a44 -= l40*a40 + l41*a41 + l42*a42 + l43*a43
	a54 -= l50*a40 + l51*a41 + l52*a42 + l53*a43
	i4 := 1 / a44
	l54 := a54 * i4
	a55 -= l50*a50 + l51*a51 + l52*a52 + l53*a53 + l54*a54
	f.d = [6]float64{i0, i1, i2, i3, i4, 1 / a55}
	f.l10, f.l20, f.l21, f.l30, f.l31, f.l32 = l10, l20, l21, l30, l31, l32
	f.l40, f.l41, f.l42, f.l43 = l40, l41, l42, l43
	f.l50, f.l51, f.l52, f.l53, f.l54 = l50, l51, l52, l53, l54
}

// solve returns the solution of the factored system for the right-hand side b.
func (f *ldl6) solve(b *[6]float64) (y [6]float64) {
	y0 := b[0]
	y1 := b[1] - f.l10*y0
	y2 := b[2] - f.l20*y0 - f.l21*y1
	y3 := b[3] - f.l30*y0 - f.l31*y1 - f.l32*y2
	y4 := b[4] - f.l40*y0 - f.l41*y1 - f.l42*y2 - f.l43*y3
	y5 := b[5] - f.l50*y0 - f.l51*y1 - f.l52*y2 - f.l53*y3 - f.l54*y4
	y5 *= f.d[5]
	y4 = y4*f.d[4] - f.l54*y5
	y3 = y3*f.d[3] - f.l43*y4 - f.l53*y5
	y2 = y2*f.d[2] - f.l32*y3 - f.l42*y4 - f.l52*y5
	y1 = y1*f.d[1] - f.l21*y2 - f.l31*y3 - f.l41*y4 - f.l51*y5
	y0 = y0*f.d[0] - f.l10*y1 - f.l20*y2 - f.l30*y3 - f.l40*y4 - f.l50*y5
	return [6]float64{y0, y1, y2, y3, y4, y5}
}

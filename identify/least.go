package identify

import (
	"math"

	"poise/linalg"
)

// solve solves the symmetric positive definite A·x = b in place of b; false if A is singular.
func solve(A, b []float64, n int) bool {
	L := make([]float64, n*n)
	scaled, scale := make([]float64, n*n), make([]float64, n)
	for i := range n {
		if !(A[i*n+i] > 0) {
			return false
		}
		scale[i] = 1 / math.Sqrt(A[i*n+i])
	}
	for i := range n {
		for j := range n {
			scaled[i*n+j] = A[i*n+j] * scale[i] * scale[j]
		}
		b[i] *= scale[i]
	}
	if linalg.CholeskyTo(L, scaled, n, 1e-13) < n {
		return false
	}
	linalg.CholeskySolve(b, L, n)
	for i := range n {
		b[i] *= scale[i]
	}
	return true
}

// invert returns the inverse of a symmetric positive definite matrix; nil if it is singular.
func invert(A []float64, n int) []float64 {
	inverse := make([]float64, n*n)
	for j := range n {
		e := make([]float64, n)
		e[j] = 1
		if !solve(A, e, n) {
			return nil
		}
		for i := range n {
			inverse[i*n+j] = e[i]
		}
	}
	return inverse
}

// condition returns the condition number of the columns X was summed from to A = XᵀX, each scaled
// to length 1.
func condition(A []float64, n int) float64 {
	scaled, V := make([]float64, n*n), make([]float64, n*n)
	for i := range n {
		for j := range n {
			d := math.Sqrt(A[i*n+i] * A[j*n+j])
			if !(d > 0) {
				return math.Inf(1)
			}
			scaled[i*n+j] = A[i*n+j] / d
		}
	}
	linalg.SymmetricEigen(scaled, V, n)
	low, high := math.Inf(1), 0.0
	for i := range n {
		low, high = math.Min(low, scaled[i*n+i]), math.Max(high, scaled[i*n+i])
	}
	if low <= 1e-12*high {
		return math.Inf(1)
	}
	return math.Sqrt(high / low)
}

// movingSpeed is that above which the sign of friction is sure, rad/s.
const movingSpeed = 0.1

// guess finds a first a0 … a3 and a5 for a delay by linear least squares on the smoothed readings,
// the share of y that they leave as a residual, and the condition number.
func (g *span) guess(delay float64) (p values, residual float64, cond float64) {
	const n = 5
	p = noEffects()
	p[pDelay] = delay
	ramp, supply := line{knots: g.s.ramp}, line{knots: g.s.voltage}
	X, Y, W := [][n]float64{}, []float64{}, []float64{}
	for _, r := range g.readings() {
		goal, _ := ramp.at(r.t - delay)
		u, _ := supply.at(r.t)
		if math.Abs(r.v) < movingSpeed {
			continue
		}
		X = append(X, [n]float64{r.a, r.v, math.Copysign(1, r.v), r.torque, 1})
		Y, W = append(Y, g.s.kp*u*(goal-r.q)), append(W, 1)
	}
	if len(X) < 4*n {
		return p, math.Inf(1), math.Inf(1)
	}
	active := []int{0, 1, 2, 3, 4}
	var x [n]float64
	for range 4 { // Huber
		x, active = nonNegative(X, Y, W, active)
		residual = reweigh(X, Y, W, x)
	}
	p[pA0], p[pA1], p[pA2], p[pA3], p[pA5] = math.Max(x[0], 0.05), x[1], x[2], x[3], x[4]
	A := make([]float64, 16)
	for _, row := range X {
		for i := range 4 {
			for j := range 4 {
				A[4*i+j] += row[i] * row[j]
			}
		}
	}
	return p, residual, condition(A, 4)
}

// nonNegative solves the weighted problem; of the first four what would be negative is zero.
func nonNegative(X [][5]float64, Y, W []float64, active []int) ([5]float64, []int) {
	var x [5]float64
	for {
		n := len(active)
		A, b := make([]float64, n*n), make([]float64, n)
		for r, row := range X {
			for i, ci := range active {
				b[i] += W[r] * row[ci] * Y[r]
				for j, cj := range active {
					A[i*n+j] += W[r] * row[ci] * row[cj]
				}
			}
		}
		x = [5]float64{}
		if !solve(A, b, n) {
			return x, active
		}
		worst := -1
		for i, c := range active {
			x[c] = b[i]
			if c < 4 && b[i] < 0 && (worst < 0 || b[i] < b[worst]) {
				worst = i
			}
		}
		if worst < 0 || n == 1 {
			return x, active
		}
		active = append(append([]int(nil), active[:worst]...), active[worst+1:]...)
	}
}

// reweigh sets Huber's weights and returns the RMS residual over the RMS of Y.
func reweigh(X [][5]float64, Y, W []float64, x [5]float64) float64 {
	rest, size, all := make([]float64, len(X)), 0.0, 0.0
	for r, row := range X {
		rest[r] = Y[r]
		for i := range row {
			rest[r] -= row[i] * x[i]
		}
		size += Y[r] * Y[r]
		all += W[r] * rest[r] * rest[r]
	}
	weigh(W, rest, 0)
	return math.Sqrt(all / math.Max(size, 1e-12))
}

// huber is where Huber's weights begin to fall, in standard deviations.
const huber = 1.5

// weigh sets Huber's weights for residuals and returns their scale, which is not below least.
func weigh(W, rest []float64, least float64) float64 {
	sizes := make([]float64, len(rest))
	for i, r := range rest {
		sizes[i] = math.Abs(r)
	}
	scale := math.Max(1.4826*median(sizes), least)
	if scale == 0 {
		scale = 1e-12
	}
	for i := range W {
		W[i] = 1
		if sizes[i] > huber*scale {
			W[i] = huber * scale / sizes[i]
		}
	}
	return scale
}

// ConditionOf returns the condition number of columns, each scaled to length 1; infinite if they
// depend on each other.
func ConditionOf(columns [][]float64) float64 {
	n := len(columns)
	A := make([]float64, n*n)
	for i := range n {
		for j := range n {
			for k := range columns[i] {
				A[n*i+j] += columns[i][k] * columns[j][k]
			}
		}
	}
	return condition(A, n)
}

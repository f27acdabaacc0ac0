package spline

import "math"

// Hermite returns the cubic curve through keys (rows: one per key, columns:
// joints) that passes each with its given velocity. Acceleration may jump at the
// keys.
func Hermite(times []float64, keys, velocities [][]float64) (*Spline, error) {
	n, err := check(times, 2, table{"position", keys}, table{"velocity", velocities})
	if err != nil {
		return nil, err
	}
	return assemble(times, keys, n, cubic, func(c []float64, i, j int, h float64) {
		hermite(c, keys[i][j], keys[i+1][j], velocities[i][j], velocities[i+1][j], h)
	})
}

// Quintic returns the curve through keys that passes each with its given
// velocity and acceleration: acceleration is continuous, jerk may jump.
func Quintic(times []float64, keys, velocities, accelerations [][]float64) (*Spline, error) {
	n, err := check(times, 2, table{"position", keys}, table{"velocity", velocities}, table{"acceleration", accelerations})
	if err != nil {
		return nil, err
	}
	return assemble(times, keys, n, quintic, func(c []float64, i, j int, h float64) {
		q0, v0, a0 := keys[i][j], velocities[i][j], accelerations[i][j]
		q1, v1, a1 := keys[i+1][j], velocities[i+1][j], accelerations[i+1][j]

		// what is missing at the far end after the first three terms
		dq := q1 - q0 - h*(v0+h*a0/2)
		dv := h * (v1 - v0 - h*a0)
		da := h * h * (a1 - a0)

		c[0], c[1], c[2] = q0, v0, a0/2
		c[3] = (10*dq - 4*dv + da/2) / h / h / h
		c[4] = (-15*dq + 7*dv - da) / h / h / h / h
		c[5] = (6*dq - 3*dv + da/2) / h / h / h / h / h
	})
}

// Piecewise returns the curve whose coefficients in (1) are given: for each
// segment and each joint four or six of them. It is how profiles made of
// polynomials become splines. It takes what it is given: pieces need not meet.
func Piecewise(knots []float64, joints int, coefficients []float64) (*Spline, error) {
	segments := max(1, len(knots)-1)
	order := cubic
	if len(coefficients) == segments*joints*quintic {
		order = quintic
	}
	var p problems
	if want := segments * joints * order; joints < 1 || len(coefficients) != want {
		p.add(KeyError{Kind: ErrSize, Quantity: "coefficients", Key: -1, Joint: -1, Value: float64(len(coefficients)), Bound: float64(want)})
		return nil, p.err()
	}
	keys := rows(len(knots), joints)
	if _, err := check(knots, 2, table{"position", keys}); err != nil {
		return nil, err
	}
	last := (segments - 1) * joints * order
	h := knots[segments] - knots[segments-1]
	for j := range joints {
		p := poly{n: order}
		copy(p.c[:], coefficients[last+j*order:last+(j+1)*order])
		keys[segments][j] = p.at(h)
	}
	return assemble(knots, keys, joints, order, func(c []float64, i, j int, _ float64) {
		copy(c, coefficients[(i*joints+j)*order:])
	})
}

// Natural returns the cubic curve through keys with continuous acceleration,
// zero at both ends: the shape of least bending. It may swing beyond its keys.
func Natural(times []float64, keys [][]float64) (*Spline, error) {
	n, err := check(times, 2, table{"position", keys})
	if err != nil {
		return nil, err
	}
	return cubicThrough(times, keys, n, nil, nil)
}

// Clamped returns the cubic curve through keys with continuous acceleration and
// the given velocities at both ends; nil means at rest. It may swing beyond its
// keys.
func Clamped(times []float64, keys [][]float64, first, last []float64) (*Spline, error) {
	n, err := check(times, 2, table{"position", keys})
	if err != nil {
		return nil, err
	}
	var p problems
	ends := [2][]float64{first, last}
	for e, v := range ends {
		key := e * (len(times) - 1)
		if v == nil {
			ends[e] = make([]float64, n)
		} else if len(v) != n {
			p.add(KeyError{Kind: ErrSize, Quantity: "velocity", Key: key, Joint: -1, Value: float64(len(v)), Bound: float64(n)})
		}
		for j, x := range v {
			if !finite(x) {
				p.add(KeyError{Kind: ErrNotFinite, Quantity: "velocity", Key: key, Joint: j, Value: x})
			}
		}
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return cubicThrough(times, keys, n, ends[0], ends[1])
}

// cubicThrough solves for the velocities mᵢ at the keys that make acceleration
// continuous:
//
//	mᵢ₋₁/hᵢ₋₁ + 2(1/hᵢ₋₁ + 1/hᵢ)·mᵢ + mᵢ₊₁/hᵢ = 3(dᵢ₋₁/hᵢ₋₁ + dᵢ/hᵢ)        (2)
//
// with hᵢ the step and dᵢ the mean velocity of segment i. The ends are given
// velocities, or without them zero accelerations: 2m₀ + m₁ = 3d₀. The matrix is
// tridiagonal and the same for all joints: it is eliminated once.
func cubicThrough(times []float64, keys [][]float64, n int, first, last []float64) (*Spline, error) {
	k := len(times)
	slope := rows(k, n)
	step := func(i int) float64 { return times[i+1] - times[i] }
	mean := func(i, j int) float64 { return (keys[i+1][j] - keys[i][j]) / step(i) }

	// eliminate from the front: above[i] is what remains right of the diagonal
	above := make([]float64, k)
	if first == nil {
		above[0] = 0.5
	}
	for j := range n {
		if first == nil {
			slope[0][j] = 1.5 * mean(0, j)
		} else {
			slope[0][j] = first[j]
		}
	}
	for i := 1; i < k-1; i++ {
		// row i multiplied by hᵢ, so that no step is inverted
		r := step(i) / step(i-1)
		pivot := 2*(1+r) - r*above[i-1]
		above[i] = 1 / pivot
		for j := range n {
			slope[i][j] = (3*(r*mean(i-1, j)+mean(i, j)) - r*slope[i-1][j]) / pivot
		}
	}

	// the last row, then back
	for j := range n {
		if last == nil {
			slope[k-1][j] = (3*mean(k-2, j) - slope[k-2][j]) / (2 - above[k-2])
		} else {
			slope[k-1][j] = last[j]
		}
	}
	for i := k - 2; i >= 0; i-- {
		for j := range n {
			slope[i][j] -= above[i] * slope[i+1][j]
		}
	}
	return assemble(times, keys, n, cubic, func(c []float64, i, j int, h float64) {
		hermite(c, keys[i][j], keys[i+1][j], slope[i][j], slope[i+1][j], h)
	})
}

// hermite stores the cubic from (q0, v0) to (q1, v1) within h.
func hermite(c []float64, q0, q1, v0, v1, h float64) {
	d := (q1 - q0) / h
	c[0], c[1] = q0, v0
	c[2] = (3*d - 2*v0 - v1) / h
	c[3] = (v0 + v1 - 2*d) / h / h
}

// assemble makes a spline by filling the coefficients of every joint and
// segment, and refuses what floating point cannot hold.
func assemble(times []float64, keys [][]float64, n, order int, fill func(c []float64, segment, joint int, h float64)) (*Spline, error) {
	s := &Spline{
		joints: n,
		order:  order,
		knots:  append([]float64(nil), times...),
		coef:   make([]float64, (len(times)-1)*n*order),
		end:    append([]float64(nil), keys[len(keys)-1]...),
	}
	var p problems
	for i := range s.Segments() {
		h := times[i+1] - times[i]
		for j := range n {
			c := s.Coefficients(i, j)
			fill(c, i, j, h)
			if !holds(c, h) {
				p.add(KeyError{Kind: ErrSteep, Quantity: "position", Key: i, Joint: j, Value: h})
			}
		}
	}
	return s, p.err()
}

// holds reports whether a segment and its three derivatives stay far from
// overflow.
func holds(c []float64, h float64) bool {
	const far = math.MaxFloat64 / 1e6 // room for the factors of Horner's rule
	for k, x := range c {
		if !(math.Abs(x) < far) || !(math.Abs(x)*math.Pow(h, float64(k)) < far) {
			return false
		}
	}
	return true
}

func rows(k, n int) [][]float64 {
	flat := make([]float64, k*n)
	r := make([][]float64, k)
	for i := range r {
		r[i] = flat[i*n : (i+1)*n : (i+1)*n]
	}
	return r
}

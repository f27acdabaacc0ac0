// Package priorities judges answers to problems with strict priorities by means that share
// nothing with the way they were found: the conditions of optimality of each level, with
// multipliers by Lawson and Hanson's method, and in small problems every set of active rows.
package priorities

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Row is an equation c·x = b or an inequality c·x ≥ b.
type Row struct {
	C     []float64
	B     float64
	Equal bool
}

// Problem has N unknowns and levels from the top.
type Problem struct {
	N      int
	Levels [][]Row
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

func norm(a []float64) float64 { return math.Sqrt(dot(a, a)) }

// Values are the residual and the slack of each level at x.
func (p *Problem) Values(x []float64) (residual, slack []float64) {
	for _, level := range p.Levels {
		e, w := 0.0, 0.0
		for _, r := range level {
			d := dot(r.C, x) - r.B
			switch {
			case r.Equal:
				e += d * d
			case d < 0:
				w += d * d
			}
		}
		residual, slack = append(residual, math.Sqrt(e)), append(slack, math.Sqrt(w))
	}
	return residual, slack
}

// Random makes a problem of the given size. Rows are of all kinds: repeated, opposite,
// dependent, contradictory, scaled.
func Random(rng *rand.Rand, n, levels, rows int, scaled bool) *Problem {
	p := &Problem{N: n}
	var all []Row
	for range levels {
		var level []Row
		for range rng.IntN(rows + 1) {
			r := Row{C: make([]float64, n), B: 3 * rng.NormFloat64(), Equal: rng.IntN(2) == 0}
			for i := range r.C {
				r.C[i] = rng.NormFloat64()
			}
			if len(all) > 0 {
				switch o := all[rng.IntN(len(all))]; rng.IntN(8) {
				case 0: // the same with another bound
					copy(r.C, o.C)
				case 1: // opposite
					for i := range r.C {
						r.C[i] = -o.C[i]
					}
				case 2: // one unknown
					clear(r.C)
					r.C[rng.IntN(n)] = 1
				case 3: // a combination
					o2 := all[rng.IntN(len(all))]
					for i := range r.C {
						r.C[i] = o.C[i] - 2*o2.C[i]
					}
				}
			}
			all = append(all, r)
			if scaled {
				k := math.Pow(10, 2*rng.Float64()-1)
				r.C = slices.Clone(r.C)
				for i := range r.C {
					r.C[i] *= k
				}
				r.B *= k
			}
			level = append(level, r)
		}
		p.Levels = append(p.Levels, level)
	}
	return p
}

// extend appends to an orthonormal basis what a vector adds to it, by Gram and Schmidt, twice.
func extend(Q [][]float64, v []float64, tol float64) [][]float64 {
	u, size := slices.Clone(v), norm(v)
	for range 2 {
		for _, q := range Q {
			t := dot(q, u)
			for i := range u {
				u[i] -= t * q[i]
			}
		}
	}
	if left := norm(u); left > tol*size && size > 0 {
		for i := range u {
			u[i] /= left
		}
		Q = append(Q, u)
	}
	return Q
}

// basis is an orthonormal basis of the span of vectors.
func basis(vectors [][]float64, tol float64) (Q [][]float64) {
	for _, v := range vectors {
		Q = extend(Q, v, tol)
	}
	return Q
}

// leastSquares returns the coefficients of the columns that come nearest to g, zero for
// columns that depend on others, and what is left.
func leastSquares(columns [][]float64, g []float64) (coefficients, left []float64) {
	var Q [][]float64
	var at []int
	for i, c := range columns {
		before := len(Q)
		if Q = extend(Q, c, 1e-9); len(Q) > before {
			at = append(at, i)
		}
	}
	coefficients, left = make([]float64, len(columns)), slices.Clone(g)
	y := make([]float64, len(Q))
	for range 2 {
		for i, q := range Q {
			t := dot(q, left)
			y[i] += t
			for k := range left {
				left[k] -= t * q[k]
			}
		}
	}
	for i := len(Q) - 1; i >= 0; i-- { // y = R·coefficients, R = Qᵀ·columns
		t := y[i]
		for k := i + 1; k < len(Q); k++ {
			t -= dot(Q[i], columns[at[k]]) * coefficients[at[k]]
		}
		coefficients[at[i]] = t / dot(Q[i], columns[at[i]])
	}
	return coefficients, left
}

// cone returns what is left of g that free columns of either sign and the others with
// coefficients of at least 0 cannot give: Lawson and Hanson's method.
func cone(free, others [][]float64, g []float64) []float64 {
	Q := basis(free, 1e-9)
	project := func(v []float64) []float64 {
		u := slices.Clone(v)
		for range 2 {
			for _, q := range Q {
				t := dot(q, u)
				for i := range u {
					u[i] -= t * q[i]
				}
			}
		}
		return u
	}
	g = project(g)
	var columns [][]float64
	for _, c := range others {
		u := project(c)
		if size := norm(u); size > 1e-9*norm(c) {
			for i := range u {
				u[i] /= size
			}
			columns = append(columns, u)
		}
	}
	active, multipliers := make([]bool, len(columns)), make([]float64, len(columns))
	residual := g
	for range 20 * (len(columns) + 1) {
		best, at := 1e-12*(1+norm(g)), -1
		for i, c := range columns {
			if t := dot(c, residual); !active[i] && t > best {
				best, at = t, i
			}
		}
		if at < 0 {
			break
		}
		active[at] = true
		for {
			var chosen [][]float64
			var which []int
			for i := range columns {
				if active[i] {
					chosen, which = append(chosen, columns[i]), append(which, i)
				}
			}
			var y []float64
			y, residual = leastSquares(chosen, g)
			share := 1.0
			for k, i := range which {
				if y[k] < 0 {
					share = min(share, multipliers[i]/(multipliers[i]-y[k]))
				}
			}
			for k, i := range which {
				multipliers[i] += share * (y[k] - multipliers[i])
				if share < 1 && multipliers[i] <= 1e-14 {
					multipliers[i], active[i] = 0, false
				}
			}
			if share == 1 {
				break
			}
		}
	}
	return residual
}

// Worst returns by how much x fails to be optimal at a level, over all levels: the part of
// the gradient that the levels above do not forbid, beside the terms of the gradient. It
// knows nothing of how x was found.
func (p *Problem) Worst(x []float64) (most float64, level int) {
	var free, above [][]float64
	for k, rows := range p.Levels {
		g, scale := make([]float64, p.N), 1e-3
		for _, r := range rows {
			d := dot(r.C, x) - r.B
			if !r.Equal && d > 0 {
				continue
			}
			for i, c := range r.C {
				g[i] += d * c
			}
			scale = max(scale, norm(r.C)*max(math.Abs(d), 1e-2, 1e-4*(norm(r.C)*norm(x)+math.Abs(r.B))))
		}
		if left := norm(cone(free, above, g)) / scale; left > most {
			most, level = left, k
		}
		for _, r := range rows {
			d := dot(r.C, x) - r.B
			size := norm(r.C)*norm(x) + math.Abs(r.B)
			switch {
			case r.Equal, d < -1e-9*size: // by how much a row is broken is the same at every optimum
				free = append(free, r.C)
			case d <= 1e-7*(1+math.Abs(r.B)+norm(r.C)*norm(x)):
				above = append(above, r.C)
			}
		}
	}
	return most, level
}

package priorities

import "math"

// Enumerate returns the residual and slack of each level at the optimum, by trying every set
// of rows that may be active: for problems with few inequalities.
func (p *Problem) Enumerate() (residual, slack []float64) {
	var fixed, above []Row // what the levels above leave: equations, and inequalities
	for _, level := range p.Levels {
		x := p.optimum(level, fixed, above)
		e, w := (&Problem{p.N, [][]Row{level}}).Values(x)
		residual, slack = append(residual, e[0]), append(slack, w[0])
		for _, r := range level {
			value := dot(r.C, x)
			if r.Equal {
				fixed = append(fixed, Row{r.C, value, true})
			} else {
				above = append(above, Row{r.C, min(r.B, value), false})
			}
		}
	}
	return residual, slack
}

// optimum of a level: the best point over all sets of rows above that are active and of own
// rows that are broken.
func (p *Problem) optimum(level, fixed, above []Row) (best []float64) {
	var own, targets []Row
	for _, r := range level {
		if r.Equal {
			targets = append(targets, r)
		} else {
			own = append(own, r)
		}
	}
	least := math.Inf(1)
	for set := range 1 << (len(above) + len(own)) {
		on, near := append([]Row(nil), fixed...), append([]Row(nil), targets...)
		for i, r := range above {
			if set>>i&1 == 1 {
				on = append(on, r)
			}
		}
		for i, r := range own {
			if set>>(len(above)+i)&1 == 1 {
				near = append(near, r)
			}
		}
		x, ok := nearest(p.N, near, on)
		if !ok {
			continue
		}
		for _, r := range above {
			ok = ok && dot(r.C, x) >= r.B-1e-8*(1+norm(r.C)*norm(x))
		}
		if !ok {
			continue
		}
		e, w := (&Problem{p.N, [][]Row{level}}).Values(x)
		if value := e[0]*e[0] + w[0]*w[0]; value < least {
			least, best = value, x
		}
	}
	return best
}

// nearest minimises the errors of rows on others, which are equations.
func nearest(n int, rows, on []Row) ([]float64, bool) {
	x, left := solution(n, on)
	if left > 1e-8 {
		return nil, false
	}
	var vectors [][]float64
	for _, r := range on {
		vectors = append(vectors, r.C)
	}
	rank := len(basis(vectors, 1e-9))
	for i := range n {
		e := make([]float64, n)
		e[i] = 1
		vectors = append(vectors, e)
	}
	free := basis(vectors, 1e-9)[rank:]
	var reduced []Row
	for _, r := range rows {
		c := make([]float64, len(free))
		for i, f := range free {
			c[i] = dot(r.C, f)
		}
		if norm(c) <= 1e-9*norm(r.C) {
			clear(c) // rounding
		}
		reduced = append(reduced, Row{c, r.B - dot(r.C, x), true})
	}
	y, _ := solution(len(free), reduced)
	for i, f := range free {
		for k := range x {
			x[k] += y[i] * f[k]
		}
	}
	return x, true
}

// solution of rows as equations in the sense of least squares, and the error left.
func solution(n int, rows []Row) (x []float64, left float64) {
	columns, b := make([][]float64, n), make([]float64, len(rows))
	for i := range columns {
		columns[i] = make([]float64, len(rows))
		for k, r := range rows {
			columns[i][k] = r.C[i]
		}
	}
	for k, r := range rows {
		b[k] = r.B
	}
	x, rest := leastSquares(columns, b)
	return x, norm(rest)
}

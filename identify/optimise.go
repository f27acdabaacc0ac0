package identify

import "math"

// outcome is a fit of a span.
type outcome struct {
	p    values
	free []int
	cost float64   // per reading, in rad²
	loss loss      // of the residuals
	cov  []float64 // covariance of the free values
	rest []float64 // residuals that count
	held []bool    // free values that stand at a bound
}

// sigma returns the standard deviation of a value; zero if it was not fitted, infinite if it is not
// known.
func (o *outcome) sigma(value int) float64 {
	for i, f := range o.free {
		if f != value {
			continue
		}
		if o.cov == nil {
			return math.Inf(1)
		}
		return math.Sqrt(math.Max(o.cov[i*len(o.free)+i], 0))
	}
	return 0
}

func rms(x []float64) float64 {
	sum := 0.0
	for _, r := range x {
		sum += r * r
	}
	return math.Sqrt(sum / math.Max(float64(len(x)), 1))
}

// floor is the least scale of residuals: readings in steps cannot be better.
func (s *series) floor() float64 { return math.Max(s.quantum/math.Sqrt(12), 1e-5) }

// optimiser holds the memory of a fit.
type optimiser struct {
	g        *span
	st       stribeck
	q, J, r  []float64
	slope, W []float64 // of the cost of each residual: half its derivative, and its curvature
	loss     loss
}

func newOptimiser(g *span, st stribeck) *optimiser {
	n := g.last - g.first
	return &optimiser{g: g, st: st, q: make([]float64, n), J: make([]float64, n*pMany), W: make([]float64, n), r: make([]float64, n), slope: make([]float64, n), loss: loss{half: g.s.step / 2}}
}

// residuals runs the equation; the first readings, which tell of the start, have none. It returns
// where those that count begin.
func (o *optimiser) residuals(p *values, free []int) (from int) {
	J := o.J
	if free == nil {
		J = nil
	}
	o.g.run(o.q, J, p, o.st, free)
	for i, r := range o.g.readings() {
		o.r[i] = r.q - o.q[i]
		if r.t < o.g.from {
			from = i + 1
		}
	}
	return from
}

// weigh finds the scale of the residuals that count, their slopes and curvatures, and returns their cost.
func (o *optimiser) weigh(from int) float64 {
	o.loss.estimate(o.r[from:], o.g.s.floor())
	for i := from; i < len(o.r); i++ {
		_, o.slope[i], o.W[i] = o.loss.at(o.r[i])
	}
	return o.loss.mean(o.r[from:])
}

// fit changes the free values until the positions are those measured: Levenberg's and Marquardt's
// steps with the weights of the cost, bounds kept by holding what would cross them.
func (o *optimiser) fit(p values, free []int, rounds int) outcome {
	out := outcome{p: p, free: free}
	λ := 1e-3
	from := o.residuals(&p, free)
	cost := o.weigh(from)
	var A []float64
	for range rounds {
		var g []float64
		A, g = o.normal(from, len(free))
		out.held = held(&p, free, g)
		gain := 0.0
		for λ < 1e8 {
			next := step(&p, free, out.held, A, g, λ)
			o.residuals(&next, nil)
			c := o.loss.mean(o.r[from:])
			if c < cost {
				gain = (cost - c) / cost
				p, λ = next, math.Max(λ/8, 1e-9)
				break
			}
			λ *= 6
		}
		o.residuals(&p, free)
		before := o.loss.scale
		if cost = o.weigh(from); gain < 1e-5 && (o.loss.half == 0 || math.Abs(o.loss.scale-before) < 0.02*before) {
			break
		}
	}
	A, g := o.normal(from, len(free))
	out.p, out.cost, out.loss, out.held = p, cost, o.loss, held(&p, free, g)
	out.rest = append([]float64(nil), o.r[from:]...)
	out.cov = o.covariance(A, out.held, out.rest)
	return out
}

// normal returns JᵀWJ and Jᵀ·slopes.
func (o *optimiser) normal(from, m int) (A, g []float64) {
	A, g = make([]float64, m*m), make([]float64, m)
	for i := from; i < len(o.r); i++ {
		row := o.J[i*m : (i+1)*m]
		for a := range m {
			wa := o.W[i] * row[a]
			g[a] += row[a] * o.slope[i]
			for b := a; b < m; b++ {
				A[a*m+b] += wa * row[b]
			}
		}
	}
	for a := range m {
		for b := range a {
			A[a*m+b] = A[b*m+a]
		}
	}
	return A, g
}

// held marks values at a bound that the gradient would push across.
func held(p *values, free []int, g []float64) []bool {
	h := make([]bool, len(free))
	for i, f := range free {
		least, most := bounds(f)
		h[i] = p[f] <= least && g[i] <= 0 || p[f] >= most && g[i] >= 0
	}
	return h
}

func step(p *values, free []int, held []bool, A, g []float64, λ float64) values {
	n, m := 0, len(free)
	var use []int
	for i := range free {
		if !held[i] && A[i*m+i] > 0 {
			use = append(use, i)
			n++
		}
	}
	B, b := make([]float64, n*n), make([]float64, n)
	for i, ui := range use {
		b[i] = g[ui]
		for j, uj := range use {
			B[i*n+j] = A[ui*m+uj]
		}
		B[i*n+i] *= 1 + λ
	}
	next := *p
	if n == 0 || !solve(B, b, n) {
		return next
	}
	for i, ui := range use {
		f := free[ui]
		least, most := bounds(f)
		x := p[f] + b[i]
		if f <= pA3 && p[f] > 0 { // no more than a factor at once
			x = math.Max(p[f]/8, math.Min(p[f]*8+1, x))
		}
		if x < least || f <= pA3 && x < least+1e-3 {
			x = least
		}
		next[f] = math.Min(x, most)
	}
	return next
}

// covariance is σ²·(JᵀWJ)⁻¹, σ² of correlated residuals: with the sum of their
// autocorrelation, since neighbours then tell less than they would alone.
func (o *optimiser) covariance(A []float64, held []bool, rest []float64) []float64 {
	m := len(held)
	B := append([]float64(nil), A...)
	for i := range m {
		if held[i] {
			for j := range m {
				B[i*m+j], B[j*m+i] = 0, 0
			}
			B[i*m+i] = 1
		}
	}
	cov := invert(B, m)
	if cov == nil {
		return nil
	}
	variance := rms(rest)
	if o.loss.half > 0 {
		variance = o.loss.scale
		rest = o.loss.scores(rest)
	}
	variance *= variance
	sum := 1.0
	for lag := 1; lag <= 20; lag++ {
		ρ := autocorrelation(rest, lag)
		if ρ < 0.05 {
			break
		}
		sum += 2 * ρ
	}
	for i := range cov {
		cov[i] *= variance * sum
	}
	return cov
}

// autocorrelation of residuals about their mean.
func autocorrelation(x []float64, lag int) float64 {
	if len(x) <= lag+1 {
		return 0
	}
	mean := 0.0
	for _, r := range x {
		mean += r / float64(len(x))
	}
	top, bottom := 0.0, 0.0
	for i, r := range x {
		bottom += (r - mean) * (r - mean)
		if i >= lag {
			top += (r - mean) * (x[i-lag] - mean)
		}
	}
	if bottom == 0 {
		return 0
	}
	return top / bottom
}

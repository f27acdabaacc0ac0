package qp

import (
	"math"

	"poise/linalg"
)

// Primal solves problems that need not be strictly convex, and whose rows may be soft:
//
//	minimise ½·Σ (aᵢ·x − bᵢ)² + ½·Σ max(0, bⱼ − cⱼ·x)²   subject to   cₖ·x ≥ bₖ
//
// It is a primal active-set method: it begins at a point that keeps the hard rows, and every
// point on the way keeps them and is no worse than the one before. So it has an answer
// whenever it is stopped. The second sum is the excess of rows that cannot all be kept.
//
// Each step solves a least-squares problem on the rows that are active, by orthogonal
// factors made afresh: slower than Solver, and as exact where many points are optimal or
// rows depend on each other. A Primal serves one goroutine; all methods but NewPrimal are
// loop-safe.
type Primal struct {
	n, targets, rows int
	broken           Status

	a, b    []float64 // targets × n, and what they should be
	c       []float64 // rows × n
	bound   []float64
	size    []float64
	hard    []bool
	working []bool
	u       []float64 // multipliers of hard rows, excess of soft ones

	held       []int     // working hard rows, in the order of their factors
	value      []float64 // of each row at x, less its bound
	along      []float64 // of each row, along a step
	step, grad []float64
	fit        []float64 // what is left of targets and soft rows, negative
	λ          []float64
	fixed      *linalg.LQ // hard rows that are working
	free       *linalg.LQ // targets and soft rows in their null space
	turned     []float64
	x          []float64
	iterations int
	still      int // steps of no length in a row
}

// Tolerances of Primal, relative.
const (
	tolFixed      = 1e-12 // part of a hard row outside the others
	tolFree       = 1e-12 // part of a target or soft row outside the others
	tolAway       = 1e-11 // a row that a step leaves by less, beside both lengths, does not stop it
	tolMultiplier = 1e-10 // negative multiplier that rounding may have made
	tolReached    = 1e-5  // of the terms of a row: what is left of it counts at least so much in sizes
	tolStartRow   = 1e-9  // by how much the start may break a hard row
)

// NewPrimal makes room for problems of up to n unknowns.
func NewPrimal(n, targets, rows int) *Primal {
	f := func(k int) []float64 { return make([]float64, k) }
	return &Primal{
		a: f(targets * n), b: f(targets), c: f(rows * n), bound: f(rows), size: f(rows), u: f(rows),
		hard: make([]bool, rows), working: make([]bool, rows), held: make([]int, 0, n+1),
		value: f(rows), along: f(rows), step: f(n), grad: f(n), fit: f(targets + rows), λ: f(n + 1),
		fixed: linalg.NewLQ(n+1, n), free: linalg.NewLQ(targets+rows, n), turned: f(n), x: f(n),
	}
}

// Reset begins a problem of n unknowns.
func (p *Primal) Reset(n int) { p.n, p.targets, p.rows, p.iterations, p.broken = n, 0, 0, 0, Optimal }

// Target adds (a·x − b)² to what is minimised.
func (p *Primal) Target(a []float64, b float64) {
	if p.targets == len(p.b) {
		p.broken = TooManyRows
		return
	}
	i := p.targets
	copy(p.a[i*p.n:(i+1)*p.n], a)
	if p.b[i] = b; !finite(b) || !finite(dot(a, a)) {
		p.broken = NotFinite
	}
	p.targets++
}

// Soft adds max(0, b − c·x)² to what is minimised.
func (p *Primal) Soft(c []float64, b float64) { p.add(c, b, false) }

// Hard adds the row c·x ≥ b.
func (p *Primal) Hard(c []float64, b float64) { p.add(c, b, true) }

func (p *Primal) add(c []float64, b float64, hard bool) {
	if p.rows == len(p.bound) {
		p.broken = TooManyRows
		return
	}
	i := p.rows
	copy(p.c[i*p.n:(i+1)*p.n], c)
	p.bound[i], p.size[i], p.hard[i], p.working[i], p.u[i] = b, norm(c), hard, false, 0
	if !finite(b) || !finite(p.size[i]) {
		p.broken = NotFinite
	}
	p.rows++
}

// X is the point reached: it keeps the hard rows whatever the status. It is the Primal's own.
func (p *Primal) X() []float64 { return p.x[:p.n] }

// Multipliers are those of hard rows, and by how much soft ones are broken, in the order in
// which they were added. They are the Primal's own, and worth something if the status was
// Optimal.
func (p *Primal) Multipliers() []float64 { return p.u[:p.rows] }

// Iterations returns how many steps the problem took.
func (p *Primal) Iterations() int { return p.iterations }

// Solve goes from start, which keeps the hard rows, to the minimum, in at most so many steps.
// A start that does not keep them is Infeasible, and X is the start.
func (p *Primal) Solve(start []float64, most int) Status {
	copy(p.x[:p.n], start)
	if p.broken != Optimal {
		return p.broken
	}
	if !p.place() {
		return Infeasible
	}
	p.still = 0
	for p.iterations < most {
		p.iterations++
		p.factor()
		p.direction()
		if !p.move() {
			continue
		}
		// the minimum on the working rows: done, or one of them lets go
		if !p.release() {
			return p.judge()
		}
	}
	return Limit
}

// place takes in where the start lies: soft rows that it breaks are working.
func (p *Primal) place() bool {
	length := norm(p.x[:p.n])
	if !finite(length) {
		return false
	}
	p.held = p.held[:0]
	for i := range p.rows {
		p.value[i] = p.at(i)
		if p.hard[i] {
			if p.value[i] < 0 {
				if -p.value[i] > tolStartRow*(p.size[i]*(1+length)+math.Abs(p.bound[i])) {
					return false
				}
				p.bound[i] += p.value[i]
				p.value[i] = 0
			}
			continue
		}
		p.working[i] = p.value[i] < 0
	}
	return true
}

func (p *Primal) row(i int) []float64 { return p.c[i*p.n : (i+1)*p.n] }

func (p *Primal) at(i int) float64 { return dot(p.row(i), p.x[:p.n]) - p.bound[i] }

// factor makes the factors of the working rows.
func (p *Primal) factor() {
	n := p.n
	p.fixed.Reset(n)
	for _, i := range p.held {
		copy(p.fixed.Row(p.size[i]), p.row(i))
	}
	if rank := p.fixed.Decompose(tolFixed); rank < len(p.held) { // dependent rows let go
		for _, place := range p.fixed.Order()[rank:] {
			p.working[p.held[place]] = false
		}
		kept := p.held[:0]
		for _, i := range p.held {
			if p.working[i] {
				kept = append(kept, i)
			}
		}
		p.held = kept
		p.factor()
		return
	}
	q := len(p.held)
	p.free.Reset(n - q)
	k := 0
	add := func(row []float64, left float64) {
		t := p.turned[:n]
		copy(t, row)
		p.fixed.Turn(t)
		copy(p.free.Row(norm(row)), t[q:])
		p.fit[k] = -left
		k++
	}
	for i := range p.targets {
		row := p.a[i*n : (i+1)*n]
		add(row, dot(row, p.x[:n])-p.b[i])
	}
	for i := range p.rows {
		if !p.hard[i] && p.working[i] {
			add(p.row(i), p.at(i))
		}
	}
	p.fit = p.fit[:k]
	p.free.Decompose(tolFree)
}

// direction stores in step the way to the minimum on the working rows, the shortest.
func (p *Primal) direction() {
	n, q := p.n, len(p.held)
	clear(p.step[:q])
	p.free.Solve(p.step[q:n], p.fit)
	p.fixed.TurnBack(p.step[:n])
	p.fit = p.fit[:cap(p.fit)]
}

// move goes along step until a row stops it, which then is working. It reports whether
// the step was gone to its end.
func (p *Primal) move() (whole bool) {
	n := p.n
	length := norm(p.step[:n])
	share, stop := 1.0, -1
	linalg.MulRows(p.along[:p.rows], p.c, p.step[:n], n)
	for i, by := range p.along[:p.rows] {
		if p.working[i] {
			continue
		}
		if !(by < -tolAway*p.size[i]*length) {
			continue
		}
		if t := max(p.value[i], 0) / -by; t < share {
			share, stop = t, i
			if t == 0 && p.still > p.rows {
				break // Bland's rule: the first, so that nothing goes round in circles
			}
		}
	}
	for i := range n {
		p.x[i] += share * p.step[i]
	}
	linalg.MulRows(p.value[:p.rows], p.c, p.x[:n], n)
	for i, b := range p.bound[:p.rows] {
		p.value[i] -= b
	}
	if share > 0 {
		p.still = 0
	}
	if stop < 0 {
		return true
	}
	if share == 0 {
		p.still++
	}
	p.working[stop] = true
	if p.hard[stop] {
		p.held = append(p.held, stop)
	}
	return false
}

// release takes soft rows out that are kept; if there are none, the hard row with the most
// negative multiplier. It reports whether there was one.
func (p *Primal) release() bool {
	scale := p.gradient()
	p.fixed.Multipliers(p.λ[:len(p.held)], p.grad[:p.n])
	clear(p.u[:p.rows])
	released, length := false, norm(p.x[:p.n])
	for i := range p.rows {
		if p.hard[i] || !p.working[i] {
			continue
		}
		if p.value[i] > tolRow*(p.size[i]*length+math.Abs(p.bound[i])) {
			p.working[i], released = false, true
			continue
		}
		p.u[i] = max(-p.value[i], 0)
	}
	if released {
		return true
	}
	worst, at := -tolMultiplier*scale, -1
	for k, i := range p.held {
		p.u[i] = p.λ[k]
		if by := p.λ[k] * p.size[i]; by < worst {
			worst, at = by, k
			if p.still > p.rows {
				break
			}
		}
	}
	if at < 0 {
		return false
	}
	p.working[p.held[at]] = false
	p.held = append(p.held[:at], p.held[at+1:]...)
	return true
}

// gradient stores the gradient of the objective, and returns the size of its terms, at least
// what rounding makes of them by tolReached.
func (p *Primal) gradient() (scale float64) {
	n := p.n
	g, length := p.grad[:n], norm(p.x[:p.n])
	clear(g)
	add := func(row []float64, left, b float64) {
		for m, c := range row {
			g[m] += c * left
		}
		size := norm(row)
		scale += size * (math.Abs(left) + tolReached*(size*length+math.Abs(b)))
	}
	for i := range p.targets {
		row := p.a[i*n : (i+1)*n]
		add(row, dot(row, p.x[:n])-p.b[i], p.b[i])
	}
	for i := range p.rows {
		if !p.hard[i] && p.working[i] {
			add(p.row(i), p.value[i], p.bound[i])
		}
	}
	return scale
}

// judge checks the conditions of optimality from the rows themselves.
func (p *Primal) judge() Status {
	n, length := p.n, norm(p.x[:p.n])
	if !finite(length) {
		return NotFinite
	}
	scale := p.gradient()
	for k, i := range p.held {
		for m, c := range p.row(i) {
			p.grad[m] -= p.λ[k] * c
		}
		if p.u[i] < 0 {
			p.u[i] = 0
		}
	}
	if norm(p.grad[:n]) > tolGradient*scale {
		return Inaccurate
	}
	for i := range p.rows {
		if p.hard[i] && -p.value[i] > tolStartRow*(p.size[i]*(1+length)+math.Abs(p.bound[i])) {
			return Inaccurate
		}
	}
	return Optimal
}

// Scale is the size of the terms of the gradient at X, beside which multipliers are judged.
func (p *Primal) Scale() float64 { return p.gradient() }

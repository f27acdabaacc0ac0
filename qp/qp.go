package qp

import (
	"fmt"
	"math"

	"poise/linalg"
)

// Status is how a Solve ended.
type Status uint8

const (
	Optimal     Status = iota // X is the minimum
	Infeasible                // no x keeps all rows
	Limit                     // the iterations ran out
	NotConvex                 // H is not positive definite to working precision
	NotFinite                 // the problem holds NaN or infinity, or its numbers overflow
	Inaccurate                // rounding has eaten the answer: it fails its own check
	TooManyRows               // more rows were added than there is room for
)

var statusNames = [...]string{"optimal", "infeasible", "iteration limit reached", "not convex", "not finite", "inaccurate", "too many rows"}

func (s Status) String() string { return statusNames[s] }

// Tolerances, relative to the sizes of the numbers a row is made of.
const (
	tolRow       = 1e-11 // a row broken by less is kept
	tolLost      = 1e-8  // a row that others imply may be broken by this much through rounding
	tolDependent = 1e-13 // part of a row outside the active ones that counts as none, in the metric of H⁻¹
	tolConvex    = 1e-14 // least pivot of H
	tolGradient  = 1e-7  // gradient left over, beside the terms it is made of
	tolReach     = 1e-4  // of the greatest length of x on the way, which its rounding goes by
)

// Solver holds one problem at a time. Make one with New.
type Solver struct {
	maxN, maxRows int

	n, rows int
	broken  Status // what Reset or a row found wrong; Optimal if nothing

	H, g       []float64
	c          []float64 // rows×n
	b, size    []float64 // bounds; lengths of the rows
	equal      []bool
	equalities int       // behind the last of them
	ignored    []bool    // implied by others up to rounding
	isActive   []bool    //
	u          []float64 // multipliers of all rows
	value      []float64 // c·x of all rows, at the last worst

	J      []float64 // n×n: L⁻ᵀ·Q, with H = L·Lᵀ and Q of the active rows
	R      []float64 // n×n upper triangle of the active rows
	active []int     // rows, in the order of the columns of R
	sign   []float64 // ±1: how an active equality is held
	turns  []float64 // of a reflection its factors, of rotations cosines and sines

	x, z, d, r, normal, factor []float64
	reach                      float64 // greatest length of x since begin
	iterations                 int

	label   []int     // identities of the rows, −1 without
	y       []float64 // of Start
	nearest bool      // H is the identity
	warm    bool      // the active rows are guessed
	most    int       // iterations; −1 for as many as rows and unknowns ask for
}

// New makes room for problems of up to n unknowns and so many rows.
func New(n, rows int) *Solver {
	f := func(k int) []float64 { return make([]float64, k) }
	return &Solver{
		maxN: n, maxRows: rows,
		H: f(n * n), g: f(n), c: f(rows * n), b: f(rows), size: f(rows), u: f(rows), value: f(rows),
		equal: make([]bool, rows), ignored: make([]bool, rows), isActive: make([]bool, rows),
		J: f(n * n), R: f(n * n), active: make([]int, 0, n), sign: f(n), turns: f(2 * n),
		x: f(n), z: f(n), d: f(n), r: f(n), normal: f(n), factor: f(n * n),
		label: make([]int, rows), y: f(n),
	}
}

// Reset begins a problem of len(g) unknowns without rows. Of H, row-major, the lower
// triangle is read.
func (s *Solver) Reset(H, g []float64) {
	n := len(g)
	if len(H) != n*n {
		panic(fmt.Sprintf("qp: %d unknowns with len(H) = %d, want its square", n, len(H)))
	}
	s.reset(n)
	copy(s.g, g)
	for i := range n {
		for j := range i + 1 {
			s.H[i*n+j], s.H[j*n+i] = H[i*n+j], H[i*n+j]
			if !finite(H[i*n+j]) {
				s.broken = NotFinite
			}
		}
		if !finite(g[i]) {
			s.broken = NotFinite
		}
	}
	if s.broken != Optimal {
		return
	}
	if linalg.CholeskyTo(s.factor[:n*n], s.H[:n*n], n, tolConvex) != n {
		s.broken = NotConvex
		return
	}
	s.begin()
}

func (s *Solver) reset(n int) {
	if n > s.maxN {
		panic(fmt.Sprintf("qp: %d unknowns, want at most %d", n, s.maxN))
	}
	s.n, s.rows, s.iterations, s.most, s.broken = n, 0, 0, -1, Optimal
	s.nearest, s.warm, s.equalities = false, false, 0
	s.active = s.active[:0]
}

// begin goes to the minimum without rows.
func (s *Solver) begin() {
	n, L := s.n, s.factor[:s.n*s.n]
	s.active, s.warm = s.active[:0], false
	clear(s.isActive[:s.rows])
	clear(s.ignored[:s.rows])
	clear(s.u[:s.rows])
	if s.nearest {
		clear(s.J[:n*n])
		for i := range n {
			s.J[i*n+i], s.x[i] = 1, -s.g[i]
		}
		s.reach = norm(s.x[:n])
		return
	}
	// J = L⁻ᵀ: row k of L⁻¹ is (eₖ − Σ L[k,m]·row m)/L[k,k], kept in R until it is turned over
	X := s.R[:n*n]
	for k := range n {
		row := X[k*n : (k+1)*n]
		clear(row)
		linalg.AddRows(row[:k], L[k*n:k*n+k], X, n)
		scale := 1 / L[k*n+k]
		row[k] = -1
		for m := range k + 1 {
			row[m] *= -scale
			s.J[m*n+k] = row[m]
		}
		clear(s.J[k*n : k*n+k])
		s.x[k] = -s.g[k]
	}
	linalg.CholeskySolve(s.x[:n], L, n)
	s.reach = norm(s.x[:n])
}

// length is the size of x that tolerances go by.
func (s *Solver) length() float64 {
	x := norm(s.x[:s.n])
	s.reach = max(s.reach, x)
	return x + tolReach*s.reach
}

// AtLeast adds the row c·x ≥ b.
func (s *Solver) AtLeast(c []float64, b float64) { s.add(c, b, false) }

// Equal adds the row c·x = b.
func (s *Solver) Equal(c []float64, b float64) { s.add(c, b, true) }

func (s *Solver) add(c []float64, b float64, equal bool) {
	if len(c) != s.n {
		panic(fmt.Sprintf("qp: a row of %d numbers, want %d", len(c), s.n))
	}
	if s.rows == s.maxRows {
		s.broken = TooManyRows
		return
	}
	i := s.rows
	copy(s.c[i*s.n:], c)
	sum := dot(c, c)
	s.b[i], s.size[i], s.equal[i], s.u[i], s.isActive[i] = b, math.Sqrt(sum), equal, 0, false
	s.label[i] = -1
	if equal {
		s.equalities = i + 1
	}
	if !finite(sum) || !finite(b) {
		s.broken = NotFinite
	}
	clear(s.ignored[:i+1])
	s.rows++
}

func finite(x float64) bool { return x-x == 0 }

// X is the point reached: the minimum if the status was Optimal. It is the Solver's own.
func (s *Solver) X() []float64 { return s.x[:s.n] }

// Multipliers are those of the rows, in the order in which they were added: not negative
// for AtLeast, and zero where a row does not hold the minimum. They are the Solver's own.
func (s *Solver) Multipliers() []float64 { return s.u[:s.rows] }

// Iterations returns how many steps the problem took since Reset.
func (s *Solver) Iterations() int { return s.iterations }

// stepsPerRow bounds the work: a problem of n unknowns and m rows takes at most
// stepsPerRow·(n + m) steps since Reset, or as many as Within says. Ordinary ones take
// fewer than m.
const stepsPerRow = 10

// Within bounds the steps of this problem: Iterations is never above. With none left a point
// that breaks no row is still found.
func (s *Solver) Within(steps int) { s.most = max(steps, 0) }

// limit is how many steps this problem may take.
func (s *Solver) limit() int {
	if s.most >= 0 {
		return s.most
	}
	return stepsPerRow * (s.n + s.rows)
}

// Solve goes on from the point it has to the minimum under all rows. If many steps have
// spoilt the factors, or a guess of active rows did, it begins once more.
func (s *Solver) Solve() Status {
	if s.broken != Optimal {
		return s.broken
	}
	status := s.goOn()
	if status == Inaccurate || s.warm && status != Optimal && status != Limit {
		s.begin()
		status = s.goOn()
	}
	return status
}

func (s *Solver) goOn() Status {
	most := s.limit()
	for {
		p, excess := s.worst()
		if p < 0 {
			return s.judge()
		}
		if status := s.enforce(p, excess, most); status != Optimal {
			return status
		}
	}
}

// worst returns the row that is broken most, equalities first, and by how much: negative
// if c·x is too small. The row is −1 if all are kept.
func (s *Solver) worst() (row int, excess float64) {
	n, length := s.n, s.length()
	for i := range s.equalities {
		if s.equal[i] && !s.isActive[i] && !s.ignored[i] {
			if e := dot(s.c[i*n:(i+1)*n], s.x[:n]) - s.b[i]; s.breaks(i, math.Abs(e), length) {
				return i, e
			}
		}
	}
	row, most := -1, 0.0
	linalg.MulRows(s.value[:s.rows], s.c[:s.rows*n], s.x[:n], n)
	for i, e := range s.value[:s.rows] {
		if e -= s.b[i]; e >= 0 || s.equal[i] || s.isActive[i] || s.ignored[i] || !s.breaks(i, -e, length) {
			continue
		}
		by := -e
		if s.size[i] > 0 {
			by /= s.size[i]
		}
		if row < 0 || by > most {
			row, excess, most = i, e, by
		}
	}
	return row, excess
}

// breaks reports whether a row that is off by so much is broken, at an x of some length.
func (s *Solver) breaks(row int, by, length float64) bool {
	return by > tolRow*(s.size[row]*length+math.Abs(s.b[row]))
}

// enforce moves to the minimum under the active rows and row p, step by step; rows that
// stand in the way become inactive. [GI] algorithm 2.1, step 2.
func (s *Solver) enforce(p int, excess float64, most int) Status {
	n, sign := s.n, 1.0
	if excess > 0 {
		sign = -1 // an equality from above: hold −c·x ≥ −b
	}
	for i, x := range s.c[p*n : (p+1)*n] {
		s.normal[i] = sign * x
	}
	up := 0.0
	for {
		if s.iterations >= most {
			return Limit
		}
		s.iterations++
		q := len(s.active)
		s.directions()
		t1, leaving := s.blocking()
		free, all := dot(s.d[q:n], s.d[q:n]), dot(s.d[:n], s.d[:n])
		short := dot(s.normal[:n], s.x[:n]) - sign*s.b[p] // negative
		t2 := math.Inf(1)
		if free > tolDependent*tolDependent*all {
			t2 = max(-short/free, 0)
		}
		t := min(t1, t2)
		if math.IsInf(t, 1) {
			if -short <= tolLost*(s.size[p]*s.length()+math.Abs(s.b[p])) {
				s.ignored[p] = true
				return Optimal
			}
			return Infeasible
		}
		for k, row := range s.active {
			s.u[row] -= t * s.r[k] * s.sign[k]
			if !s.equal[row] && s.u[row] < 0 {
				s.u[row] = 0
			}
		}
		up += t
		if !math.IsInf(t2, 1) {
			for i := range n {
				s.x[i] += t * s.z[i]
			}
		}
		if t == t2 {
			s.activate(p, sign, up)
			return Optimal
		}
		s.deactivate(leaving)
	}
}

// directions computes d = Jᵀ·normal, the primal step z = J₂·d₂ and the dual one
// r = R⁻¹·d₁.
func (s *Solver) directions() {
	n, q := s.n, len(s.active)
	d, z := s.d[:n], s.z[:n]
	clear(d)
	linalg.AddRows(d, s.normal[:n], s.J[:n*n], n)
	linalg.MulRows(z, s.J[q:n*n], d[q:], n)
	for i := q - 1; i >= 0; i-- {
		row := s.R[i*n+i : i*n+q]
		s.r[i] = (d[i] - dot(row[1:], s.r[i+1:q])) / row[0]
	}
}

// blocking returns how far the dual step may go until the multiplier of an active
// inequality is zero, and which.
func (s *Solver) blocking() (t float64, at int) {
	t, at = math.Inf(1), -1
	for k, row := range s.active {
		if s.equal[row] || !(s.r[k] > 0) {
			continue
		}
		if ratio := s.u[row] / s.r[k]; ratio < t {
			t, at = ratio, k
		}
	}
	return t, at
}

// activate appends row p: a reflection of the free columns of J brings d₂ to its first
// element, which with d₁ is the new column of R. d and z are those of directions.
func (s *Solver) activate(p int, sign, u float64) {
	n, q := s.n, len(s.active)
	if v := s.d[q:n]; len(v) > 1 {
		length := norm(v)
		h := length
		if v[0] > 0 {
			h = -length
		}
		beta := 1 / (length * (length + math.Abs(v[0]))) // 2/|v|², v without the h below
		v[0] -= h
		for i, z := range s.z[:n] { // row·v is what z has, less h of the first
			s.turns[i] = -beta * (z - h*s.J[i*n+q])
		}
		linalg.AddOuter(s.J[q:n*n], s.turns[:n], v, n)
		v[0] = h
	}
	for i := range q + 1 {
		s.R[i*n+q] = s.d[i]
	}
	s.active = append(s.active, p)
	s.sign[q] = sign
	s.isActive[p], s.u[p] = true, sign*u
}

// deactivate takes the active row at place k out and makes R a triangle again.
func (s *Solver) deactivate(k int) {
	n, q := s.n, len(s.active)
	row := s.active[k]
	s.isActive[row], s.u[row] = false, 0
	copy(s.active[k:], s.active[k+1:])
	copy(s.sign[k:q], s.sign[k+1:q])
	s.active = s.active[:q-1]
	for i := range q {
		copy(s.R[i*n+k:i*n+q-1], s.R[i*n+k+1:i*n+q])
	}
	for j := k; j < q-1; j++ {
		c, sn, h := rotation(s.R[j*n+j], s.R[(j+1)*n+j])
		s.R[j*n+j], s.R[(j+1)*n+j] = h, 0
		upper, lower := s.R[j*n+j+1:j*n+q-1], s.R[(j+1)*n+j+1:(j+1)*n+q-1]
		for m, a := range upper {
			b := lower[m]
			upper[m], lower[m] = c*a+sn*b, c*b-sn*a
		}
		s.turns[2*j], s.turns[2*j+1] = c, sn
	}
	if k == q-1 {
		return
	}
	for i := range n { // the same rotations of the columns of J
		row, turns := s.J[i*n+k:i*n+q], s.turns[2*k:2*(q-1)]
		a := row[0]
		for j, b := range row[1:] {
			c, sn := turns[2*j], turns[2*j+1]
			row[j] = c*a + sn*b
			a = c*b - sn*a
		}
		row[len(row)-1] = a
	}
}

// rotation returns the Givens rotation that brings (a, b) to (h, 0).
func rotation(a, b float64) (c, s, h float64) {
	if b == 0 {
		return 1, 0, a
	}
	h = math.Hypot(a, b)
	return a / h, b / h, h
}

// judge checks the conditions of Karush, Kuhn and Tucker: H·x + g = Σ u·c with the rows
// kept. Signs of u hold by construction.
func (s *Solver) judge() Status {
	length := s.length()
	if !finite(length) {
		return NotFinite
	}
	if left, size := s.gradient(); !(left <= tolGradient*size) {
		return Inaccurate
	}
	for i, e := range s.value[:s.rows] { // as worst left them
		if e -= s.b[i]; !s.equal[i] {
			e = min(e, 0)
		}
		if !(math.Abs(e) <= tolLost*(s.size[i]*length+math.Abs(s.b[i]))) {
			return Inaccurate
		}
	}
	return Optimal
}

// gradient returns the greatest component of H·x + g − Σ u·c, and the greatest term in it.
func (s *Solver) gradient() (left, size float64) {
	n := s.n
	sum := s.d[:n]
	for i, g := range s.g[:n] {
		sum[i], size = g, max(size, math.Abs(g))
	}
	for i, x := range s.x[:n] { // H is symmetric
		size = max(size, addScaled(sum, x, s.H[i*n:(i+1)*n]))
	}
	for _, row := range s.active {
		size = max(size, addScaled(sum, -s.u[row], s.c[row*n:(row+1)*n]))
	}
	for _, x := range sum {
		left = max(left, math.Abs(x))
	}
	return left, size
}

// addScaled adds k·b to a and returns the greatest of what it adds.
func addScaled(a []float64, k float64, b []float64) (most float64) {
	for i, x := range b[:len(a)] {
		t := k * x
		a[i] += t
		if t = math.Abs(t); t > most {
			most = t
		}
	}
	return most
}

func dot(a, b []float64) float64 { return linalg.Dot(a, b) }

func norm(a []float64) float64 { return linalg.Norm(a) }

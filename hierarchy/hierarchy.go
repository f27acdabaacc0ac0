package hierarchy

import (
	"math"

	"poise/linalg"
	"poise/qp"
)

// Level is how a level was served.
type Level struct {
	Residual   float64   // Euclidean norm of the errors of its equations
	Slack      float64   // Euclidean norm of what its inequalities are broken by
	Status     qp.Status // Optimal, or why it is not
	Iterations int
	Active     []int // identities of its inequalities that are at their bounds or beyond
}

// Numbers of the method, relative to the lengths of rows.
const (
	tolKept   = 1e-9 // a row above that changes by less is kept
	longest   = 1e3  // length of x from which on tolKept grows no more
	tolBroken = 1e-9 // a row broken by more holds its level back, beside the terms of the row
	tolHolds  = 1e-8 // multiplier of a row that holds a level back, beside the gradient's terms
	mostSteps = 2000 // iterations of all levels
)

// tolRanks are tried in turn: the part of a row, outside the others and of what the levels above
// left free, that counts as none. Rows that nearly depend on each other ask for answers so
// long that rounding spoils the levels above; with the next tolerance they do not count.
var tolRanks = [...]float64{1e-9, 1e-6, 1e-3}

// inequality is sign·c·x ≥ bound.
type inequality struct {
	vector      int
	sign, bound float64
	asked       float64 // bound that was asked for
	id          int
	constant    bool // nothing below changes it
}

type equation struct {
	vector int
	b      float64
}

type span struct {
	equations, rows [2]int
	whole           bool // the equations leave nothing free
}

// Solver holds one problem at a time. Make one with New.
type Solver struct {
	n, most int
	maxN    int
	broken  bool // a number is not finite, or there is no room

	c          []float64 // vectors × n
	from, to   []int     // of the nonzero part of each
	size       []float64
	vectors    int
	equations  []equation
	rows       []inequality
	spans      []span
	levels     []Level
	last       [][]int // active rows of each level in the problem before
	iterations int

	x, next []float64
	m       int       // unknowns that are left
	Z       []float64 // n × m: x + Z·u
	whole   bool      // Z is the identity
	P       []float64 // vectors × m: c·Z
	tolRank float64
	e, u, z []float64
	turned  []float64
	H, g    []float64
	lq      *linalg.LQ
	dual    *qp.Solver
	primal  *qp.Primal
}

// New makes room for problems of up to n unknowns, so many rows and levels.
func New(n, rows, levels int) *Solver {
	f := func(k int) []float64 { return make([]float64, k) }
	s := &Solver{
		maxN: n, c: f(rows * n), from: make([]int, rows), to: make([]int, rows), size: f(rows),
		equations: make([]equation, 0, rows), rows: make([]inequality, 0, 2*rows),
		spans: make([]span, 0, levels), levels: make([]Level, levels), last: make([][]int, levels),
		x: f(n), next: f(n), Z: f(n * n), P: f(rows * n), e: f(rows), u: f(n), z: f(n), turned: f(n),
		H: f(n * n), g: f(n),
		lq: linalg.NewLQ(3*rows, n), dual: qp.New(n, 2*rows), primal: qp.NewPrimal(n, rows, 2*rows),
	}
	for i := range s.levels {
		s.levels[i].Active = make([]int, 0, 2*rows)
		s.last[i] = make([]int, 0, n)
	}
	return s
}

// Reset begins a problem of n unknowns.
func (s *Solver) Reset(n int) {
	s.n, s.vectors, s.broken, s.most = n, 0, n > s.maxN, mostSteps
	s.equations, s.rows, s.spans = s.equations[:0], s.rows[:0], s.spans[:0]
}

// Within bounds the iterations of all levels together.
func (s *Solver) Within(steps int) { s.most = steps }

// Forget drops what is known from the problem before, which only saves work.
func (s *Solver) Forget() {
	for i := range s.last {
		s.last[i] = s.last[i][:0]
	}
}

// Begin begins the next level, below all others.
func (s *Solver) Begin() {
	if len(s.spans) == cap(s.spans) {
		s.broken = true
		return
	}
	e, r := len(s.equations), len(s.rows)
	s.spans = append(s.spans, span{[2]int{e, e}, [2]int{r, r}, false})
}

// BeginWhole begins a level whose equations leave nothing free: it is the last.
func (s *Solver) BeginWhole() {
	s.Begin()
	s.spans[len(s.spans)-1].whole = true
}

// Row returns n zeros to fill in; what is asked next is asked of them.
func (s *Solver) Row() []float64 {
	if s.vectors == len(s.size) {
		s.broken = true
		s.vectors--
	}
	s.size[s.vectors] = -1
	row := s.c[s.vectors*s.n : (s.vectors+1)*s.n]
	s.vectors++
	clear(row)
	return row
}

// Last returns the number of the row that Row returned, for Again.
func (s *Solver) Last() int { return s.vectors - 1 }

// Equal asks for c·x = b.
func (s *Solver) Equal(b float64) { s.EqualAgain(s.vectors-1, b) }

// EqualAgain asks for c·x = b of an earlier row.
func (s *Solver) EqualAgain(row int, b float64) {
	s.equations = append(s.equations, equation{row, b})
	s.spans[len(s.spans)-1].equations[1]++
	s.broken = s.broken || b-b != 0 || len(s.equations) == cap(s.equations)
}

// AtLeast asks for c·x ≥ b. The identity, 0 or more, is the row's name in Level.Active and
// from one problem to the next.
func (s *Solver) AtLeast(b float64, id int) { s.inequality(s.vectors-1, 1, b, id) }

// AtMost asks for c·x ≤ b.
func (s *Solver) AtMost(b float64, id int) { s.inequality(s.vectors-1, -1, -b, id) }

// AtLeastAgain and AtMostAgain ask it of an earlier row.
func (s *Solver) AtLeastAgain(row int, b float64, id int) { s.inequality(row, 1, b, id) }
func (s *Solver) AtMostAgain(row int, b float64, id int)  { s.inequality(row, -1, -b, id) }

func (s *Solver) inequality(vector int, sign, b float64, id int) {
	s.rows = append(s.rows, inequality{vector, sign, b, b, id, false})
	s.spans[len(s.spans)-1].rows[1]++
	s.broken = s.broken || b-b != 0 || len(s.rows) == cap(s.rows)
}

// X is the answer. It is the Solver's own.
func (s *Solver) X() []float64 { return s.x[:s.n] }

// Levels tell how each level was served. They are the Solver's own.
func (s *Solver) Levels() []Level { return s.levels[:len(s.spans)] }

// Iterations returns how many steps all levels took.
func (s *Solver) Iterations() int { return s.iterations }

// Solve finds the answer, on a way that begins at start, or zero. It reports whether the
// problem was one: finite, and within the room there is. Where it was not, X is the start.
func (s *Solver) Solve(start []float64) bool {
	n := s.n
	clear(s.x[:n])
	if start != nil {
		copy(s.x[:n], start)
	}
	s.iterations = 0
	for i := range s.spans {
		l := &s.levels[i]
		*l = Level{Active: l.Active[:0], Status: qp.NotFinite}
	}
	if s.broken || !s.scan() || !finite(s.x[:n]) {
		return false
	}
	s.m, s.whole = n, true
	for i := range s.spans {
		s.serve(i)
	}
	for i := range s.spans {
		s.report(i)
	}
	return true
}

// scan finds where rows are not zero, and whether all is finite.
func (s *Solver) scan() bool {
	n := s.n
	for v := range s.vectors {
		row := s.c[v*n : (v+1)*n]
		from, to, sum := n, 0, 0.0
		for i, c := range row {
			if c != 0 {
				from, to = min(from, i), i+1
				sum += c * c
			}
		}
		if sum-sum != 0 {
			return false
		}
		s.from[v], s.to[v], s.size[v] = min(from, to), to, math.Sqrt(sum)
	}
	return true
}

func finite(x []float64) bool {
	sum := 0.0
	for _, e := range x {
		sum += e - e
	}
	return sum == 0
}

// at is the value of a vector at x.
func (s *Solver) at(v int, x []float64) (sum float64) {
	from, to := s.from[v], s.to[v]
	for i, c := range s.c[v*s.n+from : v*s.n+to] {
		sum += c * x[from+i]
	}
	return sum
}

// excess is by how much more than zero an inequality is kept at x.
func (s *Solver) excess(r *inequality, x []float64) float64 {
	return r.sign*s.at(r.vector, x) - r.bound
}

func (s *Solver) tolerance(r *inequality, length float64) float64 {
	return s.rounding(r.vector, r.bound, length)
}

// rounding is by how much a row may be off at an x of some length.
func (s *Solver) rounding(v int, b, length float64) float64 {
	return tolKept * (1 + math.Abs(b) + s.size[v]*min(length/longest, 1))
}

// project stores c·Z of a vector.
func (s *Solver) project(v int) {
	n, m := s.n, s.m
	p := s.P[v*n : v*n+m]
	if s.whole {
		copy(p, s.c[v*n:(v+1)*n])
		return
	}
	clear(p)
	for i := s.from[v]; i < s.to[v]; i++ {
		c := s.c[v*n+i]
		if c == 0 {
			continue
		}
		for k, z := range s.Z[i*n : i*n+m] {
			p[k] += c * z
		}
	}
	if norm(p) <= s.tolRank*s.size[v] {
		clear(p) // rounding: the levels above have decided
	}
}

func (s *Solver) projected(v int) []float64 { return s.P[v*s.n : v*s.n+s.m] }

// serve finds x for a level and leaves to those below what it does not need.
func (s *Solver) serve(k int) {
	l := &s.levels[k]
	for attempt, tol := range tolRanks {
		if s.iterations > s.most {
			l.Status = qp.Limit
			break
		}
		s.tolRank = tol
		if l.Status = s.attempt(k); l.Status == qp.Optimal && attempt > 0 {
			l.Status = qp.Inaccurate // as good as it gets, but not what was asked
			return
		}
		if l.Status == qp.Optimal {
			return
		}
		if l.Status == qp.Limit {
			break
		}
	}
	s.keep(k)
}

func (s *Solver) attempt(k int) qp.Status {
	sp := &s.spans[k]
	for i := range s.equations[sp.equations[0]:sp.equations[1]] {
		q := &s.equations[sp.equations[0]+i]
		s.project(q.vector)
		s.e[i] = q.b - s.at(q.vector, s.x)
	}
	if sp.whole && s.least(k) || s.reach(k) {
		return qp.Optimal
	}
	return s.compromise(k)
}

// keep lets the rows of a level that was not finished have the values that they have.
func (s *Solver) keep(k int) {
	sp := &s.spans[k]
	for i := range s.rows[sp.rows[0]:sp.rows[1]] {
		r := &s.rows[sp.rows[0]+i]
		r.bound = min(r.bound, r.bound+s.excess(r, s.x))
	}
}

// reach goes to the least-squares optimum of a level's equations by the shortest way that
// keeps all inequalities, its own included. It reports whether there is one.
func (s *Solver) reach(k int) bool {
	sp, m := &s.spans[k], s.m
	s.lq.Reset(m)
	equations := s.equations[sp.equations[0]:sp.equations[1]]
	for _, q := range equations {
		copy(s.lq.Row(s.size[q.vector]), s.projected(q.vector))
	}
	rank := s.lq.Decompose(s.tolRank)
	s.lq.Solve(s.u[:m], s.e[:len(equations)])
	s.advance()
	if !s.kept(k, sp.rows[1]) && !s.avoid(k, rank) {
		return false
	}
	s.commit(sp.rows[1])
	s.narrow(rank)
	s.levels[k].Status = qp.Optimal
	return true
}

// advance stores x + Z·u in next.
func (s *Solver) advance() {
	n, m := s.n, s.m
	if s.whole {
		for i := range n {
			s.next[i] = s.x[i] + s.u[i]
		}
		return
	}
	for i := range n {
		sum := s.x[i]
		for k, z := range s.Z[i*n : i*n+m] {
			sum += z * s.u[k]
		}
		s.next[i] = sum
	}
}

// kept reports whether next keeps the first so many inequalities and the equations above a
// level as x does.
func (s *Solver) kept(k, rows int) bool {
	length := norm(s.next[:s.n])
	for i := range s.rows[:rows] {
		r := &s.rows[i]
		if !(s.excess(r, s.next) >= -s.tolerance(r, length)) {
			return false
		}
	}
	for _, q := range s.equations[:s.spans[k].equations[0]] {
		if !(math.Abs(s.at(q.vector, s.next)-s.at(q.vector, s.x)) <= s.rounding(q.vector, q.b, length)) {
			return false
		}
	}
	return true
}

// avoid adds to u, in the null space of the equations, the shortest vector that keeps the
// inequalities.
func (s *Solver) avoid(k, rank int) bool {
	sp, l, m := &s.spans[k], &s.levels[k], s.m
	free := m - rank
	clear(s.z[:m])
	s.dual.ResetNearest(s.z[rank:m])
	length := norm(s.next[:s.n])
	for i := range s.rows[:sp.rows[1]] {
		r := &s.rows[i]
		if r.constant {
			continue
		}
		s.project(r.vector)
		t := s.turned[:m]
		copy(t, s.projected(r.vector))
		s.lq.Turn(t)
		have := s.excess(r, s.next)
		if t = t[rank:]; norm(t) <= s.tolRank*s.size[r.vector] {
			if have < -s.tolerance(r, length) {
				return false
			}
			continue
		}
		for j := range t {
			t[j] *= r.sign
		}
		s.dual.AtLeast(t, -have)
		s.dual.Label(r.id)
	}
	if free == 0 {
		return false
	}
	s.dual.Within(s.most - s.iterations)
	s.dual.Start(s.last[k])
	status := s.dual.Solve()
	s.count(l, s.dual.Iterations())
	if status != qp.Optimal {
		s.last[k] = s.last[k][:0]
		return false
	}
	s.last[k] = s.dual.Active(s.last[k][:0])
	copy(s.z[rank:m], s.dual.X())
	s.lq.TurnBack(s.z[:m])
	for i := range m {
		s.u[i] += s.z[i]
	}
	s.advance()
	return s.kept(k, sp.rows[1])
}

func (s *Solver) count(l *Level, steps int) {
	l.Iterations += steps
	s.iterations += steps
}

// commit takes next over; what rounding broke of the first so many rows is their bound from
// now on, so that staying is always feasible.
func (s *Solver) commit(rows int) {
	copy(s.x[:s.n], s.next[:s.n])
	for i := range s.rows[:rows] {
		r := &s.rows[i]
		if excess := s.excess(r, s.x); excess < 0 {
			r.bound += excess
		}
	}
}

// narrow leaves of Z the null space of the first `rank` rows that lq was given.
func (s *Solver) narrow(rank int) {
	if rank == 0 {
		return
	}
	n, m := s.n, s.m
	for i := range n {
		row := s.Z[i*n : i*n+m]
		if s.whole {
			clear(row)
			row[i] = 1
		}
		s.lq.Turn(row)
		copy(row, row[rank:])
	}
	s.m, s.whole = m-rank, false
}

// least minimises the equations of a level that leave nothing free.
func (s *Solver) least(k int) bool {
	sp, l, m := &s.spans[k], &s.levels[k], s.m
	H, g := s.H[:m*m], s.g[:m]
	clear(H)
	clear(g)
	for i, q := range s.equations[sp.equations[0]:sp.equations[1]] {
		p := s.projected(q.vector)
		for a, x := range p {
			g[a] -= x * s.e[i]
			h := H[a*m : a*m+a+1]
			for b := range h {
				h[b] += x * p[b]
			}
		}
	}
	s.dual.Reset(H, g)
	for i := range s.rows[:sp.rows[1]] {
		r := &s.rows[i]
		if r.constant {
			continue
		}
		s.project(r.vector)
		t := s.turned[:m]
		for j, x := range s.projected(r.vector) {
			t[j] = r.sign * x
		}
		if norm(t) == 0 {
			continue
		}
		s.dual.AtLeast(t, -s.excess(r, s.x))
		s.dual.Label(r.id)
	}
	s.dual.Within(s.most - s.iterations)
	s.dual.Start(s.last[k])
	status := s.dual.Solve()
	s.count(l, s.dual.Iterations())
	s.last[k] = s.last[k][:0]
	if status != qp.Optimal {
		return false
	}
	s.last[k] = s.dual.Active(s.last[k])
	copy(s.u[:m], s.dual.X())
	s.advance()
	if !s.kept(k, sp.rows[1]) {
		return false
	}
	s.commit(sp.rows[1])
	s.m, l.Status = 0, qp.Optimal
	return true
}

// compromise finds the least-squares optimum of a level whose rows cannot all be kept.
func (s *Solver) compromise(k int) qp.Status {
	sp, l, m, p := &s.spans[k], &s.levels[k], s.m, s.primal
	p.Reset(m)
	equations := s.equations[sp.equations[0]:sp.equations[1]]
	for i, q := range equations {
		p.Target(s.projected(q.vector), s.e[i])
	}
	for i := range s.rows[:sp.rows[1]] {
		r := &s.rows[i]
		if r.constant {
			continue
		}
		s.project(r.vector)
		t := s.turned[:m]
		for j, x := range s.projected(r.vector) {
			t[j] = r.sign * x
		}
		switch {
		case i >= sp.rows[0]:
			p.Soft(t, -s.excess(r, s.x))
		case norm(t) == 0:
			r.constant = true
		default:
			p.Hard(t, -max(s.excess(r, s.x), 0))
		}
	}
	clear(s.z[:m])
	status := p.Solve(s.z[:m], s.most-s.iterations)
	s.count(l, p.Iterations())
	if status != qp.Optimal && status != qp.Limit {
		return status
	}
	copy(s.u[:m], p.X())
	s.advance()
	if !finite(s.next[:s.n]) || !s.kept(k, sp.rows[0]) {
		return qp.Inaccurate
	}
	s.fix(k, status == qp.Optimal)
	return status
}

// fix takes the compromise over. The level's equations, the rows it breaks and the rows that
// hold it back are equations from now on.
func (s *Solver) fix(k int, optimal bool) {
	sp, m := &s.spans[k], s.m
	s.lq.Reset(m)
	scale := s.primal.Scale()
	for _, q := range s.equations[sp.equations[0]:sp.equations[1]] {
		copy(s.lq.Row(s.size[q.vector]), s.projected(q.vector))
	}
	length, u, at := norm(s.next[:s.n]), s.primal.Multipliers(), 0
	for i := range s.rows[:sp.rows[1]] {
		r := &s.rows[i]
		if r.constant {
			continue
		}
		holds := u[at] > tolBroken*(math.Abs(r.bound)+s.size[r.vector]*length)
		if i < sp.rows[0] {
			holds = u[at]*norm(s.projected(r.vector)) > tolHolds*scale
		}
		at++
		if optimal && holds {
			copy(s.lq.Row(s.size[r.vector]), s.projected(r.vector))
			r.constant = true
		}
	}
	s.commit(sp.rows[1])
	s.narrow(s.lq.Decompose(s.tolRank))
}

// report fills in how a level was served, at the answer.
func (s *Solver) report(k int) {
	sp, l, length := &s.spans[k], &s.levels[k], norm(s.x[:s.n])
	sum := 0.0
	for _, q := range s.equations[sp.equations[0]:sp.equations[1]] {
		e := s.at(q.vector, s.x) - q.b
		sum += e * e
	}
	l.Residual = math.Sqrt(sum)
	sum = 0
	for i := range s.rows[sp.rows[0]:sp.rows[1]] {
		r := &s.rows[sp.rows[0]+i]
		excess := r.sign*s.at(r.vector, s.x) - r.asked
		if excess < 0 {
			sum += excess * excess
		}
		if excess <= s.tolerance(r, length) {
			l.Active = append(l.Active, r.id)
		}
	}
	l.Slack = math.Sqrt(sum)
}

func norm(a []float64) float64 {
	sum := 0.0
	for _, x := range a {
		sum += x * x
	}
	return math.Sqrt(sum)
}

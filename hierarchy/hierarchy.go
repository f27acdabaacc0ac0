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
	tolCut    = 1e-2 // of that: a row broken by more comes into the program
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
	posed       bool // it is a row of the program at hand
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

	x, next   []float64
	atX       []float64 // value of each vector there
	atNext    []float64 // and at next
	evaluated []bool    // of each vector: a level that is served, or one above it, has it
	m         int       // unknowns that are left
	Z         []float64 // n × m: x + Z·u
	whole     bool      // Z is the identity
	P         []float64 // vectors × m: c·Z
	tolRank   float64
	fresh     bool      // the program at hand has no rows yet
	uEqual    []float64 // u of the equations alone
	e, u, z   []float64
	turned    []float64
	H, g      []float64
	lq        *linalg.LQ
	dual      *qp.Solver
	primal    *qp.Primal
}

// New makes room for problems of up to n unknowns, so many rows and levels.
func New(n, rows, levels int) *Solver {
	f := func(k int) []float64 { return make([]float64, k) }
	s := &Solver{
		maxN: n, c: f(rows * n), from: make([]int, rows), to: make([]int, rows), size: f(rows),
		equations: make([]equation, 0, rows), rows: make([]inequality, 0, 2*rows),
		spans: make([]span, 0, levels), levels: make([]Level, levels), last: make([][]int, levels),
		x: f(n), next: f(n), atX: f(rows), atNext: f(rows), evaluated: make([]bool, rows), Z: f(n * n), P: f(rows * n), e: f(rows), u: f(n), z: f(n), uEqual: f(n), turned: f(n),
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

// Within bounds the iterations of all levels together: Iterations is never above.
func (s *Solver) Within(steps int) { s.most = max(steps, 0) }

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

// LastRow returns the row that Row returned, as it is.
func (s *Solver) LastRow() []float64 { return s.c[(s.vectors-1)*s.n : s.vectors*s.n] }

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
	s.rows = append(s.rows, inequality{vector: vector, sign: sign, bound: b, asked: b, id: id})
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
	clear(s.evaluated[:s.vectors])
	for i := range s.spans {
		s.ask(i)
		s.serve(i)
	}
	for i := range s.spans {
		s.report(i)
	}
	return true
}

// ask brings the vectors of a level among those that are evaluated.
func (s *Solver) ask(k int) {
	sp := &s.spans[k]
	bring := func(v int) {
		if !s.evaluated[v] {
			s.evaluated[v], s.atX[v] = true, s.at(v, s.x)
		}
	}
	for _, q := range s.equations[sp.equations[0]:sp.equations[1]] {
		bring(q.vector)
	}
	for i := range s.rows[sp.rows[0]:sp.rows[1]] {
		bring(s.rows[sp.rows[0]+i].vector)
	}
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
func (s *Solver) at(v int, x []float64) float64 {
	from, to := s.from[v], s.to[v]
	c := s.c[v*s.n+from : v*s.n+to]
	if to-from > short {
		return linalg.Dot(c, x[from:to])
	}
	sum := 0.0
	for i, x := range x[from:to] {
		sum += c[i] * x
	}
	return sum
}

// short is up to how many numbers a row is summed up one by one.
const short = 4

// evaluate stores the values that vectors have at next.
func (s *Solver) evaluate() {
	for v := range s.vectors {
		if s.evaluated[v] {
			s.atNext[v] = s.at(v, s.next)
		}
	}
}

// excess is by how much more than zero an inequality is kept at x.
func (s *Solver) excess(r *inequality) float64 { return r.sign*s.atX[r.vector] - r.bound }

// excessNext is that at next.
func (s *Solver) excessNext(r *inequality) float64 { return r.sign*s.atNext[r.vector] - r.bound }

func (s *Solver) tolerance(r *inequality, length float64) float64 {
	return s.rounding(r.vector, r.bound, length)
}

// rounding is by how much a row may be off at an x of some length.
func (s *Solver) rounding(v int, b, length float64) float64 {
	return tolKept * (1 + math.Abs(b) + s.size[v]*min(length/longest, 1))
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

func norm(a []float64) float64 { return linalg.Norm(a) }

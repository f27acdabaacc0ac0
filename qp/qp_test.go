package qp_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/linalg"
	"poise/qp"
)

// problem is a quadratic program in the form a test can judge.
type problem struct {
	n     int
	H, g  []float64
	c     [][]float64
	b     []float64
	equal []bool
}

func (p *problem) solve(s *qp.Solver) qp.Status {
	p.pose(s)
	return s.Solve()
}

// pose begins the problem with all its rows.
func (p *problem) pose(s *qp.Solver) {
	s.Reset(p.H, p.g)
	for i := range p.c {
		p.row(s, i)
	}
}

func (p *problem) row(s *qp.Solver, i int) {
	if p.equal[i] {
		s.Equal(p.c[i], p.b[i])
	} else {
		s.AtLeast(p.c[i], p.b[i])
	}
}

// same fails unless x is want, relative to 1 and its numbers.
func same(t testing.TB, trial int, x, want []float64, tol float64) {
	t.Helper()
	for i := range x {
		if !(math.Abs(x[i]-want[i]) <= tol*(1+math.Abs(want[i]))) {
			t.Fatalf("trial %d: x = %v, want %v", trial, x, want)
		}
	}
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// random makes a problem with a point that keeps all rows, some of them exactly.
func random(rng *rand.Rand, n, rows, equal int) *problem {
	p := &problem{n: n, H: make([]float64, n*n), g: make([]float64, n)}
	B := make([]float64, n*n)
	for i := range B {
		B[i] = rng.NormFloat64()
	}
	for i := range n {
		for j := range n {
			p.H[i*n+j] = dot(B[i*n:(i+1)*n], B[j*n:(j+1)*n])
		}
		p.H[i*n+i] += 0.1
		p.g[i] = 5 * rng.NormFloat64()
	}
	inside := make([]float64, n)
	for i := range inside {
		inside[i] = rng.NormFloat64()
	}
	for i := range rows {
		c := make([]float64, n)
		for k := range c {
			c[k] = rng.NormFloat64()
		}
		b := dot(c, inside)
		if i >= equal && rng.IntN(3) > 0 {
			b -= rng.Float64()
		}
		p.add(c, b, i < equal)
	}
	return p
}

func (p *problem) add(c []float64, b float64, equal bool) {
	p.c, p.b, p.equal = append(p.c, c), append(p.b, b), append(p.equal, equal)
}

// kkt returns how far x and u are from the conditions of Karush, Kuhn and Tucker, beside
// the sizes of the numbers in them.
func (p *problem) kkt(x, u []float64) (worst float64) {
	for i := range p.n {
		sum, size := p.g[i], 1+math.Abs(p.g[i])
		for j := range p.n {
			sum += p.H[i*p.n+j] * x[j]
			size += math.Abs(p.H[i*p.n+j] * x[j])
		}
		for k, c := range p.c {
			sum -= u[k] * c[i]
			size += math.Abs(u[k] * c[i])
		}
		worst = max(worst, math.Abs(sum)/size)
	}
	for k, c := range p.c {
		e := dot(c, x) - p.b[k]
		if p.equal[k] {
			worst = max(worst, math.Abs(e))
			continue
		}
		worst = max(worst, -e, -u[k], math.Abs(e*u[k])/(1+math.Abs(u[k])))
	}
	return worst
}

func TestRandomProblemsKeepTheConditionsOfOptimality(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s, worst := qp.New(30, 80), 0.0
	for trial := range 3000 {
		n := 1 + rng.IntN(30)
		p := random(rng, n, rng.IntN(2*n+5), rng.IntN(n/2+1))
		for i := range p.equal { // fewer rows than equalities asked for
			p.equal[i] = p.equal[i] && i < n
		}
		if status := p.solve(s); status != qp.Optimal {
			t.Fatalf("trial %d, n %d, %d rows: %v", trial, n, len(p.c), status)
		}
		worst = max(worst, p.kkt(s.X(), s.Multipliers()))
	}
	if t.Logf("worst residual %.1e", worst); worst > 1e-8 {
		t.Errorf("residual of the conditions %.2g, want at most 1e-8", worst)
	}
}

// bruteForce tries every set of active inequalities and returns the minimum: a method that
// shares nothing with the Solver's. No point is found if the rows contradict each other.
func (p *problem) bruteForce() (best []float64) {
	least := math.Inf(1)
	for set := range 1 << len(p.c) {
		var rows []int
		for i := range p.c {
			if set>>i&1 == 1 {
				rows = append(rows, i)
			}
		}
		x, ok := p.onRows(rows)
		if !ok || !p.keeps(x) {
			continue
		}
		value := dot(p.g, x)
		for i := range p.n {
			value += x[i] * dot(p.H[i*p.n:(i+1)*p.n], x) / 2
		}
		if value < least {
			least, best = value, x
		}
	}
	return best
}

func (p *problem) keeps(x []float64) bool {
	for i, c := range p.c {
		tol := 1e-9 * (1 + math.Sqrt(dot(c, c)*dot(x, x)))
		if e := dot(c, x) - p.b[i]; e < -tol || p.equal[i] && e > tol {
			return false
		}
	}
	return true
}

// onRows minimises with the rows as equalities: x = H⁻¹·(Cᵀ·u − g), C·x = b.
func (p *problem) onRows(rows []int) ([]float64, bool) {
	n, m := p.n, len(rows)
	L := make([]float64, n*n)
	linalg.CholeskyTo(L, p.H, n, 0)
	x := make([]float64, n)
	for i := range x {
		x[i] = -p.g[i]
	}
	linalg.CholeskySolve(x, L, n)
	if m == 0 {
		return x, true
	}
	if m > n {
		return nil, false
	}
	Y, S, u := make([][]float64, m), make([]float64, m*m), make([]float64, m)
	for i, r := range rows {
		Y[i] = append([]float64(nil), p.c[r]...)
		linalg.CholeskySolve(Y[i], L, n)
		u[i] = p.b[r] - dot(p.c[r], x)
	}
	for i := range m {
		for j := range m {
			S[i*m+j] = dot(p.c[rows[i]], Y[j])
		}
	}
	F := make([]float64, m*m)
	if linalg.CholeskyTo(F, S, m, 1e-11) != m {
		return nil, false
	}
	linalg.CholeskySolve(u, F, m)
	for i := range m {
		for k := range x {
			x[k] += u[i] * Y[i][k]
		}
	}
	return x, true
}

func TestSmallProblemsAgreeWithEverySetOfActiveRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s, infeasible := qp.New(5, 10), 0
	for trial := range 1500 {
		n := 1 + rng.IntN(5)
		p := random(rng, n, rng.IntN(9), 0)
		for i := range p.c {
			p.equal[i] = i < n-1 && rng.IntN(6) == 0
			switch rng.IntN(8) {
			case 0: // twice the same row
				p.c[i], p.b[i] = p.c[0], p.b[0]
			case 1: // a row that may contradict
				p.b[i] += 2 * rng.Float64()
			}
		}
		want := p.bruteForce()
		status := p.solve(s)
		if want == nil {
			if infeasible++; status != qp.Infeasible {
				t.Fatalf("trial %d: %v, but no point keeps the rows", trial, status)
			}
			continue
		}
		if status != qp.Optimal {
			t.Fatalf("trial %d: %v, but %v keeps the rows", trial, status, want)
		}
		same(t, trial, s.X(), want, 1e-7)
	}
	if infeasible < 50 {
		t.Errorf("only %d infeasible problems: the test does not see them", infeasible)
	}
}

func TestRowsOverEightDecades(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	s := qp.New(12, 40)
	for trial := range 500 {
		p := random(rng, 12, 20, 3)
		plain := append([]float64(nil), solution(t, s, p)...)
		for i := range p.c {
			k := math.Pow(10, 8*rng.Float64()-4)
			scaled := make([]float64, len(p.c[i]))
			for j, x := range p.c[i] {
				scaled[j] = k * x
			}
			p.c[i], p.b[i] = scaled, k*p.b[i]
		}
		for i, x := range solution(t, s, p) {
			if math.Abs(x-plain[i]) > 1e-8*(1+math.Abs(plain[i])) {
				t.Fatalf("trial %d: x[%d] = %g with scaled rows, %g without", trial, i, x, plain[i])
			}
		}
	}
}

func solution(t *testing.T, s *qp.Solver, p *problem) []float64 {
	t.Helper()
	if status := p.solve(s); status != qp.Optimal {
		t.Fatal(status)
	}
	return s.X()
}

func TestRowsAddedLaterGiveTheSameMinimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	s, again := qp.New(10, 30), qp.New(10, 30)
	for trial := range 300 {
		p := random(rng, 10, 25, 2)
		want := solution(t, s, p)
		again.Reset(p.H, p.g)
		for i := range p.c {
			p.row(again, i)
			if status := again.Solve(); status != qp.Optimal {
				t.Fatalf("trial %d, row %d: %v", trial, i, status)
			}
		}
		same(t, trial, again.X(), want, 1e-8)
		if r := p.kkt(again.X(), again.Multipliers()); r > 1e-8 {
			t.Fatalf("trial %d: residual of the conditions %.2g", trial, r)
		}
	}
}

func TestFailuresHaveNames(t *testing.T) {
	one := []float64{1, 0, 0, 1}
	s := qp.New(2, 2)
	for _, c := range []struct {
		name string
		want qp.Status
		set  func()
	}{
		{"contradiction", qp.Infeasible, func() {
			s.Reset(one, []float64{0, 0})
			s.AtLeast([]float64{1, 0}, 1)
			s.AtLeast([]float64{-1, 0}, 0)
		}},
		{"equalities that contradict", qp.Infeasible, func() {
			s.Reset(one, []float64{0, 0})
			s.Equal([]float64{1, 1}, 1)
			s.Equal([]float64{2, 2}, 3)
		}},
		{"row of zeros", qp.Infeasible, func() { s.Reset(one, []float64{0, 0}); s.AtLeast([]float64{0, 0}, 1) }},
		{"equalities that agree", qp.Optimal, func() {
			s.Reset(one, []float64{0, 0})
			s.Equal([]float64{1, 1}, 1)
			s.Equal([]float64{2, 2}, 2)
		}},
		{"not convex", qp.NotConvex, func() { s.Reset([]float64{1, 0, 0, -1}, []float64{0, 0}) }},
		{"singular", qp.NotConvex, func() { s.Reset([]float64{1, 1, 1, 1}, []float64{0, 0}) }},
		{"NaN in g", qp.NotFinite, func() { s.Reset(one, []float64{0, math.NaN()}) }},
		{"NaN in H", qp.NotFinite, func() { s.Reset([]float64{math.NaN(), 0, 0, 1}, []float64{0, 0}) }},
		{"infinite row", qp.NotFinite, func() { s.Reset(one, []float64{0, 0}); s.AtLeast([]float64{math.Inf(1), 0}, 0) }},
		{"too many rows", qp.TooManyRows, func() {
			s.Reset(one, []float64{0, 0})
			for range 3 {
				s.AtLeast([]float64{1, 0}, 1)
			}
		}},
	} {
		c.set()
		if got := s.Solve(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestNoAlloc(t *testing.T) {
	p := random(rand.New(rand.NewPCG(9, 9)), 24, 60, 4)
	s := qp.New(24, 60)
	if n := testing.AllocsPerRun(100, func() { p.solve(s) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkSolve30(b *testing.B) {
	p := random(rand.New(rand.NewPCG(9, 9)), 30, 60, 6)
	s := qp.New(30, 60)
	for b.Loop() {
		p.solve(s)
	}
}

package qp_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/internal/priorities"
	"poise/linalg"
	"poise/qp"
)

// primal poses the problem to a Primal: ½·xᵀ·H·x + g·x is ½·|Lᵀ·x + L⁻¹·g|² and a constant.
func (p *problem) primal(s *qp.Primal) {
	n := p.n
	s.Reset(n)
	L := make([]float64, n*n)
	linalg.CholeskyTo(L, p.H, n, 0)
	for i := range n {
		row := make([]float64, n)
		for k := range n {
			if k >= i {
				row[k] = L[k*n+i]
			}
		}
		b := make([]float64, n) // L⁻¹·g by forward substitution
		copy(b, p.g)
		for r := range i + 1 {
			for k := range r {
				b[r] -= L[r*n+k] * b[k]
			}
			b[r] /= L[r*n+r]
		}
		s.Target(row, -b[i])
	}
	for i, c := range p.c {
		s.Hard(c, p.b[i])
	}
}

func TestPrimalAgreesWithTheDualMethod(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	dual, s := qp.New(15, 50), qp.NewPrimal(15, 15, 50)
	for trial := range 500 {
		n := 1 + rng.IntN(15)
		p := random(rng, n, 2*n+3, 0)
		x0 := corner(p)
		want := append([]float64(nil), solution(t, dual, p)...)
		p.primal(s)
		if status := s.Solve(x0, 1000); status != qp.Optimal {
			t.Fatalf("trial %d: %v after %d steps", trial, status, s.Iterations())
		}
		same(t, trial, s.X(), want, 1e-7)
		if r := p.kkt(s.X(), s.Multipliers()); r > 1e-7 {
			t.Fatalf("trial %d: residual of the conditions %.2g", trial, r)
		}
	}
}

// corner is a point that keeps all rows, and is far from the minimum: that of another objective.
func corner(p *problem) []float64 {
	other := *p
	other.g = make([]float64, p.n)
	for i := range other.g {
		other.g[i] = -3 * p.g[i]
	}
	return solvedPoint(&other)
}

// Stopped after any number of steps, the point keeps the hard rows and is no worse than
// the one before.
func TestPrimalAlwaysHoldsAFeasiblePoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 1))
	s := qp.NewPrimal(10, 10, 50)
	for trial := range 100 {
		p := random(rng, 10, 25, 0)
		x0 := corner(p)
		before := math.Inf(1)
		for most := range 40 {
			p.primal(s)
			status := s.Solve(x0, most)
			if status != qp.Optimal && status != qp.Limit {
				t.Fatalf("trial %d: %v", trial, status)
			}
			for i, c := range p.c {
				if e := dot(c, s.X()) - p.b[i]; e < -1e-8 {
					t.Fatalf("trial %d after %d steps: row %d is broken by %g", trial, most, i, -e)
				}
			}
			value := dot(p.g, s.X())
			for i := range p.n {
				value += s.X()[i] * dot(p.H[i*p.n:(i+1)*p.n], s.X()) / 2
			}
			if value > before+1e-9*(1+math.Abs(before)) {
				t.Fatalf("trial %d after %d steps: %g, before %g", trial, most, value, before)
			}
			before = value
			if status == qp.Optimal {
				break
			}
		}
	}
}

// Soft rows, targets that contradict each other, and fewer targets than unknowns: the optimum
// is that of every set of active rows.
func TestPrimalAgreesWithEverySetOfActiveRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 1))
	s, worst := qp.NewPrimal(4, 10, 20), 0.0
	for trial := range 500 {
		p := priorities.Random(rng, 1+rng.IntN(4), 2, 4, false)
		s.Reset(p.N)
		hard := &p.Levels[0]
		for i := range *hard { // kept at zero, some of them just
			r := &(*hard)[i]
			r.Equal, r.B = false, -max(r.B, 0)
			s.Hard(r.C, r.B)
		}
		for _, r := range p.Levels[1] {
			if r.Equal {
				s.Target(r.C, r.B)
			} else {
				s.Soft(r.C, r.B)
			}
		}
		if status := s.Solve(make([]float64, p.N), 200); status != qp.Optimal {
			t.Fatalf("trial %d: %v", trial, status)
		}
		e, w := p.Values(s.X())
		residual, slack := p.Enumerate()
		off := max(math.Abs(e[1]-residual[1]), math.Abs(w[1]-slack[1]), w[0])
		if worst = max(worst, off); !(off <= 1e-6) {
			t.Errorf("trial %d: residual %g, slack %g, want %g, %g", trial, e[1], w[1], residual[1], slack[1])
		}
	}
	t.Logf("differs by %.1e at most", worst)
}

func TestPrimalNamesItsFailures(t *testing.T) {
	s := qp.NewPrimal(2, 2, 2)
	for _, c := range []struct {
		name string
		want qp.Status
		set  func()
		x    []float64
	}{
		{"a start that breaks a row", qp.Infeasible, func() { s.Hard([]float64{1, 0}, 1) }, []float64{0, 0}},
		{"NaN in a row", qp.NotFinite, func() { s.Hard([]float64{math.NaN(), 0}, 1) }, []float64{0, 0}},
		{"NaN in a target", qp.NotFinite, func() { s.Target([]float64{1, 0}, math.NaN()) }, []float64{0, 0}},
		{"NaN in the start", qp.Infeasible, func() { s.Hard([]float64{1, 0}, -1) }, []float64{math.NaN(), 0}},
		{"too many rows", qp.TooManyRows, func() {
			for range 3 {
				s.Soft([]float64{1, 0}, 1)
			}
		}, []float64{0, 0}},
		{"no steps", qp.Limit, func() { s.Target([]float64{1, 0}, 1) }, []float64{0, 0}},
	} {
		s.Reset(2)
		c.set()
		most := 10
		if c.want == qp.Limit {
			most = 0
		}
		if got := s.Solve(c.x, most); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestNoAllocWarmAndPrimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(34, 1))
	p := random(rng, 24, 60, 0)
	x0, s, dual, active := corner(p), qp.NewPrimal(24, 24, 60), qp.New(24, 60), make([]int, 0, 60)
	p.primal(s)
	if n := testing.AllocsPerRun(20, func() {
		s.Reset(p.n)
		for i, c := range p.c {
			s.Hard(c, p.b[i])
			s.Soft(c, p.b[i]+1)
		}
		s.Target(p.c[0], 5)
		s.Solve(x0, 100)
	}); n != 0 {
		t.Errorf("primal: %g allocations", n)
	}
	if n := testing.AllocsPerRun(20, func() {
		dual.Reset(p.H, p.g)
		for i, c := range p.c {
			dual.AtLeast(c, p.b[i])
			dual.Label(i)
		}
		dual.Start(active)
		dual.Solve()
		active = dual.Active(active[:0])
	}); n != 0 {
		t.Errorf("start: %g allocations", n)
	}
}

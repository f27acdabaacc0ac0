package qp_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/qp"
)

// solveFrom adds the rows in a random order, each with its place in the problem as its
// identity, and starts with the given ones.
func (p *problem) solveFrom(rng *rand.Rand, s *qp.Solver, start []int) qp.Status {
	s.Reset(p.H, p.g)
	for _, i := range rng.Perm(len(p.c)) {
		p.row(s, i)
		s.Label(i)
	}
	s.Start(start)
	return s.Solve()
}

// A problem that resembles the one before is solved in fewer steps from its active rows, which
// are known by identity, not by place.
func TestStartSavesStepsAndGivesTheSameMinimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	s, cold, warm := qp.New(20, 60), 0, 0
	for trial := range 500 {
		n := 2 + rng.IntN(18)
		p := random(rng, n, 3*n, n/4)
		if status := p.solveFrom(rng, s, nil); status != qp.Optimal {
			t.Fatal(status)
		}
		active := s.Active(nil)
		for i := range p.g {
			p.g[i] += 0.01 * rng.NormFloat64()
		}
		if status := p.solveFrom(rng, s, nil); status != qp.Optimal {
			t.Fatal(status)
		}
		cold += s.Iterations()
		want := append([]float64(nil), s.X()...)
		if status := p.solveFrom(rng, s, active); status != qp.Optimal {
			t.Fatalf("trial %d: %v", trial, status)
		}
		warm += s.Iterations()
		same(t, trial, s.X(), want, 1e-8)
	}
	if t.Logf("%d steps, from active rows %d", cold, warm); 4*warm > cold {
		t.Error("Start saves less than three quarters of the steps")
	}
}

// Rows that have nothing to do with the minimum cost steps, and never the answer.
func TestStartWithAnyRowsGivesTheSameAnswer(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 1))
	s, infeasible := qp.New(8, 40), 0
	for trial := range 2000 {
		n := 1 + rng.IntN(8)
		p := random(rng, n, 2*n+3, rng.IntN(n/2+1))
		for i := range p.b {
			switch rng.IntN(12) {
			case 0:
				p.c[i], p.b[i] = p.c[0], p.b[0]
			case 1:
				p.b[i] += rng.Float64()
			}
		}
		cold := p.solveFrom(rng, s, nil)
		want := append([]float64(nil), s.X()...)
		var start []int
		for range rng.IntN(2 * n) {
			start = append(start, rng.IntN(len(p.c)+3)-1)
		}
		warm := p.solveFrom(rng, s, start)
		if warm != cold {
			t.Fatalf("trial %d: %v, and from rows %v: %v", trial, cold, start, warm)
		}
		if cold != qp.Optimal {
			infeasible++
			continue
		}
		same(t, trial, s.X(), want, 1e-7)
	}
	if infeasible < 50 {
		t.Errorf("only %d infeasible problems", infeasible)
	}
}

// The nearest point is the minimum with H the identity.
func TestNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 1))
	s := qp.New(10, 30)
	for trial := range 300 {
		p := random(rng, 10, 25, 2)
		clear(p.H)
		for i := range p.n {
			p.H[i*p.n+i] = 1
		}
		want := append([]float64(nil), solution(t, s, p)...)
		x0 := make([]float64, p.n)
		for i, g := range p.g {
			x0[i] = -g
		}
		s.ResetNearest(x0)
		for i := range p.c {
			p.row(s, i)
		}
		if status := s.Solve(); status != qp.Optimal {
			t.Fatal(status)
		}
		same(t, trial, s.X(), want, 1e-9)
	}
}

func TestWithinBoundsTheSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 1))
	s := qp.New(20, 60)
	p := random(rng, 20, 60, 4)
	p.solve(s)
	all := s.Iterations()
	for most := range all {
		p.pose(s)
		s.Within(most)
		if status := s.Solve(); status != qp.Limit || s.Iterations() > most {
			t.Errorf("within %d of %d: %v after %d", most, all, status, s.Iterations())
		}
	}
}

// hard makes problems of the kinds that spoil solvers. feasible: 1 if a point keeps all rows
// with room to spare, −1 if none does by far, 0 if it is too close to tell.
func hard(rng *rand.Rand) (p *problem, feasible int, kind string) {
	n := 2 + rng.IntN(10)
	p = random(rng, n, n+rng.IntN(2*n), rng.IntN(n/2+1))
	feasible = 1
	switch kind = []string{"degenerate", "redundant", "nearly infeasible", "scaled", "flat"}[rng.IntN(5)]; kind {
	case "degenerate": // many rows through one point
		x := solvedPoint(p)
		for range n {
			c := make([]float64, n)
			for i := range c {
				c[i] = rng.NormFloat64()
			}
			p.add(c, dot(c, x), false)
		}
	case "redundant": // rows that others imply
		for range n {
			a, b := rng.IntN(len(p.c)), rng.IntN(len(p.c))
			c := make([]float64, n)
			for i := range c {
				c[i] = p.c[a][i] + p.c[b][i]
			}
			p.add(c, p.b[a]+p.b[b], false)
		}
	case "nearly infeasible": // opposite rows with a gap of either sign
		gap := math.Pow(10, -12*rng.Float64())
		if rng.IntN(2) == 0 {
			gap = -gap
		}
		x := solvedPoint(p)
		c, back := make([]float64, n), make([]float64, n)
		for i := range c {
			c[i] = rng.NormFloat64()
			back[i] = -c[i]
		}
		p.add(c, dot(c, x), false)
		p.add(back, -dot(c, x)-gap, false)
		switch {
		case math.Abs(gap) < 1e-6:
			feasible = 0
		case gap < 0:
			feasible = -1
		}
	case "scaled": // unknowns and rows over eight decades
		for i := range p.n {
			k := math.Pow(10, 4*rng.Float64()-2)
			for j := range p.n {
				p.H[i*n+j] *= k
				p.H[j*n+i] *= k
			}
			p.g[i] *= k
			for _, c := range p.c {
				c[i] *= k
			}
		}
		for i, c := range p.c {
			k := math.Pow(10, 8*rng.Float64()-4)
			for j := range c {
				c[j] *= k
			}
			p.b[i] *= k
		}
	case "flat": // hardly curved along some directions
		k := math.Pow(10, -4*rng.Float64())
		for i := range n / 2 {
			for j := range n {
				p.H[i*n+j] *= k
				p.H[j*n+i] *= k
			}
		}
	}
	return p, feasible, kind
}

// solvedPoint is a point that keeps all rows: the minimum.
func solvedPoint(p *problem) []float64 {
	s := qp.New(p.n, len(p.c))
	p.solve(s)
	return append([]float64(nil), s.X()...)
}

// relative is kkt beside the sizes of the terms in each condition.
func (p *problem) relative(x, u []float64) (worst float64) {
	length := math.Sqrt(dot(x, x))
	for i := range p.n {
		sum, size := p.g[i], math.Abs(p.g[i])
		for j := range p.n {
			sum += p.H[i*p.n+j] * x[j]
			size = max(size, math.Abs(p.H[i*p.n+j]*x[j]))
		}
		for k, c := range p.c {
			sum -= u[k] * c[i]
			size = max(size, math.Abs(u[k]*c[i]))
		}
		if size > 0 {
			worst = max(worst, math.Abs(sum)/size)
		}
	}
	for k, c := range p.c {
		size := math.Sqrt(dot(c, c))*length + math.Abs(p.b[k])
		e := (dot(c, x) - p.b[k]) / size
		if !p.equal[k] {
			if u[k] < 0 {
				return math.Inf(1)
			}
			if u[k] == 0 {
				e = min(e, 0)
			}
		}
		worst = max(worst, math.Abs(e))
	}
	return worst
}

// An answer that is called right is right; one that is not has another name.
func TestHardProblemsAreNeverAnsweredWrongly(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 1))
	s := qp.New(12, 80)
	worst, optimal, all := map[string]float64{}, map[string]int{}, map[string]int{}
	for trial := range 4000 {
		p, feasible, kind := hard(rng)
		status := p.solve(s)
		all[kind]++
		switch {
		case status == qp.Optimal && feasible < 0:
			t.Errorf("trial %d, %s: optimal, and no point keeps the rows", trial, kind)
		case status == qp.Infeasible && feasible > 0:
			t.Errorf("trial %d, %s: infeasible, and there are points that keep the rows", trial, kind)
		case status == qp.Optimal:
			optimal[kind]++
			r := p.relative(s.X(), s.Multipliers())
			if worst[kind] = max(worst[kind], r); r > 1e-6 {
				t.Errorf("trial %d, %s: residual of the conditions %.2g", trial, kind, r)
			}
		}
	}
	for kind, count := range all {
		t.Logf("%-18s %4d problems, %4d optimal, residual of the conditions %.1e at most", kind, count, optimal[kind], worst[kind])
		if optimal[kind] < count/3 {
			t.Errorf("%s: only %d of %d are solved", kind, optimal[kind], count)
		}
	}
}

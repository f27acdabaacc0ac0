package hierarchy_test

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"poise/hierarchy"
	"poise/internal/priorities"
	"poise/qp"
)

func set(s *hierarchy.Solver, p *priorities.Problem) {
	s.Reset(p.N)
	id := 0
	for _, level := range p.Levels {
		s.Begin()
		for _, r := range level {
			copy(s.Row(), r.C)
			if r.Equal {
				s.Equal(r.B)
			} else {
				s.AtLeast(r.B, id)
			}
			id++
		}
	}
}

// solve asks for the answer from nothing.
func solve(t testing.TB, s *hierarchy.Solver, p *priorities.Problem) []float64 {
	t.Helper()
	set(s, p)
	s.Forget()
	if !s.Solve(nil) {
		t.Fatal("the problem is refused")
	}
	return s.X()
}

// trials judges random problems by the conditions of optimality.
func trials(t *testing.T, seed uint64, count, n, rows int, scaled bool) {
	rng := rand.New(rand.NewPCG(seed, 1))
	s, worst, compromises, failed := hierarchy.New(n, 8*rows, 8), 0.0, 0, 0
	for trial := range count {
		p := priorities.Random(rng, 1+rng.IntN(n), 1+rng.IntN(6), rows, scaled)
		x := solve(t, s, p)
		residual, slack := p.Values(x)
		whole := true
		for k, l := range s.Levels() {
			if math.Abs(residual[k]-l.Residual) > 1e-9*(1+residual[k]) || math.Abs(slack[k]-l.Slack) > 1e-9*(1+slack[k]) {
				t.Errorf("trial %d, level %d: residual %g, slack %g, said %g, %g", trial, k, residual[k], slack[k], l.Residual, l.Slack)
			}
			if l.Slack > 1e-6 || l.Residual > 1e-6 {
				compromises++
			}
			whole = whole && l.Status == qp.Optimal
		}
		if !whole { // said by name
			failed++
			continue
		}
		by, level := p.Worst(x)
		if worst = max(worst, by); by > 1e-6 {
			t.Errorf("trial %d, level %d of %d: %.2g of the gradient is left", trial, level, len(p.Levels), by)
		}
	}
	t.Logf("%.2g of a gradient left at most; of %d problems %d failed by name; %d levels could not be served whole", worst, count, failed, compromises)
	if failed > count/1000 || compromises < count {
		t.Error("too many failed, or too few were hard")
	}
}

func TestEveryLevelIsOptimal(t *testing.T) {
	trials(t, 1, 3000, 12, 8, false)
	trials(t, 2, 1000, 12, 8, true)
	trials(t, 3, 30, 40, 20, false)
}

func TestSoakOfEveryLevel(t *testing.T) {
	if os.Getenv("POISE_SOAK") == "" {
		t.Skip("absent: POISE_SOAK=1, a part of make soak")
	}
	trials(t, 4, 2_000_000, 12, 8, false)
	trials(t, 5, 200_000, 12, 8, true)
	trials(t, 6, 20_000, 40, 20, false)
}

func TestSmallProblemsAgreeWithEverySetOfActiveRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	s, worst := hierarchy.New(4, 20, 4), 0.0
	for trial := range 400 {
		p := priorities.Random(rng, 1+rng.IntN(4), 1+rng.IntN(3), 3, false)
		solve(t, s, p)
		residual, slack := p.Enumerate()
		for k, l := range s.Levels() {
			off := max(math.Abs(l.Residual-residual[k]), math.Abs(l.Slack-slack[k]))
			if worst = max(worst, off); !(off <= 1e-6) {
				t.Errorf("trial %d, level %d: residual %g, slack %g, want %g, %g", trial, k, l.Residual, l.Slack, residual[k], slack[k])
			}
		}
	}
	t.Logf("residuals and slacks differ by %.1e at most", worst)
}

// What a lower level asks for changes nothing above it.
func TestLowerTasksDoNotChangeHigherOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	s, worst := hierarchy.New(12, 80, 8), 0.0
	for trial := range 1000 {
		p := priorities.Random(rng, 2+rng.IntN(11), 2+rng.IntN(5), 8, false)
		above := 1 + rng.IntN(len(p.Levels)-1)
		x := slices.Clone(solve(t, s, p))
		for _, level := range p.Levels[above:] {
			for i := range level {
				level[i].B += rng.NormFloat64()
				level[i].C = slices.Clone(level[i].C)
				level[i].C[rng.IntN(p.N)] += rng.NormFloat64()
			}
		}
		y := solve(t, s, p)
		for k, level := range p.Levels[:above] {
			for i, r := range level {
				before, after := -r.B, -r.B
				for j, c := range r.C {
					before, after = before+c*x[j], after+c*y[j]
				}
				if !r.Equal {
					before, after = min(before, 0), min(after, 0)
				}
				if worst = max(worst, math.Abs(before-after)); math.Abs(before-after) > 1e-8 {
					t.Errorf("trial %d, level %d, row %d: %g, then %g", trial, k, i, before, after)
				}
			}
		}
	}
	t.Logf("changes by %.1e at most", worst)
}

// What a level has when it is served is what it has in the end: the tolerance that the levels
// below may use of it, of all its rows together, is 1e-9.
func TestLevelsKeepWhatTheyHave(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 1))
	s, worst := hierarchy.New(12, 80, 8), 0.0
	for trial := range 1000 {
		p := priorities.Random(rng, 2+rng.IntN(11), 2+rng.IntN(5), 8, false)
		residual, slack := p.Values(slices.Clone(solve(t, s, p)))
		for k := range p.Levels[1:] {
			alone := priorities.Problem{N: p.N, Levels: p.Levels[:k+1]}
			r, w := alone.Values(solve(t, s, &alone))
			off := max(math.Abs(r[k]-residual[k])/(1+residual[k]), math.Abs(w[k]-slack[k])/(1+slack[k]))
			if worst = max(worst, off); off > 1e-9 {
				t.Errorf("trial %d, level %d: residual %g, slack %g, with the levels below %g, %g", trial, k, r[k], w[k], residual[k], slack[k])
			}
		}
	}
	t.Logf("levels change by %.1e at most by those below", worst)
}

// Stopped at any step, the levels that were finished have their optimum, and none above a
// level is worse than before.
func TestStoppedEarlyTheLevelsAboveKeepTheirAnswer(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	s, stopped := hierarchy.New(12, 80, 8), 0
	for trial := range 300 {
		p := priorities.Random(rng, 2+rng.IntN(11), 2+rng.IntN(5), 8, false)
		solve(t, s, p)
		residual, slack := p.Values(s.X())
		all := s.Iterations()
		for _, most := range []int{0, 1, 2, all / 2, max(all-1, 0)} {
			set(s, p)
			s.Forget()
			s.Within(most)
			if !s.Solve(nil) {
				t.Fatal("refused")
			}
			if s.Iterations() > most {
				t.Errorf("trial %d: %d iterations, want %d at most", trial, s.Iterations(), most)
			}
			for k, l := range s.Levels() {
				if l.Status != qp.Optimal {
					stopped++
					break
				}
				if math.Abs(l.Residual-residual[k]) > 1e-6 || math.Abs(l.Slack-slack[k]) > 1e-6 {
					t.Errorf("trial %d after %d of %d iterations, level %d: residual %g, slack %g, want %g, %g", trial, most, all, k, l.Residual, l.Slack, residual[k], slack[k])
				}
			}
		}
	}
	if stopped < 100 {
		t.Errorf("only %d were stopped", stopped)
	}
}

func TestTheSecondTimeTakesFewerIterations(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 1))
	s, cold, warm := hierarchy.New(12, 80, 8), 0, 0
	for trial := range 300 {
		p := priorities.Random(rng, 2+rng.IntN(11), 2+rng.IntN(5), 8, false)
		residual, slack := p.Values(solve(t, s, p))
		cold += s.Iterations()
		set(s, p)
		s.Solve(nil)
		warm += s.Iterations()
		for k, l := range s.Levels() {
			if math.Abs(l.Residual-residual[k]) > 1e-8 || math.Abs(l.Slack-slack[k]) > 1e-8 {
				t.Errorf("trial %d, level %d: residual %g, slack %g, want %g, %g", trial, k, l.Residual, l.Slack, residual[k], slack[k])
			}
		}
	}
	if t.Logf("%d iterations, then %d", cold, warm); warm >= cold {
		t.Error("knowing the active rows saves nothing")
	}
}

func TestWhatIsNotFiniteIsRefused(t *testing.T) {
	s := hierarchy.New(2, 4, 2)
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		for _, set := range []func(){
			func() { s.Row()[0] = bad; s.Equal(1) },
			func() { s.Row()[0] = 1; s.Equal(bad) },
			func() { s.Row()[0] = 1; s.AtMost(bad, 0) },
		} {
			s.Reset(2)
			s.Begin()
			set()
			if s.Solve([]float64{3, 4}) || s.X()[0] != 3 || s.Levels()[0].Status != qp.NotFinite {
				t.Errorf("solved: %v, %v", s.X(), s.Levels())
			}
		}
	}
}

func TestNoAlloc(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	s := hierarchy.New(12, 80, 8)
	for range 20 {
		p := priorities.Random(rng, 12, 5, 8, false)
		if n := testing.AllocsPerRun(5, func() { set(s, p); s.Solve(nil) }); n != 0 {
			t.Fatalf("%g allocations", n)
		}
	}
}

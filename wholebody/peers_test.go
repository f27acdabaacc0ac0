package wholebody_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"poise/floatingbase"
	"poise/internal/feet"
	"poise/internal/priorities"
	"poise/internal/randbot"
	"poise/qp"
	"poise/robot"
	"poise/spatial"
	"poise/wholebody"
)

// peerPool is how many problems of a kind are timed in turn.
const peerPool = 64

// program is a quadratic program as solvers take it: equations first.
type program struct {
	n         int
	H, g      []float64
	c         [][]float64
	b         []float64
	equations int
}

func (p *program) solve(s *qp.Solver) qp.Status {
	s.Reset(p.H, p.g)
	for i, c := range p.c {
		if i < p.equations {
			s.Equal(c, p.b[i])
		} else {
			s.AtLeast(c, p.b[i])
		}
	}
	return s.Solve()
}

// dense30 makes programs of 30 unknowns with 6 equations and 54 inequalities that a known
// point keeps; about a dozen hold the minimum.
func dense30() (all []program) {
	rng := rand.New(rand.NewPCG(30, 1))
	const n = 30
	vector := func() []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	for range peerPool {
		p := program{n: n, H: make([]float64, n*n), g: vector(), equations: 6}
		for range n + 5 {
			v := vector()
			for i := range n {
				for j := range n {
					p.H[i*n+j] += v[i] * v[j]
				}
			}
		}
		inside := vector()
		for i := range 60 {
			c, b := vector(), 0.0
			for j, x := range inside {
				b += c[j] * x
			}
			if i >= p.equations {
				b -= rng.Float64()
			}
			p.c, p.b = append(p.c, c), append(p.b, b)
		}
		all = append(all, p)
	}
	return all
}

// fourFeet are states of go2 on four feet about a crouch, with the base asked for
// accelerations of a size.
func fourFeet(t testing.TB, size float64) (*subject, []state) {
	s := shared(t, "go2")
	rng := randbot.New(12)
	var all []state
	for range peerPool {
		st := state{q: make([]float64, s.m.NumQ()), v: make([]float64, s.m.NumV())}
		st.q[2], st.q[6] = 0.3, 1
		for _, j := range s.m.Joints() {
			if j.Kind.NumV() != 1 {
				continue
			}
			st.q[j.Q] = [...]float64{0, 0.8, -1.5}[(j.V-6)%3] + 0.1*rng.NormFloat64()
			st.v[j.V] = 0.1 * rng.NormFloat64()
		}
		r := &st.r
		r.Friction, r.HasLinear, r.HasAngular = 0.6, true, true
		r.Base = spatial.Twist{Linear: vector(rng, size), Angular: vector(rng, size)}
		for c := range s.m.Chains() {
			r.Supports = append(r.Supports, floatingbase.Support{Chain: robot.ChainID(c), Coefficient: 1})
		}
		r.MaxTorque = make([]float64, s.m.NumV()-6)
		for i := range r.MaxTorque {
			r.MaxTorque[i] = 23.7
		}
		all = append(all, st)
	}
	return s, all
}

// stacks are the pony's states that are timed: those whose levels of safety can be kept, as the
// cascade of the peer needs it.
func stacks(t testing.TB, order wholebody.Order) (*subject, []state) {
	s := pony(t)
	rng := randbot.New(13)
	var all []state
	for len(all) < peerPool/2 {
		st := s.near(t, rng)
		st.r.Order = order
		ans := s.solve(t, &st)
		whole := ans.Feasible
		for _, l := range ans.Levels {
			whole = whole && l.Status == qp.Optimal
		}
		if whole {
			all = append(all, st)
		}
	}
	return s, all
}

type problemFile struct{ bytes.Buffer }

func (f *problemFile) numbers(x ...float64) { binary.Write(&f.Buffer, binary.LittleEndian, x) }

func (f *problemFile) head(name string, kind, count int) {
	var text [32]byte
	copy(text[:], name)
	f.Write(text[:])
	f.numbers(float64(kind), float64(count))
}

func (f *problemFile) programs(t *testing.T, name string, all []program) {
	f.head(name, 0, len(all))
	s := qp.New(64, 500)
	for _, p := range all {
		f.numbers(float64(p.n), float64(p.equations), float64(len(p.c)-p.equations))
		f.numbers(p.H...)
		f.numbers(p.g...)
		for _, part := range [2][2]int{{0, p.equations}, {p.equations, len(p.c)}} {
			for _, c := range p.c[part[0]:part[1]] {
				f.numbers(c...)
			}
			for _, b := range p.b[part[0]:part[1]] {
				f.numbers(-b)
			}
		}
		if status := p.solve(s); status != qp.Optimal {
			t.Fatalf("%s: %v", name, status)
		}
		f.numbers(s.X()...)
	}
}

func (f *problemFile) stacks(t *testing.T, name string, s *subject, all []state) {
	f.head(name, 1, len(all))
	for i := range all {
		p := s.reference(&all[i])
		ans := s.solve(t, &all[i])
		f.numbers(float64(p.N), float64(len(p.Levels)))
		for k, level := range p.Levels {
			var parts [2][]priorities.Row
			for _, r := range level {
				part := 1
				if r.Equal {
					part = 0
				}
				parts[part] = append(parts[part], r)
			}
			f.numbers(float64(len(parts[0])), float64(len(parts[1])))
			for _, rows := range parts {
				for _, r := range rows {
					f.numbers(r.C...)
				}
				for _, r := range rows {
					f.numbers(r.B)
				}
			}
			optimal := 0.0
			if ans.Levels[k].Status == qp.Optimal {
				optimal = 1
			}
			f.numbers(ans.Levels[k].Residual, ans.Levels[k].Slack, optimal)
		}
	}
}

// TestWriteProblemsForTheOracle writes the levels of random robots, states, contacts and requests
// for tools/oracle/priorities.py.
func TestWriteProblemsForTheOracle(t *testing.T) {
	path := os.Getenv("POISE_ORACLE_PROBLEMS")
	if path == "" {
		t.Skip("absent: POISE_ORACLE_PROBLEMS, set by make oracle")
	}
	const robots = 2000
	var f problemFile
	f.numbers(robots)
	for seed := range uint64(robots) {
		rng := randbot.New(100_000 + seed)
		s := randomRobot(t, rng)
		f.stacks(t, fmt.Sprint("random", seed), s, []state{s.random(rng)})
	}
	if err := os.WriteFile(path, f.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestWriteProblemsForPeers writes what BenchmarkPeers solves for tools/peers/eiquadprog.sh.
func TestWriteProblemsForPeers(t *testing.T) {
	path := os.Getenv("POISE_PEERS_PROBLEMS")
	if path == "" {
		t.Skip("absent: POISE_PEERS_PROBLEMS, set by tools/peers/eiquadprog.sh")
	}
	var f problemFile
	f.numbers(5)
	f.programs(t, "dense30", dense30())
	for _, c := range feetCases {
		s, all := fourFeet(t, c.size)
		f.programs(t, c.name, s.weighted(all))
	}
	for _, order := range []wholebody.Order{wholebody.Seed, wholebody.Default} {
		s, all := stacks(t, order)
		f.stacks(t, "pony-"+order.String(), s, all)
	}
	if err := os.WriteFile(path, f.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

var feetCases = []struct {
	name string
	size float64
}{{"feet-easy", 1}, {"feet-hard", 8}}

// weighted writes the weighted programs of states down as dense ones: all accelerations and
// forces, the equations of motion of the base and of the contacts, friction and torques.
func (s *subject) weighted(all []state) (programs []program) {
	for i := range all {
		r := s.define(&all[i])
		p := program{n: r.n, H: make([]float64, r.n*r.n), g: make([]float64, r.n)}
		p.square(r.base(0, 1, 2, 3, 4, 5), 1)
		p.square(r.regularise(), 1e-2)
		p.add(r.dynamics())
		p.add(r.contacts())
		p.equations = len(p.c)
		p.add(r.friction())
		p.add(r.limits())
		programs = append(programs, p)
	}
	return programs
}

// decoupled are the same programs as package feet takes them: matrices, which then are
// assembled as a part of the solution.
func (s *subject) decoupled(all []state) (states []feet.State) {
	for i := range all {
		r := s.define(&all[i])
		nv := r.nv
		st := feet.State{M: r.M, H: r.h, Friction: all[i].r.Friction / math.Sqrt2, MaxTorque: all[i].r.MaxTorque}
		for k, row := range r.base(0, 1, 2, 3, 4, 5) {
			copy(st.Base[6*k:6*k+6], row.C)
			st.Want[k] = row.B
		}
		rates := r.contacts()
		for k, f := range r.feet {
			leg := feet.Leg{J: f.J[:3*nv]}
			n := 0
			for v := 6; v < nv; v++ {
				if (f.J[v] != 0 || f.J[nv+v] != 0 || f.J[2*nv+v] != 0) && n < 3 {
					leg.Joints[n] = v
					n++
				}
			}
			for c := range 3 {
				leg.Rate[c] = -rates[3*k+c].B
			}
			st.Legs = append(st.Legs, leg)
		}
		states = append(states, st)
	}
	return states
}

// The structured program has the minimum of the dense one.
func TestFeetThatDecouple(t *testing.T) {
	for _, c := range feetCases {
		s, all := fourFeet(t, c.size)
		dense, p, worst, active := qp.New(30, 62), feet.New(s.m.NumV(), 4), 0.0, 0
		programs, states := s.weighted(all), s.decoupled(all)
		for i := range all {
			if status := programs[i].solve(dense); status != qp.Optimal {
				t.Fatal(status)
			}
			if status := p.Solve(&states[i]); status != feet.Optimal {
				t.Fatal(status)
			}
			x := append(append([]float64(nil), p.Acceleration()...), p.Force()...)
			for k, want := range dense.X() {
				worst = max(worst, math.Abs(x[k]-want)/(1+math.Abs(want)))
			}
			// its torques are those of its motion and forces: M·a + h = τ + Σ Jᵀ·f
			nv, st := s.m.NumV(), &states[i]
			for v := 6; v < nv; v++ {
				want := st.H[v]
				for k, a := range p.Acceleration() {
					want += st.M[v*nv+k] * a
				}
				for k := range st.Legs {
					for c, f := range p.Force()[3*k : 3*k+3] {
						want -= st.Legs[k].J[c*nv+v] * f
					}
				}
				worst = max(worst, math.Abs(p.Torque()[v-6]-want)/(1+math.Abs(want)))
			}
			if p.Iterations() > 0 {
				active++
			}
		}
		t.Logf("%s: %d programs differ by %.1e at most, %d with active rows", c.name, len(all), worst, active)
		if worst > 1e-8 {
			t.Errorf("%s: the structured program differs by %.2g from the dense one", c.name, worst)
		}
		if n := testing.AllocsPerRun(20, func() { p.Solve(&states[0]) }); n != 0 {
			t.Errorf("%g allocations", n)
		}
	}
}

// What is no program of feet that decouple is named.
func TestFeetThatDoNotDecouple(t *testing.T) {
	s, all := fourFeet(t, 1)
	p := feet.New(s.m.NumV(), 4)
	for name, c := range map[string]struct {
		want   feet.Status
		change func(*feet.State)
	}{
		"shared joints": {feet.NotDecoupled, func(st *feet.State) { st.Legs[1].Joints = st.Legs[0].Joints }},
		"a base joint":  {feet.NotDecoupled, func(st *feet.State) { st.Legs[1].Joints[0] = 2 }},
		"a joint of another leg": {feet.NotDecoupled, func(st *feet.State) {
			st.Legs[1].J = slices.Clone(st.Legs[1].J)
			st.Legs[1].J[st.Legs[0].Joints[0]] = 0.1
		}},
		"a straight leg": {feet.NotDecoupled, func(st *feet.State) {
			J := slices.Clone(st.Legs[1].J)
			st.Legs[1].J = J
			for c := range 3 {
				J[c*s.m.NumV()+st.Legs[1].Joints[1]] = J[c*s.m.NumV()+st.Legs[1].Joints[2]]
			}
		}},
		"no torque": {feet.Infeasible, func(st *feet.State) { st.MaxTorque = make([]float64, s.m.NumV()-6) }},
		"NaN":       {feet.Failed, func(st *feet.State) { st.Want[0] = math.NaN() }},
	} {
		st := s.decoupled(all[:1])[0]
		c.change(&st)
		if got := p.Solve(&st); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func (p *program) square(rows []priorities.Row, weight float64) {
	for _, r := range rows {
		for i, x := range r.C {
			p.g[i] -= weight * x * r.B
			for j, y := range r.C {
				p.H[i*p.n+j] += weight * x * y
			}
		}
	}
}

func (p *program) add(rows []priorities.Row) {
	for _, r := range rows {
		p.c, p.b = append(p.c, r.C), append(p.b, r.B)
	}
}

// BenchmarkPeers solves what TestWriteProblemsForPeers writes, from scratch each time; stacks
// with their assembly from the state. Each problem is timed alone, again and again, and the
// figure is the mean over the problems of the smallest time of each, as the peer's is.
func BenchmarkPeers(b *testing.B) {
	for _, set := range []struct {
		name string
		all  func() []program
	}{
		{"dense30", dense30},
		{"feet-easy", func() []program { s, all := fourFeet(b, feetCases[0].size); return s.weighted(all) }},
		{"feet-hard", func() []program { s, all := fourFeet(b, feetCases[1].size); return s.weighted(all) }},
	} {
		b.Run("qp/"+set.name, func(b *testing.B) {
			all, s := set.all(), qp.New(30, 62)
			least(b, len(all), func(i int) { all[i].solve(s) })
		})
	}
	for _, c := range feetCases {
		s, all := fourFeet(b, c.size)
		b.Run("structured/"+c.name, func(b *testing.B) {
			states, p := s.decoupled(all), feet.New(s.m.NumV(), 4)
			least(b, len(all), func(i int) {
				if status := p.Solve(&states[i]); status != feet.Optimal {
					b.Fatal(status)
				}
			})
		})
	}
	for _, order := range []wholebody.Order{wholebody.Seed, wholebody.Default} {
		s, all := stacks(b, order)
		b.Run("stack/pony-"+order.String(), func(b *testing.B) {
			var ans wholebody.Answer
			least(b, len(all), func(i int) {
				st := &all[i]
				s.s.Forget()
				if err := s.s.Solve(&ans, st.q, st.v, &st.r); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}

// least reports the mean over problems of the smallest time of each, ns/step.
func least(b *testing.B, count int, solve func(i int)) {
	best := make([]time.Duration, count)
	for b.Loop() {
		for i := range count {
			for range 20 {
				from := time.Now()
				solve(i)
				if t := time.Since(from); best[i] == 0 || t < best[i] {
					best[i] = t
				}
			}
		}
	}
	sum := time.Duration(0)
	for _, t := range best {
		sum += t
	}
	b.ReportMetric(float64(sum.Nanoseconds())/float64(count), "ns/step")
}

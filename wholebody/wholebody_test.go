package wholebody_test

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"poise/dynamics"
	"poise/internal/legged"
	"poise/internal/randbot"
	"poise/qp"
	"poise/spatial"
	"poise/wholebody"
)

// tally of what the judge saw.
type tally struct {
	states, broken, missed, failed int
	loose                          int // more than 1e-6 of a gradient is left
	residual, gradient             float64
}

// judge holds an answer against the levels as they are defined: residuals and slacks are those
// of the answer's own numbers, and no level could be served better.
func (s *subject) judge(t *testing.T, name string, st *state, y *tally) {
	t.Helper()
	ans := s.solve(t, st)
	p := s.reference(st)
	x := s.unknowns(st, ans)
	residual, slack := p.Values(x)
	y.states++
	if len(residual) != len(ans.Levels) {
		t.Fatalf("%s: %d levels, want %d", name, len(ans.Levels), len(residual))
	}
	whole := true
	for k, l := range ans.Levels {
		off := max(math.Abs(l.Residual-residual[k])/(1+residual[k]), math.Abs(l.Slack-slack[k])/(1+slack[k]))
		if y.residual = max(y.residual, off); !(off <= 1e-6) {
			t.Errorf("%s, %s order, level %s: residual %g, slack %g, by definition %g, %g", name, st.r.Order, l.Name, l.Residual, l.Slack, residual[k], slack[k])
		}
		if l.Slack > 1e-6 {
			y.broken++
		}
		if l.Residual > 1e-6 && l.Name != "regularisation" {
			y.missed++
		}
		whole = whole && l.Status == qp.Optimal
	}
	if !whole {
		y.failed++
		return
	}
	by, level := p.Worst(x)
	if y.gradient = max(y.gradient, by); by > 1e-6 {
		y.loose++
		t.Logf("%s, %s order, level %s: %.2g of the gradient is left", name, st.r.Order, ans.Levels[level].Name, by)
	}
}

func (y *tally) report(t *testing.T) {
	t.Helper()
	t.Logf("%d states: %d levels broken, %d missed, %d answers failed by name; residuals off by %.1e, %.1e of a gradient left at most, more than 1e-6 in %d", y.states, y.broken, y.missed, y.failed, y.residual, y.gradient, y.loose)
	if y.loose*1000 > y.states || y.gradient > 1e-5 {
		t.Errorf("%d states with more than 1e-6 of a gradient left", y.loose)
	}
	if y.failed*500 > y.states || y.missed < y.states/4 || y.broken < y.states/10 {
		t.Error("too many failed, or too few were hard")
	}
}

func TestEveryLevelIsOptimal(t *testing.T) {
	var y tally
	robots := 60
	if testing.Short() {
		robots = 15
	}
	for seed := range uint64(robots) {
		rng := randbot.New(seed)
		s := randomRobot(t, rng)
		for range 5 {
			st := s.random(rng)
			s.judge(t, "random", &st, &y)
		}
	}
	for name, s := range map[string]*subject{"pony": pony(t), "go2": shared(t, "go2"), "anymal_c": shared(t, "anymal_c"), "g1": shared(t, "g1"),
		"g1 on corners": newSubject(t, legged.Cornered(t, "g1"))} {
		rng := randbot.New(1)
		for range 10 {
			st := s.random(rng)
			s.judge(t, name, &st, &y)
		}
	}
	y.report(t)
}

// soakRobots is how many robots are made, ten states each.
const soakRobots = 5000

func TestSoakOfRandomRobots(t *testing.T) {
	if os.Getenv("POISE_SOAK") == "" {
		t.Skip("absent: POISE_SOAK=1, a part of make soak")
	}
	var y tally
	for seed := range uint64(soakRobots) {
		rng := randbot.New(1000 + seed)
		s := randomRobot(t, rng)
		for range 10 {
			st := s.random(rng)
			s.judge(t, "random", &st, &y)
		}
	}
	y.report(t)
}

// near is the pony about its stand pose, with some of its hooves on the ground and requests that
// it may not be able to serve.
func (s *subject) near(t testing.TB, rng *rand.Rand) state {
	st := s.standing(t)
	for i := 7; i < len(st.q); i++ {
		st.q[i] += 0.1 * rng.NormFloat64()
	}
	for i := range st.v {
		st.v[i] = 0.3 * rng.NormFloat64()
	}
	st.r.Order = wholebody.Order(rng.IntN(2))
	st.r.Base = spatial.Twist{Linear: vector(rng, 2), Angular: vector(rng, 5)}
	st.r.Friction = 0.3 + 0.5*rng.Float64()
	if k := rng.IntN(5); k < 4 {
		st.r.Limbs = []wholebody.Limb{{Chain: st.r.Supports[k].Chain, Linear: vector(rng, 3)}}
		st.r.Supports = slices.Delete(st.r.Supports, k, k+1)
	}
	return st
}

// costly is a state that took many iterations.
type costly struct {
	st         state
	iterations int
}

// The work is bounded, and how much it is: printed, with the time of the states that took most,
// the smallest of several runs, beside that of a usual one.
func TestSoakOfThePonysIterations(t *testing.T) {
	count := 300
	if testing.Short() {
		count = 50
	}
	if os.Getenv("POISE_SOAK") != "" {
		count = 1_000_000
	}
	s, rng, all, failed := pony(t), randbot.New(8), []int{}, 0
	var worst []costly
	for range count {
		st := s.near(t, rng)
		ans := s.solve(t, &st)
		all = append(all, ans.Iterations)
		if len(worst) < 5 || ans.Iterations > worst[len(worst)-1].iterations {
			worst = append(worst, costly{st, ans.Iterations})
			slices.SortFunc(worst, func(a, b costly) int { return b.iterations - a.iterations })
			worst = worst[:min(len(worst), 5)]
		}
		for _, l := range ans.Levels {
			if l.Status != qp.Optimal {
				failed++
				break
			}
		}
	}
	slices.Sort(all)
	t.Logf("%d states: %d iterations in half of them, %d in 99.9 %%, %d at most; %d not optimal", count, all[count/2], all[count*999/1000], all[count-1], failed)
	if all[count-1] > 2000 || failed*500 > count {
		t.Errorf("%d iterations, %d of %d states are not optimal", all[count-1], failed, count)
	}
	longest := time.Duration(0)
	for i := range worst {
		longest = max(longest, s.smallest(t, &worst[i].st))
	}
	usual := s.standing(t)
	t.Logf("the %d that took most iterations take at most %v, standing %v", len(worst), longest, s.smallest(t, &usual))
}

// smallest is the time of a solution without memory of the one before, the smallest of 5.
func (s *subject) smallest(t testing.TB, st *state) time.Duration {
	var ans wholebody.Answer
	least := time.Duration(math.MaxInt64)
	for range 5 {
		s.s.Forget()
		from := time.Now()
		if err := s.s.Solve(&ans, st.q, st.v, &st.r); err != nil {
			t.Fatal(err)
		}
		least = min(least, time.Since(from))
	}
	return least
}

// Given the answer's torques and wrenches, the equation of motion has the answer's acceleration.
func TestEquationOfMotionCloses(t *testing.T) {
	for _, s := range []*subject{pony(t), shared(t, "g1"), newSubject(t, legged.Cornered(t, "g1"))} {
		rng := randbot.New(3)
		for range 15 {
			st := s.random(rng)
			ans := s.solve(t, &st)
			nv := s.m.NumV()
			b, J := make([]float64, nv), make([]float64, 6*nv)
			s.dyn.InverseTo(b, st.q, st.v, ans.Acceleration, dynamics.Load{})
			size := 1.0
			for i := range b {
				size = max(size, math.Abs(b[i]))
				if i >= 6 {
					b[i] -= ans.Torque[i-6]
				}
			}
			s.kin.UpdatePosition(st.q)
			k := 0
			for _, sup := range st.r.Supports {
				if sup.Coefficient == 0 {
					continue
				}
				w := ans.Contacts[k]
				k++
				at := (&reference{s: s}).place(&s.m.Chains()[sup.Chain], legged.Origin(&s.m.Contacts()[sup.Contact]))
				s.kin.JacobianTo(J, at)
				for i := range b {
					for c, f := range []float64{w.Force.X, w.Force.Y, w.Force.Z, w.Torque.X, w.Torque.Y, w.Torque.Z} {
						b[i] -= J[c*nv+i] * f
					}
				}
			}
			for i, x := range b {
				if math.Abs(x) > 1e-8*size {
					t.Errorf("row %d of the equation of motion is off by %g of %g", i, x, size)
				}
			}
		}
	}
}

// What is asked of the base, of limbs and of joints changes nothing of what is safe.
func TestRequestsDoNotChangeTheLevelsAbove(t *testing.T) {
	s := pony(t)
	rng := randbot.New(4)
	for range 20 {
		st := s.random(rng)
		before := s.solve(t, &st)
		st.r.Base.Linear, st.r.Base.Angular = vector(rng, 10), vector(rng, 30)
		for i := range st.r.Limbs {
			st.r.Limbs[i].Linear = vector(rng, 10)
		}
		after := s.solve(t, &st)
		for k, l := range before.Levels {
			if l.Name == "base" || l.Name == "base_height_tilt" {
				break
			}
			m := after.Levels[k]
			if math.Abs(l.Slack-m.Slack) > 1e-8 || math.Abs(l.Residual-m.Residual) > 1e-8 {
				t.Errorf("level %s: residual %g, slack %g, then %g, %g", l.Name, l.Residual, l.Slack, m.Residual, m.Slack)
			}
		}
	}
}

func largest(x []float64) (most float64) {
	for _, e := range x {
		most = max(most, math.Abs(e))
	}
	return most
}

// The pony is asked for more than its friction gives: with the base above all limbs it throws
// them about, with the recommended order it does what friction allows.
func TestDefaultOrderDoesNotFlail(t *testing.T) {
	s := pony(t)
	st := s.standing(t)
	st.r.Friction, st.r.Base.Linear.X = 0.3, 6
	st.r.MaxAcceleration = nil
	st.r.Order = wholebody.Seed
	seed := s.solve(t, &st)
	st.r.Order = wholebody.Default
	calm := s.solve(t, &st)
	a, b := largest(seed.Acceleration[6:]), largest(calm.Acceleration[6:])
	t.Logf("joint accelerations of %.0f and %.0f rad/s², base %.2f and %.2f m/s²", a, b, seed.Acceleration[0], calm.Acceleration[0])
	if a < 100 || b > 50 {
		t.Errorf("joint accelerations of %.0f rad/s² in order seed, %.0f in order default", a, b)
	}
	if x := calm.Acceleration[0]; x < 1.5 || x > 0.3*9.81 {
		t.Errorf("the base accelerates by %g m/s², friction gives %g", x, 0.3/math.Sqrt2*9.81)
	}
	if !seed.Feasible || !calm.Feasible {
		t.Error("not feasible")
	}
}

func TestTorqueLimitsHold(t *testing.T) {
	s := pony(t)
	st := s.standing(t)
	for i := range st.r.MaxTorque {
		st.r.MaxTorque[i] = 0.1
	}
	ans := s.solve(t, &st)
	if most := largest(ans.Torque); most > 0.1+1e-9 || !ans.Feasible {
		t.Errorf("torque of %g N·m, limit 0.1; feasible %v", most, ans.Feasible)
	}
	for i := range st.r.MaxTorque { // less than standing takes
		st.r.MaxTorque[i] = 0.01
	}
	st.r.Order = wholebody.Seed
	ans = s.solve(t, &st)
	if most := largest(ans.Torque); ans.Feasible || ans.Levels[2].Slack < most-0.01-1e-9 {
		t.Errorf("torque of %g N·m, limit 0.01: feasible %v, slack %g", most, ans.Feasible, ans.Levels[2].Slack)
	}
}

func TestAbsurdRequestsAreRefusedByName(t *testing.T) {
	s := pony(t)
	for want, change := range map[string]func(*state){
		"q[3] is NaN, want a finite number":                                                func(st *state) { st.q[3] = math.NaN() },
		"v[0] is +Inf, want a finite number":                                               func(st *state) { st.v[0] = math.Inf(1) },
		"friction is -1, want a finite number, 0 or more":                                  func(st *state) { st.r.Friction = -1 },
		"margin is NaN, want a finite number, 0 or more":                                   func(st *state) { st.r.Margin = math.NaN() },
		"base is NaN, want finite numbers":                                                 func(st *state) { st.r.Base.Linear.X = math.NaN() },
		"zmp is NaN, want finite numbers":                                                  func(st *state) { st.r.HasZMP, st.r.ZMP.X = true, math.NaN() },
		"chain of support[1] is 0, want each chain once":                                   func(st *state) { st.r.Supports[1].Chain = 0 },
		"coefficient of support[0] is 2, want 0 to 1":                                      func(st *state) { st.r.Supports[0].Coefficient = 2 },
		"chain of limb[0] is 0, want one that does not stand":                              func(st *state) { st.r.Limbs = []wholebody.Limb{{Chain: 0}} },
		"velocity of joint[0] is 2, want one behind the base's":                            func(st *state) { st.r.Joints = []wholebody.Joint{{V: 2}} },
		"torque limit[2] is -1, want 0 or more":                                            func(st *state) { st.r.MaxTorque[2] = -1 },
		"number of acceleration limits is 1, want one for each velocity behind the base's": func(st *state) { st.r.MaxAcceleration = []float64{1} },
	} {
		st := s.standing(t)
		change(&st)
		err := s.s.Solve(new(wholebody.Answer), st.q, st.v, &st.r)
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Contacts that hold more than there is, no friction, no feet, feet on a line: an answer with
// bounded work, and each level says what it is.
func TestStrangeContactsHaveAnAnswer(t *testing.T) {
	s := pony(t)
	fixed, _ := s.m.Contact("hoof_fixed")
	rng := rand.New(rand.NewPCG(5, 5))
	for name, change := range map[string]func(*state){
		"overdetermined": func(st *state) {
			for i := range st.r.Supports {
				st.r.Supports[i].Contact = fixed
			}
			for i := range st.v {
				st.v[i] = rng.NormFloat64()
			}
		},
		"no friction":   func(st *state) { st.r.Friction = 0; st.r.Base.Linear.X = 3 },
		"no supports":   func(st *state) { st.r.Supports = nil },
		"one hoof":      func(st *state) { st.r.Supports = st.r.Supports[:1] },
		"on a line":     func(st *state) { st.r.Supports = st.r.Supports[:2]; st.r.Margin = 1 },
		"a huge margin": func(st *state) { st.r.Margin = 100 },
		"no torque":     func(st *state) { clear(st.r.MaxTorque) },
		"no motion":     func(st *state) { clear(st.r.MaxAcceleration); clear(st.r.MaxTorque) },
	} {
		for _, order := range []wholebody.Order{wholebody.Seed, wholebody.Default} {
			st := s.standing(t)
			change(&st)
			st.r.Order = order
			var y tally
			s.judge(t, name, &st, &y)
			ans := s.solve(t, &st)
			if y.failed > 0 || y.loose > 0 || ans.Iterations > 1000 || ans.Levels[0].Residual > 1e-6 {
				t.Errorf("%s, order %v: %d failed after %d iterations, dynamics off by %g", name, order, y.failed, ans.Iterations, ans.Levels[0].Residual)
			}
		}
	}
}

func TestRowsAreNamed(t *testing.T) {
	s := pony(t)
	st := s.standing(t)
	st.r.Friction, st.r.Base.Linear.X, st.r.Order = 0.3, 20, wholebody.Seed
	for i := range st.r.MaxTorque {
		st.r.MaxTorque[i], st.r.MaxAcceleration[i] = 0.3, 30
	}
	names := map[string]bool{}
	for _, l := range s.solve(t, &st).Levels {
		for _, row := range l.Active {
			names[s.s.RowName(row)] = true
		}
	}
	if !names["friction_+x leg1"] || len(names) < 5 {
		t.Errorf("active rows %v", names)
	}
}

func TestNoAlloc(t *testing.T) {
	for _, s := range []*subject{pony(t), newSubject(t, legged.Cornered(t, "g1"))} {
		rng := randbot.New(6)
		var ans wholebody.Answer
		for range 10 {
			st := s.random(rng)
			if err := s.s.Solve(&ans, st.q, st.v, &st.r); err != nil {
				t.Fatal(err)
			}
			if n := testing.AllocsPerRun(3, func() { _ = s.s.Solve(&ans, st.q, st.v, &st.r) }); n != 0 {
				t.Fatalf("%g allocations", n)
			}
		}
	}
}

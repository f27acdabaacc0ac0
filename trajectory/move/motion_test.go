package move

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"poise/internal/approx"
)

func newMotion(t testing.TB, limits ...Limits) *Motion {
	t.Helper()
	m, err := New(limits)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func reach(t testing.TB, m *Motion, from, to []State, o Options) {
	t.Helper()
	if err := m.Reach(from, to, o); err != nil {
		t.Fatal(err)
	}
}

// TestKnownDurations: motions whose duration can be told by hand.
func TestKnownDurations(t *testing.T) {
	for _, c := range []struct {
		name string
		task task
		want float64
	}{
		{"nothing to do", task{Symmetric(1, 1, 1), State{3, 0, 0}, State{3, 0, 0}}, 0},
		{"only jerk: d = 2·j·(T/4)³", task{Symmetric(inf, inf, 2), State{}, State{P: 4}}, 4},
		{"jerk and acceleration", task{Symmetric(inf, 1, 1), State{}, State{P: 6}}, 6},
		{"jerk, acceleration and velocity", task{Symmetric(2, 1, 1), State{}, State{P: 10}}, 8},
		{"no jerk limit, triangle", task{Symmetric(inf, 1, inf), State{}, State{P: 4}}, 4},
		{"no jerk limit, trapezoid", task{Symmetric(1, 1, inf), State{}, State{P: 4}}, 5},
		{"braking in time", task{Symmetric(2, 1, inf), State{V: 2}, State{P: 2}}, 2},
		{"braking too late: overshoot and come back", task{Symmetric(2, 1, inf), State{V: 2}, State{P: 1}}, 4},
		{"each direction has its own limit", task{Limits{-1, 3, -1, 2, inf}, State{}, State{P: 9.75}}, 5.5},
		{"and the other way", task{Limits{-1, 3, -1, 2, inf}, State{}, State{P: -9.75}}, 10.5},
		{"to a moving target", task{Symmetric(2, 1, inf), State{}, State{P: 2, V: 2}}, 2},
		{"above the velocity limit", task{Symmetric(1, 1, inf), State{V: 2}, State{P: 3}}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMotion(t, c.task.Limits)
			reach(t, m, []State{c.task.From}, []State{c.task.To}, Options{})
			approx.Scalar(t, "duration", m.Duration(), c.want, approx.Tol{Abs: 1e-12})
		})
	}
}

// TestRandomAxesArriveTogether: all axes take the time of the slowest, keep their own
// limits, and reach their own targets.
func TestRandomAxesArriveTogether(t *testing.T) {
	n := count(20_000, 1_000, 2_000_000)
	r := rand.New(rand.NewPCG(31, 32))
	m := newMotion(t)
	for range n {
		axes := 1 + r.IntN(8)
		var limits []Limits
		var from, to []State
		k := kinds[r.IntN(5)]
		for range axes {
			q := k.random(r)
			limits, from, to = append(limits, q.Limits), append(from, q.From), append(to, q.To)
		}
		if err := m.SetLimits(limits); err != nil {
			t.Fatal(err)
		}
		o := Options{MinDuration: 3 * r.Float64(), Period: []float64{0, 0.001, 0.0112}[r.IntN(3)]}
		reach(t, m, from, to, o)
		slowest := o.MinDuration
		for i := range m.axes {
			slowest = max(slowest, m.axes[i].next(0))
			p := m.Axis(i)
			if p.Duration() != m.Duration() {
				t.Fatalf("axis %d arrives at %g, not %g", i, p.Duration(), m.Duration())
			}
			if p.Target() != to[i] {
				t.Fatalf("axis %d goes to %+v, not %+v", i, p.Target(), to[i])
			}
			if err := verify(&m.axes[i], p); err != nil {
				t.Fatalf("axis %d: %v\nlimits %+v from %+v to %+v in %g", i, err, limits[i], from[i], to[i], m.Duration())
			}
		}
		if m.Duration() < slowest {
			t.Fatalf("takes %g, less than the %g of the slowest", m.Duration(), slowest)
		}
		if !k.moving && o.Period == 0 && m.Duration() > slowest {
			t.Fatalf("takes %g, more than the %g of the slowest", m.Duration(), slowest)
		}
		if periods := m.Duration() / o.Period; o.Period > 0 && math.Abs(periods-math.Round(periods)) > 1e-9*(1+periods) {
			t.Fatalf("takes %g periods", periods)
		}
	}
	t.Logf("%d motions of 1 to 8 axes", n)
}

// TestFreeAxesAreEachFastest: without synchronisation no axis waits.
func TestFreeAxesAreEachFastest(t *testing.T) {
	m := newMotion(t, Symmetric(1, 1, 1), Symmetric(1, 1, 1))
	reach(t, m, make([]State, 2), []State{{P: 1}, {P: 5}}, Options{Sync: Free})
	one := newMotion(t, Symmetric(1, 1, 1))
	for i, p := range []float64{1, 5} {
		reach(t, one, make([]State, 1), []State{{P: p}}, Options{})
		approx.Scalar(t, "duration", m.Axis(i).Duration(), one.Duration(), approx.Tol{})
	}
	approx.Scalar(t, "duration of all", m.Duration(), m.Axis(1).Duration(), approx.Tol{})
}

// TestRandomStraightLines: axes that begin on the line stay on it. Phase does so when it
// costs nothing, Straight always.
func TestRandomStraightLines(t *testing.T) {
	n := count(5_000, 500, 500_000)
	r := rand.New(rand.NewPCG(41, 42))
	m, timed := newMotion(t), newMotion(t)
	straight := 0
	for range n {
		axes := 2 + r.IntN(6)
		var limits []Limits
		var from, to []State
		along := make([]float64, axes)
		v, a, d := r.NormFloat64()*0.1, r.NormFloat64()*0.05, 3*r.NormFloat64()
		if r.IntN(2) == 0 {
			v, a = 0, 0
		}
		common := Symmetric(0.5+r.Float64(), 0.5+r.Float64(), 0.5+r.Float64())
		same := r.IntN(2) == 0
		for i := range axes {
			along[i] = 2*r.Float64() - 1
			l := common
			if !same {
				l = Symmetric(0.5+r.Float64(), 0.5+r.Float64(), 0.5+r.Float64())
			}
			limits = append(limits, l)
			p := r.NormFloat64()
			from = append(from, State{p, along[i] * v, along[i] * a})
			to = append(to, State{P: p + along[i]*d})
		}
		for _, mm := range []*Motion{m, timed} {
			if err := mm.SetLimits(limits); err != nil {
				t.Fatal(err)
			}
		}
		reach(t, timed, from, to, Options{})
		for _, sync := range []Sync{Phase, Straight} {
			reach(t, m, from, to, Options{Sync: sync})
			switch {
			case sync == Straight && !m.OnLine():
				t.Fatalf("not straight: limits %+v from %+v to %+v", limits, from, to)
			case sync == Phase && math.Abs(m.Duration()-timed.Duration()) > tolTime*timed.Duration():
				t.Fatalf("takes %.17g, synchronised in time %.17g", m.Duration(), timed.Duration())
			case m.Duration() < timed.Duration()*(1-tolTime):
				t.Fatalf("takes %.17g, less than %.17g", m.Duration(), timed.Duration())
			}
			if m.OnLine() && sync == Phase {
				straight++
			}
			states := make([]State, axes)
			for i := 0; i <= 20; i++ {
				m.StatesTo(states, m.Duration()*float64(i)/20)
				if !m.OnLine() {
					continue
				}
				// all axes have gone the same share of their way
				lead := 0
				for k := range along {
					if math.Abs(along[k]) > math.Abs(along[lead]) {
						lead = k
					}
				}
				share := (states[lead].P - from[lead].P) / along[lead]
				for k := range along {
					if got := states[k].P - from[k].P; math.Abs(got-share*along[k]) > 1e-9 {
						t.Fatalf("axis %d is %g off the line", k, got-share*along[k])
					}
				}
			}
			for i := range m.axes {
				if err := verify(&m.axes[i], m.Axis(i)); err != nil {
					t.Fatalf("axis %d: %v", i, err)
				}
			}
		}
		if same && v == 0 && a == 0 {
			if reach(t, m, from, to, Options{Sync: Phase}); !m.OnLine() {
				t.Fatal("from rest to rest with the same limits the line costs nothing")
			}
		}
	}
	t.Logf("%d tasks on a line, %d of them straight at no cost", n, straight)
}

// TestSameLimitsKeepTheLine: from rest to rest with the same limits a motion that is
// synchronised in time is straight, because slower axes are scaled copies.
func TestSameLimitsKeepTheLine(t *testing.T) {
	l := Limits{-2, 1, -3, 4, 5}
	m := newMotion(t, l, l, l)
	way := []float64{5, 2, 0.01}
	reach(t, m, make([]State, 3), []State{{P: way[0]}, {P: way[1]}, {P: way[2]}}, Options{})
	states := make([]State, 3)
	for i := 0; i <= 100; i++ {
		m.StatesTo(states, m.Duration()*float64(i)/100)
		for k, s := range states {
			approx.Scalar(t, "share of the way", s.P/way[k], states[0].P/way[0], approx.Tol{Abs: 1e-12})
		}
	}
}

// TestOffTheLine: axes that do not begin on the line are synchronised in time.
func TestOffTheLine(t *testing.T) {
	m := newMotion(t, Symmetric(1, 1, 1), Symmetric(1, 1, 1))
	reach(t, m, []State{{}, {V: 0.5}}, []State{{P: 1}, {P: 1}}, Options{Sync: Straight})
	if m.OnLine() || m.Axis(0).Duration() != m.Axis(1).Duration() {
		t.Errorf("on line %v, durations %g and %g", m.OnLine(), m.Axis(0).Duration(), m.Axis(1).Duration())
	}
}

// TestRandomNoOvershoot: an axis that need not pass its target does not, however much
// time it is given.
func TestRandomNoOvershoot(t *testing.T) {
	n := count(50_000, 2_000, 5_000_000)
	parallel(t, n, 51, func(r *rand.Rand, x *axis) error {
		k := kinds[0].random(r)
		k.From.V, k.From.A = max(k.From.V, 0), 0
		// shortest stop
		x.reachVelocity(&k.Limits, k.From, 0)
		var stop Profile
		x.writeTo(&stop, x.next(0))
		k.To.P = stop.Target().P + 3*r.Float64()
		var p Profile
		fastest := x.plan(&k)
		x.writeTo(&p, fastest*(1+3*r.Float64()))
		if e := p.Extremes(); e.V.Min < -tolRounding || e.P.Max > k.To.P+tolRounding*(1+math.Abs(k.To.P)) {
			return errors.New("overshoots: " + k.String())
		}
		return nil
	})
	t.Logf("%d motions", n)
}

// TestRandomStopsAreShortest: planned as a motion of position to the place where it
// ends, a stop takes the same time, so no motion to that place is shorter.
func TestRandomStopsAreShortest(t *testing.T) {
	n := count(50_000, 2_000, 5_000_000)
	parallel(t, n, 52, func(r *rand.Rand, x *axis) error {
		k := kinds[0].random(r)
		x.reachVelocity(&k.Limits, k.From, 0)
		T := x.next(0)
		var stop Profile
		x.writeTo(&stop, T)
		k.To = stop.Target()
		got := x.plan(&k)
		// at the shortest stop time grows with the cube root of a displacement
		const rounding = 4.0 / (1 << 52)
		tol := 8 * math.Cbrt(rounding*(math.Abs(k.From.P)+math.Abs(k.To.P))*x.rj)
		if x.numBrakes == 0 && math.Abs(got-T) > tol {
			return fmt.Errorf("a stop takes %.17g, a motion to its end %.17g\n%v", T, got, k)
		}
		return nil
	})
	t.Logf("%d stops", n)
}

// TestSynchronisedStop: a stop along the line of motion keeps its direction.
func TestSynchronisedStop(t *testing.T) {
	m := newMotion(t, Symmetric(5, 1, 10), Symmetric(5, 4, 10))
	from := []State{{0, 2, 0}, {0, 1, 0}}
	if err := m.ReachVelocity(from, nil, Options{Sync: Straight}); err != nil {
		t.Fatal(err)
	}
	a, b := m.Axis(0).Target(), m.Axis(1).Target()
	if !m.OnLine() || math.Abs(a.P-2*b.P) > 1e-12 || a.V != 0 || b.V != 0 {
		t.Errorf("stops at %+v and %+v", a, b)
	}
	if err := m.Stop(from); err != nil {
		t.Fatal(err)
	}
	if m.Axis(1).Duration() >= m.Axis(0).Duration() {
		t.Error("free axes stop each as fast as they can")
	}
}

// TestRefusals: what cannot be planned is refused with every reason, and the
// motion stays what it was.
func TestRefusals(t *testing.T) {
	if _, err := New([]Limits{{0, 1, 1, -1, math.NaN()}, {-1, 1, math.Inf(-1), 1, inf}}); err == nil {
		t.Error("accepted")
	} else {
		for _, want := range []string{"axis 0: limit of velocity downwards is 0", "axis 0: limit of acceleration upwards is -1",
			"axis 0: limit of acceleration downwards is 1", "axis 0: limit of jerk is NaN", "axis 1: limit of acceleration is +Inf, must be finite"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v\ndoes not say %q", err, want)
			}
		}
	}
	m := newMotion(t, Symmetric(1, 1, 1), Symmetric(1, 1, 1))
	reach(t, m, make([]State, 2), []State{{P: 1}, {P: 2}}, Options{})
	before := m.Duration()
	for _, c := range []struct {
		name     string
		from, to [2]State
		o        Options
		want     []string
	}{
		{"not a number", [2]State{{P: math.NaN()}, {V: inf}}, [2]State{}, Options{}, []string{"axis 0: start position is NaN", "axis 1: start velocity is +Inf"}},
		{"target too fast", [2]State{}, [2]State{{V: 2}, {A: -3}}, Options{}, []string{"axis 0: target velocity is 2, must be within [-1", "axis 1: target acceleration is -3"}},
		{"target that cannot have been reached", [2]State{}, [2]State{{V: 0.9, A: -1}, {}}, Options{}, []string{"axis 0: velocity before the target is 1.4"}},
		{"target that leads out", [2]State{}, [2]State{{V: 0.9, A: 1}, {}}, Options{}, []string{"axis 0: velocity after the target is 1.4"}},
		{"options", [2]State{}, [2]State{}, Options{Sync: 9, MinDuration: -1, Period: math.NaN()}, []string{"option MinDuration is -1", "option Period is NaN", "option Sync is 9"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := m.Reach(c.from[:], c.to[:], c.o)
			if !errors.Is(err, ErrInput) {
				t.Fatalf("Reach = %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\ndoes not say %q", err, want)
				}
			}
			if m.Duration() != before || m.Axis(1).Target().P != 2 {
				t.Error("a refusal left a trace")
			}
		})
	}
	var one *InputError
	if err := m.Reach([]State{{V: inf}, {}}, make([]State, 2), Options{}); !errors.As(err, &one) || one.Axis != 0 {
		t.Errorf("no InputError in %v", err)
	}
	if err := m.ReachVelocity(make([]State, 2), []float64{0, 1.1}, Options{}); !errors.Is(err, ErrInput) {
		t.Errorf("ReachVelocity = %v", err)
	}
	if err := m.Stop([]State{{A: inf}, {}}); !errors.Is(err, ErrInput) {
		t.Errorf("Stop = %v", err)
	}
}

// TestNoAlloc: neither planning nor sampling allocates.
func TestNoAlloc(t *testing.T) {
	limits := []Limits{Symmetric(1, 1, 1), Symmetric(2, 3, 4), {-1, 2, -3, 4, 5}}
	from := []State{{0, 0.5, 0.1}, {1, -0.2, 0}, {0, 0, 0}}
	to := []State{{P: 1}, {P: 2, V: 0.5, A: 0.1}, {P: -1}}
	velocities := []float64{0.1, 0.2, 0.3}
	dst := make([]State, 3)
	m := newMotion(t, limits...)
	for name, f := range map[string]func(){
		"Reach":         func() { m.Reach(from, to, Options{Sync: Phase, Period: 0.001}) },
		"ReachVelocity": func() { m.ReachVelocity(from, velocities, Options{}) },
		"Stop":          func() { m.Stop(from) },
		"SetLimits":     func() { m.SetLimits(limits) },
		"StatesTo":      func() { m.StatesTo(dst, 0.3) },
		"SampleTo":      func() { m.SampleTo(velocities, nil, nil, 0.3) },
		"Extremes":      func() { m.Axis(1).Extremes() },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %g times", name, n)
		}
	}
}

// TestBeforeStartAndAfterEnd: the motion is defined at every time.
func TestBeforeStartAndAfterEnd(t *testing.T) {
	m := newMotion(t, Symmetric(2, 2, 2))
	if got := m.Axis(0).At(1); got != (State{}) {
		t.Errorf("before any plan At(1) = %+v", got)
	}
	reach(t, m, []State{{1, 0, 0}}, []State{{3, 0.5, 0.25}}, Options{})
	p, T := m.Axis(0), m.Duration()
	var position, velocity, acceleration [1]float64
	m.SampleTo(position[:], velocity[:], acceleration[:], T/3)
	if got, want := (State{position[0], velocity[0], acceleration[0]}), p.At(T/3); got != want {
		t.Errorf("SampleTo = %+v, want %+v", got, want)
	}
	if got := p.At(-1); got.P != 1 || got.V != 0 {
		t.Errorf("At(-1) = %+v", got)
	}
	if got, want := p.At(T+2), (State{3 + 1 + 0.5, 1, 0.25}); got != want {
		t.Errorf("At(T+2) = %+v, want %+v", got, want)
	}
	if p.Jerk(-1) != 0 || p.Jerk(T) != 0 || p.Jerk(0) != 2 {
		t.Errorf("jerk %g, %g, %g", p.Jerk(-1), p.Jerk(0), p.Jerk(T))
	}
}

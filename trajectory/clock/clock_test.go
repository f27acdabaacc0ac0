package clock_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"poise/internal/approx"
	"poise/trajectory"
	"poise/trajectory/clock"
	"poise/trajectory/spline"
)

const seed = 8

// tolLimit is the promise: no limit exceeded by more, relatively, at any instant.
const tolLimit = 1e-8

// cases returns how many cases a test runs: a twentieth in short ones.
func cases(n int) int {
	if testing.Short() {
		return n / 20
	}
	return n
}

func rng(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// random draws a motion, Akima or quintic, and limits that it just holds at rate
// 1, or holds with room to spare.
func random(t testing.TB, r *rand.Rand, kind int) (*spline.Spline, trajectory.Limits) {
	t.Helper()
	n, keys := 1+r.IntN(6), 2+r.IntN(6)
	tr := trajectory.New(keys, n)
	at := r.Float64()
	for i := range tr.Points {
		p := &tr.Points[i]
		p.Time = at
		at += 0.05 + 0.6*r.Float64()
		for j := range n {
			p.Position[j] = r.NormFloat64()
			if i > 0 && r.IntN(5) == 0 {
				p.Position[j] = tr.Points[i-1].Position[j]
			}
			if i > 0 && i < keys-1 {
				p.Velocity[j], p.Acceleration[j] = 2*r.NormFloat64(), 10*r.NormFloat64()
			}
		}
		if kind == 0 {
			p.Velocity, p.Acceleration = nil, nil
		}
	}
	s, err := tr.Interpolant()
	if err != nil {
		t.Fatal(err)
	}
	l := trajectory.Limits{}
	room := 1.0
	if r.IntN(2) == 0 {
		room = 1 + 2*r.Float64()
	}
	for j := range n {
		vel := math.Abs(s.Peak(j, spline.Velocity, s.Start(), s.End()).Value)
		acc := math.Abs(s.Peak(j, spline.Acceleration, s.Start(), s.End()).Value)
		l.Velocity = append(l.Velocity, room*math.Max(vel, 0.1))
		l.Acceleration = append(l.Acceleration, room*math.Max(acc, 0.1))
		l.Deceleration = append(l.Deceleration, room*math.Max(acc, 0.1)*(1+r.Float64()))
	}
	if r.IntN(3) == 0 {
		l.Deceleration = nil
	}
	return s, l
}

// watch checks every instant it is shown.
type watch struct {
	t       testing.TB
	l       trajectory.Limits
	q, v, a []float64
	worst   float64
	count   int
}

func newWatch(t testing.TB, l trajectory.Limits, n int) *watch {
	return &watch{t: t, l: l, q: make([]float64, n), v: make([]float64, n), a: make([]float64, n)}
}

func (w *watch) look(c *clock.Clock, what string) {
	w.t.Helper()
	c.StateTo(w.q, w.v, w.a)
	w.count++
	for j := range w.q {
		_, _, vel, acc, dec, _ := w.l.Of(j)
		limit := acc
		switch {
		case math.Abs(w.v[j]) < 1e-9*vel: // at rest, up to rounding: neither with nor against
			limit = math.Max(acc, dec)
		case w.a[j]*w.v[j] < 0:
			limit = dec
		}
		use := math.Max(math.Abs(w.v[j])/vel, math.Abs(w.a[j])/limit)
		w.worst = math.Max(w.worst, use)
		if !(use <= 1+tolLimit) {
			w.t.Fatalf("seed %d, %s: joint %d at σ %.6f, rate %.4f: velocity %g of %g, acceleration %g of %g (%.10g times)",
				seed, what, j, c.Time(), c.Rate(), w.v[j], vel, w.a[j], limit, use)
		}
	}
}

// Random motions under random requested rates, changed at random instants: no limit is
// exceeded at any instant, time never runs backwards, the motion ends at its end.
func TestRandomRatesKeepAllLimits(t *testing.T) {
	n := 150
	switch {
	case os.Getenv("POISE_SOAK") != "":
		n = 100_000
	case testing.Short():
		n = 8
	}
	r := rng(1)
	instants, fastest, worst := 0, 0.0, 0.0
	for i := range n {
		s, l := random(t, r, i%2)
		o := clock.Options{}
		if i%7 == 0 {
			o.Acceleration = 0.5 + 10*r.Float64()
		}
		if i%11 == 0 {
			o.Jerk = 50 * r.Float64()
		}
		track, err := clock.Compile(s, &l, o)
		if err != nil {
			t.Fatal(err)
		}
		var c clock.Clock
		if highest, ok := c.Start(track, s.Start(), float64(r.IntN(2))); !ok {
			t.Fatalf("seed %d case %d: cannot start at rate 1: at most %g", seed, i, highest)
		}
		w := newWatch(t, l, s.Joints())
		period := []float64{0.001, 0.0112, 0.056, 0.0003}[r.IntN(4)]
		requested, last := 1.0, s.Start()
		for step := 0; !c.Done(); step++ {
			if r.IntN(10) == 0 || step == 0 {
				requested = []float64{0, 1, 2, 2 * r.Float64(), 2 * r.Float64(), 5, math.NaN()}[r.IntN(7)]
			}
			if step > 20000 {
				requested = 1
			}
			// a step in small pieces: the same way, looked at more often
			for range 4 {
				now := c.Step(period/4, requested)
				w.look(&c, "random requested rates")
				if now.Time < last || now.Rate < 0 || now.Rate > 2 || now.Time != c.Time() || now.Rate != c.Rate() {
					t.Fatalf("seed %d case %d: time %g after %g, rate %g", seed, i, now.Time, last, now.Rate)
				}
				if now.Held != (now.Rate < math.Min(requested, 2) && !now.Done) {
					t.Fatalf("seed %d case %d: rate %g, requested %g, held %v", seed, i, now.Rate, requested, now.Held)
				}
				last = now.Time
				fastest = math.Max(fastest, now.Rate)
			}
		}
		if c.Time() != s.End() || c.Rate() != 0 {
			t.Fatalf("seed %d case %d: ends at %g with rate %g, want %g", seed, i, c.Time(), c.Rate(), s.End())
		}
		instants += w.count
		worst = math.Max(worst, w.worst)
	}
	t.Logf("%d motions, %d instants: at most %.12f of any limit; rates up to %.2f", n, instants, worst, fastest)
}

// As planned means as planned: at rate 1 the clock is the clock, bit for bit.
func TestRateOneIsThePlannedMotion(t *testing.T) {
	r := rng(2)
	for i := range cases(200) {
		s, l := random(t, r, i%2)
		track, err := clock.Compile(s, &l, clock.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var c clock.Clock
		if _, ok := c.Start(track, s.Start(), 1); !ok {
			t.Fatalf("seed %d case %d: rate 1 refused", seed, i)
		}
		q, v, a := make([]float64, s.Joints()), make([]float64, s.Joints()), make([]float64, s.Joints())
		want := make([]float64, s.Joints())
		for step := 1; !c.Done(); step++ {
			now := c.Step(0.001, 1)
			if !now.Done && (now.Rate != 1 || now.Held) {
				t.Fatalf("seed %d case %d: rate %v at %g", seed, i, now.Rate, now.Time)
			}
			c.StateTo(q, v, a)
			s.PositionTo(want, math.Min(s.Start()+float64(step)*0.001, s.End()))
			approx.Equal(t, "position", q, want, approx.Tol{Abs: 1e-9, Rel: 1e-9})
		}
	}
}

// A stop at any instant is a stop: within limits, without creeping, and it holds;
// then the motion goes on to its end. The predicted stop is the real one.
func TestRandomStopsAreStops(t *testing.T) {
	n := 600
	switch {
	case os.Getenv("POISE_SOAK") != "":
		n = 1_000_000
	case testing.Short():
		n = 20
	}
	r := rng(3)
	busy, total, longest, sum := 0, 0, 0.0, 0.0
	for i := range n {
		s, l := random(t, r, i%2)
		track, err := clock.Compile(s, &l, clock.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var c clock.Clock
		c.Start(track, s.Start(), 1)
		w := newWatch(t, l, s.Joints())
		requested := 0.2 + 1.8*r.Float64()
		for until := s.Start() + s.Duration()*r.Float64(); c.Time() < until; {
			c.Step(0.002, requested)
		}
		time, way := c.Stopping()
		from, spent := c.Time(), 0.0
		for c.Rate() > 0 && !c.Done() {
			const dt = 0.0005
			c.Step(dt, 0)
			spent += dt
			w.look(&c, "stop")
			total++
			if w.fullyUsed() || c.Done() {
				busy++
			}
			if spent > 60 {
				t.Fatalf("seed %d case %d: creeps at rate %g", seed, i, c.Rate())
			}
		}
		longest, sum = math.Max(longest, spent), sum+spent
		if c.Done() {
			continue
		}
		if spent > time*1.05+0.001 || c.Time()-from > way*1.05+1e-4 || spent < 0.8*time-0.003 {
			t.Fatalf("seed %d case %d: stopped after %g s and %g, said %g s and %g", seed, i, spent, c.Time()-from, time, way)
		}
		at := c.Time()
		for range 100 {
			if now := c.Step(0.01, 0); now.Time != at || now.Rate != 0 || now.Held {
				t.Fatalf("seed %d case %d: moves while paused: %v", seed, i, now)
			}
			w.look(&c, "pause")
			for j := range w.v {
				if w.v[j] != 0 || w.a[j] != 0 {
					t.Fatalf("seed %d case %d: joint %d moves while paused", seed, i, j)
				}
			}
		}
		for c.Step(0.001, 1); !c.Done(); c.Step(0.001, 1) {
			w.look(&c, "resume")
		}
	}
	t.Logf("%d stops: a limit was used to the full at %.0f %% of the instants; mean %.4f s, longest %.2f s", n, 100*float64(busy)/float64(total), sum/float64(n), longest)
	if float64(busy) < 0.8*float64(total) {
		t.Errorf("limits used to the full at %d of %d instants only: it could stop faster", busy, total)
	}
}

// fullyUsed reports whether some joint's acceleration is near its limit.
func (w *watch) fullyUsed() bool {
	for j := range w.q {
		_, _, _, acc, dec, _ := w.l.Of(j)
		limit := acc
		if w.a[j]*w.v[j] < 0 {
			limit = dec
		}
		if math.Abs(w.a[j]) > 0.97*limit {
			return true
		}
	}
	return false
}

// Long steps are decided upon by the millisecond: the way is that of short ones.
func TestStepLengthDoesNotMatter(t *testing.T) {
	r := rng(4)
	for i := range cases(300) {
		s, l := random(t, r, i%2)
		track, err := clock.Compile(s, &l, clock.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var a, b clock.Clock
		a.Start(track, s.Start(), 0)
		b.Start(track, s.Start(), 0)
		requested := 2 * r.Float64()
		for range 20 {
			a.Step(0.03, requested)
			for range 30 {
				b.Step(0.001, requested)
			}
			approx.Equal(t, "time", []float64{a.Time()}, []float64{b.Time()}, approx.Tol{Abs: 1e-3})
		}
	}
}

// Velocities and accelerations are the derivatives of what is played.
func TestStatesAreConsistent(t *testing.T) {
	r := rng(5)
	const dt = 1e-5
	for i := range cases(100) {
		s, l := random(t, r, i%2)
		track, err := clock.Compile(s, &l, clock.Options{Acceleration: 3})
		if err != nil {
			t.Fatal(err)
		}
		var c clock.Clock
		c.Start(track, s.Start(), 0)
		n := s.Joints()
		q0, v0, a0 := make([]float64, n), make([]float64, n), make([]float64, n)
		q1, v1, a1 := make([]float64, n), make([]float64, n), make([]float64, n)
		for range 200 {
			requested := 2 * r.Float64()
			c.Step(0.01, requested)
			c.StateTo(q0, v0, a0)
			c.Step(dt, requested)
			c.StateTo(q1, v1, a1)
			if c.Done() {
				break
			}
			for j := range n {
				_, _, vel, acc, dec, _ := l.Of(j)
				most := math.Max(acc, dec) * dt
				if d := math.Abs((q1[j]-q0[j])/dt - (v0[j]+v1[j])/2); d > most+1e-6*vel {
					t.Fatalf("seed %d case %d: joint %d moved %g/s, velocity %g to %g", seed, i, j, (q1[j]-q0[j])/dt, v0[j], v1[j])
				}
				if d := math.Abs(v1[j] - v0[j]); d > most*(1+1e-6)+1e-9 {
					t.Fatalf("seed %d case %d: joint %d velocity jumps by %g", seed, i, j, d)
				}
			}
		}
	}
}

func TestFasterWhereThereIsRoom(t *testing.T) {
	// 1 rad and back slowly: room for twice the rate
	s, _ := spline.Akima([]float64{0, 2, 4}, [][]float64{{0}, {1}, {0}}, 0)
	l := trajectory.Limits{Velocity: []float64{10}, Acceleration: []float64{20}}
	track, _ := clock.Compile(s, &l, clock.Options{})
	var c clock.Clock
	c.Start(track, 0, 1)
	elapsed := 0.0
	for !c.Done() {
		now := c.Step(0.001, 2)
		elapsed += 0.001
		if elapsed > 0.2 && !now.Done && now.Rate != 2 {
			t.Fatalf("rate %g at %g s, want 2", now.Rate, elapsed)
		}
	}
	if elapsed > 2.1 {
		t.Errorf("took %g s at 200 %%, want about 2 s", elapsed)
	}
	// at its limits already: it stays capped, and says which joint
	tight := trajectory.Limits{Velocity: []float64{0.75}, Acceleration: []float64{1.5}}
	track, _ = clock.Compile(s, &tight, clock.Options{})
	c.Start(track, 0, 1)
	held, elapsed := 0, 0.0
	for !c.Done() {
		now := c.Step(0.001, 2)
		elapsed += 0.001
		if now.Held {
			held++
		}
	}
	if held < 3000 || elapsed < 3.6 {
		t.Errorf("held for %d steps of %g s, want nearly always", held, elapsed)
	}
}

func TestMotionThatBreaksItsLimitsIsHeldBack(t *testing.T) {
	s, _ := spline.Akima([]float64{0, 1, 2}, [][]float64{{0}, {1}, {3}}, 0)
	l := trajectory.Limits{Velocity: []float64{1}, Acceleration: []float64{4}}
	track, err := clock.Compile(s, &l, clock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var c clock.Clock
	if highest, ok := c.Start(track, 1.5, 1); ok || highest >= 1 || highest <= 0 || !c.Done() {
		t.Errorf("starts at rate 1 where the motion is too fast, highest %g", highest)
	}
	c.Start(track, 0, 0)
	w := newWatch(t, l, 1)
	for steps := 0; !c.Done(); steps++ {
		c.Step(0.001, 1)
		w.look(&c, "held back")
		if steps > 20000 {
			t.Fatal("does not get to the end")
		}
	}
	t.Logf("uses %.6f of its limits", w.worst)
}

func TestOptionsAndEdges(t *testing.T) {
	s, _ := spline.Akima([]float64{0, 1}, [][]float64{{0}, {1}}, 0)
	ok := trajectory.Limits{Velocity: []float64{2}, Acceleration: []float64{9}}
	var option *clock.OptionError
	for _, o := range []clock.Options{{MaxRate: -1}, {MaxRate: math.NaN()}, {MaxRate: math.Inf(1)}, {Acceleration: -1}, {Jerk: math.NaN()}} {
		if _, err := clock.Compile(s, &ok, o); !errors.As(err, &option) {
			t.Errorf("%v: error %v", o, err)
		}
	}
	var limit *trajectory.LimitError
	if _, err := clock.Compile(s, &trajectory.Limits{Velocity: []float64{1, 2}, Acceleration: []float64{0}}, clock.Options{}); !errors.As(err, &limit) {
		t.Errorf("error %v", err)
	}
	var none clock.Clock
	if now := none.Step(0.001, 1); !now.Done || !none.Done() {
		t.Error("a clock without a track runs")
	}
	// without limits, time may change at once
	track, err := clock.Compile(s, &trajectory.Limits{}, clock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var c clock.Clock
	c.Start(track, 0.25, 0)
	if now := c.Step(0.001, 2); now.Rate != 2 || now.Held {
		t.Errorf("%v, want rate 2 at once", now)
	}
	for _, dt := range []float64{0, -1, math.NaN()} {
		before := c.Time()
		if now := c.Step(dt, 1); now.Time != before {
			t.Errorf("step of %g s moves time", dt)
		}
	}
	if _, ok := c.Start(track, 0, 3); ok {
		t.Error("starts above the highest rate")
	}
	if _, ok := c.Start(track, 0, math.NaN()); ok {
		t.Error("starts at no rate")
	}
	if c.Start(track, 99, 0); !c.Done() {
		t.Error("a start after the end is not the end")
	}
}

func TestRateJerkSmoothsTheRate(t *testing.T) {
	s, _ := spline.Akima([]float64{0, 20}, [][]float64{{0}, {1}}, 0)
	l := trajectory.Limits{Velocity: []float64{1}, Acceleration: []float64{1}}
	track, _ := clock.Compile(s, &l, clock.Options{Acceleration: 2, Jerk: 10})
	var c clock.Clock
	c.Start(track, 5, 0)
	const dt = 0.001
	rate, accel := 0.0, 0.0
	for step := range 4000 {
		requested := 1.5
		if step > 2000 {
			requested = 0
		}
		now := c.Step(dt, requested)
		change := (now.Rate - rate) / dt
		if math.Abs(change) > 2+1e-6 || math.Abs(change-accel) > 10*dt*3+1e-6 {
			t.Fatalf("step %d: rate acceleration %g after %g", step, change, accel)
		}
		if now.Rate > 1.5 {
			t.Fatalf("overshoots to %g", now.Rate)
		}
		rate, accel = now.Rate, change
	}
	if rate != 0 {
		t.Errorf("rate %g, want a stop", rate)
	}
}

func TestNoAlloc(t *testing.T) {
	s, l := random(t, rng(6), 1)
	track, err := clock.Compile(s, &l, clock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var c clock.Clock
	n := s.Joints()
	q, v, a := make([]float64, n), make([]float64, n), make([]float64, n)
	requested := 0.0
	if n := testing.AllocsPerRun(200, func() {
		c.Start(track, s.Start()+0.1, 0.5)
		for range 20 {
			requested = 1.9 - requested
			c.Step(0.001, requested)
			c.StateTo(q, v, a)
		}
		c.Stopping()
		track.Ceiling(s.Start() + 0.2)
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// Any finite motion, limits and requested rates: time is a number and runs forward.
func FuzzStepNeverNaN(f *testing.F) {
	f.Add(uint64(1), 1.0, 1.0, 0.001, 1.0, 0.5)
	f.Add(uint64(2), 1e-9, 1e9, 10.0, -3.0, 1e300)
	f.Add(uint64(3), 1e6, 1e-3, 1e-9, 2.0, 0.0)
	f.Fuzz(func(t *testing.T, from uint64, vel, acc, dt, requested, other float64) {
		r := rand.New(rand.NewPCG(from, 2))
		s, _ := random(t, r, int(from%2))
		n := s.Joints()
		l := trajectory.Limits{}
		for range n {
			l.Velocity, l.Acceleration = append(l.Velocity, vel), append(l.Acceleration, acc)
		}
		track, err := clock.Compile(s, &l, clock.Options{})
		if err != nil {
			return
		}
		var c clock.Clock
		c.Start(track, s.Start(), 0)
		last := c.Time()
		q, v, a := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range 50 {
			if i%2 == 0 {
				requested, other = other, requested
			}
			now := c.Step(math.Min(dt, 1), requested)
			c.StateTo(q, v, a)
			if math.IsNaN(now.Time) || now.Time < last || !(now.Rate >= 0) || now.Time > s.End() {
				t.Fatalf("%v after %g", now, last)
			}
			for j := range q {
				if math.IsNaN(q[j]) || math.IsNaN(v[j]) || math.IsNaN(a[j]) {
					t.Fatalf("state %v %v %v", q, v, a)
				}
			}
			last = now.Time
		}
	})
}

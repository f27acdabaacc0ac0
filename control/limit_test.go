package control

import (
	"math"
	"math/rand/v2"
	"testing"
)

func randomBounds(rng *rand.Rand) Bounds {
	lower := -rng.Float64() * 2
	return Bounds{Lower: lower, Upper: lower + 0.1 + 3*rng.Float64(), Velocity: 0.1 + 5*rng.Float64(),
		Acceleration: 0.5 + 30*rng.Float64(), Deceleration: 0.5 + 30*rng.Float64()}
}

// nasty are references that no joint can follow.
func nasty(rng *rand.Rand, k int, q float64, b Bounds) float64 {
	switch k {
	case 0:
		return math.NaN()
	case 1:
		return math.Inf(1 - 2*rng.IntN(2))
	case 2:
		return q + rng.NormFloat64()*1e6
	case 3:
		return b.Upper + 10 // full speed against the limit
	case 4:
		return b.Lower - 10
	case 5:
		return b.Lower + rng.Float64()*(b.Upper-b.Lower) // steps
	case 6:
		return q + 0.01*(rng.Float64()-0.5) // saw teeth
	case 7:
		return math.MaxFloat64
	}
	return q
}

// TestGateHoldsAgainstAnyReference drives joints with references that they cannot follow:
// whatever is asked for, the command stays within position, velocity and
// acceleration limits.
func TestGateHoldsAgainstAnyReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 7))
	runs := 400
	if testing.Short() {
		runs = 40
	}
	for run := range runs {
		b := randomBounds(rng)
		dt := []float64{0.001, 0.0112, 0.056}[rng.IntN(3)]
		l := NewLimiter([]Bounds{b})
		q0 := b.Lower + rng.Float64()*(b.Upper-b.Lower)
		l.Reset(0, q0)
		v0 := 0.0
		mood := 0
		for n := range 3000 {
			if rng.IntN(50) == 0 {
				mood = rng.IntN(9)
			}
			q, v, a, _ := l.Apply(0, nasty(rng, mood, q0, b), dt)
			slackV, slackQ := 1e-6*b.Velocity, 2e-9
			switch {
			case math.IsNaN(q) || math.IsInf(q, 0):
				t.Fatalf("run %d tick %d: q = %g", run, n, q)
			case q > b.Upper+slackQ || q < b.Lower-slackQ:
				t.Fatalf("run %d tick %d (dt %g, %+v): q = %.12g beyond the limits", run, n, dt, b, q)
			case math.Abs(v) > b.Velocity+slackV:
				t.Fatalf("run %d tick %d: v = %g, limit %g", run, n, v, b.Velocity)
			case math.Abs((q-q0)/dt-v) > 1e-9*(1+math.Abs(v)):
				t.Fatalf("run %d tick %d: v = %g, the step says %g", run, n, v, (q-q0)/dt)
			}
			checkAcceleration(t, run, n, b, v0, v, a, dt)
			q0, v0 = q, v
		}
	}
}

// checkAcceleration asks that the change of velocity could be had in a period:
// slowing down by at most Deceleration, then speeding up by at most Acceleration.
func checkAcceleration(t *testing.T, run, n int, b Bounds, v0, v, a, dt float64) {
	t.Helper()
	if math.Abs(a*dt-(v-v0)) > 1e-9 {
		t.Fatalf("run %d tick %d: a = %g, the step says %g", run, n, a, (v-v0)/dt)
	}
	time := 0.0
	switch {
	case v0*v < 0:
		time = math.Abs(v0)/b.Deceleration + math.Abs(v)/b.Acceleration
	case math.Abs(v) > math.Abs(v0):
		time = (math.Abs(v) - math.Abs(v0)) / b.Acceleration
	default:
		time = (math.Abs(v0) - math.Abs(v)) / b.Deceleration
	}
	if time > dt*(1+1e-5) {
		t.Fatalf("run %d tick %d: from %g to %g takes %g s at the limits, the period is %g", run, n, v0, v, time, dt)
	}
}

func TestReferenceWithinLimitsPassesBitForBit(t *testing.T) {
	b := Bounds{Lower: -2, Upper: 2, Velocity: 2, Acceleration: 4, Deceleration: 4}
	const ω, amplitude, dt = 1.9, 1.0, 0.001 // peaks: 1.9 rad/s, 3.61 rad/s²
	l := NewLimiter([]Bounds{b})
	l.Reset(0, -amplitude)
	for n := 1; n < 20000; n++ {
		want := -amplitude * math.Cos(ω*float64(n)*dt)
		q, _, _, cut := l.Apply(0, want, dt)
		if q != want || cut != 0 {
			t.Fatalf("tick %d: %v became %v, cut %b", n, want, q, cut)
		}
	}
}

func TestStopBeforeTheLimitIsAsLateAsItCanBe(t *testing.T) {
	b := Bounds{Lower: -10, Upper: 1, Velocity: 1, Acceleration: 2, Deceleration: 2}
	l := NewLimiter([]Bounds{b})
	l.Reset(0, 0)
	const dt = 0.001
	var q float64
	for n := range 5000 {
		before := q
		q, _, _, _ = l.Apply(0, 5, dt)
		if n > 0 && q < before {
			t.Fatalf("tick %d: turned back at %g", n, before)
		}
	}
	if math.Abs(q-1) > 1e-9 {
		t.Errorf("came to rest at %g, the limit is 1", q)
	}
}

// TestFarFromALimitItCutsNothing: where the gate does not work out how fast a joint may go towards
// its limits, it may go as fast as it is asked to.
func TestFarFromALimitItCutsNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 20))
	far, near := 0, 0
	for range 200000 {
		b := randomBounds(rng)
		dt := []float64{0.0001, 0.001, 0.0112, 0.056}[rng.IntN(4)]
		// also next to the limits and slow, where the numbers of steps are small
		q0, v := b.Lower+rng.Float64()*(b.Upper-b.Lower), b.Velocity*(2*rng.Float64()-1)
		if rng.IntN(2) == 0 {
			way := (b.Upper - b.Lower) * math.Pow(10, -9*rng.Float64())
			q0 = []float64{b.Lower + way, b.Upper - way, b.Lower - way, b.Upper + way}[rng.IntN(4)]
			v *= math.Pow(10, -6*rng.Float64())
		}
		if !b.farFrom(q0, v, dt) {
			near++
			continue
		}
		far++
		upper, lower := b.mostTowards(b.Upper-q0, dt), -b.mostTowards(q0-b.Lower, dt)
		if v > upper*(1+1e-14) || v < lower*(1+1e-14) {
			t.Fatalf("%+v: %g rad/s at %g, most %g and %g", b, v, q0, lower, upper)
		}
	}
	if far < 50000 || near < 50000 {
		t.Errorf("%d far, %d near", far, near)
	}
}

func TestJointThatStartsOutsideMayOnlyMoveInwards(t *testing.T) {
	b := Bounds{Lower: -1, Upper: 1, Velocity: 2, Acceleration: 5, Deceleration: 5}
	l := NewLimiter([]Bounds{b})
	l.Reset(0, 1.5)
	if q, _, _, cut := l.Apply(0, 1.6, 0.01); q != 1.5 || cut&CutPosition == 0 {
		t.Errorf("moved outwards to %g, cut %b", q, cut)
	}
	q := 1.5
	for range 500 {
		before := q
		q, _, _, _ = l.Apply(0, 0, 0.01)
		if before > 1 && q > before {
			t.Fatalf("moved outwards from %g to %g", before, q)
		}
	}
	if math.Abs(q) > 1 {
		t.Errorf("did not come in: %g", q)
	}
}

func TestNonFiniteComesToRest(t *testing.T) {
	b := Bounds{Lower: -5, Upper: 5, Velocity: 2, Acceleration: 4, Deceleration: 4}
	l := NewLimiter([]Bounds{b})
	l.Reset(0, 0)
	for n := range 100 {
		l.Apply(0, float64(n)*0.02, 0.01)
	}
	if v := l.Velocity(0); math.Abs(v-2) > 1e-6 {
		t.Fatalf("v = %g", v)
	}
	for range 100 {
		if _, _, _, cut := l.Apply(0, math.NaN(), 0.01); cut&CutFinite == 0 {
			t.Fatal("not noticed")
		}
	}
	if v := l.Velocity(0); v != 0 {
		t.Errorf("v = %g after a second without a number", v)
	}
}

func TestUnboundedJointPassesEverythingFinite(t *testing.T) {
	l := NewLimiter([]Bounds{Unbounded})
	for _, want := range []float64{1, -1e6, 3, 1e12} {
		if q, _, _, cut := l.Apply(0, want, 0.001); q != want || cut != 0 {
			t.Errorf("%g became %g, cut %b", want, q, cut)
		}
	}
	if q, _, _, cut := l.Apply(0, math.NaN(), 0.001); q != 1e12 || cut != CutFinite {
		t.Errorf("NaN became %g, cut %b", q, cut)
	}
}

// TestAskingFirstChangesNothing: a gate that was asked before gives, bit for bit, what
// one that was not asked gives, also if it was asked about another position or period, or
// the joint was put elsewhere since.
func TestAskingFirstChangesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 14))
	same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	for run := range 200 {
		b := []Bounds{randomBounds(rng)}
		asked, plain := NewLimiter(b), NewLimiter(b)
		want, dt := 0.0, 0.001
		for n := range 200 {
			if n%20 == 0 {
				dt = []float64{0.001, 0.0112}[rng.IntN(2)]
			}
			want = []float64{0, math.Copysign(0, -1), plain.q[0], nasty(rng, rng.IntN(9), plain.q[0], b[0])}[rng.IntN(4)]
			switch rng.IntN(5) {
			case 0:
				asked.Allows(0, nasty(rng, rng.IntN(9), plain.q[0], b[0]), dt)
			case 1:
				asked.Allows(0, want, 2*dt)
			case 2:
				asked.Allows(0, -want, dt)
			case 3:
				asked.Allows(0, want, dt)
				at := rng.NormFloat64()
				asked.Reset(0, at)
				plain.Reset(0, at)
			default:
				asked.Allows(0, want, dt)
			}
			q, v, a, cut := asked.Apply(0, want, dt)
			q1, v1, a1, cut1 := plain.Apply(0, want, dt)
			if !same(q, q1) || !same(v, v1) || !same(a, a1) || cut != cut1 {
				t.Fatalf("seed 5 14, run %d, tick %d, want %g: %g %g %g %b asked, %g %g %g %b not asked", run, n, want, q, v, a, cut, q1, v1, a1, cut1)
			}
		}
	}
}

func TestApplyDoesNotAllocate(t *testing.T) {
	l := NewLimiter([]Bounds{{-1, 1, 1, 1, 1, 1}})
	if n := testing.AllocsPerRun(100, func() { l.Apply(0, 3, 0.001) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzLimiter(f *testing.F) {
	f.Add(uint64(1), 0.001, 1.0, 2.0, 3.0)
	f.Fuzz(func(t *testing.T, seed uint64, dt, v, a, d float64) {
		for _, x := range []*float64{&dt, &v, &a, &d} {
			if math.IsNaN(*x) || math.IsInf(*x, 0) {
				t.Skip("non-finite: bounds of a joint are finite")
			}
			*x = math.Min(math.Max(math.Abs(*x), 1e-4), 1e4)
		}
		dt = math.Min(dt, 1) // a longer period is no control
		b := Bounds{Lower: -1, Upper: 1, Velocity: v, Acceleration: a, Deceleration: d}
		l := NewLimiter([]Bounds{b})
		l.Reset(0, 0)
		rng := rand.New(rand.NewPCG(seed, 1))
		q := 0.0
		for n := range 200 {
			q, _, _, _ = l.Apply(0, nasty(rng, rng.IntN(9), q, b), dt)
			if math.IsNaN(q) || q > 1+1e-6 || q < -1-1e-6 {
				t.Fatalf("tick %d: q = %g (dt %g, %+v)", n, q, dt, b)
			}
		}
	})
}

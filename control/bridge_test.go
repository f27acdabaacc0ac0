package control

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/trajectory/move"
)

// wave is a reference that uses a share of the limits: a sine with random phase.
type wave struct{ centre, amplitude, ω, φ float64 }

func (w wave) at(t float64) move.State {
	s, c := math.Sincos(w.ω*t + w.φ)
	return move.State{P: w.centre + w.amplitude*s, V: w.amplitude * w.ω * c, A: -w.amplitude * w.ω * w.ω * s}
}

// randomWave keeps speed and acceleration below a share of the limits.
func randomWave(rng *rand.Rand, l move.Limits, share float64) wave {
	w := wave{centre: rng.Float64()*2 - 1, ω: 0.5 + 4*rng.Float64(), φ: 2 * math.Pi * rng.Float64()}
	w.amplitude = rng.Float64() * share * min(l.VelMax/w.ω, l.AccMax/(w.ω*w.ω))
	return w
}

// TestRandomSwitchesAreSmooth hands joints over at random instants, also in the
// middle of hand-overs: the command is continuous in position and velocity, its
// acceleration stays within the limit, and at the end it is the reference bit for
// bit.
func TestRandomSwitchesAreSmooth(t *testing.T) {
	const n, dt, peak = 3, 0.002, 0.4
	switches := 100000
	if testing.Short() {
		switches = 5000
	}
	rng := rand.New(rand.NewPCG(8, 15))
	limits := make([]move.Limits, n)
	joints := make([]int, n)
	for i := range limits {
		limits[i] = move.Symmetric(1+3*rng.Float64(), 5+20*rng.Float64(), 100+400*rng.Float64())
		joints[i] = i
	}
	b, err := NewBridge(BridgeConfig{}, limits, make([]bool, n))
	if err != nil {
		t.Fatal(err)
	}
	reference := make([]wave, n)
	for i := range reference {
		reference[i] = randomWave(rng, limits[i], peak)
	}
	command, next := make([]move.State, n), make([]move.State, n)
	for i := range command {
		command[i] = reference[i].at(0)
	}
	now, done, equal := 0.0, 0, 0
	for done < switches {
		if rng.IntN(15) == 0 {
			done++
			for i := range next {
				reference[i] = randomWave(rng, limits[i], peak)
				next[i] = reference[i].at(now)
			}
			b.Begin(now, joints, command, next, peak)
		}
		now += dt
		for i := range command {
			r, o := reference[i].at(now), b.Offset(i, now)
			c := move.State{P: r.P + o.P, V: r.V + o.V, A: r.A + o.A}
			checkStep(t, i, limits[i], command[i], c, dt)
			if !b.Active(i) {
				equal++
				if c != r {
					t.Fatalf("the hand-over is over, and command %v is not reference %v", c, r)
				}
			}
			command[i] = c
		}
	}
	t.Logf("%d switches of %d joints, %d samples on the reference", done, n, equal)
	if equal == 0 {
		t.Error("no hand-over ever ended")
	}
}

// checkStep asks that a step agrees with position, velocity and acceleration: a
// jump in any of them would not.
func checkStep(t *testing.T, i int, l move.Limits, a, b move.State, dt float64) {
	t.Helper()
	// with acceleration within ±A over the step, these hold exactly
	A := l.AccMax * (1 + 1e-6)
	if d := math.Abs(b.V - a.V); d > A*dt+1e-9 {
		t.Fatalf("joint %d: velocity changed by %g in a step, at most %g can be", i, d, A*dt)
	}
	if d := math.Abs(b.P - a.P - a.V*dt); d > A*dt*dt/2+1e-9 {
		t.Fatalf("joint %d: position is %g off what velocity says, at most %g can be", i, d, A*dt*dt/2)
	}
	if math.Abs(b.A) > A {
		t.Fatalf("joint %d: acceleration %g, limit %g", i, b.A, l.AccMax)
	}
}

func TestContinuousJointsGoTheShortWay(t *testing.T) {
	l := []move.Limits{move.Symmetric(2, 5, 50)}
	b, _ := NewBridge(BridgeConfig{}, l, []bool{true})
	b.Begin(0, []int{0}, []move.State{{P: 3}}, []move.State{{P: -3}}, 0)
	if o := b.Offset(0, 0); math.Abs(o.P-(6-2*math.Pi)) > 1e-12 {
		t.Errorf("offset %g, want the short way %g", o.P, 6-2*math.Pi)
	}
}

func TestExponentialDecaysCriticallyDamped(t *testing.T) {
	l := []move.Limits{move.Symmetric(2, 5, 50)}
	b, err := NewBridge(BridgeConfig{Decay: Exponential, TimeConstant: 0.2}, l, []bool{false})
	if err != nil {
		t.Fatal(err)
	}
	b.Begin(1, []int{0}, []move.State{{P: 1, V: -0.5}}, []move.State{{}}, 0)
	if o := b.Offset(0, 1); o.P != 1 || math.Abs(o.V+0.5) > 1e-12 {
		t.Errorf("begins at %+v", o)
	}
	const h = 1e-5
	for _, at := range []float64{1.05, 1.3, 2} {
		x, y, z := b.Offset(0, at-h), b.Offset(0, at), b.Offset(0, at+h)
		if d := (z.P - x.P) / (2 * h); math.Abs(d-y.V) > 1e-7 {
			t.Errorf("velocity %g, difference %g", y.V, d)
		}
		if law := -2/0.2*y.V - y.P/0.04; math.Abs(law-y.A) > 1e-9 {
			t.Errorf("acceleration %g, the law says %g", y.A, law)
		}
	}
	if o := b.Offset(0, 1+expEnds*0.2); o != (move.State{}) || b.Active(0) {
		t.Errorf("does not end: %+v", o)
	}
}

func TestHandOverOfNothingTakesNoTime(t *testing.T) {
	b, _ := NewBridge(BridgeConfig{}, []move.Limits{move.Symmetric(1, 1, 1)}, []bool{false})
	s := []move.State{{P: 1, V: 0.5, A: 0.1}}
	if d := b.Begin(0, []int{0}, s, s, 0.5); d != 0 || b.Active(0) {
		t.Errorf("takes %g s", d)
	}
}

func TestAllJointsOfAHandOverEndTogether(t *testing.T) {
	b, _ := NewBridge(BridgeConfig{}, []move.Limits{move.Symmetric(1, 2, 10), move.Symmetric(3, 9, 90)}, make([]bool, 2))
	d := b.Begin(0, []int{0, 1}, []move.State{{P: 1}, {P: 0.01}}, make([]move.State, 2), 0)
	for j := range 2 {
		if o := b.Offset(j, d*0.999); o.P == 0 {
			t.Errorf("joint %d is there early", j)
		}
		if o := b.Offset(j, d); o != (move.State{}) {
			t.Errorf("joint %d is late: %+v", j, o)
		}
	}
}

func TestBridgeDoesNotAllocate(t *testing.T) {
	l := []move.Limits{move.Symmetric(1, 2, 10), move.Symmetric(3, 9, 90)}
	b, _ := NewBridge(BridgeConfig{}, l, make([]bool, 2))
	joints, from, to := []int{1, 0}, []move.State{{P: 1}, {V: 1}}, make([]move.State, 2)
	if n := testing.AllocsPerRun(100, func() {
		b.Begin(0, joints, from, to, 0.5)
		b.Offset(0, 0.1)
		b.Offset(1, 0.2)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestDecaysHaveNames(t *testing.T) {
	for _, d := range []Decay{JerkLimited, Exponential} {
		text, _ := d.MarshalText()
		var back Decay
		if err := back.UnmarshalText(text); err != nil || back != d {
			t.Errorf("%s: %v, %v", text, back, err)
		}
	}
	var d Decay
	if err := d.UnmarshalText([]byte("linear")); err == nil {
		t.Error("any name is a decay")
	}
	for _, T := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := NewBridge(BridgeConfig{Decay: Exponential, TimeConstant: T}, nil, nil); err == nil {
			t.Errorf("time constant %g was accepted", T)
		}
	}
}

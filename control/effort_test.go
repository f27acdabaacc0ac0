package control

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/arbiter"
	"poise/servo"
	"poise/trajectory/move"
)

// TestEffortIsHandedOver changes writers, programs and reference jumps at random
// instants: feed-forward never steps by more than its hand-over takes, a joint
// that becomes unowned keeps the load that it carried bit for bit, and when a
// hand-over has ended the command is the reference bit for bit.
func TestEffortIsHandedOver(t *testing.T) {
	for _, decay := range []BridgeConfig{{}, {Decay: Exponential, TimeConstant: 0.1}} {
		t.Run(decay.Decay.String(), func(t *testing.T) { effortIsHandedOver(t, decay) })
	}
}

func effortIsHandedOver(t *testing.T, decay BridgeConfig) {
	changes := 600
	if testing.Short() {
		changes = 80
	}
	rng := rand.New(rand.NewPCG(21, 5))
	r := newRigWith(t, "arm6", decay)
	n, k := len(r.mode), r.shaper
	r.ref.Has = r.all()
	var load []wave
	reload := func() {
		load = load[:0]
		for range n {
			load = append(load, wave{centre: 8 * (rng.Float64() - 0.5), amplitude: rng.Float64(), ω: 3 * rng.Float64(), φ: 6 * rng.Float64()})
		}
	}
	reload()
	was, equal, held := make([]float64, n), 0, 0
	const largest, slope = 10.0, 3.0 // N·m between two references, and N·m/s of one
	fade := leastEffortFade
	if decay.Decay == Exponential {
		fade = decay.TimeConstant
	}
	step := (largest/fade + slope + 1e-9) * period
	for change := range changes {
		switch rng.IntN(5) {
		case 0:
			r.writer = arbiter.NoClient
		case 1:
			reload() // the same writer begins something else
			k.Renew(r.ref.Has)
		default:
			reload()
			k.Renew(r.ref.Has)
			r.writer = arbiter.ClientID(change % 3)
		}
		length := 1 + rng.IntN(40)
		if rng.IntN(10) == 0 {
			length = 500
		}
		for tick := range length {
			now := float64(r.n+1) * period
			for j := range n {
				r.ref.Tau[j] = load[j].at(now).P
			}
			r.step()
			for j := range n {
				got := k.Motion.Tau[j]
				if d := math.Abs(got - was[j]); d > step {
					t.Fatalf("tick %d, joint %d: feed-forward steps by %g N·m, %g at most", r.n, j, d, step)
				}
				if r.writer == arbiter.NoClient {
					if held++; got != was[j] {
						t.Fatalf("tick %d, joint %d: held with %g N·m, carried %g", r.n, j, got, was[j])
					}
				} else if tick > 450 {
					if equal++; got != r.ref.Tau[j] {
						t.Fatalf("tick %d, joint %d: %g N·m long after a hand-over to %g", r.n, j, got, r.ref.Tau[j])
					}
				}
				was[j] = got
			}
		}
	}
	if equal == 0 || held == 0 {
		t.Errorf("%d values on the reference, %d held", equal, held)
	}
}

// TestEffortFadesAsLongAsTheMotion: a far hand-over of motion takes the
// feed-forward along.
func TestEffortFadesAsLongAsTheMotion(t *testing.T) {
	r := newRig(t, "arm6")
	k := r.shaper
	r.writer, r.ref.Has = 1, r.all()
	r.ref.Q[0], r.ref.Tau[0] = 1, 5
	r.step()
	began, ends := float64(r.n-1)*period, k.bridge.joints[0].ends
	if ends < 2*leastEffortFade {
		t.Fatalf("the motion is handed over in %g s: too near", ends)
	}
	for k.HandingOver(0) {
		now := float64(r.n) * period
		if want := 5 * (now - began) / ends; math.Abs(k.Motion.Tau[0]-want) > 1e-9 {
			t.Fatalf("after %g of %g s: %g N·m, want %g", now-began, ends, k.Motion.Tau[0], want)
		}
		r.step()
	}
	if k.Motion.Tau[0] != 5 {
		t.Errorf("%g N·m after the hand-over", k.Motion.Tau[0])
	}
}

// TestEffortKeepsItsLimit: what a joint cannot give is cut, and said.
func TestEffortKeepsItsLimit(t *testing.T) {
	r := newRig(t, "arm6")
	k := r.shaper
	r.writer, r.ref.Has = 1, r.all()
	most := r.m.Joints()[3].Limits.Effort.Value
	for _, want := range []float64{-3 * most, 3 * most} {
		r.ref.Tau[3] = want
		k.Renew(r.ref.Has)
		for range 200 {
			r.step()
			if math.Abs(k.Motion.Tau[3]) > most {
				t.Fatalf("%g N·m, limit %g", k.Motion.Tau[3], most)
			}
			if over := math.Abs(k.Motion.Tau[3]) == most; over != (k.Cut[3]&CutEffort != 0) {
				t.Fatalf("%g N·m, limit %g, cut %b", k.Motion.Tau[3], most, k.Cut[3])
			}
		}
		if k.Motion.Tau[3] != math.Copysign(most, want) || k.Cut[2] != 0 {
			t.Errorf("asked for %g: %g N·m, cuts %v", want, k.Motion.Tau[3], k.Cut)
		}
	}
	// within the limit again: no cut, and the reference bit for bit
	r.ref.Tau[3] = most / 3
	r.step()
	if k.Motion.Tau[3] != most/3 || k.Cut[3] != 0 {
		t.Errorf("%g N·m, cut %b", k.Motion.Tau[3], k.Cut[3])
	}
}

// TestEffortOfAJumpingReference: a reference that jumps in every tick is handed over
// in every tick, and its feed-forward still arrives.
func TestEffortOfAJumpingReference(t *testing.T) {
	r := newRig(t, "arm6")
	k := r.shaper
	r.writer, r.ref.Has = 1, r.all()
	r.ref.Tau[0] = 4
	for i := range 800 {
		r.ref.Q[0] = 1 - 2*float64(i%2)
		r.step()
	}
	if got := k.Motion.Tau[0]; math.Abs(got-4) > 0.01 {
		t.Errorf("%g N·m after 9 s of jumps, want 4", got)
	}
}

// TestGateLeavesEffortAlone: a motion that the gate cut is handed over anew, and its
// feed-forward is not slowed down by that.
func TestGateLeavesEffortAlone(t *testing.T) {
	r := newRig(t, "arm6")
	k := r.shaper
	r.writer, r.ref.Has = 1, r.all()
	for i := range 100 {
		r.ref.Tau[0] = math.Sin(float64(i) * period)
		k.fresh = k.fresh.With(0) // as Limit says it
		r.step()
		if i > 30 && k.Motion.Tau[0] != r.ref.Tau[0] {
			t.Fatalf("tick %d: %g N·m, reference %g", r.n, k.Motion.Tau[0], r.ref.Tau[0])
		}
	}
}

// TestNoEffortWithoutTorque: a limp joint has none, and begins at none.
func TestNoEffortWithoutTorque(t *testing.T) {
	for _, off := range []servo.Mode{servo.Off, servo.Brake} {
		r := newRig(t, "arm6")
		k := r.shaper
		r.writer, r.ref.Has = 1, r.all()
		r.ref.Tau[2] = 6
		for range 100 {
			r.step()
		}
		r.mode[2] = off
		r.step()
		if k.Motion.Tau[2] != 0 || k.Motion.Tau[1] != r.ref.Tau[1] {
			t.Errorf("%v: %g N·m", off, k.Motion.Tau[2])
		}
		r.mode[2] = servo.Position
		k.Follow(2, 0)
		k.Forget(2)
		r.step()
		if got := k.Motion.Tau[2]; got <= 0 || got > 6*period/leastEffortFade+1e-12 {
			t.Errorf("%v: begins with %g N·m", off, got)
		}
	}
}

// TestSentJointKeepsItsLoad on its way to a place, and a placed one has none.
func TestSentJointKeepsItsLoad(t *testing.T) {
	r := newRig(t, "arm6")
	k := r.shaper
	r.writer, r.ref.Has = 1, r.all()
	r.ref.Tau[1] = 6
	for range 10 { // in the middle of a hand-over
		r.step()
	}
	load := k.Motion.Tau[1]
	r.writer = arbiter.NoClient
	k.Send(1, 0.4)
	for range 400 {
		r.step()
		if k.Motion.Tau[1] != load {
			t.Fatalf("%g N·m on the way, %g before", k.Motion.Tau[1], load)
		}
	}
	if k.Motion.Q[1] != 0.4 || load == 0 {
		t.Errorf("at %g with %g N·m", k.Motion.Q[1], load)
	}
	k.Place(1, 0.2)
	r.step()
	if k.Motion.Tau[1] != 0 || k.Motion.Q[1] != 0.2 {
		t.Errorf("placed at %g with %g N·m", k.Motion.Q[1], k.Motion.Tau[1])
	}
}

// TestBridgeIgnoresNonFiniteEffort: it has nothing to fade from.
func TestBridgeIgnoresNonFiniteEffort(t *testing.T) {
	b, err := NewBridge(BridgeConfig{}, []move.Limits{move.Symmetric(1, 1, 1)}, []bool{false})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		b.BeginEffort(0, 0, x, 1)
		if got := b.EffortOffset(0, 0.1); got != 0 {
			t.Errorf("%g from %g", got, x)
		}
	}
	b.BeginEffort(0, 0, 3, 1)
	if got := b.EffortOffset(0, 0.1); math.Abs(got-2*(1-0.1/leastEffortFade)) > 1e-12 {
		t.Errorf("%g", got)
	}
	b.DropEffort(0)
	if b.EffortOffset(0, 0.1) != 0 || b.Active(0) {
		t.Error("dropped, and goes on")
	}
}

func TestEffortDoesNotAllocate(t *testing.T) {
	r := newRig(t, "arm6")
	r.ref.Has = r.all()
	if n := testing.AllocsPerRun(500, func() {
		r.writer = arbiter.ClientID(r.n / 20 % 3)
		if r.n/20%4 == 0 {
			r.writer = arbiter.NoClient
		}
		r.ref.Tau[0] = float64(r.n % 7)
		r.step()
	}); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
}

// TestGuardBoundsEveryMode: effort, velocity and gains of all modes.
func TestGuardBoundsEveryMode(t *testing.T) {
	g := NewGuard([]GuardBounds{{Lower: -1, Upper: 1, Rate: 5, Distance: 0.5, Effort: 2}})
	here := servo.Reading{Position: 0.2}
	inf := math.Inf(1)
	for _, tc := range []struct {
		name string
		in   servo.Setpoint
		want servo.Setpoint
		trip Trip
	}{
		{"effort", servo.Setpoint{Mode: servo.Effort, Effort: 1.5}, servo.Setpoint{Mode: servo.Effort, Effort: 1.5}, 0},
		{"too much", servo.Setpoint{Mode: servo.Effort, Effort: -7}, servo.Setpoint{Mode: servo.Effort, Effort: -2}, TripEffort},
		{"velocity", servo.Setpoint{Mode: servo.Velocity, Velocity: 4}, servo.Setpoint{Mode: servo.Velocity, Velocity: 4}, 0},
		{"too fast", servo.Setpoint{Mode: servo.Velocity, Velocity: 9}, servo.Setpoint{Mode: servo.Velocity, Velocity: 5}, TripRate},
		{"position of no meaning", servo.Setpoint{Mode: servo.Velocity, Position: 9}, servo.Setpoint{Mode: servo.Velocity, Position: 9}, 0},
		{"impedance", servo.Setpoint{Mode: servo.Impedance, Position: 0.3, Kp: 8, Kd: 1, Effort: 1}, servo.Setpoint{Mode: servo.Impedance, Position: 0.3, Kp: 8, Kd: 1, Effort: 1}, 0},
		{"too far", servo.Setpoint{Mode: servo.Impedance, Position: 0.9, Kp: 8}, servo.Setpoint{Mode: servo.Impedance, Position: 0.7, Kp: 8}, TripDistance},
		{"gains below zero", servo.Setpoint{Mode: servo.Impedance, Position: 0.3, Kp: -8, Kd: -1}, servo.Setpoint{Mode: servo.Impedance, Position: 0.3}, TripRange},
		{"feed-forward", servo.Setpoint{Mode: servo.Position, Position: 0.3, Velocity: 1, Effort: 3, Stiffness: 1, PlayTime: 0.01}, servo.Setpoint{Mode: servo.Position, Position: 0.3, Velocity: 1, Effort: 2, Stiffness: 1, PlayTime: 0.01}, TripEffort},
		{"off", servo.Setpoint{Mode: servo.Off, Effort: inf}, servo.Setpoint{Mode: servo.Off, Effort: inf}, 0},
	} {
		g.Reset(0)
		got := tc.in
		if trip := g.Apply(0, &got, &here, 0.01); got != tc.want || trip != tc.trip {
			t.Errorf("%s: %+v, trip %b; want %+v, %b", tc.name, got, trip, tc.want, tc.trip)
		}
	}
	// what is not finite becomes the last that was, at rest
	g.Reset(0)
	sane := servo.Setpoint{Mode: servo.Impedance, Position: 0.3, Velocity: 1, Effort: 1, Kp: 8, Kd: 1}
	s := sane
	g.Apply(0, &s, &here, 0.01)
	sane.Velocity = 0
	for _, bad := range []servo.Setpoint{{Mode: servo.Effort, Effort: math.NaN()}, {Mode: servo.Impedance, Kp: inf}, {Mode: servo.Velocity, Velocity: -inf}} {
		s = bad
		if trip := g.Apply(0, &s, &here, 0.01); s != sane || trip != TripFinite {
			t.Errorf("%+v became %+v, trip %b", bad, s, trip)
		}
	}
}

// TestWhatDynamicsAddsIsNotHandedOver: effort that is added to that of references changes nothing
// of how these are handed over, and is within the limit with them.
func TestWhatDynamicsAddsIsNotHandedOver(t *testing.T) {
	with, without := newRig(t, "arm6"), newRig(t, "arm6")
	const added = 3.0
	for i := range 400 {
		for _, r := range []*rig{with, without} {
			r.writer, r.ref.Has = 1+arbiter.ClientID(i/150%2), r.all()
			r.ref.Tau[0] = float64(i / 150 % 2)
			r.step()
		}
		with.shaper.AddEffort(0, added)
		if off := with.shaper.Motion.Tau[0] - without.shaper.Motion.Tau[0] - added; math.Abs(off) > 1e-12 {
			t.Fatalf("tick %d: %g N·m with, %g without", i, with.shaper.Motion.Tau[0], without.shaper.Motion.Tau[0])
		}
	}
	most := with.shaper.Bounds(0).Effort
	if with.shaper.AddEffort(0, 10*most); with.shaper.Motion.Tau[0] != most || with.shaper.Cut[0]&CutEffort == 0 {
		t.Errorf("%g N·m, limit %g, cut %b", with.shaper.Motion.Tau[0], most, with.shaper.Cut[0])
	}
}

package bus_test

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"poise/servo"
	"poise/servo/emulator"
)

// worst is everything at once that a line can do to its packets.
var worst = emulator.Trouble{Loss: 0.1, Corrupt: 0.01, Late: 0.05, LateBy: 7 * time.Millisecond, Swap: 0.01, Echo: true}

// TestHundredThousandCycles: in the time of the line, with a tenth of the packets lost, others
// broken, late or with another's id, an echo, servos that die, reset and come back and an
// adapter that is pulled out: no servo is told what it must not be, none jumps, faults are told
// while they last and are over afterwards, without a restart. All of them in make soak, a share elsewhere.
func TestHundredThousandCycles(t *testing.T) {
	cycles := 4_000
	if os.Getenv("POISE_SOAK") != "" {
		cycles = 100_000
	}
	if testing.Short() {
		cycles = 800
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { endure(t, k.name, k.zero, k.baud, cycles/len(kinds)) })
		})
	}
}

// endure drives four servos through so many cycles of trouble.
func endure(t *testing.T, kind string, zero float64, baud, cycles int) {
	const period = 0.02
	r := newRig(t, newBed(t, turntable(t, 4, kind, zero), baud, period, false), period)
	r.run(2, nil)
	r.calm(t, 0.05)
	rng := rand.New(rand.NewPCG(19, uint64(len(kind))))
	r.trouble(worst)
	last := make([]float64, len(r.src))
	for j := range last {
		last[j] = r.world.Read(j).Position
	}
	told := struct{ dead, reset, pulled int }{}
	for int(r.n) < cycles {
		act, joint := rng.IntN(4), rng.IntN(4)
		s := r.servos.Servos()[joint]
		switch act {
		case 1:
			r.servos.With(func() { s.Kill(true) })
		case 2:
			r.servos.With(func() { s.Reset() })
		case 3:
			r.unplug(true)
		}
		seen := servo.Fault(0)
		fastest := 0.0
		watch := func() {
			seen |= r.dst.Joints[joint].Fault | r.fault
			for j := range last {
				at := r.world.Read(j).Position
				fastest = max(fastest, math.Abs(at-last[j])/period)
				last[j] = at
			}
		}
		r.run(3, watch)
		switch {
		case act == 1 && seen&servo.NoAnswer != 0:
			told.dead++
		case act == 2 && seen&(servo.Restarted|servo.NoAnswer) != 0:
			told.reset++
		case act == 3 && seen&servo.BusDown != 0:
			told.pulled++
		case act != 0:
			t.Fatalf("cycle %d: trouble %d of joint %d was not told: %v", r.n, act, joint, seen)
		}
		r.servos.With(func() { s.Kill(false) })
		r.unplug(false)
		r.run(5, watch)
		// a wave of 0.3 rad/s, the ramp of 0.5 and what is caught up after lost packets; HerkuleX's check
		// sums let a disturbed goal pass
		if limit := 6.0; fastest > limit && unseen(kind) == 0 {
			t.Fatalf("cycle %d: a joint turned at %.1f rad/s", r.n, fastest)
		}
		if v := r.violations(); len(v) > 0 {
			t.Fatalf("cycle %d: %+v", r.n, v[0])
		}
	}
	r.trouble(emulator.Trouble{})
	r.run(6, nil)
	r.calm(t, 0.05)
	for j := range r.dst.Joints {
		if f := r.dst.Joints[j]; f.Fault != 0 || f.Age > 3 || r.fault != 0 {
			t.Errorf("afterwards joint %d: %+v, the bus %v", j, f, r.fault)
		}
	}
	t.Logf("%d cycles; told: %+v", r.n, told)
}

// unplug pulls the adapter out, or puts it back.
func (b *bed) unplug(out bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pulled = out; out {
		for _, p := range b.ports {
			p.Close()
		}
		b.ports = nil
	}
}

// TestALineThatGoesWhileAllServosAreLost: nothing is asked for states any more then, and the line
// is opened again all the same.
func TestALineThatGoesWhileAllServosAreLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const period = 0.02
		r := newRig(t, newBed(t, turntable(t, 2, "sts3215", 2048), 1_000_000, period, false), period)
		kill := func(dead bool) {
			r.servos.With(func() {
				for _, s := range r.servos.Servos() {
					s.Kill(dead)
				}
			})
		}
		r.run(1, nil)
		kill(true)
		r.run(1, nil)
		r.unplug(true)
		r.run(1, nil)
		kill(false)
		r.unplug(false)
		r.run(3, nil)
		if r.fault != 0 || r.dst.Joints[0].Fault != 0 || r.dst.Joints[1].Fault != 0 {
			t.Errorf("fault %v, %+v", r.fault, r.dst.Joints)
		}
	})
}

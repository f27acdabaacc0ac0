package external_test

import (
	"math"
	"testing"

	"poise/external"
	"poise/spatial"
)

// TestRandomLiftOffsInTime: a foot of a leg that moves at random and lets go of 7 N at 22.4 ms, or of 5 N at 11.2 ms, is told to lift off
// within 220 and 180 ms in 95 of 100 cases: three ticks, and what the leg takes to spring back and the force to be known as gone. At most
// one of twenty is missed, or told before. A short run asks for 90 of 100.
func TestRandomLiftOffsInTime(t *testing.T) {
	n, seeds, share := 20, 1, 0.90
	if soak() {
		n, seeds, share = 250, 4, 0.95
	}
	for _, c := range []struct{ dt, force, within float64 }{{0.0224, 7, 0.220}, {0.0112, 5, 0.180}, {0.0224, 3, 0.300}, {0.0112, 3, 0.180}} {
		var latency []float64
		missed, early := 0, 0
		for seed := range seeds {
			p := newPlant(t, config{dt: c.dt, seed: uint64(seed + 1), off: 0.05, speed: 1, pose: crouched})
			p.expect(0.95)
			p.run(2)
			for range n {
				foot := p.feet[p.rng.IntN(len(p.feet))]
				p.push(foot, spatial.Vec3{X: 0.3 * (2*p.rng.Float64() - 1), Y: 0.3 * (2*p.rng.Float64() - 1), Z: 1}.Scale(c.force))
				for began := p.time(); p.time() < began+0.4+0.2*p.rng.Float64(); p.step() {
				}
				if !p.sense.Contact(foot).Carries() {
					early++
					p.push(foot, spatial.Vec3{})
					p.run(0.3)
					continue
				}
				p.dueAt = p.rng.Float64()
				p.due = func() { p.push(foot, spatial.Vec3{}) }
				let, found := p.time()+p.delay(), -1.0
				for p.time() < let+0.5 {
					p.step()
					for _, e := range p.sense.Events() {
						if e.Kind == external.LiftOff && e.Chain == foot && found < 0 {
							found = p.time() - let
						}
					}
				}
				if found < 0 {
					missed++
				} else {
					latency = append(latency, found)
				}
			}
		}
		t.Logf("%.1f ms, %g N: lift-off after %.1f ms, p95 %.1f ms, %d missed, %d before it, of %d", 1e3*c.dt, c.force,
			1e3*quantile(latency, 0.5), 1e3*quantile(latency, 0.95), missed, early, n*seeds)
		if late := quantile(latency, share); late > c.within || float64(missed+early) > 0.05*float64(n*seeds) {
			t.Errorf("%.1f ms, %g N: %g of 100 lift-offs take up to %.1f ms, want %.0f ms; %d are missed, %d told before, of %d", 1e3*c.dt, c.force, 100*share, 1e3*late, 1e3*c.within, missed, early, n*seeds)
		}
	}
}

// TestTheForceOfATouchDown is max(1.5 N, 5σ), exactly: at 22.4 ms, where nothing is extrapolated, a foot that is about to land stands
// from the first tick on in which the force on it, less what friction may explain, is above that, and not before; one that is not
// expected to from the second one in a row, or at twice the force. On bent legs 1.5 N decide, on nearly straight ones 5σ.
func TestTheForceOfATouchDown(t *testing.T) {
	by := map[string]int{}
	for _, c := range []struct {
		pose  string
		phase float64
	}{{crouched, 0.95}, {crouched, 0.5}, {"", 0.95}, {"", 0.5}} {
		p := newPlant(t, config{dt: 0.0224, seed: 3, off: 0.05, speed: 1, pose: c.pose})
		p.expect(c.phase)
		p.run(2)
		foot, above, force := p.feet[0], 0, 0.0
		for k := range 800 {
			if k%40 == 0 {
				force = 12 * p.rng.Float64()
			}
			p.push(foot, spatial.Vec3{Z: force * math.Min(1, math.Mod(float64(k), 40)/20)})
			swung := !p.sense.Contact(foot).Carries()
			p.step()
			f := p.sense.Contact(foot)
			on, decides := 1.5, "1.5 N"
			if 5*f.Sigma > on {
				on, decides = 5*f.Sigma, "5σ"
			}
			if f.On != on {
				t.Fatalf("tick %d: the force of a touch-down is %g N, at σ = %g N", k, f.On, f.Sigma)
			}
			sure := f.Force - f.Doubt
			if above++; sure <= on {
				above = 0
			}
			if up := f.Force >= 0.5*p.sense.Limb(foot).Force.Norm(); c.phase < 0.8 && !up {
				above = 0
			}
			want := above >= 2 || above == 1 && (c.phase > 0.8 || sure > 2*on)
			if !swung {
				continue
			}
			if f.Carries() != want {
				t.Fatalf("%q, phase %g, tick %d: %.3f N less %.3f N, of which %.3f N are a touch-down, for %d ticks: stands %v", c.pose, c.phase, k, f.Force, f.Doubt, on, above, f.Carries())
			}
			if want {
				by[decides]++
			}
		}
	}
	t.Logf("touch-downs by what decided: %v", by)
	if by["1.5 N"] < 5 || by["5σ"] < 5 {
		t.Errorf("too few touch-downs to judge by: %v", by)
	}
}

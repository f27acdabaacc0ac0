package lookat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/control/lookat"
	"poise/internal/rig"
	"poise/spatial"
)

// TestHeadFollowsTargetsThatNeverRest: a detector of faces gives noisy targets, 30 in
// a second. However often they jump, the head begins in its time after the eyes and
// turns to where it would turn without the noise; commands stay within limits (the
// rig judges).
func TestHeadFollowsTargetsThatNeverRest(t *testing.T) {
	const (
		seconds = 5
		side    = 0.8 // rad to the left, where the face goes at once
		// how far the neck may be on average from where it stands without noise: the
		// head takes the newest of the targets of 0.12 s, and those of the last
		// seconds are some twenty
		about = 0.15 // rad
	)
	face := func(yaw, pitch float64) spatial.Vec3 {
		return spatial.Vec3{X: 2 * math.Cos(yaw) * math.Cos(pitch), Y: 2 * math.Sin(yaw) * math.Cos(pitch), Z: 0.35 + 2*math.Sin(pitch)}
	}
	run := func(period, rate, noise float64, seed uint64) (moved, mean float64) {
		r := setup(t, rig.Options{Period: period})
		rng := rand.New(rand.NewPCG(seed, 30))
		r.Start("look_at", at(t, r, 2, 0, 0.35))
		r.For(1)
		neck, n := r.Joint("joint52"), 0
		before, began, next := r.Now.Command.Q[neck], r.Seconds(), r.Seconds()
		for r.Seconds()-began < seconds {
			if r.Seconds() >= next {
				p := face(side+noise*(2*rng.Float64()-1), noise/2*(2*rng.Float64()-1))
				r.Feed("look_at", &lookat.Target{At: r.Tick().Time, Point: p})
				next += 1 / rate
			}
			r.Run(1)
			since := r.Seconds() - began
			if moved == 0 && math.Abs(r.Now.Command.Q[neck]-before) > 1e-3 {
				moved = since
			}
			if since > seconds/2 {
				mean, n = mean+r.Now.Command.Q[neck], n+1
			}
		}
		return moved, mean / float64(n)
	}
	for _, c := range []struct{ period, rate, noise float64 }{
		{0.0112, 30, 0.25}, {0.001, 30, 0.25}, {0.001, 30, 0.5}, {0.002, 10, 0.3}, {0.001, 100, 0.3}, {0.001, 1000, 0.2},
	} {
		calm, stands := run(c.period, c.rate, 0, 0)
		moved, mean := run(c.period, c.rate, c.noise, 1)
		t.Logf("%g Hz, noise %g rad: neck after %.3f s (%.3f without noise), at %.2f rad on average (%.2f)", c.rate, c.noise, moved, calm, mean, stands)
		if stands < side/2 || !(moved > 0.05 && moved <= calm+0.05) || math.Abs(mean-stands) > about {
			t.Errorf("%g Hz, noise %g rad, seed 1, 30: neck after %g s (%g without noise), at %g rad on average (%g)", c.rate, c.noise, moved, calm, mean, stands)
		}
		if testing.Short() {
			break
		}
	}
}

// TestAnyTargetsKeepTheLimits: targets at random, near and far, jumping at random
// times; the rig judges commands.
func TestAnyTargetsKeepTheLimits(t *testing.T) {
	runs := uint64(6)
	if testing.Short() {
		runs = 1
	}
	for seed := range runs {
		rng := rand.New(rand.NewPCG(seed, 31))
		r := setup(t, rig.Options{Period: []float64{0.0112, 0.001, 0.004}[seed%3]})
		r.Start("look_at", at(t, r, 2, 0, 0.35))
		wide, often := 0.2+1.5*rng.Float64(), 0.01+0.3*rng.Float64()
		for began := r.Seconds(); r.Seconds()-began < 8 && !t.Failed(); {
			yaw, pitch, far := wide*(2*rng.Float64()-1), wide/2*(2*rng.Float64()-1), 0.3+3*rng.Float64()
			r.Feed("look_at", &lookat.Target{At: r.Tick().Time, Point: spatial.Vec3{
				X: far * math.Cos(yaw) * math.Cos(pitch), Y: far * math.Sin(yaw) * math.Cos(pitch), Z: 0.35 + far*math.Sin(pitch)}})
			r.For(often * rng.Float64())
			r.Run(1)
		}
	}
}

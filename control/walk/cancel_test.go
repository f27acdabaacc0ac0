package walk_test

import (
	"math/rand/v2"
	"testing"

	"poise/control"
	"poise/control/walk"
	"poise/gait"
)

// TestACancelWaitsForTheStand: when its first feet are about to be lifted, stepping in place has all joints at rest for a moment, and two feet that
// carry nothing any more. A cancel, or a stop of category 2, in any tick around that ends the walk on four feet that carry.
func TestACancelWaitsForTheStand(t *testing.T) {
	v := gait.Velocity{}
	begin := func() (*walker, uint64) {
		w := setup(t, "stand")
		goal := w.begin()
		w.Feed("walk", &walk.Choice{At: w.Tick().Time, Gait: "in_place"})
		return w, goal
	}
	lightest := func(w *walker) float64 {
		least := 1.0
		for _, f := range w.feet {
			least = min(least, w.Now.Command.Support[f.Chain].Weight)
		}
		return least
	}
	w, _ := begin()
	ticks := 0
	for ; lightest(w) > 0 || ticks < 20; ticks++ {
		w.run(w.Dt, &v)
	}
	for late := -4; late <= 3; late++ {
		w, goal := begin()
		w.run(float64(ticks+late)*w.Dt, &v)
		if w.Cancel("walk"); late%2 != 0 {
			w.L.Stop(2)
		}
		before := lightest(w)
		for n := 0; ; n++ {
			if _, _, over := w.Ended(goal); over {
				break
			}
			before = lightest(w)
			if w.run(w.Dt, nil); n > 200 {
				t.Fatalf("%d ticks after the first foot is light: it does not end", late)
			}
		}
		if before != 1 {
			t.Errorf("%d ticks after the first foot is light: it ended with a foot that carries %g", late, before)
		}
	}
}

// TestAWalkStartsWhereAnotherEnded: walks with commands that jump are called off at random instants, and another one starts from the stand that each
// ended in: feet that are behind their places are put there by its first steps.
func TestAWalkStartsWhereAnotherEnded(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 26))
	w := setup(t, "stand")
	for n := range 80 {
		goal := w.begin() // which must start
		for range 2 + rng.IntN(3) {
			v := gait.Velocity{X: 0.1 * rng.NormFloat64(), Y: 0.05 * rng.NormFloat64(), Yaw: 0.5 * rng.NormFloat64()}
			w.Feed("walk", &walk.Choice{At: w.Tick().Time, Gait: []string{"crawl", "trot"}[rng.IntN(2)]})
			w.run(0.3+rng.Float64(), &v)
		}
		w.Cancel("walk")
		w.run(2, nil)
		if _, why, over := w.Ended(goal); !over || why.Code != control.Cancelled {
			t.Fatalf("walk %d: over %v, %+v", n, over, why)
		}
	}
}

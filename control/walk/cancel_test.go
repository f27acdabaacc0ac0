package walk_test

import (
	"testing"

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

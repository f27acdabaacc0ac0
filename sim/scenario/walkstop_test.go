package scenario

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"poise/internal/walks"
)

// TestInterruptedWalksInPhysics: pauses, speed overrides, stops of category 2, cancels with a new walk, walks to a place, a tail that is taken or loses
// its torque, velocities that end or are not finite, at random instants, with what the plan is not told: no fall, joints within their limits, and a walk
// that was stopped is over before the deadline. In cycle 2 a foot that lands may pass the limit of acceleration of a joint for a tick.
func TestInterruptedWalksInPhysics(t *testing.T) {
	seeds, seconds := uint64(1), 14.0
	if os.Getenv("POISE_SOAK") != "" {
		seeds, seconds = 5, 60
	}
	for seed := range seeds {
		for cycleNumber := 1; cycleNumber <= 2; cycleNumber++ {
			var x *walks.Interrupter
			r := runBy(t, fmt.Sprintf("duration: %g\nperiod: 0.0224\nstart: {pose: stand}\nmodel: {kp: 230, delay: 0.0112%s\ncontrol: {cycle: %d}\n", seconds, hard, cycleNumber), seed+1, func(c *cycle, _ float64) {
				if x == nil {
					x = walks.Interrupt(t, c.r.p.m, c.exec, c.loop, c.period, rand.New(rand.NewPCG(240, seed)))
				}
				x.Before(int64(math.Round(float64(c.n) * c.period * 1e9)))
			})
			tilt := r.Figures["tilt"].Greatest
			t.Logf("cycle %d, seed %d: %v; fallen %v, tilt %.3f rad, %v", cycleNumber, seed+1, x.Done, r.Fallen, tilt, x.Limits)
			if r.Fallen || tilt > 0.1 || !x.Limits.Kept(cycleNumber) || len(x.Ended) > 0 {
				t.Errorf("cycle %d, seed %d: fallen %v, tilt %g rad, %v, %q", cycleNumber, seed+1, r.Fallen, tilt, x.Limits, x.Ended)
			}
		}
	}
}

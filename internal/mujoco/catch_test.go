package mujoco

import (
	"fmt"
	"math"
	"testing"

	"poise/gait"
	"poise/spatial"
)

// TestRecoveryStepsInMuJoCo: pushed for 0.1 s so that it would tip over, the pony recovers by steps in MuJoCo, in cycle 1 at
// 11.2 ms. The short form pushes it ahead and to the left; the long one in all directions, in cycle 2, too, and by
// less, which needs no step.
func TestRecoveryStepsInMuJoCo(t *testing.T) {
	t.Parallel()
	Needed(t)
	bot := pony(t)
	const period, ticks = 0.0112, 9
	shares := []float64{1}
	if long() {
		shares = []float64{1, 0.94, 0.88, 0.82}
	}
	for _, c := range []struct {
		name  string
		push  spatial.Vec3 // N·s
		cycle int
		long  bool
	}{
		{"ahead", spatial.Vec3{X: 3.2}, 1, false}, {"left", spatial.Vec3{Y: 1.8}, 1, false},
		{"back", spatial.Vec3{X: -2.8}, 1, true}, {"right", spatial.Vec3{Y: -1.8}, 1, true},
		{"ahead", spatial.Vec3{X: 3.1}, 2, true}, {"left", spatial.Vec3{Y: 1.8}, 2, true}, {"back", spatial.Vec3{X: -2.8}, 2, true},
		{"right", spatial.Vec3{Y: -1.8}, 2, true},
	} {
		if c.long && !long() {
			continue
		}
		for _, share := range shares {
			p := servosAt(bot, 230, 12, 0)
			p.line.Delay = 0.0112
			d := driveAt(t, bot, p, mujocoOf(t, bot, p), c.cycle, 0, period)
			d.walk()
			d.lead(1.4, "crawl", gait.Velocity{}, nil)
			tilt, last := 0.0, 0.0
			look := func(float64) {
				last = math.Acos(math.Min(1, d.e.base().R[8]))
				tilt = math.Max(tilt, last)
			}
			d.e.push(c.push.Scale(share / (ticks * period)))
			d.lead(ticks*period, "crawl", gait.Velocity{}, look)
			d.e.push(spatial.Vec3{})
			d.lead(4, "crawl", gait.Velocity{}, look)
			t.Logf("%s in cycle %d by %.2f N·s: tilt %.2f rad, %.3f rad in the end", c.name, c.cycle, share*c.push.Norm(), tilt, last)
			if tilt > math.Pi/4 || last > 0.06 {
				t.Errorf("%s in cycle %d by %.2f N·s: tilt %g rad, %g rad in the end", c.name, c.cycle, share*c.push.Norm(), tilt, last)
			}
		}
	}
}

// TestRecoveryStepsOfFiveSeedsInMuJoCo: the same where the seed draws noise, how late setpoints are and the instant of the push. To the sides by
// 1.7 N·s: of twenty pushes by 1.8 N·s three ended in a fall, one of them in cycle 1. The required pushes are those of TestPushesInMuJoCo.
func TestRecoveryStepsOfFiveSeedsInMuJoCo(t *testing.T) {
	t.Parallel()
	longAlone(t)
	bot := pony(t)
	for _, c := range []struct {
		name string
		push [3]spatial.Vec3 // N·s, of each cycle
	}{
		{"ahead", [...]spatial.Vec3{1: {X: 3.2}, 2: {X: 3.1}}}, {"back", [...]spatial.Vec3{1: {X: -2.8}, 2: {X: -2.8}}},
		{"left", [...]spatial.Vec3{1: {Y: 1.7}, 2: {Y: 1.7}}}, {"right", [...]spatial.Vec3{1: {Y: -1.7}, 2: {Y: -1.7}}},
	} {
		for cycle := 1; cycle <= 2; cycle++ {
			for seed := uint64(1); seed <= 5; seed++ {
				t.Run(fmt.Sprintf("%s cycle %d seed %d", c.name, cycle, seed), func(t *testing.T) {
					r := shoveIt(t, bot, c.push[cycle], true, cycle, fastPeriod, seed)
					t.Logf("by %.2f N·s: %v", c.push[cycle].Norm(), r)
					if r.fallen || r.ended != "" || r.last > 0.06 {
						t.Error("it does not recover")
					}
				})
			}
		}
	}
}

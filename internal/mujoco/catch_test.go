package mujoco

import (
	"math"
	"testing"

	"poise/gait"
	"poise/spatial"
)

// TestRecoveryStepsInMuJoCo: pushed for 0.1 s at 11.2 ms so that it would tip over, the pony catches itself by steps, closed through MuJoCo in cycle 1. The short form pushes it
// ahead and to the left; the long one all ways, and by less, which needs no step.
func TestRecoveryStepsInMuJoCo(t *testing.T) {
	Needed(t)
	bot := pony(t)
	const period, ticks = 0.0112, 9
	shares := []float64{1}
	if long() {
		shares = []float64{1, 0.94, 0.88, 0.82}
	}
	for _, c := range []struct {
		name string
		push spatial.Vec3 // N·s
		long bool
	}{
		{"ahead", spatial.Vec3{X: 3.2}, false}, {"left", spatial.Vec3{Y: 1.8}, false},
		{"back", spatial.Vec3{X: -2.8}, true}, {"right", spatial.Vec3{Y: -1.8}, true},
	} {
		if c.long && !long() {
			continue
		}
		for _, share := range shares {
			p := servosAt(bot, 230, 12, 0)
			p.line.Delay = 0.0112
			d := driveAt(t, bot, p, mujocoOf(t, bot, p), 1, 0, period)
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
			t.Logf("%s by %.2f N·s: tilt %.2f rad, %.3f rad in the end", c.name, share*c.push.Norm(), tilt, last)
			if tilt > math.Pi/4 || last > 0.06 {
				t.Errorf("%s by %.2f N·s: tilt %g rad, %g rad in the end", c.name, share*c.push.Norm(), tilt, last)
			}
		}
	}
}

package mujoco

import (
	"math"
	"testing"

	"poise/gait"
	"poise/wholebody/stage"
)

// TestWalksByTheWholeBodyInBothEngines: crawl on three hooves and trot on two, closed through each engine at 22.4 ms in cycle 2: no
// fall, levels are served in all ticks, and where two hooves stand it is said that no zero-moment point is kept.
func TestWalksByTheWholeBodyInBothEngines(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	seconds, offs := 8.0, []float64{0.2}
	if long() {
		seconds, offs = 60, []float64{0, 0.2}
	}
	const sets = 4 // s until it has its speed
	for _, e := range engines {
		for _, off := range offs {
			for _, c := range []struct {
				gait  string
				speed float64 // that is commanded, m/s
				must  float64
			}{{"crawl", 0.053, 0.04}, {"trot", 0.108, 0.08}} {
				p := servosAt(bot, 230, 12, off)
				d := driveAt(t, bot, p, e.of(t, bot, p), 2, 0, walkPeriod)
				d.walk()
				tilt, lines, ticks, worst := 0.0, 0, 0, stage.Idle
				look := func(float64) {
					X := d.e.base()
					s, _ := d.l.Snapshot()
					tilt, worst = math.Max(tilt, math.Acos(math.Min(1, X.R[8]))), max(worst, s.WholeBody.State.Status)
					if ticks++; s.WholeBody.State.Supports == stage.Line {
						lines++
					}
				}
				v := gait.Velocity{X: c.speed}
				d.lead(sets, c.gait, v, look)
				from := d.e.base()
				d.lead(seconds-sets, c.gait, v, look)
				to := d.e.base()
				made := math.Hypot(to.P.X-from.P.X, to.P.Y-from.P.Y) / (seconds - sets)
				t.Logf("%s, %s, off by %g: %.4f of %g m/s, tilt %.1f°, on a line in %d of %d ticks, %v at worst", e.name, c.gait, off, made, c.speed, tilt*180/math.Pi, lines, ticks, worst)
				if made < c.must || tilt > 0.2 || worst > stage.Weighed || (lines > 0) != (c.gait == "trot") {
					t.Errorf("%s, %s, off by %g: %.4f m/s, %g is needed; tilt %g rad, on a line in %d ticks, %v", e.name, c.gait, off, made, c.must, tilt, lines, worst)
				}
			}
		}
	}
}

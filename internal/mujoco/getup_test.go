package mujoco

import (
	"math"
	"testing"

	"poise/action"
	"poise/executive"
	"poise/spatial"
)

// TestGetsUpInBothEngines: from either side on its feet, closed through each engine, with servos and masses that differ. The
// long run has all cycles and more draws.
func TestGetsUpInBothEngines(t *testing.T) {
	t.Parallel()
	bot := pony(t)
	cycles, draws := []int{1}, 1
	if long() {
		cycles, draws = []int{0, 1, 2}, 3
	}
	lying, _ := bot.Model.Pose("lying")
	for _, e := range engines {
		for _, side := range []float64{-1, 1} {
			for _, cycle := range cycles {
				for draw := range draws {
					p := servosDrawn(bot, 230, 12, 0.2, uint64(1+draw))
					p.start = bot.Model.RestPositions()
					base := []float64{0, 0, 0.09, side * math.Sqrt2 / 2, 0, 0, math.Sqrt2 / 2}
					q := make([]float64, bot.Model.NumQ())
					copy(q, base)
					for i, j := range bot.Model.Joints() {
						q[j.Q] = p.start[i]
					}
					for k, j := range lying.Joints {
						q[bot.Model.Joints()[j].Q] = lying.Q[k][0]
					}
					p.start = q
					d := driveAt(t, bot, p, e.of(t, bot, p), cycle, 0, walkPeriod)
					d.run(1, nil) // it falls on its side from a hand's breadth
					lay := math.Acos(d.e.base().R[8])
					over := action.State(0)
					if _, err := d.exec.Submit("test", action.ID("up"), 0, &executive.GetUp{}, executive.Watch{Changed: func(c executive.Change) {
						if c.To.Terminal() {
							over = c.To
							t.Logf("%v: %s", c.To, c.Result.Text())
						}
					}}); err != nil {
						t.Fatal(err)
					}
					d.run(18, nil)
					X := d.e.base()
					tilt := math.Acos(math.Min(1, X.R.MulVec(spatial.Vec3{Z: 1}).Z))
					t.Logf("%s, side %g, cycle %d, draw %d: tilted by %.2f rad, then %.3f rad, %.3f m high", e.name, side, cycle, draw, lay, tilt, X.P.Z)
					if lay < 1.2 || over != action.Succeeded || tilt > 0.1 || X.P.Z < 0.19 {
						t.Errorf("%s, side %g, cycle %d, draw %d: %v, tilted by %g rad, then %g, %g m high", e.name, side, cycle, draw, over, lay, tilt, X.P.Z)
					}
				}
			}
		}
	}
}

package follow

import (
	"math"
	"testing"

	"poise/control"
)

// TestPlaysThroughItsPoints: at rate 1 the command is at each point at its time.
func TestPlaysThroughItsPoints(t *testing.T) {
	r := newRig(t, parts{robot: "arm6"})
	g := arm(0.5, []float64{0, 0, 0, 0, 0, 0}, []float64{0.2, -0.1, 0.1, 0.3, -0.2, 0.4}, []float64{0.3, 0.1, 0.1, 0.1, -0.1, 0.1}, []float64{0, 0, 0, 0, 0, 0})
	goal := r.must(0, g)
	first := r.n - 1
	for i, p := range g.Points[1:] {
		for r.n-1 < first+uint64(math.Round(p.Time/period)) {
			r.run(1)
		}
		for k := range p.Position {
			if d := math.Abs(r.s.Command.Q[k] - p.Position[k]); d > 1e-9 {
				t.Errorf("point %d, joint %d: %g off", i+1, k, d)
			}
		}
	}
	ended(t, r.finish(goal, 0.1), control.Done, control.OK)
}

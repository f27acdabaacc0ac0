package walk

import (
	"math"
	"testing"
)

// TestTheHeadingIsKept: a body that turns by 2° a second too far is led back to its course, also beyond half
// a turn; one that was put elsewhere goes on in its new direction.
func TestTheHeadingIsKept(t *testing.T) {
	const dt, wrong = 0.0224, 0.035 // rad/s
	for _, commanded := range []float64{0, 0.5, -0.5} {
		var h heading
		planned, measured, wanted := 3.0, 3.0, 3.0
		for k := range 2000 {
			h.follow(math.Remainder(measured, 2*math.Pi), planned)
			u := h.correct(dt)
			planned += (commanded + u) * dt
			measured += (commanded + u + wrong) * dt
			wanted += commanded * dt
			if k == 1000 { // it is put elsewhere
				measured, wanted = measured+1, wanted+1
			}
		}
		if off := measured - wanted; math.Abs(off) > wrong/headingGain+0.01 {
			t.Errorf("%g rad/s: it is %g rad off", commanded, off)
		}
	}
}

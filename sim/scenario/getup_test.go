package scenario

import (
	"fmt"
	"testing"
)

// lain is a pony that lies on a side, or on its belly, its legs as they are when it was switched off.
const lain = "duration: %g\nperiod: 0.0224\nstart: {pose: lying, base: {position: {z: 0.09}, orientation: {x: %g, w: %g}}}\n" +
	"model: {kp: 230, delay: 0.0112}\ncontrol: {cycle: %d}\n%sdo: [{at: %g, get_up: %s}]\n"

// TestGetsUp: from either side and from its belly, in every cycle, on its feet and still; with servos and masses that differ and
// on smooth ground too.
func TestGetsUp(t *testing.T) {
	const hard = "vary: {servo: 0.2, mass: 0.07, friction: [0.5, 1]}\n"
	for _, c := range []struct {
		name  string
		x, w  float64 // of the orientation
		cycle int
		more  string
		seed  uint64
		from  string
		quick bool
	}{
		{"left", -0.7071, 0.7071, 1, "", 1, "auto", true},
		{"right", 0.7071, 0.7071, 0, "", 1, "auto", true},
		{"belly", 0, 1, 1, "", 1, "auto", false},
		{"right, whole body", 0.7071, 0.7071, 2, "", 1, "right", false},
		{"left, hard", -0.7071, 0.7071, 1, hard, 2, "auto", false},
		{"right, hard", 0.7071, 0.7071, 1, hard, 3, "auto", false},
		{"left, whole body, hard", -0.7071, 0.7071, 2, hard, 4, "auto", false},
	} {
		if testing.Short() && !c.quick {
			continue
		}
		const ends = 20
		r := walkOn(t, fmt.Sprintf(lain, float64(ends), c.x, c.w, c.cycle, c.more, 1.0, c.from), c.seed)
		times, tilt := r.Series("tilt")
		_, height := r.Series("base.z")
		last := len(times) - 1
		t.Logf("%s, cycle %d: tilt %.3f rad, %.3f m high at the end", c.name, c.cycle, tilt[last], height[last])
		if tilt[last] > 0.1 || height[last] < 0.19 {
			t.Errorf("%s, cycle %d: tilt %g rad, %g m high: it does not stand", c.name, c.cycle, tilt[last], height[last])
		}
	}
}

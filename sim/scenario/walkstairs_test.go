package scenario

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"poise/control/walk"
	"poise/gait"
)

// stairs are some steps up and as many down again, across the way of a robot that walks ahead; the physics has them as boxes of its
// world, and the controller gets a list of its own.
func stairs(first, tread, height float64, steps int) (known []gait.Box, world string) {
	var boxes []string
	at := first
	for k := 1; k <= 2*steps-1; k++ {
		high, deep := float64(min(k, 2*steps-k))*height, tread
		if k == steps {
			deep = 3 * tread // the landing
		}
		known = append(known, gait.Box{At: gait.Point{X: at + deep/2}, Length: deep, Width: 1, Height: high})
		boxes = append(boxes, fmt.Sprintf("{size: [%g, 1, %g], at: [%g, 0, %g]}", deep, high, at+deep/2, high/2))
		at += deep
	}
	return known, "world: {boxes: [" + strings.Join(boxes, ", ") + "]}\n"
}

// climb crawls over stairs that are known, or are not.
func climb(t *testing.T, number int, more string, height float64, knows bool, seconds float64, seed uint64) (made, highest, tilt float64, fallen bool) {
	t.Helper()
	const first, tread, steps = 0.35, 0.13, 2
	known, world := stairs(first, tread, height, steps)
	text := fmt.Sprintf("duration: %g\nperiod: 0.0224\nstart: {pose: stand}\nmodel: {kp: 230, delay: 0.0112%s%scontrol: {cycle: %d}\ndo: [{at: 0.1, velocity: {x: 0.054}, gait: crawl}]\n", seconds, more, world, number)
	if !knows {
		known = nil
	}
	r := runBy(t, text, seed, func(c *cycle, now float64) {
		if now >= 0.2 {
			c.exec.Lead("walk", &walk.Ground{At: int64(math.Round(float64(c.n) * c.period * 1e9)), Boxes: known})
		}
	})
	_, x := r.Series("base.x")
	times, z := r.Series("base.z")
	flat := 0.0
	for k, h := range z {
		if times[k] < 4 { // on the flat, at the height of walking
			flat = h
		} else {
			highest = max(highest, h-flat)
		}
	}
	return x[len(x)-1], highest, r.Figures["tilt"].Greatest, r.Fallen
}

// hardStairs draws servos, masses and friction, and lets packets be lost and late.
const hardStairs = "vary: {servo: 0.2, mass: 0.07, friction: [0.5, 1]}\n"

// TestKnownStairs: two steps of 10 mm up, a landing and two down: no fall, the speed of a crawl, the body goes up with the feet and stays
// more level than over steps of which it knows nothing.
func TestKnownStairs(t *testing.T) {
	seconds := 28.0
	if testing.Short() {
		seconds = 14
	}
	made, highest, tilt, fallen := climb(t, 1, "}\n", 0.01, true, seconds, 1)
	_, _, blind, _ := climb(t, 1, "}\n", 0.01, false, seconds, 1)
	t.Logf("%.3f m in %g s, body %.1f mm up, tilt %.1f°, of steps that are not known %.1f°, fallen %v", made, seconds, 1e3*highest, tilt*180/math.Pi, blind*180/math.Pi, fallen)
	if fallen || tilt > 0.1 || highest < 0.015 || made < 0.05*(seconds-2.5) || tilt > 0.7*blind {
		t.Errorf("%g m in %g s, body %g m up, tilt %g rad, of steps that are not known %g, fallen %v", made, seconds, highest, tilt, blind, fallen)
	}
}

// TestSoakKnownStairs: so in cycles 1 and 2, five seeds each; with servos, masses, friction and line drawn in the plant, which is not required, none
// falls, and the slowest makes 0.04 m/s.
func TestSoakKnownStairs(t *testing.T) {
	if os.Getenv("POISE_SOAK") == "" {
		t.Skip("absent: POISE_SOAK, which make soak sets")
	}
	const seconds = 28
	for _, c := range []struct {
		name, plant string
		must, tilt  float64
	}{{"nominal", "}\n", 0.05, 0.2}, {"hard", ", jitter: 0.005, loss: 0.05}\n" + hardStairs, 0.04, 0.3}} {
		for _, cycle := range []int{1, 2} {
			for seed := range uint64(5) {
				made, highest, tilt, fallen := climb(t, cycle, c.plant, 0.01, true, seconds, seed+1)
				t.Logf("%s, cycle %d, seed %d: %.3f m in %d s, body %.1f mm up, tilt %.1f°, fallen %v", c.name, cycle, seed+1, made, seconds, 1e3*highest, tilt*180/math.Pi, fallen)
				if fallen || tilt > c.tilt || highest < 0.015 || made < c.must*(seconds-2.5) {
					t.Errorf("%s, cycle %d, seed %d: %g m in %d s, body %g m up, tilt %g rad, fallen %v", c.name, cycle, seed+1, made, seconds, highest, tilt, fallen)
				}
			}
		}
	}
}

package scenario

import (
	"fmt"
	"os"
	"testing"
)

// pushedWalk is a walk that is pushed for 0.1 s in some phase of its gait.
type pushedWalk struct {
	gait   string
	speed  float64 // m/s
	lasts  float64 // period of its steps, s
	period float64 // of the cycle, s
	cycle  int
}

// run pushes it in a share of its period, and lets it go on for some seconds; blind, without an inertial unit.
func (w *pushedWalk) run(t *testing.T, x, y, share float64, seed uint64, blind bool, seconds float64) *Result {
	t.Helper()
	at := 3.5 + share*w.lasts
	return runBy(t, fmt.Sprintf("duration: %g\nperiod: %g\nstart: {pose: stand}\nmodel: {kp: 230, delay: 0.0112, jitter: 0.005}\ncontrol: {cycle: %d}\n"+
		"do: [{at: 0.1, velocity: {x: %g}, gait: %s}, {at: %g, push: {link: base_link, force: [%g, %g, 0], for: 0.1}}]\n", at+seconds, w.period, w.cycle, w.speed, w.gait, at, x/0.1, y/0.1), seed,
		func(c *cycle, _ float64) { c.blind = blind })
}

// pushedWalks are impulses, N·s, that walks withstand in any phase.
var pushedWalks = []struct {
	pushedWalk
	side, ahead, back float64
}{
	{pushedWalk{"trot", 0.1, 0.6, 0.0112, 1}, 1.2, 2.3, 2.4},
	{pushedWalk{"crawl", 0.05, 1.6, 0.0112, 2}, 1.2, 2.0, 2.2},
	{pushedWalk{"trot", 0.1, 0.6, 0.0112, 2}, 1.2, 2.3, 2.4},
	{pushedWalk{"crawl", 0.05, 1.6, 0.0112, 1}, 1.4, 2.3, 2.4},
	{pushedWalk{"trot", 0.1, 0.6, 0.0224, 1}, 1.0, 2.0, 2.2},
	{pushedWalk{"crawl", 0.05, 1.6, 0.0224, 1}, 1.2, 2.0, 2.2},
}

// TestPushedWhileItWalks: a pony that trots or crawls and is pushed to a side, ahead or back puts its feet down, does not fall, and walks on level. The short form pushes
// each walk once, the long one in five phases all ways.
func TestPushedWhileItWalks(t *testing.T) {
	phases, long := 1, os.Getenv("POISE_SOAK") != ""
	if long {
		phases = 5
	}
	for i, w := range pushedWalks {
		for d, push := range []struct {
			name string
			x, y float64
		}{{"left", 0, w.side}, {"ahead", w.ahead, 0}, {"right", 0, -w.side}, {"back", -w.back, 0}} {
			if !long && d != i%4 {
				continue
			}
			for k := range phases {
				share := (float64(k) + 0.1 + 0.3*float64(d)/4) / float64(phases)
				r := w.run(t, push.x, push.y, share, uint64(k+1), false, 6)
				times, x := r.Series("base.x")
				end := len(times) - 1
				from := end
				for times[from] > times[end]-1 {
					from--
				}
				speed, tilt := (x[end]-x[from])/(times[end]-times[from]), r.Figures["tilt"]
				t.Logf("%s, cycle %d, %g s, pushed %s at %.2f of a period: fallen %v, tilt %.2f, %.4f rad in the end, %.3f m/s; %v", w.gait, w.cycle, w.period, push.name, share, r.Fallen, tilt.Greatest, tilt.Last, speed, r.Notes)
				if r.Fallen || len(r.Notes) > 0 || tilt.Last > 0.03 || speed < w.speed/2 {
					t.Errorf("%s, cycle %d, %g s, pushed %s at %.2f of a period: fallen %v, %g rad and %g m/s in the end; %v", w.gait, w.cycle, w.period, push.name, share, r.Fallen, tilt.Last, speed, r.Notes)
				}
			}
		}
	}
}

// TestSoakPushedWalksFallLess: of walks that are pushed harder, in eight phases and four directions, fewer fall than of those that are not told how they lean, in either gait,
// in both cycles.
func TestSoakPushedWalksFallLess(t *testing.T) {
	if os.Getenv("POISE_SOAK") == "" {
		t.Skip("absent: POISE_SOAK, which make soak sets")
	}
	for _, w := range pushedWalks {
		falls, blind := 0, 0
		for _, push := range [][2]float64{{0, 1.2 * w.side}, {0, -1.2 * w.side}, {1.15 * w.ahead, 0}, {-1.15 * w.back, 0}} {
			for k := range 8 {
				share := (float64(k) + 0.5) / 8
				if w.run(t, push[0], push[1], share, uint64(k+1), false, 3).Fallen {
					falls++
				}
				if w.run(t, push[0], push[1], share, uint64(k+1), true, 3).Fallen {
					blind++
				}
			}
		}
		t.Logf("%s, cycle %d, %g s: of 32 pushed walks %d fall, %d without an inertial unit", w.gait, w.cycle, w.period, falls, blind)
		if falls >= blind {
			t.Errorf("%s, cycle %d, %g s: of 32 pushed walks %d fall, %d without an inertial unit", w.gait, w.cycle, w.period, falls, blind)
		}
	}
}

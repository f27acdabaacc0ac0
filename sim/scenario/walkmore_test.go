package scenario

import (
	"fmt"
	"math"
	"testing"

	"poise/action"
	"poise/executive"
	"poise/robot/load"
	"poise/spatial"
)

// aWalk is a scenario in which something is commanded from 0.1 s on.
func aWalk(seconds float64, do string) string {
	return fmt.Sprintf("duration: %g\nperiod: 0.0224\nstart: {pose: stand}\nmodel: {kp: 230, delay: 0.0112}\ncontrol: {cycle: 1}\ndo: [%s]\n", seconds, do)
}

// waits returns what a controller says that it goes on without.
func waits(c *cycle, name string) string {
	for _, s := range c.exec.State().Controllers {
		if s.Name == name {
			return string(s.Waits.Code)
		}
	}
	return ""
}

// TestWalksWithoutAnInertialUnit: it crawls all the same, and says so while it does; with one nothing is said.
func TestWalksWithoutAnInertialUnit(t *testing.T) {
	for _, blind := range []bool{true, false} {
		said := 0
		r := runBy(t, aWalk(9, "{at: 0.1, velocity: {x: 0.05}, gait: crawl}"), 1, func(c *cycle, now float64) {
			if c.blind = blind; now > 4 && waits(c, "walk") == "no_inertial_unit" {
				said++
			}
		})
		f := r.Figures["distance"].Last
		t.Logf("without a unit %v: %.3f m, fallen %v, said in %d ticks", blind, f, r.Fallen, said)
		if r.Fallen || f < 0.05*6 || (said > 100) != blind || !blind && said > 0 {
			t.Errorf("without a unit %v: %g m, fallen %v, said in %d ticks", blind, f, r.Fallen, said)
		}
	}
}

// TestWalksBySpeedInCycle0: whatever velocity is commanded, legs that get positions alone crawl as fast as they can follow, at short and
// long periods, also after a gait that was named. By the gait for the speed, crawls of 0.05 m/s left their command at 1 ms and trots of 0.1 m/s
// fell within 16 s. A gait that is named later is walked as commanded.
func TestWalksBySpeedInCycle0(t *testing.T) {
	for _, c := range []struct {
		period      float64
		do          string
		least, most float64 // m/s in the end
	}{
		{0.001, "{at: 0.1, velocity: {x: 0.05}}", 0.025, 0.045},
		{0.0112, "{at: 0.1, velocity: {x: 0.1}}", 0.025, 0.045},
		{0.0224, "{at: 0.1, velocity: {x: 0.2}}", 0.025, 0.045},
		{0.0112, "{at: 0.1, velocity: {x: 0.2}, gait: crawl}, {at: 2, velocity: {x: 0.2}}", 0.025, 0.046},
		{0.0112, "{at: 0.1, velocity: {x: 0.05}}, {at: 6, velocity: {x: 0.05}, gait: crawl}", 0.047, 0.055},
	} {
		p := prepare(t, loaded(t, "pony", load.Options{}), fmt.Sprintf("duration: 18\nperiod: %g\nstart: {pose: stand}\ncontrol: {cycle: 0}\ndo: [%s]\n"+
			"expect: [{what: zmp_margin, of: p99, min: -1, from: 1}]\n", c.period, c.do))
		r, err := p.Run(1, Watch{})
		if err != nil {
			t.Fatal(err)
		}
		m := figures(r, 8)
		t.Logf("%g s, %s: %v", c.period, c.do, m)
		if m.fallen || len(r.Notes) > 0 || m.speed < c.least || m.speed > c.most || m.tilt > 5 || m.heading > 15 {
			t.Errorf("%g s, %s: %v, %v", c.period, c.do, m, r.Notes)
		}
	}
}

// TestVelocitiesThatDie: a trot whose stream ends stands within three seconds, and says that it waits.
func TestVelocitiesThatDie(t *testing.T) {
	said := false
	r := runBy(t, aWalk(9, "{at: 0.1, velocity: {x: 0.1}, gait: trot}"), 1, func(c *cycle, now float64) {
		if now > 5 {
			c.walks = nil
		}
		said = said || now > 5.6 && waits(c, "walk") == "stale"
	})
	times, speed := r.Series("speed")
	fastest := 0.0
	for k, at := range times {
		if at > 8 {
			fastest = max(fastest, speed[k])
		}
	}
	if r.Fallen || !said || fastest > 0.01 {
		t.Errorf("fallen %v, %g m/s three seconds after the last velocity, said %v", r.Fallen, fastest, said)
	}
}

// TestWalksToAPlaceInPhysics: a place, and another one that replaces it on the way: it stands there, by odometry within 20 mm, and in the
// world within 40 mm.
func TestWalksToAPlaceInPhysics(t *testing.T) {
	sent, ended := 0, ""
	place := func(c *cycle, x, y float64) {
		sent++
		n := sent
		goal := &executive.WalkTo{To: spatial.Pose{R: spatial.Identity3, P: spatial.Vec3{X: x, Y: y}}}
		if _, err := c.exec.Submit("test", action.ID(fmt.Sprint("place", n)), 0, goal, executive.Watch{Changed: func(ch executive.Change) {
			if ch.To.Terminal() {
				ended += fmt.Sprintf("%d %v ", n, ch.To)
			}
		}}); err != nil {
			t.Fatal(err)
		}
	}
	r := runBy(t, aWalk(22, "{at: 0, friction: 0.8}, {at: 21.9, velocity: {}}"), 1, func(c *cycle, now float64) {
		if now > 0.2 && sent == 0 {
			place(c, 0.6, 0.3)
		}
		if now > 5 && sent == 1 {
			place(c, 0.4, -0.1)
		}
	})
	_, x := r.Series("base.x")
	_, y := r.Series("base.y")
	off := math.Hypot(x[len(x)-1]-0.4, y[len(y)-1]+0.1)
	t.Logf("%s: %.1f mm away, fallen %v", ended, 1e3*off, r.Fallen)
	if r.Fallen || off > 0.04 || ended != "1 preempted 2 succeeded " {
		t.Errorf("%s: %g m away, fallen %v", ended, off, r.Fallen)
	}
}

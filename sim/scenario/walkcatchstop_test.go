package scenario

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"poise/action"
	"poise/executive"
	"poise/internal/walks"
	"poise/loop"
)

// What is done to a robot that catches itself.
var catchEvents = []struct {
	name  string
	falls bool // by itself: legs have no torque any more, or are stopped where they are
	limp  bool // at once: its command follows what is measured
	do    func(c *cycle) error
}{
	{"a cancel", false, false, func(c *cycle) error { c.exec.CancelAll("scenario"); return nil }},
	{"a cancel and a new walk", false, false, func(c *cycle) error {
		c.exec.CancelAll("scenario")
		c.walks = nil
		return c.walk(&Action{Velocity: &Velocity{X: 0.05}, Gait: "crawl"})
	}},
	{"a goal that replaces it", false, false, func(c *cycle) error {
		c.walks = nil
		return c.walk(&Action{Velocity: &Velocity{}, Gait: "crawl"})
	}},
	{"a stop of category 2", false, false, func(c *cycle) error { c.exec.Stop("test", 2); return nil }},
	{"velocities", false, false, func(c *cycle) error { return c.walk(&Action{Velocity: &Velocity{X: -0.05, Yaw: 0.2}, Gait: "trot"}) }},
	{"a pause", false, false, func(c *cycle) error { c.exec.Pause("test", "walk"); return nil }},
	{"a slow-down", false, false, func(c *cycle) error { c.exec.SetSpeed("test", 0.2, ""); return nil }},
	{"a stop of category 1", true, false, func(c *cycle) error { c.exec.Stop("test", 1); return nil }},
	{"a stop of category 0", true, true, func(c *cycle) error { c.exec.Stop("test", 0); return nil }},
	{"power that is ordered off", true, true, func(c *cycle) error { c.exec.Power("test", false); return nil }},
	{"a leg that is taken", true, true, func(c *cycle) error {
		_, err := c.exec.Submit("test", action.ID("taken"), 0, &executive.Operational{Controller: "torque_off", On: true, Resources: []string{"leg1"}}, executive.Watch{})
		return err
	}},
}

// TestInterruptedCatches: in cycles 1 and 2, whatever is asked of a pony while it catches itself, at random instants from the push to the stand: it falls only where
// its legs lose their torque or are stopped where they are; joints keep their limits of acceleration as long as they have torque, in cycle 2 but for the tick in which a foot lands. The short form does a few of them.
func TestInterruptedCatches(t *testing.T) {
	rounds, long := 1, os.Getenv("POISE_SOAK") != ""
	if long {
		rounds = 5
	}
	most := [...]float64{1: 1 + 1e-6, 2: 1.2} // of their limits; cycle 2 takes the velocity of an impact from a foot that lands
	rng := rand.New(rand.NewPCG(24, 5))
	for round := range rounds {
		for k, event := range catchEvents {
			for cycleNumber := 1; cycleNumber <= 2; cycleNumber++ {
				at, push := 1.33+1.6*rng.Float64(), rng.IntN(len(caughtAt))
				if !long && (k+cycleNumber)%2 == 0 {
					continue
				}
				c := caughtAt[push]
				c.x = min(c.x, 3.1) // what cycle 2 catches
				var limits *walks.Limits
				done, limp, known := false, false, false
				r := runBy(t, fmt.Sprintf("duration: 6\nperiod: 0.0112\nstart: {pose: stand}\nmodel: {kp: 230, delay: 0.0112, jitter: 0.005}\ncontrol: {cycle: %d}\n"+
					"do: [{at: 0.1, velocity: {}, gait: crawl}, {at: 1.3, push: {link: base_link, force: [%g, %g, 0], for: 0.1}}]\n", cycleNumber, c.x/0.1, c.y/0.1), uint64(round+1), func(cy *cycle, now float64) {
					if limits == nil {
						limits = walks.NewLimits(cy.r.p.m, cy.period)
					}
					st := cy.exec.State()
					for _, f := range st.Faults {
						known = known || f.Kind == loop.Fallen
					}
					if limp = limp || st.Power != loop.Enabled || len(st.Limp) > 0; !limp && !(done && event.limp) {
						limits.Look(cy.loop.Command().Q, nil)
					}
					if done || now < at {
						return
					}
					done = true
					if err := event.do(cy); err != nil {
						t.Fatal(err)
					}
				})
				t.Logf("cycle %d, pushed %s, %s after %.2f s: fallen %v, known %v, tilt %.2f rad, %.4f rad in the end, accelerations %.2f of their limits; %v", cycleNumber, c.name, event.name,
					at-1.3, r.Fallen, known, r.Figures["tilt"].Greatest, r.Figures["tilt"].Last, limits.Acceleration, r.Notes)
				if !event.falls && (r.Fallen || known || limp) {
					t.Errorf("cycle %d, pushed %s, %s after %.3f s: fallen %v, limp %v", cycleNumber, c.name, event.name, at-1.3, r.Fallen, limp)
				}
				if limits.Acceleration > most[cycleNumber] {
					t.Errorf("cycle %d, pushed %s, %s after %.3f s: %g of the limits of acceleration", cycleNumber, c.name, event.name, at-1.3, limits.Acceleration)
				}
			}
		}
	}
}

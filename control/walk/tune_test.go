package walk_test

import (
	"math"
	"strings"
	"testing"

	"poise/control"
	"poise/control/walk"
	"poise/gait"
	"poise/internal/rig"
	"poise/robot"
)

// tuned returns parameters of a gait, as of now.
func (w *walker) tuned(g robot.Gait) *walk.Parameters {
	w.t.Helper()
	p, err := walk.Tune(w.M, &g)
	if err != nil {
		w.t.Fatal(err)
	}
	p.At = w.Tick().Time
	return p
}

// TestParametersChangeWhileItWalks: period, duty, lift and order of the gait that it walks by, and another gait, without a
// stop: every tick is judged for jumps, limits and hooves that move. The steps that follow are those that were asked for.
func TestParametersChangeWhileItWalks(t *testing.T) {
	w := setup(t, "stand")
	goal := w.begin()
	v := gait.Velocity{X: 0.03}
	w.run(3.5, &v)
	id := func(name string) robot.ChainID {
		c, _ := w.M.Chain(name)
		return c
	}
	round := func() (steps int) {
		before := w.steps
		w.run(8, &v)
		return w.steps - before
	}
	slow := round()
	// half the time for a round of steps, in another order
	w.Feed("walk", w.tuned(robot.Gait{Name: "crawl", Period: 0.8, Lift: 0.01, Phase: map[robot.ChainID]float64{id("leg1"): 0, id("leg2"): 0.25, id("leg3"): 0.5, id("leg4"): 0.75}}))
	w.run(2, &v)
	if fast := round(); fast < 18*slow/10 {
		t.Errorf("%d steps in 8 s, and %d with half the period", slow, fast)
	}
	w.Feed("walk", &walk.Choice{At: w.Tick().Time, Gait: "trot"})
	least := math.Inf(1)
	for range 200 {
		w.run(w.Dt, &v)
		least = min(least, w.Now.Command.Base.Twist.Linear.X)
	}
	if least < 0.005 {
		t.Errorf("it slows down to %g m/s while its gait changes", least)
	}
	if _, why, over := w.Ended(goal); over {
		t.Fatalf("it ended: %+v", why)
	}
	if why := w.Activity("walk").Why; why.Code != control.NoInertialUnit { // this robot has none
		t.Errorf("%+v", why)
	}
}

// TestGaitsAreChosenBySpeed: slow is the crawl, faster the trot, without a stop in between, and back only when it is clearly slower.
func TestGaitsAreChosenBySpeed(t *testing.T) {
	w := setup(t, "stand")
	w.begin()
	air := func(seconds float64, v gait.Velocity) (most int) {
		for range int(seconds / w.Dt) {
			w.run(w.Dt, &v)
			n := 0
			for _, f := range w.feet {
				if w.Now.Command.Support[f.Chain].Weight == 0 {
					n++
				}
			}
			most = max(most, n)
		}
		return most
	}
	w.run(2, &gait.Velocity{X: 0.03})
	if n := air(3, gait.Velocity{X: 0.03}); n != 1 {
		t.Errorf("slow: %d feet in the air at once", n)
	}
	w.run(2, &gait.Velocity{X: 0.12})
	if n := air(1.5, gait.Velocity{X: 0.12}); n != 2 {
		t.Errorf("fast: %d feet in the air at once", n)
	}
	w.run(5, &gait.Velocity{X: 0.03})
	if n := air(3, gait.Velocity{X: 0.03}); n != 1 {
		t.Errorf("slow again: %d feet in the air at once", n)
	}
}

// TestParametersThatCannotBe: each is refused by its name, its value and the limit.
func TestParametersThatCannotBe(t *testing.T) {
	m := rig.Model(t, "pony")
	for want, g := range map[string]robot.Gait{
		`"gallop"`:                             {Name: "gallop"},
		"period 40 s is not within 0 … 30 s":   {Name: "crawl", Period: 40},
		"0.1 s is not within 0.2 … 30 s":       {Name: "crawl", Period: 0.1},
		"duty 2 is not within":                 {Name: "trot", Duty: 2},
		"lift -1 m is not within":              {Name: "trot", Lift: -1},
		"stand for 0 s, and 0.01 s are needed": {Name: "crawl", Duty: 0.75},
		"NaN":                                  {Name: "trot", Speed: math.NaN()},
		// by themselves within their ranges, and more than the legs can do
		`there are "crawl", "amble", "trot", "in_place"`:   {Name: "gallop"},
		"a lift of 0.08 m is not within 0 … 0.037 m":       {Name: "crawl", Lift: 0.08},
		"joint13, and 180 are allowed: a longer period":    {Name: "crawl", Period: 0.3},
		"rad/s² of joint13, and 180 are allowed: a longer": {Name: "trot", Period: 0.3},
	} {
		_, err := walk.Tune(m, &g)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, it should say %q", g, err, want)
		}
	}
	// the example of the docs, whose feet swing fast
	if p, err := walk.Tune(m, &robot.Gait{Name: "crawl", Period: 1.2, Lift: 0.02}); err != nil || p.Gait.Most < 0.03 {
		t.Errorf("%+v, %v", p, err)
	}
	// times that are not given give way to a lift that is
	if p, err := walk.Tune(m, &robot.Gait{Name: "trot", Lift: 0.025}); err != nil || p.Gait.Lift != 0.025 || p.Gait.Period < 0.7 || p.Gait.Most < 0.06 {
		t.Errorf("%+v, %v", p, err)
	}
	p, err := walk.Tune(m, &robot.Gait{Name: "trot", Speed: 0.02})
	if err != nil || p.Gait.Most != 0.02 {
		t.Errorf("%+v, %v", p, err)
	}
}

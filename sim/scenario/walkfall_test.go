package scenario

import (
	"fmt"
	"math"
	"testing"

	"poise/action"
	"poise/executive"
	"poise/loop"
	"poise/robot/load"
)

// runBy makes a run and calls each before every tick of its cycle.
func runBy(t *testing.T, text string, seed uint64, each func(c *cycle, now float64)) *Result {
	t.Helper()
	p := prepare(t, loaded(t, "pony", load.Options{}), text)
	r, err := p.begin(seed, Watch{})
	if err != nil {
		t.Fatal(err)
	}
	period := int(math.Round(p.s.period() / p.s.step()))
	r.look(0)
	for r.step < p.s.steps() && r.err == nil {
		if r.err = r.act(r.now()); r.err == nil {
			each(r.cycle, r.now())
			r.err = r.cycle.tick(min(period, p.s.steps()-r.step))
		}
	}
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r.result()
}

// TestFallsAreRecognised: whatever makes a pony fall that walks, stands ready to walk or has walked, it is known within 0.2 s
// of what physics says, and the robot is in its safe state: nothing moves it any more until a reset. Physics counts a tilt
// of 45°, a body below 0.6 of its height, or weight on something else than hooves.
func TestFallsAreRecognised(t *testing.T) {
	// a limp pony may stand on its servos' friction for seconds: some are pushed then
	const head = "duration: %g\nperiod: 0.0224\nstart: {pose: stand}\nmodel: {kp: 230, delay: 0.0112}\ncontrol: {cycle: 1}\n"
	const off, taken = -2, -3
	cases := []struct {
		name  string
		do    string
		stop  int // category, at 3 s; −1 for no stop, off is power that is ordered off, taken a leg that another controller takes
		ends  float64
		quick bool
	}{
		{"pushed over while it trots", "{at: 0.1, velocity: {x: 0.1}, gait: trot}, {at: 3, push: {link: base_link, force: [0, 50, 0], for: 0.1}}", -1, 4, true},
		{"pushed over while it stands", "{at: 0.1, velocity: {}, gait: crawl}, {at: 2, push: {link: base_link, force: [0, -50, 0], for: 0.1}}", -1, 3, false},
		{"category 0 while it trots", "{at: 0.1, velocity: {x: 0.1}, gait: trot}, {at: 3.5, push: {link: base_link, force: [0, 40, 0], for: 0.1}}", 0, 4.5, true},
		{"category 1 while it trots", "{at: 0.1, velocity: {x: 0.1}, gait: trot}, {at: 3.7, push: {link: base_link, force: [0, 40, 0], for: 0.1}}", 1, 4.5, false},
		{"category 1 while it crawls", "{at: 0.1, velocity: {x: 0.05}, gait: crawl}", 1, 4.5, false},
		{"a knee without torque", "{at: 0.1, velocity: {x: 0.1}, gait: trot}, {at: 3, trouble: {joint: joint23, limp: true}}", -1, 6, true},
		{"a servo that is silent and limp", "{at: 0.1, velocity: {x: 0.05}, gait: crawl}, {at: 3, trouble: {joint: joint12, limp: true, silent: true}}, {at: 3.6, push: {link: base_link, force: [0, 40, 0], for: 0.1}}", -1, 5, false},
		// the leg is posed by hand: it is limp from then on
		{"a leg that is taken", "{at: 0.1, velocity: {x: 0.1}, gait: trot}, {at: 3.6, push: {link: base_link, force: [0, 40, 0], for: 0.1}}", taken, 5, false},
		// who orders the power off lets it sink: that is no fault
		{"power that is ordered off", "{at: 0.1, velocity: {}, gait: crawl}, {at: 3.7, push: {link: base_link, force: [0, 40, 0], for: 0.1}}", off, 4.5, false},
	}
	for _, c := range cases {
		if testing.Short() && !c.quick {
			continue
		}
		known := math.NaN() // when the fault was raised
		limp := false
		r := runBy(t, fmt.Sprintf(head+"do: [%s]\n", c.ends, c.do), 1, func(cy *cycle, now float64) {
			if now >= 3 && now < 3+cy.period {
				switch {
				case c.stop >= 0:
					cy.exec.Stop("test", uint8(c.stop))
				case c.stop == taken:
					if _, err := cy.exec.Submit("test", action.ID("taken"), 0, &executive.Operational{Controller: "torque_off", On: true, Resources: []string{"leg1"}}, executive.Watch{}); err != nil {
						t.Fatal(err)
					}
				case c.stop == off:
					cy.exec.Power("test", false)
				}
			}
			st := cy.exec.State()
			for _, f := range st.Faults {
				if f.Kind == loop.Fallen && math.IsNaN(known) {
					known = now
				}
			}
			limp = st.Power != loop.Enabled || len(st.Limp) > 0
		})
		fell := math.NaN()
		if r.FellAt != nil {
			fell = *r.FellAt
		}
		t.Logf("%s: physics says at %.3f s, it knows at %.3f s, limp at the end %v; %v", c.name, fell, known, limp, r.Notes)
		if c.stop == off {
			if !math.IsNaN(known) {
				t.Errorf("%s is a fall at %.3f s", c.name, known)
			}
			continue
		}
		if !r.Fallen {
			t.Errorf("%s: it did not fall", c.name)
		} else if !(known-fell <= 0.2) {
			t.Errorf("%s: fell at %.3f s, and knows at %.3f s", c.name, fell, known)
		}
		if !limp {
			t.Errorf("%s: its legs have torque", c.name)
		}
	}
}

// TestFallsAreRecognisedAfterPowerWasOff: power that was ordered off, and on again, does not hide the falls that come later.
func TestFallsAreRecognisedAfterPowerWasOff(t *testing.T) {
	known, ordered := false, 0
	r := runBy(t, `
duration: 3.5
period: 0.0224
start: {pose: stand}
model: {kp: 230, delay: 0.0112}
control: {cycle: 1}
do:
  - {at: 1, velocity: {}, gait: crawl}
  - {at: 2.8, push: {link: base_link, force: [0, -50, 0], for: 0.1}}
`, 1, func(c *cycle, now float64) {
		st := c.exec.State()
		switch {
		case ordered == 0 && now >= 0.1:
			c.exec.Power("test", false)
			ordered++
		case ordered == 1 && st.Power == loop.Ready:
			c.exec.Power("test", true)
			ordered++
		}
		for _, f := range st.Faults {
			known = known || f.Kind == loop.Fallen
		}
	})
	t.Log(r.Notes)
	if ordered < 2 || !r.Fallen || !known {
		t.Errorf("power ordered %d times, fallen %v, known %v", ordered, r.Fallen, known)
	}
}

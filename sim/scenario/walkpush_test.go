package scenario

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"poise/internal/walks"
	"poise/robot/load"
)

// TestPushesOfAWalker: standing ready to walk, the pony withstands pushes of 0.1 s without a step: at 22.4 ms 1.4 N·s to either side,
// 2.5 N·s ahead, 2.1 N·s back; at 11.2 ms 1.6, 2.9 and 2.6 N·s.
func TestPushesOfAWalker(t *testing.T) {
	seeds := uint64(1)
	if os.Getenv("POISE_SOAK") != "" {
		seeds = 5
	}
	for _, c := range []struct {
		name   string
		x, y   float64 // N·s
		period float64 // s
	}{
		{"left", 0, 1.4, 0.0224}, {"right", 0, -1.4, 0.0224}, {"ahead", 2.5, 0, 0.0224}, {"back", -2.1, 0, 0.0224},
		{"left", 0, 1.6, 0.0112}, {"right", 0, -1.6, 0.0112}, {"ahead", 2.9, 0, 0.0112}, {"back", -2.6, 0, 0.0112},
	} {
		for seed := range seeds {
			p := prepare(t, loaded(t, "pony", load.Options{}), fmt.Sprintf("duration: 4\nperiod: %g\nstart: {pose: stand}\nmodel: {kp: 230, delay: 0.0112, jitter: 0.005}\ncontrol: {cycle: 1}\n"+
				"do: [{at: 0.1, velocity: {}, gait: crawl}, {at: 2, push: {link: base_link, force: [%g, %g, 0], for: 0.1}}]\n", c.period, c.x/0.1, c.y/0.1))
			r, err := p.Run(seed+1, Watch{})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, %g s, seed %d: fallen %v, tilt %.2f rad", c.name, c.period, seed+1, r.Fallen, r.Figures["tilt"].Greatest)
			if r.Fallen {
				t.Errorf("pushed %s, %g s, seed %d: it fell", c.name, c.period, seed+1)
			}
		}
	}
}

// TestCommandsThatJumpInPhysics: velocities and gaits that change at random instants, absurd ones among them, with what the
// plan is not told: never a fall, no walk that ends by itself, and in the end it stands.
func TestCommandsThatJumpInPhysics(t *testing.T) {
	seeds, seconds := uint64(1), 14.0
	if os.Getenv("POISE_SOAK") != "" {
		seeds, seconds = 5, 60
	}
	for seed := range seeds {
		var do []string
		for _, c := range walks.Jumping(rand.New(rand.NewPCG(24, seed)), seconds) {
			do = append(do, fmt.Sprintf("{at: %.3f, velocity: {x: %g, y: %g, yaw: %g}, gait: %s}", c.At, c.V.X, c.V.Y, c.V.Yaw, c.Gait))
		}
		for cycle := 1; cycle <= 2; cycle++ {
			p := prepare(t, loaded(t, "pony", load.Options{}), fmt.Sprintf("duration: %g\nperiod: 0.0224\nstart: {pose: stand}\nmodel: {kp: 230, delay: 0.0112%s\ncontrol: {cycle: %d}\ndo: [%s]\n"+
				"expect: [{what: speed, max: 0.02, from: %g}]\n", seconds, hard, cycle, strings.Join(do, ", "), seconds-0.3))
			r, err := p.Run(seed+1, Watch{})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("cycle %d, seed %d: %d commands, fallen %v, tilt %.2f rad, slip %.1f mm, notes %v", cycle, seed+1, len(do), r.Fallen, r.Figures["tilt"].Greatest, 1e3*r.Figures["slip"].Greatest, r.Notes)
			if r.Fallen || len(r.Notes) > 0 || !r.Pass() || r.Figures["tilt"].Greatest > 0.1 {
				t.Errorf("cycle %d, seed %d: fallen %v, tilt %g, %v, %+v", cycle, seed+1, r.Fallen, r.Figures["tilt"].Greatest, r.Notes, r.Criteria)
			}
		}
	}
}

// TestAFallIsRecognised: pushed over while it walks, the pony knows within 0.2 s of a tilt of 0.6 rad. What is done about the fault
// is for package loop to prove.
func TestAFallIsRecognised(t *testing.T) {
	p := prepare(t, loaded(t, "pony", load.Options{}), "duration: 4\nperiod: 0.0224\nstart: {pose: stand}\nmodel: {kp: 230, delay: 0.0112}\ncontrol: {cycle: 1}\n"+
		"do: [{at: 0.1, velocity: {x: 0.1}, gait: trot}, {at: 3, push: {link: base_link, force: [0, 50, 0], for: 0.1}}]\n")
	r, err := p.Run(1, Watch{})
	if err != nil {
		t.Fatal(err)
	}
	times, tilt := r.Series("tilt")
	k := 0
	for k < len(tilt) && tilt[k] < 0.6 {
		k++
	}
	if k == len(tilt) || len(r.Notes) != 1 {
		t.Fatalf("tilt %g rad at most, notes %q", r.Figures["tilt"].Greatest, r.Notes)
	}
	var at float64
	if _, err := fmt.Sscanf(r.Notes[0], "velocity: aborted at %f s", &at); err != nil || !strings.Contains(r.Notes[0], "fell") {
		t.Fatalf("it says %q", r.Notes[0])
	}
	t.Logf("tilted by 0.6 rad at %.3f s; %s", times[k], r.Notes[0])
	if at-times[k] > 0.2 {
		t.Errorf("it knows %g s later", at-times[k])
	}
}

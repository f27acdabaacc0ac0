package scenario

import (
	"fmt"
	"math"
	"os"
	"testing"

	"poise/robot/load"
)

// tipped pushes a pony that stands ready to walk for 0.1 s and says what became of it.
func tipped(t *testing.T, x, y, period float64, cycle int, seed uint64, seconds float64) *Result {
	t.Helper()
	p := prepare(t, loaded(t, "pony", load.Options{}), fmt.Sprintf("duration: %g\nperiod: %g\nstart: {pose: stand}\nmodel: {kp: 230, delay: 0.0112, jitter: 0.005}\ncontrol: {cycle: %d}\n"+
		"do: [{at: 0.1, velocity: {}, gait: crawl}, {at: %g, push: {link: base_link, force: [%g, %g, 0], for: 0.1}}]\n", seconds, period, cycle, 1.3+0.003*float64(seed), x/0.1, y/0.1))
	r, err := p.Run(seed, Watch{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// caughtAt are impulses at 11.2 ms that only steps withstand, N·s.
var caughtAt = []struct {
	name string
	x, y float64
}{{"left", 0, 1.8}, {"right", 0, -1.8}, {"ahead", 3.2, 0}, {"back", -2.8, 0}}

// TestRecoverySteps: pushed so that a pony which only stands falls, one that is ready to walk catches itself by steps in cycle 1, puts its feet to their
// places and stands in the end.
func TestRecoverySteps(t *testing.T) {
	seeds := uint64(1)
	if os.Getenv("POISE_SOAK") != "" {
		seeds = 5
	}
	for i, c := range caughtAt {
		for seed := range seeds {
			r := tipped(t, c.x, c.y, 0.0112, 1, seed+1, 6.5)
			f := r.Figures
			t.Logf("%s, seed %d: fallen %v, tilt %.2f rad, %.3f m away, %.4f rad in the end; %v", c.name, seed+1, r.Fallen, f["tilt"].Greatest, f["distance"].Last, f["tilt"].Last, r.Notes)
			if r.Fallen || len(r.Notes) > 0 || f["tilt"].Last > 0.01 || f["speed"].Last > 0.02 {
				t.Errorf("%s, seed %d: fallen %v, tilted by %g rad, %g m/s in the end; %v", c.name, seed+1, r.Fallen, f["tilt"].Last, f["speed"].Last, r.Notes)
			}
		}
		size := math.Hypot(c.x, c.y)
		if s := (&shove{x: c.x / size, y: c.y / size}); i%2 == 0 {
			if fell, _ := s.falls(t, size, 0.0112, 1, false, 1); !fell {
				t.Errorf("%s: a pony that only stands withstands %g N·s", c.name, size)
			}
		}
	}
}

// TestNoStepMakesItFall: in eight directions, pushes from those that nothing is needed for to those that are caught, at 11.2 ms: none in between ends
// in a fall, so that steps never cost what soles withstand by themselves.
func TestNoStepMakesItFall(t *testing.T) {
	long := os.Getenv("POISE_SOAK") != ""
	for i, c := range []struct {
		x, y   float64 // direction
		caught float64 // N·s
	}{
		{1, 0, 3.2}, {-1, 0, 2.8}, {0, 1, 1.8}, {0, -1, 1.8}, {0.707, 0.707, 2.1}, {0.707, -0.707, 2.1}, {-0.707, 0.707, 1.95}, {-0.707, -0.707, 1.95},
	} {
		for n := range 8 {
			if !long && (n != 2 || i%2 == 0) {
				continue
			}
			size := c.caught * (1 - 0.03*float64(n))
			if r := tipped(t, size*c.x, size*c.y, 0.0112, 1, uint64(n+1), 5.5); r.Fallen || len(r.Notes) > 0 {
				t.Errorf("(%g, %g): pushed by %.3f N·s it falls: tilt %.2f rad, %v", c.x, c.y, size, r.Figures["tilt"].Greatest, r.Notes)
			}
		}
	}
}

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

// caughtWhole is what cycle 2 catches ahead, N·s.
const caughtWhole = 3.1

// TestRecoverySteps: pushed so that a pony which only stands falls, one that is ready to walk catches itself by steps in cycles 1 and 2, puts its feet to their
// places and stands level in the end; in the long form for ten seconds.
func TestRecoverySteps(t *testing.T) {
	level := [...]float64{1: 0.01, 2: 0.03} // rad
	seeds, seconds, long := uint64(1), 6.5, os.Getenv("POISE_SOAK") != ""
	if long {
		seeds, seconds = 5, 11.5
	}
	for i, c := range caughtAt {
		for cycle := 1; cycle <= 2; cycle++ {
			if cycle == 2 {
				c.x = min(c.x, caughtWhole)
			}
			if !long && (i+cycle)%2 == 0 {
				continue
			}
			for seed := range seeds {
				r := tipped(t, c.x, c.y, 0.0112, cycle, seed+1, seconds)
				f := r.Figures
				t.Logf("%s, cycle %d, seed %d: fallen %v, tilt %.2f rad, %.3f m away, %.4f rad in the end; %v", c.name, cycle, seed+1, r.Fallen, f["tilt"].Greatest, f["distance"].Last, f["tilt"].Last, r.Notes)
				if r.Fallen || len(r.Notes) > 0 || f["tilt"].Last > level[cycle] || f["speed"].Last > 0.02 {
					t.Errorf("%s, cycle %d, seed %d: fallen %v, tilted by %g rad, %g m/s in the end; %v", c.name, cycle, seed+1, r.Fallen, f["tilt"].Last, f["speed"].Last, r.Notes)
				}
			}
			size := math.Hypot(c.x, c.y)
			if s := (&shove{x: c.x / size, y: c.y / size}); long || i == 0 {
				if fell, _ := s.falls(t, size, 0.0112, cycle, false, 1); !fell {
					t.Errorf("%s, cycle %d: a pony that only stands withstands %g N·s", c.name, cycle, size)
				}
			}
		}
	}
}

// TestNoStepMakesItFall: in eight directions, pushes from those that nothing is needed for to those that are caught, at 11.2 ms in cycles 1 and 2: none in between ends
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
			for cycle := 1; cycle <= 2; cycle++ {
				if !long && cycle != 1+i/2%2 {
					continue
				}
				size := c.caught * (1 - 0.03*float64(n))
				if cycle == 2 {
					size = min(size, caughtWhole)
				}
				if r := tipped(t, size*c.x, size*c.y, 0.0112, cycle, uint64(n+1), 5.5); r.Fallen || len(r.Notes) > 0 {
					t.Errorf("(%g, %g): pushed by %.3f N·s in cycle %d it falls: tilt %.2f rad, %v", c.x, c.y, size, cycle, r.Figures["tilt"].Greatest, r.Notes)
				}
			}
		}
	}
}

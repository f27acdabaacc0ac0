package scenario

import (
	"fmt"
	"os"
	"testing"

	"poise/robot/load"
)

// shove is a push of 0.1 s on the base, N·s.
type shove struct {
	name string
	x, y float64 // direction
	must float64 // at 22.4 ms, N·s
	fast float64 // at 11.2 ms, N·s
}

var shoves = []shove{{"left", 0, 1, 1.4, 1.6}, {"right", 0, -1, 1.4, 1.6}, {"ahead", 1, 0, 2.5, 2.9}, {"back", -1, 0, 2.1, 2.6}}

// falls pushes a pony that stands ready to walk, or passive: in the pose stand, and returns whether it falls.
func (s *shove) falls(t *testing.T, size, period float64, cycle int, walks bool, seed uint64) (bool, float64) {
	t.Helper()
	do := ""
	if walks {
		do = "{at: 0.1, velocity: {}, gait: crawl}, "
	}
	p := prepare(t, loaded(t, "pony", load.Options{}), fmt.Sprintf("duration: 4\nperiod: %g\nstart: {pose: stand}\nmodel: {kp: 230, delay: 0.0112, jitter: 0.005}\ncontrol: {cycle: %d}\n"+
		"do: [%s{at: 2, push: {link: base_link, force: [%g, %g, 0], for: 0.1}}]\n", period, cycle, do, s.x*size/0.1, s.y*size/0.1))
	r, err := p.Run(seed, Watch{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Fallen, r.Figures["tilt"].Greatest
}

// TestNoWorseThanPassive: what a pony withstands that only stands, to 0.05 N·s, one that is ready to walk withstands too; in
// cycles 1 and 2; with five seeds in `make soak`.
func TestNoWorseThanPassive(t *testing.T) {
	cycles, all, seeds := walkingCycles, shoves, uint64(1)
	if testing.Short() {
		cycles, all = cycles[:1], all[:1]
	}
	if os.Getenv("POISE_SOAK") != "" {
		seeds = 5
	}
	for _, cycle := range cycles {
		for _, s := range all {
			for seed := uint64(1); seed <= seeds; seed++ {
				s.compare(t, cycle, seed)
			}
		}
	}
}

// compare finds what a passive pony withstands, and pushes one that is ready to walk by as much.
func (s *shove) compare(t *testing.T, cycle int, seed uint64) {
	t.Helper()
	low, high := 0.8*s.must, 1.4*s.must
	for high-low > 0.05 {
		mid := (low + high) / 2
		if fell, _ := s.falls(t, mid, 0.0224, cycle, false, seed); fell {
			high = mid
		} else {
			low = mid
		}
	}
	fell, tilt := s.falls(t, low, 0.0224, cycle, true, seed)
	t.Logf("%s, cycle %d, seed %d: passive withstands %.2f N·s; ready to walk it tilts by %.2f rad, fallen %v", s.name, cycle, seed, low, tilt, fell)
	if fell {
		t.Errorf("%s, cycle %d, seed %d: %.2f N·s, which passive withstands, lets it fall", s.name, cycle, seed, low)
	}
}

// TestPushesInCycle2: the musts of TestPushesOfAWalker, led by the whole body.
func TestPushesInCycle2(t *testing.T) { pushesInCycle2(t, 1) }

// TestSoakPushesInCycle2: five seeds of them.
func TestSoakPushesInCycle2(t *testing.T) {
	if os.Getenv("POISE_SOAK") == "" {
		t.Skip("absent: POISE_SOAK, which make soak sets")
	}
	pushesInCycle2(t, 5)
}

func pushesInCycle2(t *testing.T, seeds uint64) {
	for _, s := range shoves {
		for seed := range seeds {
			for _, c := range []struct{ size, period float64 }{{s.must, 0.0224}, {s.fast, 0.0112}} {
				fell, tilt := s.falls(t, c.size, c.period, 2, true, seed+1)
				t.Logf("%s, %g N·s, %g s, seed %d: tilt %.2f rad", s.name, c.size, c.period, seed+1, tilt)
				if fell {
					t.Errorf("pushed %s by %g N·s at %g s, seed %d: it fell", s.name, c.size, c.period, seed+1)
				}
			}
		}
	}
}

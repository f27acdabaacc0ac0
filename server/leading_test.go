package server

import (
	"math"
	"testing"
)

// TestALeaderThatIsBackIsNotRunTo: it is followed at once when it begins and while it moves; one that was not measured, or
// not heard, is not followed, and when it is back elsewhere the follower glides to it from where it is.
func TestALeaderThatIsBackIsNotRunTo(t *testing.T) {
	for _, c := range []struct {
		name  string
		stale bool // otherwise nothing comes at all
	}{{"not measured", true}, {"not heard", false}} {
		var l leading
		now := 0.0
		follow := func(stale bool, leader, at float64) float64 {
			now += 0.01
			return l.follow(now, stale, []float64{leader}, []float64{at})[0]
		}
		if got := follow(false, 1, 0); got != 1 {
			t.Errorf("%s: at the start it is followed at %g", c.name, got)
		}
		if got := follow(false, 1.3, 1); got != 1.3 {
			t.Errorf("%s: its motion is followed at %g", c.name, got)
		}
		for range 100 {
			if c.stale {
				follow(true, 1.3, 1.3)
			} else {
				now += 0.01
			}
			if l.gone != c.stale {
				t.Fatalf("%s: gone %t", c.name, l.gone)
			}
		}
		last, ticks := 1.3, 0
		for ; ticks < 1000 && last != -0.5; ticks++ {
			got := follow(false, -0.5, last)
			if step := math.Abs(got - last); step > glide*0.01+1e-9 {
				t.Fatalf("%s: back elsewhere, the follower is told to go by %g in 0.01 s", c.name, step)
			}
			last = got
		}
		if want := 1.8 / glide / 0.01; math.Abs(float64(ticks)-want) > 3 {
			t.Errorf("%s: it takes %d ticks, want %g", c.name, ticks, want)
		}
		if got := follow(false, 0.5, last); got != 0.5 {
			t.Errorf("%s: then it is followed at %g", c.name, got)
		}
	}
}

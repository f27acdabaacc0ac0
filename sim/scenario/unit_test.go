package scenario

import (
	"testing"

	"poise/robot/load"
	"poise/servo/physics"
)

// TestTheUnitOfAScenarioErrs: unless a script says otherwise the inertial unit has noise, bias and delay, drawn by the seed,
// and what is given replaces one of them.
func TestTheUnitOfAScenarioErrs(t *testing.T) {
	bot := loaded(t, "pony", load.Options{})
	text := "duration: 0.1\nstart: {pose: stand}\ncontrol: {cycle: 1}\n"
	rates := map[uint64]float64{}
	for _, seed := range []uint64{1, 2} {
		r, err := prepare(t, bot, text).begin(seed, Watch{})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			if err := r.cycle.tick(20); err != nil {
				t.Fatal(err)
			}
		}
		now, _ := r.cycle.loop.Snapshot()
		u := now.Measured.IMU[0]
		rates[seed] = u.Rate.X
		if truth := r.state.V[3]; u.Rate.X == truth {
			t.Errorf("seed %d: the unit reads the truth, %g rad/s", seed, truth)
		}
	}
	if rates[1] == rates[2] {
		t.Errorf("both seeds read %g rad/s", rates[1])
	}
	p := prepare(t, bot, text+"unit: {rate_noise: 0, delay: 0}\n")
	want := physics.TypicalErrors
	want.RateNoise, want.Delay = 0, 0
	if got := p.s.Unit.errors(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

package server

import (
	"testing"

	"poise/control"
	"poise/loop"
	"poise/loop/runner"
	"poise/robot/load"
	"poise/servo"
)

// TestWhatIsWrongHasItsLevel: a silent joint is stale, one with a fault an error, a cycle
// that overran a warning, and the rest is well.
func TestWhatIsWrongHasItsLevel(t *testing.T) {
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := len(bot.Model.Joints())
	now := &loop.Snapshot{Tick: servo.Tick{Dt: 0.01}, Measured: control.Measured{Age: make([]uint32, n), Fault: make([]servo.Fault, n)}}
	now.Measured.Age[1], now.Measured.Fault[2] = 30, 1
	got := map[string]uint8{}
	for _, s := range diagnostics("real", bot.Model, now, &runner.Stats{Overruns: 2}, "not asked for").Status {
		got[s.Name] = s.Level
	}
	for name, want := range map[string]uint8{"real/cycle": levelWarn, "real/power": levelOK, "real/joint/joint_1": levelOK, "real/joint/joint_2": levelStale, "real/joint/joint_3": levelError} {
		if level, ok := got[name]; !ok || level != want {
			t.Errorf("%s has level %d, want %d", name, level, want)
		}
	}
}

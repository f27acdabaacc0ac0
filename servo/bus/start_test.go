package bus_test

import (
	"testing"
	"time"

	"poise/servo"
	"poise/servo/emulator"
)

// TestABusyStartFindsAllServos: answers that come later than a servo would send them, servos that get their power just
// now and a line that loses one packet in four are no missing servos.
func TestABusyStartFindsAllServos(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				b := newBed(t, turntable(t, 3, k.name, k.zero), k.baud, 0.02, false)
				b.trouble(emulator.Trouble{Late: 1, LateBy: 35 * time.Millisecond}) // ten times the patience of the bed
				if err := b.driver.Open(t.Context()); err != nil {
					t.Errorf("late answers: %v", err)
				}
				if err := b.driver.Close(); err != nil {
					t.Error(err)
				}
				b.trouble(emulator.Trouble{})
				for _, s := range b.servos.Servos() {
					b.servos.With(s.Reset)
				}
				if err := b.driver.Open(t.Context()); err != nil {
					t.Errorf("servos that start: %v", err)
				}
				if err := b.driver.Close(); err != nil {
					t.Error(err)
				}
				b.trouble(emulator.Trouble{Loss: 0.13})
				if err := b.driver.Open(t.Context()); err != nil {
					t.Errorf("a line that loses packets: %v", err)
				}
				if err := b.driver.Close(); err != nil {
					t.Error(err)
				}
				if v := b.violations(); len(v) > 0 {
					t.Errorf("%+v", v[0])
				}
			})
		})
	}
}

// TestNoServoBeginsWhereAnotherIs: in a slow cycle, where a joint may have turned far between two readings, answers come
// with another's id; a servo that starts again gets its torque where it is all the same.
func TestNoServoBeginsWhereAnotherIs(t *testing.T) {
	rounds := 25
	if testing.Short() {
		rounds = 2
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				const period = 0.06
				r := newRig(t, newBed(t, turntable(t, 3, k.name, k.zero), k.baud, period, false), period)
				r.trouble(emulator.Trouble{Swap: 0.05})
				on := 0
				for i := range rounds {
					r.run(1.5, nil)
					if r.servos.Servos()[i%3].Mode() == servo.Position {
						on++
					}
					r.servos.With(func() { r.servos.Servos()[i%3].Reset() })
				}
				if v := r.violations(); len(v) > 0 {
					t.Errorf("%d violations, the first: %+v", len(v), v[0])
				}
				if on < rounds/2 {
					t.Errorf("%d of %d times the servo had its torque back", on, rounds)
				}
			})
		})
	}
}

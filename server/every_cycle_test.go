package server

import (
	"testing"

	"poise/control"
	"poise/loop"
	"poise/servo"
)

// TestEveryCycleIsCarriedOut: the samples of all cycles come in order, those beyond the ring do
// not overwrite what waits, and the cycle allocates nothing.
func TestEveryCycleIsCarriedOut(t *testing.T) {
	e := newEveryCycle(2, nil)
	r := &loop.TickRecord{Command: &control.Motion{Q: []float64{1, 2}, V: []float64{3, 4}, Tau: []float64{5, 6}},
		Measured: &control.Measured{Q: []float64{7, 8}, V: []float64{9, 10}, Effort: []float64{11, 12}}}
	number := int64(0)
	tick := func() {
		number++
		r.Tick = servo.Tick{Time: number}
		r.Command.Q[0] = float64(number)
		e.Tick(r)
	}
	if n := testing.AllocsPerRun(100, tick); n != 0 {
		t.Errorf("%v allocations in a cycle", n)
	}
	seen := int64(0)
	read := func() {
		e.drain(func(s *jointSample) {
			if seen++; s.tick.Time != seen || s.command.q[0] != float64(seen) || s.command.q[1] != 2 || s.measured.effort[1] != 12 {
				t.Fatalf("sample %d is %+v", seen, s)
			}
		})
	}
	read()
	for range 3 * samples {
		tick()
		if number%7 == 0 {
			read()
		}
	}
	read()
	if seen != number {
		t.Errorf("%d of %d cycles came out", seen, number)
	}
	for range samples + 5 {
		tick()
	}
	before := seen
	read()
	if seen != before+samples {
		t.Errorf("%d came of a full ring", seen-before)
	}
}

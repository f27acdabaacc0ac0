package loop

import (
	"sync/atomic"
	"testing"

	"poise/robot"
	"poise/servo"
)

// TestAJointIsHeardByAReadingFromAfterItWasTold: one that came with the tick after may be older.
func TestAJointIsHeardByAReadingFromAfterItWasTold(t *testing.T) {
	l := &Loop{reading: servo.NewMeasurement(2, servo.Sensors{}), heard: heard{ticks: make([]atomic.Uint64, 2)}}
	l.cfg.Absent = robot.Leaf(1) // it is not waited for until it is heard
	tick := func(n uint64, age uint32) {
		l.tick.N, l.reading.Joints[0].Age = n, age
		l.heard.note(l)
	}
	silent := func(since uint64, want robot.Set) {
		t.Helper()
		if got := l.Unheard(since); got != want {
			t.Errorf("in tick %d, told in %d: %v, want %v", l.tick.N, since, got, want)
		}
	}
	first := robot.Leaf(0)
	tick(6, servo.Never)
	silent(0, first)
	tick(7, 0) // what the bus brought at the end of tick 6
	silent(4, robot.Set{})
	silent(5, first)
	tick(8, 1) // nothing new
	silent(5, first)
	tick(20, 0) // after a gap: it came at the end of tick 8
	silent(6, robot.Set{})
	silent(7, first)
	l.reading.Joints[1].Age = 0
	tick(21, 0)
	silent(18, robot.Set{})
	l.reading.Joints[1].Age = 1
	tick(23, 0)
	silent(19, robot.Leaf(1))
	if n := testing.AllocsPerRun(100, func() { l.heard.note(l); l.Unheard(3) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

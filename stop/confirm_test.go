package stop_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"poise/loop"
	"poise/robot"
	"poise/stop"
)

// deaf is a robot whose cycle does what it is asked in the next tick, while its only servo says nothing until it is heard.
type deaf struct {
	cycle
	tick  atomic.Uint64
	heard atomic.Uint64 // tick
}

func (d *deaf) Stop(category uint8) uint64 {
	n := d.cycle.Stop(category)
	d.tick.Add(1)
	d.taken.Store(n)
	d.over.Store(n)
	return n
}

func (d *deaf) StopState() loop.StopState {
	s := d.cycle.StopState()
	s.Tick = d.tick.Load()
	return s
}

func (d *deaf) Unheard(since uint64) (silent robot.Set) {
	if d.heard.Load() <= since {
		silent = silent.With(0)
	}
	return silent
}

func (d *deaf) Servos(robot.Set) string { return "elbow (servo 3 on line arm)" }

// TestAStopIsNotConfirmedBySilentServos: it is taken and over, and does not succeed, soon; stops that follow do not make
// an answer wait for longer.
func TestAStopIsNotConfirmedBySilentServos(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &deaf{}
		line := stop.New(t.Context(), []stop.Robot{{Name: "real", Cycle: d, Confirm: d}}, nil)
		asked, began := line.All().Stop("me", 0), time.Now()
		a := asked.Over(t.Context())
		if took := time.Since(began); a.Success || took > 2*stop.Unconfirmed || a.Text != "was sent torque off, which is not confirmed by elbow (servo 3 on line arm)" {
			t.Errorf("%+v after %v", a, took)
		}
		if a := asked.Taken(t.Context()); a.Success {
			t.Errorf("taken: %+v", a)
		}
		asked = line.All().Stop("me", 2)
		time.AfterFunc(stop.Unconfirmed/2, func() { d.heard.Store(d.tick.Load() + 1) })
		for range 10 {
			time.AfterFunc(stop.Unconfirmed/4, func() { line.All().Stop("another", 2) })
		}
		if a := asked.Over(t.Context()); !a.Success || !strings.HasPrefix(a.Text, "stands after") {
			t.Errorf("%+v", a)
		}
	})
}

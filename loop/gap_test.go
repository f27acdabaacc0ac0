package loop

import (
	"slices"
	"testing"

	"poise/control"
	"poise/servo"
)

// TestGapStopsHardware: a cycle that stood still for more than 100 ms is a stop of
// category 2, in motion and at rest. It is shown, and ends with a reset alone.
func TestGapStopsHardware(t *testing.T) {
	for _, moving := range []bool{true, false} {
		r := newRig(t, parts{robot: "arm6", controllers: 1})
		r.checks = true
		if moving {
			r.must(0, 1, r.program(r.limb("manipulator"), 0.3, 2))
		}
		r.run(500)
		r.l.Late(100) // 100 ms: not over it
		r.run(1)
		if r.raised(CycleGap) {
			t.Fatal("a gap of 100 ms is a fault")
		}
		r.l.Late(101)
		r.run(2000)
		s, _ := r.l.Snapshot()
		raised, stops := r.raised(CycleGap), r.told(Stopped)
		if !raised || !s.Stopped || s.Faults == 0 || len(stops) != 1 || stops[0].Value != 2 || !r.l.mode[0].Powered() {
			t.Fatalf("moving %v: raised %v, stopped %v, %d faults, stops %+v, mode %v", moving, raised, s.Stopped, s.Faults, stops, r.l.mode[0])
		}
		held := slices.Clone(r.l.command.Q)
		r.l.Send(Order{Kind: Resume})
		r.run(200)
		if s, _ := r.l.Snapshot(); !s.Stopped || !slices.Equal(held, r.l.command.Q) {
			t.Error("it goes on without a reset")
		}
		r.l.Send(Order{Kind: Reset})
		r.run(2)
		if s, _ := r.l.Snapshot(); s.Stopped || s.Paused || s.Faults != 0 || r.l.busy() {
			t.Errorf("after a reset: stopped %v, paused %v, %d faults, busy %v", s.Stopped, s.Paused, s.Faults, r.l.busy())
		}
		r.must(0, 2, r.program(r.limb("manipulator"), 0.1, 1))
	}
}

// TestGapStopsLimpHardware: it is stopped, and that is latched and shown; it stays limp,
// through the reset too.
func TestGapStopsLimpHardware(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 1})
	r.checks = true
	r.run(100)
	r.l.Send(Order{Kind: PowerOff})
	r.run(2000)
	if r.l.powered.state != Ready {
		t.Fatalf("power is %v", r.l.powered.state)
	}
	r.l.Late(101)
	r.run(500)
	if s, _ := r.l.Snapshot(); !s.Stopped || s.Faults == 0 || !r.raised(CycleGap) || r.l.powered.state != Ready || r.l.mode[0].Powered() {
		t.Fatalf("stopped %v, %d faults, power %v, mode %v", s.Stopped, s.Faults, r.l.powered.state, r.l.mode[0])
	}
	r.l.Send(Order{Kind: Reset})
	r.run(2)
	if s, _ := r.l.Snapshot(); s.Stopped || s.Faults != 0 || r.l.powered.state != Ready || r.l.mode[0].Powered() {
		t.Errorf("after a reset: stopped %v, %d faults, power %v, mode %v", s.Stopped, s.Faults, r.l.powered.state, r.l.mode[0])
	}
}

// TestGapPausesAVirtualRobot: what moves stands still on its path, shown as paused, until
// it is resumed or reset; then it goes on where it was. A robot that does nothing is not
// paused.
func TestGapPausesAVirtualRobot(t *testing.T) {
	for _, end := range []OrderKind{Resume, Reset} {
		r := newRig(t, parts{robot: "arm6", controllers: 1, settings: Settings{GapPauses: true}})
		r.checks = true
		r.run(10)
		r.l.Late(5000)
		r.run(10)
		if s, _ := r.l.Snapshot(); s.Paused || r.raised(CycleGap) {
			t.Fatal("a robot at rest is paused")
		}
		r.must(0, 1, r.program(r.limb("manipulator"), 0.3, 2))
		r.run(500)
		r.l.Late(5000)
		r.run(2000)
		s, _ := r.l.Snapshot()
		if !s.Paused || s.Stopped || s.Wanted != 0 || !r.raised(CycleGap) || !r.l.shaper.AtRest() || !r.l.busy() {
			t.Fatalf("paused %v, stopped %v, raised %v, at rest %v, busy %v", s.Paused, s.Stopped, r.raised(CycleGap), r.l.shaper.AtRest(), r.l.busy())
		}
		r.l.Send(Order{Kind: end})
		r.run(300)
		if s, _ := r.l.Snapshot(); s.Paused || r.l.faults.latch.state[r.l.dof][CycleGap].latched || r.l.shaper.AtRest() {
			t.Errorf("order %d: paused %v, at rest %v", end, s.Paused, r.l.shaper.AtRest())
		}
	}
}

// TestPauseEndsWithReset: a pause survives a stop, shown, and ends with the reset; so
// does that of one controller.
func TestPauseEndsWithReset(t *testing.T) {
	for _, kind := range []OrderKind{Pause, GoalPause} {
		r := newRig(t, parts{robot: "arm6", controllers: 1})
		r.must(0, 1, r.program(r.limb("manipulator"), 0.3, 2))
		r.run(200)
		r.l.Send(Order{Kind: kind})
		r.run(500)
		shown := func() bool { s, _ := r.l.Snapshot(); return s.Paused || s.Active[0].Paused }
		if !shown() {
			t.Errorf("order %d: the pause is not shown", kind)
		}
		r.l.Stop(2)
		r.run(500)
		if !shown() {
			t.Errorf("order %d: the pause is not shown any more", kind)
		}
		r.l.Send(Order{Kind: Reset})
		r.run(1)
		if s, _ := r.l.Snapshot(); shown() || s.Wanted != 1 {
			t.Errorf("order %d: paused after a reset, rate %g", kind, s.Wanted)
		}
		r.must(0, 2, r.program(r.limb("manipulator"), 0.1, 1))
		if r.run(300); r.l.shaper.AtRest() {
			t.Errorf("order %d: nothing moves", kind)
		}
	}
}

// TestFaultsThatClearLeaveNothingHidden: after a fault that is gone by itself the robot
// takes goals, or its state says what has to be done first.
func TestFaultsThatClearLeaveNothingHidden(t *testing.T) {
	for severity := SeverityWarn; severity <= SeverityTorqueOff; severity++ {
		rules := DefaultFaultRules()
		rules[Overrun].Severity = severity
		rules[CycleGap].Severity = SeverityIgnore
		r := newRig(t, parts{robot: "pony", controllers: 1, settings: Settings{Faults: rules}})
		r.must(0, 1, r.program(r.limb("leg1"), 0.3, 1))
		r.run(300)
		r.l.Late(5000)
		r.run(1)
		if !r.raised(Overrun) {
			t.Fatal("no fault")
		}
		r.run(8000)
		s, _ := r.l.Snapshot()
		if s.Faults != 0 {
			t.Fatalf("%v: the fault is still there", severity)
		}
		if s.Stopped {
			r.l.Send(Order{Kind: Reset})
			r.run(2)
			s, _ = r.l.Snapshot()
		}
		if !s.Limp.Empty() {
			r.torque(true, s.Limp)
			r.run(2)
		}
		r.reports = nil
		r.goal(0, 2, r.program(r.limb("leg1"), 0.1, 1))
		r.run(500)
		if rej := r.told(GoalRejected); len(rej) > 0 || r.l.seats[0].wantedRate() != 1 {
			t.Errorf("%v: %+v, rate %g", severity, rej, r.l.seats[0].wantedRate())
		}
	}
}

// TestBrakedStaysBraked: the end of a fault that braked a limb gives it no torque, and
// does not free it.
func TestBrakedStaysBraked(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 1})
	r.run(10)
	r.l.faults.brake = r.l.faults.brake.With(1)
	r.run(10)
	r.l.faults.brake = r.l.faults.brake.Without(1)
	r.run(10)
	if s, _ := r.l.Snapshot(); r.l.mode[1] != servo.Brake || !s.Limp.Has(1) {
		t.Errorf("mode %v, listed %v", r.l.mode[1], s.Limp.Has(1))
	}
	r.goal(0, 1, r.program(r.limb("manipulator"), 0.1, 1))
	r.run(1)
	if rej := r.told(GoalRejected); len(rej) != 1 || rej[0].Reason.Code != control.PowerOff {
		t.Errorf("%+v", rej)
	}
	r.l.Send(Order{Kind: PowerOn})
	r.run(1)
	if !r.l.mode[1].Powered() {
		t.Errorf("mode %v", r.l.mode[1])
	}
}

// TestWhatJumpsOverAGap: the clock of a motion that begins, goes on, slows down or stands does not
// jump when ticks are missed; one that follows the time of ticks does, and what has no
// clock may have.
func TestWhatJumpsOverAGap(t *testing.T) {
	for _, c := range []struct {
		what               string
		passed, last, rate float64 // ms, ms, 1
		missed             uint64
		jumped             bool
	}{
		{"begins", 1, 0, 1, 15, false},
		{"goes on", 1, 1, 1, 15, false},
		{"catches up", 1.25, 1, 1, 15, false},
		{"slows down to stand", 0.8, 1, 0, 15, false},
		{"stands", 0, 0, 0, 15, false},
		{"follows the time of ticks", 16, 1, 1, 15, true},
		{"has no clock", 0, 0, 1, 15, true},
		{"has no clock, and no tick is missed", 0, 0, 1, 0, false},
	} {
		s := &seat{l: &Loop{tick: servo.Tick{Dt: 1e-3}}, passed: c.last / 1e3, ref: &control.Reference{}}
		s.l.input.Missed = c.missed
		if s.caughtUp(c.passed/1e3, c.rate); s.ref.Cut != c.jumped {
			t.Errorf("what %s: jumped is %v", c.what, s.ref.Cut)
		}
	}
}

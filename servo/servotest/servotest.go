package servotest

import (
	"testing"
	"testing/synctest"

	"poise/servo"
)

// Subject is a driver under test, and what the tests must know of the machine behind it.
// What is zero has the default.
type Subject struct {
	Driver servo.Driver // constructed, not open
	Joints int          // that it has
	Period float64      // of the cycle that exchanges with it, s

	// Silence cuts the line between driver and machine, so that nothing is heard, and
	// mends it again.
	Silence func(silent bool)

	// Told returns the mode that the machine was told last for a joint. It may be nil, and then what Close sends is
	// not looked at.
	Told func(joint int) servo.Mode

	Ticks     int     // within which a setpoint takes effect and is read back, default 200
	Step      float64 // that a joint may be moved from where it is at first, both ways, rad or m; default 0.1
	Tolerance float64 // of a reading at rest: noise, resolution and sag, rad or m; default 0.001
	Effort    float64 // that moves a joint, N·m or N, default 1
}

func (s Subject) withDefaults() Subject {
	if s.Ticks == 0 {
		s.Ticks = 200
	}
	if s.Step == 0 {
		s.Step = 0.1
	}
	if s.Tolerance == 0 {
		s.Tolerance = 0.001
	}
	if s.Effort == 0 {
		s.Effort = 1
	}
	switch {
	case s.Driver == nil || s.Joints < 1 || !(s.Period > 0) || s.Silence == nil:
		panic("servotest: a subject needs Driver, Joints, Period and Silence")
	case s.Step < 4*s.Tolerance:
		panic("servotest: Step must be at least four times Tolerance, or a move cannot be told from rest")
	}
	return s
}

// check is one clause of the contract.
type check struct {
	name string
	run  func(b *bench) error
}

// checks is the contract.
var checks = []check{
	{"capabilities", checkCapabilities},
	{"life", checkLife},
	{"any order of open and close", checkAnyOrder},
	{"opening that is called off", checkCancelledOpen},
	{"opening without a machine", checkOpenInSilence},
	{"no goroutine is left", checkGoroutines},
	{"the last setpoints", checkLastSetpoints},
	{"every part is measured", checkMeasured},
	{"ages", checkAges},
	{"missed ticks", checkMissedTicks},
	{"off", checkOff},
	{"modes", checkModes},
	{"modes it does not have", checkOtherModes},
	{"non-finite setpoints", checkNonFinite},
	{"placing", checkPlacing},
	{"posing by hand", checkHand},
	{"allocations", checkAllocations},
}

// Run proves every clause of the contract on a driver of its own, which new constructs, in
// fake time.
func Run(t *testing.T, new func(t testing.TB) Subject) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if err := c.on(t, new, true); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// RunInRealTime is Run in real time. It cannot tell whether an Exchange waits.
func RunInRealTime(t *testing.T, new func(t testing.TB) Subject) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if err := c.on(t, new, false); err != nil {
				t.Error(err)
			}
		})
	}
}

// on tries the clause on new drivers, which are closed afterwards.
func (c check) on(t testing.TB, new func(t testing.TB) Subject, fake bool) (err error) {
	b := &bench{t: t, new: new, fake: fake}
	defer func() {
		for _, m := range b.all {
			if closing := m.Driver.Close(); closing != nil && err == nil {
				err = closing
			}
			m.Silence(false)
		}
	}()
	if err := c.run(b); err != nil {
		return err
	}
	return b.violation()
}

package families

import (
	"strings"
	"testing"
	"time"

	"poise/servo"
	"poise/servo/emulator"
)

// powered steps a rig until all its servos have torque.
func powered(t *testing.T, k kind) *rig {
	t.Helper()
	r := newRig(t, newBed(t, turntable(t, 3, k.name, k.zero), k.baud, 0.02, false), 0.02)
	r.run(2, nil)
	for _, s := range r.servos.Servos() {
		if s.Mode() != servo.Position {
			t.Fatalf("%s has no torque", s.Joint)
		}
	}
	return r
}

// TestTheLastCommandIsCarriedOut: torque off in the last exchange before Close reaches the servos, at any moment of the
// line's period and though it loses packets, and is confirmed.
func TestTheLastCommandIsCarriedOut(t *testing.T) {
	for _, k := range kinds {
		for _, after := range []time.Duration{0, time.Millisecond, 7 * time.Millisecond, 15 * time.Millisecond} {
			for _, trouble := range []emulator.Trouble{{}, {Loss: 0.1}} {
				t.Run(k.name, func(t *testing.T) {
					inFakeTime(t, func(t *testing.T) {
						r := powered(t, k)
						r.trouble(trouble)
						time.Sleep(after)
						clear(r.src)
						r.exchange()
						began := time.Now()
						if err := r.driver.Close(); err != nil {
							t.Error(err)
						}
						if took := time.Since(began); took > time.Second {
							t.Errorf("Close took %v", took)
						}
						for _, s := range r.servos.Servos() {
							if s.Mode() != servo.Off {
								t.Errorf("%s still has torque %v after a tick", s.Joint, after)
							}
						}
						if not := r.driver.Unconfirmed(); len(not) > 0 {
							t.Errorf("not confirmed: %q", not)
						}
						if v := r.violations(); len(v) > 0 {
							t.Errorf("%+v", v[0])
						}
					})
				})
			}
		}
	}
}

// TestTorqueThatMayBeLeftIsNamed: a servo that does not answer at the end, or whose line is gone, is named; what is told to
// hold is held, and gets no torque by the end.
func TestTorqueThatMayBeLeftIsNamed(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := powered(t, k)
				r.servos.With(func() { r.servos.Servo("j2").Kill(true) })
				clear(r.src)
				r.exchange()
				if err := r.driver.Close(); err != nil {
					t.Error(err)
				}
				if not := r.driver.Unconfirmed(); len(not) != 1 || !strings.Contains(not[0], `joint "j2": servo 2 on line memory: no answer whether its torque is off`) {
					t.Errorf("not confirmed: %q", not)
				}
			})
			inFakeTime(t, func(t *testing.T) {
				r := powered(t, k)
				r.trouble(emulator.Trouble{Silent: true})
				clear(r.src)
				r.exchange()
				began := time.Now()
				if err := r.driver.Close(); err != nil {
					t.Error(err)
				}
				if not := r.driver.Unconfirmed(); len(not) != 3 || time.Since(began) > time.Second {
					t.Errorf("after %v not confirmed: %q", time.Since(began), not)
				}
			})
			inFakeTime(t, func(t *testing.T) {
				r := powered(t, k)
				if err := r.driver.Close(); err != nil {
					t.Error(err)
				}
				for _, s := range r.servos.Servos() {
					if s.Mode() != servo.Position {
						t.Errorf("%s does not hold", s.Joint)
					}
				}
				if not := r.driver.Unconfirmed(); len(not) > 0 {
					t.Errorf("not confirmed: %q", not)
				}
			})
			inFakeTime(t, func(t *testing.T) {
				r := newRig(t, newBed(t, turntable(t, 3, k.name, k.zero), k.baud, 0.02, false), 0.02)
				for range 20 {
					r.tick()
				}
				time.Sleep(15 * time.Millisecond) // the line sleeps until its next period
				r.wave()
				r.exchange()
				if err := r.driver.Close(); err != nil {
					t.Error(err)
				}
				for _, s := range r.servos.Servos() {
					if s.Mode() != servo.Off {
						t.Errorf("%s got torque at the end", s.Joint)
					}
				}
			})
		})
	}
}

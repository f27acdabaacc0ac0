package bus_test

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

// pull unplugs the adapter, or plugs it in again.
func (r *rig) pull(out bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pulled = out; out {
		for _, p := range r.ports {
			p.Close()
		}
	}
}

// TestALineThatComesBackIsAdopted: servos that hold meanwhile are never switched off, and are led on from where they are;
// one that has lost its torque is told, stays without while the cycle says off, and gets it when the cycle says so.
func TestALineThatComesBackIsAdopted(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := powered(t, k)
				r.mu.Lock()
				r.events = nil
				r.mu.Unlock()
				told, unpowered := r.src[1], [3]int{}
				hold := func(seconds float64) {
					for range int(seconds / r.period) {
						r.tick()
						for j := range r.dst.Joints { // as the cycle does
							if r.dst.Joints[j].Fault&servo.Unpowered != 0 {
								unpowered[j]++
								r.src[j] = servo.Setpoint{}
							}
						}
					}
				}
				r.pull(true)
				hold(1)
				r.servos.With(func() { r.servos.Servo("j2").Reset() })
				hold(2)
				r.pull(false)
				hold(3)
				for _, s := range r.servos.Servos() {
					want := servo.Position
					if s.Joint == "j2" {
						want = servo.Off
					}
					if s.Mode() != want {
						t.Errorf("%s is %v, must be %v", s.Joint, s.Mode(), want)
					}
				}
				for j, n := range unpowered {
					if (n > 0) != (j == 1) || r.dst.Joints[j].Fault != 0 {
						t.Errorf("joint %d is told to be without torque %d times, and reads %v", j, n, r.dst.Joints[j].Fault)
					}
				}
				r.mu.Lock()
				for _, e := range r.events {
					if e.What == "torque off" && e.Joint != "j2" {
						t.Errorf("%s was switched off", e.Joint)
					}
				}
				r.mu.Unlock()
				r.src[1] = told
				hold(2)
				r.calm(t, 0.05)
			})
		})
	}
}

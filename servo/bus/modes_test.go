package bus_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"poise/servo"
	"poise/servo/emulator"
	"poise/servo/servotest"
)

// operating is a bed of Dynamixel servos in an operating mode, which robot.yaml declares.
func operating(t testing.TB, mode int, more string) *bed {
	t.Helper()
	m := turntableOf(t, 3, func(int) string {
		return fmt.Sprintf("type: xm430-w350, zero: 2048, registers: {mode: %d}%s", mode, more)
	})
	b := newBed(t, m, 1_000_000, 0.02, false)
	b.saveOf(b.servos.Servos(), 1_000_000, map[string]int64{"mode": int64(mode)})
	return b
}

// otherModes are those that a servo has by its operating mode.
var otherModes = map[int]servo.Mode{1: servo.Velocity, 5: servo.Effort}

// TestContractOfOtherModes: servos in velocity mode obey velocities, those in current-based position mode efforts, and all
// of them positions.
func TestContractOfOtherModes(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); TestContract has the same goroutines")
	}
	for mode, more := range otherModes {
		t.Run(more.String(), func(t *testing.T) {
			servotest.Run(t, func(t testing.TB) servotest.Subject {
				b := operating(t, mode, "")
				if want := servo.ModesOf(servo.Off, servo.Position, more); b.driver.Capabilities().Modes != want {
					t.Errorf("modes %b, want %b", b.driver.Capabilities().Modes, want)
				}
				return servotest.Subject{Driver: b.driver, Joints: 3, Period: 0.02, Ticks: 100, Tolerance: 0.02, Silence: func(on bool) { b.trouble(emulator.Trouble{Silent: on}) }}
			})
		})
	}
}

// keep tells all joints a velocity and an effort for some time.
func (r *rig) keep(mode servo.Mode, velocity, effort, seconds float64, each func()) {
	for range int(seconds / r.period) {
		for j := range r.src {
			r.src[j] = servo.Setpoint{Mode: mode, Velocity: velocity, Effort: effort, PlayTime: r.period}
		}
		r.tick()
		if each != nil {
			each()
		}
	}
}

// moves reports how far the fastest joint goes in some time in which no cycle runs.
func (r *rig) moves(d time.Duration) (far float64) {
	before := make([]float64, len(r.src))
	for j := range before {
		before[j] = r.at(j)
	}
	time.Sleep(d)
	for j := range before {
		far = max(far, math.Abs(r.at(j)-before[j]))
	}
	return far
}

// at returns where a joint is now.
func (r *rig) at(j int) (q float64) {
	r.servos.With(func() { q = r.world.Read(j).Position })
	return q
}

// TestVelocityAndEffortEnd when nothing says any more that they are wanted: without a cycle, without a line, with a
// program that ends, at a joint's limits and when its servo has started anew. None energises by itself.
func TestVelocityAndEffortEnd(t *testing.T) {
	for mode, more := range otherModes {
		if testing.Short() && mode != 1 {
			continue
		}
		const v, effort = 0.5, 2.0 // 0.2 rad/s in an ideal world
		try := func(what, yaml string, f func(t *testing.T, r *rig)) {
			t.Run(more.String()+"/"+what, func(t *testing.T) {
				inFakeTime(t, func(t *testing.T) {
					r := newRig(t, operating(t, mode, yaml), 0.02)
					r.keep(more, v, effort, 1, nil)
					if far := r.moves(100 * time.Millisecond); far < 0.015 {
						t.Fatalf("it moves by %g rad in 100 ms", far)
					}
					f(t, r)
					if bad := r.violations(); len(bad) > 0 {
						t.Errorf("%+v", bad[0])
					}
				})
			})
		}
		try("without a cycle", "", func(t *testing.T, r *rig) {
			time.Sleep(300 * time.Millisecond)
			if far := r.moves(time.Second); far > 0.01 {
				t.Errorf("it moves by %g rad in a second", far)
			}
			r.keep(more, v, effort, 0.5, nil)
			if far := r.moves(100 * time.Millisecond); far < 0.015 {
				t.Errorf("with the cycle back it moves by %g rad in 100 ms", far)
			}
		})
		try("without a line", "", func(t *testing.T, r *rig) {
			r.unplug(true)
			time.Sleep(600 * time.Millisecond)
			if far := r.moves(time.Second); far > 0.01 || r.happened("watchdog") != 3 {
				t.Errorf("it moves by %g rad in a second, %d watchdogs have tripped", far, r.happened("watchdog"))
			}
			r.unplug(false)
			if far := r.moves(2 * time.Second); far > 0.02 {
				t.Errorf("with the line back, and without a cycle, it moves by %g rad", far)
			}
			r.servos.With(func() { r.servos.Servo("j1").Reset() }) // while the cycle hangs
			if time.Sleep(2 * time.Second); r.servos.Servo("j1").Mode() != servo.Off {
				t.Error("a servo got its torque without a cycle")
			}
			r.keep(more, v, effort, 3, nil)
			if far := r.moves(100 * time.Millisecond); far < 0.015 {
				t.Errorf("with the line back it moves by %g rad in 100 ms", far)
			}
		})
		try("a program that ends", "", func(t *testing.T, r *rig) {
			if err := r.driver.Close(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
			if far := r.moves(2 * time.Second); far > 0.01 || r.happened("watchdog") != 0 {
				t.Errorf("it moves by %g rad in two seconds", far)
			}
			for _, s := range r.servos.Servos() {
				if s.Mode() != servo.Position {
					t.Errorf("%s does not hold", s.Joint)
				}
			}
		})
		try("at a limit", ", min: 1548, max: 2548", func(t *testing.T, r *rig) {
			step := 2 * math.Pi / 4096
			r.keep(more, v, effort, 6, func() {
				for j := range r.src {
					if at := r.world.Read(j).Position; at > 500*step+0.02 {
						t.Fatalf("joint %d is at %g rad, its limit is %g", j, at, 500*step)
					}
				}
			})
			if at := r.world.Read(0).Position; at < 500*step-0.1 {
				t.Errorf("it is at %g rad, its limit is %g", at, 500*step)
			}
		})
		try("a servo that starts anew", "", func(t *testing.T, r *rig) {
			r.servos.With(func() { r.servos.Servo("j2").Reset() })
			told := false
			r.keep(more, v, effort, 3, func() { told = told || r.dst.Joints[1].Fault&(servo.Restarted|servo.NoAnswer) != 0 })
			if on := r.servos.Servo("j2").Mode(); !told || on != servo.Position {
				t.Errorf("told: %v, its torque is %v", told, on)
			}
			clear(r.src)
			for range 50 {
				r.tick()
			}
			if far := r.moves(time.Second); far > 0.001 || r.servos.Servo("j2").Mode() != servo.Off {
				t.Errorf("off, it moves by %g rad", far)
			}
		})
		try("a position", "", func(t *testing.T, r *rig) {
			last, fastest := r.world.Read(0).Position, 0.0
			for range 500 {
				for j := range r.src {
					r.src[j] = servo.Setpoint{Mode: servo.Position, Position: -1, Stiffness: 1, PlayTime: r.period}
				}
				r.tick()
				at := r.world.Read(0).Position
				fastest, last = max(fastest, math.Abs(at-last)/r.period), at
			}
			if math.Abs(last+1) > 0.02 || fastest > 1.5 {
				t.Errorf("it is at %g rad, must be −1, and was as fast as %g rad/s", last, fastest)
			}
		})
	}
}

// TestVelocityInTrouble: with packets lost, broken and late no joint is faster than it is told, and all are as fast
// afterwards.
func TestVelocityInTrouble(t *testing.T) {
	seconds := 20.0
	if testing.Short() {
		seconds = 2
	}
	inFakeTime(t, func(t *testing.T) {
		r := newRig(t, operating(t, 1, ""), 0.02)
		last := make([]float64, len(r.src))
		swing := func(seconds float64) {
			for range int(seconds / r.period) {
				for j := range last {
					last[j] = r.at(j)
				}
				v := 0.5 * math.Cos(2*float64(r.n)*r.period)
				r.keep(servo.Velocity, v, 0, r.period, nil)
				for j := range last {
					if fast := math.Abs(r.at(j)-last[j]) / r.period; fast > 0.6 {
						t.Fatalf("tick %d: joint %d turns at %g rad/s", r.n, j, fast)
					}
				}
			}
		}
		swing(2)
		r.trouble(emulator.Trouble{Loss: 0.05, Corrupt: 0.01, Late: 0.05, LateBy: 7 * time.Millisecond, Swap: 0.01, Echo: true})
		swing(seconds)
		r.trouble(emulator.Trouble{})
		swing(2)
		for j := range r.src {
			if v := r.dst.Joints[j]; v.Fault != 0 || math.Abs(v.Velocity-r.src[j].Velocity) > 0.1 {
				t.Errorf("joint %d is told %g rad/s and reads %+v", j, r.src[j].Velocity, v)
			}
		}
		if bad := r.violations(); len(bad) > 0 {
			t.Errorf("%+v", bad[0])
		}
	})
}

// TestOtherModesAreDeclared: a servo whose own mode is another than robot.yaml says is refused, either way, and so is what
// its model does not have.
func TestOtherModesAreDeclared(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		b := newBed(t, geared(t, "{id: 1, type: xm430-w350, zero: 2048, registers: {mode: 1}}"), 1_000_000, 0.02, false)
		if err := b.driver.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "register mode holds 3, robot.yaml says 1, and it is kept without power: poise bus write PORT 1 mode 1") {
			t.Errorf("mode 3 where robot.yaml says 1: %v", err)
		}
		for line, want := range map[string]servo.Modes{
			"{id: 1, type: xl430-w250, zero: 2048, registers: {mode: 5}}": servo.ModesOf(servo.Off, servo.Position), // it measures no current
			"{id: 1, type: xl430-w250, zero: 2048, registers: {mode: 1}}": servo.ModesOf(servo.Off, servo.Position, servo.Velocity),
			"{id: 1, type: sts3215, zero: 2048, registers: {mode: 1}}":    servo.ModesOf(servo.Off, servo.Position),
			"{id: 1, type: mx-28, zero: 2048}":                            servo.ModesOf(servo.Off, servo.Position),
		} {
			if got := newBed(t, geared(t, line), 1_000_000, 0.02, false).driver.Capabilities().Modes; got != want {
				t.Errorf("%s: modes %b, want %b", line, got, want)
			}
		}
		if v := b.violations(); len(v) > 0 {
			t.Errorf("%+v", v[0])
		}
	})
}

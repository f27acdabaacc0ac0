package bus_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"poise/servo"
	"poise/servo/bus"
	"poise/servo/emulator"
	"poise/servo/families"
)

// save writes registers of the first servo that last, as poise bus write does.
func (b *bed) save(baud int, values map[string]int64) {
	b.t.Helper()
	b.saveOf(b.servos.Servos()[:1], baud, values)
}

// saveOf writes registers of some servos.
func (b *bed) saveOf(servos []*emulator.Servo, baud int, values map[string]int64) {
	b.t.Helper()
	port, err := b.driver.Dial("memory", baud)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, s := range servos {
		f, _, _ := bus.ModelNamed(families.All, s.Model.Name)
		line := bus.NewLine(port, baud, f)
		line.Patience = 10 * time.Millisecond
		for name, v := range values {
			r, ok := s.Model.Register(name)
			if !ok {
				b.t.Fatalf("no register %s", name)
			}
			if err := f.Talk(line).Write(s.ID, s.Model, r, v); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	if err := port.Close(); err != nil {
		b.t.Fatal(err)
	}
	b.mu.Lock()
	b.events, b.ports = nil, nil
	b.mu.Unlock()
}

// turning are servos that count turns behind a reduction: 1.8 rad of the joint are 1.7 turns and more.
var turning = []struct {
	line   string
	values map[string]int64
}{
	{"{id: 1, type: xm430-w350, zero: 2048, gear: 0.15}", map[string]int64{"mode": 4}},
	{"{id: 1, type: xm430-w350, zero: 2048, gear: 0.15, reversed: true}", map[string]int64{"mode": 5}},
	{"{id: 1, type: sts3215, zero: 2048, gear: 0.15}", map[string]int64{"phase": 0x1C, "min_position": 0, "max_position": 0}},
}

// TestJointsOfSeveralTurns follow over the end of a turn and back, and are where they were when a
// servo has started anew, which forgets its turns, with torque and without.
func TestJointsOfSeveralTurns(t *testing.T) {
	for i, c := range turning {
		if testing.Short() && i > 0 {
			break
		}
		t.Run(c.line, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				const baud, period = 1_000_000, 0.02
				b := newBed(t, geared(t, c.line), baud, period, false)
				b.save(baud, c.values)
				r := newRig(t, b, period)
				to := func(at float64) {
					t.Helper()
					for range 400 {
						r.src[0] = servo.Setpoint{Mode: servo.Position, Position: at, Stiffness: 1, PlayTime: period}
						r.tick()
					}
					if is := r.world.Read(0).Position; math.Abs(is-at) > 0.01 || math.Abs(r.dst.Joints[0].Position-is) > 0.01 {
						t.Fatalf("told %g, it is at %g and reads %g", at, is, r.dst.Joints[0].Position)
					}
				}
				to(1.8)
				to(-1.8)
				r.servos.With(func() { r.servos.Servo("j1").Reset() })
				to(-1.8)
				to(1.5)
				r.src[0] = servo.Setpoint{}
				for range 50 {
					r.tick()
				}
				r.servos.With(func() { r.servos.Servo("j1").Reset() })
				for range 100 {
					r.tick()
					if far := math.Abs(r.dst.Joints[0].Position - 1.5); far > 0.01 {
						t.Fatalf("limp, and started anew: it reads %g", r.dst.Joints[0].Position)
					}
				}
				to(1.4)
				if v := r.violations(); len(v) > 0 {
					t.Errorf("%+v", v[0])
				}
			})
		})
	}
}

// TestTurnsThatWereForgottenBeforeTheStart follow from a range of robot.yaml that is shorter than a turn.
func TestTurnsThatWereForgottenBeforeTheStart(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		b := newBed(t, geared(t, "{id: 1, type: xm430-w350, zero: 2048, gear: 0.15, min: 9000, max: 12000}"), 1_000_000, 0.02, false)
		b.save(1_000_000, map[string]int64{"mode": 4})
		b.servos.With(func() {
			s := b.servos.Servo("j1")
			s.Hand(1.9)
			s.Reset()
		})
		time.Sleep(time.Second)
		b.servos.With(func() { b.servos.Servo("j1").Reset() })
		time.Sleep(time.Second)
		r := newRig(t, b, 0.02)
		r.tick()
		if at := r.world.Read(0).Position; at < 1.8 || math.Abs(r.dst.Joints[0].Position-at) > 0.01 {
			t.Errorf("it is at %g and reads %g", at, r.dst.Joints[0].Position)
		}
	})
}

// twoLines is a robot of six joints whose servos are on two lines.
func twoLines(t *testing.T, kind string, zero float64, baud int, period float64) *bed {
	t.Helper()
	m := turntableOn(t, 6, kind, zero, func(joint int) string { return []string{"left", "right"}[joint%2] })
	b := newBed(t, m, baud, period, false)
	s := bus.DefaultSettings()
	s.Lines, s.Patience = []string{fmt.Sprintf("left=one,baud=%d", baud), fmt.Sprintf("right=two,baud=%d", baud)}, 0.003
	var err error
	if b.driver, err = bus.New(m, period, s, families.All); err != nil {
		t.Fatal(err)
	}
	b.driver.Dial = func(port string, _ int) (bus.Port, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.pulled && port == "two" {
			return nil, errors.New("no adapter")
		}
		here, there := bus.Pipe(baud, b.usb)
		l := b.servos.Line(map[string]string{"one": "left", "two": "right"}[port], there, baud)
		if port == "two" {
			b.ports = append(b.ports, here)
		}
		go func() { _ = l.Serve() }()
		return here, nil
	}
	return b
}

// TestLinesGoInParallel: two lines of three servos have the rate of one line of three, not of one of six, and
// one that is pulled out leaves the other alone.
func TestLinesGoInParallel(t *testing.T) {
	for _, k := range longKinds() {
		t.Run(k.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				period := 0.002
				if testing.Short() {
					period = 0.01
				}
				rate := func(r *rig) float64 {
					n := len(r.src)
					r.run(1.5, nil)
					fresh := 0
					r.run(1, func() {
						for j := range r.dst.Joints {
							if r.dst.Joints[j].Age == 0 {
								fresh++
							}
						}
					})
					r.calm(t, 0.2)
					return float64(fresh) / float64(n)
				}
				alone := rate(newRig(t, newBed(t, turntable(t, 3, k.name, k.zero), k.baud, period, false), period))
				r := newRig(t, twoLines(t, k.name, k.zero, k.baud, period), period)
				if both := rate(r); both < 0.95*alone {
					t.Errorf("two lines of three servos: %.0f Hz, one: %.0f Hz", both, alone)
				}
				r.unplug(true)
				r.run(1, nil)
				for j, f := range r.dst.Joints {
					if lost := j%2 == 1; lost != (f.Fault&servo.NoAnswer != 0) || lost != (f.Age > uint32(0.5/period)) {
						t.Errorf("with the second line pulled out joint %d reads %+v", j, f)
					}
				}
				if r.fault != 0 {
					t.Errorf("one line is there, and the bus reports %v", r.fault)
				}
				r.unplug(false)
				r.run(3, nil)
				r.calm(t, 0.2)
				for j, f := range r.dst.Joints {
					if f.Fault != 0 {
						t.Errorf("afterwards joint %d reads %+v", j, f)
					}
				}
			})
		})
	}
}

// TestADeadProgramLeavesServosAtRest: without packets a Dynamixel stops where it is when its watchdog
// trips, servos of the others arrive at their last goal and stay; when the program is back all go on.
func TestADeadProgramLeavesServosAtRest(t *testing.T) {
	for i, c := range []struct {
		line     string
		baud     int
		watchdog bool
	}{
		{"{id: 1, type: xm430-w350, zero: 2048, registers: {profile_velocity: 4}}", 1_000_000, true},
		{"{id: 1, type: sts3215, zero: 2048}", 1_000_000, false},
		{"{id: 1, type: scs0009, zero: 512}", 1_000_000, false},
		{"{id: 1, type: drs-0201, zero: 512}", 115200, false},
	} {
		if testing.Short() && i > 1 {
			break
		}
		t.Run(c.line, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				const period = 0.02
				r := newRig(t, newBed(t, geared(t, c.line), c.baud, period, false), period)
				for range 100 { // a slow servo is told to go far
					r.src[0] = servo.Setpoint{Mode: servo.Position, Position: 1, Stiffness: 1, PlayTime: 3}
					r.tick()
				}
				r.unplug(true) // what is written now is lost, as that of a dead program
				cut := r.world.Read(0).Position
				at := make([]float64, 200)
				for i := range at {
					time.Sleep(20 * time.Millisecond)
					r.servos.With(func() {})
					at[i] = r.world.Read(0).Position
				}
				tripped := r.happened("watchdog")
				if (tripped == 1) != c.watchdog {
					t.Errorf("%d watchdogs have tripped", tripped)
				}
				end := at[len(at)-1]
				if still := at[len(at)-20]; end != still || r.servos.Servo("j1").Mode() != servo.Position || end > 1.001 {
					t.Errorf("it is at %g and was at %g, mode %v", end, still, r.servos.Servo("j1").Mode())
				}
				if c.watchdog && (end-cut > 0.1 || end < cut+0.01) {
					t.Errorf("a watchdog of half a second at 0.1 rad/s: it went on by %g", end-cut)
				}
				r.unplug(false)
				for range 800 {
					r.tick()
				}
				if end := r.world.Read(0).Position; math.Abs(end-1) > 0.01 || r.dst.Joints[0].Fault != 0 {
					t.Errorf("back again: at %g, %+v", end, r.dst.Joints[0])
				}
				if v := r.violations(); len(v) > 0 {
					t.Errorf("%+v", v[0])
				}
				if err := r.driver.Close(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Second)
				r.servos.With(func() {})
				if n := r.happened("watchdog"); n != tripped || r.servos.Servo("j1").Mode() != servo.Position {
					t.Errorf("after an end in order %d watchdogs have tripped", n-tripped)
				}
			})
		})
	}
}

// TestWhatWasFound is told: model and firmware, and joints that stand beyond their limits.
func TestWhatWasFound(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		b := newBed(t, geared(t, "{id: 1, type: sts3215, zero: 2048, max: 3000}"), 1_000_000, 0.02, false)
		b.servos.With(func() { b.servos.Servo("j1").Hand(1.9) })
		time.Sleep(time.Second)
		r := newRig(t, b, 0.02)
		if got := r.driver.Found(); len(got) != 1 || got[0] != "j1: servo 1 on line memory, sts3215, firmware 3.10" {
			t.Errorf("%q", got)
		}
		if got := r.driver.Beyond(); len(got) != 1 || !strings.HasPrefix(got[0], `joint "j1": servo 1 on line memory stands at 1.901 rad, its limits are -2.000 … 1.460 rad`) {
			t.Errorf("%q", got)
		}
	})
}

// TestRegistersDoNotWear: those that an STS keeps without power are locked before they are set, though a program has
// left them open.
func TestRegistersDoNotWear(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		b := newBed(t, geared(t, "{id: 1, type: sts3215, zero: 2048, registers: {position_p: 16}}"), 1_000_000, 0.02, false)
		b.save(1_000_000, map[string]int64{"lock": 0})
		r := newRig(t, b, 0.02)
		r.run(1, nil)
		if v := r.violations(); len(v) > 0 {
			t.Errorf("%+v", v[0])
		}
	})
}

// TestServosThatAnswerNoWrites: a servo may be set to answer reads alone.
func TestServosThatAnswerNoWrites(t *testing.T) {
	for kind, level := range map[string]int64{"xm430-w350": 1, "sts3215": 0, "mx-28": 1} {
		inFakeTime(t, func(t *testing.T) {
			b := newBed(t, turntable(t, 2, kind, 2048), 1_000_000, 0.02, false)
			b.save(1_000_000, map[string]int64{"reply_level": level})
			r := newRig(t, b, 0.02)
			r.run(4, nil)
			r.calm(t, 0.05)
		})
	}
}

// happened counts events of a kind.
func (b *bed) happened(what string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		if e.What == what {
			n++
		}
	}
	return n
}

// TestModesWithoutAWatchdogAreRefused: a dead program would let a servo turn for ever in them.
func TestModesWithoutAWatchdogAreRefused(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				r := newRig(t, newBed(t, turntable(t, 2, k.name, k.zero), k.baud, 0.02, false), 0.02)
				r.run(2, nil)
				held := r.world.Read(0).Position
				for _, mode := range []servo.Mode{servo.Velocity, servo.Effort, servo.Impedance} {
					if r.driver.Capabilities().Modes.Has(mode) {
						t.Errorf("%v is offered", mode)
					}
					for range 50 {
						r.src[0] = servo.Setpoint{Mode: mode, Position: 1, Velocity: 1, Effort: 1, Stiffness: 1}
						r.tick()
					}
					var words []string
					r.dst.Joints[0].Fault.All(func(name string) bool { words = append(words, name); return true })
					if strings.Join(words, ", ") != "bad mode" || r.dst.Joints[1].Fault != 0 {
						t.Errorf("mode %v: joint 1 says %v, joint 2 %v", mode, words, r.dst.Joints[1].Fault)
					}
					if far := math.Abs(r.world.Read(0).Position - held); far > 0.02 {
						t.Errorf("mode %v moved the joint by %g", mode, far)
					}
				}
			})
		})
	}
}

// TestSpeedModeOfAServoIsRefused by its joint, id and line: the mode lies in its EEPROM.
func TestSpeedModeOfAServoIsRefused(t *testing.T) {
	for kind, mode := range map[string]int64{"xm430-w350": 1, "sts3215": 1} {
		inFakeTime(t, func(t *testing.T) {
			b := newBed(t, turntable(t, 2, kind, 2048), 1_000_000, 0.02, false)
			b.save(1_000_000, map[string]int64{"mode": mode})
			err := b.driver.Open(t.Context())
			if err == nil || !strings.Contains(err.Error(), `joint "j1": servo 1 on line memory: its`) || !strings.Contains(err.Error(), "mode is 1") {
				t.Errorf("%s: %v", kind, err)
			}
			if n := b.happened("saved") + b.happened(emulator.Violation) + b.happened("torque on"); n > 0 {
				t.Errorf("%s: %d events", kind, n)
			}
		})
	}
}

// heldUp is a port of a program that is held up at times.
type heldUp struct {
	bus.Port
	until *atomic.Int64 // ns of the clock
}

func (p heldUp) Write(b []byte) (int, error) {
	time.Sleep(time.Until(time.Unix(0, p.until.Load())))
	return p.Port.Write(b)
}

// TestServosGoOnAfterTheProgramWasHeldUp: for so long that their watchdogs have stopped them, and for less.
func TestServosGoOnAfterTheProgramWasHeldUp(t *testing.T) {
	for _, hold := range []time.Duration{300 * time.Millisecond, 600 * time.Millisecond, 2 * time.Second} {
		inFakeTime(t, func(t *testing.T) {
			const period = 0.02
			b := newBed(t, geared(t, "{id: 1, type: xm430-w350, zero: 2048, registers: {profile_velocity: 4}}"), 1_000_000, period, false)
			var until atomic.Int64
			dial := b.driver.Dial
			b.driver.Dial = func(name string, baud int) (bus.Port, error) {
				p, err := dial(name, baud)
				return heldUp{p, &until}, err
			}
			r := newRig(t, b, period)
			goal := func(at float64, ticks int) {
				for range ticks {
					r.src[0] = servo.Setpoint{Mode: servo.Position, Position: at, Stiffness: 1, PlayTime: 3}
					r.tick()
				}
			}
			goal(0.5, 100)
			until.Store(time.Now().Add(hold).UnixNano())
			time.Sleep(hold)
			goal(-0.5, 900)
			if at := r.world.Read(0).Position; math.Abs(at+0.5) > 0.01 {
				t.Errorf("held up for %v, %d watchdogs have tripped: it is at %g rad, its goal is -0.5", hold, r.happened("watchdog"), at)
			}
			if v := r.violations(); len(v) > 0 {
				t.Errorf("%+v", v[0])
			}
		})
	}
}

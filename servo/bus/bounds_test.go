package bus_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"poise/servo"
	"poise/servo/bus"
	"poise/servo/families"
)

// TestServosBeyondTheirLimitsGetNoTorque: told to hold, one that stands where it cannot be told to be would move by
// itself. It stays limp and says so until a hand has brought it back.
func TestServosBeyondTheirLimitsGetNoTorque(t *testing.T) {
	for line, baud := range map[string]int{
		"{id: 1, type: sts3215, zero: 2048, max: 3000}":    1_000_000,
		"{id: 1, type: xm430-w350, zero: 2048, max: 3000}": 1_000_000,
		"{id: 1, type: drs-0201, zero: 512, max: 700}":     115200,
	} {
		inFakeTime(t, func(t *testing.T) {
			b := newBed(t, geared(t, line), baud, 0.02, false)
			hand := func(at float64) {
				b.servos.With(func() {
					if !b.servos.Servo("j1").Hand(at) {
						t.Errorf("%s: it has torque", line)
					}
				})
			}
			hand(1.9)
			time.Sleep(time.Second)
			r := newRig(t, b, 0.02)
			hold := func(ticks int) {
				for range ticks {
					r.src[0] = servo.Setpoint{Mode: servo.Position, Position: r.dst.Joints[0].Position, Stiffness: 1, PlayTime: r.period}
					r.tick()
				}
			}
			r.tick()
			hold(100)
			if at := r.world.Read(0).Position; math.Abs(at-1.9) > 0.01 || r.happened("torque on") != 0 || r.dst.Joints[0].Fault&servo.OutOfRange == 0 {
				t.Errorf("%s: it is at %g, %d times torque, fault %v", line, at, r.happened("torque on"), r.dst.Joints[0].Fault)
			}
			hand(0.9)
			r.src[0] = servo.Setpoint{}
			for range 50 {
				r.tick()
			}
			hold(100)
			if at := r.world.Read(0).Position; math.Abs(at-0.9) > 0.01 || r.happened("torque on") == 0 || r.dst.Joints[0].Fault != 0 {
				t.Errorf("%s: back within its limits it is at %g, %d times torque, fault %v", line, at, r.happened("torque on"), r.dst.Joints[0].Fault)
			}
			if v := r.violations(); len(v) > 0 {
				t.Errorf("%s: %+v", line, v[0])
			}
		})
	}
}

// TestLimitsThatDoNotMeet are told as what they are, and no position is within them.
func TestLimitsThatDoNotMeet(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		b := newBed(t, geared(t, "{id: 1, type: sts3215, zero: 2048, min: 3700}"), 1_000_000, 0.02, false)
		r := newRig(t, b, 0.02)
		want := "its limits -2.000 … 2.000 rad and those of its servo, 2.534 … 3.140 rad, do not meet"
		if got := r.driver.Beyond(); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%q, want %q", got, want)
		}
		if w := r.driver.Within(); len(w) != 1 || w[0].Low <= w[0].High {
			t.Errorf("%+v", w)
		}
	})
}

// TestSurplusLines are refused by what is wrong with them: one that no joint is on would be opened for nothing, and one
// that is named twice is a mistake.
func TestSurplusLines(t *testing.T) {
	one := turntable(t, 2, "sts3215", 2048)
	two := turntableOn(t, 2, "sts3215", 2048, func(joint int) string { return []string{"left", "right"}[joint] })
	for _, c := range []struct {
		two   bool
		lines []string
		why   string // "" is fine
	}{
		{false, []string{"a"}, ""},
		{true, []string{"left=a", "right=b"}, ""},
		{false, []string{"a", "b"}, "--bus b: port a is the line without a name already"},
		{false, []string{"a", "x=b"}, `--bus x=b: robot.yaml has no servo on line "x"`},
		{false, []string{"a", "a"}, "--bus a: the port is that of another line already, --bus a"},
		{true, []string{"left=a", "right=a"}, "--bus right=a: the port is that of another line already, --bus left=a"},
		{true, []string{"left=a", "right=b", "left=c"}, `--bus left=c: line "left" has port a already`},
		{true, []string{"left=a", "right=b", "c"}, `--bus c: robot.yaml has no servo on line ""`},
		{true, []string{"left=a", "rihgt=b"}, `robot.yaml has no servo on line "rihgt"; did you mean "right"?`},
		{false, []string{"=a"}, `line "=a": no name stands before its =`},
	} {
		s := bus.DefaultSettings()
		s.Lines = c.lines
		m := one
		if c.two {
			m = two
		}
		if _, err := bus.Plan(m, s, families.All); (err == nil) != (c.why == "") || !strings.Contains(fmt.Sprint(err), c.why) {
			t.Errorf("%q: %v, want %q", c.lines, err, c.why)
		}
	}
}

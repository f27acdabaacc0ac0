package families

import (
	"math"
	"strings"
	"testing"
	"time"

	"poise/servo"
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

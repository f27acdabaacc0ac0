package bus_test

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"poise/robot"
	"poise/servo"
	"poise/servo/servotest"
)

func inFakeTime(t *testing.T, f func(t *testing.T)) { synctest.Test(t, f) }

// geared is a robot of one joint whose servo is as a line of robot.yaml says.
func geared(t *testing.T, line string) *robot.Model {
	t.Helper()
	return servotest.Turntable(t, 1, "servos:\n  j1: "+line+"\n")
}

// TestServosAreWhatRobotYAMLSays: gear, direction and zero turn steps into angles both ways; min
// and max hold goals back; registers are set when the servo is found, and none that lasts.
func TestServosAreWhatRobotYAMLSays(t *testing.T) {
	step := 2 * math.Pi / 4096
	for _, c := range []struct {
		line         string
		tell, expect float64
	}{
		{"{id: 1, type: sts3215, zero: 2048}", 0.3, 0.3},
		{"{id: 1, type: sts3215, zero: 1000, reversed: true}", 0.3, 0.3},
		{"{id: 1, type: sts3215, zero: 2048, gear: 0.5}", 0.3, 0.3},
		{"{id: 1, type: sts3215, zero: 2048, max: 2100}", 0.3, 52 * step},
		{"{id: 1, type: sts3215, zero: 2048, min: 2000, reversed: true}", 0.3, 48 * step},
		{"{id: 1, type: sts3215, zero: 2048, registers: {position_p: 16, torque_limit: 500}}", 0.3, 0.3},
		{"{id: 1, type: xm430-w350, zero: 2048, gear: 2, registers: {position_p: 400}}", 0.3, 0.3},
		{"{id: 1, type: drs-0201, zero: 512, registers: {position_kp: 230, acceleration_ratio: 0}}", 0.3, 0.3},
	} {
		synctest.Test(t, func(t *testing.T) {
			baud := 1_000_000
			if strings.Contains(c.line, "drs") {
				baud = 115200
			}
			r := newRig(t, newBed(t, geared(t, c.line), baud, 0.02, false), 0.02)
			for range 200 {
				r.src[0] = servo.Setpoint{Mode: servo.Position, Position: c.tell, Stiffness: 1, PlayTime: r.period}
				r.tick()
			}
			if at := r.world.Read(0).Position; math.Abs(at-c.expect) > 0.01 || math.Abs(r.dst.Joints[0].Position-at) > 0.01 {
				t.Errorf("%s: told %g, it is at %g and reads %g, want %g", c.line, c.tell, at, r.dst.Joints[0].Position, c.expect)
			}
			if v := r.violations(); len(v) > 0 {
				t.Errorf("%s: %+v", c.line, v[0])
			}
		})
	}
	for line, why := range map[string]string{
		"{id: 1, type: xm430-w350, zero: 2048, registers: {return_delay: 7}}": "it is kept without power: poise bus write PORT 1 return_delay 7",
		"{id: 1, type: sts3215, zero: 2048, registers: {goal_position: 7}}":   "is not one to be set",
		"{id: 1, type: sts3215, zero: 2048, registers: {nonsense: 7}}":        `register "nonsense"`,
		"{id: 1, type: sts3215, zero: 2048, registers: {goal_speed: 300}}":    "is not one to be set",
		"{id: 1, type: ax-12a, zero: 512, registers: {goal_speed: 300}}":      "is not one to be set",
		"{id: 1, type: sts3215, zero: 2048, registers: {mode: 1}}":            "sets mode 1, and a sts3215 is driven in its position mode alone, which is 0: leave mode out",
		"{id: 1, type: sts3215, zero: 15330}":                                 `joint "j1": servo 1 on line memory: robot.yaml: zero 15330: a sts3215 reads 0 … 4095`,
		"{id: 1, type: sts3215, zero: -1}":                                    "zero -1: a sts3215 reads 0 … 4095",
		"{id: 1, type: sts3215, zero: 2048, min: -99999}":                     `joint "j1": min -99999: a sts3215 reads over all its turns -32767 … 32767`,
		"{id: 1, type: scs0009, zero: 1533}":                                  `joint "j1": zero 1533: a scs0009 reads over all its turns 0 … 1023`,
		"{id: 1, type: xm430-w350, zero: 2048, max: 99999}":                   "max 99999: a xm430-w350 reads 0 … 4095",
		"{id: 1, type: sts3215, zero: 2048, min: 5000}":                       "min 5000: a sts3215 reads 0 … 4095",
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBed(t, geared(t, line), 1_000_000, 0.02, false)
			if err := b.driver.Open(t.Context()); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v, want %q", line, err, why)
			}
			if v := b.violations(); len(v) > 0 {
				t.Errorf("%s: %+v", line, v[0])
			}
		})
	}
}

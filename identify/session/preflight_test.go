package session

import (
	"math"
	"slices"
	"strings"
	"testing"

	"poise/loop"
	"poise/problem"
	"poise/servo"
	"poise/spatial"
)

// looked are the checks of a request that fail, and all of one that passes.
func (b *bench) looked(q Request, now *loop.Snapshot) (wrong []problem.Problem, checks []Check) {
	s, wrong := b.x.Begin(q, now)
	if s != nil {
		checks = s.checks
	}
	return wrong, checks
}

// warmBus has servos of which one says another temperature.
type warmBus struct {
	servo.Bus
	joint int
	warm  float64 // °C; 0 leaves what was measured
}

func (w *warmBus) Exchange(t servo.Tick, dst *servo.Measurement, src []servo.Setpoint) servo.Fault {
	f := w.Bus.Exchange(t, dst, src)
	if w.warm != 0 {
		dst.Joints[w.joint].Temperature = w.warm
	}
	return f
}

// TestAWarmServoIsNotIdentified: 70 °C, or 5 °C less than what the robot calls a fault; of what moves alone. A servo that
// does not measure it is not judged by it.
func TestAWarmServoIsNotIdentified(t *testing.T) {
	for _, c := range []struct {
		fault, warm float64
		limit       float64 // 0: it passes
	}{
		{0, 69, 0}, {0, 71, 70}, {90, 71, 70}, {60, 54, 0}, {60, 56, 55},
	} {
		warm := &warmBus{}
		b := newBench(t, settings{robot: "so101", period: 0.01, seed: 3, step: 1e-3, hottest: c.fault, wrap: func(bus servo.Bus) servo.Bus { warm.Bus = bus; return warm }})
		elbow, _ := b.m.Joint("elbow_flex")
		warm.joint, warm.warm = int(elbow), c.warm
		b.run(3)
		wrong, checks := b.looked(Request{Set: b.set("elbow_flex")}, b.now)
		if c.limit == 0 {
			if i := slices.IndexFunc(checks, func(c Check) bool { return c.Name == "temperature" }); len(wrong) > 0 || i < 0 || checks[i].Value != c.warm || !checks[i].OK {
				t.Errorf("%g °C with a fault at %g °C: %v, %+v", c.warm, c.fault, wrong, checks)
			}
		} else if len(wrong) != 1 || wrong[0].Thing != `joint "elbow_flex"` || wrong[0].Value != c.warm || wrong[0].Limit != c.limit || !strings.Contains(wrong[0].Text, "temperature: its servo has") {
			t.Errorf("%g °C with a fault at %g °C: %+v", c.warm, c.fault, wrong)
		}
		if wrong, _ := b.looked(Request{Set: b.set("wrist_flex")}, b.now); len(wrong) > 0 {
			t.Errorf("the wrist is refused for the elbow: %v", wrong)
		}
	}
}

// TestFaultsOfServosAreNamed: one that reports a fault is not identified, and which it is is told; an answer
// that was lost on the line is no fault.
func TestFaultsOfServosAreNamed(t *testing.T) {
	b := newBench(t, settings{robot: "so101", period: 0.01, seed: 3, step: 1e-3})
	b.run(3)
	elbow, _ := b.m.Joint("elbow_flex")
	for f, says := range map[servo.Fault]string{servo.NoAnswer: "", servo.BadPacket: "", servo.Overload: "reports overload", servo.NoAnswer | servo.OverVoltage | servo.UnderVoltage: "reports over voltage, under voltage"} {
		now := *b.now
		now.Measured.Fault = slices.Clone(now.Measured.Fault)
		now.Measured.Fault[elbow] = f
		wrong, _ := b.looked(Request{Set: b.set("elbow_flex")}, &now)
		if says == "" && len(wrong) > 0 || says != "" && (len(wrong) != 1 || !strings.Contains(wrong[0].Text, says)) {
			t.Errorf("fault %d: %+v, must say %q", f, wrong, says)
		}
	}
}

// TestActiveFaultsAreNamed: those about which something is done keep from identifying, warnings do not; all are told.
func TestActiveFaultsAreNamed(t *testing.T) {
	b := newBench(t, settings{robot: "so101", period: 0.01, seed: 3, step: 1e-3})
	b.run(3)
	for _, c := range []struct {
		raised map[loop.FaultKind]loop.Severity
		ok     bool
		says   string
	}{
		{nil, true, "none is active"},
		{map[loop.FaultKind]loop.Severity{loop.Overrun: loop.SeverityWarn}, true, "only warnings are active: overrun"},
		{map[loop.FaultKind]loop.Severity{loop.Overrun: loop.SeverityWarn, loop.BusSilent: loop.SeverityRampOff, loop.TrackingError: loop.SeverityHold}, false,
			"active: tracking error (hold), bus silent (ramp down and off); "},
	} {
		now := *b.now
		for k, severity := range c.raised {
			now.Raised[k] = severity
		}
		now.Faults = len(c.raised)
		wrong, all := b.looked(Request{Set: b.set("elbow_flex")}, &now)
		said := slices.ContainsFunc(all, func(x Check) bool { return x.Name == "faults" && x.OK && x.Text == c.says })
		if !c.ok {
			said = len(wrong) == 1 && strings.Contains(wrong[0].Text, "faults: "+c.says)
		}
		if (len(wrong) == 0) != c.ok || !said {
			t.Errorf("%v: %+v, must say %q", c.raised, wrong, c.says)
		}
	}
}

// TestLegsThatCarryAreNotIdentified: a leg of a free robot moves only if it is told how that is held; then its foot touches
// nothing, and its base is upright. Limbs that carry nothing need no such word.
func TestLegsThatCarryAreNotIdentified(t *testing.T) {
	b := newBench(t, settings{robot: "pony", period: 0.0224, seed: 3, step: 1e-3})
	// what sensors say of a robot that stands, that hangs, and that hangs and leans
	sensed := func(pressed bool, tilt float64) *loop.Snapshot {
		now := *b.now
		now.Measured.Touch, now.Measured.IMU = slices.Clone(now.Measured.Touch), slices.Clone(now.Measured.IMU)
		for i := range now.Measured.Touch {
			now.Measured.Touch[i] = servo.Contact{Pressed: pressed}
			if pressed {
				now.Measured.Touch[i].Force.Z = 6
			}
		}
		now.Measured.IMU[0].Acceleration = spatial.Vec3{Y: 9.81 * math.Sin(tilt), Z: 9.81 * math.Cos(tilt)}
		return &now
	}
	stands, lifted, leans := sensed(true, 0), sensed(false, 0), sensed(false, 0.2)
	for _, c := range []struct {
		limb, mounting string
		now            *loop.Snapshot
		thing, says    string // of the one refusal; "" passes
	}{
		{"leg1", "", stands, "chain leg1", "mounting: the robot stands on it: clamp the base (mounting fixed) or lift the robot (mounting lifted), and say so"},
		{"leg1", "", lifted, "chain leg1", "mounting: the robot stands on it"},
		{"leg1", "glued", lifted, "robot virtual", `mounting is "glued", must be fixed or lifted, or empty`},
		{"leg1", Fixed, stands, "chain leg1", "touch: its sensor is pressed"},
		{"leg1", Lifted, stands, "chain leg1", "touch: its sensor is pressed"},
		{"leg1", Fixed, lifted, "", ""},
		{"leg1", Lifted, lifted, "", ""},
		{"leg1", Lifted, leans, "base", "tilt: it leans by 0.2 rad, at most 0.1 may be"},
		{"head", "", stands, "", ""},
	} {
		wrong, checks := b.looked(Request{Set: b.set(c.limb), Mounting: c.mounting}, c.now)
		switch {
		case c.says == "" && (len(wrong) > 0 || len(checks) == 0):
			t.Errorf("%s, %q: %v", c.limb, c.mounting, wrong)
		case c.says != "" && (len(wrong) != 1 || wrong[0].Thing != c.thing || !strings.Contains(wrong[0].Text, c.says)):
			t.Errorf("%s, %q: %+v, want %q", c.limb, c.mounting, wrong, c.says)
		}
	}
}

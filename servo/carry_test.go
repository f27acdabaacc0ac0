package servo

import (
	"math"
	"testing"
)

// TestSetpointsBeyondThePeriod: a servo that ramps to its setpoints is at the end of each period where it is without them, if none is lost; if one
// is lost it goes on for half a period rather than stop. Joints without torque, and ones that are put elsewhere, are not carried on.
func TestSetpointsBeyondThePeriod(t *testing.T) {
	const dt = 0.056
	path := func(n int) float64 { return 0.4 * math.Sin(0.3*float64(n)) }
	for _, name := range []string{"lead", "model"} {
		follow := func(beyond float64, lost int) (ramp [40]float64) {
			inv, err := NewInverter(InversionConfig{Name: name, Beyond: beyond})
			if err != nil {
				t.Fatal(err)
			}
			at, goal, left := path(0), path(0), 0.0
			for n := range ramp {
				var s Setpoint
				inv.InvertTo(&s, &Command{Position: path(n), Velocity: 1, Stiffness: 1, Dt: dt, Torque: true})
				if n != lost {
					goal, left = s.Position, s.PlayTime
				}
				if left > 0 {
					at += (goal - at) * min(dt/left, 1)
					left = max(left-dt, 0)
				}
				ramp[n] = at
			}
			return ramp
		}
		with, without := follow(dt/2, -1), follow(0, -1)
		for n := range with {
			if math.Abs(with[n]-without[n]) > 1e-12 {
				t.Fatalf("%s: period %d ends at %g, without what is beyond at %g", name, n, with[n], without[n])
			}
		}
		const lost = 10 // the path is steep there
		with, without = follow(dt/2, lost), follow(0, lost)
		step := path(lost-1) - path(lost-2)
		if was, is := without[lost]-without[lost-1], with[lost]-with[lost-1]; was != 0 || math.Abs(is-step/2) > 1e-12 {
			t.Errorf("%s: in a period whose setpoint is lost it goes %g, without what is beyond %g, and %g in the one before", name, is, was, step)
		}
	}

	inv, _ := NewInverter(InversionConfig{Beyond: dt / 2})
	at := func(q float64, torque bool) float64 {
		var s Setpoint
		inv.InvertTo(&s, &Command{Position: q, Stiffness: 1, Dt: dt, Torque: torque})
		return s.Position
	}
	at(0, true)
	for _, c := range []struct {
		q      float64
		torque bool
		want   float64
	}{{0.1, true, 0.15}, {0.2, false, 0.2}, {0.3, true, 0.3}, {0.4, true, 0.45}, {1.9, true, 1.9}} {
		if got := at(c.q, c.torque); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("to %g, torque %v: %g, want %g", c.q, c.torque, got, c.want)
		}
	}
	var s Setpoint
	now := Command{Position: 1, Dt: dt, Torque: true}
	if n := testing.AllocsPerRun(100, func() { inv.InvertTo(&s, &now) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	for _, c := range []struct{ period, lead, want float64 }{{0.0224, 0, 0}, {0.056, 0, 0.028}, {0.056, 0.0112, 0.0168}, {0.056, 0.056, 0}} {
		if got := Beyond(c.period, c.lead); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("period %g, lead %g: %g beyond, want %g", c.period, c.lead, got, c.want)
		}
	}
	if _, err := NewInverter(InversionConfig{Beyond: -1}); err == nil {
		t.Error("a negative time is taken")
	}
}

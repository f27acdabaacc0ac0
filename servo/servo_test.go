package servo

import (
	"math"
	"slices"
	"testing"
)

func TestLeadAimsAhead(t *testing.T) {
	var s Setpoint
	Lead{Time: 0.0112}.InvertTo(&s, &Command{Position: 1, Velocity: 2, Effort: 3, Stiffness: 0.5, Dt: 0.0224})
	if math.Abs(s.Position-1.0224) > 1e-15 || math.Abs(s.PlayTime-0.0336) > 1e-15 || s.Mode != Position ||
		s.Velocity != 2 || s.Effort != 3 || s.Stiffness != 0.5 {
		t.Errorf("%+v", s)
	}
	if (Lead{}).InvertTo(&s, &Command{Position: 1, Velocity: 2, Dt: 0.001}); s.Position != 1 || s.PlayTime != 0.001 {
		t.Errorf("without lead: %+v", s)
	}
}

func TestEveryFaultHasAName(t *testing.T) {
	got := slices.Collect((NoAnswer | BusDown | OverTemperature).All)
	if !slices.Equal(got, []string{"no answer", "over temperature", "bus down"}) {
		t.Errorf("%q", got)
	}
	if n := len(slices.Collect(Fault(math.MaxUint16).All)); n != 12 {
		t.Errorf("%d names, want 12", n)
	}
	for m := range NumModes {
		if m.String() == "" {
			t.Errorf("mode %d has no name", m)
		}
	}
}

func TestModesAreASet(t *testing.T) {
	some := ModesOf(Off, Position, Brake)
	if got := slices.Collect(some.All); !slices.Equal(got, []Mode{Off, Position, Brake}) {
		t.Errorf("%v", got)
	}
	for m := range NumModes {
		if !AllModes.Has(m) || some.Has(m) != slices.Contains([]Mode{Off, Position, Brake}, m) {
			t.Errorf("%v", m)
		}
	}
	if AllModes.Has(NumModes) || AllModes.Has(255) {
		t.Error("there is a mode that does not exist")
	}
}

func TestInvertersByName(t *testing.T) {
	for _, name := range []string{"", "lead"} {
		if got, err := NewInverter(InversionConfig{Name: name, Lead: Lead{Time: 0.02}}); err != nil || got != (Lead{Time: 0.02}) {
			t.Errorf("%q: %v, %v", name, got, err)
		}
	}
	for _, bad := range []InversionConfig{{Name: "magic"}, {Lead: Lead{Time: -1}}, {Lead: Lead{Time: math.NaN()}}, {Lead: Lead{Time: math.Inf(1)}}} {
		if _, err := NewInverter(bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

func TestFiniteSetpoints(t *testing.T) {
	for mode := range NumModes + 1 {
		good := Setpoint{Mode: mode, Position: 1, Velocity: 2, Effort: 3, Kp: 4, Kd: 5, Stiffness: 1, PlayTime: 1}
		if !good.Finite() {
			t.Errorf("mode %v: %+v", mode, good)
		}
		for i := range 7 {
			bad := good
			*[]*float64{&bad.Position, &bad.Velocity, &bad.Effort, &bad.Kp, &bad.Kd, &bad.Stiffness, &bad.PlayTime}[i] = math.Inf(-1)
			if bad.Finite() == mode.Powered() {
				t.Errorf("mode %v: %+v is finite: %v", mode, bad, bad.Finite())
			}
		}
	}
}

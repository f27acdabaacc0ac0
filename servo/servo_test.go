package servo

import (
	"math"
	"slices"
	"testing"
)

func TestLeadAimsAhead(t *testing.T) {
	s := Lead{Time: 0.0112}.Invert(1, 2, 0.0224)
	if math.Abs(s.Position-1.0224) > 1e-15 || math.Abs(s.PlayTime-0.0336) > 1e-15 || s.Mode != Position {
		t.Errorf("%+v", s)
	}
	if s := (Lead{}).Invert(1, 2, 0.001); s.Position != 1 || s.PlayTime != 0.001 {
		t.Errorf("without lead: %+v", s)
	}
}

func TestEveryFaultHasAName(t *testing.T) {
	got := slices.Collect((NoAnswer | BusDown | OverTemperature).All)
	if !slices.Equal(got, []string{"no answer", "over temperature", "bus down"}) {
		t.Errorf("%q", got)
	}
	if n := len(slices.Collect(Fault(math.MaxUint16).All)); n != 10 {
		t.Errorf("%d names, want 10", n)
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

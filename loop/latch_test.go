package loop

import "testing"

func TestDebounceLatchAndReset(t *testing.T) {
	m := newLatches(2, FaultRules{Overheat: {Threshold: 75, Clear: 65, Debounce: 3, Severity: SeverityHold}})
	judge := func(value float64) latchChange { return m.above(Overheat, 1, value, true) }
	for i, step := range []struct {
		value float64
		want  latchChange
	}{
		{80, latchUnchanged}, {80, latchUnchanged}, {70, latchUnchanged}, // not long enough
		{80, latchUnchanged}, {80, latchUnchanged}, {80, latchRaised}, {80, latchUnchanged},
		{70, latchUnchanged}, // cooler, and not cool
	} {
		if got := judge(step.value); got != step.want {
			t.Fatalf("step %d: %v, want %v", i, got, step.want)
		}
	}
	reset := func() (forgotten, kept int) {
		m.reset(func(k FaultKind, row int, gone bool) {
			if k != Overheat || row != 1 {
				t.Errorf("%v of row %d", k, row)
			}
			if gone {
				forgotten++
			} else {
				kept++
			}
		})
		return
	}
	if f, k := reset(); f != 0 || k != 1 || m.active != 1 {
		t.Errorf("reset while it is warm: %d forgotten, %d kept", f, k)
	}
	judge(60)
	if f, k := reset(); f != 1 || k != 0 || m.active != 0 {
		t.Errorf("reset when it is cool: %d forgotten, %d kept", f, k)
	}
}

func TestAutomaticFaultsClearThemselves(t *testing.T) {
	m := newLatches(1, FaultRules{Overrun: {Threshold: 5, Clear: 1, Severity: SeverityWarn, Auto: true}})
	if m.above(Overrun, 0, 6, true) != latchRaised || m.above(Overrun, 0, 3, true) != latchUnchanged || m.above(Overrun, 0, 1, true) != latchCleared || m.active != 0 {
		t.Error("does not clear itself")
	}
}

func TestBelowHasHysteresisToo(t *testing.T) {
	m := newLatches(1, FaultRules{LowVoltage: {Threshold: 6.5, Clear: 7, Severity: SeveritySafe, Auto: true}})
	for i, step := range []struct {
		volt float64
		want latchChange
	}{{6.6, latchUnchanged}, {6.4, latchRaised}, {6.8, latchUnchanged}, {7, latchCleared}} {
		if got := m.below(LowVoltage, 0, step.volt); got != step.want {
			t.Errorf("step %d: %v, want %v", i, got, step.want)
		}
	}
}

func TestIgnoredFaultsAreNone(t *testing.T) {
	m := newLatches(1, FaultRules{Overheat: {Threshold: 75, Severity: SeverityHold}})
	if m.judge(TrackingError, 0, true, false) != latchUnchanged || m.raise(TrackingError, 0) != latchUnchanged {
		t.Error("a fault without a rule was latchRaised")
	}
}

func TestEveryKindAndSeverityHasAName(t *testing.T) {
	for k := FaultKind(1); k < NumFaultKinds; k++ {
		if k.String() == "" {
			t.Errorf("kind %d", k)
		}
		if DefaultFaultRules()[k].Severity == SeverityIgnore {
			t.Errorf("%v has no default", k)
		}
	}
	for s := SeverityIgnore; s <= SeverityTorqueOff; s++ {
		if s.String() == "" {
			t.Errorf("severity %d", s)
		}
	}
}

func TestAllYieldsWhatIsLatched(t *testing.T) {
	m := newLatches(3, FaultRules{})
	m.raise(Overheat, 2)
	m.raise(BusSilent, 0)
	m.raise(Overheat, 2)
	n := 0
	for k, row := range m.all {
		if n++; !(k == Overheat && row == 2 || k == BusSilent && row == 0) {
			t.Errorf("%v of row %d", k, row)
		}
	}
	if n != 2 || m.active != 2 {
		t.Errorf("%d yielded, %d active", n, m.active)
	}
}

// TestRaisedTellsKindsAndSeverities of the latched faults, of any joint.
func TestRaisedTellsKindsAndSeverities(t *testing.T) {
	m := newLatches(3, FaultRules{})
	if m.raised() != (Raised{}) {
		t.Errorf("%v of none", m.raised())
	}
	m.raise(TrackingError, 1)
	m.raise(Overrun, 2)
	if want := (Raised{TrackingError: SeverityHold, Overrun: SeverityWarn}); m.raised() != want {
		t.Errorf("%v, want %v", m.raised(), want)
	}
	m.forget(TrackingError, 1)
	if want := (Raised{Overrun: SeverityWarn}); m.raised() != want {
		t.Errorf("%v, want %v", m.raised(), want)
	}
}

func TestJudgingDoesNotAllocate(t *testing.T) {
	m := newLatches(4, FaultRules{})
	if n := testing.AllocsPerRun(100, func() {
		m.above(Overheat, 1, 90, true)
		m.below(LowVoltage, 3, 5)
		for range m.all {
			break
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

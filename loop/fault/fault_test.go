package fault

import "testing"

func TestDebounceLatchAndReset(t *testing.T) {
	m := New(2, Rules{Hot: {Threshold: 75, Clear: 65, Debounce: 3, Severity: Hold}})
	judge := func(value float64) Change { return m.Above(Hot, 1, value, true) }
	for i, step := range []struct {
		value float64
		want  Change
	}{
		{80, Unchanged}, {80, Unchanged}, {70, Unchanged}, // not long enough
		{80, Unchanged}, {80, Unchanged}, {80, Raised}, {80, Unchanged},
		{70, Unchanged}, // cooler, and not cool
	} {
		if got := judge(step.value); got != step.want {
			t.Fatalf("step %d: %v, want %v", i, got, step.want)
		}
	}
	reset := func() (forgotten, kept int) {
		m.Reset(func(k Kind, row int, gone bool) {
			if k != Hot || row != 1 {
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
	if f, k := reset(); f != 0 || k != 1 || m.Active() != 1 {
		t.Errorf("reset while it is warm: %d forgotten, %d kept", f, k)
	}
	judge(60)
	if f, k := reset(); f != 1 || k != 0 || m.Active() != 0 {
		t.Errorf("reset when it is cool: %d forgotten, %d kept", f, k)
	}
}

func TestAutomaticFaultsClearThemselves(t *testing.T) {
	m := New(1, Rules{Overrun: {Threshold: 5, Clear: 1, Severity: Warn, Auto: true}})
	if m.Above(Overrun, 0, 6, true) != Raised || m.Above(Overrun, 0, 3, true) != Unchanged || m.Above(Overrun, 0, 1, true) != Cleared || m.Active() != 0 {
		t.Error("does not clear itself")
	}
}

func TestBelowHasHysteresisToo(t *testing.T) {
	m := New(1, Rules{LowVoltage: {Threshold: 6.5, Clear: 7, Severity: Safe, Auto: true}})
	for i, step := range []struct {
		volt float64
		want Change
	}{{6.6, Unchanged}, {6.4, Raised}, {6.8, Unchanged}, {7, Cleared}} {
		if got := m.Below(LowVoltage, 0, step.volt); got != step.want {
			t.Errorf("step %d: %v, want %v", i, got, step.want)
		}
	}
}

func TestIgnoredFaultsAreNone(t *testing.T) {
	m := New(1, Rules{Hot: {Threshold: 75, Severity: Hold}})
	if m.Judge(Tracking, 0, true, false) != Unchanged || m.Raise(Tracking, 0) != Unchanged {
		t.Error("a fault without a rule was raised")
	}
}

func TestEveryKindAndSeverityHasAName(t *testing.T) {
	for k := Kind(1); k < NumKinds; k++ {
		if k.String() == "" {
			t.Errorf("kind %d", k)
		}
		if Defaults()[k].Severity == Ignore {
			t.Errorf("%v has no default", k)
		}
	}
	for s := Ignore; s <= TorqueOff; s++ {
		if s.String() == "" {
			t.Errorf("severity %d", s)
		}
	}
}

func TestAllYieldsWhatIsLatched(t *testing.T) {
	m := New(3, Rules{})
	m.Raise(Hot, 2)
	m.Raise(BusSilent, 0)
	m.Raise(Hot, 2)
	n := 0
	for k, row := range m.All {
		if n++; !(k == Hot && row == 2 || k == BusSilent && row == 0) {
			t.Errorf("%v of row %d", k, row)
		}
	}
	if n != 2 || m.Active() != 2 {
		t.Errorf("%d yielded, %d active", n, m.Active())
	}
}

func TestJudgingDoesNotAllocate(t *testing.T) {
	m := New(4, Rules{})
	if n := testing.AllocsPerRun(100, func() {
		m.Above(Hot, 1, 90, true)
		m.Below(LowVoltage, 3, 5)
		for range m.All {
			break
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

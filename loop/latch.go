package loop

import "math"

// latchChange is what a judgement came to.
type latchChange uint8

// The changes.
const (
	latchUnchanged latchChange = iota
	latchRaised
	latchCleared
)

// latches count, latch and forget the faults of a robot, by kind and row; a row is
// a joint, or the robot. What is done about a fault is decided elsewhere. Loop-safe.
type latches struct {
	rules  FaultRules
	state  [][NumFaultKinds]latchState
	active int
}

// latchState is that of one fault of one row; the zero value is that all is well.
type latchState struct {
	ticks   uint32 // that it was bad in a row
	latched bool   // until reset
}

// newLatches returns the latches for some rows; rules that are all zero are the
// defaults.
func newLatches(rows int, rules FaultRules) *latches {
	if rules == (FaultRules{}) {
		rules = DefaultFaultRules()
	}
	return &latches{rules: rules, state: make([][NumFaultKinds]latchState, rows)}
}

// above judges a value that must not exceed its threshold; where it does not
// apply there is no fault.
func (m *latches) above(k FaultKind, row int, value float64, applies bool) latchChange {
	rule := &m.rules[k]
	bad := applies && value > rule.Threshold
	if !bad && m.quiet(k, row) {
		return latchUnchanged
	}
	clear := rule.Threshold
	if rule.Clear != 0 {
		clear = rule.Clear
	}
	return m.judge(k, row, bad, !applies || value <= clear)
}

// below judges a value that must not fall under its threshold.
func (m *latches) below(k FaultKind, row int, value float64) latchChange {
	rule := &m.rules[k]
	return m.judge(k, row, value < rule.Threshold, value >= max(rule.Clear, rule.Threshold))
}

// quiet reports whether nothing is bad by the last tick: while that is so, nothing is counted.
func (m *latches) quiet(k FaultKind, row int) bool {
	s := &m.state[row][k]
	return s.ticks == 0 && !s.latched
}

// judge counts a tick in which something is bad, or gone, or between the two.
func (m *latches) judge(k FaultKind, row int, bad, gone bool) latchChange {
	rule, s := &m.rules[k], &m.state[row][k]
	switch {
	case rule.Severity == SeverityIgnore:
	case bad:
		if s.ticks < math.MaxUint32 {
			s.ticks++
		}
		if int(s.ticks) >= max(rule.Debounce, 1) && !s.latched {
			return m.raise(k, row)
		}
	case gone:
		s.ticks = 0
		if s.latched && rule.Auto {
			m.forget(k, row)
			return latchCleared
		}
	case !s.latched:
		s.ticks = 0 // between the two values, and never a fault
	}
	return latchUnchanged
}

// raise latches a fault at once.
func (m *latches) raise(k FaultKind, row int) latchChange {
	if m.state[row][k].latched || m.rules[k].Severity == SeverityIgnore {
		return latchUnchanged
	}
	m.state[row][k].latched = true
	m.active++
	return latchRaised
}

func (m *latches) forget(k FaultKind, row int) {
	m.state[row][k].latched = false
	m.active--
}

// reset forgets the faults that are gone; it yields every latched one, and whether
// it is forgotten.
func (m *latches) reset(yield func(k FaultKind, row int, forgotten bool)) {
	for row := range m.state {
		for k := FaultKind(1); k < NumFaultKinds; k++ {
			s := &m.state[row][k]
			if !s.latched {
				continue
			}
			gone := s.ticks == 0
			if gone {
				m.forget(k, row)
			}
			yield(k, row, gone)
		}
	}
}

// Raised is, by kind of fault, what is done about those that are active; SeverityIgnore: none is.
type Raised [NumFaultKinds]Severity

// raised tells the kinds of the latched faults.
func (m *latches) raised() (all Raised) {
	if m.active > 0 {
		for k := range m.all {
			all[k] = m.rules[k].Severity
		}
	}
	return all
}

// all yields the latched faults.
func (m *latches) all(yield func(k FaultKind, row int) bool) {
	for row := range m.state {
		for k := FaultKind(1); k < NumFaultKinds; k++ {
			if m.state[row][k].latched && !yield(k, row) {
				return
			}
		}
	}
}

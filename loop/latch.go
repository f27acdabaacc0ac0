package loop

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
	rules   FaultRules
	counts  [][NumFaultKinds]int  // ticks in a row
	latched [][NumFaultKinds]bool // until reset
	active  int
}

// newLatches returns the latches for some rows; rules that are all zero are the
// defaults.
func newLatches(rows int, rules FaultRules) *latches {
	if rules == (FaultRules{}) {
		rules = DefaultFaultRules()
	}
	return &latches{rules: rules, counts: make([][NumFaultKinds]int, rows), latched: make([][NumFaultKinds]bool, rows)}
}

// above judges a value that must not exceed its threshold; where it does not
// apply there is no fault.
func (m *latches) above(k FaultKind, row int, value float64, applies bool) latchChange {
	rule := &m.rules[k]
	clear := rule.Threshold
	if rule.Clear != 0 {
		clear = rule.Clear
	}
	return m.judge(k, row, applies && value > rule.Threshold, !applies || value <= clear)
}

// below judges a value that must not fall under its threshold.
func (m *latches) below(k FaultKind, row int, value float64) latchChange {
	rule := &m.rules[k]
	return m.judge(k, row, value < rule.Threshold, value >= max(rule.Clear, rule.Threshold))
}

// judge counts a tick in which something is bad, or gone, or between the two.
func (m *latches) judge(k FaultKind, row int, bad, gone bool) latchChange {
	rule, count, latched := &m.rules[k], &m.counts[row][k], m.latched[row][k]
	switch {
	case rule.Severity == SeverityIgnore:
	case bad:
		*count++
		if *count >= max(rule.Debounce, 1) && !latched {
			return m.raise(k, row)
		}
	case gone:
		*count = 0
		if latched && rule.Auto {
			m.forget(k, row)
			return latchCleared
		}
	case !latched:
		*count = 0 // between the two values, and never a fault
	}
	return latchUnchanged
}

// raise latches a fault at once.
func (m *latches) raise(k FaultKind, row int) latchChange {
	if m.latched[row][k] || m.rules[k].Severity == SeverityIgnore {
		return latchUnchanged
	}
	m.latched[row][k] = true
	m.active++
	return latchRaised
}

func (m *latches) forget(k FaultKind, row int) {
	m.latched[row][k] = false
	m.active--
}

// reset forgets the faults that are gone; it yields every latched one, and whether
// it is forgotten.
func (m *latches) reset(yield func(k FaultKind, row int, forgotten bool)) {
	for row := range m.latched {
		for k := FaultKind(1); k < NumFaultKinds; k++ {
			if !m.latched[row][k] {
				continue
			}
			gone := m.counts[row][k] == 0
			if gone {
				m.forget(k, row)
			}
			yield(k, row, gone)
		}
	}
}

// all yields the latched faults.
func (m *latches) all(yield func(k FaultKind, row int) bool) {
	for row := range m.latched {
		for k := FaultKind(1); k < NumFaultKinds; k++ {
			if m.latched[row][k] && !yield(k, row) {
				return
			}
		}
	}
}

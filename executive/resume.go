package executive

import "poise/loop"

// Resumed is a goal that first undoes a stop, a pause and missing power, as far as there
// are any: a person who gives it says that the robot may go on.
type Resumed struct{ Goal }

// firstOrder is an order that goes before that of a goal, in the same tick.
type firstOrder struct {
	kind loop.OrderKind
	what string // for the audit
}

func (g Resumed) prepare(v *view) (*work, []Explanation) {
	var before []firstOrder
	if v.now.Stopped {
		before = append(before, firstOrder{loop.Reset, "reset"})
	}
	if v.now.Power != loop.Enabled {
		before = append(before, firstOrder{loop.PowerOn, "power on"})
		copy(v.now.Command.Q, v.now.Measured.Q) // where the command begins when power comes
	}
	if v.now.Wanted == 0 {
		before = append(before, firstOrder{loop.Resume, "resume"})
	}
	w, why := g.Goal.prepare(v)
	if w != nil {
		w.before = before
	}
	return w, why
}

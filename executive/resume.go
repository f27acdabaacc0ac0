package executive

import (
	"poise/control"
	"poise/loop"
)

// Resumed is a goal that first undoes a stop and a pause, as far as there are any: a
// person who gives it says that the robot may go on. It adds no torque: joints without
// are why it is refused, and then nothing is undone either.
type Resumed struct{ Goal }

// firstOrder is an order that goes before that of a goal, in the same tick.
type firstOrder struct {
	kind loop.OrderKind
	what string // for the audit
}

func (g Resumed) prepare(v *view) (*work, []Explanation) {
	if v.now.Power != loop.Enabled {
		return nil, []Explanation{v.words.Reason(control.Because(control.PowerOff), "")}
	}
	var before []firstOrder
	if v.now.Stopped {
		before = append(before, firstOrder{loop.Reset, "reset"})
	}
	if v.now.Wanted == 0 {
		before = append(before, firstOrder{loop.Resume, "resume"})
	}
	w, why := g.Goal.prepare(v)
	if w == nil {
		return nil, why
	}
	if w.program != nil {
		needs, _ := w.program.Claim()
		if lacks := v.words.Unpowered(v.now.Limp, needs); lacks != nil {
			return nil, lacks
		}
	}
	w.before = before
	return w, why
}

package follow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"poise/control"
	"poise/problem"
	"poise/robot"
)

// Types of events that are for the motion itself: it waits for contacts, and reacts to impacts.
const (
	WaitEvent   = "contact/wait"   // command touch_down or lift_off; options: limbs, and timeout=SECONDS
	ImpactEvent = "contact/impact" // command ignore, hold, soften or retreat; options: limbs, none is all
)

// waitTimeout is how long a motion waits for a contact unless it says otherwise, s; longestWait
// at most.
const (
	waitTimeout = 5.0
	longestWait = 600.0
)

// waits are the commands of a WaitEvent.
var waits = []string{"touch_down", "lift_off"}

// parseTrigger reads an event; limbs are the chains of the robot by name. ok is false for events
// of other types.
func parseTrigger(e *Event, limbs []string) (t control.Trigger, ok bool, err error) {
	switch e.Type {
	case WaitEvent:
		t.Waits, t.Timeout, t.Swing = true, waitTimeout, e.Command == waits[1]
		if !slices.Contains(waits, e.Command) {
			return t, true, fmt.Errorf("%q is not one of touch_down, lift_off%s", e.Command, problem.Hint(e.Command, waits))
		}
	case ImpactEvent:
		k := slices.Index(control.ReactionNames[:], e.Command)
		if k < 0 {
			return t, true, fmt.Errorf("%q is not one of ignore, hold, soften, retreat%s", e.Command, problem.Hint(e.Command, control.ReactionNames[:]))
		}
		t.Reaction = control.Reaction(k)
	default:
		return t, false, nil
	}
	for _, word := range strings.Fields(e.Options) {
		if text, is := strings.CutPrefix(word, "timeout="); is && t.Waits {
			s, err := strconv.ParseFloat(text, 64)
			if err != nil || !(s > 0 && s <= longestWait) {
				return t, true, fmt.Errorf("timeout %q is not within 0 … %g s", text, longestWait)
			}
			t.Timeout = s
			continue
		}
		k := slices.Index(limbs, word)
		if k < 0 || k >= control.MaxLimbs {
			return t, true, fmt.Errorf("no limb is named %q%s", word, problem.Hint(word, limbs))
		}
		t.Limbs = t.Limbs.With(robot.ChainID(k))
	}
	if t.Limbs == 0 {
		if t.Waits {
			return t, true, fmt.Errorf("it names no limb to wait for")
		}
		t.Limbs = ^control.LimbSet(0)
	}
	return t, true, nil
}

// triggers reads the events that are for the motion itself.
func (c *compiler) triggers() {
	names := make([]string, len(c.m.Chains()))
	for i, k := range c.m.Chains() {
		names[i] = k.Name
	}
	some := false
	for i := range c.r.Events {
		e := &c.r.Events[i]
		t, ok, err := parseTrigger(e, names)
		some = some || ok
		at := c.g.Table.At(e.Time)
		if err != nil {
			c.bad.add(problem.Problem{Code: BadEvent, At: at}, "event at %g s (%s %s): %v", at, e.Type, e.Command, err)
			continue
		}
		for k := range c.m.Chains() {
			if ok && t.Waits && t.Limbs.Has(robot.ChainID(k)) && c.m.Chains()[k].Contact == robot.NoContact {
				c.bad.add(problem.Problem{Code: BadEvent, At: at}, "event at %g s (%s %s): limb %q has no contact", at, e.Type, e.Command, names[k])
			}
		}
	}
	if some {
		c.r.Limbs = names
	}
}

// Trigger implements control.Triggered. Loop-safe.
func (p *Program) Trigger(event uint32) (control.Trigger, bool) {
	if p.triggers == nil {
		return control.Trigger{}, false
	}
	n := int(event)
	if n >= len(p.r.Events) {
		n = p.once + (n-len(p.r.Events))%(len(p.r.Events)-p.once)
	}
	t := &p.triggers[n]
	return t.Trigger, t.is
}

// trigger is that of an event, if it is one.
type trigger struct {
	control.Trigger
	is bool
}

// readTriggers fills in the program's triggers, which the compiler has checked.
func (p *Program) readTriggers() error {
	if len(p.r.Limbs) == 0 {
		return nil
	}
	p.triggers = make([]trigger, len(p.r.Events))
	for i := range p.r.Events {
		t, ok, err := parseTrigger(&p.r.Events[i], p.r.Limbs)
		if err != nil {
			return fmt.Errorf("follow: event %d: %w", i, err)
		}
		p.triggers[i] = trigger{t, ok}
	}
	return nil
}

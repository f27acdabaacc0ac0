package scenario

import (
	"maps"
	"slices"
	"strings"

	"poise/arbiter"
	"poise/problem"
)

// arbiterName is how a script calls the arbiter's end of a wire.
const arbiterName = "arbiter"

// event reads one entry of the script: a time and one verb.
func (r *reader) event(e *eventEntry) {
	var verbs []string
	for _, v := range []struct {
		name  string
		given bool
	}{
		{"request", e.Request.given()}, {"release", e.Release.given()}, {"crash", e.Crash.given()},
		{"lose", e.Lose != nil}, {"delay", e.Delay != nil}, {"duplicate", e.Duplicate != nil},
	} {
		if v.given {
			verbs = append(verbs, v.name)
		}
	}
	if len(verbs) != 1 {
		r.errorf(e.Line, "event: has %s, must have exactly one of request, release, crash, lose, delay, duplicate", count(verbs))
		return
	}
	if !e.At.given() {
		r.errorf(e.Line, "event %s: has no time (at)", verbs[0])
		return
	}
	if len(e.Needs)+len(e.Wants) > 0 && verbs[0] != "request" {
		r.errorf(e.Line, "event %s: needs and wants belong to a request", verbs[0])
	}
	if e.Resources != nil && verbs[0] != "release" {
		r.errorf(e.Line, "event %s: resources belong to a release", verbs[0])
	}
	ev := event{at: r.duration("at", e.At)}
	switch verbs[0] {
	case "request":
		r.request(&ev, e)
	case "release":
		r.release(&ev, e)
	case "crash":
		ev.verb, ev.who = crash, r.who("crash", e.Crash)
	case "lose":
		ev.fault = r.wire("lose", e.Lose)
		ev.verb, ev.fault.lose = fault, r.times("lose", e.Lose)
	case "delay":
		ev.fault = r.wire("delay", e.Delay)
		ev.verb, ev.fault.delay = fault, r.times("delay", e.Delay)
		if !e.Delay.By.given() {
			r.errorf(e.Delay.Line, "delay: by is missing: how long?")
		} else {
			ev.fault.by = r.duration("delay: by", e.Delay.By)
		}
	case "duplicate":
		ev.fault = r.wire("duplicate", e.Duplicate)
		ev.verb, ev.fault.double = fault, r.times("duplicate", e.Duplicate)
	}
	r.s.events = append(r.s.events, ev)
}

func count(verbs []string) string {
	if len(verbs) == 0 {
		return "no verb"
	}
	return strings.Join(verbs, " and ")
}

// request reads a request, for what the controller needs and wants or for
// another set that the event names.
func (r *reader) request(ev *event, e *eventEntry) {
	ev.verb, ev.who = request, r.who("request", e.Request)
	if ev.who == arbiter.NoClient {
		return
	}
	own := &r.s.Controllers[ev.who]
	ev.claim = &own.Claim
	if len(e.Needs)+len(e.Wants) > 0 {
		other := own.Claim
		other.Need, other.Want = r.claim(own.Name, e.Line, e.Needs, e.Wants)
		ev.claim = &other
	}
}

func (r *reader) release(ev *event, e *eventEntry) {
	ev.verb, ev.who = release, r.who("release", e.Release)
	if e.Resources != nil && len(e.Resources) == 0 {
		r.errorf(e.Line, "release: resources is an empty list; leave it out to release all")
	}
	ev.leaves = r.set(e.Release.Text, "release", e.Resources, ev.leaves)
}

func (r *reader) who(verb string, w word) arbiter.ClientID {
	c, ok := r.clients[w.Text]
	if !ok {
		r.errorf(w.Line, "%s: %q is not one of the controllers%s", verb, w.Text, problem.Hint(w.Text, slices.Sorted(maps.Keys(r.clients))))
		return arbiter.NoClient
	}
	return c
}

// wire reads the two ends of a fault: one of them is the arbiter.
func (r *reader) wire(verb string, e *faultEntry) (f wireFault) {
	from, to := e.From, e.To
	f.client = arbiter.NoClient
	switch {
	case !from.given() || !to.given():
		r.errorf(e.Line, "%s: from and to must both be given", verb)
	case (from.Text == arbiterName) == (to.Text == arbiterName):
		r.errorf(e.Line, "%s: from %q to %q: one end of a wire is a controller, the other is %q", verb, from.Text, to.Text, arbiterName)
	case to.Text == arbiterName:
		f.client, f.toArbiter = r.who(verb, from), true
	default:
		f.client = r.who(verb, to)
	}
	if verb != "delay" && e.By.given() {
		r.errorf(e.By.Line, "%s: by belongs to a delay", verb)
	}
	return f
}

// times reads how many messages a fault befalls, one if it does not say.
func (r *reader) times(verb string, e *faultEntry) int {
	if e.Count == nil {
		return 1
	}
	if *e.Count < 1 {
		r.errorf(e.Line, "%s: count %d must be at least 1", verb, *e.Count)
	}
	return *e.Count
}

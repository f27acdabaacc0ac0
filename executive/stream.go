package executive

import (
	"fmt"
	"strings"

	"poise/control"
	"poise/control/stream"
	"poise/loop"
	"poise/problem"
)

// AnyPublisher stands for every publisher: see Switch.Publisher.
const AnyPublisher = "*"

// Feed gives a controller that follows a stream its newest value, which from has
// published, and returns why it, or a part of it, does not count. What the cycle says to it is
// in State: a stream does not wait for answers.
func (e *Executive) Feed(from, controller string, value control.Program) (reasons []Explanation) {
	e.locked(func() {
		s, ok := e.robot.seat(controller)
		if !ok {
			reasons = append(reasons, e.robot.unknownController(controller))
			return
		}
		number := e.orders.nextNumber()
		switch other := e.notHeard(s, from); {
		case other != nil:
			reasons = append(reasons, *other)
		case !e.orders.trySend(loop.Order{Kind: loop.Feed, Controller: s.id, Goal: number, Program: value}):
			reasons = append(reasons, e.words.Reason(control.Because(control.Full), s.title()))
		default:
			if left := e.notOwned(s, value); left != nil {
				if s.fed.Code == left.Code || e.now >= s.fedFor { // a refusal is told first
					s.refuse(*left, number, e.now)
				}
				e.outside.on(s).leftOut.count(e.now)
				reasons = append(reasons, *left)
			}
		}
	})
	return reasons
}

// refuse notes why a value, or a part of it, does not count. It is told for a while: values of another
// stream of the same controller, which are taken in between, hide nothing.
func (s *seat) refuse(why Explanation, number uint64, now int64) {
	s.fed, s.fedBy, s.fedFor = why, number, now+leftOutEvery
}

// leftOut counts values that speak of what their controller does not own.
type leftOut struct {
	values uint64
	told   uint64 // of them
	at     int64  // when that was changed last, ns
}

// leftOutEvery is how often a new count is told, and for how long at least what does not count, ns.
const leftOutEvery = 1e9

func (l *leftOut) count(now int64) {
	l.values++
	l.tell(now)
}

func (l *leftOut) tell(now int64) {
	if l.told != l.values && (l.told == 0 || now-l.at >= leftOutEvery) {
		l.told, l.at = l.values, now
	}
}

// NotAsked explains which parts of a value the external controller of a session has not asked for:
// they are left out. It returns nil if it asked for all of it, or is not operational. Of what it asked
// for and lost it was told.
func (o *Outside) NotAsked(name, session string, value control.Program) *Explanation {
	o.e.mu.Lock()
	defer o.e.mu.Unlock()
	client := o.client(name, session)
	sample, ok := value.(*stream.Sample)
	if client == nil || !ok || !client.runs.live() {
		return nil
	}
	if asked := client.runs.program.Needs.Union(client.runs.program.Wants).Union(client.owns); asked.Contains(sample.Leaves(o.e.model)) {
		return nil
	}
	return o.e.notOwned(client.seat, value)
}

// notOwned explains what of a value the external controller on a seat does not own.
func (e *Executive) notOwned(s *seat, value control.Program) *Explanation {
	client := e.outside.on(s)
	sample, ok := value.(*stream.Sample)
	if !ok || client == nil || !client.runs.live() {
		return nil
	}
	left := sample.Leaves(e.model).Minus(client.owns)
	if left.Empty() {
		return nil
	}
	names := e.words.Names(left)
	x := problem.New("not_owned", "controller %q does not own %s: that part of its value is left out", client.name, strings.Join(names, ", "))
	x.Resource = names[0]
	for leaf := range left.All {
		if owner := e.robot.controllerName(e.robot.snap.Owner[leaf]); owner != "" && owner != client.name {
			x.Owner = owner
			x.Text += fmt.Sprintf(" (%q has %s)", owner, e.words.Resource(leaf))
			break
		}
	}
	return x.With("ask for it, or leave it out of the reference")
}

// Lead hands a value of this process to a controller: no client has sent it, and none who
// activated the controller is asked for.
func (e *Executive) Lead(controller string, value control.Program) {
	e.locked(func() {
		if s, ok := e.robot.seat(controller); ok {
			e.orders.trySend(loop.Order{Kind: loop.Feed, Controller: s.id, Goal: e.orders.nextNumber(), Program: value}) // a full ring takes the next one
		}
	})
}

// Unreadable notes that the newest value of a controller's stream, which from has published,
// cannot be read: State tells why it was refused.
func (e *Executive) Unreadable(from, controller string, why error) {
	e.locked(func() {
		if s, ok := e.robot.seat(controller); ok && e.notHeard(s, from) == nil {
			s.refuse(*problem.New("invalid", "%s", why), e.orders.nextNumber(), e.now)
		}
	})
}

// Hears returns nil if a controller takes values that from publishes, or is not active;
// otherwise who it hears instead.
func (e *Executive) Hears(from, controller string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s, ok := e.robot.seat(controller); ok {
		if other := e.notHeard(s, from); other != nil {
			return other
		}
	}
	return nil
}

// notHeard says why a controller does not hear a publisher: a stream is heard from who
// activated the controller, or from whom that one named.
func (e *Executive) notHeard(s *seat, from string) *Explanation {
	heard := e.publisherOf(s)
	if heard == "" || heard == AnyPublisher || heard == from {
		return nil
	}
	x := problem.New("not_heard", "controller %q takes values from %s, which activated it, not from %s", s.title(), heard, from).
		With("activate it from the connection that publishes, or let switch_controllers name the publisher (* is any publisher)")
	x.Owner = heard
	return x
}

// publisherOf returns whom a controller hears, "" if it is not active.
func (e *Executive) publisherOf(s *seat) (heard string) {
	if s.Remote {
		return e.outside.sessionOn(s)
	}
	for _, j := range e.goals.of(s) {
		if j.begun {
			heard = j.publisher()
		}
	}
	return heard
}

// publisher returns whose stream the controller of the goal hears.
func (j *job) publisher() string {
	if j.hears != "" {
		return j.hears
	}
	return j.who
}

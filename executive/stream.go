package executive

import (
	"poise/control"
	"poise/loop"
	"poise/problem"
)

// AnyPublisher stands for every publisher: see Switch.Publisher.
const AnyPublisher = "*"

// Feed gives a controller that follows a stream its newest value, which from has
// published. What the cycle says to it is in State: a stream does not wait for answers.
func (e *Executive) Feed(from, controller string, value control.Program) (reasons []Explanation) {
	e.locked(func() {
		s, ok := e.robot.seat(controller)
		if !ok {
			reasons = append(reasons, e.robot.unknownController(controller))
			return
		}
		switch other := e.deaf(s, from); {
		case other != nil:
			reasons = append(reasons, *other)
		case !e.orders.trySend(loop.Order{Kind: loop.Feed, Controller: s.id, Goal: e.orders.nextNumber(), Program: value}):
			reasons = append(reasons, e.words.Reason(control.Because(control.Full), controller))
		}
	})
	return reasons
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
		if s, ok := e.robot.seat(controller); ok && e.deaf(s, from) == nil {
			s.fed, s.fedBy = *problem.New("invalid", "%s", why), e.orders.nextNumber()
		}
	})
}

// Hears returns nil if a controller takes values that from publishes, or is not active;
// otherwise who it hears instead.
func (e *Executive) Hears(from, controller string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s, ok := e.robot.seat(controller); ok {
		if other := e.deaf(s, from); other != nil {
			return other
		}
	}
	return nil
}

// deaf says why a controller does not hear a publisher: a stream is heard from who
// activated the controller, or from whom that one named.
func (e *Executive) deaf(s *seat, from string) *Explanation {
	heard := e.publisherOf(s)
	if heard == "" || heard == AnyPublisher || heard == from {
		return nil
	}
	x := problem.New("not_heard", "controller %q hears %s, for whom it was activated, not %s", s.Name, heard, from).
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

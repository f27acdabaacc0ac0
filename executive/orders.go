package executive

import (
	"slices"

	"poise/loop"
)

// command is an order, or several, whose outcome a client waits for. All of them
// carry its number.
type command struct {
	who, what string
	number    uint64 // given by start, unless it has one
	answer    *Answer
	// settled reports whether the state after the echo is what was wanted; nil is
	// at once.
	settled func(s *loop.Snapshot) (o Outcome, ok bool)
	// told, if not nil, is shown the reports that belong to no goal; then start
	// sends no echo.
	told func(r *loop.Report) (o Outcome, ok bool)

	tick   uint64 // in which the echo came back
	echoed bool
	began  int64
	why    []Explanation
}

// orders sends orders to one cycle: it numbers them, keeps those for which there is
// no room until there is, and gives every command exactly one answer.
//
// Orders that have no answer of their own are followed by an echo, so their sender
// learns when the cycle has taken them. A command may then wait until the state of
// the robot is what was wanted, or for a report of its own. Refusals find their
// command by its number; what takes too long is answered, too.
//
// It has no lock and no clock: its owner calls, one at a time.
type orders struct {
	room     func(loop.Order) bool // false if there is none
	done     func(c *command, o Outcome)
	number   uint64
	waiting  []loop.Order
	commands []*command
}

// newOrders returns one that sends by room, which is false when there is none, and
// tells done of every command that is over.
func newOrders(room func(loop.Order) bool, done func(c *command, o Outcome)) *orders {
	return &orders{room: room, done: done}
}

// nextNumber returns a number that was never given before.
func (q *orders) nextNumber() uint64 {
	q.number++
	return q.number
}

// above makes all further numbers greater than one.
func (q *orders) above(number uint64) { q.number = max(q.number, number) }

// send sends an order that must not get lost: without room it waits.
func (q *orders) send(o loop.Order) {
	if len(q.waiting) > 0 || !q.room(o) {
		q.waiting = append(q.waiting, o)
	}
}

// trySend sends an order, or refuses.
func (q *orders) trySend(o loop.Order) bool {
	q.flush()
	return len(q.waiting) == 0 && q.room(o)
}

// flush sends what found no room before.
func (q *orders) flush() {
	for len(q.waiting) > 0 && q.room(q.waiting[0]) {
		q.waiting = q.waiting[1:]
	}
}

// start sends the orders of a command, and waits for its outcome.
func (q *orders) start(c *command, now int64, orders ...loop.Order) *Answer {
	if c.number == 0 {
		c.number = q.nextNumber()
	}
	for _, o := range orders {
		o.Goal = c.number
		q.send(o)
	}
	c.answer, c.began = newAnswer(), now
	q.commands = append(q.commands, c)
	if c.told == nil {
		q.echo(c)
	}
	return c.answer
}

// echo asks the cycle to say when it has taken everything so far.
func (q *orders) echo(c *command) { q.send(loop.Order{Kind: loop.Echo, Goal: c.number}) }

// take shows a report to the commands.
func (q *orders) take(r *loop.Report) {
	for _, c := range slices.Clone(q.commands) {
		switch {
		case r.Kind == loop.Echoed && c.number == r.Goal:
			c.echoed, c.tick = true, r.Tick.N
		case c.told != nil:
			if o, ok := c.told(r); ok {
				q.finish(c, o)
			}
		}
	}
}

// refuse gives a refusal to the command that sent the order; it reports whether
// there is one.
func (q *orders) refuse(number uint64, why Explanation) bool {
	for _, c := range q.commands {
		if c.number == number {
			c.why = append(c.why, why)
			if c.told != nil {
				q.finish(c, refused(c.why...))
			}
			return true
		}
	}
	return false
}

// settle ends the commands that are done by a state of the robot, which may be nil,
// and those that have taken longer than patience, ns; late explains these.
func (q *orders) settle(s *loop.Snapshot, now, patience int64, late func(c *command, took int64) Explanation) {
	for _, c := range slices.Clone(q.commands) {
		switch {
		case c.echoed && len(c.why) > 0:
			q.finish(c, refused(c.why...))
		case c.echoed && c.settled == nil && c.told == nil:
			q.finish(c, Outcome{})
		case c.echoed && c.settled != nil && s != nil && s.Tick.N >= c.tick:
			if o, ok := c.settled(s); ok {
				q.finish(c, o)
			}
		}
		if took := now - c.began; took > patience {
			q.finish(c, refused(late(c, took)))
		}
	}
}

// end answers all commands that wait.
func (q *orders) end(why Explanation) {
	for _, c := range slices.Clone(q.commands) {
		q.finish(c, refused(why))
	}
}

// finish ends a command; only the first end counts.
func (q *orders) finish(c *command, o Outcome) {
	if c.answer.resolve(o) {
		q.done(c, o)
	}
	q.commands = slices.DeleteFunc(q.commands, func(x *command) bool { return x == c })
}

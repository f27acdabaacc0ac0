package desk

import (
	"slices"

	"poise/executive/explain"
	"poise/loop"
)

// Command is an order, or several, whose outcome somebody waits for. All of them
// carry its number.
type Command struct {
	Who, What string
	Number    uint64 // given by Start, unless it has one
	Answer    *Answer
	// Settled reports whether the state after the echo is what was wanted; nil is
	// at once.
	Settled func(s *loop.Snapshot) (o Outcome, ok bool)
	// Told, if not nil, is shown the reports that are nobody else's; then Start
	// sends no echo.
	Told func(r *loop.Report) (o Outcome, ok bool)

	Tick   uint64 // in which the echo came back
	echoed bool
	began  int64
	why    []explain.Explanation
}

// Desk sends orders to one cycle. Make one with New.
type Desk struct {
	send     func(loop.Order) bool
	done     func(c *Command, o Outcome)
	number   uint64
	waiting  []loop.Order
	commands []*Command
}

// New returns a desk that sends orders by send, which is false when there is no
// room, and tells done of every command that is over.
func New(send func(loop.Order) bool, done func(c *Command, o Outcome)) *Desk {
	return &Desk{send: send, done: done}
}

// Number returns a number that was never given before.
func (d *Desk) Number() uint64 {
	d.number++
	return d.number
}

// Above makes all further numbers greater than one.
func (d *Desk) Above(number uint64) { d.number = max(d.number, number) }

// Order sends an order that must not get lost: without room it waits.
func (d *Desk) Order(o loop.Order) {
	if len(d.waiting) > 0 || !d.send(o) {
		d.waiting = append(d.waiting, o)
	}
}

// OrderNow sends an order, or refuses.
func (d *Desk) OrderNow(o loop.Order) bool {
	d.Flush()
	return len(d.waiting) == 0 && d.send(o)
}

// Flush sends what found no room before.
func (d *Desk) Flush() {
	for len(d.waiting) > 0 && d.send(d.waiting[0]) {
		d.waiting = d.waiting[1:]
	}
}

// Waiting returns how many orders wait for room.
func (d *Desk) Waiting() int { return len(d.waiting) }

// Open returns how many commands wait for their answers.
func (d *Desk) Open() int { return len(d.commands) }

// Start sends the orders of a command, and waits for its outcome.
func (d *Desk) Start(c *Command, now int64, orders ...loop.Order) *Answer {
	if c.Number == 0 {
		c.Number = d.Number()
	}
	for _, o := range orders {
		o.Goal = c.Number
		d.Order(o)
	}
	c.Answer, c.began = NewAnswer(), now
	d.commands = append(d.commands, c)
	if c.Told == nil {
		d.Echo(c)
	}
	return c.Answer
}

// Echo asks the cycle to say when it has taken everything so far.
func (d *Desk) Echo(c *Command) { d.Order(loop.Order{Kind: loop.Echo, Goal: c.Number}) }

// Take shows a report to the commands.
func (d *Desk) Take(r *loop.Report) {
	for _, c := range slices.Clone(d.commands) {
		switch {
		case r.Kind == loop.Echoed && c.Number == r.Goal:
			c.echoed, c.Tick = true, r.Tick.N
		case c.Told != nil:
			if o, ok := c.Told(r); ok {
				d.Finish(c, o)
			}
		}
	}
}

// Refuse gives a refusal to the command that sent the order; it reports whether
// there is one.
func (d *Desk) Refuse(number uint64, why explain.Explanation) bool {
	for _, c := range d.commands {
		if c.Number == number {
			c.why = append(c.why, why)
			if c.Told != nil {
				d.Finish(c, Refused(c.why...))
			}
			return true
		}
	}
	return false
}

// Settle ends the commands that are done by a state of the robot, which may be nil,
// and those that have taken longer than patience, ns; late explains these.
func (d *Desk) Settle(s *loop.Snapshot, now, patience int64, late func(c *Command, took int64) explain.Explanation) {
	for _, c := range slices.Clone(d.commands) {
		switch {
		case c.echoed && len(c.why) > 0:
			d.Finish(c, Refused(c.why...))
		case c.echoed && c.Settled == nil && c.Told == nil:
			d.Finish(c, Outcome{})
		case c.echoed && c.Settled != nil && s != nil && s.Tick.N >= c.Tick:
			if o, ok := c.Settled(s); ok {
				d.Finish(c, o)
			}
		}
		if took := now - c.began; took > patience {
			d.Finish(c, Refused(late(c, took)))
		}
	}
}

// End answers all commands that wait.
func (d *Desk) End(why explain.Explanation) {
	for _, c := range slices.Clone(d.commands) {
		d.Finish(c, Refused(why))
	}
}

// Finish ends a command; only the first end counts.
func (d *Desk) Finish(c *Command, o Outcome) {
	if c.Answer.Resolve(o) {
		d.done(c, o)
	}
	d.commands = slices.DeleteFunc(d.commands, func(x *Command) bool { return x == c })
}

// Package desk is the counter between many callers and one cycle: it numbers
// orders, keeps those for which there is no room until there is, and gives every
// command exactly one answer.
//
// Orders that have no answer of their own are followed by an echo, so their sender
// learns when the cycle has taken them. A command may then wait until the state of
// the robot is what was wanted, or for a report of its own. Refusals find their
// command by its number; what takes too long is answered, too.
//
// A Desk has no lock and no clock: whoever owns it calls, one at a time.
package desk

// Package guard watches a server from a process of its own, and brings its servos to
// rest if the server is dead or stuck.
//
//	guard, the parent                         server, its child
//	Run ── starts ──────────────────────────▶ FromEnvironment
//	      ◀── signs of life, descriptors of buses, bytes that mean rest ──── Feed
//	      ── signals ─────────────────────────▶
//
// The parent does nothing while its child lives and moves on. When it is dead, or was
// killed because it was stuck, the parent writes the bytes to its duplicates of the
// descriptors. A child that ended in order has taken them back before.
package guard

import "poise/servo"

// Sign is a sign of life.
type Sign byte

// Signs of life.
const (
	Alive     Sign = 'a' // cycle and pump move on
	CycleOnly Sign = 'c' // the cycle does, the pump does not: the child can still ramp
)

// Kinds of other messages, the first byte of each.
const (
	restMessage   = 'r' // JSON of rest, with descriptors
	endingMessage = 'e' // the child ends in order; that takes its time
)

// rest is what brings the servos of a robot to rest; without writes, nothing any more.
type rest struct {
	Robot  string      `json:"robot"`
	Writes []restWrite `json:"writes"`
}

// restWrite is a servo.RestWrite whose descriptor is one of the message's, by its order.
type restWrite struct {
	Descriptor int    `json:"descriptor"`
	Bytes      []byte `json:"bytes"`
	Times      int    `json:"times"`
}

// restOf makes the message of a robot, and lists the descriptors that go with it.
func restOf(robot string, all []servo.RestWrite) (r rest, descriptors []int) {
	r = rest{Robot: robot, Writes: []restWrite{}}
	for _, w := range all {
		r.Writes = append(r.Writes, restWrite{Descriptor: len(descriptors), Bytes: w.Bytes, Times: max(w.Times, 1)})
		descriptors = append(descriptors, int(w.Descriptor))
	}
	return r, descriptors
}

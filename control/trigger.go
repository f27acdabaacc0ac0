package control

import "poise/robot"

// Trigger is what an event of a program asks of what is felt.
type Trigger struct {
	Waits    bool     // the program's clock stands until Limbs stand, or swing:
	Swing    bool     // that is waited for,
	Timeout  float64  // for this time at most, s; then it fails
	Reaction Reaction // otherwise: to impacts of Limbs from now on
	Limbs    LimbSet
}

// LimbSet is a set of chains.
type LimbSet uint64

// MaxLimbs is how many chains a LimbSet can have.
const MaxLimbs = 64

// With returns the set with a chain. Loop-safe.
func (s LimbSet) With(c robot.ChainID) LimbSet { return s | 1<<uint(c) }

// Has reports whether a chain is in the set. Loop-safe.
func (s LimbSet) Has(c robot.ChainID) bool { return uint(c) < MaxLimbs && s>>uint(c)&1 != 0 }

// Triggered is a Program with events that wait for contacts, or choose reactions to impacts.
type Triggered interface {
	Program

	// Trigger returns what an event asks for, by the number under which it leaves; ok is false
	// for others. Loop-safe.
	Trigger(event uint32) (t Trigger, ok bool)
}

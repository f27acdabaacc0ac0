package arbiter

import (
	"fmt"
	"math"
	"math/bits"

	"poise/robot"
)

// MaxClients is how many controllers one arbiter can tell apart.
const MaxClients = 128

// ClientID numbers the controllers of one arbiter. Names live outside.
type ClientID uint8

// NoClient stands for no client: the owner of what is unowned.
const NoClient ClientID = math.MaxUint8

// Policy says who wins a leaf that two controllers ask for.
type Policy uint8

// Under PolicyNone every claim is granted, for tests of a single
// controller; the later request counts as the owner. Under PolicyLast the later
// request wins. Under PolicyPriority the higher priority wins, the later
// request among equals: while its round is open a controller counts with its
// pending priority, afterwards with its operational one.
const (
	PolicyNone Policy = iota
	PolicyLast
	PolicyPriority
)

var policyNames = [...]string{"none", "last", "priority"}

func (p Policy) String() string { return word(policyNames[:], int(p)) }

// ParsePolicy reads none, last or priority.
func ParsePolicy(s string) (Policy, bool) {
	for i, name := range policyNames {
		if s == name {
			return Policy(i), true
		}
	}
	return 0, false
}

// Claim is what a controller asks for.
type Claim struct {
	Need robot.Set // without all of these it cannot run
	Want robot.Set // it runs without these, and takes them when it can

	Pending     [robot.MaxLeaves]float32 // priority while its round is open
	Operational [robot.MaxLeaves]float32 // priority once it runs

	Lease int64 // ns, how long a remote client may give no sign of life; 0 is Config.Lease
}

// SetPriority gives every leaf the same pair of priorities.
func (c *Claim) SetPriority(pending, operational float32) {
	for i := range c.Pending {
		c.Pending[i], c.Operational[i] = pending, operational
	}
}

// All is what the claim asks for, needed or wanted.
func (c *Claim) All() robot.Set { return c.Need.Union(c.Want) }

// drop takes leaves out of the claim.
func (c *Claim) drop(leaves robot.Set) {
	c.Need, c.Want = c.Need.Minus(leaves), c.Want.Minus(leaves)
}

// clientSet is a set of clients.
type clientSet [MaxClients / 64]uint64

func (s *clientSet) add(c ClientID)    { s[c/64] |= 1 << (c % 64) }
func (s *clientSet) remove(c ClientID) { s[c/64] &^= 1 << (c % 64) }

// all yields the clients of s in rising order.
func (s clientSet) all(yield func(ClientID) bool) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			if !yield(ClientID(i*64 + bits.TrailingZeros64(w))) {
				return
			}
		}
	}
}

// word names a small number, or spells it out where it has no name.
func word(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprint(i)
}

package robot

import "math/bits"

// MaxLeaves is how many leaf resources a Set can tell apart.
const MaxLeaves = 256

// LeafID numbers a robot's leaf resources: what one controller at a time may
// own. Joints come first, in array order, so that a joint's leaf has the
// joint's number; then the base, the supports, the typed ones.
type LeafID uint16

// Set is a set of leaf resources. The zero Set is empty; sets compare with ==.
type Set [MaxLeaves / 64]uint64

// Leaf returns the set of one leaf.
func Leaf(id LeafID) (s Set) { return s.With(id) }

// With returns s with the leaf id.
func (s Set) With(id LeafID) Set { s[id/64] |= 1 << (id % 64); return s }

// Without returns s without the leaf id.
func (s Set) Without(id LeafID) Set { s[id/64] &^= 1 << (id % 64); return s }

// Has reports whether the leaf id is in s.
func (s Set) Has(id LeafID) bool { return s[id/64]>>(id%64)&1 != 0 }

// Union returns s ∪ t.
func (s Set) Union(t Set) Set {
	for i := range s {
		s[i] |= t[i]
	}
	return s
}

// Intersect returns s ∩ t.
func (s Set) Intersect(t Set) Set {
	for i := range s {
		s[i] &= t[i]
	}
	return s
}

// Minus returns what is in s and not in t.
func (s Set) Minus(t Set) Set {
	for i := range s {
		s[i] &^= t[i]
	}
	return s
}

// Empty reports whether nothing is in s.
func (s Set) Empty() bool { return s == Set{} }

// Overlaps reports whether s and t share a leaf.
func (s Set) Overlaps(t Set) bool {
	return s[0]&t[0]|s[1]&t[1]|s[2]&t[2]|s[3]&t[3] != 0
}

// Contains reports whether all of t is in s.
func (s Set) Contains(t Set) bool {
	return t[0]&^s[0]|t[1]&^s[1]|t[2]&^s[2]|t[3]&^s[3] == 0
}

// Len returns how many leaves are in s.
func (s Set) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// All yields the leaves of s in rising order.
func (s Set) All(yield func(LeafID) bool) {
	for i, w := range s {
		for w != 0 {
			b := bits.TrailingZeros64(w)
			if !yield(LeafID(i*64 + b)) {
				return
			}
			w &= w - 1
		}
	}
}

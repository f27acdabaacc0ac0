package robot

import "fmt"

// Limit is one bound and where it came from.
type Limit struct {
	Value  float64
	Has    bool
	Source string // file and line, "" if absent
}

// Limits are the bounds of a joint, SI. One that no file gives is absent, never
// invented. Position, velocity and effort come from the URDF; acceleration,
// deceleration and jerk from a file in MoveIt's format, which may also tighten the
// others.
type Limits struct {
	Lower, Upper Limit
	Velocity     Limit // |v| ≤, > 0
	Effort       Limit
	Acceleration Limit // > 0
	Deceleration Limit // < 0, as in MoveIt's files
	Jerk         Limit
}

// CartesianLimits bounds the motion of a tip, in the words of the Pilz planner.
type CartesianLimits struct {
	MaxTransVel Limit // m/s, > 0
	MaxTransAcc Limit // m/s², > 0
	MaxTransDec Limit // m/s², < 0
	MaxRotVel   Limit // rad/s, > 0
}

// LimitTable is what a limit file says, joint by joint.
type LimitTable struct {
	File   string
	Joints []LimitEntry
}

// LimitEntry is what a limit file says about one joint. A limit that it turns off
// has a source and no value.
type LimitEntry struct {
	Joint  string
	Line   int
	Limits Limits
}

// quantity is one of the limits of a joint: how it is called, and which values
// are allowed. The order is that of all listings.
type quantity struct {
	name string
	of   func(*Limits) *Limit
	sign float64 // of an allowed value, 0: any
}

var quantities = []quantity{
	{"lower", func(l *Limits) *Limit { return &l.Lower }, 0},
	{"upper", func(l *Limits) *Limit { return &l.Upper }, 0},
	{"velocity", func(l *Limits) *Limit { return &l.Velocity }, 1},
	{"effort", func(l *Limits) *Limit { return &l.Effort }, 1},
	{"acceleration", func(l *Limits) *Limit { return &l.Acceleration }, 1},
	{"deceleration", func(l *Limits) *Limit { return &l.Deceleration }, -1},
	{"jerk", func(l *Limits) *Limit { return &l.Jerk }, 1},
}

// looser reports whether a allows what b does not.
func (q quantity) looser(a, b float64) bool {
	if q.name == "lower" || q.name == "deceleration" {
		return a < b
	}
	return a > b
}

func (q quantity) withArticle() string {
	if q.name == "acceleration" {
		return "an " + q.name
	}
	return "a " + q.name
}

// All yields the limits with their names, in the order of all listings.
func (l Limits) All(yield func(name string, limit Limit) bool) {
	for _, q := range quantities {
		if !yield(q.name, *q.of(&l)) {
			return
		}
	}
}

// Contains reports whether a position keeps the limits of position; both ends
// belong to the range.
func (l Limits) Contains(position float64) bool {
	return (!l.Lower.Has || position >= l.Lower.Value) && (!l.Upper.Has || position <= l.Upper.Value)
}

// Image returns the range of ratio·x + offset for x within l.
func (l Limits) Image(ratio, offset float64) Limits {
	if ratio == 0 {
		point := Limit{Value: offset, Has: true}
		return Limits{Lower: point, Upper: point}
	}
	lower, upper := l.Lower, l.Upper
	lower.Value, upper.Value = ratio*lower.Value+offset, ratio*upper.Value+offset
	if ratio < 0 {
		lower, upper = upper, lower
	}
	return Limits{Lower: lower, Upper: upper}
}

// Range words the limits of position for a message.
func (l Limits) Range() string {
	end := func(x Limit, sign string) string {
		if !x.Has {
			return sign + "∞"
		}
		return fmt.Sprintf("%g", x.Value)
	}
	return end(l.Lower, "−") + " … " + end(l.Upper, "")
}

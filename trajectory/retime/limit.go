package retime

// Limit is a kind of limit that can hold a motion back.
type Limit uint8

// The kinds of limits.
const (
	None Limit = iota // nothing is used to the full
	Velocity
	Acceleration
	Deceleration
	Jerk
)

// String returns the word for the kind.
func (l Limit) String() string {
	return [...]string{"nothing", "velocity", "acceleration", "deceleration", "jerk"}[l]
}

// active is the share of a limit from which it counts as holding the motion back.
const active = 0.99

// binding is the limit that is used to the full on an interval, and whose it is;
// −1 with None.
type binding struct {
	Limit Limit
	Row   int
}

// Held returns what holds interval i back.
func (g *grid) Held(i int) binding {
	b := g.held[i]
	if b.Limit != Velocity {
		return b
	}
	// the row that comes closest to its velocity limit in the middle
	set, most := g.Set(g.Piece[i]), 0.0
	for r := range g.Rows {
		rate := g.Rate(i, r)
		if use := rate * rate * g.InvVel2[set+r]; use > most {
			most, b.Row = use, r
		}
	}
	return b
}

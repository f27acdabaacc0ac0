package trajectory

import "math"

// Tolerance says how far a joint may be from where it should be. A quantity that
// does not matter is +Inf.
type Tolerance struct {
	Position     float64 `json:"position"`
	Velocity     float64 `json:"velocity"`
	Acceleration float64 `json:"acceleration"`
}

// Free allows everything.
var Free = Tolerance{math.Inf(1), math.Inf(1), math.Inf(1)}

// Or reads t the way a goal states tolerances: zero means the default, a
// negative number means none.
func (t Tolerance) Or(standard Tolerance) Tolerance {
	return Tolerance{
		Position:     stated(t.Position, standard.Position),
		Velocity:     stated(t.Velocity, standard.Velocity),
		Acceleration: stated(t.Acceleration, standard.Acceleration),
	}
}

func stated(x, standard float64) float64 {
	switch {
	case x == 0:
		return standard
	case x < 0:
		return math.Inf(1)
	}
	return x
}

package trajectory

import (
	"math"

	"poise/trajectory/spline"
)

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

// Excess is the joint and quantity that leave their tolerance furthest, measured
// in tolerances.
type Excess struct {
	Joint      int
	Quantity   spline.Derivative
	Value, Max float64 // the distance and what was allowed
}

// Exceeds compares two states joint by joint and reports whether any quantity
// that both carry is further apart than its tolerance, and the worst. A distance
// that is not a number exceeds everything. Loop-safe.
func Exceeds(tol []Tolerance, want, got *Point) (worst Excess, over bool) {
	for j := range tol {
		max := [...]float64{tol[j].Position, tol[j].Velocity, tol[j].Acceleration}
		a := [...][]float64{want.Position, want.Velocity, want.Acceleration}
		b := [...][]float64{got.Position, got.Velocity, got.Acceleration}
		for k := range max {
			if a[k] == nil || b[k] == nil {
				continue
			}
			d := math.Abs(a[k][j] - b[k][j])
			if d <= max[k] || math.IsInf(max[k], 1) && !math.IsNaN(d) {
				continue
			}
			x := Excess{Joint: j, Quantity: spline.Derivative(k), Value: d, Max: max[k]}
			if !over || worse(x, worst) {
				worst, over = x, true
			}
		}
	}
	return worst, over
}

// worse compares excesses by how many tolerances they are.
func worse(a, b Excess) bool {
	switch {
	case math.IsNaN(b.Value):
		return false
	case math.IsNaN(a.Value):
		return true
	}
	return a.Value*b.Max > b.Value*a.Max
}

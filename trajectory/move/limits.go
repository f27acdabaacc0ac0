package move

import "math"

// State is where an axis is and how it moves: position, velocity, acceleration.
type State struct{ P, V, A float64 }

// Limits bound one axis. Each direction has its own velocity and acceleration;
// the jerk is the same up and down. math.Inf(1) and math.Inf(-1) mean that there
// is no such limit, but either the jerk or both accelerations must be bounded.
type Limits struct {
	VelMin, VelMax float64 // < 0, > 0
	AccMin, AccMax float64 // < 0, > 0
	Jerk           float64 // > 0; +Inf lets the acceleration jump
}

// Symmetric returns limits that are the same in both directions.
func Symmetric(vel, acc, jerk float64) Limits {
	return Limits{VelMin: -vel, VelMax: vel, AccMin: -acc, AccMax: acc, Jerk: jerk}
}

// oriented returns the limits as seen by an axis of which up is s.
func (l *Limits) oriented(s float64) (velMin, velMax, accMin, accMax float64) {
	if s > 0 {
		return l.VelMin, l.VelMax, l.AccMin, l.AccMax
	}
	return -l.VelMax, -l.VelMin, -l.AccMax, -l.AccMin
}

// grain widens a limit a little: what is over it by rounding is inside.
const grain = 1 + 1e-12

var inf = math.Inf(1)

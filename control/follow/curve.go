package follow

import (
	"math"

	"poise/trajectory"
	"poise/trajectory/spline"
)

// Curve returns the curve that a goal's points mean, of which there must be at
// least two: positions alone give the local cubic that rests at both ends and on
// holds, velocities a cubic, accelerations a quintic.
func Curve(points []trajectory.Point) (*spline.Spline, error) {
	s := stretchOf(points)
	return s.Curve()
}

// stretchOf returns points as they are played; it shares their numbers.
func stretchOf(points []trajectory.Point) (s Stretch) {
	for _, x := range points {
		s.Times, s.Q = append(s.Times, x.Time), append(s.Q, x.Position)
		if len(x.Velocity) > 0 {
			s.V = append(s.V, x.Velocity)
		}
		if len(x.Acceleration) > 0 {
			s.A = append(s.A, x.Acceleration)
		}
	}
	return s
}

// Unwrap takes the jumps out of a column of angles, in place: from each to the next it
// goes the short way. A column that leaves ±half a turn counts whole turns, and is left
// as it is. It is what Compile does with joints that turn without end.
func Unwrap(points []trajectory.Point, k int) {
	const half = math.Pi * (1 + 1e-9)
	for i := range points {
		if math.Abs(points[i].Position[k]) > half {
			return
		}
	}
	for i := 1; i < len(points); i++ {
		points[i].Position[k] = trajectory.Nearest(points[i].Position[k], points[i-1].Position[k])
	}
}

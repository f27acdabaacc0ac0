package follow

import (
	"fmt"
	"math"

	"poise/robot"
	"poise/trajectory"
	"poise/trajectory/spline"
)

// Curve returns the curve that the joints of a goal follow between its points, of
// which there must be at least two; its columns are the goal's without the supports.
// Positions alone give the local cubic that rests at both ends and on holds,
// velocities a cubic, accelerations a quintic. Continuous joints of the robot, which
// may be nil, go the short way from point to point, unless the points count turns.
func (g *Goal) Curve(m *robot.Model) (*spline.Spline, error) {
	if len(g.Points) < 2 {
		return nil, fmt.Errorf("follow: %d points have no curve, at least 2 are needed", len(g.Points))
	}
	columns, _ := g.Columns()
	t := trajectory.Trajectory{Joints: g.Moved()}
	for i, p := range g.Points {
		for _, row := range [][]float64{p.Position, p.Velocity, p.Acceleration} {
			if len(row) != len(g.Joints) && len(row) > 0 {
				return nil, fmt.Errorf("follow: point %d has %d numbers for %d columns", i, len(row), len(g.Joints))
			}
		}
		t.Points = append(t.Points, trajectory.Point{Time: p.Time, Position: picked(p.Position, columns), Velocity: picked(p.Velocity, columns), Acceleration: picked(p.Acceleration, columns)})
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	for k, name := range t.Joints {
		if m == nil {
			break
		}
		if id, ok := m.Joint(name); ok && m.Joints()[id].Kind == robot.Continuous {
			unwrap(t.Points, k)
		}
	}
	s := segmentOf(t.Points)
	return s.Curve()
}

// picked returns some columns of a row, nil of an empty one.
func picked[T any](row []T, columns []int) []T {
	if len(row) == 0 {
		return nil
	}
	out := make([]T, len(columns))
	for i, k := range columns {
		out[i] = row[k]
	}
	return out
}

// segmentOf returns points as they are played; it shares their numbers.
func segmentOf(points []trajectory.Point) (s Segment) {
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

// unwrap takes the jumps out of a column of angles, in place: from each to the next it
// goes the short way. A column that leaves ±half a turn counts whole turns, and is left
// as it is.
func unwrap(points []trajectory.Point, k int) {
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

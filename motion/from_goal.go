package motion

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"poise/control/follow"
	"poise/robot"
	"poise/trajectory"
	"poise/trajectory/spline"
)

// keyDeviation is how far a stored motion may be from the trajectory that it was
// made of, rad or m.
const keyDeviation = 1e-3

// FromGoal makes a stored motion of a trajectory. Its rows capture all joints of the
// robot, those that it does not move in a pose. Dense samples are thinned to the key
// points that give the same motion within a milliradian; if the curve through them
// would pass limits that the samples keep, it is stored a little slower, and its
// description says so.
func FromGoal(m *robot.Model, g *follow.Goal, pose []float64) (*Document, error) {
	d := &Document{Loop: g.Loop, GoalTimeTolerance: g.GoalTime}
	for _, j := range m.Joints() {
		d.Columns = append(d.Columns, j.Name)
	}
	var chains []int // columns of the goal
	for c, name := range g.Joints {
		if chain, ok := strings.CutPrefix(name, follow.SupportPrefix); ok {
			d.Chains = append(d.Chains, chain)
			chains = append(chains, c)
			continue
		}
		d.Joints = append(d.Joints, Joint{Name: name, Enabled: true, Path: stated(g.Path, name), Goal: stated(g.Final, name)})
	}
	d.Order = slices.Clone(g.Joints)
	rows, speed, err := thinned(m, g)
	if err != nil {
		return nil, err
	}
	if speed < 1 {
		d.Description = fmt.Sprintf("at %.3g %% of its speed", 100*speed)
	}
	for _, i := range rows {
		p := Point{Time: g.Points[i].Time / speed, Enabled: true, Positions: slices.Clone(pose)}
		for len(p.Positions) < len(d.Columns) {
			p.Positions = append(p.Positions, math.NaN())
		}
		for c, name := range g.Joints {
			if id, ok := m.Joint(name); ok {
				p.Positions[id] = g.Points[i].Position[c]
			}
		}
		for _, c := range chains {
			p.Supports = append(p.Supports, g.Points[i].Position[c])
		}
		d.Points = append(d.Points, p)
	}
	for _, ev := range g.Events {
		ev.Time /= speed
		d.Events = append(d.Events, ev)
	}
	return d, d.Check()
}

func stated(all []follow.Tolerance, joint string) *trajectory.Tolerance {
	for _, t := range all {
		if t.Joint == joint {
			return &t.Tolerance
		}
	}
	return nil
}

// What a stored motion may cost to be small: rows are added until it keeps almost
// the speed of its trajectory, or there are many of them. It is a table of positions,
// whose curve never has the accelerations of the trajectory exactly.
const (
	fewRows  = 4
	manyRows = 60
	almost   = 0.9
)

// thinned returns which points a stored motion needs, and the share of its speed at
// which it keeps the limits of the joints. A table of positions is its own. Of dense
// samples even ones are taken, since the slopes of a local cubic are best there, and
// with them its accelerations; points at which a support changes stay as well.
func thinned(m *robot.Model, g *follow.Goal) (rows []int, speed float64, err error) {
	n := len(g.Points)
	if n < 3 || len(g.Points[0].Velocity) == 0 {
		return even(n, n), 1, nil
	}
	for count := fewRows; ; count += 1 + count/4 {
		some := union(even(n, count), stepsOf(g))
		curve, off, err := through(g, some)
		if err != nil {
			return nil, 0, err
		}
		last := len(some) == n || count > manyRows
		if at := keeps(m, g.Moved(), curve); at > speed && (off <= keyDeviation || last && rows == nil) {
			rows, speed = some, at
		}
		if speed >= almost || last {
			return rows, speed, nil
		}
	}
}

// even picks some of n points, evenly, both ends among them.
func even(n, count int) (rows []int) {
	count = min(count, n)
	for i := range count {
		rows = append(rows, i*(n-1)/max(count-1, 1))
	}
	return rows
}

// stepsOf returns the points at which a support changes: they are never left out.
func stepsOf(g *follow.Goal) (rows []int) {
	_, supports := g.Columns()
	for i := 1; i < len(g.Points); i++ {
		if slices.ContainsFunc(supports, func(k int) bool { return g.Points[i].Position[k] != g.Points[i-1].Position[k] }) {
			rows = append(rows, i)
		}
	}
	return rows
}

// union returns the numbers of both lists, each once, in order.
func union(a, b []int) []int {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// keeps returns the share of its speed at which a curve keeps the limits of joints.
func keeps(m *robot.Model, joints []string, curve *spline.Spline) float64 {
	const slack, margin = 1e-6, 0.999
	speed := 1.0
	for _, v := range LimitsOf(m, joints).Violations(curve, slack) {
		switch v.Quantity {
		case spline.Velocity:
			speed = min(speed, margin/v.Ratio())
		case spline.Acceleration:
			speed = min(speed, margin*math.Sqrt(1/v.Ratio()))
		}
	}
	return speed
}

// through returns the curve of positions through some points of a goal, and how far it
// is from the others.
func through(g *follow.Goal, rows []int) (curve *spline.Spline, off float64, err error) {
	some := follow.Goal{Joints: g.Joints}
	for _, i := range rows {
		some.Points = append(some.Points, trajectory.Point{Time: g.Points[i].Time, Position: g.Points[i].Position})
	}
	if curve, err = some.Curve(nil); err != nil {
		return nil, 0, err
	}
	columns, _ := g.Columns()
	q := make([]float64, len(columns))
	for _, p := range g.Points {
		curve.PositionTo(q, p.Time)
		for j, k := range columns {
			off = max(off, math.Abs(q[j]-p.Position[k]))
		}
	}
	return curve, off, nil
}

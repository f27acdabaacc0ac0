package executive

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"poise/control/follow"
	"poise/motion"
	"poise/robot"
	"poise/trajectory"
	"poise/trajectory/spline"
)

// keyDeviation is how far a stored motion may be from the trajectory that it was
// made of, rad or m.
const keyDeviation = 1e-3

// documentOf makes a stored motion of a trajectory. Its rows capture all joints of the
// robot, those that it does not move in a pose. Dense samples are thinned to the key
// points that give the same motion within a milliradian; if the curve through them
// would pass limits that the samples keep, it is stored a little slower, and its
// description says so.
func documentOf(m *robot.Model, g *follow.Goal, pose []float64) (*motion.Document, error) {
	d := &motion.Document{Loop: g.Loop, GoalTimeTolerance: g.GoalTime}
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
		d.Joints = append(d.Joints, motion.Joint{Name: name, Enabled: true, Path: stated(g.Path, name), Goal: stated(g.Final, name)})
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
		p := motion.Point{Time: g.Points[i].Time / speed, Enabled: true, Positions: slices.Clone(pose)}
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
// samples even ones are taken: the slopes of a local cubic are best there, and with
// them its accelerations.
func thinned(m *robot.Model, g *follow.Goal) (rows []int, speed float64, err error) {
	n := len(g.Points)
	if n < 3 || len(g.Points[0].Velocity) == 0 {
		return even(n, n), 1, nil
	}
	for count := fewRows; ; count += 1 + count/4 {
		some := even(n, count)
		curve, off, err := through(g, some)
		if err != nil {
			return nil, 0, err
		}
		last := len(some) == n || count > manyRows
		if at := keeps(m, g.Joints, curve); at > speed && (off <= keyDeviation || last && rows == nil) {
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

// keeps returns the share of its speed at which a curve keeps the limits of joints.
func keeps(m *robot.Model, joints []string, curve *spline.Spline) float64 {
	const slack, margin = 1e-6, 0.999
	n := len(joints)
	limits := trajectory.Limits{Velocity: make([]float64, n), Acceleration: make([]float64, n), Deceleration: make([]float64, n)}
	or := func(l robot.Limit, absent float64) float64 {
		if l.Has {
			return math.Abs(l.Value)
		}
		return absent
	}
	for k, name := range joints {
		limits.Velocity[k], limits.Acceleration[k], limits.Deceleration[k] = math.Inf(1), math.Inf(1), math.Inf(1)
		if id, ok := m.Joint(name); ok {
			l := &m.Joints()[id].Limits
			limits.Velocity[k], limits.Acceleration[k] = or(l.Velocity, math.Inf(1)), or(l.Acceleration, math.Inf(1))
			limits.Deceleration[k] = or(l.Deceleration, limits.Acceleration[k])
		}
	}
	speed := 1.0
	for _, v := range limits.Violations(curve, slack) {
		switch v.Quantity {
		case spline.Velocity:
			speed = min(speed, margin/v.Ratio())
		case spline.Acceleration:
			speed = min(speed, margin*math.Sqrt(1/v.Ratio()))
		}
	}
	return speed
}

// through returns the curve through some points of a goal, and how far it is from
// the others.
func through(g *follow.Goal, rows []int) (curve *spline.Spline, off float64, err error) {
	t := &trajectory.Trajectory{}
	for _, i := range rows {
		t.Points = append(t.Points, trajectory.Point{Time: g.Points[i].Time, Position: g.Points[i].Position})
	}
	if curve, err = t.Interpolant(); err != nil {
		return nil, 0, err
	}
	q := make([]float64, len(g.Points[0].Position))
	for i := range g.Points {
		curve.PositionTo(q, g.Points[i].Time)
		for c := range q {
			off = max(off, math.Abs(q[c]-g.Points[i].Position[c]))
		}
	}
	return curve, off, nil
}

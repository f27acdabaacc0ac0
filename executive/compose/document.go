package compose

import (
	"math"
	"slices"
	"strings"

	"poise/control/follow"
	"poise/motion"
	"poise/robot"
	"poise/trajectory"
)

// keyDeviation is how far a stored motion may be from the trajectory that it was
// made of, rad or m.
const keyDeviation = 1e-3

// Document makes a stored motion of a trajectory. Its rows capture all joints of the
// robot, those that it does not move in a pose; dense samples are thinned to the key points that give the same motion
// within a milliradian.
func Document(m *robot.Model, g *follow.Goal, pose []float64) (*motion.Document, error) {
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
	rows, err := keyRows(g)
	if err != nil {
		return nil, err
	}
	for _, i := range rows {
		p := motion.Point{Time: g.Points[i].Time, Enabled: true, Positions: slices.Clone(pose)}
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
		d.Events = append(d.Events, motion.Event(ev))
	}
	return d, d.Check()
}

func stated(all []follow.Tolerance, joint string) *motion.Tolerance {
	for _, t := range all {
		if t.Joint == joint {
			return &motion.Tolerance{Position: t.Position, Velocity: t.Velocity, Acceleration: t.Acceleration}
		}
	}
	return nil
}

// keyRows returns which points a stored motion needs. A table of positions is its
// own; of one with velocities, points are taken where the curve through those
// taken before is furthest from it, until none is far.
func keyRows(g *follow.Goal) ([]int, error) {
	points := g.Points
	all := make([]int, len(points))
	for i := range all {
		all[i] = i
	}
	if len(points) < 3 || len(points[0].Velocity) == 0 {
		return all, nil
	}
	rows := []int{0, len(points) - 1}
	for len(rows) < len(points) {
		t := &trajectory.Trajectory{}
		for _, i := range rows {
			t.Points = append(t.Points, trajectory.Point{Time: points[i].Time, Position: points[i].Position})
		}
		curve, err := t.Interpolant()
		if err != nil {
			return nil, err
		}
		worst, at := 0.0, -1
		q := make([]float64, len(points[0].Position))
		for i := range points {
			curve.PositionTo(q, points[i].Time)
			for c := range q {
				if off := math.Abs(q[c] - points[i].Position[c]); off > worst {
					worst, at = off, i
				}
			}
		}
		if worst <= keyDeviation {
			break
		}
		rows = append(rows, at)
		slices.Sort(rows)
	}
	return rows, nil
}

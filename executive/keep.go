package executive

import (
	"math"
	"slices"
	"strings"

	"poise/control/follow"
	"poise/motion"
	"poise/planner"
	"poise/robot"
	"poise/servo"
	"poise/trajectory"
)

// Kept is the last trajectory that was received or planned: it can be stored as a
// motion.
type Kept struct {
	Source string // "follow", "execute", "plan", "move" or "sequence"
	Tick   servo.Tick
	Goal   follow.Goal
	Pose   []float64 // of each joint of the robot, when it came
}

// Last returns the last trajectory that was received or planned.
func (e *Executive) Last() (k Kept, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last == nil {
		return Kept{}, false
	}
	return *e.last, true
}

func (v *view) keep(source string, g *follow.Goal) {
	goal := *g
	goal.Begin = 0
	v.kept = &Kept{Source: source, Goal: goal, Tick: v.snap.Tick, Pose: v.snap.Command.Q}
}

func (v *view) keepMotions(source string, motions []*planner.Motion) {
	if len(motions) > 0 {
		g := joined(v.e.model, motions)
		v.keep(source, &g)
	}
}

// keyDeviation is how far a stored motion may be from the trajectory that it was
// made of, rad or m.
const keyDeviation = 1e-3

// Document makes a stored motion of the trajectory. Its rows capture all joints of
// the robot; dense samples are thinned to the key points that give the same motion
// within a milliradian.
func (k *Kept) Document(m *robot.Model) (*motion.Document, error) {
	g := &k.Goal
	d := &motion.Document{Description: "kept from " + k.Source, Loop: g.Loop, GoalTimeTolerance: g.GoalTime}
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
	rows, err := k.keyRows()
	if err != nil {
		return nil, err
	}
	for _, i := range rows {
		p := motion.Point{Time: g.Points[i].Time, Enabled: true, Positions: slices.Clone(k.Pose)}
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
func (k *Kept) keyRows() ([]int, error) {
	points := k.Goal.Points
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

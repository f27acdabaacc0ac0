package motion

import (
	"fmt"
	"slices"

	"poise/control/follow"
	"poise/motion/forces"
	"poise/problem"
	"poise/robot"
)

// Rest returns where a joint of a robot is that the motion does not move: as its first enabled
// row captured it, as the start pose has it, else as the first of the robot's poses that has it.
// Known is false if it is only the value within its range that is nearest to zero.
func (d *Document) Rest(m *robot.Model, id robot.JointID) (q float64, known bool) {
	joint := m.Joints()[id]
	if row := slices.IndexFunc(d.Points, func(p Point) bool { return p.Enabled }); row >= 0 {
		if v, captured := d.Captured(row, joint.Name); captured {
			return v, true
		}
	}
	poses := m.Poses()
	if pose, ok := m.Pose(d.StartPose); ok {
		poses = append([]robot.NamedPose{*pose}, poses...)
	}
	for _, p := range poses {
		if i := slices.Index(p.Joints, id); i >= 0 && len(p.Q[i]) == 1 {
			return p.Q[i][0], true
		}
	}
	if l := joint.Limits; l.Lower.Has && l.Upper.Has {
		q = min(max(0, l.Lower.Value), l.Upper.Value)
	}
	return q, false
}

// Stance returns how a robot is while it plays a goal of the document.
func (d *Document) Stance(g *follow.Goal, m *robot.Model) (*forces.Stance, error) {
	return forces.NewStance(g, m, func(id robot.JointID) (float64, bool) { return d.Rest(m, id) })
}

// maxForces is at how many times forces are told at most: each has several numbers for each joint.
const maxForces = 5000

// Forces returns what a goal of the document asks of a robot at times that rise.
func (d *Document) Forces(g *follow.Goal, m *robot.Model, times []float64) (*forces.Samples, error) {
	if len(times) > maxForces {
		return nil, &problem.Problem{Code: ErrOperation, Value: float64(len(times)), Limit: maxForces,
			Text: fmt.Sprintf("forces at %d times: at most %d, with a longer period", len(times), maxForces)}
	}
	s, err := d.Stance(g, m)
	if err != nil {
		return nil, err
	}
	return s.Sample(times)
}

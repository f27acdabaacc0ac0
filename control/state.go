package control

import (
	"errors"

	"poise/robot"
	"poise/trajectory/move"
)

// ErrUnfit is matched by errors.Is when a controller has nothing to do on a robot:
// no legs to stand on, no eyes to look with.
var ErrUnfit = errors.New("does not fit the robot")

// State returns where a joint's command is and how it moves. Loop-safe.
func (m *Motion) State(joint int) move.State {
	return move.State{P: m.Q[joint], V: m.V[joint], A: m.A[joint]}
}

// JointLeaves returns the leaves of a robot's first n joints: all of them, if it
// has n. Joints come first among the leaves.
func JointLeaves(n int) (s robot.Set) {
	for j := range n {
		s = s.With(robot.LeafID(j))
	}
	return s
}

// At returns a reason that is about a joint, a value and its bound.
func (c Code) At(joint robot.JointID, value, bound float64) Reason {
	r := Because(c)
	r.Joint, r.Value, r.Max = joint, value, bound
	return r
}

package executive

import (
	"poise/control"
	"poise/loop"
	"poise/problem"
	"poise/spatial"
)

// SetBase says where the base of the robot is: odometry goes on from there, of the
// measurement and, unless a controller owns the base, of the command.
func (e *Executive) SetBase(who string, X_WB spatial.Pose, unit bool) *Answer {
	const what = "set odometry"
	return e.ask(func() *Answer {
		if !unit || !X_WB.P.Finite() {
			return e.refuse(who, what, *problem.New("bad_pose", "the pose has a number that is not finite, or an orientation without length").With("orientations are quaternions of length 1"))
		}
		settled := func(*loop.Snapshot) (Outcome, bool) { return Outcome{}, true }
		return e.command(&command{who: who, what: what, settled: settled}, loop.Order{Kind: loop.SetBase, Program: &control.BasePlacement{Pose: X_WB}})
	})
}

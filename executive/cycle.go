package executive

import (
	"fmt"
	"strings"

	"poise/control"
	"poise/loop"
	"poise/problem"
)

// SetCycle chooses by which cycle of motion control resources are driven, all of them without
// names: 0 by positions alone, 1 with the torques that the motion needs, 2 by the whole body, which is
// of all of it. It is taken over gradually.
func (e *Executive) SetCycle(who string, number int, resources []string) *Answer {
	what := fmt.Sprintf("cycle %d", number)
	if len(resources) > 0 {
		what += ": " + strings.Join(resources, ", ")
	}
	return e.ask(func() *Answer {
		joints := control.JointLeaves(len(e.model.Joints()))
		if len(resources) > 0 {
			set, unknown := e.words.Set(resources)
			if len(unknown) > 0 {
				return e.refuse(who, what, unknown...)
			}
			if joints = set.Intersect(joints); joints.Empty() {
				return e.refuse(who, what, *problem.New("no_joints", "%s: nothing of it has a cycle", strings.Join(resources, ", ")).With("name limbs or joints"))
			}
		}
		if number < 0 || number > control.LastCycle {
			return e.refuse(who, what, *problem.New("unknown_cycle", "there is no cycle %d", number).With("there are cycles 0 to %d", control.LastCycle))
		}
		if all := control.JointLeaves(len(e.model.Joints())); number == 2 && !joints.Contains(all) {
			return e.refuse(who, what, *problem.New("whole_robot_only", "cycle 2 is of the whole robot, not of %s alone", strings.Join(resources, ", ")).With("name no resources"))
		}
		if number == 2 && !e.model.Floating() {
			return e.refuse(who, what, *problem.New("no_whole_body", "cycle 2 balances a robot on its feet, and the base of %s is fixed", e.model.Name()).With("choose cycle 1"))
		}
		settled := func(*loop.Snapshot) (Outcome, bool) { return Outcome{Value: float64(number)}, true }
		return e.command(&command{who: who, what: what, settled: settled}, loop.Order{Kind: loop.SetCycle, Program: &control.Cycle{Number: number, Joints: joints}})
	})
}

package server

import (
	"fmt"
	"time"

	"poise/action"
	"poise/edge"
	"poise/executive"
	"poise/loop"
	"poise/msgs"
	"poise/planner"
	"poise/planner/pipeline"
	"poise/robot"
)

// What clients of ROS's own controllers ask for beside actions of trajectories: a topic of
// them, and the command of a gripper.

// serveTrajectories takes trajectories from a topic, as joint_trajectory_controller does: each
// is a goal whose end is not told, a newer one replaces it, and one without points
// calls off what the topic has started.
func (bot *servedRobot) serveTrajectories(r *register) {
	const name = "joint_trajectory"
	goals := r.exec.Goals(name)
	reader := &executiveGoals{goals: goals, action: edge.FollowJointTrajectory, model: r.model, explained: r.explained}
	listen(r, name, every, nil, func(from string, v *msgs.JointTrajectory) {
		if len(v.Points) == 0 && len(v.JointNames) == 0 {
			goals.Cancel(from, "", 0)
			return
		}
		settled := make(chan struct{}, 1)
		_, err := goals.Submit(from, "", action.Time(v.Header.Stamp.Nanos()), reader.read(&msgs.FollowJointTrajectoryGoal{Trajectory: *v}), executive.Watch{
			Feedback: func(executive.Feedback) {},
			Changed: func(c executive.Change) {
				if !c.To.Waiting() {
					select {
					case settled <- struct{}{}:
					default: // it was before
					}
				}
				change := reader.change(&c)
				if x := edge.GoalExplained(&c, change.Explanations); x != nil {
					r.explained(x)
				}
				if c.To.Terminal() && c.To != action.Succeeded {
					bot.s.log.Warn("a trajectory of the topic was not played to its end", "robot", bot.name, "client", from, "state", c.To, "why", change.Text)
				}
			},
		})
		if err != nil {
			bot.s.log.Warn("a trajectory of the topic is refused", "robot", bot.name, "client", from, "why", err)
			return
		}
		select { // one after the other: a flood of them waits in the queue, and loses the oldest
		case <-settled:
		case <-time.After(settleWithin):
		}
	})
}

// settleWithin is how long the next trajectory of the topic waits at most until one is begun or refused.
const settleWithin = 50 * time.Millisecond

// gripper is what gripper_cmd moves: the one joint of an end effector's group.
type gripper struct {
	exec  *executive.Executive
	group string
	joint robot.JointID
	name  string // of the joint
}

// gripperOf finds the gripper of a robot: the only end effector of its SRDF whose group has
// one joint (others of it follow that one). Of several none is meant by the name alone.
func gripperOf(m *robot.Model) (group string, joint robot.JointID, found bool) {
	for _, e := range m.EndEffectors() {
		id, ok := m.Group(e.Group)
		if !ok || len(m.Groups()[id].Joints) != 1 {
			continue
		}
		if found {
			return "", robot.NoJoint, false
		}
		group, joint, found = e.Group, m.Groups()[id].Joints[0], true
	}
	return group, joint, found
}

// serveGripper serves gripper_cmd of a robot that has a gripper.
func (bot *servedRobot) serveGripper(r *register) {
	group, joint, found := gripperOf(bot.model)
	if !found {
		return
	}
	g := &gripper{exec: bot.exec, group: group, joint: joint, name: bot.model.Joints()[joint].Name}
	r.addAction("gripper_cmd", edge.Translation[msgs.GripperCommandGoal, msgs.GripperCommandFeedback, msgs.GripperCommandResult]{
		Goal: g.goal,
		Feedback: func(*executive.Feedback) *msgs.GripperCommandFeedback {
			now := msgs.GripperCommandFeedback(g.now())
			return &now
		},
		Result: func(_ *robot.Model, r *executive.Result) msgs.GripperCommandResult {
			now := msgs.GripperCommandResult(g.now())
			now.ReachedGoal, now.Stalled = r.Code == "ok", r.Code == "goal_missed"
			return now
		},
		Help: otherStart,
	})
}

// goal plans a move of the joint to the position. max_effort does not matter, as with ROS's
// own position controllers: the joint's own limit of effort holds.
func (g *gripper) goal(_ *robot.Model, m *msgs.GripperCommandGoal) (executive.Goal, error) {
	if m.Command.MaxEffort < 0 {
		return nil, fmt.Errorf("command.max_effort is %g: it cannot be below 0", m.Command.MaxEffort)
	}
	return &executive.Move{Question: pipeline.Question{Items: []planner.Item{{Request: planner.Request{
		Command: planner.PTP, CommandName: "PTP", Group: g.group, VelocityScaling: 1, AccelerationScaling: 1,
		Goals: []planner.Goal{{Joints: []planner.JointGoal{{Joint: g.name, Position: m.Command.Position}}}},
	}}}}}, nil
}

// now returns where the gripper is. A robot that does not measure is where it is told to be.
func (g *gripper) now() (s msgs.GripperState) {
	g.exec.View(func(now *loop.Snapshot) {
		s.Position = now.Measured.Q[g.joint]
		if int(g.joint) < len(now.Measured.Effort) {
			s.Effort = now.Measured.Effort[g.joint]
		}
	})
	return s
}

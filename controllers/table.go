package controllers

import (
	"poise/control"
	"poise/control/follow"
	"poise/control/hold"
	"poise/control/lookat"
	"poise/control/pose"
	"poise/control/stance"
	"poise/control/step"
	"poise/control/stream"
	"poise/control/swing"
	"poise/control/torqueoff"
	"poise/edge"
	"poise/robot"
)

// Declaration is one row: a controller as people know it.
type Declaration struct {
	Name string       // under which it runs; further seats are called NAME_2, NAME_3 …
	Kind control.Kind // how it is made, and how its programs are read

	// Seats is how many of it run side by side, each on other joints. One with none
	// is not served: it exists for tests and recordings.
	Seats int

	Pending     float32 // priority while it asks for resources
	Operational float32 // priority once it has them

	// Operate makes the program that a controller performs while it is switched on,
	// on some leaves of a robot. Nil is for one that is not switched on and off but
	// given goals.
	Operate func(m *robot.Model, set robot.Set) (control.Program, error)
	// Resources names what Operate works on where its client does not say; nil is
	// everything.
	Resources func(m *robot.Model) []string

	// Actions are those whose goals it performs; the first is meant where its name
	// stands for one.
	Actions []Action

	// Streams are the topics that lead it.
	Streams []Stream

	// Outside makes its seats those of controllers outside the process.
	Outside bool
	// Supports tells that it knows which feet stand; while no such controller is
	// active the cycle finds out.
	Supports bool
}

// Action is an action under its name on the graph.
type Action struct {
	Name string
	edge.Action
}

// Priorities: what people do by hand wins over what was asked for, which wins over
// what goes on by itself.
const (
	byHand     = 90
	asked      = 50
	streamed   = 40
	background = 20
)

// Table lists all controllers.
var Table = []Declaration{
	{Name: "trajectory", Kind: follow.Kind, Seats: 4, Pending: asked, Operational: asked, Supports: true,
		Actions: []Action{{"follow_joint_trajectory", edge.FollowJointTrajectory}, {"follow_joint_trajectory_with_actions", edge.FollowJointTrajectoryWithActions},
			{"play_motion", edge.PlayMotion}, {"execute_motion", edge.ExecuteMotion}, {"execute_trajectory", edge.ExecuteTrajectory}}},
	{Name: "pose", Kind: pose.Kind, Seats: 1, Pending: asked, Operational: asked, Supports: true,
		Actions: []Action{{"go_to_pose", edge.GoToPose}}},
	{Name: "joint_state", Kind: stream.Kind, Seats: 1, Pending: streamed, Operational: streamed, Operate: stream.OperateWanted,
		Streams: []Stream{StreamOf("ref_joints", edge.JointSample, "joints_ref")}},
	{Name: "remote", Kind: stream.Kind, Seats: 4, Pending: streamed, Operational: streamed, Operate: stream.OperateNeeded, Outside: true,
		Streams: []Stream{StreamOf("ref_joints", edge.JointSample)}},
	{Name: "hold", Kind: hold.Kind, Seats: 1, Pending: background, Operational: background, Operate: hold.Operate},
	{Name: "torque_off", Kind: torqueoff.Kind, Seats: 1, Pending: byHand, Operational: byHand, Operate: torqueoff.Operate},
	{Name: "stance", Kind: stance.Kind, Seats: 1, Pending: background, Operational: background, Operate: stance.Operate, Resources: stance.Resources, Supports: true,
		Streams: []Stream{StreamOf("target", edge.StanceTarget)}},
	{Name: "look_at", Kind: lookat.Kind, Seats: 1, Pending: background, Operational: background, Operate: lookat.Operate, Resources: lookat.Resources, Supports: true,
		Streams: []Stream{StreamOf("target", edge.LookTarget)}},
	{Name: "step", Kind: step.Kind, Seats: 1, Pending: asked, Operational: asked, Supports: true,
		Actions: []Action{{"follow_step_sequence", edge.FollowStepSequence}}},
	{Name: "swing", Kind: swing.Kind},
}

// Find returns a declaration by the name of its controller.
func Find(name string) (*Declaration, bool) {
	for i := range Table {
		if Table[i].Name == name {
			return &Table[i], true
		}
	}
	return nil, false
}

// Kinds lists the kinds of all controllers, each once, in the order of the table.
func Kinds() (all []control.Kind) {
	seen := map[string]bool{}
	for _, d := range Table {
		if !seen[d.Kind.Name] {
			seen[d.Kind.Name] = true
			all = append(all, d.Kind)
		}
	}
	return all
}

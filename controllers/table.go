package controllers

import (
	"poise/control"
	"poise/control/excite"
	"poise/control/follow"
	"poise/control/getup"
	"poise/control/hold"
	"poise/control/lookat"
	"poise/control/pose"
	"poise/control/stance"
	"poise/control/step"
	"poise/control/stream"
	"poise/control/swing"
	"poise/control/torqueoff"
	"poise/control/walk"
	"poise/edge"
	"poise/robot"
)

// Declaration is one row: a controller as people know it.
type Declaration struct {
	Name string       // under which it runs; further seats are called NAME_2, NAME_3 …
	Kind control.Kind // how it is made, and how its programs are read

	// Seats is how many places it has: so many of it run side by side, each on other
	// joints. One without is not served: it exists for tests and recordings.
	Seats int

	Pending     float32 // priority while it asks for resources
	Operational float32 // priority once it has them

	// Actions are those whose goals it performs; the first is meant where its name
	// stands for one.
	Actions []Action

	// Operate is nil for a controller that is not switched on and off.
	Operate *Operation

	// Streams are the topics that lead it.
	Streams []Stream

	// Outside makes its seats those of external controllers.
	Outside bool
	// KeepsBalance tells that it keeps the robot on its feet by itself: stored motions of other limbs play
	// beside it, whatever pose they begin in.
	KeepsBalance bool
	// Replaces tells that its goals take joints from goals of other such controllers, the newer from the older.
	Replaces bool
	// Supports tells that it knows which feet stand; while no such controller is
	// active the cycle finds out.
	Supports bool
}

// Short says what it does, for people: a kind of which several rows are made, such as stream,
// says less of each than what the row does while it is switched on.
func (d *Declaration) Short() string {
	if d.Operate != nil && d.Operate.Short != "" {
		return d.Operate.Short
	}
	return d.Kind.Short
}

// Action is an action under its name on the graph.
type Action struct {
	Name  string
	Short string // what it does, for the documentation
	edge.Action
}

// Operation is what a controller does while it is switched on.
type Operation struct {
	Short string // what it does; names of the graph stand in backticks, for the documentation

	// Program makes what it performs on some leaves of a robot.
	Program func(m *robot.Model, set robot.Set) (control.Program, error)

	// Resources names what it works on where its client does not say; nil is
	// everything.
	Resources func(m *robot.Model) []string
}

// Priorities: what people do by hand wins over what was asked for, which wins over
// what goes on by itself. Legs that walk are not taken by a motion: it would fall.
const (
	byHand     = 90
	walking    = 60
	asked      = 50
	streamed   = 40
	background = 20
)

// What leads a controller beside joints.
var (
	refLimbs = StreamOf("ref_limbs_cartesian", "where tips of limbs are to be, by their chains, and the base by its link: inverse kinematics makes joints of it in the cycle; "+
		"`frame_id` is `world` (or empty) or the root link, a twist is that of the tip's origin in the axes of that frame", edge.LimbSample)
	refSupport = StreamOf("ref_support", "which limbs carry, 0 … 1, and with which contact", edge.SupportSample)
	refEyes    = StreamOf("ref_eyes", "joints of eyes, and typed outputs such as `eye_screens` by their names", edge.EyesSample)
)

// Table lists all controllers.
var Table = []Declaration{
	{Name: "trajectory", Kind: follow.Kind, Seats: 4, Pending: asked, Operational: asked, Replaces: true, Supports: true,
		Actions: []Action{
			{"follow_joint_trajectory", "plays a trajectory ([trajectories.md](trajectories.md))", edge.FollowJointTrajectory},
			{"follow_joint_trajectory_with_actions", "the same, with text commands that leave on the way", edge.FollowJointTrajectoryWithActions},
			{"play_motion", "plays a stored motion; options: `approach`, `return`, `loop`, `part`, `backward`, `speed=0.5`, `resume` (after a stop or a pause)", edge.PlayMotion},
			{"execute_motion", "plays a motion as it is being edited, or a stored one: which part, how fast, in which direction, and how its start is reached", edge.ExecuteMotion},
			{"execute_trajectory", "performs what was planned", edge.ExecuteTrajectory},
		}},
	{Name: "pose", Kind: pose.Kind, Seats: 1, Pending: asked, Operational: asked, Replaces: true, Supports: true,
		Actions: []Action{{"go_to_pose", "goes to a named pose; option: `resume`", edge.GoToPose}}},
	{Name: "joint_state", Kind: stream.Kind, Seats: 1, Pending: streamed, Operational: streamed,
		Operate: &Operation{Short: "follows `joints_ref` with some resources until it is called off; feedback is what it owns", Program: stream.OperateWanted},
		Streams: []Stream{StreamOf("ref_joints", "joint positions to follow, with velocities and efforts if it has them; the newest counts", edge.JointSample, "joints_ref"),
			StreamOf("ref_joints_accel", "the same with accelerations", edge.AccelSample), refLimbs, refSupport, refEyes}},
	{Name: "remote", Kind: stream.Kind, Seats: 6, Pending: streamed, Operational: streamed, Outside: true,
		Operate: &Operation{Short: "follows what an external controller sends", Program: stream.OperateNeeded},
		Streams: []Stream{StreamOf("ref_joints", "joint positions to follow, with velocities and efforts if it has them", edge.JointSample),
			StreamOf("ref_joints_accel", "the same with accelerations", edge.AccelSample), refLimbs, refSupport, refEyes}},
	{Name: "follow_arm", Kind: stream.Kind, Seats: 1, Pending: streamed, Operational: streamed,
		Operate: &Operation{Short: "follows the measured joints of the robot that `leader` names, within its limits: one arm is led by hand, the other does as it does", Program: stream.OperateWanted},
		Streams: []Stream{StreamOf("ref_joints", "joint positions to follow where no robot leads", edge.JointSample)}},
	{Name: "hold", Kind: hold.Kind, Seats: 1, Pending: background, Operational: background,
		Operate: &Operation{Short: "keeps resources where they are", Program: hold.Operate}},
	{Name: "torque_off", Kind: torqueoff.Kind, Seats: 1, Pending: byHand, Operational: byHand,
		Operate: &Operation{Short: "lets limbs go, to be posed by hand", Program: torqueoff.Operate}},
	{Name: "stance", Kind: stance.Kind, Seats: 1, Pending: background, Operational: background, Supports: true,
		Operate: &Operation{Short: "stands on its feet and moves the body", Program: stance.Operate, Resources: stance.Resources},
		Streams: []Stream{StreamOf("target", "where the body goes over its feet, in the `world`; with the root link as frame, relative to where it stood when it began", edge.StanceTarget)}},
	{Name: "look_at", Kind: lookat.Kind, Seats: 1, Pending: background, Operational: background, Supports: true,
		Operate: &Operation{Short: "looks at a point with eyes and head, straight on until it has one", Program: lookat.Operate, Resources: lookat.Resources},
		Streams: []Stream{StreamOf("target", "what eyes and head look at; `frame_id` is `world` (or empty) or the root link", edge.LookTarget)}},
	{Name: "step", Kind: step.Kind, Seats: 1, Pending: asked, Operational: asked, Replaces: true, Supports: true,
		Actions: []Action{{"follow_step_sequence", "Cartesian steps of limbs and base, with contacts; limbs by the name of their chain", edge.FollowStepSequence}}},
	{Name: "walk", Kind: walk.Kind, Seats: 1, Pending: asked, Operational: walking, Supports: true, KeepsBalance: true,
		Actions: []Action{{"walk_to", "walks to a place, or by footsteps given one by one, and stands there; feedback is the way that is left", edge.WalkTo}},
		Operate: &Operation{Short: "stands, and walks as `cmd_vel` says", Program: walk.Operate, Resources: walk.Resources},
		Streams: []Stream{StreamOf("cmd_vel", "how the body is to move: m/s ahead (`linear.x`) and to the left (`linear.y`), rad/s to the left (`angular.z`); it counts for half a second", edge.WalkVelocity, "cmd_vel"),
			StreamOf("gait", "`crawl`, `amble`, `trot` or `in_place`; empty chooses by speed", edge.WalkGait),
			StreamOf("parameters", "period, duty, lift, speed and order of a gait, walked with from one of the next steps on; what is zero or empty is as robot.yaml or the geometry has it", edge.WalkParameters),
			StreamOf("ground", "boxes of the `world` that are known, such as stairs: feet are put on them or beside them, never on an edge; no boxes is flat ground", edge.WalkGround)}},
	{Name: "get_up", Kind: getup.Kind, Seats: 1, Pending: asked, Operational: asked,
		Actions: []Action{{"get_up", "brings a robot that lies back on its feet; `command` says how it lies: `left`, `right` or `belly`; empty is as its inertial unit tells", edge.GetUp}}},
	{Name: "servo_ident", Kind: excite.Kind, Seats: 1, Pending: asked, Operational: asked,
		Actions: []Action{{"servo_ident", "finds the parameters of servos by moving them ([identification.md](identification.md))", edge.ServoIdent}}},
	{Name: "swing", Kind: swing.Kind},
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

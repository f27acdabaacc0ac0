package edge

import (
	"fmt"
	"strings"

	"poise/control/follow"
	"poise/executive"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/problem"
	"poise/servo"
	"poise/trajectory"
)

// Stamp returns the time of a tick as a message.
func Stamp(t servo.Tick) msgs.Time { return msgs.TimeOf(t.Stamp) }

// Header returns the header of a message made at a tick.
func Header(t servo.Tick, frame string) msgs.Header {
	return msgs.Header{Seq: uint32(t.N), Stamp: Stamp(t), FrameID: frame}
}

// Trajectory returns the points of a message, and the time at which its clock is to
// be at zero, ns since the epoch; 0 is when it starts. A point's effort has no
// meaning to a position servo and is refused.
func Trajectory(m *msgs.JointTrajectory) (points []trajectory.Point, stamp int64, err error) {
	for i := range m.Points {
		p := &m.Points[i]
		if len(p.Effort) > 0 {
			return nil, 0, fmt.Errorf("trajectory.points[%d].effort has %d values: efforts cannot be followed", i, len(p.Effort))
		}
		points = append(points, trajectory.Point{Time: p.TimeFromStart.Seconds(),
			Position: p.Positions, Velocity: p.Velocities, Acceleration: p.Accelerations})
	}
	return points, m.Header.Stamp.Nanos(), nil
}

// FollowGoal converts a goal of FollowJointTrajectory.
func FollowGoal(m *msgs.FollowJointTrajectoryGoal) (*executive.Follow, error) {
	switch {
	case len(m.MultiDOFTrajectory.Points) > 0 || len(m.MultiDOFTrajectory.JointNames) > 0:
		return nil, fmt.Errorf("multi_dof_trajectory has %d points: only joints of one coordinate can be followed", len(m.MultiDOFTrajectory.Points))
	case len(m.ComponentPathTolerance) > 0:
		return nil, fmt.Errorf("component_path_tolerance has %d entries: only joints of one coordinate can be followed", len(m.ComponentPathTolerance))
	case len(m.ComponentGoalTolerance) > 0:
		return nil, fmt.Errorf("component_goal_tolerance has %d entries: only joints of one coordinate can be followed", len(m.ComponentGoalTolerance))
	}
	return followGoal(&m.Trajectory, m.PathTolerance, m.GoalTolerance, m.GoalTimeTolerance, nil)
}

// FollowGoalWithActions converts a goal with text commands.
func FollowGoalWithActions(m *msgs.FollowJointTrajectoryWithActionsGoal) (*executive.Follow, error) {
	return followGoal(&m.Trajectory, m.PathTolerance, m.GoalTolerance, m.GoalTimeTolerance, m.Actions)
}

func followGoal(t *msgs.JointTrajectory, path, final []msgs.JointTolerance, late msgs.Duration, actions []msgs.TextCommandStamped) (*executive.Follow, error) {
	points, stamp, err := Trajectory(t)
	if err != nil {
		return nil, err
	}
	g := &executive.Follow{Stamp: stamp, Goal: follow.Goal{
		Joints: t.JointNames, Points: points, Path: tolerances(path), Final: tolerances(final), GoalTime: late.Seconds(),
	}}
	for _, a := range actions {
		g.Goal.Events = append(g.Goal.Events, follow.Event{Time: a.TimeFromStart.Seconds(),
			Type: a.Command.Type, Command: a.Command.Command, Options: a.Command.Options})
	}
	return g, nil
}

func tolerances(all []msgs.JointTolerance) (out []follow.Tolerance) {
	for _, t := range all {
		out = append(out, follow.Tolerance{Joint: t.Name, Tolerance: trajectory.Tolerance{Position: t.Position, Velocity: t.Velocity, Acceleration: t.Acceleration}})
	}
	return out
}

// GoalMessage converts a goal to the message that a client would send.
func GoalMessage(f *follow.Goal) *msgs.FollowJointTrajectoryWithActionsGoal {
	g := &msgs.FollowJointTrajectoryWithActionsGoal{GoalTimeTolerance: msgs.DurationFromSeconds(f.GoalTime)}
	g.Trajectory.JointNames = f.Joints
	for _, p := range f.Points {
		g.Trajectory.Points = append(g.Trajectory.Points, msgs.JointTrajectoryPoint{TimeFromStart: msgs.DurationFromSeconds(p.Time),
			Positions: p.Position, Velocities: p.Velocity, Accelerations: p.Acceleration})
	}
	named := func(all []follow.Tolerance) (out []msgs.JointTolerance) {
		for _, t := range all {
			out = append(out, msgs.JointTolerance{Name: t.Joint, Position: t.Position, Velocity: t.Velocity, Acceleration: t.Acceleration})
		}
		return out
	}
	g.PathTolerance, g.GoalTolerance = named(f.Path), named(f.Final)
	for _, e := range f.Events {
		g.Actions = append(g.Actions, msgs.TextCommandStamped{TimeFromStart: msgs.DurationFromSeconds(e.Time),
			Command: msgs.TextCommand{Type: e.Type, Command: e.Command, Options: e.Options}})
	}
	return g
}

// followCodes are the error codes of control_msgs; what has none is an invalid goal.
var followCodes = map[string]int32{
	"ok":               msgs.FollowSuccessful,
	"unknown_joint":    msgs.FollowInvalidJoints,
	"not_granted":      msgs.FollowInvalidJoints,
	"resource_lost":    msgs.FollowInvalidJoints,
	"too_old":          msgs.FollowOldHeaderTimestamp,
	"start_too_far":    msgs.FollowPathToleranceViolated,
	"goal_missed":      msgs.FollowGoalToleranceViolated,
	"tolerance_broken": msgs.FollowPathToleranceViolated,
}

// FollowCode returns the error code and the text of a result.
func FollowCode(r *executive.Result) (code int32, text string) {
	code, known := followCodes[r.Code]
	if !known {
		code = msgs.FollowInvalidGoal
	}
	return code, r.Text()
}

// FollowFeedback converts feedback to that of FollowJointTrajectory.
func FollowFeedback(f *executive.Feedback) *msgs.FollowJointTrajectoryFeedback {
	desired, actual, off := feedbackPoints(f)
	return &msgs.FollowJointTrajectoryFeedback{Header: Header(f.Tick, ""), JointNames: f.Joints, Desired: desired, Actual: actual, Error: off}
}

// FollowFeedbackWithActions is the same for goals with text commands.
func FollowFeedbackWithActions(f *executive.Feedback) *msgs.FollowJointTrajectoryWithActionsFeedback {
	desired, actual, off := feedbackPoints(f)
	return &msgs.FollowJointTrajectoryWithActionsFeedback{Header: Header(f.Tick, ""), JointNames: f.Joints, Desired: desired, Actual: actual, Error: off}
}

func feedbackPoints(f *executive.Feedback) (desired, actual, off msgs.JointTrajectoryPoint) {
	at := msgs.DurationFromSeconds(f.Time)
	desired = msgs.JointTrajectoryPoint{Positions: f.Desired, Velocities: f.DesiredSpeed, TimeFromStart: at}
	actual = msgs.JointTrajectoryPoint{Positions: f.Actual, Velocities: f.ActualSpeed, TimeFromStart: at}
	return desired, actual, msgs.JointTrajectoryPoint{Positions: f.Error, TimeFromStart: at}
}

// StatusText returns the progress of a goal in one line.
func StatusText(f *executive.Feedback) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %.2f", f.Phase, f.Time)
	if f.Duration > 0 {
		fmt.Fprintf(&b, "/%.2f", f.Duration)
	}
	b.WriteString(" s")
	if f.Rate != 1 {
		fmt.Fprintf(&b, " at %.0f %%", 100*f.Rate)
	}
	for _, e := range f.Events {
		fmt.Fprintf(&b, "; event %s %s", e.Type, e.Command)
	}
	return b.String()
}

// Explanations converts problems to messages.
func Explanations(all []problem.Problem) (out []poisemsgs.Explanation) {
	for _, x := range all {
		out = append(out, poisemsgs.Explanation{Code: string(x.Code), Text: x.WithoutHelp(), Joint: x.Joint, Resource: x.Resource,
			Owner: x.Owner, Help: x.Help, At: x.At, Value: x.Value, Limit: x.Limit})
	}
	return out
}

// EventMessage converts an event to a message.
func EventMessage(e executive.Event) *poisemsgs.Event {
	return &poisemsgs.Event{Header: Header(e.Tick, ""), Goal: string(e.Goal.ID), Motion: e.Motion, Controller: e.Controller, Time: e.Time,
		Command: msgs.TextCommand{Type: e.Type, Command: e.Command, Options: e.Options}}
}

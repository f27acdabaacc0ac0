package edge

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"poise/control/follow"
	"poise/executive"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/problem"
	"poise/robot"
)

// ServerSource signs what a server says about plans and trajectories.
const ServerSource = "poise serve"

// elsewhere is what helps a client whose trajectory does not begin where the robot is.
var elsewhere = map[problem.Code]string{"start_too_far": "begin the trajectory where joint_states says that the robot is, leave its point at time 0 out " +
	"to begin wherever that is, or widen path_tolerance of the joint"}

// FollowJointTrajectory plays a trajectory.
var FollowJointTrajectory = Translation[msgs.FollowJointTrajectoryGoal, msgs.FollowJointTrajectoryFeedback, msgs.FollowJointTrajectoryResult]{
	Goal: func(_ *robot.Model, g *msgs.FollowJointTrajectoryGoal) (executive.Goal, error) {
		return goalOr(FollowGoal(g))
	},
	Feedback: FollowFeedback,
	Result: func(_ *robot.Model, r *executive.Result) msgs.FollowJointTrajectoryResult {
		code, text := FollowCode(r)
		return msgs.FollowJointTrajectoryResult{ErrorCode: code, ErrorString: text}
	},
	Help: elsewhere,
}

// FollowJointTrajectoryWithActions plays a trajectory with its text actions.
var FollowJointTrajectoryWithActions = Translation[msgs.FollowJointTrajectoryWithActionsGoal, msgs.FollowJointTrajectoryWithActionsFeedback, msgs.FollowJointTrajectoryWithActionsResult]{
	Goal: func(_ *robot.Model, g *msgs.FollowJointTrajectoryWithActionsGoal) (executive.Goal, error) {
		return goalOr(FollowGoalWithActions(g))
	},
	Feedback: FollowFeedbackWithActions,
	Result: func(_ *robot.Model, r *executive.Result) msgs.FollowJointTrajectoryWithActionsResult {
		code, text := FollowCode(r)
		return msgs.FollowJointTrajectoryWithActionsResult{ErrorCode: code, ErrorString: text}
	},
	Help: elsewhere,
}

// PlayMotion plays a stored motion by name.
var PlayMotion = textAction(func(c msgs.TextCommand) (executive.Goal, error) {
	switch c.Type {
	case "", "motion", "motion/joint_trajectory":
	default:
		return nil, fmt.Errorf("command.type is %q, must be motion", c.Type)
	}
	p, why := executive.ParsePlay(c.Command, c.Options)
	if len(why) > 0 {
		errs := make([]error, len(why))
		for i, x := range why {
			errs[i] = x
		}
		return nil, errors.Join(errs...)
	}
	return p, nil
})

// GoToPose goes to a named pose.
var GoToPose = textAction(func(c msgs.TextCommand) (executive.Goal, error) {
	if c.Type != "" && c.Type != "pose" {
		return nil, fmt.Errorf("command.type is %q, must be pose", c.Type)
	}
	pose := &executive.Pose{Name: c.Command}
	if slices.Contains(strings.Fields(c.Options), "resume") {
		return executive.Resumed{Goal: pose}, nil
	}
	return pose, nil
})

// GetUp brings a robot that lies on its feet.
var GetUp = textAction(func(c msgs.TextCommand) (executive.Goal, error) {
	if c.Type != "" && c.Type != "get_up" {
		return nil, fmt.Errorf("command.type is %q, must be get_up", c.Type)
	}
	return &executive.GetUp{From: c.Command}, nil
})

// ExecuteMotion plays a part of a motion that need not be stored.
var ExecuteMotion = Translation[poisemsgs.ExecuteMotionGoal, poisemsgs.ExecuteMotionFeedback, poisemsgs.ExecuteMotionResult]{
	Goal: func(_ *robot.Model, g *poisemsgs.ExecuteMotionGoal) (executive.Goal, error) {
		return motionGoal(g)
	},
	Feedback: motionFeedback,
	Result: func(_ *robot.Model, r *executive.Result) poisemsgs.ExecuteMotionResult {
		return motionResult(r)
	},
}

// ExecuteTrajectory plays a trajectory that was planned elsewhere.
var ExecuteTrajectory = Translation[msgs.ExecuteTrajectoryGoal, msgs.ExecuteTrajectoryFeedback, msgs.ExecuteTrajectoryResult]{
	Goal: executeGoal,
	Feedback: func(f *executive.Feedback) *msgs.ExecuteTrajectoryFeedback {
		return &msgs.ExecuteTrajectoryFeedback{State: StatusText(f)}
	},
	Result: func(_ *robot.Model, r *executive.Result) msgs.ExecuteTrajectoryResult {
		return msgs.ExecuteTrajectoryResult{ErrorCode: ExecutionCode(r, ServerSource)}
	},
	Help: map[problem.Code]string{"start_too_far": "plan again from where the robot is, or bring it to the start of the plan first"},
}

// FollowStepSequence plays Cartesian steps.
var FollowStepSequence = Translation[poisemsgs.FollowStepSequenceGoal, poisemsgs.FollowStepSequenceFeedback, poisemsgs.FollowStepSequenceResult]{
	Goal: func(m *robot.Model, g *poisemsgs.FollowStepSequenceGoal) (executive.Goal, error) {
		return goalOr(StepGoal(m, g))
	},
	Feedback: stepFeedback,
	Result: func(m *robot.Model, r *executive.Result) poisemsgs.FollowStepSequenceResult {
		code, text := StepCode(m, r)
		return poisemsgs.FollowStepSequenceResult{ErrorCode: code, ErrorString: text}
	},
}

// SetOperational switches a controller on and off.
func SetOperational(controller string) Action {
	return Translation[msgs.SetOperationalGoal, msgs.SetOperationalFeedback, msgs.SetOperationalResult]{
		Goal: func(_ *robot.Model, g *msgs.SetOperationalGoal) (executive.Goal, error) {
			return &executive.Operational{Controller: controller, On: g.Operational, Resources: g.Resources}, nil
		},
		Feedback: func(f *executive.Feedback) *msgs.SetOperationalFeedback {
			return &msgs.SetOperationalFeedback{Resources: f.Resources}
		},
		Result: func(_ *robot.Model, r *executive.Result) msgs.SetOperationalResult {
			return msgs.SetOperationalResult{ErrorCode: operationalCode(r.Code), ErrorString: r.Text()}
		},
	}
}

// goalOr returns a goal, or the error without a typed nil beside it.
func goalOr[G executive.Goal](g G, err error) (executive.Goal, error) {
	if err != nil {
		return nil, err
	}
	return g, nil
}

func textAction(goal func(c msgs.TextCommand) (executive.Goal, error)) Action {
	return Translation[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]{
		Goal: func(_ *robot.Model, g *msgs.TextActionGoal) (executive.Goal, error) { return goal(g.Command) },
		Feedback: func(f *executive.Feedback) *msgs.TextActionFeedback {
			return &msgs.TextActionFeedback{Status: StatusText(f)}
		},
		Result: func(_ *robot.Model, r *executive.Result) msgs.TextActionResult {
			code, text := FollowCode(r)
			return msgs.TextActionResult{ErrorCode: code, ErrorString: text}
		},
	}
}

// executeGoal reads a trajectory that was planned elsewhere.
func executeGoal(_ *robot.Model, g *msgs.ExecuteTrajectoryGoal) (executive.Goal, error) {
	if n := len(g.Trajectory.MultiDOFJointTrajectory.Points); n > 0 {
		return nil, fmt.Errorf("trajectory.multi_dof_joint_trajectory has %d points: only joints of one coordinate can be followed", n)
	}
	if len(g.ControllerNames) > 0 {
		return nil, fmt.Errorf("controller_names %q: must be empty, the server chooses the controller of a trajectory", g.ControllerNames)
	}
	points, _, err := Trajectory(&g.Trajectory.JointTrajectory)
	if err != nil {
		return nil, err
	}
	return &executive.Execute{Goal: follow.Goal{Joints: g.Trajectory.JointTrajectory.JointNames, Points: points}}, nil
}

// operationalCode is how resource_control_msgs numbers the ends of a controller.
func operationalCode(code string) int32 {
	switch code {
	case "ok", "cancelled":
		return msgs.SetOperationalSuccessful
	case "invalid_goal", "unknown_resource", "no_resources", "invalid_resource_set":
		return msgs.SetOperationalBadResources
	case "not_running", "power_off", "stopping", "cycle_silent":
		return msgs.SetOperationalNotReady
	case "start_too_far", "not_granted", "unbalanced", "unreachable":
		return msgs.SetOperationalConditions
	}
	return msgs.SetOperationalExecutionError
}

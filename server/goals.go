package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"poise/control/follow"
	"poise/edge"
	"poise/executive"
	"poise/msgs"
	"poise/msgs/poisemsgs"
)

// elsewhere is what helps a client whose trajectory does not begin where the robot is.
var elsewhere = map[string]string{"start_too_far": "begin the trajectory where joint_states says that the robot is, leave its point at time 0 out " +
	"to begin wherever that is, or widen path_tolerance of the joint"}

// serveGoals registers what can be asked of the robot as a goal.
func (in *instance) serveGoals(r *register) {
	addAction(r, "follow_joint_trajectory", goalDialect[msgs.FollowJointTrajectoryGoal, msgs.FollowJointTrajectoryFeedback, msgs.FollowJointTrajectoryResult]{
		Goal: func(g *msgs.FollowJointTrajectoryGoal) (executive.Goal, error) {
			f, err := edge.FollowGoal(g)
			if err != nil {
				return nil, err
			}
			return f, nil
		},
		Feedback: edge.FollowFeedback,
		Result: func(r *executive.Result) msgs.FollowJointTrajectoryResult {
			code, text := edge.FollowCode(r)
			return msgs.FollowJointTrajectoryResult{ErrorCode: code, ErrorString: text}
		},
		Help: elsewhere,
	})
	addAction(r, "follow_joint_trajectory_with_actions", goalDialect[msgs.FollowJointTrajectoryWithActionsGoal, msgs.FollowJointTrajectoryWithActionsFeedback, msgs.FollowJointTrajectoryWithActionsResult]{
		Goal: func(g *msgs.FollowJointTrajectoryWithActionsGoal) (executive.Goal, error) {
			f, err := edge.FollowGoalWithActions(g)
			if err != nil {
				return nil, err
			}
			return f, nil
		},
		Feedback: edge.FollowFeedbackWithActions,
		Result: func(r *executive.Result) msgs.FollowJointTrajectoryWithActionsResult {
			code, text := edge.FollowCode(r)
			return msgs.FollowJointTrajectoryWithActionsResult{ErrorCode: code, ErrorString: text}
		},
		Help: elsewhere,
	})
	text := func(goal func(c msgs.TextCommand) (executive.Goal, error)) goalDialect[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult] {
		return goalDialect[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult]{
			Goal: func(g *msgs.TextActionGoal) (executive.Goal, error) { return goal(g.Command) },
			Feedback: func(f *executive.Feedback) *msgs.TextActionFeedback {
				return &msgs.TextActionFeedback{Status: edge.StatusText(f)}
			},
			Result: func(r *executive.Result) msgs.TextActionResult {
				code, text := edge.FollowCode(r)
				return msgs.TextActionResult{ErrorCode: code, ErrorString: text}
			},
		}
	}
	addAction(r, "play_motion", text(playGoal))
	addAction(r, "go_to_pose", text(func(c msgs.TextCommand) (executive.Goal, error) {
		if c.Type != "" && c.Type != "pose" {
			return nil, fmt.Errorf("command.type is %q: only pose is understood here", c.Type)
		}
		pose := &executive.Pose{Name: c.Command}
		if slices.Contains(strings.Fields(c.Options), "resume") {
			return executive.Resumed{Goal: pose}, nil
		}
		return pose, nil
	}))
	addAction(r, "execute_motion", goalDialect[poisemsgs.ExecuteMotionGoal, poisemsgs.ExecuteMotionFeedback, poisemsgs.ExecuteMotionResult]{
		Goal:     edge.MotionGoal,
		Feedback: edge.MotionFeedback,
		Result:   edge.MotionResult,
	})
	addAction(r, "execute_trajectory", goalDialect[msgs.ExecuteTrajectoryGoal, msgs.ExecuteTrajectoryFeedback, msgs.ExecuteTrajectoryResult]{
		Goal: executeGoal,
		Feedback: func(f *executive.Feedback) *msgs.ExecuteTrajectoryFeedback {
			return &msgs.ExecuteTrajectoryFeedback{State: edge.StatusText(f)}
		},
		Result: func(r *executive.Result) msgs.ExecuteTrajectoryResult {
			return msgs.ExecuteTrajectoryResult{ErrorCode: edge.ExecutionCode(r, planSource)}
		},
		Help: map[string]string{"start_too_far": "plan again from where the robot is, or bring it to the start of the plan first"},
	})
	if _, ok := in.loop.Controller("step"); ok {
		addAction(r, "follow_step_sequence", goalDialect[poisemsgs.FollowStepSequenceGoal, poisemsgs.FollowStepSequenceFeedback, poisemsgs.FollowStepSequenceResult]{
			Goal: func(g *poisemsgs.FollowStepSequenceGoal) (executive.Goal, error) {
				s, err := edge.StepGoal(in.model, g)
				if err != nil {
					return nil, err
				}
				return s, nil
			},
			Feedback: edge.StepFeedback,
			Result: func(r *executive.Result) poisemsgs.FollowStepSequenceResult {
				code, text := edge.StepCode(in.model, r)
				return poisemsgs.FollowStepSequenceResult{ErrorCode: code, ErrorString: text}
			},
		})
	}
	for _, name := range in.switched {
		addAction(r, "controllers/"+name+"/set_operational", goalDialect[msgs.SetOperationalGoal, msgs.SetOperationalFeedback, msgs.SetOperationalResult]{
			Goal: func(g *msgs.SetOperationalGoal) (executive.Goal, error) {
				return &executive.Operational{Controller: name, On: g.Operational, Resources: g.Resources}, nil
			},
			Feedback: func(f *executive.Feedback) *msgs.SetOperationalFeedback {
				return &msgs.SetOperationalFeedback{Resources: f.Resources}
			},
			Result: func(r *executive.Result) msgs.SetOperationalResult {
				return msgs.SetOperationalResult{ErrorCode: operationalCode(r.Code), ErrorString: r.Text()}
			},
		})
	}
}

// playGoal reads a text command that plays a motion.
func playGoal(c msgs.TextCommand) (executive.Goal, error) {
	switch c.Type {
	case "", "motion", "motion/joint_trajectory":
	default:
		return nil, fmt.Errorf("command.type is %q: motion is understood here", c.Type)
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
}

// executeGoal reads a trajectory that was planned elsewhere.
func executeGoal(g *msgs.ExecuteTrajectoryGoal) (executive.Goal, error) {
	if n := len(g.Trajectory.MultiDOFJointTrajectory.Points); n > 0 {
		return nil, fmt.Errorf("trajectory.multi_dof_joint_trajectory has %d points: only joints of one coordinate can be followed", n)
	}
	if len(g.ControllerNames) > 0 {
		return nil, fmt.Errorf("controller_names %q: which controller plays a trajectory is decided here", g.ControllerNames)
	}
	points, _, err := edge.Trajectory(&g.Trajectory.JointTrajectory)
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

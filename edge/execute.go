package edge

import (
	"poise/control/follow"
	"poise/executive"
	"poise/msgs"
)

// executionCodes are MoveIt's error codes for ends of an execution.
var executionCodes = map[string]int32{
	"ok":            msgs.ErrorSuccess,
	"cancelled":     msgs.ErrorPreempted,
	"replaced":      msgs.ErrorPreempted,
	"start_too_far": msgs.ErrorInvalidRobotState,

	string(follow.UnknownJoint):       msgs.ErrorInvalidMotionPlan,
	string(follow.BeyondPosition):     msgs.ErrorInvalidMotionPlan,
	string(follow.BeyondVelocity):     msgs.ErrorInvalidMotionPlan,
	string(follow.BeyondAcceleration): msgs.ErrorInvalidMotionPlan,
	string(follow.NotRising):          msgs.ErrorInvalidMotionPlan,
	string(follow.NotFinite):          msgs.ErrorInvalidMotionPlan,
	string(follow.WrongSize):          msgs.ErrorInvalidMotionPlan,
	string(follow.NoPoints):           msgs.ErrorInvalidMotionPlan,
	"invalid_goal":                    msgs.ErrorInvalidMotionPlan,
}

// ExecutionCode returns how an execution ended as MoveIt's error code. A plan keeps the
// planner's code, unless its execution ended otherwise.
func ExecutionCode(r *executive.Result, source string) msgs.MoveItErrorCodes {
	val, known := executionCodes[r.Code]
	if r.Plan.Refusal != nil || val == msgs.ErrorSuccess && known && len(r.Plan.Motions) > 0 {
		return PlanCode(&r.Plan, source)
	}
	if !known {
		val = msgs.ErrorControlFailed
	}
	return msgs.MoveItErrorCodes{Val: val, Message: r.Text(), Source: source}
}

package msgs

// States of a controller in resource_control_msgs/ControllerState.
const (
	ControllerNonoperational     = 0
	ControllerPending            = 1
	ControllerOperational        = 2
	ControllerOperationalPending = 3
)

// Error codes of SetOperationalResult.
const (
	SetOperationalSuccessful     = 0
	SetOperationalNotReady       = -1
	SetOperationalBadResources   = -2
	SetOperationalConditions     = -3
	SetOperationalExecutionError = -4
)

// ResourceRequest is resource_control_msgs/ResourceRequest.
type ResourceRequest struct {
	RequesterName  string    `json:"requester_name"`
	RequestID      uint32    `json:"request_id"`
	Resources      []string  `json:"resources"`
	PriOperational []float32 `json:"pri_operational"`
	PriPending     []float32 `json:"pri_pending"`
}

// ResourceAssignment is resource_control_msgs/ResourceAssignment.
type ResourceAssignment struct {
	RequestIds []uint32 `json:"request_ids"`
	Resources  []string `json:"resources"`
	Owners     []string `json:"owners"`
}

// ResourceRequesterState is resource_control_msgs/ResourceRequesterState.
type ResourceRequesterState struct {
	RequesterName string `json:"requester_name"`
	RequestID     uint32 `json:"request_id"`
	IsOperational bool   `json:"is_operational"`
}

// ControllerState is resource_control_msgs/ControllerState.
type ControllerState struct {
	Name      []string `json:"name"`
	RequestID []uint32 `json:"request_id"`
	State     []uint8  `json:"state"`
}

// SetOperationalGoal is resource_control_msgs/SetOperational's goal.
type SetOperationalGoal struct {
	Operational bool     `json:"operational"`
	Resources   []string `json:"resources"`
}

// SetOperationalResult is resource_control_msgs/SetOperational's result.
type SetOperationalResult struct {
	ErrorCode   int32  `json:"error_code"`
	ErrorString string `json:"error_string"`
}

// SetOperationalFeedback is resource_control_msgs/SetOperational's feedback.
type SetOperationalFeedback struct {
	Resources []string `json:"resources"`
}

// TextCommand is text_msgs/TextCommand.
type TextCommand struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Options string `json:"options"`
}

// TextCommandStamped is text_msgs/TextCommandStamped.
type TextCommandStamped struct {
	TimeFromStart Duration    `json:"time_from_start"`
	Command       TextCommand `json:"command"`
}

// TextActionGoal is text_msgs/TextAction's goal.
type TextActionGoal struct {
	Command TextCommand `json:"command"`
}

// TextActionResult is text_msgs/TextAction's result.
type TextActionResult struct {
	ErrorCode   int32  `json:"error_code"`
	ErrorString string `json:"error_string"`
}

// TextActionFeedback is text_msgs/TextAction's feedback.
type TextActionFeedback struct {
	Status string `json:"status"`
}

// CompoundActionElement is text_msgs/CompoundActionElement.
type CompoundActionElement struct {
	SeqNum   int32       `json:"seq_num"`
	SeqDelay float64     `json:"seq_delay"`
	Cmd      TextCommand `json:"cmd"`
}

// CompoundAction is text_msgs/CompoundAction.
type CompoundAction struct {
	ActionList []CompoundActionElement `json:"action_list"`
}

// FollowJointTrajectoryWithActionsGoal is text_msgs/FollowJointTrajectoryWithActions's goal.
type FollowJointTrajectoryWithActionsGoal struct {
	Trajectory        JointTrajectory      `json:"trajectory"`
	PathTolerance     []JointTolerance     `json:"path_tolerance"`
	GoalTolerance     []JointTolerance     `json:"goal_tolerance"`
	GoalTimeTolerance Duration             `json:"goal_time_tolerance"`
	Actions           []TextCommandStamped `json:"actions"`
}

// FollowJointTrajectoryWithActionsResult is text_msgs/FollowJointTrajectoryWithActions's result.
type FollowJointTrajectoryWithActionsResult struct {
	ErrorCode   int32  `json:"error_code"`
	ErrorString string `json:"error_string"`
}

// FollowJointTrajectoryWithActionsFeedback is text_msgs/FollowJointTrajectoryWithActions's feedback.
type FollowJointTrajectoryWithActionsFeedback struct {
	Header     Header               `json:"header"`
	JointNames []string             `json:"joint_names"`
	Desired    JointTrajectoryPoint `json:"desired"`
	Actual     JointTrajectoryPoint `json:"actual"`
	Error      JointTrajectoryPoint `json:"error"`
}

// ServoModel is sweetie_bot_servo_model_msg/ServoModel: the 4-parameter model of one servo.
type ServoModel struct {
	Name  string     `json:"name"`
	Kp    float64    `json:"kp"`
	Kgear float64    `json:"kgear"`
	Alpha [4]float64 `json:"alpha"`
}

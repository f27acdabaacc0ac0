package msgs

// States of a goal in actionlib_msgs/GoalStatus.
const (
	GoalPending    = 0
	GoalActive     = 1
	GoalPreempted  = 2
	GoalSucceeded  = 3
	GoalAborted    = 4
	GoalRejected   = 5
	GoalPreempting = 6
	GoalRecalling  = 7
	GoalRecalled   = 8
	GoalLost       = 9
)

// States of a goal in action_msgs/GoalStatus.
const (
	StatusUnknown   = 0
	StatusAccepted  = 1
	StatusExecuting = 2
	StatusCanceling = 3
	StatusSucceeded = 4
	StatusCanceled  = 5
	StatusAborted   = 6
)

// ActionGoal is what a ROS 1 client publishes to send a goal.
type ActionGoal[G any] struct {
	Header Header `json:"header"`
	GoalID GoalID `json:"goal_id"`
	Goal   G      `json:"goal"`
}

// ActionResult is what a ROS 1 server publishes at a goal's end.
type ActionResult[R any] struct {
	Header Header     `json:"header"`
	Status GoalStatus `json:"status"`
	Result R          `json:"result"`
}

// ActionFeedback is what a ROS 1 server publishes on the way.
type ActionFeedback[F any] struct {
	Header   Header     `json:"header"`
	Status   GoalStatus `json:"status"`
	Feedback F          `json:"feedback"`
}

// Action is never sent: its md5 sum names the action.
type Action[G, F, R any] struct {
	ActionGoal     ActionGoal[G]     `json:"action_goal"`
	ActionResult   ActionResult[R]   `json:"action_result"`
	ActionFeedback ActionFeedback[F] `json:"action_feedback"`
}

// SendGoalRequest is how a ROS 2 client sends a goal.
type SendGoalRequest[G any] struct {
	GoalID UUID `json:"goal_id"`
	Goal   G    `json:"goal"`
}

// SendGoalResponse is whether it is taken.
type SendGoalResponse struct {
	Accepted bool `json:"accepted"`
	Stamp    Time `json:"stamp"`
}

// GetResultRequest is how a ROS 2 client asks for the result of a goal.
type GetResultRequest struct {
	GoalID UUID `json:"goal_id"`
}

// GetResultResponse is the result, at the goal's end.
type GetResultResponse[R any] struct {
	Status int8 `json:"status"`
	Result R    `json:"result"`
}

// FeedbackMessage is what a ROS 2 server publishes on the way.
type FeedbackMessage[F any] struct {
	GoalID   UUID `json:"goal_id"`
	Feedback F    `json:"feedback"`
}

// GoalID is actionlib_msgs/GoalID.
type GoalID struct {
	Stamp Time   `json:"stamp"`
	ID    string `json:"id"`
}

// GoalStatus is actionlib_msgs/GoalStatus.
type GoalStatus struct {
	GoalID GoalID `json:"goal_id"`
	Status uint8  `json:"status"`
	Text   string `json:"text"`
}

// GoalStatusArray is actionlib_msgs/GoalStatusArray.
type GoalStatusArray struct {
	Header     Header       `json:"header"`
	StatusList []GoalStatus `json:"status_list"`
}

// UUID is unique_identifier_msgs/UUID.
type UUID struct {
	Uuid [16]uint8 `json:"uuid"`
}

// GoalInfo is action_msgs/GoalInfo.
type GoalInfo struct {
	GoalID UUID `json:"goal_id"`
	Stamp  Time `json:"stamp"`
}

// ActionStatus is action_msgs/GoalStatus.
type ActionStatus struct {
	GoalInfo GoalInfo `json:"goal_info"`
	Status   int8     `json:"status"`
}

// ActionStatusArray is action_msgs/GoalStatusArray.
type ActionStatusArray struct {
	StatusList []ActionStatus `json:"status_list"`
}

// CancelGoalRequest is action_msgs/CancelGoal's request.
type CancelGoalRequest struct {
	GoalInfo GoalInfo `json:"goal_info"`
}

// CancelGoalResponse is action_msgs/CancelGoal's response.
type CancelGoalResponse struct {
	ReturnCode     int8       `json:"return_code"`
	GoalsCanceling []GoalInfo `json:"goals_canceling"`
}

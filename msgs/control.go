package msgs

// Error codes of FollowJointTrajectoryResult.
const (
	FollowSuccessful            = 0
	FollowInvalidGoal           = -1
	FollowInvalidJoints         = -2
	FollowOldHeaderTimestamp    = -3
	FollowPathToleranceViolated = -4
	FollowGoalToleranceViolated = -5
)

// JointTolerance is control_msgs/JointTolerance.
type JointTolerance struct {
	Name         string  `json:"name"`
	Position     float64 `json:"position"`
	Velocity     float64 `json:"velocity"`
	Acceleration float64 `json:"acceleration"`
}

// JointComponentTolerance is control_msgs/JointComponentTolerance.
type JointComponentTolerance struct {
	JointName    string  `json:"joint_name"`
	Component    uint16  `json:"component"`
	Position     float64 `json:"position"`
	Velocity     float64 `json:"velocity"`
	Acceleration float64 `json:"acceleration"`
}

// FollowJointTrajectoryGoal is control_msgs/FollowJointTrajectory's goal.
type FollowJointTrajectoryGoal struct {
	Trajectory             JointTrajectory           `json:"trajectory"`
	MultiDOFTrajectory     MultiDOFJointTrajectory   `json:"multi_dof_trajectory" form:"2"`
	PathTolerance          []JointTolerance          `json:"path_tolerance"`
	ComponentPathTolerance []JointComponentTolerance `json:"component_path_tolerance" form:"2"`
	GoalTolerance          []JointTolerance          `json:"goal_tolerance"`
	ComponentGoalTolerance []JointComponentTolerance `json:"component_goal_tolerance" form:"2"`
	GoalTimeTolerance      Duration                  `json:"goal_time_tolerance"`
}

// FollowJointTrajectoryResult is control_msgs/FollowJointTrajectory's result.
type FollowJointTrajectoryResult struct {
	ErrorCode   int32  `json:"error_code"`
	ErrorString string `json:"error_string"`
}

// FollowJointTrajectoryFeedback is control_msgs/FollowJointTrajectory's feedback.
type FollowJointTrajectoryFeedback struct {
	Header             Header                       `json:"header"`
	JointNames         []string                     `json:"joint_names"`
	Desired            JointTrajectoryPoint         `json:"desired"`
	Actual             JointTrajectoryPoint         `json:"actual"`
	Error              JointTrajectoryPoint         `json:"error"`
	Index              int32                        `json:"index" form:"2" since:"rolling"`
	MultiDOFJointNames []string                     `json:"multi_dof_joint_names" form:"2"`
	MultiDOFDesired    MultiDOFJointTrajectoryPoint `json:"multi_dof_desired" form:"2"`
	MultiDOFActual     MultiDOFJointTrajectoryPoint `json:"multi_dof_actual" form:"2"`
	MultiDOFError      MultiDOFJointTrajectoryPoint `json:"multi_dof_error" form:"2"`
	MultiDOFIndex      int32                        `json:"multi_dof_index" form:"2" since:"rolling"`
}

// GripperCommand is control_msgs/GripperCommand.
type GripperCommand struct {
	Position  float64 `json:"position"`
	MaxEffort float64 `json:"max_effort"`
}

// GripperCommandGoal is control_msgs/GripperCommand's goal, as an action.
type GripperCommandGoal struct {
	Command GripperCommand `json:"command"`
}

// GripperState is what the result and the feedback of control_msgs/GripperCommand tell.
type GripperState struct {
	Position    float64 `json:"position"`
	Effort      float64 `json:"effort"`
	Stalled     bool    `json:"stalled"`
	ReachedGoal bool    `json:"reached_goal"`
}

// GripperCommandResult is control_msgs/GripperCommand's result.
type GripperCommandResult GripperState

// GripperCommandFeedback is control_msgs/GripperCommand's feedback.
type GripperCommandFeedback GripperState

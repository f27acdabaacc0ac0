package msgs

// AllowedCollisionEntry is moveit_msgs/AllowedCollisionEntry.
type AllowedCollisionEntry struct {
	Enabled []bool `json:"enabled"`
}

// AllowedCollisionMatrix is moveit_msgs/AllowedCollisionMatrix.
type AllowedCollisionMatrix struct {
	EntryNames         []string                `json:"entry_names"`
	EntryValues        []AllowedCollisionEntry `json:"entry_values"`
	DefaultEntryNames  []string                `json:"default_entry_names"`
	DefaultEntryValues []bool                  `json:"default_entry_values"`
}

// LinkPadding is moveit_msgs/LinkPadding.
type LinkPadding struct {
	LinkName string  `json:"link_name"`
	Padding  float64 `json:"padding"`
}

// LinkScale is moveit_msgs/LinkScale.
type LinkScale struct {
	LinkName string  `json:"link_name"`
	Scale    float64 `json:"scale"`
}

// ObjectColor is moveit_msgs/ObjectColor.
type ObjectColor struct {
	ID    string    `json:"id"`
	Color ColorRGBA `json:"color"`
}

// Octomap is octomap_msgs/Octomap.
type Octomap struct {
	Header     Header  `json:"header"`
	Binary     bool    `json:"binary"`
	ID         string  `json:"id"`
	Resolution float64 `json:"resolution"`
	Data       []int8  `json:"data"`
}

// OctomapWithPose is octomap_msgs/OctomapWithPose.
type OctomapWithPose struct {
	Header  Header  `json:"header"`
	Origin  Pose    `json:"origin"`
	Octomap Octomap `json:"octomap"`
}

// PlanningSceneWorld is moveit_msgs/PlanningSceneWorld.
type PlanningSceneWorld struct {
	CollisionObjects []CollisionObject `json:"collision_objects"`
	Octomap          OctomapWithPose   `json:"octomap"`
}

// PlanningScene is moveit_msgs/PlanningScene.
type PlanningScene struct {
	Name                   string                 `json:"name"`
	RobotState             RobotState             `json:"robot_state"`
	RobotModelName         string                 `json:"robot_model_name"`
	FixedFrameTransforms   []TransformStamped     `json:"fixed_frame_transforms"`
	AllowedCollisionMatrix AllowedCollisionMatrix `json:"allowed_collision_matrix"`
	LinkPadding            []LinkPadding          `json:"link_padding"`
	LinkScale              []LinkScale            `json:"link_scale"`
	ObjectColors           []ObjectColor          `json:"object_colors"`
	World                  PlanningSceneWorld     `json:"world"`
	IsDiff                 bool                   `json:"is_diff"`
}

// PlanningOptions is moveit_msgs/PlanningOptions.
type PlanningOptions struct {
	PlanningSceneDiff    PlanningScene `json:"planning_scene_diff"`
	PlanOnly             bool          `json:"plan_only"`
	LookAround           bool          `json:"look_around"`
	LookAroundAttempts   int32         `json:"look_around_attempts"`
	MaxSafeExecutionCost float64       `json:"max_safe_execution_cost"`
	Replan               bool          `json:"replan"`
	ReplanAttempts       int32         `json:"replan_attempts"`
	ReplanDelay          float64       `json:"replan_delay"`
}

// MoveGroupGoal is moveit_msgs/MoveGroup's goal.
type MoveGroupGoal struct {
	Request         MotionPlanRequest `json:"request"`
	PlanningOptions PlanningOptions   `json:"planning_options"`
}

// MoveGroupResult is moveit_msgs/MoveGroup's result.
type MoveGroupResult struct {
	ErrorCode          MoveItErrorCodes `json:"error_code"`
	TrajectoryStart    RobotState       `json:"trajectory_start"`
	PlannedTrajectory  RobotTrajectory  `json:"planned_trajectory"`
	ExecutedTrajectory RobotTrajectory  `json:"executed_trajectory"`
	PlanningTime       float64          `json:"planning_time"`
}

// MoveGroupFeedback is moveit_msgs/MoveGroup's feedback.
type MoveGroupFeedback struct {
	State string `json:"state"`
}

// MoveGroupSequenceGoal is moveit_msgs/MoveGroupSequence's goal.
type MoveGroupSequenceGoal struct {
	Request         MotionSequenceRequest `json:"request"`
	PlanningOptions PlanningOptions       `json:"planning_options"`
}

// MoveGroupSequenceResult is moveit_msgs/MoveGroupSequence's result.
type MoveGroupSequenceResult struct {
	Response MotionSequenceResponse `json:"response"`
}

// MoveGroupSequenceFeedback is moveit_msgs/MoveGroupSequence's feedback.
type MoveGroupSequenceFeedback struct {
	State string `json:"state"`
}

// ExecuteTrajectoryGoal is moveit_msgs/ExecuteTrajectory's goal.
type ExecuteTrajectoryGoal struct {
	Trajectory      RobotTrajectory `json:"trajectory"`
	ControllerNames []string        `json:"controller_names" form:"2" since:"jazzy"`
}

// ExecuteTrajectoryResult is moveit_msgs/ExecuteTrajectory's result.
type ExecuteTrajectoryResult struct {
	ErrorCode MoveItErrorCodes `json:"error_code"`
}

// ExecuteTrajectoryFeedback is moveit_msgs/ExecuteTrajectory's feedback.
type ExecuteTrajectoryFeedback struct {
	State string `json:"state"`
}

// GetMotionPlanRequest is moveit_msgs/GetMotionPlan's request.
type GetMotionPlanRequest struct {
	MotionPlanRequest MotionPlanRequest `json:"motion_plan_request"`
}

// GetMotionPlanResponse is moveit_msgs/GetMotionPlan's response.
type GetMotionPlanResponse struct {
	MotionPlanResponse MotionPlanResponse `json:"motion_plan_response"`
}

// GetMotionSequenceRequest is moveit_msgs/GetMotionSequence's request.
type GetMotionSequenceRequest struct {
	Request MotionSequenceRequest `json:"request"`
}

// GetMotionSequenceResponse is moveit_msgs/GetMotionSequence's response.
type GetMotionSequenceResponse struct {
	Response MotionSequenceResponse `json:"response"`
}

// PositionIKRequest is moveit_msgs/PositionIKRequest.
type PositionIKRequest struct {
	GroupName         string        `json:"group_name"`
	RobotState        RobotState    `json:"robot_state"`
	Constraints       Constraints   `json:"constraints"`
	AvoidCollisions   bool          `json:"avoid_collisions"`
	IKLinkName        string        `json:"ik_link_name"`
	PoseStamped       PoseStamped   `json:"pose_stamped"`
	IKLinkNames       []string      `json:"ik_link_names"`
	PoseStampedVector []PoseStamped `json:"pose_stamped_vector"`
	Timeout           Duration      `json:"timeout"`
}

// GetPositionIKRequest is moveit_msgs/GetPositionIK's request.
type GetPositionIKRequest struct {
	IKRequest PositionIKRequest `json:"ik_request"`
}

// GetPositionIKResponse is moveit_msgs/GetPositionIK's response.
type GetPositionIKResponse struct {
	Solution  RobotState       `json:"solution"`
	ErrorCode MoveItErrorCodes `json:"error_code"`
}

// GetPositionFKRequest is moveit_msgs/GetPositionFK's request.
type GetPositionFKRequest struct {
	Header      Header     `json:"header"`
	FKLinkNames []string   `json:"fk_link_names"`
	RobotState  RobotState `json:"robot_state"`
}

// GetPositionFKResponse is moveit_msgs/GetPositionFK's response.
type GetPositionFKResponse struct {
	PoseStamped []PoseStamped    `json:"pose_stamped"`
	FKLinkNames []string         `json:"fk_link_names"`
	ErrorCode   MoveItErrorCodes `json:"error_code"`
}

// PlannerInterfaceDescription is moveit_msgs/PlannerInterfaceDescription.
type PlannerInterfaceDescription struct {
	Name       string   `json:"name"`
	PipelineID string   `json:"pipeline_id"`
	PlannerIds []string `json:"planner_ids"`
}

// QueryPlannerInterfacesRequest is moveit_msgs/QueryPlannerInterfaces's request.
type QueryPlannerInterfacesRequest struct{}

// QueryPlannerInterfacesResponse is moveit_msgs/QueryPlannerInterfaces's response.
type QueryPlannerInterfacesResponse struct {
	PlannerInterfaces []PlannerInterfaceDescription `json:"planner_interfaces"`
}

// PlanningSceneComponents is moveit_msgs/PlanningSceneComponents: which parts of a scene are asked for.
type PlanningSceneComponents struct {
	Components uint32 `json:"components"`
}

// GetPlanningSceneRequest is moveit_msgs/GetPlanningScene's request.
type GetPlanningSceneRequest struct {
	Components PlanningSceneComponents `json:"components"`
}

// GetPlanningSceneResponse is moveit_msgs/GetPlanningScene's response.
type GetPlanningSceneResponse struct {
	Scene PlanningScene `json:"scene"`
}

// ApplyPlanningSceneRequest is moveit_msgs/ApplyPlanningScene's request.
type ApplyPlanningSceneRequest struct {
	Scene PlanningScene `json:"scene"`
}

// ApplyPlanningSceneResponse is moveit_msgs/ApplyPlanningScene's response.
type ApplyPlanningSceneResponse struct {
	Success bool `json:"success"`
}

// PlannerParams is moveit_msgs/PlannerParams.
type PlannerParams struct {
	Keys         []string `json:"keys"`
	Values       []string `json:"values"`
	Descriptions []string `json:"descriptions"`
}

// GetPlannerParamsRequest is moveit_msgs/GetPlannerParams's request.
type GetPlannerParamsRequest struct {
	PipelineID    string `json:"pipeline_id"`
	PlannerConfig string `json:"planner_config"`
	Group         string `json:"group"`
}

// GetPlannerParamsResponse is moveit_msgs/GetPlannerParams's response.
type GetPlannerParamsResponse struct {
	Params PlannerParams `json:"params"`
}

// SetPlannerParamsRequest is moveit_msgs/SetPlannerParams's request.
type SetPlannerParamsRequest struct {
	PipelineID    string        `json:"pipeline_id"`
	PlannerConfig string        `json:"planner_config"`
	Group         string        `json:"group"`
	Params        PlannerParams `json:"params"`
	Replace       bool          `json:"replace"`
}

// SetPlannerParamsResponse is moveit_msgs/SetPlannerParams's response.
type SetPlannerParamsResponse struct{}

// GetCartesianPathRequest is moveit_msgs/GetCartesianPath's request.
type GetCartesianPathRequest struct {
	Header                       Header      `json:"header"`
	StartState                   RobotState  `json:"start_state"`
	GroupName                    string      `json:"group_name"`
	LinkName                     string      `json:"link_name"`
	Waypoints                    []Pose      `json:"waypoints"`
	MaxStep                      float64     `json:"max_step"`
	JumpThreshold                float64     `json:"jump_threshold"`
	PrismaticJumpThreshold       float64     `json:"prismatic_jump_threshold"`
	RevoluteJumpThreshold        float64     `json:"revolute_jump_threshold"`
	AvoidCollisions              bool        `json:"avoid_collisions"`
	PathConstraints              Constraints `json:"path_constraints"`
	MaxVelocityScalingFactor     float64     `json:"max_velocity_scaling_factor" form:"2" since:"jazzy"`
	MaxAccelerationScalingFactor float64     `json:"max_acceleration_scaling_factor" form:"2" since:"jazzy"`
	CartesianSpeedLimitedLink    string      `json:"cartesian_speed_limited_link"`
	MaxCartesianSpeed            float64     `json:"max_cartesian_speed"`
}

// GetCartesianPathResponse is moveit_msgs/GetCartesianPath's response.
type GetCartesianPathResponse struct {
	StartState RobotState       `json:"start_state"`
	Solution   RobotTrajectory  `json:"solution"`
	Fraction   float64          `json:"fraction"`
	ErrorCode  MoveItErrorCodes `json:"error_code"`
}

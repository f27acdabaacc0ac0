package msgs

// MotionPlanRequest is moveit_msgs/MotionPlanRequest.
type MotionPlanRequest struct {
	WorkspaceParameters          WorkspaceParameters   `json:"workspace_parameters"`
	StartState                   RobotState            `json:"start_state"`
	GoalConstraints              []Constraints         `json:"goal_constraints"`
	PathConstraints              Constraints           `json:"path_constraints"`
	TrajectoryConstraints        TrajectoryConstraints `json:"trajectory_constraints"`
	ReferenceTrajectories        []GenericTrajectory   `json:"reference_trajectories"`
	PipelineID                   string                `json:"pipeline_id"`
	PlannerID                    string                `json:"planner_id"`
	GroupName                    string                `json:"group_name"`
	NumPlanningAttempts          int32                 `json:"num_planning_attempts"`
	AllowedPlanningTime          float64               `json:"allowed_planning_time"`
	MaxVelocityScalingFactor     float64               `json:"max_velocity_scaling_factor"`
	MaxAccelerationScalingFactor float64               `json:"max_acceleration_scaling_factor"`
	CartesianSpeedLimitedLink    string                `json:"cartesian_speed_limited_link"`
	MaxCartesianSpeed            float64               `json:"max_cartesian_speed"`
	SmoothnessLevel              float64               `json:"smoothness_level" form:"2" since:"rolling"`
}

// MotionPlanResponse is moveit_msgs/MotionPlanResponse.
type MotionPlanResponse struct {
	TrajectoryStart RobotState       `json:"trajectory_start"`
	GroupName       string           `json:"group_name"`
	Trajectory      RobotTrajectory  `json:"trajectory"`
	PlanningTime    float64          `json:"planning_time"`
	ErrorCode       MoveItErrorCodes `json:"error_code"`
}

// MotionSequenceItem is moveit_msgs/MotionSequenceItem.
type MotionSequenceItem struct {
	Req         MotionPlanRequest `json:"req"`
	BlendRadius float64           `json:"blend_radius"`
}

// MotionSequenceRequest is moveit_msgs/MotionSequenceRequest.
type MotionSequenceRequest struct {
	Items []MotionSequenceItem `json:"items"`
}

// MotionSequenceResponse is moveit_msgs/MotionSequenceResponse.
type MotionSequenceResponse struct {
	ErrorCode           MoveItErrorCodes  `json:"error_code"`
	SequenceStart       RobotState        `json:"sequence_start"`
	PlannedTrajectories []RobotTrajectory `json:"planned_trajectories"`
	PlanningTime        float64           `json:"planning_time"`
}

// MoveItErrorCodes is moveit_msgs/MoveItErrorCodes.
type MoveItErrorCodes struct {
	Val     int32  `json:"val"`
	Message string `json:"message" form:"2" since:"jazzy"`
	Source  string `json:"source" form:"2" since:"jazzy"`
}

// The values of MoveItErrorCodes.
const (
	ErrorUndefined                                = 0
	ErrorSuccess                                  = 1
	ErrorFailure                                  = 99999
	ErrorPlanningFailed                           = -1
	ErrorInvalidMotionPlan                        = -2
	ErrorMotionPlanInvalidatedByEnvironmentChange = -3
	ErrorControlFailed                            = -4
	ErrorUnableToAcquireSensorData                = -5
	ErrorTimedOut                                 = -6
	ErrorPreempted                                = -7
	ErrorStartStateInCollision                    = -10
	ErrorStartStateViolatesPathConstraints        = -11
	ErrorGoalInCollision                          = -12
	ErrorGoalViolatesPathConstraints              = -13
	ErrorGoalConstraintsViolated                  = -14
	ErrorInvalidGroupName                         = -15
	ErrorInvalidGoalConstraints                   = -16
	ErrorInvalidRobotState                        = -17
	ErrorInvalidLinkName                          = -18
	ErrorInvalidObjectName                        = -19
	ErrorFrameTransformFailure                    = -21
	ErrorCollisionCheckingUnavailable             = -22
	ErrorRobotStateStale                          = -23
	ErrorSensorInfoStale                          = -24
	ErrorCommunicationFailure                     = -25
	ErrorStartStateInvalid                        = -26
	ErrorGoalStateInvalid                         = -27
	ErrorUnrecognizedGoalType                     = -28
	ErrorCrash                                    = -29
	ErrorAbort                                    = -30
	ErrorNoIKSolution                             = -31
)

// Constraints is moveit_msgs/Constraints.
type Constraints struct {
	Name                   string                  `json:"name"`
	JointConstraints       []JointConstraint       `json:"joint_constraints"`
	PositionConstraints    []PositionConstraint    `json:"position_constraints"`
	OrientationConstraints []OrientationConstraint `json:"orientation_constraints"`
	VisibilityConstraints  []VisibilityConstraint  `json:"visibility_constraints"`
}

// JointConstraint is moveit_msgs/JointConstraint.
type JointConstraint struct {
	JointName      string  `json:"joint_name"`
	Position       float64 `json:"position"`
	ToleranceAbove float64 `json:"tolerance_above"`
	ToleranceBelow float64 `json:"tolerance_below"`
	Weight         float64 `json:"weight"`
}

// PositionConstraint is moveit_msgs/PositionConstraint.
type PositionConstraint struct {
	Header            Header         `json:"header"`
	LinkName          string         `json:"link_name"`
	TargetPointOffset Vector3        `json:"target_point_offset"`
	ConstraintRegion  BoundingVolume `json:"constraint_region"`
	Weight            float64        `json:"weight"`
}

// BoundingVolume is moveit_msgs/BoundingVolume.
type BoundingVolume struct {
	Primitives     []SolidPrimitive `json:"primitives"`
	PrimitivePoses []Pose           `json:"primitive_poses"`
	Meshes         []Mesh           `json:"meshes"`
	MeshPoses      []Pose           `json:"mesh_poses"`
}

// OrientationConstraint is moveit_msgs/OrientationConstraint.
type OrientationConstraint struct {
	Header                 Header     `json:"header"`
	Orientation            Quaternion `json:"orientation"`
	LinkName               string     `json:"link_name"`
	AbsoluteXAxisTolerance float64    `json:"absolute_x_axis_tolerance"`
	AbsoluteYAxisTolerance float64    `json:"absolute_y_axis_tolerance"`
	AbsoluteZAxisTolerance float64    `json:"absolute_z_axis_tolerance"`
	Parameterization       uint8      `json:"parameterization"`
	Weight                 float64    `json:"weight"`
}

// VisibilityConstraint is moveit_msgs/VisibilityConstraint.
type VisibilityConstraint struct {
	TargetRadius        float64     `json:"target_radius"`
	TargetPose          PoseStamped `json:"target_pose"`
	ConeSides           int32       `json:"cone_sides"`
	SensorPose          PoseStamped `json:"sensor_pose"`
	MaxViewAngle        float64     `json:"max_view_angle"`
	MaxRangeAngle       float64     `json:"max_range_angle"`
	SensorViewDirection uint8       `json:"sensor_view_direction"`
	Weight              float64     `json:"weight"`
}

// TrajectoryConstraints is moveit_msgs/TrajectoryConstraints.
type TrajectoryConstraints struct {
	Constraints []Constraints `json:"constraints"`
}

// GenericTrajectory is moveit_msgs/GenericTrajectory.
type GenericTrajectory struct {
	Header              Header                `json:"header"`
	JointTrajectory     []JointTrajectory     `json:"joint_trajectory"`
	CartesianTrajectory []CartesianTrajectory `json:"cartesian_trajectory"`
}

// CartesianTrajectory is moveit_msgs/CartesianTrajectory.
type CartesianTrajectory struct {
	Header       Header                     `json:"header"`
	TrackedFrame string                     `json:"tracked_frame"`
	Points       []CartesianTrajectoryPoint `json:"points"`
}

// CartesianTrajectoryPoint is moveit_msgs/CartesianTrajectoryPoint.
type CartesianTrajectoryPoint struct {
	Point         CartesianPoint `json:"point"`
	TimeFromStart Duration       `json:"time_from_start"`
}

// CartesianPoint is moveit_msgs/CartesianPoint.
type CartesianPoint struct {
	Pose         Pose  `json:"pose"`
	Velocity     Twist `json:"velocity"`
	Acceleration Accel `json:"acceleration"`
}

// Accel is geometry_msgs/Accel.
type Accel struct {
	Linear  Vector3 `json:"linear"`
	Angular Vector3 `json:"angular"`
}

// WorkspaceParameters is moveit_msgs/WorkspaceParameters.
type WorkspaceParameters struct {
	Header    Header  `json:"header"`
	MinCorner Vector3 `json:"min_corner"`
	MaxCorner Vector3 `json:"max_corner"`
}

// RobotState is moveit_msgs/RobotState.
type RobotState struct {
	JointState               JointState                `json:"joint_state"`
	MultiDOFJointState       MultiDOFJointState        `json:"multi_dof_joint_state"`
	AttachedCollisionObjects []AttachedCollisionObject `json:"attached_collision_objects"`
	IsDiff                   bool                      `json:"is_diff"`
}

// AttachedCollisionObject is moveit_msgs/AttachedCollisionObject.
type AttachedCollisionObject struct {
	LinkName      string          `json:"link_name"`
	Object        CollisionObject `json:"object"`
	TouchLinks    []string        `json:"touch_links"`
	DetachPosture JointTrajectory `json:"detach_posture"`
	Weight        float64         `json:"weight"`
}

// CollisionObject is moveit_msgs/CollisionObject.
type CollisionObject struct {
	Header         Header           `json:"header"`
	Pose           Pose             `json:"pose"`
	ID             string           `json:"id"`
	Type           ObjectType       `json:"type"`
	Primitives     []SolidPrimitive `json:"primitives"`
	PrimitivePoses []Pose           `json:"primitive_poses"`
	Meshes         []Mesh           `json:"meshes"`
	MeshPoses      []Pose           `json:"mesh_poses"`
	Planes         []Plane          `json:"planes"`
	PlanePoses     []Pose           `json:"plane_poses"`
	SubframeNames  []string         `json:"subframe_names"`
	SubframePoses  []Pose           `json:"subframe_poses"`
	Operation      uint8            `json:"operation" ros:"byte"`
}

// ObjectType is object_recognition_msgs/ObjectType.
type ObjectType struct {
	Key string `json:"key"`
	DB  string `json:"db"`
}

// RobotTrajectory is moveit_msgs/RobotTrajectory.
type RobotTrajectory struct {
	JointTrajectory         JointTrajectory         `json:"joint_trajectory"`
	MultiDOFJointTrajectory MultiDOFJointTrajectory `json:"multi_dof_joint_trajectory"`
}

package registry

import "poise/msgs"

// moveit holds the messages of MoveIt and of what they are built from.
func moveit(b *builder) {
	message[msgs.ObjectType](b, "object_recognition_msgs/ObjectType")
	message[msgs.Octomap](b, "octomap_msgs/Octomap")
	message[msgs.OctomapWithPose](b, "octomap_msgs/OctomapWithPose")

	message[msgs.MoveItErrorCodes](b, "moveit_msgs/MoveItErrorCodes",
		"2:int32 UNDEFINED=0", "int32 SUCCESS=1", "int32 FAILURE=99999", "int32 PLANNING_FAILED=-1", "int32 INVALID_MOTION_PLAN=-2",
		"int32 MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE=-3", "int32 CONTROL_FAILED=-4",
		"int32 UNABLE_TO_AQUIRE_SENSOR_DATA=-5",
		"int32 TIMED_OUT=-6", "int32 PREEMPTED=-7",
		"int32 START_STATE_IN_COLLISION=-10", "int32 START_STATE_VIOLATES_PATH_CONSTRAINTS=-11", "int32 START_STATE_INVALID=-26",
		"int32 GOAL_IN_COLLISION=-12", "int32 GOAL_VIOLATES_PATH_CONSTRAINTS=-13", "int32 GOAL_CONSTRAINTS_VIOLATED=-14",
		"int32 GOAL_STATE_INVALID=-27", "int32 UNRECOGNIZED_GOAL_TYPE=-28",
		"int32 INVALID_GROUP_NAME=-15", "int32 INVALID_GOAL_CONSTRAINTS=-16", "int32 INVALID_ROBOT_STATE=-17",
		"int32 INVALID_LINK_NAME=-18", "int32 INVALID_OBJECT_NAME=-19",
		"int32 FRAME_TRANSFORM_FAILURE=-21", "int32 COLLISION_CHECKING_UNAVAILABLE=-22", "int32 ROBOT_STATE_STALE=-23",
		"int32 SENSOR_INFO_STALE=-24", "int32 COMMUNICATION_FAILURE=-25", "int32 CRASH=-29", "int32 ABORT=-30",
		"int32 NO_IK_SOLUTION=-31")
	message[msgs.JointConstraint](b, "moveit_msgs/JointConstraint")
	message[msgs.BoundingVolume](b, "moveit_msgs/BoundingVolume")
	message[msgs.PositionConstraint](b, "moveit_msgs/PositionConstraint")
	message[msgs.OrientationConstraint](b, "moveit_msgs/OrientationConstraint", "uint8 XYZ_EULER_ANGLES=0", "uint8 ROTATION_VECTOR=1")
	message[msgs.VisibilityConstraint](b, "moveit_msgs/VisibilityConstraint", "uint8 SENSOR_Z=0", "uint8 SENSOR_Y=1", "uint8 SENSOR_X=2")
	message[msgs.Constraints](b, "moveit_msgs/Constraints")
	message[msgs.TrajectoryConstraints](b, "moveit_msgs/TrajectoryConstraints")
	message[msgs.CartesianPoint](b, "moveit_msgs/CartesianPoint")
	message[msgs.CartesianTrajectoryPoint](b, "moveit_msgs/CartesianTrajectoryPoint")
	message[msgs.CartesianTrajectory](b, "moveit_msgs/CartesianTrajectory")
	message[msgs.GenericTrajectory](b, "moveit_msgs/GenericTrajectory")
	message[msgs.WorkspaceParameters](b, "moveit_msgs/WorkspaceParameters")
	message[msgs.CollisionObject](b, "moveit_msgs/CollisionObject", "byte ADD=0", "byte REMOVE=1", "byte APPEND=2", "byte MOVE=3")
	message[msgs.AttachedCollisionObject](b, "moveit_msgs/AttachedCollisionObject")
	message[msgs.RobotState](b, "moveit_msgs/RobotState")
	message[msgs.RobotTrajectory](b, "moveit_msgs/RobotTrajectory")
}

// planning holds MoveIt's requests, scenes, services and actions.
func planning(b *builder) {
	message[msgs.MotionPlanRequest](b, "moveit_msgs/MotionPlanRequest")
	message[msgs.MotionPlanResponse](b, "moveit_msgs/MotionPlanResponse")
	message[msgs.MotionSequenceItem](b, "moveit_msgs/MotionSequenceItem")
	message[msgs.MotionSequenceRequest](b, "moveit_msgs/MotionSequenceRequest")
	message[msgs.MotionSequenceResponse](b, "moveit_msgs/MotionSequenceResponse")

	message[msgs.AllowedCollisionEntry](b, "moveit_msgs/AllowedCollisionEntry")
	message[msgs.AllowedCollisionMatrix](b, "moveit_msgs/AllowedCollisionMatrix")
	message[msgs.LinkPadding](b, "moveit_msgs/LinkPadding")
	message[msgs.LinkScale](b, "moveit_msgs/LinkScale")
	message[msgs.ObjectColor](b, "moveit_msgs/ObjectColor")
	message[msgs.PlanningSceneWorld](b, "moveit_msgs/PlanningSceneWorld")
	message[msgs.PlanningScene](b, "moveit_msgs/PlanningScene")
	message[msgs.PlanningOptions](b, "moveit_msgs/PlanningOptions")

	act[msgs.MoveGroupGoal, msgs.MoveGroupFeedback, msgs.MoveGroupResult](b, "moveit_msgs/MoveGroup")
	act[msgs.MoveGroupSequenceGoal, msgs.MoveGroupSequenceFeedback, msgs.MoveGroupSequenceResult](b, "moveit_msgs/MoveGroupSequence")
	act[msgs.ExecuteTrajectoryGoal, msgs.ExecuteTrajectoryFeedback, msgs.ExecuteTrajectoryResult](b, "moveit_msgs/ExecuteTrajectory")
	service[msgs.GetMotionPlanRequest, msgs.GetMotionPlanResponse](b, "moveit_msgs/GetMotionPlan")
	service[msgs.GetMotionSequenceRequest, msgs.GetMotionSequenceResponse](b, "moveit_msgs/GetMotionSequence")
	message[msgs.PositionIKRequest](b, "moveit_msgs/PositionIKRequest")
	service[msgs.GetPositionIKRequest, msgs.GetPositionIKResponse](b, "moveit_msgs/GetPositionIK")
	service[msgs.GetPositionFKRequest, msgs.GetPositionFKResponse](b, "moveit_msgs/GetPositionFK")
	message[msgs.PlannerInterfaceDescription](b, "moveit_msgs/PlannerInterfaceDescription")
	service[msgs.QueryPlannerInterfacesRequest, msgs.QueryPlannerInterfacesResponse](b, "moveit_msgs/QueryPlannerInterfaces")
	message[msgs.PlannerParams](b, "moveit_msgs/PlannerParams")
	service[msgs.GetPlannerParamsRequest, msgs.GetPlannerParamsResponse](b, "moveit_msgs/GetPlannerParams")
	service[msgs.SetPlannerParamsRequest, msgs.SetPlannerParamsResponse](b, "moveit_msgs/SetPlannerParams")
	service[msgs.GetCartesianPathRequest, msgs.GetCartesianPathResponse](b, "moveit_msgs/GetCartesianPath")
	message[msgs.PlanningSceneComponents](b, "moveit_msgs/PlanningSceneComponents", "uint32 SCENE_SETTINGS=1", "uint32 ROBOT_STATE=2", "uint32 ROBOT_STATE_ATTACHED_OBJECTS=4",
		"uint32 WORLD_OBJECT_NAMES=8", "uint32 WORLD_OBJECT_GEOMETRY=16", "uint32 OCTOMAP=32", "uint32 TRANSFORMS=64", "uint32 ALLOWED_COLLISION_MATRIX=128",
		"uint32 LINK_PADDING_AND_SCALING=256", "uint32 OBJECT_COLORS=512")
	service[msgs.GetPlanningSceneRequest, msgs.GetPlanningSceneResponse](b, "moveit_msgs/GetPlanningScene")
	service[msgs.ApplyPlanningSceneRequest, msgs.ApplyPlanningSceneResponse](b, "moveit_msgs/ApplyPlanningScene")
}

package registry

import "poise/msgs"

// standard holds the messages that all of ROS shares.
func standard(b *builder) {
	message[msgs.Time](b, "builtin_interfaces/Time")
	message[msgs.Duration](b, "builtin_interfaces/Duration")
	message[msgs.Header](b, "std_msgs/Header")
	message[msgs.Empty](b, "std_msgs/Empty")
	message[msgs.Bool](b, "std_msgs/Bool")
	message[msgs.Byte](b, "std_msgs/Byte")
	message[msgs.Char](b, "std_msgs/Char")
	message[msgs.String](b, "std_msgs/String")
	message[msgs.Float32](b, "std_msgs/Float32")
	message[msgs.Float64](b, "std_msgs/Float64")
	message[msgs.Int8](b, "std_msgs/Int8")
	message[msgs.Int16](b, "std_msgs/Int16")
	message[msgs.Int32](b, "std_msgs/Int32")
	message[msgs.Int64](b, "std_msgs/Int64")
	message[msgs.UInt8](b, "std_msgs/UInt8")
	message[msgs.UInt16](b, "std_msgs/UInt16")
	message[msgs.UInt32](b, "std_msgs/UInt32")
	message[msgs.UInt64](b, "std_msgs/UInt64")
	message1[msgs.TimeData](b, "std_msgs/Time")
	message1[msgs.DurationData](b, "std_msgs/Duration")
	message[msgs.ColorRGBA](b, "std_msgs/ColorRGBA")
	message[msgs.MultiArrayDimension](b, "std_msgs/MultiArrayDimension")
	message[msgs.MultiArrayLayout](b, "std_msgs/MultiArrayLayout")
	message[msgs.Float32MultiArray](b, "std_msgs/Float32MultiArray")
	message[msgs.Float64MultiArray](b, "std_msgs/Float64MultiArray")
	message[msgs.Int32MultiArray](b, "std_msgs/Int32MultiArray")
	message[msgs.UInt8MultiArray](b, "std_msgs/UInt8MultiArray")
	service[msgs.EmptyRequest, msgs.EmptyResponse](b, "std_srvs/Empty")
	service[msgs.SetBoolRequest, msgs.SetBoolResponse](b, "std_srvs/SetBool")
	service[msgs.TriggerRequest, msgs.TriggerResponse](b, "std_srvs/Trigger")

	message[msgs.Clock](b, "rosgraph_msgs/Clock")
	log := message[msgs.Log](b, "rosgraph_msgs/Log",
		"1:byte DEBUG=1", "1:byte INFO=2", "1:byte WARN=4", "1:byte ERROR=8", "1:byte FATAL=16",
		"2:uint8 DEBUG=10", "2:uint8 INFO=20", "2:uint8 WARN=30", "2:uint8 ERROR=40", "2:uint8 FATAL=50")
	log.ros2pkg = "rcl_interfaces"
	b.messages2[log.Name(msgs.ROS2)] = log
	message1[msgs.Logger](b, "roscpp/Logger")
	service[msgs.GetLoggersRequest, msgs.GetLoggersResponse](b, "roscpp/GetLoggers")
	service[msgs.SetLoggerLevelRequest, msgs.SetLoggerLevelResponse](b, "roscpp/SetLoggerLevel")
	message[msgs.KeyValue](b, "diagnostic_msgs/KeyValue")
	message[msgs.DiagnosticStatus](b, "diagnostic_msgs/DiagnosticStatus", "byte OK=0", "byte WARN=1", "byte ERROR=2", "byte STALE=3")
	message[msgs.DiagnosticArray](b, "diagnostic_msgs/DiagnosticArray")
}

// geometry holds points, poses and frames.
func geometry(b *builder) {
	message[msgs.Point](b, "geometry_msgs/Point")
	message[msgs.Point32](b, "geometry_msgs/Point32")
	message[msgs.Vector3](b, "geometry_msgs/Vector3")
	message[msgs.Quaternion](b, "geometry_msgs/Quaternion")
	message[msgs.Pose](b, "geometry_msgs/Pose")
	message[msgs.Transform](b, "geometry_msgs/Transform")
	message[msgs.Twist](b, "geometry_msgs/Twist")
	message[msgs.Accel](b, "geometry_msgs/Accel")
	message[msgs.Wrench](b, "geometry_msgs/Wrench")
	message[msgs.Polygon](b, "geometry_msgs/Polygon")
	message[msgs.PointStamped](b, "geometry_msgs/PointStamped")
	message[msgs.Vector3Stamped](b, "geometry_msgs/Vector3Stamped")
	message[msgs.QuaternionStamped](b, "geometry_msgs/QuaternionStamped")
	message[msgs.PoseStamped](b, "geometry_msgs/PoseStamped")
	message[msgs.PoseArray](b, "geometry_msgs/PoseArray")
	message[msgs.TransformStamped](b, "geometry_msgs/TransformStamped")
	message[msgs.TwistStamped](b, "geometry_msgs/TwistStamped")
	message[msgs.WrenchStamped](b, "geometry_msgs/WrenchStamped")
	message[msgs.PolygonStamped](b, "geometry_msgs/PolygonStamped")
	message[msgs.PoseWithCovariance](b, "geometry_msgs/PoseWithCovariance")
	message[msgs.TwistWithCovariance](b, "geometry_msgs/TwistWithCovariance")
	message[msgs.Odometry](b, "nav_msgs/Odometry")
	message[msgs.TFMessage](b, "tf2_msgs/TFMessage")
}

// goals holds what all actions share, in ROS 1 and in ROS 2.
func goals(b *builder) {
	message[msgs.GoalID](b, "actionlib_msgs/GoalID")
	message[msgs.GoalStatus](b, "actionlib_msgs/GoalStatus",
		"uint8 PENDING=0", "uint8 ACTIVE=1", "uint8 PREEMPTED=2", "uint8 SUCCEEDED=3", "uint8 ABORTED=4",
		"uint8 REJECTED=5", "uint8 PREEMPTING=6", "uint8 RECALLING=7", "uint8 RECALLED=8", "uint8 LOST=9")
	message[msgs.GoalStatusArray](b, "actionlib_msgs/GoalStatusArray")
	message[msgs.UUID](b, "unique_identifier_msgs/UUID")
	message[msgs.GoalInfo](b, "action_msgs/GoalInfo")
	message[msgs.ActionStatus](b, "action_msgs/GoalStatus",
		"int8 STATUS_UNKNOWN=0", "int8 STATUS_ACCEPTED=1", "int8 STATUS_EXECUTING=2", "int8 STATUS_CANCELING=3",
		"int8 STATUS_SUCCEEDED=4", "int8 STATUS_CANCELED=5", "int8 STATUS_ABORTED=6")
	message[msgs.ActionStatusArray](b, "action_msgs/GoalStatusArray")
	service[msgs.CancelGoalRequest, msgs.CancelGoalResponse](b, "action_msgs/CancelGoal", "---",
		"int8 ERROR_NONE=0", "int8 ERROR_REJECTED=1", "int8 ERROR_UNKNOWN_GOAL_ID=2", "int8 ERROR_GOAL_TERMINATED=3")
}

// robots holds the messages of sensors, shapes, trajectories and controllers.
func robots(b *builder) {
	message[msgs.JointState](b, "sensor_msgs/JointState")
	message[msgs.MultiDOFJointState](b, "sensor_msgs/MultiDOFJointState")
	message[msgs.Imu](b, "sensor_msgs/Imu")
	message[msgs.Joy](b, "sensor_msgs/Joy")
	message[msgs.BatteryState](b, "sensor_msgs/BatteryState",
		"uint8 POWER_SUPPLY_STATUS_UNKNOWN=0", "uint8 POWER_SUPPLY_STATUS_CHARGING=1", "uint8 POWER_SUPPLY_STATUS_DISCHARGING=2",
		"uint8 POWER_SUPPLY_STATUS_NOT_CHARGING=3", "uint8 POWER_SUPPLY_STATUS_FULL=4",
		"uint8 POWER_SUPPLY_HEALTH_UNKNOWN=0", "uint8 POWER_SUPPLY_HEALTH_GOOD=1", "uint8 POWER_SUPPLY_HEALTH_OVERHEAT=2",
		"uint8 POWER_SUPPLY_HEALTH_DEAD=3", "uint8 POWER_SUPPLY_HEALTH_OVERVOLTAGE=4", "uint8 POWER_SUPPLY_HEALTH_UNSPEC_FAILURE=5",
		"uint8 POWER_SUPPLY_HEALTH_COLD=6", "uint8 POWER_SUPPLY_HEALTH_WATCHDOG_TIMER_EXPIRE=7", "uint8 POWER_SUPPLY_HEALTH_SAFETY_TIMER_EXPIRE=8",
		"uint8 POWER_SUPPLY_TECHNOLOGY_UNKNOWN=0", "uint8 POWER_SUPPLY_TECHNOLOGY_NIMH=1", "uint8 POWER_SUPPLY_TECHNOLOGY_LION=2",
		"uint8 POWER_SUPPLY_TECHNOLOGY_LIPO=3", "uint8 POWER_SUPPLY_TECHNOLOGY_LIFE=4", "uint8 POWER_SUPPLY_TECHNOLOGY_NICD=5",
		"uint8 POWER_SUPPLY_TECHNOLOGY_LIMN=6", "2:uint8 POWER_SUPPLY_TECHNOLOGY_TERNARY=7", "2:uint8 POWER_SUPPLY_TECHNOLOGY_VRLA=8")

	message[msgs.SolidPrimitive](b, "shape_msgs/SolidPrimitive",
		"uint8 BOX=1", "uint8 SPHERE=2", "uint8 CYLINDER=3", "uint8 CONE=4", "2:uint8 PRISM=5",
		"uint8 BOX_X=0", "uint8 BOX_Y=1", "uint8 BOX_Z=2", "uint8 SPHERE_RADIUS=0",
		"uint8 CYLINDER_HEIGHT=0", "uint8 CYLINDER_RADIUS=1", "uint8 CONE_HEIGHT=0", "uint8 CONE_RADIUS=1", "2:uint8 PRISM_HEIGHT=0")
	message[msgs.MeshTriangle](b, "shape_msgs/MeshTriangle")
	message[msgs.Mesh](b, "shape_msgs/Mesh")
	message[msgs.Plane](b, "shape_msgs/Plane")

	message[msgs.JointTrajectoryPoint](b, "trajectory_msgs/JointTrajectoryPoint")
	message[msgs.JointTrajectory](b, "trajectory_msgs/JointTrajectory")
	message[msgs.MultiDOFJointTrajectoryPoint](b, "trajectory_msgs/MultiDOFJointTrajectoryPoint")
	message[msgs.MultiDOFJointTrajectory](b, "trajectory_msgs/MultiDOFJointTrajectory")

	message[msgs.JointTolerance](b, "control_msgs/JointTolerance")
	message[msgs.JointComponentTolerance](b, "control_msgs/JointComponentTolerance",
		"uint16 X_AXIS=1", "uint16 Y_AXIS=2", "uint16 Z_AXIS=3", "uint16 TRANSLATION=4", "uint16 ROTATION=5")
	act[msgs.FollowJointTrajectoryGoal, msgs.FollowJointTrajectoryFeedback, msgs.FollowJointTrajectoryResult](b, "control_msgs/FollowJointTrajectory",
		"int32 SUCCESSFUL=0", "int32 INVALID_GOAL=-1", "int32 INVALID_JOINTS=-2", "int32 OLD_HEADER_TIMESTAMP=-3",
		"int32 PATH_TOLERANCE_VIOLATED=-4", "int32 GOAL_TOLERANCE_VIOLATED=-5")
	message[msgs.GripperCommand](b, "control_msgs/GripperCommand")
	act[msgs.GripperCommandGoal, msgs.GripperCommandFeedback, msgs.GripperCommandResult](b, "control_msgs/GripperCommand")
}

// original holds the messages of the original system: resource control and text
// commands.
func original(b *builder) {
	message[msgs.ServoModel](b, "sweetie_bot_servo_model_msg/ServoModel")
	message[msgs.ResourceRequest](b, "resource_control_msgs/ResourceRequest")
	message[msgs.ResourceAssignment](b, "resource_control_msgs/ResourceAssignment")
	message[msgs.ResourceRequesterState](b, "resource_control_msgs/ResourceRequesterState")
	message[msgs.ControllerState](b, "resource_control_msgs/ControllerState",
		"uint8 NONOPERATIONAL=0", "uint8 PENDING=1", "uint8 OPERATIONAL=2", "uint8 OPERATIONAL_PENDING=3")
	act[msgs.SetOperationalGoal, msgs.SetOperationalFeedback, msgs.SetOperationalResult](b, "resource_control_msgs/SetOperational",
		"int32 SUCCESSFUL=0", "int32 COMPONENT_IS_NOT_READY=-1", "int32 INVALID_RESOURCE_SET=-2",
		"int32 START_CONDITIONS_VIOLATED=-3", "int32 EXECUTION_ERROR=-4")
	message[msgs.TextCommand](b, "text_msgs/TextCommand")
	message[msgs.TextCommandStamped](b, "text_msgs/TextCommandStamped")
	act[msgs.TextActionGoal, msgs.TextActionFeedback, msgs.TextActionResult](b, "text_msgs/TextAction")
	message[msgs.CompoundActionElement](b, "text_msgs/CompoundActionElement")
	message[msgs.CompoundAction](b, "text_msgs/CompoundAction")
	act[msgs.FollowJointTrajectoryWithActionsGoal, msgs.FollowJointTrajectoryWithActionsFeedback, msgs.FollowJointTrajectoryWithActionsResult](
		b, "text_msgs/FollowJointTrajectoryWithActions",
		"int32 SUCCESSFUL=0", "int32 INVALID_GOAL=-1", "int32 INVALID_JOINTS=-2", "int32 OLD_HEADER_TIMESTAMP=-3",
		"int32 PATH_TOLERANCE_VIOLATED=-4", "int32 GOAL_TOLERANCE_VIOLATED=-5")
}

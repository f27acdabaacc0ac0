package msgs

// JointState is sensor_msgs/JointState.
type JointState struct {
	Header   Header    `json:"header"`
	Name     []string  `json:"name"`
	Position []float64 `json:"position"`
	Velocity []float64 `json:"velocity"`
	Effort   []float64 `json:"effort"`
}

// MultiDOFJointState is sensor_msgs/MultiDOFJointState.
type MultiDOFJointState struct {
	Header     Header      `json:"header"`
	JointNames []string    `json:"joint_names"`
	Transforms []Transform `json:"transforms"`
	Twist      []Twist     `json:"twist"`
	Wrench     []Wrench    `json:"wrench"`
}

// JointTrajectoryPoint is trajectory_msgs/JointTrajectoryPoint.
type JointTrajectoryPoint struct {
	Positions     []float64 `json:"positions"`
	Velocities    []float64 `json:"velocities"`
	Accelerations []float64 `json:"accelerations"`
	Effort        []float64 `json:"effort"`
	TimeFromStart Duration  `json:"time_from_start"`
}

// JointTrajectory is trajectory_msgs/JointTrajectory.
type JointTrajectory struct {
	Header     Header                 `json:"header"`
	JointNames []string               `json:"joint_names"`
	Points     []JointTrajectoryPoint `json:"points"`
}

// MultiDOFJointTrajectoryPoint is trajectory_msgs/MultiDOFJointTrajectoryPoint.
type MultiDOFJointTrajectoryPoint struct {
	Transforms    []Transform `json:"transforms"`
	Velocities    []Twist     `json:"velocities"`
	Accelerations []Twist     `json:"accelerations"`
	TimeFromStart Duration    `json:"time_from_start"`
}

// MultiDOFJointTrajectory is trajectory_msgs/MultiDOFJointTrajectory.
type MultiDOFJointTrajectory struct {
	Header     Header                         `json:"header"`
	JointNames []string                       `json:"joint_names"`
	Points     []MultiDOFJointTrajectoryPoint `json:"points"`
}

package poisemsgs

import "poise/msgs"

// Explanation is poise_msgs/Explanation.
type Explanation struct {
	Code     string  `json:"code"`
	Text     string  `json:"text"`
	Joint    string  `json:"joint"`
	Resource string  `json:"resource"`
	Owner    string  `json:"owner"`
	Help     string  `json:"help"`
	At       float64 `json:"at"`
	Value    float64 `json:"value"`
	Limit    float64 `json:"limit"`
}

// JointInfo is poise_msgs/JointInfo.
type JointInfo struct {
	Name            string  `json:"name"`
	Type            string  `json:"type"`
	Resource        string  `json:"resource"`
	Lower           float64 `json:"lower"`
	Upper           float64 `json:"upper"`
	MaxVelocity     float64 `json:"max_velocity"`
	MaxAcceleration float64 `json:"max_acceleration"`
	Continuous      bool    `json:"continuous"`
	HasLimits       bool    `json:"has_limits"`
	HasServo        bool    `json:"has_servo"`
	Mimic           bool    `json:"mimic"`
	MaxEffort       float64 `json:"max_effort"` // N·m or N; 0 is no limit
}

// GroupInfo is poise_msgs/GroupInfo.
type GroupInfo struct {
	Name      string   `json:"name"`
	Resource  bool     `json:"resource"`
	Joints    []string `json:"joints"`
	Resources []string `json:"resources"`
	Tip       string   `json:"tip"`
	Base      string   `json:"base"`
}

// ChainInfo is poise_msgs/ChainInfo.
type ChainInfo struct {
	Name    string   `json:"name"`
	Joints  []string `json:"joints"`
	Tip     string   `json:"tip"`
	Support string   `json:"support"`
}

// NamedPose is poise_msgs/NamedPose.
type NamedPose struct {
	Name      string    `json:"name"`
	Group     string    `json:"group"`
	Joints    []string  `json:"joints"`
	Positions []float64 `json:"positions"`
}

// MirrorPair is poise_msgs/MirrorPair.
type MirrorPair struct {
	Left  string  `json:"left"`
	Right string  `json:"right"`
	Sign  float64 `json:"sign"`
}

// DrivenRobot is poise_msgs/DrivenRobot: one robot of a server, what drives it and what it
// can do.
type DrivenRobot struct {
	Name         string   `json:"name"`           // before its topics, services and actions
	Driver       string   `json:"driver"`         // that moves it
	Simulated    bool     `json:"simulated"`      // nothing real moves
	Exact        bool     `json:"exact"`          // joints are where they are told to be
	Torque       bool     `json:"torque"`         // can be switched
	PlacedAtOnce bool     `json:"placed_at_once"` // joints can be put somewhere: joints_virtual_set
	PosedByHand  bool     `json:"posed_by_hand"`  // joints without torque can be moved: joints_hand_set
	HasMass      bool     `json:"has_mass"`       // it stands in its weight, and physics/… acts on it
	Modes        []string `json:"modes"`          // of its servos
	Stiffness    bool     `json:"stiffness"`      // of its servos can be changed, by their models
	ByModel      bool     `json:"by_model"`       // cycle 0 drives servos by their models, too
	Feels        bool     `json:"feels"`          // what touches it, by its servos: external_forces
}

// RobotInfoRequest is poise_msgs/RobotInfo's request.
type RobotInfoRequest struct{}

// RobotInfoResponse is poise_msgs/RobotInfo's response.
type RobotInfoResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
	Name         string        `json:"name"`
	Description  string        `json:"description"`
	Base         string        `json:"base"`
	Root         string        `json:"root"`
	Joints       []JointInfo   `json:"joints"`
	Groups       []GroupInfo   `json:"groups"`
	Chains       []ChainInfo   `json:"chains"`
	Poses        []NamedPose   `json:"poses"`
	Mirror       []MirrorPair  `json:"mirror"`
	Outputs      []string      `json:"outputs"`
	Period       float64       `json:"period"`
	Simulated    bool          `json:"simulated"`
	Robot        string        `json:"robot"`
	Robots       []DrivenRobot `json:"robots"`
	URDF         string        `json:"urdf"`

	MissingMeshes []string `json:"missing_meshes"` // that the description names and that were not found
	MeshPlaces    []string `json:"mesh_places"`    // where they were looked for

	Client        string `json:"client"`         // who asks, as the state of a robot names whose a goal is
	SimulatedTime bool   `json:"simulated_time"` // the time of the graph is that of the simulation

	CycleOneLacks []string `json:"cycle_1_lacks"` // what the description does not tell and cycle 1 needs, as poise check says it
}

// BalanceState is poise_msgs/BalanceState. Points are on the horizontal plane through the
// mean height of the soles; a margin is how far inside the polygon a point is, negative
// outside, 0 without a polygon.
type BalanceState struct {
	Header        msgs.Header    `json:"header"`
	Mass          float64        `json:"mass"`
	CoM           msgs.Vector3   `json:"com"`
	CoMVelocity   msgs.Vector3   `json:"com_velocity"`
	CoP           msgs.Vector3   `json:"cop"`           // of the forces that the feet give
	ZMP           msgs.Vector3   `json:"zmp"`           // of the force that the motion needs
	CapturePoint  msgs.Vector3   `json:"capture_point"` // com + com_velocity·√(height/g)
	Pressed       bool           `json:"pressed"`       // the feet press: there is a cop
	Carried       bool           `json:"carried"`       // the motion needs the ground: there are zmp and capture_point
	SupportPoints []msgs.Vector3 `json:"support_points"`
	Supports      []string       `json:"supports"`
	Loads         []float64      `json:"loads"`  // vertical force on each of supports, N
	Margin        float64        `json:"margin"` // of the zmp, m
	CoMMargin     float64        `json:"com_margin"`
	CoPMargin     float64        `json:"cop_margin"`
	CaptureMargin float64        `json:"capture_margin"`
	Stable        bool           `json:"stable"` // the zmp is inside
}

// Event is poise_msgs/Event.
type Event struct {
	Header     msgs.Header      `json:"header"`
	Goal       string           `json:"goal"`
	Motion     string           `json:"motion"`
	Controller string           `json:"controller"`
	Time       float64          `json:"time"`
	Command    msgs.TextCommand `json:"command"`
}

// ControllerInfo is poise_msgs/ControllerInfo.
type ControllerInfo struct {
	Name      string        `json:"name"`
	Kind      string        `json:"kind"`
	Short     string        `json:"short"`    // what it does
	Switched  bool          `json:"switched"` // on and off, by switch_controllers; the others are given goals
	Outside   bool          `json:"outside"`  // a seat for an external controller
	Client    string        `json:"client"`   // name that the external one registered, empty if none has the seat
	State     string        `json:"state"`
	Running   bool          `json:"running"`
	Active    bool          `json:"active"`
	Paused    bool          `json:"paused"`
	Goal      string        `json:"goal"`
	Resources []string      `json:"resources"`
	Time      float64       `json:"time"`
	Rate      float64       `json:"rate"`
	Refused   []Explanation `json:"refused"`
	Waits     []Explanation `json:"waits"` // what it goes on without: a stream that stopped, a point out of reach
}

// ControllersState is poise_msgs/ControllersState.
type ControllersState struct {
	Header      msgs.Header      `json:"header"`
	Controllers []ControllerInfo `json:"controllers"`
}

// Ownership is poise_msgs/Ownership.
type Ownership struct {
	Resource string `json:"resource"`
	Owner    string `json:"owner"`
}

// GoalInfo is poise_msgs/GoalInfo.
type GoalInfo struct {
	ID         string  `json:"id"`
	Action     string  `json:"action"`
	Client     string  `json:"client"`
	State      string  `json:"state"`
	Controller string  `json:"controller"`
	Phase      string  `json:"phase"`
	Time       float64 `json:"time"`
	Duration   float64 `json:"duration"`
	Rate       float64 `json:"rate"`
}

// GoalExplanations is poise_msgs/GoalExplanations.
type GoalExplanations struct {
	Header       msgs.Header   `json:"header"`
	Action       string        `json:"action"`
	Goal         string        `json:"goal"`
	Client       string        `json:"client"`
	State        string        `json:"state"`
	Cause        string        `json:"cause"`
	Explanations []Explanation `json:"explanations"`
}

// FaultInfo is poise_msgs/FaultInfo.
type FaultInfo struct {
	Kind        string      `json:"kind"`
	Joint       string      `json:"joint"`
	Severity    string      `json:"severity"`
	Explanation Explanation `json:"explanation"`
}

// RobotStatus is poise_msgs/RobotStatus.
type RobotStatus struct {
	Header      msgs.Header      `json:"header"`
	Power       string           `json:"power"`
	Stopped     bool             `json:"stopped"`
	Paused      bool             `json:"paused"`
	Silent      bool             `json:"silent"`
	WantedRate  float64          `json:"wanted_rate"`
	Rate        float64          `json:"rate"`
	Controllers []ControllerInfo `json:"controllers"`
	Owners      []Ownership      `json:"owners"`
	Goals       []GoalInfo       `json:"goals"`
	Faults      []FaultInfo      `json:"faults"`
	Limp        []string         `json:"limp"`
	Missing     []string         `json:"missing"` // joints without a servo
}

// GetStateRequest is poise_msgs/GetState's request.
type GetStateRequest struct{}

// GetStateResponse is poise_msgs/GetState's response.
type GetStateResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
	State        RobotStatus   `json:"state"`
}

// StopRequest is poise_msgs/Stop's request.
type StopRequest struct {
	Category uint8 `json:"category"`
}

// StopResponse is poise_msgs/Stop's response.
type StopResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// ResetRequest is poise_msgs/Reset's request.
type ResetRequest struct{}

// ResetResponse is poise_msgs/Reset's response.
type ResetResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// SetPowerRequest is poise_msgs/SetPower's request.
type SetPowerRequest struct {
	On bool `json:"on"`
}

// SetPowerResponse is poise_msgs/SetPower's response.
type SetPowerResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// PauseRequest is poise_msgs/Pause's request.
type PauseRequest struct {
	Controller string `json:"controller"`
}

// PauseResponse is poise_msgs/Pause's response.
type PauseResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// ResumeRequest is poise_msgs/Resume's request.
type ResumeRequest struct {
	Controller string `json:"controller"`
}

// ResumeResponse is poise_msgs/Resume's response.
type ResumeResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// SetSpeedRequest is poise_msgs/SetSpeed's request.
type SetSpeedRequest struct {
	Rate       float64 `json:"rate"`
	Controller string  `json:"controller"`
}

// SetSpeedResponse is poise_msgs/SetSpeed's response.
type SetSpeedResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
	Achieved     float64       `json:"achieved"`
}

// SetTorqueRequest is poise_msgs/SetTorque's request.
type SetTorqueRequest struct {
	On        bool     `json:"on"`
	Resources []string `json:"resources"`
}

// SetTorqueResponse is poise_msgs/SetTorque's response.
type SetTorqueResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// SetOdometryRequest is poise_msgs/SetOdometry's request.
type SetOdometryRequest struct {
	Pose msgs.Pose `json:"pose"` // of the base in the world
}

// SetOdometryResponse is poise_msgs/SetOdometry's response.
type SetOdometryResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// SwitchCycleRequest is poise_msgs/SwitchCycle's request.
type SwitchCycleRequest struct {
	Cycle     int32    `json:"cycle"`     // 0 positions alone, 1 with the torques that the motion needs, 2 by the whole body
	Resources []string `json:"resources"` // none: all of the robot
}

// SwitchCycleResponse is poise_msgs/SwitchCycle's response.
type SwitchCycleResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// DynamicsState is poise_msgs/DynamicsState.
type DynamicsState struct {
	Header msgs.Header `json:"header"`

	Name   []string  `json:"name"`   // of each joint
	Cycle  []uint8   `json:"cycle"`  // that drives it, or will soon
	Needed []float64 `json:"needed"` // effort that the motion needs, N·m or N; 0 while no joint has cycle 1
	Effort []float64 `json:"effort"` // feed-forward as commanded

	Supports []string      `json:"supports"` // chains that stand
	Forces   []msgs.Wrench `json:"forces"`   // that the ground is to give each of them, at its point, world axes
	Points   []msgs.Point  `json:"points"`

	Residual    msgs.Wrench `json:"residual"`    // on the base, about its origin, world axes: no contact supplies it
	Correction  float64     `json:"correction"`  // length of the change that contacts made to the accelerations
	Contradicts bool        `json:"contradicts"` // it is large: the motion does not keep its supports where they are
	Limited     bool        `json:"limited"`     // forces had to be kept within friction and soles
	Failed      bool        `json:"failed"`      // torques could not be computed, and fade
}

// LevelsState is poise_msgs/LevelsState: how the whole body serves what is asked of it, in cycle 2.
type LevelsState struct {
	Header msgs.Header `json:"header"`

	Status     string  `json:"status"`     // idle, served, weighed, slowing, limp or baseless
	Reason     string  `json:"reason"`     // why it is not served by its levels
	Feasible   bool    `json:"feasible"`   // no level of safety is broken
	Iterations uint32  `json:"iterations"` // of all levels
	Prevented  bool    `json:"prevented"`  // what is asked for would tip the robot over, and is not done
	Margin     float64 `json:"margin"`     // of the capture point in the polygon of the feet that are to stand, m; 0 without one
	BaseRatio  float64 `json:"base_ratio"` // share of the base's velocity that is reached, 0 … 1

	Levels []LevelState     `json:"levels"` // from the top; none unless status is served or weighed
	Limbs  []LevelLimbState `json:"limbs"`
}

// LevelState is poise_msgs/LevelState.
type LevelState struct {
	Name       string   `json:"name"`
	Residual   float64  `json:"residual"` // Euclidean norm of the errors of its equations
	Slack      float64  `json:"slack"`    // Euclidean norm of what its inequalities are broken by
	Status     string   `json:"status"`   // optimal, or why the answer of the levels above was kept
	Iterations uint32   `json:"iterations"`
	Safety     bool     `json:"safety"`   // it decides on whether the answer is feasible
	Active     []string `json:"active"`   // inequalities that are at their bounds or beyond
	AskedBy    []string `json:"asked_by"` // controllers whose references it serves; "robot" of what always holds
}

// LevelLimbState is poise_msgs/LevelLimbState.
type LevelLimbState struct {
	Name  string  `json:"name"`
	Ratio float64 `json:"ratio"` // share of the velocity that was asked for, 0 … 1
	Kept  bool    `json:"kept"`  // it was to leave the ground, and stands: without it the robot would tip over
	Lands bool    `json:"lands"` // it is to stand, and is on its way to the ground
	Point bool    `json:"point"` // it is led by its point, else by its joints
}

// SwitchControllersRequest is poise_msgs/SwitchControllers's request.
type SwitchControllersRequest struct {
	Start  []string `json:"start"`
	Stop   []string `json:"stop"`
	Strict bool     `json:"strict"`

	// Publisher is the node that the started controllers hear on their streams; "*" is
	// any publisher, and none is who calls.
	Publisher string `json:"publisher"`
}

// SwitchControllersResponse is poise_msgs/SwitchControllers's response.
type SwitchControllersResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// CheckGoalRequest is poise_msgs/CheckGoal's request.
type CheckGoalRequest struct {
	Controller string `json:"controller"`
	GoalJSON   string `json:"goal_json"`
}

// CheckGoalResponse is poise_msgs/CheckGoal's response.
type CheckGoalResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// JointsSetRequest is poise_msgs/JointsSet's request.
type JointsSetRequest struct {
	Joints msgs.JointState `json:"joints"`
}

// JointsSetResponse is poise_msgs/JointsSet's response.
type JointsSetResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// JointsHandSetRequest is poise_msgs/JointsHandSet's request.
type JointsHandSetRequest struct {
	Joints msgs.JointState `json:"joints"`
}

// JointsHandSetResponse is poise_msgs/JointsHandSet's response.
type JointsHandSetResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// RigidBodyTrajectoryPoint is poise_msgs/RigidBodyTrajectoryPoint.
type RigidBodyTrajectoryPoint struct {
	Pose    msgs.Pose  `json:"pose"`
	Twist   msgs.Twist `json:"twist"`
	Accel   msgs.Twist `json:"accel"`
	Contact bool       `json:"contact"`
}

// RigidBodyTrajectory is poise_msgs/RigidBodyTrajectory.
type RigidBodyTrajectory struct {
	Name   string                     `json:"name"`
	Points []RigidBodyTrajectoryPoint `json:"points"`
}

// FollowStepSequenceGoal is poise_msgs/FollowStepSequence's goal.
type FollowStepSequenceGoal struct {
	Header               msgs.Header           `json:"header"`
	Append               bool                  `json:"append"`
	TimeFromStart        []float64             `json:"time_from_start"`
	BaseMotion           RigidBodyTrajectory   `json:"base_motion"`
	EeMotion             []RigidBodyTrajectory `json:"ee_motion"`
	PositionTolerance    float64               `json:"position_tolerance"`
	OrientationTolerance float64               `json:"orientation_tolerance"`
}

// FollowStepSequenceResult is poise_msgs/FollowStepSequence's result.
type FollowStepSequenceResult struct {
	ErrorCode   int32  `json:"error_code"`
	ErrorString string `json:"error_string"`
}

// FollowStepSequenceFeedback is poise_msgs/FollowStepSequence's feedback.
type FollowStepSequenceFeedback struct {
	TimeFromStart msgs.Duration `json:"time_from_start"`
}

// Footstep is poise_msgs/Footstep.
type Footstep struct {
	Limb string  `json:"limb"`
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
	Yaw  float64 `json:"yaw"`
}

// WalkToGoal is poise_msgs/WalkTo's goal.
type WalkToGoal struct {
	Target               msgs.PoseStamped `json:"target"`
	Footsteps            []Footstep       `json:"footsteps"`
	Gait                 string           `json:"gait"`
	Speed                float64          `json:"speed"`
	PositionTolerance    float64          `json:"position_tolerance"`
	OrientationTolerance float64          `json:"orientation_tolerance"`
}

// WalkToResult is poise_msgs/WalkTo's result.
type WalkToResult struct {
	Code         string        `json:"code"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
}

// WalkToFeedback is poise_msgs/WalkTo's feedback.
type WalkToFeedback struct {
	Base              msgs.PoseStamped `json:"base"`
	DistanceRemaining float64          `json:"distance_remaining"`
	TurnRemaining     float64          `json:"turn_remaining"`
	Time              float64          `json:"time"`
}

// RigidBodyState is poise_msgs/RigidBodyState.
type RigidBodyState struct {
	Header msgs.Header   `json:"header"`
	Name   []string      `json:"name"`
	Frame  []msgs.Pose   `json:"frame"`
	Twist  []msgs.Twist  `json:"twist"`
	Wrench []msgs.Wrench `json:"wrench"`
	Cycle  uint64        `json:"cycle"`
}

// SupportState is poise_msgs/SupportState.
type SupportState struct {
	Header  msgs.Header `json:"header"`
	Name    []string    `json:"name"`
	Contact []string    `json:"contact"`
	Support []float64   `json:"support"`
	Cycle   uint64      `json:"cycle"`
}

// TypedOutput is poise_msgs/TypedOutput.
type TypedOutput struct {
	Header msgs.Header `json:"header"`
	Name   string      `json:"name"`
	Type   string      `json:"type"`
	Value  float64     `json:"value"`
	Cycle  uint64      `json:"cycle"`
}

// JointStateAccel is poise_msgs/JointStateAccel.
type JointStateAccel struct {
	Header       msgs.Header `json:"header"`
	Name         []string    `json:"name"`
	Position     []float64   `json:"position"`
	Velocity     []float64   `json:"velocity"`
	Acceleration []float64   `json:"acceleration"`
	Effort       []float64   `json:"effort"`
}

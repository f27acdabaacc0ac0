package poisemsgs

// SetupPoint is poise_msgs/SetupPoint: where a foot touches, in the frame of its tip, m.
type SetupPoint struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	Z float64 `json:"z"`
}

// SetupLimb is poise_msgs/SetupLimb: a part of the robot that is used as one.
type SetupLimb struct {
	Name   string       `json:"name"`
	Kind   string       `json:"kind"` // leg, arm, head, torso, gripper, wheel, tail or limb
	Joints []string     `json:"joints"`
	Base   string       `json:"base"` // link that it hangs on; empty if it is no chain
	Tip    string       `json:"tip"`
	Tips   []string     `json:"tips"`   // links that can be the tip
	Points []SetupPoint `json:"points"` // empty: it does not stand
	Touch  string       `json:"touch"`  // how they were found
}

// SetupPair is poise_msgs/SetupPair: joints that are each other's mirror image; right is
// left for one in the middle.
type SetupPair struct {
	Left  string `json:"left"`
	Right string `json:"right"`
	Sign  int8   `json:"sign"`
}

// SetupPose is poise_msgs/SetupPose.
type SetupPose struct {
	Name      string    `json:"name"`
	Why       string    `json:"why"`
	Joints    []string  `json:"joints"`
	Positions []float64 `json:"positions"`
}

// RobotSetup is poise_msgs/RobotSetup: what can be chosen about how a robot is used.
type RobotSetup struct {
	Name     string      `json:"name"`
	Base     string      `json:"base"` // fixed or floating
	Why      string      `json:"why"`  // of the base
	Limbs    []SetupLimb `json:"limbs"`
	Mirror   []SetupPair `json:"mirror"`
	Poses    []SetupPose `json:"poses"`
	Packages []string    `json:"packages"` // folders of packages with meshes, from the robot's folder
	Limits   bool        `json:"limits"`   // write joint_limits.yaml
	Notes    []string    `json:"notes"`    // what could not be proposed, and why
}

// SetUpRobotRequest is poise_msgs/SetUpRobot's request.
type SetUpRobotRequest struct {
	Chosen  bool       `json:"chosen"` // setup is what a person chose; false asks for a proposal
	Setup   RobotSetup `json:"setup"`
	Write   bool       `json:"write"`   // the files; false only shows them
	Version string     `json:"version"` // with write: of the files that were looked at
}

// SetUpRobotResponse is poise_msgs/SetUpRobot's response.
type SetUpRobotResponse struct {
	Success      bool          `json:"success"`
	Message      string        `json:"message"`
	Explanations []Explanation `json:"explanations"`
	Setup        RobotSetup    `json:"setup"`
	Folder       string        `json:"folder"`
	Version      string        `json:"version"`
	RobotYAML    string        `json:"robot_yaml"`   // as it would be, or is now
	JointLimits  string        `json:"joint_limits"` // empty: it is not written
	Added        []string      `json:"added"`        // keys of robot.yaml
	Kept         []string      `json:"kept"`         // keys that stand there already
	Written      []string      `json:"written"`      // files
	Restart      string        `json:"restart"`      // command line with which the server uses them
}

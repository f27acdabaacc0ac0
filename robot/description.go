package robot

// Description is what robot.yaml says: how the robot is used, where the URDF
// says how it is built. The field tags name the keys of the file;
// docs/robot-yaml.md explains each, and a test keeps the two in step.
//
// A slice whose element has a ",key" field stands in the file as a mapping
// from that name, in the order of the file. ",line" and ",lines" fields take
// the lines where things stand.
type Description struct {
	Name string `yaml:"name"`
	Text string `yaml:"description"`

	URDF            string     `yaml:"urdf"`
	XacroArguments  []Argument `yaml:"xacro_arguments"`
	SRDF            string     `yaml:"srdf"`
	JointLimits     string     `yaml:"joint_limits"`
	CartesianLimits string     `yaml:"cartesian_limits"`
	Packages        []Package  `yaml:"packages"`

	Base                   string    `yaml:"base"`    // "fixed" or "floating"
	Gravity                []float64 `yaml:"gravity"` // three numbers, m/s²
	TransitionAcceleration *float64  `yaml:"transition_acceleration"`

	Chains     []ChainEntry     `yaml:"chains"`
	Contacts   []ContactEntry   `yaml:"contacts"`
	Outputs    []OutputEntry    `yaml:"outputs"`
	Groups     []GroupEntry     `yaml:"groups"`
	SafeStates []SafeStateEntry `yaml:"safe_states"`
	Servos     []ServoEntry     `yaml:"servos"`
	Virtual    []string         `yaml:"virtual_joints"`
	Poses      []PoseEntry      `yaml:"poses"`
	Mirror     []MirrorEntry    `yaml:"mirror"`

	File  string         `yaml:"-"`      // as named in messages
	Lines map[string]int `yaml:",lines"` // of each key at the top
}

// Argument is an argument of a xacro file.
type Argument struct {
	Name  string `yaml:",key"`
	Value string `yaml:",value"`
}

// Package says in which folder package://NAME and $(find NAME) look.
type Package struct {
	Name   string `yaml:",key"`
	Folder string `yaml:",value"`
}

// ChainEntry declares a chain of the robot: a limb.
type ChainEntry struct {
	Name       string `yaml:",key"`
	Line       int    `yaml:",line"`
	Base       string `yaml:"base"`
	Tip        string `yaml:"tip"`
	VirtualTip string `yaml:"virtual_tip"`
	Contact    string `yaml:"contact"`
}

// ContactEntry declares a named set of contact points.
type ContactEntry struct {
	Name   string      `yaml:",key"`
	Line   int         `yaml:",line"`
	Points [][]float64 `yaml:"points"` // in the frame of the chain's tip, m
}

// OutputEntry declares a leaf resource that is no joint.
type OutputEntry struct {
	Name string `yaml:",key"`
	Line int    `yaml:",line"`
	Type string `yaml:"type"`
}

// GroupEntry declares a group: the union of what it lists.
type GroupEntry struct {
	Name     string   `yaml:",key"`
	Line     int      `yaml:",line"`
	Chains   []string `yaml:"chains"`
	Joints   []string `yaml:"joints"`
	Groups   []string `yaml:"groups"`
	Leaves   []string `yaml:"leaves"`
	Tip      string   `yaml:"tip"`
	Resource *bool    `yaml:"resource"` // true if absent, false if Groups is all it lists
}

// SafeStateEntry declares what a limb does when it must stop being dangerous.
type SafeStateEntry struct {
	Group string `yaml:",key"`
	Line  int    `yaml:",line"`
	Do    string `yaml:"do"`
	Pose  string `yaml:"pose"`
}

// ServoEntry assigns a servo to a joint.
type ServoEntry struct {
	Joint    string   `yaml:",key"`
	Line     int      `yaml:",line"`
	ID       *int     `yaml:"id"`
	Bus      string   `yaml:"bus"`
	Type     string   `yaml:"type"`
	Reversed bool     `yaml:"reversed"`
	Zero     float64  `yaml:"zero"`
	Gear     *float64 `yaml:"gear"`
}

// PoseEntry declares a named pose of some joints.
type PoseEntry struct {
	Name   string       `yaml:",key"`
	Line   int          `yaml:",line"`
	Joints []JointValue `yaml:",inline"`
}

// JointValue is the position of a joint, rad or m.
type JointValue struct {
	Joint string  `yaml:",key"`
	Line  int     `yaml:",line"`
	Value float64 `yaml:",value"`
}

// MirrorEntry declares two joints that are each other's mirror image, or one
// in the middle that is its own.
type MirrorEntry struct {
	Line   int    `yaml:",line"`
	Left   string `yaml:"left"`
	Right  string `yaml:"right"`
	Middle string `yaml:"middle"`
	Sign   *int   `yaml:"sign"`
}

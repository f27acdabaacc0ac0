// Package description reads robot.yaml: how a robot is used, while the URDF
// describes how it is built. It checks the form of the file; package robot checks
// that the robot has what is named there.
package description

import (
	"poise/internal/strictyaml"
	"poise/problem"
	"poise/servo/modelfile"
)

// Description is a robot.yaml. The field tags name the keys of the file;
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
	Packages        []string   `yaml:"packages"`

	Base                   string    `yaml:"base"`    // "fixed" or "floating"
	Gravity                []float64 `yaml:"gravity"` // three numbers, m/s²
	TransitionAcceleration *float64  `yaml:"transition_acceleration"`
	TransitionVelocity     *float64  `yaml:"transition_velocity"`
	FastTransition         *float64  `yaml:"fast_transition_acceleration"`

	Chains     []Chain     `yaml:"chains"`
	Contacts   []Contact   `yaml:"contacts"`
	Outputs    []Output    `yaml:"outputs"`
	Groups     []Group     `yaml:"groups"`
	SafeStates []SafeState `yaml:"safe_states"`
	Leaving    Leaving     `yaml:"leaving"`
	Walking    Walking     `yaml:"walking"`
	GetUp      GetUp       `yaml:"get_up"`
	External   External    `yaml:"external_forces"`
	Servos     []Servo     `yaml:"servos"`
	Bus        Bus         `yaml:"bus"`
	Buses      []NamedBus  `yaml:"buses"`
	IMU        IMU         `yaml:"imu"`
	Models     []Model     `yaml:"servo_models"`
	ModelFiles []string    `yaml:"servo_model_files"`

	ServoVoltage float64 `yaml:"servo_voltage"` // V, of models that name none

	Virtual []string `yaml:"virtual_joints"`
	Poses   []Pose   `yaml:"poses"`
	Mirror  []Mirror `yaml:"mirror"`

	File  string         `yaml:"-"`      // as named in messages
	Lines map[string]int `yaml:",lines"` // of each key at the top
}

// Read reads a robot.yaml; file is its name in messages. Beside an error it
// returns what could be read, so that the builder of a robot can report
// the robot's errors together with the file's.
func Read(data []byte, file string) (*Description, error) {
	d := &Description{File: file}
	return d, strictyaml.Decode(data, file, d)
}

// At returns a place in the file.
func (d *Description) At(line int) problem.Pos { return problem.Pos{File: d.File, Line: line} }

// AtKey returns the place of a key at the top, of nothing if the key is absent.
func (d *Description) AtKey(key string) problem.Pos {
	line, ok := d.Lines[key]
	if !ok {
		return problem.Pos{}
	}
	return d.At(line)
}

// Argument is an argument of a xacro file.
type Argument struct {
	Name  string `yaml:",key"`
	Value string `yaml:",value"`
}

// Chain declares a chain of the robot: a limb.
type Chain struct {
	Name       string `yaml:",key"`
	Line       int    `yaml:",line"`
	Base       string `yaml:"base"`
	Tip        string `yaml:"tip"`
	VirtualTip string `yaml:"virtual_tip"`
	Contact    string `yaml:"contact"`
}

// Contact declares a named set of contact points.
type Contact struct {
	Name   string      `yaml:",key"`
	Line   int         `yaml:",line"`
	Points [][]float64 `yaml:"points"` // in the frame of the chain's tip, m
	Sole   float64     `yaml:"sole"`   // radius of the disc about each point, m
}

// Output declares a leaf resource that is no joint.
type Output struct {
	Name string `yaml:",key"`
	Line int    `yaml:",line"`
	Type string `yaml:"type"`
}

// Group declares a group: the union of what it lists.
type Group struct {
	Name     string   `yaml:",key"`
	Line     int      `yaml:",line"`
	Chains   []string `yaml:"chains"`
	Joints   []string `yaml:"joints"`
	Groups   []string `yaml:"groups"`
	Leaves   []string `yaml:"leaves"`
	Tip      string   `yaml:"tip"`
	Resource *bool    `yaml:"resource"` // true if absent, false if Groups is all it lists
}

// SafeState declares what a limb does when it must stop being dangerous.
type SafeState struct {
	Group string `yaml:",key"`
	Line  int    `yaml:",line"`
	Do    string `yaml:"do"`
	Pose  string `yaml:"pose"`
}

// Leaving declares what the robot does when the program that drives it ends.
type Leaving struct {
	Line     int     `yaml:",line"`
	Do       string  `yaml:"do"`
	Pose     string  `yaml:"pose"`
	Speed    float64 `yaml:"speed"`    // share of the joints' limits
	Deadline float64 `yaml:"deadline"` // s
}

// Walking declares how the robot walks. What is absent is derived from its geometry.
type Walking struct {
	Line    int            `yaml:",line"`
	Lines   map[string]int `yaml:",lines"`
	Height  *float64       `yaml:"height"`   // of the base above the ground, m
	Reach   *float64       `yaml:"reach"`    // of a foot from its place when it is put down, m
	Margin  *float64       `yaml:"margin"`   // that the zero-moment point keeps from edges, m
	Fade    *float64       `yaml:"fade"`     // s in which a foot takes its load
	BySpeed []string       `yaml:"by_speed"` // gaits, the slowest first
	Gaits   []Gait         `yaml:"gaits"`
}

// Gait declares what a gait has otherwise than the robot's geometry gives it.
type Gait struct {
	Name   string         `yaml:",key"`
	Line   int            `yaml:",line"`
	Lines  map[string]int `yaml:",lines"`
	Period *float64       `yaml:"period"` // s
	Duty   *float64       `yaml:"duty"`   // share of the period that a foot stands
	Lift   *float64       `yaml:"lift"`   // of a foot, m
	Speed  *float64       `yaml:"speed"`  // of a foot that stands at most, m/s
	Order  []string       `yaml:"order"`  // chains, one lifted after the other, evenly spread
	Phase  []LegPhase     `yaml:"phase"`  // or when each is lifted
}

// LegPhase is when a foot is lifted, as a share of the period.
type LegPhase struct {
	Chain string  `yaml:",key"`
	Line  int     `yaml:",line"`
	Value float64 `yaml:",value"`
}

// GetUp declares how the robot gets up after a fall: poses, one after the other.
type GetUp struct {
	Line  int    `yaml:",line"`
	Left  []Rise `yaml:"left"`  // from its left side on its belly
	Belly []Rise `yaml:"belly"` // from there on its feet
}

// Rise is a pose on the way to its feet.
type Rise struct {
	Line   int          `yaml:",line"`
	In     float64      `yaml:"in"`   // s
	Pose   string       `yaml:"pose"` // one that is declared, or
	Joints []JointValue `yaml:"joints"`
}

// External declares how the robot feels what touches it. Zero values are the defaults of package external.
type External struct {
	Line       int        `yaml:",line"`
	Off        bool       `yaml:"off"`
	ForceOn    float64    `yaml:"force_on"`  // N
	Bandwidth  float64    `yaml:"bandwidth"` // rad/s
	ModelError float64    `yaml:"model_error"`
	Delay      float64    `yaml:"delay"`     // s
	LiftGate   float64    `yaml:"lift_gate"` // s
	Impact     float64    `yaml:"impact"`    // standard deviations
	Odometry   bool       `yaml:"odometry"`
	Impacts    []Argument `yaml:"impacts"` // limb and reaction
}

// Model describes a servo: of a type, of a joint, or of servos that name it.
type Model = modelfile.Entry

// Servo assigns a servo to a joint.
type Servo struct {
	Joint    string         `yaml:",key"`
	Line     int            `yaml:",line"`
	Lines    map[string]int `yaml:",lines"`
	ID       *int           `yaml:"id"`
	Bus      string         `yaml:"bus"`
	Type     string         `yaml:"type"`
	Model    string         `yaml:"model"`
	Reversed bool           `yaml:"reversed"`
	Zero     float64        `yaml:"zero"`
	Gear     *float64       `yaml:"gear"`
	Min      *int           `yaml:"min"` // steps
	Max      *int           `yaml:"max"`

	Registers []Register `yaml:"registers"`
}

// Register is what a register of a servo has to hold.
type Register struct {
	Name  string `yaml:",key"`
	Value int    `yaml:",value"`
}

// Bus is the line of a robot that has one.
type Bus struct {
	Port string `yaml:"port"`
	Baud int    `yaml:"baud"`
}

// IMU is the inertial unit of a robot, on a serial line of its own.
type IMU struct {
	Port     string    `yaml:"port"`
	Baud     int       `yaml:"baud"`
	Type     string    `yaml:"type"`
	Rotation []float64 `yaml:"rotation"` // roll, pitch, yaw of the unit on the base link, rad
}

// NamedBus is one of several lines.
type NamedBus struct {
	Name string `yaml:",key"`
	Line int    `yaml:",line"`
	Port string `yaml:"port"`
	Baud int    `yaml:"baud"`
}

// Pose declares a named pose of some joints.
type Pose struct {
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

// Mirror declares two joints that are each other's mirror image, or one
// in the middle that is its own.
type Mirror struct {
	Line   int    `yaml:",line"`
	Left   string `yaml:"left"`
	Right  string `yaml:"right"`
	Middle string `yaml:"middle"`
	Sign   *int   `yaml:"sign"`
}

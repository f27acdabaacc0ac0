package robot

import (
	"poise/robot/description"
	"poise/spatial"
	"poise/urdf"
)

// JointID numbers the independent joints in the order of all arrays.
type JointID int

// NoJoint stands for a joint that is not there, such as the floating base's.
const NoJoint JointID = -1

// BodyID numbers the bodies; a parent comes before its children.
type BodyID int

// World is the body that does not move.
const World BodyID = 0

// FrameID numbers the frames: one for each link of the file, in document order
// of the tree walk.
type FrameID int

// NoFrame stands for a frame that is not there.
const NoFrame FrameID = -1

// Kind says how a body moves against its parent.
type Kind uint8

// The kinds of motion. Axes are those of the body frame before the motion.
const (
	Revolute   Kind = iota // about z, bounded
	Continuous             // about z, unbounded; one angle, any value
	Prismatic              // along z
	Planar                 // x, y, then about z (3 coordinates)
	Floating               // free: x y z qx qy qz qw (7 coordinates, 6 velocities)
)

// String returns the word that URDF has for the kind.
func (k Kind) String() string {
	return [...]string{"revolute", "continuous", "prismatic", "planar", "floating"}[k]
}

// NumQ returns how many numbers of q a joint of this kind takes.
func (k Kind) NumQ() int {
	switch k {
	case Planar:
		return 3
	case Floating:
		return 7
	}
	return 1
}

// NumV returns how many numbers of v a joint of this kind takes.
func (k Kind) NumV() int {
	switch k {
	case Planar:
		return 3
	case Floating:
		return 6
	}
	return 1
}

// Body is a rigid body and the motion that joins it to its parent:
//
//	X_PB(q) = Rest · motion(ratio·q + offset)
type Body struct {
	Parent  BodyID
	Kind    Kind
	Rest    spatial.Pose    // X_PB at zero, body frame (axis +z) in the parent's body frame
	Inertia spatial.Inertia // of all merged links, in the body frame
	Joint   JointID         // whose coordinate moves it (a mimic's leader); NoJoint for the floating base
	Q, V    int             // first index in q and v
	Ratio   float64         // 1, or the multiplier of a mimic (chain multiplied out)
	Offset  float64         // 0, or the offset of a mimic
	Mimic   bool            // moved by another body's joint
	Name    string          // of the joint in the file, "" for the floating base
	Link    FrameID         // the link that the joint carries; NoFrame for the world of a floating robot
}

// Joint is an independent joint: one place in the arrays, with its limits.
type Joint struct {
	Name   string
	Kind   Kind
	Body   BodyID
	Q, V   int // first index in q and v
	Limits Limits

	Damping, Friction float64 // as the file has them, 0 if not

	Virtual bool // no servo moves it: it exists in poses and in the maths only
}

// Description is what robot.yaml says.
type Description = description.Description

// Frame is a named place on a body: one for each link.
type Frame struct {
	Name string
	Body BodyID
	Pose spatial.Pose // X_BF
}

// Model is a robot: immutable after it is built, safe for concurrent use.
type Model struct {
	name     string
	floating bool
	gravity  spatial.Vec3
	nq, nv   int
	mass     float64 // every link, those welded to the world too
	bodies   []Body
	joints   []Joint
	frames   []Frame
	doc      *urdf.Document

	cartesian *CartesianLimits // nil if none are given

	// how it is used: robot.yaml and SRDF
	chains         []Chain
	contacts       []Contact
	groups         []Group
	effectors      []EndEffector
	servos         []Servo // of each joint
	buses          []Bus
	inertial       InertialUnit
	poses          []NamedPose
	mirror         []Mirrored  // of each joint, nil without a mirror table
	safe           []SafeState // of each group
	leaving        Leaving
	walking        Walking
	getUp          GetUp
	external       External
	transition     Limit
	gentle, fast   Limit // velocity and acceleration of transitions
	resources      *Resources
	uncontrollable error // why there are no resources

	jointByName map[string]JointID
	frameByName map[string]FrameID
	groupByName map[string]GroupID

	chainByName   map[string]ChainID
	contactByName map[string]ContactID
	poseByName    map[string]int
}

// Name returns the robot's name.
func (m *Model) Name() string { return m.name }

// Document returns what the model was built from: shapes, materials,
// transmissions. It is shared: read only.
func (m *Model) Document() *urdf.Document { return m.doc }

// NumQ returns the length of a configuration vector.
func (m *Model) NumQ() int { return m.nq }

// NumV returns the length of a velocity vector.
func (m *Model) NumV() int { return m.nv }

// Floating reports whether the base is free; it then is body 1.
func (m *Model) Floating() bool { return m.floating }

// Gravity returns the acceleration of free fall in world axes, m/s².
func (m *Model) Gravity() spatial.Vec3 { return m.gravity }

// Mass returns the mass of all links, kg.
func (m *Model) Mass() float64 { return m.mass }

// Bodies returns the bodies; body 0 is the world. The slice is shared: read only.
func (m *Model) Bodies() []Body { return m.bodies }

// Joints returns the independent joints in array order. The slice is shared: read only.
func (m *Model) Joints() []Joint { return m.joints }

// Frames returns all frames. The slice is shared: read only.
func (m *Model) Frames() []Frame { return m.frames }

// Joint finds an independent joint by name; at start-up only, loops use ids.
func (m *Model) Joint(name string) (JointID, bool) { id, ok := m.jointByName[name]; return id, ok }

// Frame finds a frame by the name of its link; at start-up only.
func (m *Model) Frame(name string) (FrameID, bool) { id, ok := m.frameByName[name]; return id, ok }

// CartesianLimits returns the limits of the tip's motion, nil if there are none.
func (m *Model) CartesianLimits() *CartesianLimits { return m.cartesian }

package urdf

import (
	"math"

	"poise/internal/xmltree"
	"poise/problem"
	"poise/spatial"
)

// Document is a URDF file: links connected by joints, and what hangs on them.
type Document struct {
	Name          string
	Version       string // of URDF, "" if not written
	Links         []Link
	Joints        []Joint
	Materials     []Material
	Transmissions []Transmission
	Pos           problem.Pos
}

// Link is a rigid body.
type Link struct {
	Name       string
	Inertial   *Inertial // nil if the file has none
	Visuals    []Visual
	Collisions []Collision
	Pos        problem.Pos
}

// Inertial is the mass of a link. I is about the centre of mass, in the axes of
// Origin.
type Inertial struct {
	Origin Origin
	Mass   float64
	I      InertiaTensor
	Pos    problem.Pos
}

// InertiaTensor holds the six numbers of a symmetric tensor, kg·m².
type InertiaTensor struct{ XX, XY, XZ, YY, YZ, ZZ float64 }

// Origin is a pose as URDF writes it: kept as angles so that a file reads back
// as it was.
type Origin struct {
	XYZ spatial.Vec3
	RPY spatial.Vec3 // roll, pitch, yaw about fixed axes
}

// Pose returns the origin as a pose.
func (o Origin) Pose() spatial.Pose {
	return spatial.Pose{R: spatial.FromRPY(o.RPY.X, o.RPY.Y, o.RPY.Z), P: o.XYZ}
}

// angles returns roll, pitch, yaw with R = Rz(yaw)·Ry(pitch)·Rx(roll). With an
// upright pitch only the sum or difference of the others counts: roll is 0.
func angles(R spatial.Mat3) spatial.Vec3 {
	const upright = 1e-9 // below it cos(pitch) is rounding, and so are its ratios
	cosPitch := math.Hypot(R[0], R[3])
	pitch := math.Atan2(-R[6], cosPitch)
	if cosPitch < upright {
		return spatial.Vec3{Y: pitch, Z: math.Atan2(-R[1], R[4])}
	}
	return spatial.Vec3{X: math.Atan2(R[7], R[8]), Y: pitch, Z: math.Atan2(R[3], R[0])}
}

// Visual is a shape to look at.
type Visual struct {
	Name     string
	Origin   Origin
	Geometry Geometry
	Material *Material // nil if none; a bare name refers to Document.Materials
	Pos      problem.Pos
}

// Collision is a shape that stands for the link's extent.
type Collision struct {
	Name     string
	Origin   Origin
	Geometry Geometry
	Pos      problem.Pos
}

// Shape tells which of the fields of a Geometry count.
type Shape uint8

// The shapes of URDF.
const (
	Box Shape = iota
	Cylinder
	Sphere
	Capsule
	Mesh
)

var shapeNames = [...]string{"box", "cylinder", "sphere", "capsule", "mesh"}

// String returns the name of the shape's element.
func (s Shape) String() string { return shapeNames[s] }

// Geometry is one shape.
type Geometry struct {
	Shape          Shape
	Size           spatial.Vec3 // Box: edge lengths
	Radius, Length float64      // Cylinder, Capsule (its cylinder's length), Sphere (radius)
	Mesh           string       // Mesh: file as written
	Scale          spatial.Vec3 // Mesh: 1 1 1 by default
}

// Material is a colour, a texture, or both.
type Material struct {
	Name    string
	Color   *[4]float64 // r g b a, nil if none
	Texture string
	Pos     problem.Pos
}

// JointType is the kind of a joint.
type JointType uint8

// The joint types of URDF.
const (
	Fixed JointType = iota
	Revolute
	Continuous
	Prismatic
	Planar
	Floating
)

var jointTypeNames = [...]string{"fixed", "revolute", "continuous", "prismatic", "planar", "floating"}

// String returns the type as URDF writes it.
func (t JointType) String() string {
	if int(t) >= len(jointTypeNames) {
		return "unknown"
	}
	return jointTypeNames[t]
}

// Joint connects a child link to its parent.
type Joint struct {
	Name          string
	Type          JointType
	Parent, Child string
	Origin        Origin
	Axis          spatial.Vec3 // as written; 1 0 0 by default
	Limit         *Limit
	Dynamics      *Dynamics
	Mimic         *Mimic
	Safety        *Safety
	Calibration   *Calibration
	Pos           problem.Pos
}

// Limit is the range of a joint. What is not written is zero; Has tells.
type Limit struct {
	Lower, Upper                     float64
	Effort, Velocity                 float64
	Acceleration, Deceleration, Jerk float64 // since URDF 1.2; all are magnitudes
	Has                              LimitSet
	Pos                              problem.Pos
}

// LimitSet is a set of the limits that a Limit may have.
type LimitSet uint8

// The limits, each as a set of one.
const (
	HasLower LimitSet = 1 << iota
	HasUpper
	HasEffort
	HasVelocity
	HasAcceleration
	HasDeceleration
	HasJerk
)

// Dynamics is the passive friction of a joint.
type Dynamics struct{ Damping, Friction float64 }

// Mimic makes a joint follow another: value = Multiplier·other + Offset.
type Mimic struct {
	Joint              string
	Multiplier, Offset float64
	Pos                problem.Pos
}

// Safety is URDF's safety_controller.
type Safety struct{ SoftLower, SoftUpper, KPosition, KVelocity float64 }

// Calibration is URDF's calibration element; nil where not written.
type Calibration struct{ Reference, Rising, Falling *float64 }

// Transmission is kept as read: Poise does not interpret it.
type Transmission struct {
	Name string
	Type string        // the attribute type, or else the text of the element type
	Tree *xmltree.Node // the whole element, without what is of other name spaces
	Pos  problem.Pos
}

package planner

import (
	"poise/robot"
	"poise/spatial"
)

// Command is the kind of motion.
type Command uint8

// The commands. Unknown is what a request with another name carries.
const (
	Unknown Command = iota
	PTP
	LIN
	CIRC
	POLYLINE
)

var commandNames = [...]string{"unknown", "PTP", "LIN", "CIRC", "POLYLINE"}

func (c Command) String() string { return commandNames[c] }

// ParseCommand returns the command of a name, which is case sensitive.
func ParseCommand(name string) Command {
	for c, n := range commandNames[1:] {
		if n == name {
			return Command(c + 1)
		}
	}
	return Unknown
}

// Request is one goal of motion. It says what its sender said, sense or
// not: Resolve finds out.
type Request struct {
	Command                              Command
	CommandName                          string // as written, for messages
	Group                                string
	VelocityScaling, AccelerationScaling float64
	MaxSpeed                             float64 // m/s of SpeedLink; counts if positive
	SpeedLink                            string  // "" is the tool; to Pilz no limit at all
	Start                                StartState
	Goals                                []Goal // exactly one makes sense
	Via                                  Via
	Smoothness                           float64 // of a polyline's corners
}

// StartState is where the motion begins; with no names and no positions, where
// the robot is.
type StartState struct {
	Names              []string
	Position, Velocity []float64 // Velocity may be empty
	Effort             []float64 // may be empty, and moves nothing
}

// Empty reports whether nothing was said.
func (s *StartState) Empty() bool {
	return len(s.Names) == 0 && len(s.Position) == 0 && len(s.Velocity) == 0 && len(s.Effort) == 0
}

// Goal is where to go: joints, or a position and an orientation of a link.
type Goal struct {
	Joints       []JointGoal
	Positions    []PositionGoal
	Orientations []OrientationGoal
}

// JointGoal is a joint's position at the end.
type JointGoal struct {
	Joint    string
	Position float64
}

// PositionGoal is a place for a point of a link.
type PositionGoal struct {
	Frame  string // in which Points are given; "" is the robot's root
	Link   string
	Offset spatial.Vec3 // the point, in the link
	Points []PointGoal  // exactly one makes sense, but for polylines' waypoints
}

// PointGoal is a place, and for waypoints an orientation.
type PointGoal struct {
	Position    spatial.Vec3
	Orientation spatial.Quat // need not be unit; zero means none given
	Radius      float64      // of the sphere given around it, m; 0 if none, OtherShape if it is no sphere
}

// OtherShape stands for a region around a point that is not a sphere.
const OtherShape = -1

// OrientationGoal is an orientation for a link.
type OrientationGoal struct {
	Frame       string
	Link        string
	Orientation spatial.Quat
}

// Via is what a path passes or goes around: a circle's auxiliary point, or the
// waypoints of a polyline.
type Via struct {
	Name   string // "center" or "interim" for CIRC; see Scene.Extensions
	Points []PositionGoal
}

// Task is a Request whose names have a meaning on one robot.
type Task struct {
	Command                              Command
	VelocityScaling, AccelerationScaling float64
	MaxSpeed                             float64 // 0 if not limited
	SpeedLink                            robot.FrameID
	Smoothness                           float64

	Group         *robot.Group
	Joints        []robot.JointID // of the group, in its order
	Start         []float64       // whole configuration
	StartVelocity []float64       // of the group's joints, in group order
	Goal          []float64       // whole configuration: what was asked for, or one that reaches GoalPose
	Named         []bool          // of Joints: does the goal speak of it
	Cartesian     bool            // the goal was given as a pose
	Link          robot.FrameID   // that follows the path; not for PTP in joint space
	StartPose     spatial.Pose    // of Link
	GoalPose      spatial.Pose
	ViaName       string  // "center", "interim" or "circle"
	ViaAngle      float64 // that a circle is followed for, rad; 0: to the goal
	Via           []spatial.Pose
	ViaRadius     []float64 // of a polyline's corners, m; 0: by Smoothness
}

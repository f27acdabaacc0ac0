package follow

import (
	"strings"

	"poise/control"
	"poise/servo"
	"poise/trajectory"
)

// SupportPrefix begins the name of a column that is no joint but the support
// track of a chain: "support/leg1".
const SupportPrefix = "support/"

// Goal is a joint trajectory to be played: the one type from a stored motion, a
// message or a plan to the compiler.
//
// A support column holds step-like values, each from its point on until the next:
// below 0 means free; up to 1 is the weight on the chain's own contact; above 1
// the whole part is the number of a contact of the robot, the fraction its weight.
type Goal struct {
	Joints []string           // names of the columns, in any order: joints, support/<chain>
	Points []trajectory.Point // at least one, times rising from 0; a later first point is reached from the command

	Path     []Tolerance // on the way: empty is no tolerance, a joint not listed has the default
	Final    []Tolerance // at the end, likewise
	GoalTime float64     // s that the end may take to be met: 0 is the default, negative is for ever

	// Commanded lets tolerances look at the command instead of the measurement.
	// Positions and velocities are compared; accelerations, which nothing measures,
	// are not.
	Commanded bool

	Events []Event // in any order
	Begin  int64   // cycle time at which its clock is at zero, ns (see CycleTime); 0 is when it starts

	// Approach allows a move to the first point from a start pose that is out of
	// tolerance, and from the last to the first of a Loop, with this share of the
	// limits; 0 does not.
	Approach float64
	Loop     bool // begins again when it ends

	Table TableTime // for what is said about the goal
}

// TableTime translates the clock of a goal into the time of the table that it was made
// of: a stored motion that is played in part, faster or backwards runs on another clock
// than its rows. The zero value is the same time.
type TableTime struct {
	Zero float64 // table time of goal time 0, s
	Pace float64 // table time per goal time, negative backwards; 0 is 1
}

// At returns the table time of a goal time.
func (x TableTime) At(t float64) float64 {
	if x.Pace == 0 {
		return x.Zero + t
	}
	return x.Zero + x.Pace*t
}

// Tolerance says how far one joint may be off, as control_msgs/JointTolerance does:
// 0 is the default, negative is no tolerance.
type Tolerance struct {
	Joint string
	trajectory.Tolerance
}

// Event is a text command that leaves at a time of the motion.
type Event struct {
	Time    float64 `json:"time"`
	Type    string  `json:"type"`
	Command string  `json:"command"`
	Options string  `json:"options"`
}

// Columns returns which columns are joints, and which are support tracks.
func (g *Goal) Columns() (joints, supports []int) {
	for k, name := range g.Joints {
		if strings.HasPrefix(name, SupportPrefix) {
			supports = append(supports, k)
		} else {
			joints = append(joints, k)
		}
	}
	return joints, supports
}

// Moved names the joints, in the order of the columns of its curve.
func (g *Goal) Moved() []string {
	joints, _ := g.Columns()
	return picked(g.Joints, joints)
}

// End returns the time of the last point, 0 if there is none.
func (g *Goal) End() float64 {
	if len(g.Points) == 0 {
		return 0
	}
	return g.Points[len(g.Points)-1].Time
}

// Duration returns the time from the first point to the last.
func (g *Goal) Duration() float64 {
	if len(g.Points) == 0 {
		return 0
	}
	return g.End() - g.Points[0].Time
}

// Options are what a robot's owner decides, once for all goals. Zero values mean
// the defaults.
type Options struct {
	Transition control.Transition // where the robot has no acceleration limit, for stops and approach

	Path, Final trajectory.Tolerance // defaults of tolerances; a zero quantity is the default of this package
	GoalTime    float64              // s, default 1
	MaxRate     float64              // highest speed, default 2
}

// CycleTime returns what Goal.Begin is for a stamp of the day (ns since the
// epoch), given a tick that knows both times. A stamp of zero means now.
func CycleTime(stamp int64, at servo.Tick) int64 {
	if stamp == 0 {
		return 0
	}
	if t := at.Time + (stamp - at.Stamp); t != 0 {
		return t
	}
	return 1
}

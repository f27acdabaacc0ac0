package stage

import (
	"poise/qp"
	"poise/robot"
	"poise/wholebody"
)

// Status is how a tick was served.
type Status uint8

// The statuses, the better first.
const (
	Idle     Status = iota // nothing was asked of it
	Served                 // by its levels
	Weighed                // a level of safety was not served: all requests were weighed at once
	Slowing                // that neither: the motion slows down on its path, with the torques of cycle 1
	Limp                   // a limb that stands has no torque: the command is as it was
	Baseless               // nothing is known of the base, or the motion must not begin yet: likewise
)

func (s Status) String() string {
	return [...]string{"idle", "served", "weighed", "slowing", "limp", "baseless"}[s]
}

// Reason says why a tick was not served by its levels.
type Reason uint8

// The reasons.
const (
	NoReason  Reason = iota
	BadInput         // a number of the request was not finite, or not the solver's
	Unsolved         // a level of safety did not find its optimum
	Deadline         // the iterations of the tick were used up
	NotFinite        // the answer was not finite, or absurd
	Unmoved          // the equation of motion was not met
	Sinks            // torques do not carry the body
	Outside          // the robot is said to stand where it would fall
	Straight         // a leg that stands is straight
)

func (r Reason) String() string {
	return [...]string{"", "bad input", "a level of safety was not solved", "no iterations were left", "the answer was not finite", "the equation of motion was not met", "torques do not carry the body", "the robot is said to stand where it would fall", "a leg that stands is straight"}[r]
}

// Supports is what the feet that stand span.
type Supports uint8

// The kinds of supports. Only an area has rows of the zero-moment point and of the capture point.
const (
	Area Supports = iota
	Line          // two points, or several on a line
	Air           // no foot stands
)

func (s Supports) String() string {
	return [...]string{"area", "feet on a line: no row of the zero-moment point", "no foot stands"}[s]
}

// LevelState is how a level was served in the last tick.
type LevelState struct {
	Name            string
	Residual, Slack float64
	Status          qp.Status
	Iterations      int
	Safety          bool
	Active          []wholebody.Row
	Asked           robot.Set // leaves whose references it serves
}

// State is what the last update found.
type State struct {
	Status     Status
	Why        Reason
	Feasible   bool // no level of safety is broken
	Iterations int
	Prevented  bool    // what was asked for would have tipped the robot over
	Margin     float64 // of the capture point in the polygon of the feet that are to stand, m; −∞ without one
	Base       float64 // share of the base's velocity that was reached, 0 … 1
	Pace       float64 // at which a motion of the base can go on, 0.1 … 1: see LimbState.Pace
	Supports   Supports
}

// LimbState is how a limb got on.
type LimbState struct {
	Ratio float64 // share of the velocity that was asked for, 0 … 1
	Pace  float64 // at which motions can go on, 0.1 … 1: below 1 where limits hold the limb back
	Kept  bool    // it was to leave the ground, and stands: without it the robot would tip over
	Lands bool    // it is to stand, and is on its way to the ground
	Point bool    // it was led by its point, else by its joints
}

package executive

import (
	"poise/action"
	"poise/planner/pipeline"
	"poise/problem"
	"poise/servo"
	"poise/spatial"
)

// GoalID names a goal: ids are names within one action.
type GoalID struct {
	Action string // see Goal
	ID     action.ID
}

func (g GoalID) String() string { return g.Action + " " + string(g.ID) }

// Watch is told what becomes of one goal, in order. Each may be nil.
type Watch struct {
	Changed  func(Change)
	Feedback func(Feedback)
}

// Change is one step in the life of a goal. The first is from Pending to Pending.
type Change struct {
	Goal     GoalID
	Who      string // asked for it
	From, To action.State
	Cause    action.Cause
	Tick     servo.Tick // of the newest state that was known
	Result   Result     // meaningful when To is final
}

// Result is what became of a goal.
type Result struct {
	Code         string        // stable: "ok", or that of the first explanation
	Explanations []Explanation // why it ended, if not because it was done
	Time         float64       // its own clock at the end, s
	Table        float64       // the same in the table of a stored motion
	Notes        []Explanation // what else should be known of it

	Plan     pipeline.Answer // of Move: what was planned, or why nothing was
	Executed bool            // of Move: something was performed
	Found    any             // of Experiment
}

// Text puts all explanations into one text.
func (r *Result) Text() string { return problem.Join(r.Explanations) }

// Feedback is the progress of a goal.
type Feedback struct {
	Goal       GoalID
	Who        string // asked for it
	State      action.State
	Controller string // that performs it, "" while it is planned
	Tick       servo.Tick
	Phase      Phase

	Time, Duration float64 // of its own clock, s; Duration 0 has no end
	Wanted, Rate   float64 // how fast that clock is to go, and goes
	Table, End     float64 // where a stored motion is in its table, and ends, s; End 0 if it has no end
	Progress       float64 // of the motion proper, 0 … 1; 0 if it has no end

	Base          spatial.Pose // by odometry; of WalkTo
	Remaining     float64      // way to the place that it walks to, m
	RemainingTurn float64      // and how far it has to turn to the left, rad

	Joints                 []string // that it moves, in the order of the goal
	Desired, Actual, Error []float64
	DesiredSpeed           []float64
	ActualSpeed            []float64
	Resources              []string // that it owns
	Events                 []Event  // that left since the last feedback
}

// Phase is what a running goal is about.
type Phase string

// The phases.
const (
	Planning    Phase = "planning"
	Starting    Phase = "starting"
	Stepping    Phase = "stepping"    // takes steps to where its feet are at its beginning
	Approaching Phase = "approaching" // on its way to the first point
	Moving      Phase = "moving"
	Returning   Phase = "returning" // on its way back to where it began
	Settling    Phase = "settling"  // at the end, until the joints are there too
)

// Unreadable is a goal that could not be read: it is refused, with what Err says.
type Unreadable struct{ Err error }

// Action returns the name of its action.
func (g *Unreadable) Action() string { return "unreadable" }

func (g *Unreadable) prepare(*view) (*work, []Explanation) {
	return nil, problem.All(unreadable, g.Err)
}

// unreadable is the code of the results of goals that could not be read.
const unreadable = "invalid_goal"

package wish

import (
	"slices"

	"poise/control"
	"poise/control/follow"
	"poise/executive/explain"
	"poise/loop"
	"poise/robot"
)

// Goal is something to be done: *Follow, *Play, *Pose, *Perform, *Operational,
// *Execute or *Move. A goal is not written after it was submitted.
type Goal interface {
	// Action is the name of the server of such goals.
	Action() string
	// Prepare checks the goal and says how it is done; it takes nothing. Files are
	// read and trajectories compiled here.
	Prepare(v *View) (*Work, []Explanation)
}

// Work is how a goal is done: a program for one of some controllers. A goal that
// has to be planned first has the program later.
type Work struct {
	Pool     []string // controllers that could do it
	Program  control.Program
	Claim    robot.Set // all that the program asks for
	Duration float64   // s of its own clock; 0 goes on for ever
	Rate     float64   // of that clock; 0 is 1
	Joints   []robot.JointID
	Event    func(number uint32) follow.Event // of the program; nil has none
	Motion   string                           // name of the stored motion, if it is one
	From, To float64                          // of the motion proper on the clock: before is approach, after is return; To 0 is the end
	Notes    []Explanation                    // for the result

	Plan *Plan  // make this first
	Off  string // end what this controller does
}

// newWork is the work of a program.
func newWork(pool []string, p control.Program) *Work {
	needs, wants := p.Claim()
	return &Work{Pool: pool, Program: p, Claim: needs.Union(wants)}
}

// View is what the preparation of a goal sees: the means, the robot as it was a
// moment ago, and what is being done. Nobody else writes it.
type View struct {
	*Means
	Now     *loop.Snapshot // nil if the cycle has not run yet
	Running []*Work        // ordered and not over
	Kept    *Kept          // the trajectory that the goal brought
}

// Prepare prepares a goal. Nothing can be done before the cycle has run.
func (v *View) Prepare(g Goal) (*Work, []Explanation) {
	if v.Now == nil {
		return nil, []Explanation{explain.Because("cycle_silent", "the cycle of the robot has not run yet").With("try again when it does")}
	}
	return g.Prepare(v)
}

// Copy returns a snapshot that the cycle does not write.
func Copy(s *loop.Snapshot) *loop.Snapshot {
	c := *s
	for _, x := range []*[]float64{
		&c.Command.Q, &c.Command.V, &c.Command.A, &c.Command.Tau, &c.Command.Stiff, &c.Command.Output,
		&c.Measured.Q, &c.Measured.V, &c.Measured.Effort} {
		*x = slices.Clone(*x)
	}
	c.Command.Limb, c.Command.Support = slices.Clone(s.Command.Limb), slices.Clone(s.Command.Support)
	c.Measured.Age, c.Measured.Fault = slices.Clone(s.Measured.Age), slices.Clone(s.Measured.Fault)
	c.Active, c.Mode, c.Age, c.Cut = slices.Clone(s.Active), slices.Clone(s.Mode), slices.Clone(s.Age), slices.Clone(s.Cut)
	return &c
}

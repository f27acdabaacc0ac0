package executive

import (
	"slices"

	"poise/control"
	"poise/control/follow"
	"poise/executive/explain"
	"poise/loop"
	"poise/robot"
)

// Goal is something to be done: *Follow, *Play, *Pose, *Step, *Perform,
// *Operational, *Execute or *Move. A goal is not written after it was submitted.
//
//	Goal ──prepare(view)──▶ work: a checked program, and who could perform it
//	                  └───▶ explanations, all of them at once
type Goal interface {
	// Action is the name of the server of such goals.
	Action() string
	// prepare checks the goal and says how it is done. It reads files, compiles and
	// checks; it takes nothing and moves nothing, so it may run anywhere and take its
	// time.
	prepare(v *view) (*work, []Explanation)
}

// work is how a goal is done: a program for one of some controllers. A goal that
// has to be planned first has the program later.
type work struct {
	pool     []string // controllers that could do it
	program  control.Program
	claim    robot.Set // all that the program asks for
	duration float64   // s of its own clock; 0 goes on for ever
	rate     float64   // of that clock; 0 is 1
	joints   []robot.JointID
	event    func(number uint32) follow.Event // of the program; nil has none
	motion   string                           // name of the stored motion, if it is one
	from, to float64                          // of the motion proper on the clock: before is approach, after is return; to 0 is the end
	notes    []Explanation                    // for the result

	plan *plan  // make this first
	off  string // end what this controller does
}

// newWork is the work of a program.
func newWork(pool []string, p control.Program) *work {
	needs, wants := p.Claim()
	return &work{pool: pool, program: p, claim: needs.Union(wants)}
}

// view is what the preparation of a goal sees: the configuration, the robot as it was
// a moment ago, and what is being done.
type view struct {
	cfg     *Config
	words   *explain.Words
	now     *loop.Snapshot // nil if the cycle has not run yet
	running []*work        // ordered and not over
	kept    *Kept          // the trajectory that the goal brought
}

// prepare a goal. Nothing can be done before the cycle has run.
func (v *view) prepare(g Goal) (*work, []Explanation) {
	if v.now == nil {
		return nil, []Explanation{explain.Because("cycle_silent", "the cycle of the robot has not run yet").With("try again when it does")}
	}
	return g.prepare(v)
}

// copyOf returns a snapshot that the cycle does not write.
func copyOf(s *loop.Snapshot) *loop.Snapshot {
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

package executive

import (
	"slices"

	"poise/action"
	"poise/control"
	"poise/control/follow"
	"poise/control/walk"
	"poise/executive/explain"
	"poise/loop"
	"poise/problem"
	"poise/robot"
)

// Goal is something to be done: *Follow, *Play, *Pose, *Step, *Perform,
// *Operational, *Execute, *Move, *Experiment, or one of them Resumed. A goal is not written after it was submitted.
//
//	Goal ──prepare(view)──▶ work: a checked program, and who could perform it
//	                  └───▶ explanations, all of them at once
type Goal interface {
	// Action returns the name of the action to which such goals belong.
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
	duration float64   // s of its own clock; 0 has no end
	rate     float64   // of that clock; 0 is 1
	joints   []robot.JointID
	event    func(number uint32) follow.Event // of the program; nil has none
	motion   string                           // name of the stored motion, if it is one
	from, to float64                          // of the motion proper on the clock: before is approach, after is return; to 0 is the end
	table    follow.TableTime                 // of that clock
	notes    []Explanation                    // for the result
	goal     *walk.Target                     // place that is walked to, if it is one

	before     []firstOrder  // what the cycle has to do first
	steps      *work         // take these first, and prepare the goal anew then
	then       *work         // of steps: what they are taken for
	plan       *plan         // make this first
	experiment ExperimentRun // makes the program first, and evaluates it in the end
	stages     []Stage       // of its program
	off        string        // end what this controller does
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
		return nil, []Explanation{*problem.New("cycle_silent", "the cycle of the robot has not run yet").With("try again when it does")}
	}
	return g.prepare(v)
}

// look takes a view of the robot and of what is being done.
func (e *Executive) look() *view {
	e.catchUp()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.view()
}

// view is look with everything locked.
func (e *Executive) view() *view {
	v := &view{cfg: &e.cfg, words: e.words}
	if e.robot.snap != nil {
		v.now = copyOf(e.robot.snap)
	}
	for _, j := range e.goals.live {
		if j.number != 0 {
			v.running = append(v.running, j.work)
		}
	}
	return v
}

// operate makes the work of a continuous controller on some leaves, now.
func (e *Executive) operate(s *seat, set robot.Set) (*work, []Explanation) {
	v := &view{cfg: &e.cfg, words: e.words, now: e.robot.snap}
	return v.operate(s.Controller, set)
}

// prepareSoon prepares a goal elsewhere: reading a motion and compiling it takes its
// time, and the next message of its sender may be a stop. Goals of one sender are
// prepared one after the other, so that they begin in the order in which they came.
func (e *Executive) prepareSoon(j *job) {
	queue, busy := e.waiting[j.who] // there, though perhaps empty, until prepareAll is over
	e.waiting[j.who] = append(queue, j)
	if !busy {
		e.out.add(func() { e.cfg.Go(func() { e.prepareAll(j.who) }) })
	}
}

// prepareAll prepares the goals of a sender until none waits.
func (e *Executive) prepareAll(who string) {
	for {
		e.mu.Lock()
		queue := e.waiting[who]
		for len(queue) > 0 && queue[0].h.State().Terminal() { // called off meanwhile
			queue = queue[1:]
		}
		if len(queue) == 0 {
			delete(e.waiting, who)
			e.mu.Unlock()
			return
		}
		e.waiting[who] = queue
		j, v := queue[0], e.view()
		e.mu.Unlock()
		w, why, cause := v.prepareSafely(j.goal)
		e.locked(func() {
			e.waiting[who] = e.waiting[who][1:]
			if v.kept != nil {
				e.last = v.kept
			}
			if j.h.State().Terminal() {
				return
			}
			if j.work, j.why = w, why; len(why) > 0 {
				j.fail(cause, why...)
			} else {
				j.begin()
			}
		})
	}
}

// prepareSafely prepares a goal; a panic on the way is the end of the goal alone.
func (v *view) prepareSafely(g Goal) (w *work, why []Explanation, cause action.Cause) {
	defer func() {
		if p := recover(); p != nil {
			w, cause = nil, action.Fault
			why = []Explanation{*problem.New("panicked", "preparing the goal failed: %v", p)}
		}
	}()
	w, why = v.prepare(g)
	return w, why, action.ConditionsUnmet
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
	c.Measured.Contacts, c.External, c.Limbs = slices.Clone(s.Measured.Contacts), slices.Clone(s.External), slices.Clone(s.Limbs)
	c.Active, c.Mode, c.Age, c.Cut = slices.Clone(s.Active), slices.Clone(s.Mode), slices.Clone(s.Age), slices.Clone(s.Cut)
	return &c
}

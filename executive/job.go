package executive

import (
	"fmt"
	"slices"

	"poise/action"
	"poise/control"
	"poise/executive/explain"
	"poise/loop"
	"poise/problem"
)

// job is a goal on its way.
type job struct {
	e     *Executive
	goals *Goals
	id    GoalID
	goal  Goal
	watch Watch
	who   string
	hears string // publisher whose stream its controller hears; "" is who
	h     *action.Handle[*job, Feedback, Result]

	work   *work
	why    []Explanation // it cannot even be ordered
	seat   *seat         // that performs it, once it is ordered
	number uint64        // of its order, 0 before
	begun  bool          // the cycle performs it
	off    bool          // its controller is being switched off
	tick   uint64        // since when
	time   float64
	due    int64         // tick time of its next feedback, ns
	unsent []Event       // of its next feedback
	result Result        // what is known of it so far
	unmet  []Explanation // why what had to be done before it was refused
	halts  uint64        // of the robot, when the goal came
	stop   func()        // ends its planning
	over   int64         // when it ended, ns

	stepping bool   // it takes steps first (footing.go)
	stepped  bool   // it has, or they were refused
	stops    uint64 // that were asked for when they began
}

// begin goes on with a goal that is prepared: orders it, or plans it first.
func (j *job) begin() {
	e, h := j.e, j.h
	switch {
	case len(j.why) > 0:
		j.fail(action.ConditionsUnmet, j.why...)
	case e.robot.silent:
		j.fail(action.ServerGone, e.whySilent())
	case j.work.off != "":
		h.Accept()
		j.switchOff()
	case j.work.plan != nil:
		h.Accept()
		j.startPlanning()
	case j.work.experiment != nil:
		h.Accept()
		j.startExperiment()
	case j.stepped:
		if why := j.calledOff(); why != control.OK { // since its steps were done
			j.fail(action.Stopped, e.words.Reason(control.Because(why), ""))
			return
		}
		j.work.before = nil // it was ordered with the steps, and undoes nothing that is newer
		j.dispatch()
	case j.work.steps != nil:
		j.takeSteps()
	default:
		j.dispatch()
	}
}

// dispatch orders the cycle to perform the program.
func (j *job) dispatch() {
	e := j.e
	if (len(j.work.before) > 0 || j.work.experiment != nil) && j.halts != e.halts() { // it undoes nothing that is newer than itself, and begins nothing after a stop
		j.fail(action.ConditionsUnmet, e.words.Reason(control.Because(control.Stopping), ""))
		return
	}
	seat, why := e.goals.choose(j.work, &e.robot)
	if seat == nil {
		j.fail(action.NotGranted, why)
		return
	}
	number := e.orders.nextNumber()
	for _, b := range j.work.before {
		e.audit(j.who, b.what, "sent for "+j.what())
		e.orders.send(loop.Order{Kind: b.kind, Goal: number})
	}
	if !e.orders.trySend(loop.Order{Kind: loop.StartGoal, Controller: seat.id, Goal: number, Program: j.work.program}) {
		j.fail(action.ConditionsUnmet, e.words.Reason(control.Because(control.Full), seat.title()))
		return
	}
	j.seat, j.number = seat, number
	e.goals.ordered[number] = j
}

// cancel ends the goal because its client wants that. What the cycle performs
// slows down along its path first.
func (j *job) cancel() {
	j.callOff()
	if j.number != 0 {
		return // the cycle says when it is over
	}
	r := failed(j.e.words.Reason(control.Because(control.Cancelled), ""))
	r.Plan = j.result.Plan
	j.h.Withdraw(action.ClientCancel, r, "cancelled by its client")
}

// callOff ends the work on the goal, of the cycle or of a planner.
func (j *job) callOff() {
	switch {
	case j.number != 0:
		j.e.orders.send(loop.Order{Kind: loop.CancelGoal, Controller: j.seat.id, Goal: j.number})
	case j.stop != nil:
		j.stop()
	}
}

// fail ends the goal: rejected if it has not been accepted, else aborted.
func (j *job) fail(cause action.Cause, why ...Explanation) {
	r := j.result
	r.Explanations = why
	j.stamp(&r)
	r.Code = failed(why...).Code
	if _, bad := j.goal.(*Unreadable); bad && cause == action.ConditionsUnmet {
		r.Code = unreadable
	}
	text := problem.Join(why)
	switch {
	case cause == action.Replaced || cause == action.ClientCancel:
		j.h.Withdraw(cause, r, text)
	case j.h.State().Waiting():
		j.h.Reject(cause, r, text)
	default:
		j.h.Abort(cause, r, text)
	}
}

// stamp says in a result how far the goal has come.
func (j *job) stamp(r *Result) {
	r.Time = j.time
	if j.work != nil {
		r.Table = j.work.table.At(j.time)
	}
}

// succeed ends the goal as done.
func (j *job) succeed() {
	r := j.result
	r.Code = "ok"
	j.stamp(&r)
	if j.work != nil {
		r.Notes = j.work.notes
	}
	j.h.Succeed(r, "")
}

// free leaves the controller of a goal that goes on without one.
func (j *job) free() {
	delete(j.e.goals.ordered, j.number)
	seat := j.seat
	j.seat, j.number, j.begun = nil, 0, false
	j.e.goals.offWaiters(seat)
}

// started is the cycle's word that it performs the program.
func (j *job) started(tick uint64) {
	j.begun, j.tick = true, tick
	j.result.Executed = true
	if j.h.State().Waiting() {
		j.h.Accept()
	}
	if r := j.work.rate; r != 0 && r != 1 {
		j.e.orders.send(loop.Order{Kind: loop.GoalRate, Controller: j.seat.id, Goal: j.number, Value: r})
	}
}

// ended closes a goal by the word of the cycle.
func (j *job) ended(r *loop.Report) {
	e := j.e
	j.noteTime()
	if r.Status == control.Done && j.stepping {
		why := j.calledOff()
		if why == control.OK {
			j.goOn()
			return
		}
		r = &loop.Report{Status: control.Quit, Reason: control.Because(why)}
	}
	if r.Status == control.Done {
		j.time = max(j.time, j.work.duration)
		if j.work.experiment != nil {
			j.evaluate()
			return
		}
		j.succeed()
		return
	}
	reason := r.Reason
	if reason.Code == control.ToleranceBroken || reason.Code == control.GoalMissed {
		reason.At = j.work.table.At(reason.At)
	}
	why, cause := e.words.Reason(reason, j.seat.title()), j.causeOf(r)
	if j.off && cause == action.ClientCancel && j.h.State() != action.Preempting {
		cause = action.ServerStopped
		why = *problem.New("switched_off", "controller %q was switched off", j.seat.title())
	}
	j.fail(cause, why)
}

// causeOf says which kind of end a reason is.
func (j *job) causeOf(r *loop.Report) action.Cause {
	switch r.Reason.Code {
	case control.Cancelled:
		return action.ClientCancel
	case control.Replaced:
		return action.Replaced
	case control.ResourceLost:
		// a newer goal of the same kind in another seat is a replacement, too
		if by := j.e.robot.seatOf(r.Reason.Who); by != nil && by != j.seat && by.Kind == j.seat.Kind && !by.Remote {
			return action.Replaced
		}
		return action.ResourceLost
	case control.LeaseExpired:
		return action.ResourceLost
	case control.NotRunning:
		return action.ServerStopped
	case control.Stopping, control.PowerOff:
		return action.Stopped
	case control.Energised:
		return action.ServerStopped
	case control.StoppedByFault, control.Panicked, control.NonFinite:
		return action.Fault
	}
	return action.Failed
}

// switchOff calls off what the controller does; the goal is done when that is over.
func (j *job) switchOff() {
	e := j.e
	off, _ := e.robot.seat(j.work.off)
	busy := false
	for _, other := range e.goals.of(off) {
		busy = true
		other.withdraw()
	}
	if !busy {
		j.succeed()
	}
}

// withdraw calls a goal off in the cycle, without a request of its client: its
// controller was switched off.
func (j *job) withdraw() {
	j.off = true
	j.callOff()
}

// what names the goal for the audit: by its id, and by what people call it.
func (j *job) what() string {
	switch g := j.goal.(type) {
	case *Play:
		return fmt.Sprintf("%s (motion %s)", j.id, g.Name)
	case *Pose:
		return fmt.Sprintf("%s (pose %s)", j.id, g.Name)
	case *Operational:
		if !g.On {
			return fmt.Sprintf("%s (off)", j.id)
		}
	case *ready:
		if g.client != "" {
			return fmt.Sprintf("resource request %d of %s", g.request, g.client)
		}
	case *Move:
		if g.PlanOnly {
			return fmt.Sprintf("%s (plan only)", j.id)
		}
	}
	return j.id.String()
}

// changed keeps the books of the goal's life, and tells its watch.
func (j *job) changed(c action.Change[Result]) {
	e := j.e
	if c.From == action.Pending && c.To == action.Pending {
		j.id = GoalID{Action: j.goals.name, ID: c.ID}
		e.goals.live = append(e.goals.live, j)
		e.audit(j.who, j.what(), "asked")
	}
	out := Change{Goal: j.id, Who: j.who, From: c.From, To: c.To, Cause: c.Cause, Result: c.Result}
	out.Tick = e.robot.tick
	if c.To.Terminal() {
		if len(out.Result.Explanations) == 0 && c.To != action.Succeeded {
			out.Result = failed(*problem.New(explain.Underscored(c.Cause.String()), "%s", c.Detail))
		}
		e.goals.live = slices.DeleteFunc(e.goals.live, func(x *job) bool { return x == j })
		delete(e.goals.ordered, j.number)
		j.over = e.now
		if j.work != nil && j.work.experiment != nil {
			e.out.add(j.work.experiment.End)
		}
		if j.seat != nil && !j.begun {
			e.rounds.over(e, j.seat, j.id, out.Result.Explanations)
		}
		j.goals.over++
		said := c.To.String()
		if text := out.Result.Text(); text != "" {
			said += ": " + text
		}
		e.audit(j.who, j.what(), said)
		e.goals.offWaiters(j.seat)
	}
	if call := j.watch.Changed; call != nil {
		e.out.add(func() { call(out) })
	}
}

func failed(why ...Explanation) Result {
	r := Result{Code: "failed", Explanations: why}
	if len(why) > 0 {
		r.Code = string(why[0].Code)
	}
	return r
}

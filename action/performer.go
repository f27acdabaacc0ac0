package action

import "poise/robot"

// Stage is a controller's seat at the arbiter, as a Performer needs it. Answers
// to Request come through CanStart, ResourcesChanged, Denied and Lost.
type Stage interface {
	Holds(need robot.Set) bool         // operational, and owner of all of these
	Request(need, want robot.Set) bool // asks for them; false if it cannot even ask
	Withdraw()                         // takes back the request under way
	Release()                          // gives everything back
}

// Role is a controller's own code. W is its way to say why not.
type Role[G, W any] interface {
	// Check says which resources the goal takes, and whether it could start here
	// and now; it takes nothing.
	Check(goal G) (need, want robot.Set, why W, ok bool)
	// Start begins the goal; its resources are there. A refusal leaves no trace:
	// the goal that was running goes on.
	Start(goal G) (why W, ok bool)
	// Stop ends what is running. After a cancel the role may take its time to
	// slow down and then calls WoundDown; after any other cause it is over now.
	Stop(cause Cause)
}

// Performer runs the goals of one controller by the rules that all controllers
// share:
//
//   - a goal stays pending until the resources it needs are granted;
//   - conditions unmet or resources not granted: rejected, and the active goal is
//     not disturbed;
//   - a goal whose resources are held already replaces the active one at once,
//     without a round;
//   - replaced: preempted; a needed resource lost: aborted; cancelled by the
//     client: preempted.
//
// Each end has its own Cause, and the result is made of it and of the reason.
type Performer[G, F, R, W any] struct {
	*Single[G, F, R]
	role   Role[G, W]
	stage  Stage
	result func(Cause, W) R

	need    robot.Set // of the active goal
	asked   robot.Set // needed by the pending goal, while its request is under way
	waiting bool
	retains bool // the active goal is over, and its resources are held for the pending one
}

// NewPerformer returns a stopped performer. result makes a goal's result of why
// it ended.
func NewPerformer[G, F, R, W any](role Role[G, W], stage Stage, result func(Cause, W) R, o Observer[G, F, R]) *Performer[G, F, R, W] {
	p := &Performer[G, F, R, W]{role: role, stage: stage, result: result}
	p.Single = NewSingle(Hooks[G]{NewGoal: p.newGoal, CancelActive: p.cancelActive, DropPending: p.dropPending}, o)
	return p
}

func (p *Performer[G, F, R, W]) newGoal(goal G) {
	need, want, why, ok := p.role.Check(goal)
	switch {
	case !ok:
		p.RejectPending(ConditionsUnmet, p.result(ConditionsUnmet, why), "the goal cannot start here and now")
	case p.stage.Holds(need):
		p.begin(need)
	default:
		p.asked, p.waiting = need, true
		if !p.stage.Request(need, want) && p.waiting {
			p.Denied(why)
		}
	}
}

// begin starts the pending goal, whose resources are there.
func (p *Performer[G, F, R, W]) begin(need robot.Set) bool {
	p.waiting = false
	goal, ok := p.PendingGoal()
	if !ok {
		return false
	}
	var none W
	if why, ok := p.role.Start(goal); !ok {
		p.RejectPending(ConditionsUnmet, p.result(ConditionsUnmet, why), "the goal could not be started")
		return false
	}
	p.need, p.retains = need, false
	return p.AcceptPending(p.result(Replaced, none), "replaced by a newer goal")
}

// dropPending takes back the request of a goal that is wanted no more.
func (p *Performer[G, F, R, W]) dropPending() {
	if p.waiting {
		p.waiting = false
		p.stage.Withdraw()
		p.clear()
	}
}

func (p *Performer[G, F, R, W]) cancelActive() { p.role.Stop(ClientCancel) }

// CanStart answers the arbiter's offer: is there a pending goal that these
// resources are enough for, and are its conditions still met?
func (p *Performer[G, F, R, W]) CanStart(offer robot.Set) bool {
	goal, ok := p.PendingGoal()
	if !ok || !p.waiting || !offer.Contains(p.asked) {
		return false
	}
	_, _, _, ok = p.role.Check(goal)
	return ok
}

// ResourcesChanged takes the set that the controller owns from now on, and
// reports whether it goes on. A pending goal whose resources are now there
// starts; an active one that misses a needed one is aborted.
func (p *Performer[G, F, R, W]) ResourcesChanged(owned robot.Set) bool {
	if p.waiting && owned.Contains(p.asked) {
		p.begin(p.asked)
	}
	if p.IsActive() && !owned.Contains(p.need) {
		var none W
		p.Lost(none)
	}
	return p.IsActive()
}

// Denied ends the pending goal, whose resources were refused.
func (p *Performer[G, F, R, W]) Denied(why W) {
	p.waiting = false
	p.RejectPending(NotGranted, p.result(NotGranted, why), "a resource it needs was not granted")
	p.clear()
}

// Lost ends the active goal, which has lost a resource it needs.
func (p *Performer[G, F, R, W]) Lost(why W) {
	if p.IsActive() {
		p.role.Stop(ResourceLost)
		p.AbortActive(ResourceLost, p.result(ResourceLost, why), "a resource it needs was taken away")
	}
}

// Done ends the active goal, which did what it was asked to, and gives its
// resources back.
func (p *Performer[G, F, R, W]) Done(why W) bool {
	acted := p.SucceedActive(p.result(Finished, why), "")
	return p.leave(acted)
}

// Fail ends the active goal, which cannot go on, and gives its resources back.
func (p *Performer[G, F, R, W]) Fail(cause Cause, why W) bool {
	acted := p.AbortActive(cause, p.result(cause, why), cause.String())
	return p.leave(acted)
}

// WoundDown ends the active goal that its client called off, once it has come to
// rest, and gives its resources back.
func (p *Performer[G, F, R, W]) WoundDown(why W) bool {
	acted := p.CancelActive(p.result(ClientCancel, why), "cancelled by its client")
	return p.leave(acted)
}

// leave gives everything back after the last goal; a pending one keeps its place
// in the queue, because its request is another.
func (p *Performer[G, F, R, W]) leave(acted bool) bool {
	if acted {
		p.need = robot.Set{}
		p.retains = true
		if !p.waiting {
			p.clear()
		}
	}
	return acted
}

// clear gives back what a goal that is over has left behind.
func (p *Performer[G, F, R, W]) clear() {
	if p.retains {
		p.retains = false
		p.stage.Release()
	}
}

// Shut aborts what runs, rejects what waits, and takes no more goals; resources
// go back. It reports whether the server was running.
func (p *Performer[G, F, R, W]) Shut(why W) bool {
	if !p.many.Running() {
		return false
	}
	if p.IsActive() {
		p.role.Stop(ServerStopped)
	}
	p.dropPending()
	p.Single.Stop(p.result(ServerStopped, why))
	p.need, p.retains = robot.Set{}, true
	p.clear()
	return true
}

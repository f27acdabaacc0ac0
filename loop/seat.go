package loop

import (
	"fmt"
	"math"

	"poise/arbiter"
	"poise/control"
	"poise/robot"
)

// seat is a controller's place in the loop: loaded, perhaps running (it takes
// goals), perhaps active (it has a program and writes references).
type seat struct {
	l          *Loop
	id         arbiter.ClientID
	controller control.Controller
	running    bool
	claim      arbiter.Claim

	program control.Program // being performed, nil if none
	goal    uint64
	ref     *control.Reference
	rate    float64 // its own share of time: 0 after a cancel
	since   float64 // of the cancel, s

	pending     control.Program // asked for, waiting for its resources
	pendingGoal uint64
	refusal     control.Reason // of the pending one
}

func (l *Loop) register(r Registration) error {
	id := arbiter.ClientID(len(l.seats))
	s := &seat{l: l, id: id, controller: r.Controller, running: true, rate: 1,
		ref: control.NewReference(l.dof, len(l.cfg.Model.Chains()), l.outputs())}
	s.claim.SetPriority(r.Pending, r.Operational)
	if _, known := l.arb.Lookup(r.Name); known {
		return fmt.Errorf("loop: two controllers are named %q", r.Name)
	}
	got, err := l.arb.Register(0, r.Name, s)
	if err != nil {
		return err
	}
	if got != id {
		panic("loop: controllers and clients are numbered apart")
	}
	l.seats = append(l.seats, s)
	return nil
}

// outputs counts the robot's typed leaves.
func (l *Loop) outputs() (n int) {
	res, _ := l.cfg.Model.Resources() // New has looked
	for _, leaf := range res.Leaves() {
		if leaf.Kind == robot.OutputLeaf {
			n++
		}
	}
	return n
}

func (s *seat) report(k ReportKind, goal uint64, st control.Status, why control.Reason) {
	s.l.report(Report{Kind: k, Controller: s.id, Goal: goal, Status: st, Reason: why})
}

// startGoal asks for a program to be performed. What runs is not disturbed until
// the new one can start.
func (s *seat) startGoal(o Order) {
	reject := func(why control.Reason) { s.report(GoalRejected, o.Goal, control.Failed, why) }
	switch {
	case !s.running:
		reject(control.Because(control.NotRunning))
		return
	case s.l.stops.blocks():
		reject(control.Because(control.Stopping))
		return
	case s.l.powered.state != Enabled:
		reject(control.Because(control.PowerOff))
		return
	case o.Program == nil:
		reject(control.Because(control.BadProgram))
		return
	}
	if why := s.check(o.Program); why.Code != control.OK {
		reject(why)
		return
	}
	if s.pending != nil { // a newer one replaces it
		s.report(GoalRejected, s.pendingGoal, control.Failed, control.Because(control.Replaced))
		s.pending = nil
	}
	needs, wants := o.Program.Claim()
	if own := s.owned(); s.program != nil && own.Contains(needs) && wants.Minus(own).Empty() {
		s.swap(o.Program, o.Goal, reject)
		return
	}
	s.claim.Need, s.claim.Want = needs, wants
	s.pending, s.pendingGoal, s.refusal = o.Program, o.Goal, control.Because(control.NotGranted)
	why, err := s.l.arb.Request(s.l.tick.Time, s.id, &s.claim)
	if s.pending == nil {
		return // started, or refused by its own hook
	}
	s.pending = nil
	s.refusal.Who = why.Who
	if err != nil {
		s.refusal = control.Because(control.Unknown)
	}
	reject(s.refusal)
}

// swap replaces the running program by one that needs nothing more: the same
// tick, no round.
func (s *seat) swap(p control.Program, goal uint64, reject func(control.Reason)) {
	if why := s.start(p); why.Code != control.OK {
		reject(why)
		return
	}
	if s.program != nil {
		s.report(GoalEnded, s.goal, control.Quit, control.Because(control.Replaced))
	}
	s.begin(p, goal)
}

func (s *seat) begin(p control.Program, goal uint64) {
	s.program, s.goal, s.rate = p, goal, 1
	needs, wants := p.Claim()
	for leaf := range needs.Union(wants).All {
		if int(leaf) < s.l.dof {
			s.l.fresh[leaf] = true // a new program is a new reference
		}
	}
	s.report(GoalStarted, goal, control.Going, control.Because(control.OK))
}

func (s *seat) owned() robot.Set {
	c := s.l.arb.Client(s.id)
	return c.Owned()
}

// CanStart answers the arbiter's offer.
func (s *seat) CanStart(robot.Set) bool {
	if s.pending == nil {
		return false
	}
	s.refusal = s.check(s.pending)
	return s.refusal.Code == control.OK
}

// ResourcesChanged takes what the arbiter gives, and begins the pending program.
func (s *seat) ResourcesChanged(owned robot.Set) bool {
	s.l.report(Report{Kind: OwnerChanged, Controller: s.id, Set: owned})
	if s.pending != nil {
		p, goal := s.pending, s.pendingGoal
		if needs, _ := p.Claim(); owned.Contains(needs) {
			s.pending = nil
			started := true
			s.swap(p, goal, func(why control.Reason) {
				s.report(GoalRejected, goal, control.Failed, why)
				started = false
			})
			return started || s.program != nil
		}
	}
	if s.program == nil {
		return false
	}
	return s.tellOwned(owned) != control.Quit
}

// update lets the controller make its reference, and ends its goal if it is over.
func (s *seat) update() {
	l := s.l
	client := l.arb.Client(s.id)
	if !client.Operational() {
		s.end(control.Quit, control.Because(control.ResourceLost))
		return
	}
	l.input.Own, l.input.Rate = client.Owned(), s.rate*l.timeRate()
	s.ref.Reset()
	status, why := s.safeUpdate()
	s.ref.Has = s.ref.Has.Intersect(l.input.Own)
	if s.rate == 0 && status == control.Going && (s.atRest() || l.now-s.since > l.cfg.StopDeadline) {
		status, why = control.Quit, control.Because(control.Cancelled)
	}
	if status != control.Going {
		s.end(status, why)
	}
}

// timeRate is how fast time goes for all motions now.
func (l *Loop) timeRate() float64 {
	if l.stops.ramping() {
		return 0
	}
	return min(l.rate, l.faults.slow)
}

// restSpeed is the step velocity below which a joint counts as at rest, rad/s.
const restSpeed = 1e-6

// atRest reports whether all joints that the controller owns stand still.
func (s *seat) atRest() bool {
	for leaf := range s.owned().All {
		if j := int(leaf); j < s.l.dof && math.Abs(s.l.limiter.Velocity(j)) > restSpeed {
			return false
		}
	}
	return true
}

// end ends the running goal, and gives everything back.
func (s *seat) end(st control.Status, why control.Reason) {
	if s.program == nil {
		return
	}
	s.program = nil
	s.report(GoalEnded, s.goal, st, why)
	// an error here means that it was called from a hook: the arbiter then takes
	// back what the hook gives up
	_ = s.l.arb.Quit(s.l.tick.Time, s.id)
}

// fail ends the running goal for a fault of its own.
func (s *seat) fail(why control.Reason) { s.end(control.Failed, why) }

func (s *seat) cancelGoal(o Order) {
	switch {
	case s.pending != nil && (o.Goal == 0 || o.Goal == s.pendingGoal):
		s.report(GoalRejected, s.pendingGoal, control.Quit, control.Because(control.Cancelled))
		s.pending = nil
	case s.program != nil && (o.Goal == 0 || o.Goal == s.goal):
		if s.rate != 0 {
			s.rate, s.since = 0, s.l.now // its own clock slows along its path
		}
	default:
		s.report(OrderRefused, o.Goal, control.Quit, control.Because(control.Unknown))
	}
}

// halt stops the controller: what runs is aborted, and goals are refused.
func (s *seat) halt() {
	s.running = false
	s.end(control.Quit, control.Because(control.NotRunning))
}

// The controller's own code may fail; then it is its own fault and nobody
// else's.

func (s *seat) check(p control.Program) (why control.Reason) {
	defer s.recovered(&why)
	s.l.input.Own, s.l.input.Rate = s.owned(), s.l.timeRate()
	return s.controller.Check(&s.l.input, p)
}

func (s *seat) start(p control.Program) (why control.Reason) {
	defer s.recovered(&why)
	s.l.input.Own, s.l.input.Rate = s.owned(), s.l.timeRate()
	return s.controller.Start(&s.l.input, p)
}

func (s *seat) safeUpdate() (st control.Status, why control.Reason) {
	defer s.recoveredAs(control.Failed, &st, &why)
	return s.controller.Update(&s.l.input, s.ref)
}

func (s *seat) tellOwned(owned robot.Set) (st control.Status) {
	var why control.Reason
	defer s.recoveredAs(control.Quit, &st, &why)
	s.l.input.Own = owned
	return s.controller.Owned(&s.l.input, owned)
}

// recovered turns a panic into a reason. It must be deferred itself: recover works
// nowhere else.
func (s *seat) recovered(why *control.Reason) {
	if recover() != nil {
		s.blame(why)
	}
}

// recoveredAs turns a panic into a status and a reason; see recovered.
func (s *seat) recoveredAs(bad control.Status, st *control.Status, why *control.Reason) {
	if recover() != nil {
		*st = bad
		s.blame(why)
	}
}

func (s *seat) blame(why *control.Reason) {
	*why = control.Reason{Code: control.Panicked, Joint: robot.NoJoint, Who: s.id}
	s.l.faults.raise(s.l, ControllerPanic, robot.NoJoint, float64(s.id))
}

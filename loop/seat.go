package loop

import (
	"fmt"
	"math"

	"poise/arbiter"
	"poise/control"
	"poise/robot"
)

// seat is the place of one controller of the robot, as the cycle sees it: loaded,
// perhaps running (it takes goals), perhaps active (it has a program and writes references).
type seat struct {
	l          *Loop
	id         arbiter.ClientID
	controller control.Controller
	running    bool
	claim      arbiter.Claim

	rank, rankRunning float32 // priority while it asks, and once it runs

	program   control.Program // being performed, nil if none
	needs     robot.Set       // and what it cannot do without
	goal      uint64
	ref       *control.Reference
	status    control.Status // of the last update, and why
	why       control.Reason
	rate      float64 // speed override of its own
	behind    float64 // s that its clock has to catch up, see hurry
	passed    float64 // s that its clock went on in the last tick
	paused    bool
	felt      triggers
	cancelled bool
	since     float64        // of the cancel, s
	due, told uint32         // events that have left, and those that were reported
	broken    control.Reason // its code has failed, and what it performs has to end

	fed      [control.Lanes]fed // newest values of streams, until the orders of a tick are taken
	tookFed  uint64             // number of the newest value that it took
	stream   control.Fed        // the controller, if it follows one
	stamped  bool               // by values that have their times
	supports bool               // it knows which feet stand
	upright  control.Upright    // the controller, if it has the robot on its feet
	lying    control.Lying      // or if it moves one that lies

	needed  robot.Set      // by the program that was looked at last, and
	wanted  robot.Set      // as well
	ranked  bool           // by priorities of its own, which the arbiter has to hear
	refusal control.Reason // of that program

	pending      control.Program // asked for, in a round that is open
	pendingGoal  uint64
	pendingNeeds robot.Set
	pendingWants robot.Set

	remote remote // of an external controller
}

func (l *Loop) register(r Registration) error {
	id := arbiter.ClientID(len(l.seats))
	s := &seat{l: l, id: id, controller: r.Controller, running: true, rate: 1,
		ref: control.NewReference(l.dof, len(l.cfg.Model.Chains()), l.merge.Outputs())}
	s.stream, _ = r.Controller.(control.Fed)
	if x, ok := r.Controller.(control.Stamped); ok {
		s.stamped = x.Stamped()
	}
	s.supports = r.Supports
	s.upright, _ = r.Controller.(control.Upright)
	s.lying, _ = r.Controller.(control.Lying)
	s.rank, s.rankRunning = r.Pending, r.Operational
	if _, known := l.arb.Lookup(r.Name); known {
		return fmt.Errorf("loop: two controllers are named %q", r.Name)
	}
	got, err := s.join(r)
	if err != nil {
		return err
	}
	if got != id {
		panic("loop: controllers and clients are numbered apart")
	}
	l.seats = append(l.seats, s)
	return nil
}

func (s *seat) report(k ReportKind, goal uint64, st control.Status, why control.Reason) {
	r := Report{Kind: k, Controller: s.id, Goal: goal, Status: st, Reason: why}
	if why.Code == control.Panicked {
		r.Last = s.l.box.excerpt()
	}
	s.l.report(r)
}

// startGoal asks for a program to be performed. What runs is not disturbed until
// the new one can start.
func (s *seat) startGoal(o Order) {
	if why := s.willing(o); why.Code != control.OK {
		s.report(GoalRejected, o.Goal, control.Failed, why)
		return
	}
	if s.pending != nil { // what was asked for before is not wanted any more
		s.reject(control.Because(control.Replaced))
	}
	needs, wants := s.whole()
	// an external one is asked in any case: it waits for its offer
	if own := s.owned(); s.program != nil && !s.remote.is && own.Contains(needs) && wants.Minus(own).Empty() && !s.ranked {
		if rest := own.Minus(needs.Union(wants)); s.swap(o.Program, o.Goal, s.needed, s.wanted) && !rest.Empty() {
			_ = s.l.arb.Release(s.l.tick.Time, s.id, rest) // what it does not ask for any more
		}
		return
	}
	s.claim.Need, s.claim.Want = needs, wants
	s.pending, s.pendingGoal, s.refusal = o.Program, o.Goal, control.Because(control.OK)
	s.remote.heard, s.remote.own = s.l.tick.Time, s.claim.Lease
	s.pendingNeeds, s.pendingWants = s.needed, s.wanted
	// it starts, or is rejected, now; or later, while an external one is asked for its answer
	if _, err := s.l.arb.Request(s.l.tick.Time, s.id, &s.claim); err != nil {
		s.reject(control.Because(control.Unknown))
	}
}

// reject ends what was asked for before it began.
func (s *seat) reject(why control.Reason) {
	if s.pending == nil {
		return
	}
	s.pending = nil
	s.report(GoalRejected, s.pendingGoal, control.Failed, why)
}

// denied says why a request was denied: the controller's own refusal, or the
// arbiter's.
func (s *seat) denied(reason arbiter.Reason, err error) control.Reason {
	switch {
	case err != nil:
		return control.Because(control.Unknown)
	case s.refusal.Code != control.OK:
		return s.refusal
	}
	switch reason.Code {
	case arbiter.Silent:
		return control.Because(control.Unanswered)
	case arbiter.Expired:
		return control.LeaseExpired.At(robot.NoJoint, float64(s.l.tick.Time-s.remote.heard)*1e-9, float64(s.remote.allowed())*1e-9)
	}
	return control.Reason{Code: control.NotGranted, Joint: s.l.jointOf(reason.Leaf), Who: reason.Who,
		Value: float64(reason.Mine), Max: float64(reason.Theirs)}
}

// willing tells why a goal cannot be taken, apart from who owns what it needs.
func (s *seat) willing(o Order) control.Reason {
	if o.Program == nil {
		return control.Because(control.BadProgram)
	}
	if why := s.ask(o.Program); why.Code != control.OK {
		return why
	}
	if why := s.able(o.Program, s.needed); why.Code != control.OK {
		return why
	}
	return s.check(o.Program, s.owned())
}

// able tells why a program that needs some leaves cannot be performed as the robot is now.
func (s *seat) able(p control.Program, needs robot.Set) control.Reason {
	switch {
	case !s.running:
		return control.Because(control.NotRunning)
	case s.l.stops.blocks():
		return control.Because(control.Stopping)
	case s.l.powered.state != Enabled:
		return control.Because(control.PowerOff)
	}
	if needs.Overlaps(s.l.faults.blocked) {
		why := control.Because(control.StoppedByFault)
		for leaf := range needs.Intersect(s.l.faults.blocked).All {
			why.Joint, why.Value = s.l.jointOf(leaf), float64(leaf)
			break
		}
		return why
	}
	return s.powered(p, needs)
}

// powered tells which joint that a program needs has no torque. One that lets joints go
// needs none of theirs.
func (s *seat) powered(p control.Program, needs robot.Set) control.Reason {
	lacks := needs.Intersect(s.l.powered.unpowered(s.l))
	if r, ok := p.(control.Releaser); ok {
		lacks = lacks.Minus(r.Releases())
	}
	return without(lacks)
}

// releases returns the joints that the program lets go: by its nature, or by the
// stiffness that it gave them in the last tick.
func (s *seat) releases() (set robot.Set) {
	if s.program == nil {
		return set
	}
	if r, ok := s.program.(control.Releaser); ok {
		set = r.Releases()
	}
	for leaf := range s.ref.Has.Intersect(s.owned()).All {
		if j := int(leaf); j < min(s.l.dof, len(s.ref.Stiff)) && s.ref.Stiff[j] == 0 {
			set = set.With(leaf)
		}
	}
	return set
}

// whole returns what to ask the arbiter for: the owner of a whole limb owns its
// support, too.
func (s *seat) whole() (needs, wants robot.Set) {
	all := s.l.merge.Whole(s.needed.Union(s.wanted))
	needs = s.l.merge.Whole(s.needed)
	return needs, all.Minus(needs)
}

// swap starts a program that needs nothing more, in place of the running one if
// there is one: the same tick, no round. It reports whether it was started.
func (s *seat) swap(p control.Program, goal uint64, needs, wants robot.Set) bool {
	if why := s.start(p); why.Code != control.OK {
		s.report(GoalRejected, goal, control.Failed, why)
		return false
	}
	if s.program != nil {
		s.tellEvents()
		s.report(GoalEnded, s.goal, control.Quit, control.Because(control.Replaced))
	}
	s.ref.Time, s.broken, s.behind, s.passed = 0, control.Reason{}, 0, 0
	s.program, s.goal, s.rate, s.paused, s.cancelled, s.due, s.told = p, goal, 1, false, false, 0, 0
	s.needs = needs
	s.felt.begin()
	if x, ok := s.controller.(control.Seamless); !ok || !x.Seamless() {
		s.l.shaper.Renew(needs.Union(wants)) // a new program is a new reference
	}
	s.report(GoalStarted, goal, control.Going, control.Because(control.OK))
	return true
}

// owned returns what the controller owns: what the arbiter has given it, and it has
// confirmed.
func (s *seat) owned() robot.Set {
	own := s.l.arb.Client(s.id).Owned()
	if s.remote.is { // it may not have heard yet what it lost
		own = own.Intersect(s.l.arb.Owned(s.id))
	}
	return own
}

func (s *seat) operational() bool { return s.l.arb.Client(s.id).Operational() }

// CanStart answers the arbiter's offer.
func (s *seat) CanStart(offer robot.Set) bool {
	if s.pending == nil {
		return false
	}
	if s.remote.is && offer.Empty() {
		s.refusal = s.unavailable()
		return false
	}
	s.refusal = s.check(s.pending, offer)
	return s.refusal.Code == control.OK
}

// ResourcesChanged takes what the arbiter gives, and begins the pending program.
func (s *seat) ResourcesChanged(owned robot.Set) bool {
	s.l.report(Report{Kind: OwnerChanged, Controller: s.id, Set: owned})
	if s.pending != nil {
		p, goal := s.pending, s.pendingGoal
		if why := s.able(p, s.pendingNeeds); why.Code != control.OK { // the robot has stopped since
			s.reject(why)
			return s.program != nil
		}
		if owned.Contains(s.pendingNeeds) {
			s.pending = nil
			return s.swap(p, goal, s.pendingNeeds, s.pendingWants) || s.program != nil
		}
	}
	if s.program == nil {
		return false
	}
	return s.tellOwned(owned) != control.Quit
}

// update lets the controller make its reference.
func (s *seat) update() {
	l := s.l
	if s.broken.Code != control.OK {
		s.end(control.Failed, s.broken)
		return
	}
	if !s.operational() {
		s.end(control.Quit, s.lostTo())
		return
	}
	if !s.awaits() {
		why := control.Because(control.NotTouched)
		why.Value = s.felt.awaited.Timeout
		s.end(control.Failed, why)
		return
	}
	rate, before := s.wantedRate(), s.ref.Time
	l.input.Own, l.input.Rate = s.owned(), s.hurry(rate)
	if l.input.Whole {
		l.input.Bridge = s.bridge()
	}
	s.ref.Reset()
	s.status, s.why = s.safeUpdate()
	s.caughtUp(s.ref.Time-before, rate)
	if s.program == nil || s.why.Code == control.Panicked {
		s.ref.Has = robot.Set{}
	}
	if s.cancelled && s.status == control.Going && (s.mayEnd() && (s.atRest() || s.bridging()) || l.now-s.since > l.cfg.StopDeadline) {
		s.status, s.why = control.Quit, control.Because(control.Cancelled)
	}
}

// give hands the reference to the aggregate, and counts the events that left with
// it. Whatever is wrong with the reference is the controller's own fault.
func (s *seat) give() {
	unresolved := s.resolve()
	s.felt.back.apply(s)
	leaf, ok := s.take()
	switch {
	case unresolved.Code != control.OK:
		s.status, s.why = control.Failed, unresolved
	case s.broken.Code != control.OK: // in Update, or now
		s.status, s.why = control.Failed, s.broken
	case !ok:
		s.status, s.why = control.Failed, control.Reason{Code: control.NonFinite, Joint: s.l.jointOf(leaf), Who: s.id, At: s.l.now, Value: float64(leaf)}
	case !s.cancelled && !s.l.stops.ramping(): // events end with the motion
		from := max(s.due, s.ref.Skipped)
		s.due, s.told = max(s.due, s.ref.Passed), max(s.told, s.ref.Skipped)
		s.pass(from, s.due)
	}
}

// resolve turns the limbs of the reference into joints. Where it cannot, nothing of the
// reference counts.
func (s *seat) resolve() (why control.Reason) {
	why = control.Because(control.OK)
	defer s.recovered(&why)
	if why = s.l.resolver.Resolve(&s.l.input, s.l.ownedBy(s.id).Minus(s.l.faults.blocked), s.ref); why.Code != control.OK {
		s.ref.Has = robot.Set{}
		for i := range s.ref.Limb {
			s.ref.Limb[i].Has = false
		}
	}
	return why
}

// take is Aggregate.Take; a controller may have cut the reference's own memory
// short.
func (s *seat) take() (bad robot.LeafID, ok bool) {
	var why control.Reason
	defer s.recovered(&why)
	return s.l.merge.Take(s.id, s.l.ownedBy(s.id).Minus(s.l.faults.blocked), s.ref)
}

// tellEvents reports the events that have left.
func (s *seat) tellEvents() {
	if s.due <= s.told {
		return
	}
	s.l.report(Report{Kind: EventsLeft, Controller: s.id, Goal: s.goal, From: s.told, To: s.due, Time: s.ref.Time})
	s.told = s.due
}

// feed gives the controller the newest value of its stream.
func (s *seat) feed(p control.Program) (why control.Reason) {
	switch {
	case s.stream == nil:
		return control.Because(control.BadProgram)
	case !s.running:
		return control.Because(control.NotRunning)
	case s.program == nil:
		return control.Because(control.NotActive)
	}
	defer s.recovered(&why)
	s.alive()
	s.l.input.Own, s.l.input.Rate = s.owned(), s.wantedRate()
	return s.stream.Feed(&s.l.input, p)
}

// activity fills in what the controller does.
func (s *seat) activity(a *Activity) {
	*a = Activity{Running: s.running, Active: s.program != nil, Paused: s.paused, Cancelled: s.cancelled,
		Goal: s.goal, Status: s.status, Why: s.why, Own: s.owned(), Time: s.ref.Time, Wanted: s.wantedRate(), Rate: s.ref.Rate, Passed: s.due, Fed: s.tookFed}
	for leaf := range a.Own.All {
		if j := int(leaf); j < s.l.dof && s.l.shaper.HandingOver(j) {
			a.HandOver = true
			return
		}
	}
}

// lostTo says who has what the program needed.
func (s *seat) lostTo() control.Reason {
	why := control.Because(control.ResourceLost)
	if s.remote.expired() {
		return control.LeaseExpired.At(robot.NoJoint, float64(s.l.tick.Time-s.remote.heard)*1e-9, float64(s.remote.allowed())*1e-9)
	}
	for leaf := range s.needs.All {
		if who := s.l.arb.Owner(leaf); who != s.id && who != arbiter.NoClient {
			why.Who, why.Joint = who, s.l.jointOf(leaf)
			break
		}
	}
	return why
}

// wantedRate is how fast time is to go for this motion.
func (s *seat) wantedRate() float64 {
	if s.cancelled || s.paused || s.felt.waits {
		return 0
	}
	rate := min(s.rate*s.l.wantedRate(), maxRate)
	if s.owned().Overlaps(s.l.faults.slow) {
		rate = min(rate, slowRate)
	}
	return rate * s.l.cycles.pace(s.l, s.owned())
}

// mayEnd reports whether what it performs can be ended where it is: not while it has feet in the air, or about to be lifted.
func (s *seat) mayEnd() bool { return s.program == nil || s.upright == nil || s.upright.Stands() }

// atRest reports whether all joints that the controller owns stand still.
func (s *seat) atRest() bool {
	for leaf := range s.owned().All {
		if j := int(leaf); j < s.l.dof && !s.l.shaper.Still(j) {
			return false
		}
	}
	return true
}

// An offset from the reference that does not count as a hand-over any more: what the gate
// shaves off a motion stays far below it.
const (
	nearEnough = 0.01 // rad or m
	slowEnough = 0.05 // rad/s or m/s: a motion that slows down while the offset does not would run away
)

// bridge returns how far the joint is from its reference whose hand-over is farthest from its end.
func (s *seat) bridge() (off float64) {
	for leaf := range s.owned().All {
		if j := int(leaf); j < s.l.dof {
			off = max(off, math.Abs(s.l.shaper.Offset(j).P))
		}
	}
	return off
}

// bridging reports whether a joint of the motion is still being handed over.
func (s *seat) bridging() bool {
	if s.program == nil {
		return false
	}
	for leaf := range s.owned().All {
		if j := int(leaf); j < s.l.dof {
			if o := s.l.shaper.Offset(j); math.Abs(o.P) > nearEnough || math.Abs(o.V) > slowEnough {
				return true
			}
		}
	}
	return false
}

// end ends the running goal, and gives everything back.
func (s *seat) end(st control.Status, why control.Reason) {
	if s.program == nil {
		return
	}
	s.program, s.broken = nil, control.Reason{}
	s.tellEvents()
	s.report(GoalEnded, s.goal, st, why)
	// inside a hook the arbiter refuses; then the next control stage gives back
	// what it has asked for meanwhile goes on
	_ = s.l.arb.Stop(s.l.tick.Time, s.id)
}

// energised tells the owner of joints that they got their torque back. One that has let
// them go, or needs them, ends. One that only wants them goes on, and takes them where they
// are, as if it had lost them and got them again: a walk does not break off for its tail.
func (s *seat) energised(joints robot.Set) {
	owned := s.owned()
	if s.remote.is || s.needs.Union(s.releases()).Overlaps(joints) || s.tellOwned(owned.Minus(joints)) == control.Quit || s.tellOwned(owned) == control.Quit {
		s.end(control.Quit, control.Because(control.Energised))
	}
}

func (s *seat) cancelGoal(o Order) {
	if s.pending != nil && o.Goal == s.pendingGoal {
		s.reject(control.Because(control.Cancelled))
		_ = s.l.arb.Withdraw(s.l.tick.Time, s.id)
		return
	}
	if s.program == nil || o.Goal != 0 && o.Goal != s.goal {
		s.l.refuse(o, control.Because(control.Unknown))
		return
	}
	if !s.cancelled {
		s.cancelled, s.since = true, s.l.now // its own clock slows along its path
	}
}

// halt stops the controller: what runs is aborted, and goals are refused.
func (s *seat) halt() {
	s.running = false
	s.end(control.Quit, control.Because(control.NotRunning))
	if s.pending != nil {
		s.reject(control.Because(control.NotRunning))
		_ = s.l.arb.Withdraw(s.l.tick.Time, s.id)
	}
}

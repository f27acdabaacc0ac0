package loop

import (
	"poise/arbiter"
	"poise/control"
	"poise/robot"
)

// reasons are all for which a goal could not start, as far as there is room.
type reasons struct {
	list  [maxReasons]control.Reason
	count int
}

// maxReasons bounds how many reasons one check tells.
const maxReasons = 8

// add notes a reason, unless it is known already.
func (r *reasons) add(why control.Reason) {
	if why.Code == control.OK || r.count == maxReasons {
		return
	}
	for i := range r.count {
		if x := &r.list[i]; x.Code == why.Code && x.Joint == why.Joint && x.Who == why.Who {
			return
		}
	}
	r.list[r.count] = why
	r.count++
}

// checkGoal reports whether a goal could start now: OK, or a report for every reason, the
// last with To 0. Nothing is taken, and no owner disturbed.
func (s *seat) checkGoal(o Order) {
	var all reasons
	s.couldStart(o, &all)
	if all.count == 0 {
		s.report(GoalChecked, o.Goal, control.Going, control.Because(control.OK))
	}
	for i := range all.count {
		s.l.report(Report{Kind: GoalChecked, Controller: s.id, Goal: o.Goal, Reason: all.list[i], To: uint32(all.count - 1 - i)})
	}
}

// couldStart gathers why a goal could not start now.
func (s *seat) couldStart(o Order, all *reasons) {
	if o.Program == nil {
		all.add(control.Because(control.BadProgram))
		return
	}
	if why := s.ask(o.Program); why.Code != control.OK {
		all.add(why)
		return
	}
	s.unable(o.Program, s.needed, all)
	all.add(s.check(o.Program, s.owned()))
	claim, pending, refusal := s.claim, s.pending, s.refusal
	s.claim.Need, s.claim.Want = s.whole()
	s.pending, s.refusal = o.Program, control.Because(control.OK)
	_, denied, err := s.l.arb.Check(s.id, &s.claim)
	if err != nil || denied.Code != arbiter.OK {
		why := s.denied(denied, err)
		all.add(why)
		if why.Code == control.NotGranted {
			s.others(why.Who, all)
		}
	}
	s.pending, s.claim, s.refusal = pending, claim, refusal
}

// unable gathers what keeps a program that needs some leaves from being performed as the
// robot is now; see able.
func (s *seat) unable(p control.Program, needs robot.Set, all *reasons) {
	if !s.running {
		all.add(control.Because(control.NotRunning))
	}
	if s.l.stops.blocks() {
		all.add(control.Because(control.Stopping))
	}
	for leaf := range needs.Intersect(s.l.faults.blocked).All {
		why := control.Because(control.StoppedByFault)
		why.Joint, why.Value = s.l.jointOf(leaf), float64(leaf)
		all.add(why)
	}
	if s.l.powered.state != Enabled {
		all.add(control.Because(control.PowerOff))
		return
	}
	all.add(s.powered(p, needs))
}

// others adds the owners of a higher rank besides the first, each with one of the leaves
// that the claim needs.
func (s *seat) others(first arbiter.ClientID, all *reasons) {
	var told [maxReasons]arbiter.ClientID
	told[0] = first
	n := 1
next:
	for leaf := range s.claim.Need.All {
		who := s.l.arb.Owner(leaf)
		if who == arbiter.NoClient || who == s.id || n == maxReasons {
			continue
		}
		mine, theirs := s.claim.Pending[leaf], s.l.seats[who].claim.Operational[leaf]
		if mine >= theirs {
			continue
		}
		for _, x := range told[:n] {
			if x == who {
				continue next
			}
		}
		told[n] = who
		n++
		all.add(control.Reason{Code: control.NotGranted, Joint: s.l.jointOf(leaf), Who: who, Value: float64(mine), Max: float64(theirs)})
	}
}

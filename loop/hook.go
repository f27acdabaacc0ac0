package loop

import (
	"poise/control"
	"poise/robot"
)

// The controller's own code may fail: that is its fault, and ends its goal alone.

func (s *seat) check(p control.Program, own robot.Set) (why control.Reason) {
	defer s.recovered(&why)
	s.l.input.Own, s.l.input.Rate = own, s.wantedRate()
	return s.controller.Check(&s.l.input, p)
}

// ask finds out what a program claims, and with which priorities.
func (s *seat) ask(p control.Program) (why control.Reason) {
	defer s.recovered(&why)
	s.needed, s.wanted = p.Claim()
	s.claim.SetPriority(s.rank, s.rankRunning)
	s.ranked, s.claim.Lease = false, 0
	if own, ok := p.(control.Leased); ok {
		s.claim.Lease = int64(own.LeaseTime() * 1e9)
	}
	if own, ok := p.(control.Ranked); ok {
		for leaf := range s.l.merge.Whole(s.needed.Union(s.wanted)).All {
			if pending, running, ok := own.Rank(leaf); ok {
				s.claim.Pending[leaf], s.claim.Operational[leaf], s.ranked = pending, running, true
			}
		}
	}
	return control.Because(control.OK)
}

func (s *seat) start(p control.Program) (why control.Reason) {
	defer s.recovered(&why)
	s.l.input.Own, s.l.input.Rate = s.owned(), s.wantedRate()
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

// blame makes a panic the controller's fault. It takes no goals any more until
// it is run again.
func (s *seat) blame(why *control.Reason) {
	*why = control.Reason{Code: control.Panicked, Joint: robot.NoJoint, Who: s.id, At: s.l.now}
	s.running, s.broken = false, *why
	s.l.faults.panicked(s.l, s.id)
}

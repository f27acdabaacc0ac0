package loop

import (
	"poise/arbiter"
	"poise/control"
	"poise/robot"
)

// remote is what the cycle keeps of an external controller. A stream on its seat
// stands in for it; what the arbiter asks goes out as a report, and the answer comes back
// as an order. Owners keep moving meanwhile.
type remote struct {
	is    bool
	lease int64        // ns, of the loop
	own   int64        // ns, of what it asked for last; 0 is the loop's
	heard int64        // last sign of life, ns
	ended arbiter.Code // why it was taken out of operation last

	asked  uint64 // questions so far
	offer  question
	change question // of its set
}

// question is a message of the arbiter that waits for its answer.
type question struct {
	open    bool
	number  uint64
	due     int64 // ns: then silence is the answer
	message arbiter.Message
}

// Answers of an external controller that are no number of a question.
const (
	SignOfLife   = 0
	Quits        = -1 // all that it does and asks for
	QuitsRunning = -2 // the goal that it runs on; its request goes on
)

// join registers a controller with the arbiter.
func (s *seat) join(r Registration) (arbiter.ClientID, error) {
	if !r.Remote {
		return s.l.arb.Register(0, r.Name, s)
	}
	s.remote.is, s.remote.lease = true, s.l.cfg.Lease
	return s.l.arb.RegisterRemote(0, r.Name, s)
}

// allowed is how long the controller may be silent, ns.
func (r *remote) allowed() int64 {
	if r.own > 0 {
		return r.own
	}
	return r.lease
}

// expired reports whether the controller was taken out of operation for its silence.
func (r *remote) expired() bool { return r.is && r.ended == arbiter.Expired }

// Told is given every message of the arbiter to the controller: what an external one has to
// answer is kept back until it does.
func (s *seat) Told(m *arbiter.Message) (later bool) {
	r := &s.remote
	switch m.Kind {
	case arbiter.Deny:
		r.offer.open = false
		if m.Reason.Code != arbiter.Replaced { // rejected before the newer one was asked for
			s.reject(s.denied(m.Reason, nil))
		}
	case arbiter.Revoke:
		r.ended, r.change.open = m.Reason.Code, false
	case arbiter.Grant:
		r.offer.open, r.change.open, r.ended = false, false, arbiter.OK
	case arbiter.Offer:
		if r.is && !m.Leaves.Empty() {
			s.put(&r.offer, m, s.pendingGoal, 0)
			return true
		}
	case arbiter.Assign:
		r.change.open = false
		if r.is && m.Leaves != s.l.arb.Client(s.id).Owned() {
			s.put(&r.change, m, s.goal, 1)
			return true
		}
	}
	return false
}

// put asks the external controller.
func (s *seat) put(q *question, m *arbiter.Message, goal uint64, kind uint32) {
	l, r := s.l, &s.remote
	r.asked++
	*q = question{open: true, number: r.asked, due: l.tick.Time + l.cfg.RemoteTimeout, message: *m}
	why := control.Because(control.OK)
	for leaf := range s.owned().Minus(m.Leaves).All { // for whom it is to give something up
		if who := l.arb.Reserved(leaf); kind == 1 && who != arbiter.NoClient {
			why = control.Reason{Code: control.ResourceLost, Joint: l.jointOf(leaf), Who: who}
			break
		}
	}
	l.report(Report{Kind: Asked, Controller: s.id, Goal: goal, Set: m.Leaves, Value: float64(r.asked), From: kind, Reason: why})
}

// answer takes the answer of an external controller, or a sign of life.
func (s *seat) answer(o Order) {
	l, r := s.l, &s.remote
	now := l.tick.Time
	switch {
	case !r.is:
		l.refuse(o, control.Because(control.Unknown))
		return
	case o.Value == QuitsRunning && o.Goal != s.goal: // what it quits is over
		return
	case o.Value < 0:
		if s.pending != nil && o.Value > QuitsRunning {
			s.reject(control.Because(control.Declined))
			_ = l.arb.Withdraw(now, s.id)
		}
		s.end(control.Quit, control.Because(control.Cancelled))
		return
	}
	r.heard = now
	switch number := uint64(o.Value); {
	case r.offer.open && number == r.offer.number:
		r.offer.open = false
		_ = l.arb.Answer(now, s.id, &r.offer.message)
	case r.change.open && number == r.change.number:
		r.change.open = false
		_ = l.arb.Answer(now, s.id, &r.change.message)
	default:
		_ = l.arb.Alive(now, s.id)
	}
}

// alive takes a value of its stream for a sign of life. The arbiter hears of a few in
// each lease.
func (s *seat) alive() {
	if r := &s.remote; r.is && s.l.tick.Time-r.heard >= r.allowed()/8 {
		r.heard = s.l.tick.Time
		_ = s.l.arb.Alive(r.heard, s.id)
	}
}

// arbitrate ends rounds and leases whose time is over, and requests whose grant came to
// nothing. A change that was not answered is
// taken as far as it takes away: what it gives was not confirmed, and is given back.
func (l *Loop) arbitrate() {
	now := l.tick.Time
	l.arb.Tick(now)
	for _, s := range l.seats {
		if s.pending != nil && l.arb.Client(s.id).Phase()&arbiter.Pending == 0 {
			s.reject(s.unavailable()) // granted, and in the same step another took what it needs
		}
		q := &s.remote.change
		if !q.open || q.due > now {
			continue
		}
		q.open = false
		q.message.Leaves = q.message.Leaves.Intersect(l.arb.Client(s.id).Owned())
		_ = l.arb.Answer(now, s.id, &q.message)
	}
}

// unavailable tells who has what a controller asked for, if it is not to be had.
func (s *seat) unavailable() control.Reason {
	why := control.Because(control.NotGranted)
	for leaf := range s.pendingNeeds.Union(s.pendingWants).All {
		if who := s.l.arb.Owner(leaf); who != arbiter.NoClient && who != s.id {
			why.Joint, why.Who = s.l.jointOf(leaf), who
			why.Value, why.Max = float64(s.claim.Pending[leaf]), float64(s.l.seats[who].claim.Operational[leaf])
			break
		}
	}
	return why
}

// owners tells who owns each leaf: an external controller only what it has confirmed.
func (l *Loop) owners() (all [robot.MaxLeaves]arbiter.ClientID) {
	all = l.arb.Owners()
	for _, s := range l.seats {
		if s.remote.is {
			for leaf := range l.arb.Owned(s.id).Minus(s.owned()).All {
				all[leaf] = arbiter.NoClient
			}
		}
	}
	return all
}

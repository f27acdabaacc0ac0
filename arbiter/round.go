package arbiter

import (
	"math/bits"

	"poise/robot"
)

// settle carries open rounds as far as they go: a ready winner whose leaves are
// in no other hand-over reserves them, and a round whose victims have all
// answered ends. Earlier requests come first.
func (s *State) settle(out *Effects) {
	for {
		if out.resume {
			out.resume = false
			s.resume(out)
			s.tell(out)
		}
		done := NoClient
		for c := range s.open.all {
			if s.client[c].stage == asking && s.answered(c) &&
				(done == NoClient || s.client[c].asked < s.client[done].asked) {
				done = c
			}
		}
		if done != NoClient {
			s.commit(done, out)
		} else if !out.resume {
			return
		}
	}
}

// resume looks again at the rounds whose winners are ready and wait.
func (s *State) resume(out *Effects) {
	var turn uint64 // those up to here have been looked at
	for {
		c := NoClient
		for r := range s.open.all {
			if cl := &s.client[r]; cl.stage == waiting && cl.asked > turn && (c == NoClient || cl.asked < s.client[c].asked) {
				c = r
			}
		}
		if c == NoClient {
			return
		}
		turn = s.client[c].asked
		v := s.judge(c, s.asks(c), turn, false)
		switch {
		case v.denied():
			s.deny(c, v.reason, out)
		case !v.blocked:
			s.reserve(c, v.leaves)
		}
	}
}

// reserve begins the hand-over: the leaves are kept for c, and their owners
// are to be told. A weaker winner that merely wanted one does without.
func (s *State) reserve(c ClientID, leaves robot.Set) {
	cl := &s.client[c]
	cl.stage = asking
	cl.offer = leaves
	cl.since = s.serial + 1
	if s.cfg.Policy == PolicyNone {
		return
	}
	remote := false // a remote owner takes part
	for leaf := range leaves.All {
		if n := s.next[leaf]; n != NoClient && n != c {
			s.client[n].offer = s.client[n].offer.Without(leaf)
		}
		s.next[leaf] = c
		if h := s.owner[leaf]; h != NoClient && h != c {
			s.client[h].losing = s.client[h].losing.With(leaf)
			s.untold.add(h)
			remote = remote || !s.client[h].local
		}
	}
	if remote && cl.local {
		cl.deadline += s.cfg.RemoteTimeout - s.cfg.RoundTimeout
	}
	if kept := cl.losing.Intersect(leaves); !kept.Empty() { // its own, won back
		cl.losing = cl.losing.Minus(kept)
		s.untold.add(c)
		s.share(s.unowned(s.runs(c).Want))
	}
}

// answered reports whether no victim of c's round is still to be heard. A local
// victim is not waited for: it is told in the step that ends the round.
func (s *State) answered(c ClientID) bool {
	if s.cfg.Policy == PolicyNone {
		return true
	}
	cl := &s.client[c]
	for leaf := range cl.offer.All {
		h := s.owner[leaf]
		if h == NoClient || h == c || s.client[h].local {
			continue
		}
		// a victim that knew already, from another round, is not told twice
		if v := &s.client[h]; v.acked < min(cl.since, v.serial) {
			return false
		}
	}
	return true
}

// commit ends c's round: what was reserved is handed over, who lost a leaf it
// needs is out, and what is unowned now goes to its next owner.
func (s *State) commit(c ClientID, out *Effects) {
	cl := &s.client[c]

	// victims let go
	var victims clientSet
	for leaf := range cl.offer.All {
		if h := s.owner[leaf]; h != NoClient && h != c && s.cfg.Policy != PolicyNone {
			v := &s.client[h]
			v.owned, v.losing, v.shed = v.owned.Without(leaf), v.losing.Without(leaf), v.shed.Without(leaf)
			s.move(leaf, NoClient, Granted)
			victims.add(h)
			s.untold.add(h)
		}
	}

	// who lost what it needs is out; the round is still open, so c inherits
	// with its pending priority
	var free robot.Set
	for h := range victims.all {
		if !s.client[h].owned.Contains(s.runs(h).Need) {
			free = free.Union(s.strike(h, LostNeed, true, out))
		}
	}
	s.share(free)

	// c runs on what it asked for
	gets, had := cl.offer, cl.owned
	for leaf := range gets.All {
		s.next[leaf] = NoClient
		s.move(leaf, c, Granted)
	}
	*s.runs(c) = Claim{}
	cl.running = 1 - cl.running
	cl.held, cl.turn = cl.request, cl.asked
	cl.owned, cl.losing = had.Union(gets), cl.losing.Minus(gets)
	cl.phase = Operational
	s.close(c, out)

	// what it no longer asks for it gives back, a remote one when it has heard
	cl.shed = had.Minus(s.runs(c).All())
	if cl.local || s.cfg.Policy == PolicyNone {
		s.giveShed(c)
	}

	// and learns the outcome
	s.serial++
	cl.told, cl.serial, cl.acked = s.due(c), s.serial, 0
	out.assign(Message{To: c, Kind: Grant, Request: cl.held, Serial: cl.serial, Leaves: cl.told})
}

// deny ends c's round with nothing changed: what was reserved for it is not,
// and who was about to quit for it is a heir again.
func (s *State) deny(c ClientID, reason Reason, out *Effects) {
	cl := &s.client[c]
	var free robot.Set
	if cl.stage == asking && s.cfg.Policy != PolicyNone {
		for leaf := range cl.offer.All {
			s.next[leaf] = NoClient
			if h := s.owner[leaf]; h == NoClient {
				free = free.With(leaf)
			} else if h != c {
				s.client[h].losing = s.client[h].losing.Without(leaf)
				s.untold.add(h)
				free = free.Union(s.unowned(s.runs(h).Want))
			}
		}
	}
	out.send(Message{To: c, Kind: Deny, Request: cl.request, Reason: reason})
	cl.phase &^= Pending
	*s.asks(c) = Claim{}
	s.close(c, out)
	s.share(free)
}

// close forgets c's round.
func (s *State) close(c ClientID, out *Effects) {
	cl := &s.client[c]
	cl.stage, cl.asked, cl.deadline, cl.offer, cl.since = closed, 0, 0, robot.Set{}, 0
	s.open.remove(c)
	if cl.phase == NonOperational {
		s.engaged.remove(c)
		cl.seen = 0
	}
	out.resume = true
}

// strike takes c out of operation and returns what is free by it. A client that
// may not know is told. A round that it has open goes on.
func (s *State) strike(c ClientID, why Code, tellIt bool, out *Effects) (free robot.Set) {
	cl := &s.client[c]
	free = s.vacate(c, cl.owned, why)
	if tellIt {
		s.serial++
		out.assign(Message{To: c, Kind: Revoke, Request: cl.held, Serial: s.serial, Reason: Reason{Code: why, Who: NoClient}})
	}
	*s.runs(c) = Claim{}
	cl.owned, cl.losing, cl.shed, cl.told = robot.Set{}, robot.Set{}, robot.Set{}, robot.Set{}
	cl.held, cl.turn, cl.serial, cl.acked = 0, 0, 0, 0
	cl.phase &^= Operational
	if cl.phase == NonOperational {
		s.engaged.remove(c)
		cl.seen = 0
	}
	return free
}

// vacate takes leaves from c and returns those that are free now: not reserved,
// nor (under PolicyNone) owned by another.
func (s *State) vacate(c ClientID, leaves robot.Set, why Code) (free robot.Set) {
	for leaf := range leaves.All {
		if s.owner[leaf] != c {
			continue
		}
		s.move(leaf, NoClient, why)
		if s.next[leaf] == NoClient {
			free = free.With(leaf)
		}
	}
	return free
}

// giveShed passes on what c no longer asks for.
func (s *State) giveShed(c ClientID) {
	cl := &s.client[c]
	free := s.vacate(c, cl.shed, Released)
	cl.owned, cl.losing, cl.shed = cl.owned.Minus(cl.shed), cl.losing.Minus(cl.shed), robot.Set{}
	s.share(free)
}

// unowned returns those of the leaves that are neither owned nor reserved.
func (s *State) unowned(leaves robot.Set) (free robot.Set) {
	for leaf := range leaves.All {
		if s.owner[leaf] == NoClient && s.next[leaf] == NoClient {
			free = free.With(leaf)
		}
	}
	return free
}

// giveBack takes leaves out of c's claim and passes on those it owned. With
// nothing left to ask for, c is out of operation.
func (s *State) giveBack(c ClientID, leaves robot.Set, out *Effects) {
	if leaves.Empty() {
		return
	}
	cl := &s.client[c]
	s.runs(c).drop(leaves)
	free := s.vacate(c, cl.owned.Intersect(leaves), Released)
	cl.owned, cl.losing, cl.shed = cl.owned.Minus(leaves), cl.losing.Minus(leaves), cl.shed.Minus(leaves)
	cl.told = cl.told.Minus(leaves)
	if s.runs(c).All().Empty() {
		free = free.Union(s.strike(c, Released, false, out))
	}
	s.share(free.Union(s.unowned(s.runs(c).Want))) // it may have been about to quit, and is a heir again
}

// share passes free leaves on: each to the operational client of the highest
// rank that asks for it, or to the winner of a round that is under way. One
// that is about to lose what it needs gets nothing more.
func (s *State) share(free robot.Set) {
	if free.Empty() {
		return
	}
	var heirs [robot.MaxLeaves]heir
	for leaf := range free.All {
		heirs[leaf].client = NoClient
	}

	// find the heir of each leaf
	for c := range s.engaged.all {
		cl := &s.client[c]
		if cl.phase&Operational != 0 && !s.doomed(c) {
			s.compete(&heirs, free, c, false)
		}
		if cl.stage == asking && s.cfg.Policy != PolicyNone {
			s.compete(&heirs, free, c, true)
		}
	}

	// hand over
	for leaf := range free.All {
		h := heirs[leaf]
		if h.client == NoClient {
			continue
		}
		cl := &s.client[h.client]
		if h.asks {
			s.next[leaf] = h.client
			cl.offer = cl.offer.With(leaf)
			continue
		}
		s.move(leaf, h.client, Returned)
		cl.owned = cl.owned.With(leaf)
		s.untold.add(h.client)
	}
}

// heir is the best claim on a free leaf so far.
type heir struct {
	rank   rank
	client ClientID
	asks   bool // as the winner of its round
}

// compete enters c's claim, the one it runs on or the one it asks for, for
// each free leaf.
func (s *State) compete(heirs *[robot.MaxLeaves]heir, free robot.Set, c ClientID, asks bool) {
	claim, turn := s.runs(c), s.client[c].turn
	priority := &claim.Operational
	if asks {
		claim, turn = s.asks(c), s.client[c].asked
		priority = &claim.Pending
	}
	for i, w := range claim.All().Intersect(free) { // the innermost loop of all: no iterator
		for ; w != 0; w &= w - 1 {
			leaf := i*64 + bits.TrailingZeros64(w)
			mine := rank{priority[leaf], turn}
			if best := &heirs[leaf]; best.client == NoClient || s.above(mine, best.rank) {
				*best = heir{mine, c, asks}
			}
		}
	}
}

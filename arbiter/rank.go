package arbiter

import "poise/robot"

// rank orders the claims on a leaf: the higher priority first, the later
// request among equals.
type rank struct {
	priority float32
	turn     uint64
}

// above reports whether a beats b.
func (s *State) above(a, b rank) bool {
	if s.cfg.Policy == PolicyPriority && a.priority != b.priority {
		return a.priority > b.priority
	}
	return a.turn > b.turn
}

// runRank is the rank of what the client runs on.
func (s *State) runRank(c ClientID, leaf robot.LeafID) rank {
	return rank{s.runs(c).Operational[leaf], s.client[c].turn}
}

// askRank is the rank of what the client asks for.
func (s *State) askRank(c ClientID, leaf robot.LeafID) rank {
	return rank{s.asks(c).Pending[leaf], s.client[c].asked}
}

// verdict is what a request would come to.
type verdict struct {
	leaves  robot.Set // what it would get
	blocked bool      // but a needed leaf is in another hand-over
	reason  Reason    // why it is denied, or what blocks it
}

func (v *verdict) denied() bool { return !v.blocked && v.reason.Code != OK }

// judge weighs a claim of client c that came in at the given turn. A request
// that arrives is measured against all that is in play, pending priorities
// included. One whose winner is ready is measured against facts alone: owners,
// and rounds whose winners are ready too; an offer that may yet be refused
// takes nothing from it.
func (s *State) judge(c ClientID, claim *Claim, turn uint64, arriving bool) (v verdict) {
	v.leaves = claim.All()
	v.reason.Who = NoClient
	if v.leaves.Empty() {
		v.reason.Code = Nothing
		return v
	}
	if s.cfg.Policy == PolicyNone {
		return v
	}

	// owners, and those for whom the leaf is reserved
	for leaf := range claim.All().All {
		mine := rank{claim.Pending[leaf], turn}
		if h := s.owner[leaf]; h != NoClient && h != c && !s.client[h].shed.Has(leaf) {
			if theirs := s.runRank(h, leaf); !s.above(mine, theirs) {
				v.obstacle(claim, Reason{Held, leaf, h, mine.priority, theirs.priority})
				continue
			}
		}
		if n := s.next[leaf]; n != NoClient && n != c {
			theirs := s.askRank(n, leaf)
			r := Reason{Contested, leaf, n, mine.priority, theirs.priority}
			if !s.above(mine, theirs) {
				v.obstacle(claim, r)
			} else if !arriving && s.asks(n).Need.Has(leaf) {
				v.block(claim, r)
			}
		}
	}
	if !arriving {
		return v
	}

	// winners that have been offered the leaf
	for r := range s.open.all {
		if r == c || s.client[r].stage == asking {
			continue
		}
		for leaf := range s.client[r].offer.Intersect(claim.All()).All {
			mine, theirs := rank{claim.Pending[leaf], turn}, s.askRank(r, leaf)
			if !s.above(mine, theirs) {
				v.obstacle(claim, Reason{Contested, leaf, r, mine.priority, theirs.priority})
			}
		}
	}
	return v
}

// obstacle notes that the leaf cannot be had: the first such needed leaf is the
// reason of a denial, a wanted one is done without.
func (v *verdict) obstacle(claim *Claim, r Reason) {
	v.leaves = v.leaves.Without(r.Leaf)
	if claim.Need.Has(r.Leaf) && (v.reason.Code == OK || v.blocked) {
		v.reason, v.blocked = r, false
	}
}

// block notes that another round's winner needs the leaf and has been promised
// it: if c needs it too it waits for that round to end, else it does without.
func (v *verdict) block(claim *Claim, r Reason) {
	if !claim.Need.Has(r.Leaf) {
		v.leaves = v.leaves.Without(r.Leaf)
	} else if v.reason.Code == OK {
		v.reason, v.blocked = r, true
	}
}

// Check says whether the client could be granted the claim now, and what it
// would get. It takes nothing and changes nothing. Loop-safe.
func (s *State) Check(c ClientID, claim *Claim) (gets robot.Set, r Reason) {
	if !s.client[c].known {
		return robot.Set{}, Reason{Code: Unknown, Who: NoClient}
	}
	v := s.judge(c, claim, s.turn+1, true)
	if v.reason.Code != OK {
		return robot.Set{}, v.reason
	}
	return v.leaves, v.reason
}

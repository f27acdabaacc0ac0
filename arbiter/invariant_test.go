package arbiter

import (
	"fmt"

	"poise/robot"
)

func (s clientSet) has(c ClientID) bool { return s[c/64]>>(c%64)&1 != 0 }

// broken looks for a contradiction in the state. It is written against the
// promises of State, not against the code that keeps them, and looks at the
// first so many clients and leaves.
func broken(s *State, clients, nLeaves int) error {
	shared := s.cfg.Policy == PolicyNone
	var owned, losing [MaxClients]robot.Set
	for i := range nLeaves {
		leaf := robot.LeafID(i)
		h, n := s.owner[leaf], s.next[leaf]
		if h != NoClient {
			if s.client[h].phase&Operational == 0 {
				return fmt.Errorf("leaf %d is owned by %d, which is %v", leaf, h, s.client[h].phase)
			}
			owned[h] = owned[h].With(leaf)
		}
		if n != NoClient {
			if s.client[n].stage != asking {
				return fmt.Errorf("leaf %d is reserved for %d, whose round does not ask", leaf, n)
			}
			if !s.client[n].offer.Has(leaf) {
				return fmt.Errorf("leaf %d is reserved for %d, which is not offered it", leaf, n)
			}
			if h != NoClient && h != n {
				losing[h] = losing[h].With(leaf)
			}
		}
		if h == NoClient && n == NoClient {
			for c := range s.engaged.all {
				if s.client[c].phase&Operational != 0 && !s.doomed(c) && s.runs(c).All().Has(leaf) {
					return fmt.Errorf("leaf %d is free though %d asks for it", leaf, c)
				}
			}
		}
	}
	for i := range clients {
		if err := brokenClient(s, ClientID(i), owned[i], losing[i], shared); err != nil {
			return fmt.Errorf("client %d: %w", i, err)
		}
	}
	if s.untold != (clientSet{}) {
		return fmt.Errorf("clients %v are still to be told", s.untold)
	}
	return nil
}

func brokenClient(s *State, c ClientID, owned, losing robot.Set, shared bool) error {
	cl := &s.client[c]
	operational, pending := cl.phase&Operational != 0, cl.phase&Pending != 0
	switch {
	case !shared && cl.owned != owned:
		return fmt.Errorf("owns %v, the table says %v", cl.owned, owned)
	case shared && !cl.owned.Contains(owned):
		return fmt.Errorf("the table says %v, it knows of %v", owned, cl.owned)
	case !shared && cl.losing != losing:
		return fmt.Errorf("loses %v, the tables say %v", cl.losing, losing)
	case !cl.known && cl.phase != NonOperational:
		return fmt.Errorf("not known, and %v", cl.phase)
	case s.engaged.has(c) != (cl.phase != NonOperational):
		return fmt.Errorf("engaged %v in phase %v", s.engaged.has(c), cl.phase)
	case s.open.has(c) != (cl.stage != closed) || pending != (cl.stage != closed):
		return fmt.Errorf("open %v in stage %v, phase %v", s.open.has(c), cl.stage, cl.phase)
	case pending && cl.deadline > s.now+s.cfg.RoundTimeout:
		return fmt.Errorf("its round ends at %d, later than a round may from %d", cl.deadline, s.now)
	case !pending && (!blank(s.asks(c)) || cl.offer != robot.Set{} || cl.asked != 0):
		return fmt.Errorf("traces of a round that is over: %+v", *cl)
	case !operational && (!blank(s.runs(c)) || cl.owned != robot.Set{} || cl.told != robot.Set{} || cl.held != 0):
		return fmt.Errorf("traces of an operation that is over: %+v", *cl)
	case operational && !cl.owned.Contains(s.runs(c).Need):
		return fmt.Errorf("operational without %v", s.runs(c).Need.Minus(cl.owned))
	case operational && !s.runs(c).All().Contains(cl.owned.Minus(cl.shed)):
		return fmt.Errorf("owns %v without asking", cl.owned.Minus(s.runs(c).All()))
	case !cl.owned.Contains(cl.shed) || s.runs(c).All().Overlaps(cl.shed):
		return fmt.Errorf("will give back %v, owns %v, asks for %v", cl.shed, cl.owned, s.runs(c).All())
	case operational && cl.told != s.due(c):
		return fmt.Errorf("was told %v, should know %v", cl.told, s.due(c))
	case cl.stage == asking && !cl.offer.Contains(s.asks(c).Need):
		return fmt.Errorf("about to win without %v", s.asks(c).Need.Minus(cl.offer))
	}
	return nil
}

// blank reports whether nothing is left of a claim. It looks at the leaves that
// tests use: comparing all priorities would be most of a run's time.
func blank(c *Claim) bool {
	for leaf := range 16 {
		if c.Pending[leaf] != 0 || c.Operational[leaf] != 0 {
			return false
		}
	}
	return c.All().Empty()
}

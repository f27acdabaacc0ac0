package executive

import (
	"poise/arbiter"
	"poise/robot"
)

// LeafState names the owner of a leaf, the client to which it is offered, and those that run without it and want it.
type LeafState struct {
	Name      string
	Resources []string // that it belongs to
	Owner     string
	OfferedTo string
	Waiting   []string
}

// ClientState is what one controller needs, wants and has.
type ClientState struct {
	Name    string
	Outside bool
	Phase   arbiter.Phase
	Request uint32 // newest, of an external one
	Needed  []string
	Wanted  []string
	Owned   []string
	Offered []string
	Denied  []Explanation
	LeftOut uint64 // values of which it does not own a part, about a second ago
}

// Resources returns the owners of all leaves, and what each controller needs, wants and has.
func (e *Executive) Resources() (leaves []LeafState, clients []ClientState) {
	e.catchUp()
	e.mu.Lock()
	defer e.mu.Unlock()
	res, err := e.model.Resources()
	if err != nil || e.robot.snap == nil {
		return nil, nil
	}
	wants := map[*seat]robot.Set{}
	offers := map[*seat]robot.Set{}
	for _, s := range e.robot.seats {
		c := e.clientState(s)
		if needs, more, runs := e.claimOf(s, true); runs {
			wants[s] = needs.Union(more)
		}
		if client := e.outside.on(s); client != nil {
			for _, a := range []*asked{&client.asks, &client.runs} {
				if a.live() && a.question > 0 {
					offers[s] = offers[s].Union(a.offered.Minus(client.owns))
				}
			}
			c.Offered = e.words.Names(offers[s])
		}
		if here := e.outside.on(s); s.Remote && (here == nil || here.gone) {
			continue // an empty seat: its session may be back under the same name, on another
		}
		clients = append(clients, c)
	}
	for i, leaf := range res.Leaves() {
		id := robot.LeafID(i)
		state := LeafState{Name: leaf.Name, Owner: e.robot.controllerName(e.robot.snap.Owner[id])}
		for _, r := range res.List() {
			if r.Set.Has(id) {
				state.Resources = append(state.Resources, r.Name)
			}
		}
		for _, s := range e.robot.seats {
			switch {
			case e.robot.snap.Owner[id] == s.id:
			case offers[s].Has(id):
				state.OfferedTo = s.title()
			case wants[s].Has(id):
				state.Waiting = append(state.Waiting, s.title())
			}
		}
		leaves = append(leaves, state)
	}
	return leaves, clients
}

// claimOf returns what a controller runs on, or asks for.
func (e *Executive) claimOf(s *seat, runs bool) (needs, wants robot.Set, ok bool) {
	for _, j := range e.goals.of(s) {
		if j.begun == runs && j.work != nil && j.work.program != nil {
			needs, wants = j.work.program.Claim()
			ok = true
		}
	}
	return needs, wants, ok
}

func (e *Executive) clientState(s *seat) ClientState {
	c := ClientState{Name: s.title(), Outside: s.Remote}
	needs, wants, runs := e.claimOf(s, true)
	if runs {
		c.Phase = arbiter.Operational
	}
	if more, other, asks := e.claimOf(s, false); asks {
		c.Phase |= arbiter.Pending
		if !runs {
			needs, wants = more, other
		}
	}
	c.Needed, c.Wanted = e.words.Names(needs), e.words.Names(wants)
	if a := e.robot.activity(s); a != nil {
		c.Owned = e.words.Names(a.Own)
	}
	if client := e.outside.on(s); client != nil {
		client.leftOut.tell(e.now)
		c.Name, c.Request, c.Denied, c.LeftOut = client.name, client.newest, client.denied, client.leftOut.told
	}
	return c
}

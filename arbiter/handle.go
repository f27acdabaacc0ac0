package arbiter

import "poise/robot"

// Effects are the messages one event causes. The zero value is ready for use
// and is used again for the next event.
type Effects struct {
	message [2*MaxClients + 4]Message // one assignment and one answer each, and the requester's
	n       int
	told    [MaxClients]int16 // 1 + index of the client's assignment
	resume  bool              // rounds that wait are to be looked at again
}

// Messages are what the last event caused, in order.
func (f *Effects) Messages() []Message { return f.message[:f.n] }

func (f *Effects) reset() {
	for i := range f.message[:f.n] {
		f.told[f.message[i].To] = 0
	}
	f.n, f.resume = 0, false
}

func (f *Effects) send(m Message) {
	f.message[f.n] = m
	f.n++
}

// assign sends a Grant, an Assign or a Revoke; a client that already has one
// from this event gets that one corrected.
func (f *Effects) assign(m Message) {
	if i := f.told[m.To]; i > 0 {
		old := &f.message[i-1]
		if old.Kind == Grant && m.Kind == Assign {
			m.Kind = Grant
		}
		*old = m
		return
	}
	f.send(m)
	f.told[m.To] = int16(f.n)
}

// Handle applies one event to the state and writes the messages that it causes to out. An
// event that does not fit the state, being late, doubled or from an unknown client, changes
// nothing. Loop-safe.
func (s *State) Handle(e *Event, out *Effects) {
	out.reset()
	s.now = max(s.now, e.At)
	known := e.From < MaxClients && s.client[e.From].known
	switch {
	case e.Kind == Tick:
		s.tick(out)
	case e.Kind == Register:
		s.register(e, out)
	case !known:
	case e.Kind == Forget:
		s.gone(e.From, Forgotten, out)
		s.client[e.From].known = false
	case e.Kind == Request:
		s.request(e, out)
	case e.Kind == Ready:
		s.ready(e, out)
	case e.Kind == Refuse:
		s.refuse(e, out)
	case e.Kind == Report:
		s.report(e, out)
	case e.Kind == Release:
		s.release(e, out)
	case e.Kind == Quit:
		s.quit(e, out)
	}
	s.settle(out)
	s.tell(out)
}

// register adds a client to the state; whatever an earlier life of it held
// is free.
func (s *State) register(e *Event, out *Effects) {
	if e.From >= MaxClients {
		return
	}
	s.gone(e.From, Forgotten, out)
	cl := &s.client[e.From]
	*cl = client{known: true, local: e.Local, request: max(e.Request, cl.request)}
}

// request opens a round, unless it is lost before it begins.
func (s *State) request(e *Event, out *Effects) {
	c, cl := e.From, &s.client[e.From]
	if e.Request <= cl.request || e.Claim == nil {
		return // doubled, or late
	}
	if cl.stage != closed {
		s.deny(c, Reason{Code: Replaced, Who: NoClient}, out)
	}

	// note what it asks for
	s.turn++
	cl.request = e.Request
	cl.seen = s.now
	cl.asked = s.turn
	cl.phase |= Pending
	cl.stage = offered
	cl.deadline = s.now + s.cfg.RoundTimeout
	if !cl.local {
		cl.deadline = s.now + s.cfg.RemoteTimeout
	}
	s.engaged.add(c)
	s.open.add(c)
	claim := s.asks(c)
	*claim = *e.Claim
	claim.Want = claim.Want.Minus(claim.Need)

	// offer what it can have
	v := s.judge(c, claim, cl.asked, true)
	if v.denied() {
		s.deny(c, v.reason, out)
		return
	}
	cl.offer = v.leaves
	out.send(Message{To: c, Kind: Offer, Request: cl.request, Leaves: v.leaves})
}

// ready takes the winner's word that it can start.
func (s *State) ready(e *Event, out *Effects) {
	cl := &s.client[e.From]
	if cl.stage != offered || e.Request != cl.request {
		return
	}
	cl.seen = s.now
	cl.stage = waiting
	out.resume = true
}

// refuse takes back a request: the winner cannot start, or no longer wants to.
func (s *State) refuse(e *Event, out *Effects) {
	c, cl := e.From, &s.client[e.From]
	switch {
	case cl.stage != closed && e.Request == cl.request:
		cl.seen = s.now
		s.deny(c, Reason{Code: Refused, Who: NoClient}, out)
	case cl.held == e.Request && cl.held != 0:
		s.share(s.strike(c, QuitItself, true, out)) // too late: it had been granted
	default:
		cl.request = max(cl.request, e.Request) // overtook its request
	}
}

// report takes a sign of life, a confirmation, and news of a lost release.
func (s *State) report(e *Event, out *Effects) {
	c, cl := e.From, &s.client[e.From]
	switch {
	case cl.phase&Operational != 0 && e.Request == cl.held:
		cl.seen = s.now
		if e.Serial > cl.serial {
			return // never sent
		}
		cl.acked = max(cl.acked, e.Serial)
		if e.Serial != 0 && !cl.shed.Empty() {
			s.giveShed(c)
		}
		switch {
		case e.Serial == cl.serial:
			s.giveBack(c, cl.told.Minus(e.Leaves), out)
		case e.Serial != 0 || cl.acked == 0: // has not heard the latest, or not even its grant
			s.repeat(c, out)
		}
	case cl.stage != closed && e.Request == cl.request:
		cl.seen = s.now
	case cl.phase&Operational != 0:
		s.repeat(c, out)
	case e.Serial != 0: // believes to run, and does not
		s.serial++
		out.assign(Message{To: c, Kind: Revoke, Request: e.Request, Serial: s.serial})
	default: // waits for an answer that was lost, or whose request was
		cl.request = max(cl.request, e.Request)
		out.send(Message{To: c, Kind: Deny, Request: e.Request, Reason: Reason{Code: Unknown, Who: NoClient}})
	}
}

// repeat sends an operational client once more what it was told last.
func (s *State) repeat(c ClientID, out *Effects) {
	cl := &s.client[c]
	out.assign(Message{To: c, Kind: Assign, Request: cl.held, Serial: cl.serial, Leaves: cl.told})
}

// release takes a part back: the client no longer asks for it.
func (s *State) release(e *Event, out *Effects) {
	cl := &s.client[e.From]
	if cl.phase&Operational == 0 || e.Request != cl.held {
		return
	}
	cl.seen = s.now
	s.giveBack(e.From, e.Leaves, out)
}

// quit ends everything the client asked for up to the given request.
func (s *State) quit(e *Event, out *Effects) {
	c, cl := e.From, &s.client[e.From]
	if cl.stage != closed && e.Request >= cl.request {
		s.deny(c, Reason{Code: Refused, Who: NoClient}, out)
	}
	if cl.phase&Operational != 0 && e.Request >= cl.held {
		s.share(s.strike(c, QuitItself, false, out))
	}
	cl.request = max(cl.request, e.Request)
}

// tick decides the one thing that is most overdue: a client past its lease is
// gone; a round past its time ends, a silent winner gets nothing, a silent
// victim loses what it was asked to give up.
func (s *State) tick(out *Effects) {
	for c := range s.engaged.all {
		if t, ok := s.LeaseDue(c); ok && t <= s.now {
			s.gone(c, Expired, out)
			return
		}
	}
	late := NoClient
	for c := range s.open.all {
		cl := &s.client[c]
		if cl.deadline > s.now {
			continue
		}
		if late == NoClient || cl.deadline < s.client[late].deadline ||
			cl.deadline == s.client[late].deadline && cl.asked < s.client[late].asked {
			late = c
		}
	}
	if late == NoClient {
		return
	}
	switch s.client[late].stage {
	case offered:
		if s.cfg.SilenceConsents {
			s.client[late].stage = waiting
			out.resume = true
			return
		}
		s.deny(late, Reason{Code: Silent, Who: NoClient}, out)
	case waiting:
		cl := &s.client[late]
		s.deny(late, s.judge(late, s.asks(late), cl.asked, false).reason, out)
	case asking:
		s.commit(late, out)
	}
}

// gone ends everything of a client that may not know it.
func (s *State) gone(c ClientID, why Code, out *Effects) {
	cl := &s.client[c]
	if cl.stage != closed {
		s.deny(c, Reason{Code: why, Who: NoClient}, out)
	}
	if cl.phase&Operational != 0 {
		s.share(s.strike(c, why, why != Forgotten, out))
	}
}

// tell sends every client whose set changed its new one.
func (s *State) tell(out *Effects) {
	for c := range s.untold.all {
		cl := &s.client[c]
		if due := s.due(c); cl.phase&Operational != 0 && due != cl.told {
			s.serial++
			cl.told, cl.serial = due, s.serial
			out.assign(Message{To: c, Kind: Assign, Request: cl.held, Serial: cl.serial, Leaves: due})
		}
	}
	s.untold = clientSet{}
}

// move gives a leaf a new owner.
func (s *State) move(leaf robot.LeafID, to ClientID, why Code) {
	if s.owner[leaf] != to {
		s.owner[leaf], s.since[leaf], s.why[leaf] = to, s.now, why
	}
}

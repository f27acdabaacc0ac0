package arbiter

import (
	"slices"
	"testing"

	"poise/robot"
)

func TestSilentWinnerGetsNothing(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1))
	r.ask(trot, needing(leg1))
	r.deaf[trot] = true
	r.run()
	mark := len(r.sent)
	r.pass(19 * ms)
	r.phase(trot, Pending)
	r.pass(1 * ms)
	r.phase(trot, NonOperational)
	r.owns(leg1, gait)
	if r.heard(mark, gait, Assign) != 0 || r.heard(mark, trot, Deny) != 1 || r.sent[len(r.sent)-1].Reason.Code != Silent {
		t.Errorf("sent %+v", r.sent[mark:])
	}
}

func TestSilentVictimLosesWhatItWasAsked(t *testing.T) {
	t.Run("a wanted leaf", func(t *testing.T) {
		r := newRig(t, PolicyLast)
		r.grant(gait, needing(leg1).wanting(tail))
		r.mute[gait] = true
		r.grant(wag, needing(tail))
		r.pass(19 * ms)
		r.owns(tail, gait)
		r.pass(1 * ms)
		r.owns(tail, wag)
		r.owns(leg1, gait)
		r.phase(gait, Operational)
	})
	t.Run("a needed leaf", func(t *testing.T) {
		r := newRig(t, PolicyLast)
		r.grant(look, needing(head).wanting(eyes))
		r.grant(gait, needing(leg1).wanting(tail, eyes))
		r.mute[gait] = true
		r.grant(trot, needing(leg1))
		r.pass(20 * ms)
		r.owns(leg1, trot)
		r.phase(gait, NonOperational) // it cannot run without
		r.owns(tail, NoClient)
		r.owns(eyes, look)
	})
	t.Run("that never heard of it is told", func(t *testing.T) {
		r := newRig(t, PolicyLast)
		r.grant(gait, needing(leg1))
		r.deaf[gait] = true
		r.grant(trot, needing(leg1))
		r.pass(19 * ms)
		r.deaf[gait] = false
		r.pass(1 * ms)
		r.phase(gait, NonOperational)
	})
}

func TestBothSilentNobodyLoses(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1))
	r.ask(trot, needing(leg1))
	r.deaf[trot], r.deaf[gait] = true, true
	r.run()
	r.pass(30 * ms)
	r.owns(leg1, gait)
	r.phase(gait, Operational)
	r.phase(trot, NonOperational)
}

func TestHijackThenRefuse(t *testing.T) {
	for _, p := range []Policy{PolicyLast, PolicyPriority} {
		r := newRig(t, p)
		r.grant(gait, needing(leg1, leg2).wanting(tail))
		r.grant(look, needing(head))
		before := r.s
		r.players[trot].refuse = true
		mark := len(r.sent)
		r.grant(trot, needing(leg1, head).wanting(tail))
		for _, c := range []ClientID{gait, look} {
			r.phase(c, Operational)
			if n := r.heard(mark, c, Assign); n != 0 {
				t.Errorf("%v: client %d was called %d times", p, c, n)
			}
			if r.s.client[c] != before.client[c] {
				t.Errorf("%v: client %d is not as it was", p, c)
			}
		}
		if r.s.owner != before.owner || r.s.since != before.since {
			t.Errorf("%v: a leaf changed its owner", p)
		}
	}
}

func TestActivationStorm(t *testing.T) {
	// a switch elsewhere calls no other controller, however often it happens
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1).wanting(tail))
	r.grant(look, needing(head).wanting(eyes))
	calls := len(r.players[gait].sets) + len(r.players[look].sets)
	mark := len(r.sent)
	for range 50 {
		r.grant(5, needing(20, 21))
		r.grant(6, needing(21, 22))
		r.quit(5)
		r.quit(6)
	}
	if n := len(r.players[gait].sets) + len(r.players[look].sets) - calls; n != 0 {
		t.Errorf("%d calls of controllers that had nothing to do with it", n)
	}
	for _, m := range r.sent[mark:] {
		if m.To != 5 && m.To != 6 {
			t.Fatalf("%v was sent to %d", m.Kind, m.To)
		}
	}
}

func TestStormOfRequestsForOneLeaf(t *testing.T) {
	m := NewMachine(Config{Policy: PolicyLast})
	port := &localPort{}
	const n = 100
	claim := needing(leg1)
	for c := range ClientID(n) {
		m.Do(&Event{Kind: Register, From: c}, port) // remote: rounds stay open
		port.clients[c] = NewClient(c, 0, 0)
	}
	for c := range ClientID(n) {
		e := port.clients[c].Request(0, &claim)
		m.Do(&e, port)
	}
	// all are ready at once, the first first: each is granted in turn, and driven out by the next
	for c := range ClientID(n) {
		m.Do(&Event{Kind: Ready, From: c, Request: 1}, port)
		if err := broken(&m.State, n, 8); err != nil {
			t.Fatal(err)
		}
	}
	for at, any := m.Due(); any && at <= 25*ms; at, any = m.Due() {
		m.Do(&Event{At: 25 * ms, Kind: Tick, From: NoClient}, port)
	}
	if m.open != (clientSet{}) {
		t.Errorf("rounds %v are open", m.open)
	}
	if m.Owner(leg1) == NoClient {
		t.Error("the leg has no owner")
	}
}

// localPort delivers to clients that answer at once, or not at all.
type localPort struct {
	clients [MaxClients]Client
	players [MaxClients]player
	local   [MaxClients]bool
	sent    int
	last    Message
}

func (p *localPort) Deliver(now int64, m *Message) (Event, bool) {
	p.sent++
	p.last = *m
	if !p.local[m.To] {
		return Event{}, false
	}
	return p.clients[m.To].Receive(now, m, &p.players[m.To])
}

func TestMoreThanTenRequestsAtOnce(t *testing.T) {
	// the original took ten at a time, and a state could overtake its request
	r := &rig{t: t}
	r.s.Init(Config{Policy: PolicyLast})
	const n = 60
	var clients [n]Client
	for c := range clients {
		clients[c] = NewClient(ClientID(c), 0, 0)
		r.handle(Event{Kind: Register, From: ClientID(c)})
	}
	claim := needing(leg1)
	var events []Event
	for c := range clients {
		events = append(events, clients[c].Request(0, &claim))
	}
	for c := 0; c < n; c += 2 { // every second one changes its mind at once
		e, _ := clients[c].Quit(0)
		events = append(events, e)
	}
	for _, e := range events {
		r.handle(e)
	}
	for len(r.wire) > 0 {
		p := r.wire[0]
		r.wire = r.wire[1:]
		if e, ok := clients[p.message.To].Receive(0, &p.message, nil); ok {
			r.handle(e)
		}
	}
	r.owns(leg1, n-1) // the last that meant it
	for c := range clients {
		want := NonOperational
		if c == n-1 {
			want = Operational
		}
		if got := r.s.Phase(ClientID(c)); got != want || clients[c].Phase() != want {
			t.Errorf("client %d is %v and believes %v, want %v", c, got, clients[c].Phase(), want)
		}
	}
}

func TestRequestWhileRunning(t *testing.T) {
	t.Run("what it no longer asks for is given back", func(t *testing.T) {
		r := newRig(t, PolicyLast)
		r.grant(look, wanting(tail))
		r.grant(gait, needing(leg1, leg2).wanting(tail))
		r.ask(gait, needing(leg2, head))
		r.step()
		r.phase(gait, OperationalPending)
		r.owns(leg1, gait) // until the round ends
		r.run()
		r.phase(gait, Operational)
		r.owns(leg1, NoClient)
		r.owns(leg2, gait)
		r.owns(head, gait)
		r.owns(tail, look)
	})
	t.Run("denied, it runs on", func(t *testing.T) {
		r := newRig(t, PolicyPriority)
		r.grant(gait, needing(leg1).priority(5, 5))
		r.grant(look, needing(head).priority(9, 9))
		r.grant(gait, needing(leg1, head).priority(5, 5))
		r.phase(gait, Operational)
		r.owns(leg1, gait)
		if got := r.clients[gait].Denied(); got.Code != Held || got.Leaf != head || got.Who != look || got.Mine != 5 || got.Theirs != 9 {
			t.Errorf("reason %+v", got)
		}
	})
	t.Run("refused by itself, it runs on", func(t *testing.T) {
		r := newRig(t, PolicyLast)
		r.grant(gait, needing(leg1))
		r.players[gait].refuse = true
		r.grant(gait, needing(leg2))
		r.phase(gait, Operational)
		r.owns(leg1, gait)
		r.owns(leg2, NoClient)
	})
	t.Run("a newer request replaces the older, which is answered", func(t *testing.T) {
		r := newRig(t, PolicyLast)
		r.ask(gait, needing(leg1))
		r.ask(gait, needing(leg2))
		r.run()
		r.owns(leg1, NoClient)
		r.owns(leg2, gait)
		if r.heard(0, gait, Deny) != 1 {
			t.Error("the first request was not answered")
		}
	})
	t.Run("losing what it runs on, it still has its request", func(t *testing.T) {
		r := newRig(t, PolicyLast)
		r.grant(gait, needing(leg1))
		r.ask(gait, needing(leg2))
		r.step()
		offer := r.wire[0]
		r.wire = nil
		r.grant(trot, needing(leg1))
		r.phase(gait, Pending)
		r.wire = append(r.wire, offer)
		r.run()
		r.phase(gait, Operational)
		r.owns(leg2, gait)
	})
}

// TestGivenBackWhenItsOwnerHasHeard: what a client no longer asks for is in
// the way of no request, but it is not passed on while the client may still use it.
func TestGivenBackWhenItsOwnerHasHeard(t *testing.T) {
	r := newRig(t, PolicyPriority)
	r.grant(gait, needing(leg1).wanting(tail).priority(9, 9))
	r.ask(gait, needing(leg1).priority(9, 9))
	r.step()
	r.step()
	r.step()
	slow := r.wire[0] // its grant
	r.wire = nil
	r.phase(wag, NonOperational)
	r.grant(wag, needing(tail).priority(1, 1)) // weaker than the gait, which does not care any more
	r.phase(wag, Pending)
	r.owns(tail, gait)
	if !r.clients[gait].Owned().Has(tail) || r.clients[wag].Owned().Has(tail) {
		t.Error("the wag uses the tail, or the gait does not")
	}
	r.wire = append(r.wire, slow)
	r.run()
	r.owns(tail, wag)
	r.phase(wag, Operational)
	r.phase(gait, Operational)
}

func TestNeededTogetherOrNotAtAll(t *testing.T) {
	r := newRig(t, PolicyPriority)
	r.grant(look, needing(head).priority(9, 9))
	r.grant(gait, needing(leg1, leg2, head).wanting(tail).priority(5, 5))
	for _, leaf := range []robot.LeafID{leg1, leg2, tail} {
		r.owns(leaf, NoClient)
	}
	r.grant(gait, needing(leg1, leg2).wanting(tail, head).priority(5, 5))
	for _, leaf := range []robot.LeafID{leg1, leg2, tail} {
		r.owns(leaf, gait)
	}
	r.owns(head, look)
	r.quit(look)
	r.owns(head, gait) // wanted, and free
}

func TestTiesGoToTheLaterRequest(t *testing.T) {
	r := newRig(t, PolicyPriority)
	r.grant(gait, needing(leg1).priority(5, 5))
	r.grant(trot, needing(leg1).priority(5, 5))
	r.owns(leg1, trot)
	// among heirs too
	r.grant(look, wanting(tail).priority(3, 3))
	r.grant(gait, wanting(tail).priority(3, 3))
	r.grant(yawn, needing(tail).priority(7, 7))
	r.quit(yawn)
	r.owns(tail, gait)
}

func TestPriorityPerResource(t *testing.T) {
	r := newRig(t, PolicyPriority)
	claim := needing(leg1).wanting(tail)
	claim.Pending[leg1], claim.Operational[leg1] = 9, 9
	claim.Pending[tail], claim.Operational[tail] = 9, 1
	r.grant(gait, claim)
	r.grant(wag, needing(tail).priority(3, 3))
	r.owns(tail, wag)
	r.grant(trot, needing(leg1).priority(3, 3))
	r.owns(leg1, gait)
}

func TestHeirOfHighestOperationalPriority(t *testing.T) {
	r := newRig(t, PolicyPriority)
	r.grant(gait, wanting(tail).priority(5, 4))
	r.grant(look, wanting(tail).priority(5, 2)) // later, but lower while running
	r.owns(tail, look)
	r.grant(wag, needing(tail).priority(9, 9))
	r.quit(wag)
	r.owns(tail, gait)
}

func TestPendingPriorityCountsUntilTheRoundEnds(t *testing.T) {
	r := newRig(t, PolicyPriority)
	r.grant(gait, needing(leg1).priority(1, 1))
	r.ask(trot, needing(leg1).priority(9, 2))
	r.step() // offered; pending priority 9
	offer := r.wire[0]
	r.wire = nil
	r.grant(wag, needing(leg1).priority(5, 5)) // beats the gait, not the round
	r.phase(wag, NonOperational)
	if got := r.clients[wag].Denied(); got.Code != Contested || got.Who != trot || got.Theirs != 9 {
		t.Errorf("reason %+v", got)
	}
	r.wire = append(r.wire, offer)
	r.run()
	r.owns(leg1, trot)
	r.grant(wag, needing(leg1).priority(5, 5)) // against operational 2
	r.owns(leg1, wag)
}

func TestVictimsLeftoversGoByPendingPriority(t *testing.T) {
	for _, local := range []bool{false, true} {
		m, port := NewMachine(Config{Policy: PolicyPriority}), &localPort{}
		for c := range ClientID(4) {
			port.local[c] = true
			port.clients[c] = NewClient(c, 0, 0)
			m.Do(&Event{Kind: Register, From: c, Local: local}, port)
		}
		do := func(c ClientID, claim Claim) {
			e := port.clients[c].Request(0, &claim)
			m.Do(&e, port)
		}
		do(look, wanting(tail).priority(7, 7))
		victim := needing(leg1).wanting(tail)
		victim.Pending[tail], victim.Operational[tail] = 10, 10
		do(gait, victim)
		do(trot, needing(leg1).wanting(tail).priority(9, 1)) // cannot take the tail, but inherits it
		if got := m.Owner(tail); got != trot {
			t.Errorf("local %v: the tail went to %d, want %d", local, got, trot)
		}
	}
}

func TestReleaseOfAPart(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(look, wanting(tail, head))
	r.grant(gait, needing(leg1, leg2).wanting(tail, head))
	e, _ := r.clients[gait].Release(r.now, leaves(leg2, tail))
	r.send(e)
	r.run()
	r.phase(gait, Operational)
	r.owns(leg1, gait)
	r.owns(leg2, NoClient)
	r.owns(tail, look)
	r.owns(head, gait)
	r.quit(look)
	r.owns(tail, NoClient) // released is not wanted
	e, _ = r.clients[gait].Release(r.now, leaves(leg1, head))
	r.send(e)
	r.run()
	r.phase(gait, NonOperational) // with nothing left to ask for
}

func TestLease(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(look, wanting(tail))
	r.grant(gait, needing(leg1).wanting(tail))
	r.mute[gait] = true
	r.pass(199 * ms)
	r.owns(leg1, gait)
	r.pass(1 * ms)
	r.owns(leg1, NoClient)
	r.owns(tail, look)
	r.phase(gait, NonOperational)
	r.phase(look, Operational)
	if _, why := r.s.Since(leg1); why != Expired {
		t.Errorf("leg1 is free because %v", why)
	}
}

func TestLostReleaseIsHealedByTheLease(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1))
	r.pass(100 * ms)
	r.clients[gait].Quit(r.now) // and the message is lost
	r.pass(199 * ms)
	r.owns(leg1, gait)
	r.pass(1 * ms)
	r.owns(leg1, NoClient)
}

func TestLostPartReleaseIsHealedByAReport(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(look, wanting(tail))
	r.grant(gait, needing(leg1).wanting(tail))
	r.clients[gait].Release(r.now, leaves(tail)) // lost
	e, _ := r.clients[gait].Report(r.now)
	r.handle(e)
	r.owns(tail, look)
	r.owns(leg1, gait)
}

func TestLostAnswersAreRepeatedToAReport(t *testing.T) {
	for _, tc := range []struct {
		name string
		lose MessageKind
		want Phase
	}{{"grant", Grant, Operational}, {"denial", Deny, NonOperational}} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, PolicyPriority)
			if tc.lose == Deny {
				r.grant(trot, needing(leg1).priority(9, 9))
			}
			r.ask(gait, needing(leg1))
			for len(r.wire) > 0 {
				if p := r.wire[0]; p.toClient && p.message.To == gait && p.message.Kind == tc.lose {
					r.wire = r.wire[1:]
					continue
				}
				r.step()
			}
			if got := r.clients[gait].Phase(); got != Pending {
				t.Fatalf("the client is %v", got)
			}
			e, _ := r.clients[gait].Report(r.now)
			r.handle(e)
			r.run()
			r.phase(gait, tc.want)
		})
	}
	t.Run("request", func(t *testing.T) {
		r := newRig(t, PolicyLast)
		late := r.clients[gait].Request(r.now, &Claim{Need: leaves(leg1)})
		e, _ := r.clients[gait].Report(r.now)
		r.handle(e)
		r.run()
		r.phase(gait, NonOperational)
		r.handle(late) // not lost after all
		r.phase(gait, NonOperational)
		r.owns(leg1, NoClient)
	})
	t.Run("revocation", func(t *testing.T) {
		r := newRig(t, PolicyLast)
		r.grant(gait, needing(leg1))
		r.deaf[gait] = true
		r.grant(trot, needing(leg1))
		r.pass(20 * ms)
		if !r.clients[gait].Operational() {
			t.Fatal("the gait has heard")
		}
		r.deaf[gait] = false
		e, _ := r.clients[gait].Report(r.now)
		r.handle(e)
		r.run()
		r.phase(gait, NonOperational)
	})
}

func TestPatience(t *testing.T) {
	c := NewClient(gait, 0, 50*ms)
	claim := needing(leg1)
	c.Request(10*ms, &claim)
	if _, ok := c.Tick(59 * ms); ok || c.Phase() != Pending {
		t.Error("gave up too early")
	}
	e, ok := c.Tick(60 * ms)
	if !ok || e.Kind != Refuse || c.Phase() != NonOperational || c.Denied().Code != Unknown {
		t.Errorf("%v %+v %v", ok, e, c.Phase())
	}
}

func TestLateAndDoubledMessagesChangeNothing(t *testing.T) {
	r := newRig(t, PolicyLast)
	claim := needing(leg1)
	request := r.clients[gait].Request(r.now, &claim)
	r.send(request)
	r.run()
	quit, _ := r.clients[gait].Quit(r.now)
	r.send(quit)
	r.run()
	r.grant(gait, needing(leg2))
	before := r.s
	for _, e := range []Event{request, request, quit,
		{Kind: Ready, From: gait, Request: 1}, {Kind: Ready, From: gait, Request: 2}, {Kind: Refuse, From: gait, Request: 1},
		{Kind: Release, From: gait, Request: 1, Leaves: leaves(leg2)},
		{Kind: Report, From: gait, Request: 2, Serial: 99},
		{Kind: Request, From: gait, Request: 9}, // without a claim
		{Kind: Quit, From: 77, Request: 1}, {Kind: Request, From: 200, Request: 1, Claim: &claim}, {Kind: Register, From: 200},
	} {
		r.handle(e)
		if r.s != before {
			t.Fatalf("%v of request %d changed the books", e.Kind, e.Request)
		}
	}
}

func TestReadyForAnEarlierRequestIsNoAnswer(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1))
	r.ask(trot, needing(leg1))
	r.step()
	r.step()
	late := r.wire[0].event // ready for the first request
	r.wire = nil
	r.players[trot].refuse = true
	r.ask(trot, needing(leg1))
	r.step() // the second is offered
	r.handle(late)
	r.owns(leg1, gait)
	r.run()
	r.owns(leg1, gait)
	r.phase(gait, Operational)
	r.phase(trot, NonOperational)
}

func TestRefusalAfterTheGrantGivesAllBack(t *testing.T) {
	// the client lost patience while its grant was on the way
	r := newRig(t, PolicyLast)
	r.clients[gait] = NewClient(gait, 0, 50*ms)
	r.ask(gait, needing(leg1))
	r.step()
	r.step()
	r.step()
	r.owns(leg1, gait)
	r.wire = nil // the grant is lost
	r.now = 50 * ms
	e, ok := r.clients[gait].Tick(r.now)
	if !ok {
		t.Fatal("the client still waits")
	}
	r.handle(e)
	r.owns(leg1, NoClient)
	r.phase(gait, NonOperational)
}

func TestRequestGivenUpButGrantedEndsInQuitting(t *testing.T) {
	// the grant of another set is lost, and so is the word that it was given up:
	// the books say leg2, the client believes leg1
	r := newRig(t, PolicyLast)
	r.clients[gait] = NewClient(gait, 0, 50*ms)
	r.grant(gait, needing(leg1))
	r.ask(gait, needing(leg2))
	r.step()
	r.step()
	r.step()
	r.owns(leg2, gait)
	r.wire = nil
	r.now = 50 * ms
	r.clients[gait].Tick(r.now)
	e, _ := r.clients[gait].Report(r.now)
	r.send(e)
	for n := 0; len(r.wire) > 0; n++ {
		if n > 20 {
			t.Fatal("they talk past each other for ever")
		}
		r.step()
	}
	r.phase(gait, NonOperational)
	r.owns(leg2, NoClient)
}

func TestWhoIsAboutToQuitInheritsNothing(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(look, wanting(tail))
	r.grant(gait, needing(leg1).wanting(tail)) // later than look
	r.grant(wag, needing(tail))
	r.mute[gait] = true
	r.grant(trot, needing(leg1)) // the gait is asked, and silent
	calls := len(r.players[gait].sets)
	r.quit(wag)
	r.owns(tail, look)
	if n := len(r.players[gait].sets) - calls; n != 0 {
		t.Errorf("the gait was called %d times for a leaf it could not keep", n)
	}
	r.pass(20 * ms)
	r.owns(tail, look)
	r.owns(leg1, trot)
}

func TestWhoWinsBackWhatItNeedsInheritsAgain(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1).wanting(tail))
	r.grant(wag, needing(tail))
	r.grant(yawn, needing(head))
	r.grant(trot, needing(eyes))
	r.mute[yawn], r.mute[trot], r.deaf[gait] = true, true, true
	r.grant(look, needing(head).wanting(leg1)) // waits for the yawn; the gait is to lose the leg
	r.quit(wag)
	r.owns(tail, NoClient)
	r.deaf[gait] = false
	r.grant(gait, needing(leg1, eyes)) // waits for the trot; the leg is not the look's any more
	r.phase(gait, OperationalPending)
	r.owns(tail, gait)
}

// TestEarlierRoundsEndFirst: two rounds that wait for a third end in the order
// of their requests, and so the second still inherits with its pending priority.
func TestEarlierRoundsEndFirst(t *testing.T) {
	const silent, owner, user, blocker, first, second = 0, 1, 2, 3, 5, 4 // the later request has the smaller number
	const x0, x1, x2, y = 10, 11, 12, 13
	m, port := NewMachine(Config{Policy: PolicyPriority}), &localPort{}
	for c := range ClientID(6) {
		port.local[c] = true // answers at once
		port.clients[c] = NewClient(c, 0, 0)
		m.Do(&Event{Kind: Register, From: c, Local: c != silent && c != blocker}, port)
	}
	do := func(c ClientID, claim Claim) {
		e := port.clients[c].Request(0, &claim)
		m.Do(&e, port)
	}
	do(silent, needing(x0).priority(1, 1))
	do(user, wanting(y).priority(5, 5))
	keeps := needing(x1).wanting(y).priority(1, 1)
	keeps.Pending[y], keeps.Operational[y] = 9, 9
	do(owner, keeps)
	port.local[silent] = false
	do(blocker, needing(x0, x1, x2).priority(2, 2)) // waits for the silent one
	do(first, needing(x1).priority(3, 3))
	do(second, needing(x2).wanting(y).priority(7, 1))
	if m.Phase(first) != Pending || m.Phase(second) != Pending {
		t.Fatalf("%v and %v", m.Phase(first), m.Phase(second))
	}
	m.Do(&Event{Kind: Refuse, From: blocker, Request: 1}, port)
	if m.Owner(x1) != first || m.Owner(x2) != second {
		t.Errorf("x1 %d, x2 %d", m.Owner(x1), m.Owner(x2))
	}
	if got := m.Owner(y); got != second {
		t.Errorf("what the first round left went to %d, want %d", got, second)
	}
}

func TestOldAssignmentChangesNothing(t *testing.T) {
	c := NewClient(gait, 0, 0)
	claim := needing(leg1).wanting(head, tail)
	c.Request(0, &claim)
	c.Receive(0, &Message{Kind: Offer, Request: 1}, nil)
	c.Receive(0, &Message{Kind: Grant, Request: 1, Serial: 3, Leaves: leaves(leg1, head, tail)}, nil)
	c.Receive(0, &Message{Kind: Assign, Request: 1, Serial: 7, Leaves: leaves(leg1)}, nil)
	before := c
	var p player
	if e, ok := c.Receive(0, &Message{Kind: Assign, Request: 1, Serial: 5, Leaves: leaves(leg1, head)}, &p); ok || c != before || len(p.sets) > 0 {
		t.Errorf("answered %v, owns %v", e.Kind, c.Owned())
	}
	if e, ok := c.Receive(0, &Message{Kind: Revoke, Request: 1, Serial: 4}, &p); ok || c != before {
		t.Errorf("answered %v, %v", e.Kind, c.Phase())
	}
}

func TestQuitThatOvertakesItsRequest(t *testing.T) {
	r := newRig(t, PolicyLast)
	claim := needing(leg1)
	request := r.clients[gait].Request(r.now, &claim)
	quit, _ := r.clients[gait].Quit(r.now)
	r.handle(quit)
	r.handle(request)
	r.phase(gait, NonOperational)
	r.owns(leg1, NoClient)
}

func TestNewLifeOfAName(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1))
	first := r.clients[gait]
	r.handle(Event{Kind: Register, From: gait, Request: 100})
	r.owns(leg1, NoClient)
	late, _ := first.Quit(r.now)
	r.clients[gait] = NewClient(gait, 100, 0)
	r.grant(gait, needing(leg2))
	r.handle(late)
	r.owns(leg2, gait)
}

func TestPolicyNoneGrantsAll(t *testing.T) {
	r := newRig(t, PolicyNone)
	r.grant(gait, needing(leg1))
	mark := len(r.sent)
	r.grant(trot, needing(leg1, leg2))
	r.phase(gait, Operational)
	r.phase(trot, Operational)
	r.owns(leg1, trot)
	if r.heard(mark, gait, Assign) != 0 || r.clients[gait].Owned() != leaves(leg1) {
		t.Error("the gait was disturbed")
	}
	r.quit(trot)
	r.owns(leg1, gait)
	r.owns(leg2, NoClient)
}

// TestReadyRoundsDoNotDisturbEachOther: a hand-over under way is finished
// before the next for the same leaf begins.
func TestReadyRoundsDoNotDisturbEachOther(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1))
	r.mute[gait] = true
	r.grant(trot, needing(leg1)) // asks the gait, which is silent
	mark := len(r.sent)
	r.grant(wag, needing(leg1)) // later, and so stronger, but must wait
	r.phase(trot, Pending)
	r.phase(wag, Pending)
	if r.heard(mark, gait, Assign) != 0 {
		t.Error("the gait was asked twice for the same leaf")
	}
	r.pass(20 * ms)
	r.owns(leg1, wag)
	r.phase(trot, NonOperational)
	if r.heard(mark, trot, Grant) != 1 {
		t.Error("the hand-over to the trot was not finished")
	}
}

func TestOutrankedWhileItsOfferWasOnTheWay(t *testing.T) {
	r := newRig(t, PolicyPriority)
	r.grant(gait, needing(leg1).priority(1, 1))
	r.mute[gait] = true
	r.ask(trot, needing(leg1).priority(9, 9))
	r.step()
	slow := r.wire[0] // its offer is late
	r.wire = nil
	r.pass(5 * ms)
	r.grant(wag, needing(leg1).priority(9, 9)) // later, and ready first
	r.phase(wag, Pending)
	r.wire = append(r.wire, slow)
	r.run()
	r.phase(trot, NonOperational)
	if got := r.clients[trot].Denied(); got.Code != Contested || got.Who != wag {
		t.Errorf("reason %+v", got)
	}
	r.pass(20 * ms)
	r.owns(leg1, wag)
}

func TestStrongerWinnerTakesWhatAnotherMerelyWanted(t *testing.T) {
	r := newRig(t, PolicyPriority)
	r.grant(gait, needing(leg1).wanting(tail).priority(1, 1))
	r.mute[gait] = true
	r.grant(trot, needing(leg1).wanting(tail).priority(5, 5)) // both reserved; the gait is silent
	r.phase(trot, Pending)
	r.grant(look, needing(head).priority(9, 9))
	r.grant(wag, needing(tail).priority(9, 9)) // the tail was promised to the trot
	r.phase(wag, Pending)
	if r.s.next[tail] != wag || r.s.client[trot].offer.Has(tail) {
		t.Error("the tail is still kept for the trot")
	}
	r.pass(20 * ms)
	r.owns(leg1, trot)
	r.owns(tail, wag)
	r.phase(look, Operational)
}

func TestCheckExplainsAndTakesNothing(t *testing.T) {
	r := newRig(t, PolicyPriority)
	r.grant(look, needing(head).wanting(eyes).priority(9, 8))
	r.ask(yawn, needing(tail).priority(7, 7))
	r.step() // its round is open
	before := r.s
	for _, tc := range []struct {
		name  string
		claim Claim
		gets  robot.Set
		want  Reason
	}{
		{"free", needing(leg1, leg2).priority(1, 1), leaves(leg1, leg2), Reason{Who: NoClient}},
		{"held", needing(leg1, head).priority(5, 5), robot.Set{}, Reason{Held, head, look, 5, 8}},
		{"held, but only wanted", needing(leg1).wanting(head, leg2).priority(5, 5), leaves(leg1, leg2), Reason{Who: NoClient}},
		{"stronger", needing(head).priority(8, 1), leaves(head), Reason{Who: NoClient}},
		{"contested", needing(tail).priority(5, 5), robot.Set{}, Reason{Contested, tail, yawn, 5, 7}},
		{"nothing", Claim{}, robot.Set{}, Reason{Code: Nothing, Who: NoClient}},
	} {
		gets, got := r.s.Check(gait, &tc.claim)
		if gets != tc.gets || got != tc.want {
			t.Errorf("%s: gets %v, %+v; want %v, %+v", tc.name, gets, got, tc.gets, tc.want)
		}
	}
	if _, got := r.s.Check(99, &Claim{}); got.Code != Unknown {
		t.Errorf("no such client: %v", got.Code)
	}
	if r.s != before {
		t.Error("Check changed the books")
	}
	leaf := func(robot.LeafID) string { return "head" }
	who := func(ClientID) string { return "look_at" }
	if got, want := (Reason{Held, head, look, 5, 8}).Text(leaf, who), "head is held by look_at (priority 5 against 8; among equals the later request wins)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLocalHandOverTakesOneStep(t *testing.T) {
	m, port := locals(6)
	for c, claim := range []Claim{needing(leg1).wanting(tail), needing(leg2), needing(head).wanting(eyes)} {
		e := port.clients[c].Request(0, &claim)
		m.Do(&e, port)
	}
	claim := needing(leg1, leg2, eyes)
	e := port.clients[5].Request(7, &claim)
	m.Do(&e, port)
	for _, leaf := range []robot.LeafID{leg1, leg2, eyes} {
		if m.Owner(leaf) != 5 {
			t.Errorf("leaf %d is owned by %d", leaf, m.Owner(leaf))
		}
	}
	for c, want := range []Phase{NonOperational, NonOperational, Operational, NonOperational, NonOperational, Operational} {
		if m.Phase(ClientID(c)) != want || port.clients[c].Phase() != want {
			t.Errorf("client %d is %v and believes %v, want %v", c, m.Phase(ClientID(c)), port.clients[c].Phase(), want)
		}
	}
	if _, any := m.Due(); any {
		t.Error("local clients have no lease, and no round is open")
	}
}

// TestRemoteHandOverIsBounded: requests at any time, answers as slow as can be:
// a round of remote clients ends within its timeout and two cycles.
func TestRemoteHandOverIsBounded(t *testing.T) {
	const cycle = 1 * ms
	for victimAnswers := range int64(25) {
		for winnerAnswers := range int64(25) {
			r := newRig(t, PolicyLast)
			r.grant(gait, needing(leg1))
			r.ask(trot, needing(leg1))
			began := r.now
			r.run2(winnerAnswers*ms, victimAnswers*ms)
			for n := 0; ; n++ {
				if _, open := r.s.RoundDue(trot); !open {
					break
				}
				if n > 100 {
					t.Fatal("the round does not end")
				}
			}
			if took := r.now - began; took > DefaultRoundTimeout+2*cycle {
				t.Errorf("winner after %d ms, victim after %d ms: the round took %d ms", winnerAnswers, victimAnswers, took/ms)
			}
		}
	}
}

// run2 runs one round in cycles of a millisecond, with slow answers.
func (r *rig) run2(winner, victim int64) {
	type late struct {
		at int64
		e  Event
	}
	var queue []late
	for {
		for len(r.wire) > 0 {
			p := r.wire[0]
			r.wire = r.wire[1:]
			if !p.toClient {
				r.handle(p.event)
				continue
			}
			delay := victim
			if p.message.To == trot {
				delay = winner
			}
			if e, ok := r.clients[p.message.To].Receive(r.now, &p.message, nil); ok {
				queue = append(queue, late{r.now + delay, e})
			}
		}
		if _, open := r.s.RoundDue(trot); !open {
			return
		}
		r.now += ms
		for at, any := r.s.Due(); any && at <= r.now; at, any = r.s.Due() {
			r.handle(Event{Kind: Tick, From: NoClient})
		}
		for i := 0; i < len(queue); {
			if queue[i].at <= r.now {
				r.wire = append(r.wire, packet{event: queue[i].e})
				queue = append(queue[:i], queue[i+1:]...)
			} else {
				i++
			}
		}
	}
}

// TestLocalOwnersKeepMovingWhileRemoteOnesAreAsked: a local victim is told in
// the step in which the leaf changes its owner, not before.
func TestLocalOwnersKeepMovingWhileRemoteOnesAreAsked(t *testing.T) {
	m, port := NewMachine(Config{Policy: PolicyLast}), &localPort{}
	for c := range ClientID(3) {
		port.local[c] = c != 0
		port.clients[c] = NewClient(c, 0, 0)
		m.Do(&Event{Kind: Register, From: c, Local: port.local[c]}, port)
	}
	port.local[0] = true // answers at once while it is set up
	for c, claim := range []Claim{needing(leg1), needing(leg2)} {
		e := port.clients[c].Request(0, &claim)
		m.Do(&e, port)
	}
	port.local[0] = false
	claim := needing(leg1, leg2)
	e := port.clients[2].Request(0, &claim)
	m.Do(&e, port)
	if !port.clients[1].Operational() || m.Owner(leg2) != 1 {
		t.Error("the local owner was stopped before the remote one had answered")
	}
	m.Do(&Event{Kind: Quit, From: 0, Request: 1}, port)
	if port.clients[1].Operational() || m.Owner(leg2) != 2 || m.Owner(leg1) != 2 {
		t.Error("the hand-over is not complete")
	}
}

// locals is a machine with clients that answer at once.
func locals(n ClientID) (*Machine, *localPort) {
	m, port := NewMachine(Config{Policy: PolicyLast}), &localPort{}
	for c := range n {
		port.local[c] = true
		port.clients[c] = NewClient(c, 0, 0)
		m.Do(&Event{Kind: Register, From: c, Local: true}, port)
	}
	return m, port
}

func TestWhoHoldsWhatSinceWhenAndWhy(t *testing.T) {
	m, port := locals(2)
	const look, yawn = 0, 1
	claims := [2]Claim{needing(eyes).wanting(head), needing(head)}
	for c := range claims {
		e := port.clients[c].Request(int64(c+1)*ms, &claims[c])
		m.Do(&e, port)
	}
	e, _ := port.clients[yawn].Quit(3 * ms)
	m.Do(&e, port)
	at, why := m.Since(head)
	if m.Owner(head) != look || at != 3*ms || why != Returned {
		t.Errorf("head: %d since %d because %v", m.Owner(head), at, why)
	}
	var got []Change
	for c := range m.History {
		if c.Leaf == head {
			got = append(got, c)
		}
	}
	want := []Change{
		{1 * ms, head, NoClient, look, Granted, 1},
		{2 * ms, head, look, yawn, Granted, 1},
		{3 * ms, head, yawn, look, Returned, 1},
	}
	if !slices.Equal(got, want) {
		t.Errorf("history %+v, want %+v", got, want)
	}
}

func TestHistoryIsARing(t *testing.T) {
	m, port := locals(1)
	claim := needing(leg1)
	for i := range int64(historySize) {
		e := port.clients[0].Request(i, &claim)
		m.Do(&e, port)
		e, _ = port.clients[0].Quit(i)
		m.Do(&e, port)
	}
	n, last := 0, int64(-1)
	for c := range m.History {
		if c.At < last {
			t.Fatal("out of order")
		}
		n, last = n+1, c.At
	}
	if n != historySize || last != historySize-1 || m.Changes() != 2*historySize {
		t.Errorf("%d kept, the last from %d, %d in all", n, last, m.Changes())
	}
	for range m.History {
		break // stops when told to
	}
}

func TestClaimValidate(t *testing.T) {
	nan := needing(leg1)
	nan.Operational[leg1] = float32(0)
	nan.Operational[leg1] /= nan.Operational[leg1]
	for _, tc := range []struct {
		name  string
		claim Claim
		ok    bool
	}{{"nothing", Claim{}, false}, {"not a number", nan, false}, {"fine", needing(leg1).priority(2, 1), true}} {
		if err := tc.claim.Validate(); (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

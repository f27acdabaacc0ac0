package arbiter

import (
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

func TestASilentRequesterTakesNothingFromSilentOwners(t *testing.T) {
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
		t.Error("Check changed the state")
	}
	leaf := func(robot.LeafID) string { return "head" }
	who := func(ClientID) string { return "look_at" }
	if got, want := (Reason{Held, head, look, 5, 8}).Text(leaf, who), "head is held by look_at (priority 5 against 8; among equals the later request wins)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

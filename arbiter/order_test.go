package arbiter

import (
	"testing"
)

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
			t.Fatalf("%v of request %d changed the state", e.Kind, e.Request)
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
	// the state says leg2, the client believes leg1
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

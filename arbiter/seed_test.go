package arbiter

import (
	"slices"
	"testing"

	"poise/robot"
)

// The cast of the seed's examples.
const (
	gait, trot, wag, look, yawn ClientID = 0, 1, 2, 3, 4

	leg1, leg2, head, eyes, tail robot.LeafID = 0, 1, 2, 3, 4
)

// TestSwitchingSeed has one test for each sentence of the switching document:
// first the client's logic, then the arbiter's round, then its remarks.
func TestSwitchingSeed(t *testing.T) {
	for _, tc := range []struct {
		rule string
		test func(t *testing.T)
	}{
		// the client
		{"conditions are checked before activation; unmet, nothing begins and the asker is told", unmetConditions},
		{"an activated client is pending and sends what it asks for, with both priorities", requestIsPending},
		{"assignments count only for the operational and the pending", idleIgnoresAssignments},
		{"who can go on stays operational, who was pending becomes it", pendingBecomesOperational},
		{"who cannot go on deactivates", lossOfNeedDeactivates},
		{"every assignment is confirmed with the new state", assignmentsAreConfirmed},
		{"a client deactivates of itself and says so", quitOfItself},
		{"user code is called only while operational", userCodeWhileOperational},
		// the arbiter's state
		{"the state holds each client's state, its leaves, what it asks for and its priorities", stateHoldsClients},
		{"the state holds whom a round waits for and its timeout", stateHoldsRounds},
		// the round
		{"a round begins with a request", roundBeginsWithRequest},
		{"several rounds may run at once", roundsOverlap},
		{"pending clients count with pending priorities, operational ones with operational, others not at all", whichPriorityCounts},
		{"the clients concerned are told and waited for, and a timer is set", concernedAreWaitedFor},
		{"who stays operational confirms and is waited for no longer", confirmationIsTicked},
		{"who deactivates leaves the rest to be shared out anew, and those concerned are asked", quitSharesAnew},
		{"with no client left to wait for the round ends and pending becomes operational", roundEnds},
		{"at the timeout the round ends and the list is cleared", roundTimesOut},
		// the remarks
		{"requests in quick succession make several clients pending", quickSuccession},
		{"a leaf never has two users, not even for a cycle", neverTwoUsers},
		{"without priorities a request takes what it asks for from the operational", lastTakes},
		{"what a deactivated client leaves returns to an operational one", leftoversReturn},
		{"simultaneous switches are not lost", simultaneousSwitches},
		{"a client knows its own answer from another's", ownAnswer},
		{"priorities of the non-operational are nil", idlePrioritiesAreNil},
		{"giving up a leaf is a trigger too", releaseTriggers},
		{"each exchange is the last or loses a client, so the procedure ends", exchangesEnd},
	} {
		t.Run(tc.rule, tc.test)
	}
}

func unmetConditions(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1))
	r.players[trot].refuse = true
	mark := len(r.sent)
	r.grant(trot, needing(leg1))
	r.owns(leg1, gait)
	r.phase(gait, Operational)
	r.phase(trot, NonOperational)
	if n := r.heard(mark, gait, Assign); n != 0 {
		t.Errorf("the running gait was called %d times", n)
	}
	if got := r.clients[trot].Denied().Code; got != Refused {
		t.Errorf("the asker was told %v, want %v", got, Refused)
	}
}

func requestIsPending(t *testing.T) {
	c := NewClient(gait, 0, 0)
	claim := needing(leg1).wanting(tail).priority(7, 3)
	e := c.Request(5, &claim)
	if c.Phase() != Pending {
		t.Errorf("phase %v", c.Phase())
	}
	if e.Kind != Request || e.From != gait || e.At != 5 || e.Request != 1 ||
		e.Claim.Need != leaves(leg1) || e.Claim.Want != leaves(tail) || e.Claim.Pending[leg1] != 7 || e.Claim.Operational[tail] != 3 {
		t.Errorf("sent %+v", e)
	}
}

func idleIgnoresAssignments(t *testing.T) {
	var p player
	for _, kind := range []MessageKind{Offer, Grant, Assign, Deny, Revoke} {
		c := NewClient(gait, 0, 0)
		before := c
		if e, ok := c.Receive(0, &Message{To: gait, Kind: kind, Request: 1, Serial: 9, Leaves: leaves(leg1)}, &p); ok {
			t.Errorf("%v: answered %+v", kind, e)
		}
		if c != before || p.starts+len(p.sets) > 0 {
			t.Errorf("%v: not ignored", kind)
		}
	}
}

func pendingBecomesOperational(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1).wanting(tail))
	r.phase(gait, Operational)
	r.grant(wag, needing(tail))
	r.phase(gait, Operational) // can go on without the tail
	r.phase(wag, Operational)
}

func lossOfNeedDeactivates(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1))
	r.grant(trot, needing(leg1))
	r.phase(gait, NonOperational)
	if n := len(r.players[gait].sets); n != 1 {
		t.Errorf("the gait was called %d times, want once, at its start", n)
	}
}

func assignmentsAreConfirmed(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1).wanting(tail))
	r.grant(wag, needing(tail)) // assign to the gait, grant to the wag
	for _, c := range []ClientID{gait, wag} {
		if cl := &r.s.client[c]; cl.acked != cl.serial || cl.serial == 0 {
			t.Errorf("client %d confirmed %d of %d", c, cl.acked, cl.serial)
		}
	}
}

func quitOfItself(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1))
	e, ok := r.clients[gait].Quit(r.now)
	if !ok || e.Kind != Quit || r.clients[gait].Phase() != NonOperational {
		t.Errorf("quit: %+v, %v", e, r.clients[gait].Phase())
	}
	r.handle(e)
	r.phase(gait, NonOperational)
	r.owns(leg1, NoClient)
}

func userCodeWhileOperational(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.ask(gait, needing(leg1))
	for len(r.wire) > 0 {
		if !r.clients[gait].Operational() && len(r.players[gait].sets) > 0 {
			t.Fatal("called before it was operational")
		}
		r.step()
	}
	r.quit(gait)
	calls := len(r.players[gait].sets)
	r.grant(trot, needing(leg1))
	if len(r.players[gait].sets) != calls {
		t.Error("called after it had quit")
	}
}

func stateHoldsClients(t *testing.T) {
	r := newRig(t, PolicyPriority)
	r.grant(gait, needing(leg1).wanting(tail).priority(7, 3))
	r.phase(gait, Operational)
	if got := r.s.Owned(gait); got != leaves(leg1, tail) {
		t.Errorf("owns %v", got)
	}
	if claim := r.s.runs(gait); claim.Need != leaves(leg1) || claim.Want != leaves(tail) || claim.Pending[leg1] != 7 || claim.Operational[tail] != 3 {
		t.Error("the claim is not in the state")
	}
}

func stateHoldsRounds(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1))
	r.deaf[gait] = true
	r.now = 40 * ms
	r.grant(trot, needing(leg1))
	if at, open := r.s.RoundDue(trot); !open || at != 60*ms {
		t.Errorf("the round is open: %v, until %d", open, at)
	}
	if r.s.answered(trot) {
		t.Error("the round does not wait for the gait")
	}
	r.owns(leg1, gait)
}

func roundBeginsWithRequest(t *testing.T) {
	r := newRig(t, PolicyLast)
	if _, any := r.s.Due(); any {
		t.Error("something is due in an empty state")
	}
	r.ask(gait, needing(leg1))
	r.step()
	if _, open := r.s.RoundDue(gait); !open {
		t.Error("no round")
	}
	r.phase(gait, Pending)
}

func roundsOverlap(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1))
	r.grant(look, needing(head))
	r.ask(trot, needing(leg1))
	r.ask(yawn, needing(head))
	r.step()
	r.step()
	r.phase(trot, Pending)
	r.phase(yawn, Pending)
	r.run()
	r.owns(leg1, trot)
	r.owns(head, yawn)
}

func whichPriorityCounts(t *testing.T) {
	r := newRig(t, PolicyPriority)
	r.grant(look, needing(eyes).priority(9, 9))
	r.quit(look) // priority 9 counts no more
	r.grant(gait, needing(leg1, eyes).priority(1, 5))
	r.phase(gait, Operational)
	r.grant(trot, needing(leg1).priority(4, 9)) // pending 4 against operational 5
	r.phase(trot, NonOperational)
	r.owns(leg1, gait)
	r.grant(trot, needing(leg1).priority(6, 0)) // pending 6 against operational 5
	r.owns(leg1, trot)
	r.grant(gait, needing(leg1).priority(1, 5)) // pending 1 against operational 0
	r.owns(leg1, gait)
}

func concernedAreWaitedFor(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1).wanting(tail))
	r.grant(look, needing(head))
	mark := len(r.sent)
	r.ask(wag, needing(tail))
	r.step() // request
	r.step() // offer
	r.step() // ready
	if r.heard(mark, gait, Assign) != 1 || r.heard(mark, look, Assign) != 0 {
		t.Errorf("told %v", r.sent[mark:])
	}
	if at, _ := r.s.RoundDue(wag); at != r.now+DefaultRoundTimeout || r.s.answered(wag) {
		t.Error("no timer, or no client is waited for")
	}
}

func confirmationIsTicked(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1).wanting(tail))
	r.grant(look, needing(head).wanting(eyes))
	r.deaf[look] = true
	r.grant(wag, needing(tail, eyes)) // asks both
	if r.s.client[gait].acked != r.s.client[gait].serial {
		t.Error("the gait has not confirmed")
	}
	r.phase(wag, Pending) // look is still to be heard
	e, _ := r.clients[look].Report(r.now)
	e.Serial, e.Leaves = r.s.client[look].serial, leaves(head)
	r.handle(e)
	r.phase(gait, Operational)
	r.owns(tail, wag)
	r.owns(eyes, wag)
}

func quitSharesAnew(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(look, needing(head).wanting(tail))
	r.grant(gait, needing(leg1).wanting(tail)) // takes the tail
	mark := len(r.sent)
	r.grant(trot, needing(leg1)) // the gait must quit: look has the tail again
	r.phase(gait, NonOperational)
	r.owns(tail, look)
	if r.heard(mark, look, Assign) != 1 {
		t.Error("look was not asked")
	}
	if got := r.clients[look].Owned(); got != leaves(head, tail) {
		t.Errorf("look owns %v", got)
	}
}

func roundEnds(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1))
	r.grant(trot, needing(leg1))
	if r.s.open != (clientSet{}) || r.now != 0 {
		t.Error("the round did not end the moment all had answered")
	}
	r.phase(trot, Operational)
}

func roundTimesOut(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1))
	r.deaf[gait] = true
	r.grant(trot, needing(leg1))
	r.pass(19 * ms)
	r.phase(trot, Pending)
	r.pass(1 * ms)
	if r.s.open != (clientSet{}) {
		t.Error("the round did not end")
	}
	r.phase(trot, Operational)
}

func quickSuccession(t *testing.T) {
	r := newRig(t, PolicyLast)
	for _, c := range []ClientID{gait, trot, wag} {
		r.ask(c, needing(leg1))
	}
	for range 3 {
		r.step()
	}
	for _, c := range []ClientID{gait, trot, wag} {
		r.phase(c, Pending)
	}
	r.run()
	r.owns(leg1, wag)
	r.phase(gait, NonOperational)
	r.phase(trot, NonOperational)
}

func neverTwoUsers(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1))
	r.ask(trot, needing(leg1))
	for len(r.wire) > 0 {
		r.step()
		if r.clients[gait].Owned().Overlaps(r.clients[trot].Owned()) {
			t.Fatal("both use the leg")
		}
	}
	r.owns(leg1, trot)
}

func lastTakes(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1, leg2).wanting(tail).priority(9, 9)) // priorities count for nothing
	r.grant(wag, needing(tail))
	r.owns(tail, wag)
	r.owns(leg1, gait)
	r.owns(leg2, gait)
}

func leftoversReturn(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1).wanting(tail))
	r.grant(look, needing(head).wanting(tail))
	r.grant(wag, needing(tail))
	r.quit(wag)
	r.owns(tail, look) // list order would give it to the gait
	r.quit(look)
	r.owns(tail, gait)
}

func simultaneousSwitches(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1))
	r.grant(look, needing(head))
	r.ask(trot, needing(leg1))
	r.ask(yawn, needing(head))
	r.ask(wag, needing(tail))
	r.run()
	for _, c := range []ClientID{gait, look} {
		r.phase(c, NonOperational)
	}
	for _, c := range []ClientID{trot, yawn, wag} {
		r.phase(c, Operational)
	}
}

func ownAnswer(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.ask(gait, needing(leg1))
	r.step()
	offer := r.wire[0].message
	r.wire = nil
	r.ask(gait, needing(leg2)) // before the offer arrives
	if e, ok := r.clients[gait].Receive(r.now, &offer, &r.players[gait]); ok {
		t.Errorf("answered the offer to an earlier request with %v", e.Kind)
	}
	r.run()
	r.owns(leg1, NoClient)
	r.owns(leg2, gait)
}

func idlePrioritiesAreNil(t *testing.T) {
	r := newRig(t, PolicyPriority)
	r.grant(gait, needing(leg1).priority(9, 9))
	r.quit(gait)
	if *r.s.runs(gait) != (Claim{}) || *r.s.asks(gait) != (Claim{}) {
		t.Error("an idle client's claim is still in the state")
	}
	r.grant(trot, needing(leg1).priority(0, 0))
	r.owns(leg1, trot)
}

func releaseTriggers(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(look, needing(head).wanting(eyes))
	r.grant(yawn, needing(tail).wanting(eyes))
	e, _ := r.clients[yawn].Release(r.now, leaves(eyes))
	r.send(e)
	r.run()
	r.phase(yawn, Operational)
	r.owns(tail, yawn)
	r.owns(eyes, look)
}

func exchangesEnd(t *testing.T) {
	// each quits over any change: one request drives out all, one after the other
	r := newRig(t, PolicyLast)
	for c := ClientID(0); c < 6; c++ {
		r.grant(c, needing(robot.LeafID(c)).wanting(10, 11))
		r.players[c].leave = true
	}
	r.grant(6, needing(10))
	for c := ClientID(0); c < 6; c++ {
		r.phase(c, NonOperational)
	}
	r.phase(6, Operational)
}

// TestSeedYawnOverLookAt: the head is taken for a moment and given back.
func TestSeedYawnOverLookAt(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(look, wanting(head, eyes))
	r.grant(yawn, needing(head))
	r.owns(head, yawn)
	r.owns(eyes, look)
	r.phase(look, Operational)
	r.quit(yawn)
	r.owns(head, look)
	want := []robot.Set{leaves(head, eyes), leaves(eyes), leaves(head, eyes)}
	if got := r.players[look].sets; !slices.Equal(got, want) {
		t.Errorf("look was called with %v, want %v", got, want)
	}
}

// TestSeedGaitAndTail: legs are needed, the tail is not.
func TestSeedGaitAndTail(t *testing.T) {
	r := newRig(t, PolicyLast)
	r.grant(gait, needing(leg1, leg2).wanting(tail))
	r.grant(wag, needing(tail))
	r.phase(gait, Operational)
	r.quit(wag)
	r.owns(tail, gait)
	r.grant(trot, needing(leg2))
	r.phase(gait, NonOperational) // a needed leg is lost, so all is given up
	r.owns(leg1, NoClient)
	r.owns(tail, NoClient)
	r.quit(trot)
	r.phase(gait, NonOperational) // and it does not restart by itself
	r.owns(leg2, NoClient)
}

// TestSeedTwoGaitsOfEqualPriority: high while asking, middling while running,
// so that each can take over from the other.
func TestSeedTwoGaitsOfEqualPriority(t *testing.T) {
	r := newRig(t, PolicyPriority)
	claim := needing(leg1, leg2).priority(10, 5)
	r.grant(gait, claim)
	r.grant(wag, needing(leg1).priority(4, 4)) // not for all
	r.phase(wag, NonOperational)
	for range 3 {
		r.grant(trot, claim)
		r.owns(leg1, trot)
		r.phase(gait, NonOperational)
		r.grant(gait, claim)
		r.owns(leg2, gait)
		r.phase(trot, NonOperational)
	}
}

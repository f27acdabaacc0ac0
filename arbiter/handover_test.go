package arbiter

import (
	"slices"
	"testing"

	"poise/robot"
)

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

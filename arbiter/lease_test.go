package arbiter

import (
	"testing"
)

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

package arbiter

import (
	"testing"

	"poise/robot"
)

// ms is a millisecond on the arbiter's clock.
const ms = 1_000_000

// player is a controller of a test: what its hooks answer, and what they heard.
type player struct {
	refuse bool // cannot start
	leave  bool // quits over any change
	starts int
	sets   []robot.Set
}

func (p *player) CanStart(robot.Set) bool { p.starts++; return !p.refuse }

func (p *player) ResourcesChanged(owned robot.Set) bool {
	p.sets = append(p.sets, owned)
	return !p.leave
}

// rig is an arbiter with remote clients, a wire that keeps the order, and a
// clock. Nothing moves on the wire until run.
type rig struct {
	t       *testing.T
	s       State
	out     Effects
	now     int64
	clients [8]Client
	players [8]player
	deaf    [8]bool // what it is sent is lost
	mute    [8]bool // what it sends is lost
	wire    []packet
	sent    []Message // all that ever left the arbiter
}

func newRig(t *testing.T, p Policy) *rig {
	r := &rig{t: t}
	r.s.Init(Config{Policy: p})
	for c := range r.clients {
		r.clients[c] = NewClient(ClientID(c), 0, 0)
		r.handle(Event{Kind: Register, From: ClientID(c)})
	}
	return r
}

func (r *rig) handle(e Event) {
	r.t.Helper()
	e.At = r.now
	r.s.Handle(&e, &r.out)
	if err := broken(&r.s, MaxClients, 32); err != nil {
		r.t.Fatalf("after %v of %d: %v", e.Kind, e.From, err)
	}
	for _, m := range r.out.Messages() {
		r.sent = append(r.sent, m)
		r.wire = append(r.wire, packet{toClient: true, message: m})
	}
}

// ask puts a request on the wire; run brings it about.
func (r *rig) ask(c ClientID, claim Claim) { r.send(r.clients[c].Request(r.now, &claim)) }

func (r *rig) send(e Event) {
	if !r.mute[e.From] {
		r.wire = append(r.wire, packet{event: e})
	}
}

// step delivers the first packet on the wire.
func (r *rig) step() {
	r.t.Helper()
	p := r.wire[0]
	r.wire = r.wire[1:]
	if !p.toClient {
		r.handle(p.event)
	} else if c := p.message.To; !r.deaf[c] {
		if e, ok := r.clients[c].Receive(r.now, &p.message, &r.players[c]); ok {
			r.send(e)
		}
	}
}

// run delivers until the wire is empty.
func (r *rig) run() {
	r.t.Helper()
	for len(r.wire) > 0 {
		r.step()
	}
}

// grant requests and runs.
func (r *rig) grant(c ClientID, claim Claim) { r.t.Helper(); r.ask(c, claim); r.run() }

// quit ends a client's operation and runs.
func (r *rig) quit(c ClientID) {
	r.t.Helper()
	if e, ok := r.clients[c].Quit(r.now); ok {
		r.send(e)
	}
	r.run()
}

// pass lets time go by in steps of a millisecond. Clients that are not mute
// keep their leases.
func (r *rig) pass(d int64) {
	r.t.Helper()
	for end := r.now + d; r.now < end; {
		r.now += ms
		for c := range r.clients {
			if e, ok := r.clients[c].Alive(r.now); ok && !r.mute[c] {
				r.handle(e)
			}
		}
		for at, any := r.s.Due(); any && at <= r.now; at, any = r.s.Due() {
			r.handle(Event{Kind: Tick, From: NoClient})
		}
		r.run()
	}
}

func (r *rig) owns(leaf robot.LeafID, want ClientID) {
	r.t.Helper()
	if got := r.s.Owner(leaf); got != want {
		r.t.Errorf("leaf %d is owned by %d, want %d", leaf, got, want)
	}
}

func (r *rig) phase(c ClientID, want Phase) {
	r.t.Helper()
	if got := r.s.Phase(c); got != want {
		r.t.Errorf("client %d is %v in the state, want %v", c, got, want)
	}
	if got := r.clients[c].Phase(); got != want && !r.deaf[c] && !r.mute[c] {
		r.t.Errorf("client %d believes to be %v, want %v", c, got, want)
	}
}

// heard counts the messages of a kind to a client since the mark.
func (r *rig) heard(mark int, c ClientID, k MessageKind) (n int) {
	for _, m := range r.sent[mark:] {
		if m.To == c && m.Kind == k {
			n++
		}
	}
	return n
}

// needs, wants and both make claims without priorities.
func needing(ids ...robot.LeafID) Claim { return Claim{Need: leaves(ids...)} }
func wanting(ids ...robot.LeafID) Claim { return Claim{Want: leaves(ids...)} }

func (c Claim) wanting(ids ...robot.LeafID) Claim { c.Want = leaves(ids...); return c }

func (c Claim) priority(pending, operational float32) Claim {
	c.SetPriority(pending, operational)
	return c
}

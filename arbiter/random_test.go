package arbiter

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"poise/robot"
)

// The large case of the random runs and of the benchmarks.
const (
	crowd       = 100 // controllers
	crowdLeaves = 64
)

// randomClaim asks for a few leaves, small numbers of priority, so that ties
// and conflicts are common.
func randomClaim(rng *rand.Rand) (c Claim) {
	for range 1 + rng.IntN(4) {
		c.Need = c.Need.With(robot.LeafID(rng.IntN(crowdLeaves)))
	}
	for range rng.IntN(8) {
		c.Want = c.Want.With(robot.LeafID(rng.IntN(crowdLeaves)))
	}
	if rng.IntN(8) == 0 {
		c.Need = robot.Set{}
	}
	for leaf := range crowdLeaves {
		c.Pending[leaf], c.Operational[leaf] = float32(rng.IntN(4)), float32(rng.IntN(4))
	}
	return c
}

// crowdRun is many controllers, every second one behind a bad wire.
type crowdRun struct {
	t    *testing.T
	rng  *rand.Rand
	m    *Machine
	port localPort
	wire []latePacket
	now  int64
}

type latePacket struct {
	at int64
	packet
}

// Deliver hands messages of remote clients to the wire.
func (r *crowdRun) Deliver(now int64, m *Message) (Event, bool) {
	if r.port.local[m.To] {
		return r.port.Deliver(now, m)
	}
	r.post(packet{toClient: true, message: *m})
	return Event{}, false
}

// post delays, and sometimes loses or doubles, a packet.
func (r *crowdRun) post(p packet) {
	for n := r.rng.IntN(20); ; n-- {
		if n != 0 { // one in twenty is lost
			r.wire = append(r.wire, latePacket{r.now + int64(r.rng.IntN(30))*ms, p})
		}
		if n < 19 {
			return
		}
	}
}

func (r *crowdRun) do(e Event) {
	r.t.Helper()
	e.At = r.now
	r.m.Do(&e, r)
	if err := broken(&r.m.State, crowd, crowdLeaves); err != nil {
		r.t.Fatalf("after %v of %d at %d ms: %v", e.Kind, e.From, r.now/ms, err)
	}
}

// send brings an event to the arbiter, over the wire for a remote client.
func (r *crowdRun) send(e Event) {
	if r.port.local[e.From] {
		r.do(e)
	} else {
		claim := e.Claim
		if claim != nil {
			copied := *claim
			e.Claim = &copied
		}
		r.post(packet{event: e})
	}
}

// step lets a millisecond pass with all that falls due and arrives in it, and
// one random thing.
func (r *crowdRun) step() {
	r.now += ms
	for at, any := r.m.Due(); any && at <= r.now; at, any = r.m.Due() {
		r.do(Event{Kind: Tick, From: NoClient})
	}
	arrived := r.wire
	r.wire = nil
	for _, p := range arrived {
		switch {
		case p.at > r.now:
			r.wire = append(r.wire, p)
		case !p.toClient:
			r.do(p.event)
		default:
			if e, ok := r.port.clients[p.message.To].Receive(r.now, &p.message, &r.port.players[p.message.To]); ok {
				r.post(packet{event: e})
			}
		}
	}
	c := ClientID(r.rng.IntN(crowd))
	client, player := &r.port.clients[c], &r.port.players[c]
	player.refuse, player.leave = r.rng.IntN(8) == 0, r.rng.IntN(16) == 0
	player.sets = player.sets[:0]
	switch r.rng.IntN(8) {
	case 0, 1, 2, 3:
		claim := randomClaim(r.rng)
		r.send(client.Request(r.now, &claim))
	case 4:
		if e, ok := client.Quit(r.now); ok {
			r.send(e)
		}
	case 5:
		if e, ok := client.Release(r.now, leaves(robot.LeafID(r.rng.IntN(crowdLeaves)))); ok {
			r.send(e)
		}
	case 6: // a new life
		first := client.request + 1
		*client = NewClient(c, first, 300*ms)
		r.do(Event{Kind: Register, From: c, Local: r.port.local[c], Request: first})
	}
	if r.now%(50*ms) == 0 {
		for c := range ClientID(crowd) {
			if e, ok := r.port.clients[c].Report(r.now); ok {
				r.send(e)
			}
			if e, ok := r.port.clients[c].Tick(r.now); ok {
				r.send(e)
			}
		}
	}
}

func newCrowd(t *testing.T, p Policy, seed uint64) *crowdRun {
	r := &crowdRun{t: t, rng: rand.New(rand.NewPCG(seed, uint64(p))), m: NewMachine(Config{Policy: p})}
	for c := range ClientID(crowd) {
		r.port.local[c] = c%2 == 0
		r.port.clients[c] = NewClient(c, 0, 300*ms)
		r.do(Event{Kind: Register, From: c, Local: r.port.local[c]})
	}
	return r
}

// TestRandomCrowd: a hundred controllers and 64 leaves, a bad wire, no rest;
// the state never contradicts itself, and when the noise ends all agree.
func TestRandomCrowd(t *testing.T) {
	steps, seeds := 3000, 1
	if testing.Short() {
		steps = 200
	}
	if soak() {
		steps, seeds = 200_000, 5
	}
	for _, p := range []Policy{PolicyNone, PolicyLast, PolicyPriority} {
		for seed := range seeds {
			t.Run(fmt.Sprintf("%v seed %d", p, seed), func(t *testing.T) {
				r := newCrowd(t, p, uint64(seed))
				for range steps {
					r.step()
				}
				r.rest()
				t.Logf("%d leaves changed owners in %d s", r.m.Changes(), r.now/1000/ms)
				if r.m.Changes() < uint64(steps)/2 {
					t.Errorf("only %d changes in %d steps: the run proves little", r.m.Changes(), steps)
				}
			})
		}
	}
}

// rest ends the noise, and checks that state and clients come to agree.
func (r *crowdRun) rest() {
	r.t.Helper()
	for range 60 {
		r.now += 10 * ms
		for at, any := r.m.Due(); any && at <= r.now; at, any = r.m.Due() {
			r.do(Event{Kind: Tick, From: NoClient})
		}
		for len(r.wire) > 0 {
			p := r.wire[0]
			r.wire = r.wire[1:]
			if !p.toClient {
				r.do(p.event)
			} else if e, ok := r.port.clients[p.message.To].Receive(r.now, &p.message, nil); ok {
				r.do(e)
			}
		}
		for c := range ClientID(crowd) {
			if e, ok := r.port.clients[c].Report(r.now); ok {
				r.do(e)
			}
			if e, ok := r.port.clients[c].Tick(r.now); ok {
				r.do(e)
			}
		}
	}
	if r.m.open != (clientSet{}) {
		r.t.Errorf("rounds %v are still open", r.m.open)
	}
	for c := range ClientID(crowd) {
		own := &r.port.clients[c]
		if own.Phase() != r.m.Phase(c) || r.m.cfg.Policy != PolicyNone && own.Owned() != r.m.Owned(c) {
			r.t.Errorf("client %d is %v with %v in the state, and %v with %v in truth",
				c, r.m.Phase(c), r.m.Owned(c), own.Phase(), own.Owned())
		}
	}
}

// busyCrowd is a crowd in which every controller runs or waits, with its
// claims, for measurements.
func busyCrowd() (*Machine, *localPort, []Claim) {
	rng := rand.New(rand.NewPCG(3, 3))
	m, port := NewMachine(Config{Policy: PolicyPriority}), &localPort{}
	claims := make([]Claim, crowd)
	for c := range ClientID(crowd) {
		port.local[c] = true
		port.clients[c] = NewClient(c, 0, 0)
		m.Do(&Event{Kind: Register, From: c, Local: true}, port)
		claims[c] = Claim{Want: robot.Set{1<<crowdLeaves - 1}}
		for leaf := range crowdLeaves {
			claims[c].Pending[leaf], claims[c].Operational[leaf] = 5+float32(rng.IntN(2)), float32(rng.IntN(4))
		}
		e := port.clients[c].Request(0, &claims[c])
		m.Do(&e, port)
	}
	return m, port, claims
}

// quietPort answers as the clients would, without keeping anything.
type quietPort struct{ *localPort }

func (p quietPort) Deliver(now int64, m *Message) (Event, bool) {
	return p.clients[m.To].Receive(now, m, nil)
}

func TestDecisionsDoNotAllocate(t *testing.T) {
	m, port, claims := busyCrowd()
	now, c := int64(0), ClientID(0)
	var quiet Port = quietPort{port}
	var e Event
	if n := testing.AllocsPerRun(2000, func() {
		now += ms
		c = (c + 1) % crowd
		e = port.clients[c].Request(now, &claims[c])
		m.Do(&e, quiet)
		if q, ok := port.clients[c].Quit(now); ok && c%3 == 0 {
			e = q
			m.Do(&e, quiet)
		}
		e = Event{At: now, Kind: Tick, From: NoClient}
		m.Do(&e, quiet)
		m.Check(c, &claims[c])
		m.Hash()
		m.Due()
	}); n != 0 {
		t.Errorf("%v allocations per decision", n)
	}
}

func TestHashFollowsTheBooks(t *testing.T) {
	run := func(swap bool) uint64 {
		m, port, claims := busyCrowd()
		for _, c := range []ClientID{4, 9, 17} {
			if swap {
				c = 26 - c
			}
			e := port.clients[c].Request(5, &claims[c])
			m.Do(&e, quietPort{port})
		}
		return m.Hash()
	}
	first, again, other := run(false), run(false), run(true)
	if first != again {
		t.Error("the same run has two hashes")
	}
	if first == other {
		t.Error("two runs have the same hash")
	}
}

// A decision: one request of a crowd in which all are operational and want all
// 64 leaves, with offer, answer, hand-over and the news to all who lost.
func BenchmarkDecision(b *testing.B) {
	m, port, claims := busyCrowd()
	quiet := quietPort{port}
	now, c := int64(0), ClientID(0)
	b.ReportAllocs()
	for b.Loop() {
		now += ms
		c = (c + 37) % crowd
		e := port.clients[c].Request(now, &claims[c])
		m.Do(&e, quiet)
	}
}

// A controller takes all and quits, two decisions: every leaf finds its heir
// among all.
func BenchmarkReturnOfAll(b *testing.B) {
	m, port, claims := busyCrowd()
	quiet := quietPort{port}
	all := claims[0]
	all.SetPriority(9, 0)
	b.ReportAllocs()
	for b.Loop() {
		e := port.clients[0].Request(0, &all)
		m.Do(&e, quiet)
		e, _ = port.clients[0].Quit(0)
		m.Do(&e, quiet)
	}
}

func BenchmarkIdleTick(b *testing.B) {
	m, port, _ := busyCrowd()
	b.ReportAllocs()
	for b.Loop() {
		m.Do(&Event{Kind: Tick, From: NoClient}, port)
	}
}

func BenchmarkCheck(b *testing.B) {
	m, _, claims := busyCrowd()
	b.ReportAllocs()
	for b.Loop() {
		m.Check(7, &claims[7])
	}
}

package server_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"poise/internal/chaos"
	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/wire/rosbridge/client"
	"poise/wire/rosbridge/requester"
)

// proxy stands between clients and the server.
type proxy struct {
	*chaos.Proxy
	b       *bed
	address string
}

func newProxy(b *bed, seed uint64) *proxy {
	b.t.Helper()
	listener, err := b.net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.t.Fatal(err)
	}
	p := &proxy{b: b, address: listener.Addr().String(), Proxy: chaos.New(listener, "ws://"+b.s.Address()+"/rosbridge", b.net.Client(), seed)}
	b.t.Cleanup(p.Close)
	return p
}

// randomClient asks for resources of its own and quits at random, and streams its own value
// for every joint that it can ask for, whether it owns it or not.
type randomClient struct {
	*requester.Requester
	name  string
	parts []string // that it asks for
	value float64
}

var fought = []string{"tail", "mouth", "head"}

// watched are joints of the resources that are fought for.
var watched = []string{"tail_joint1", "mouth_joint", "joint52"}

func (p *proxy) client(i int, seed uint64) *randomClient {
	b := p.b
	b.t.Helper()
	c, err := client.Dial(b.ctx, "ws://"+p.address+"/rosbridge", client.Options{HTTP: b.net.Client()})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(c.Close)
	random := rand.New(rand.NewPCG(seed, uint64(i)))
	cfg := requester.Config{Name: fmt.Sprintf("random%d", i)}
	for _, name := range fought {
		switch random.IntN(3) {
		case 0:
			cfg.Needed = append(cfg.Needed, name)
		case 1:
			cfg.Wanted = append(cfg.Wanted, name)
		}
	}
	if len(cfg.Needed)+len(cfg.Wanted) == 0 {
		cfg.Wanted = fought
	}
	for range len(cfg.Needed) + len(cfg.Wanted) {
		cfg.Pending = append(cfg.Pending, float32(41+random.IntN(20)))
		cfg.Operational = append(cfg.Operational, float32(41+random.IntN(20)))
	}
	m, err := requester.New(c, cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(m.Close)
	return &randomClient{Requester: m, name: cfg.Name, parts: append(slices.Clone(cfg.Needed), cfg.Wanted...), value: 0.01 + 0.01*float64(i)}
}

// fight asks and quits until ctx is done.
func (c *randomClient) fight(ctx context.Context, random *rand.Rand) {
	for ctx.Err() == nil {
		ask, cancel := context.WithTimeout(ctx, 400*time.Millisecond)
		err := c.Request(ask)
		cancel()
		wait := time.Duration(random.IntN(200)) * time.Millisecond
		if random.IntN(4) == 0 {
			wait += time.Second // its joints come to their values
		}
		if err == nil && random.IntN(3) == 0 {
			time.Sleep(wait)
			c.Quit()
		}
		time.Sleep(wait)
	}
}

// stream sends its value until ctx is done.
func (c *randomClient) stream(ctx context.Context) {
	q := []float64{c.value, c.value, c.value}
	for ctx.Err() == nil {
		_ = c.Send(&msgs.JointState{Name: watched, Position: q})
		time.Sleep(20 * time.Millisecond)
	}
}

// TestRandomClientsThroughAProxy: four clients that ask, quit and stream at random, through a
// proxy that drops, repeats, delays and reorders what they and the server publish, and cuts
// their connections. Every round ends in bounded time; at every moment of the fight a joint moves
// towards the value of its owner alone, though all stream always, and others who never own it as
// well; one that is not concerned is not called; when the proxy behaves again, what the clients
// believe and what the server says is the same.
func TestRandomClientsThroughAProxy(t *testing.T) {
	t.Parallel()
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { storm(t, seed) }) })
	}
}

func storm(t *testing.T, seed uint64) {
	b := start(t, nil)
	aside := b.member(requester.Config{Name: "aside", Needed: []string{"ears"}}, nil)
	if err := aside.Request(b.ctx); err != nil {
		t.Fatal(err)
	}
	calls := aside.called()
	seen := b.see()
	p := newProxy(b, seed)
	var all []*randomClient
	for i := range 4 {
		all = append(all, p.client(i, seed))
	}
	fighting, end := context.WithCancel(b.ctx)
	streaming, endAll := context.WithCancel(b.ctx)
	var fights, streams sync.WaitGroup
	defer func() { // after a failure, too
		end()
		endAll()
		fights.Wait()
		streams.Wait()
	}()
	for i, c := range all {
		fights.Go(func() { c.fight(fighting, rand.New(rand.NewPCG(seed, uint64(100+i)))) })
		streams.Go(func() { c.stream(streaming) })
	}
	streams.Go(func() { steal(b, aside, streaming) })
	granted, open := map[uint64]bool{}, map[uint64]int{}
	for n := range 100 {
		time.Sleep(100 * time.Millisecond)
		s := b.resources()
		for _, r := range s.Rounds {
			if r.Outcome != "open" && r.Ended-r.Began > 0.3 {
				t.Errorf("round %d of %s took %g s", r.Number, r.Requester, r.Ended-r.Began)
			}
			if r.Outcome == "open" {
				if open[r.Number]++; open[r.Number] > 4 {
					t.Errorf("round %d of %s is open for %d ms", r.Number, r.Requester, 100*open[r.Number])
				}
			}
			granted[r.Number] = granted[r.Number] || r.Outcome == "granted"
		}
		if n == 30 {
			p.Cut()
		}
	}
	end()
	fights.Wait()
	seen.judge(b, all)
	p.Calm(true)
	time.Sleep(2500 * time.Millisecond) // leases have ended, tables were heard
	settled(b, all)
	endAll()
	streams.Wait()
	if aside.called() != calls || !slices.Equal(aside.Owned(), []string{"ears"}) {
		t.Errorf("one that is not concerned was called %d times and has %v", aside.called()-calls, aside.Owned())
	}
	n := 0
	for _, yes := range granted {
		if yes {
			n++
		}
	}
	did := p.Counts()
	t.Logf("%d rounds, %d granted; messages: %+v", len(granted), n, did)
	if len(granted) < 20 || n < 5 || did.Dropped < 20 || did.Repeated < 20 || did.Delayed < 20 {
		t.Errorf("too little happened")
	}
}

// steal streams values far away for joints that their senders do not own: from one that owns
// something else, from one whose every request is denied, and under a name of another.
func steal(b *bed, aside *member, ctx context.Context) {
	away := &msgs.JointState{Name: watched, Position: []float64{-0.3, 0.3, -0.3}}
	denied := b.member(requester.Config{Name: "denied", Needed: []string{"ears", "tail", "mouth", "head"}, Pending: []float32{1, 99, 99, 99}}, nil)
	forger, _ := b.another()
	forged := b.outside(forger, "random0")
	var asks sync.WaitGroup
	defer asks.Wait()
	asks.Go(func() {
		for ctx.Err() == nil {
			if denied.Request(ctx) == nil {
				b.t.Error("one that needs what another has was granted")
			}
			time.Sleep(150 * time.Millisecond)
		}
	})
	for ctx.Err() == nil {
		_, _ = aside.Send(away), denied.Send(away)
		forged.ref(string(client.Text(away, msgs.ROS2)))
		time.Sleep(15 * time.Millisecond)
	}
}

// seen is what a client of its own hears while others fight.
type seen struct {
	mu     sync.Mutex
	joints []msgs.JointState
	states []poisemsgs.ResourceState
}

// see begins to listen.
func (b *bed) see() *seen {
	b.t.Helper()
	c, _ := b.another()
	s := &seen{}
	joints, err := c.Subscribe("/joint_states", "", client.SubscribeOptions{Queue: 10000})
	states, err2 := c.Subscribe("/resource_state", "", client.SubscribeOptions{Queue: 10000})
	if err := errors.Join(err, err2); err != nil {
		b.t.Fatal(err)
	}
	go collect(b, joints, func(v msgs.JointState) { s.mu.Lock(); s.joints = append(s.joints, v); s.mu.Unlock() })
	go collect(b, states, func(v poisemsgs.ResourceState) { s.mu.Lock(); s.states = append(s.states, v); s.mu.Unlock() })
	return s
}

func collect[T any](b *bed, s *client.Subscription, add func(T)) {
	for {
		text, _, err := s.Next(b.ctx)
		if err != nil {
			return
		}
		var v T
		if client.Read(text, &v) == nil {
			add(v)
		}
	}
}

// judge wants every sample of a watched joint near what its owners stream, of which others that
// stream it are far away; and while one owns it, from handOver after it took over, no step away
// from the value that it streams; while it is unowned, no step at all.
func (s *seen) judge(b *bed, all []*randomClient) {
	const settles = 1e-4 // rad: what a follower of late samples may pass its value by; those of others are 0.01 away
	b.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	owned, free := 0, 0
	for i, joint := range watched {
		for n, owner := range s.settledOwners(joint, fought[i], all) {
			at := slices.Index(s.joints[n].Name, joint)
			q, last := s.joints[n].Position[at], s.joints[max(n-1, 0)].Position[at]
			if q < -0.1 || q > 0.14 { // of 0.01 … 0.04; what is taken over on its way brakes first
				b.t.Fatalf("%s is at %g, where none of its owners streams it to", joint, q)
			}
			k := slices.IndexFunc(all, func(c *randomClient) bool { return c.name == owner })
			switch {
			case owner == unsettled:
			case owner == "":
				if free++; q != last {
					b.t.Fatalf("%s is unowned, and moves from %g to %g", joint, last, q)
				}
			case k < 0:
				b.t.Fatalf("%s is owned by %q", joint, owner)
			default:
				if owned++; math.Abs(q-all[k].value) > math.Abs(last-all[k].value)+settles {
					b.t.Fatalf("at %g s %s has %s and streams %g; it moves from %g to %g", float64(s.joints[n].Header.Stamp.Nanos())/1e9, owner, joint, all[k].value, last, q)
				}
			}
		}
	}
	b.t.Logf("%d samples judged with an owner, %d without, of %d", owned, free, len(watched)*len(s.joints))
	if owned < 20 {
		b.t.Error("too few samples were judged")
	}
}

const unsettled = "unsettled"

// settledOwners tells of every sample of joints who has owned a joint of a resource for so long
// that a hand-over is over, unsettled where none has. A round that was granted to one that may
// have asked for it counts as a hand-over, also to itself.
func (s *seen) settledOwners(joint, resource string, all []*randomClient) (owners []string) {
	const handOver, told = 300 * time.Millisecond, 60 * time.Millisecond // told: changes are published so much later
	at := func(h *msgs.Header) time.Duration { return time.Duration(h.Stamp.Nanos()) }
	owner, since, k, newest := unsettled, time.Duration(0), -1, uint64(0)
	for n := range s.joints {
		now := at(&s.joints[n].Header)
		for k+1 < len(s.states) && at(&s.states[k+1].Header)-told <= now {
			k++
			state := &s.states[k]
			leaf := state.Leaves[slices.IndexFunc(state.Leaves, func(l poisemsgs.ResourceLeaf) bool { return l.Name == joint })]
			changed := leaf.Owner != owner
			for _, r := range state.Rounds {
				asks := slices.ContainsFunc(all, func(c *randomClient) bool { return c.name == r.Requester && slices.Contains(c.parts, resource) })
				if r.Outcome == "granted" && r.Number > newest {
					newest, changed = r.Number, changed || asks
				}
			}
			if changed {
				owner, since = leaf.Owner, at(&state.Header)
			}
		}
		if k < 0 || now < since+handOver {
			owners = append(owners, unsettled)
		} else {
			owners = append(owners, owner)
		}
	}
	return owners
}

// settled wants every watched joint where its owner streams it, and clients to believe what
// the server says.
func settled(b *bed, all []*randomClient) {
	b.t.Helper()
	at := b.joints("/joint_states")
	for i, joint := range watched {
		owner := b.ownerOf(joint)
		for _, c := range all {
			switch owns := slices.Contains(c.Owned(), fought[i]); {
			case owns && owner != c.name:
				b.t.Errorf("%s believes that it has %s, the server says %q", c.name, fought[i], owner)
			case owner == c.name && math.Abs(at[joint]-c.value) > 1e-3:
				b.t.Errorf("%s has %s, which is at %g and not at its %g", c.name, joint, at[joint], c.value)
			}
		}
	}
}

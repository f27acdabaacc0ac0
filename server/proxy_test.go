package server_test

import (
	"context"
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
	return &randomClient{Requester: m, name: cfg.Name, value: 0.01 + 0.01*float64(i)}
}

// fight asks and quits until ctx is done.
func (c *randomClient) fight(ctx context.Context, random *rand.Rand) {
	for ctx.Err() == nil {
		ask, cancel := context.WithTimeout(ctx, 400*time.Millisecond)
		err := c.Request(ask)
		cancel()
		wait := time.Duration(random.IntN(200)) * time.Millisecond
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
// their connections. Every round ends in bounded time; a leaf moves towards the value of
// its owner alone; one that is not concerned is not called; when the proxy behaves again, what
// the clients believe and what the server says is the same.
func TestRandomClientsThroughAProxy(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
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
	p := newProxy(b, seed)
	var all []*randomClient
	for i := range 4 {
		all = append(all, p.client(i, seed))
	}
	fighting, end := context.WithCancel(b.ctx)
	streaming, endAll := context.WithCancel(b.ctx)
	var fights, streams sync.WaitGroup
	for i, c := range all {
		fights.Go(func() { c.fight(fighting, rand.New(rand.NewPCG(seed, uint64(100+i)))) })
		streams.Go(func() { c.stream(streaming) })
	}
	granted, open := map[uint64]bool{}, map[uint64]int{}
	for n := range 60 {
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

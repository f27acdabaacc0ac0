package server_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"poise/msgs"
	"poise/wire/rosbridge/client"
	"poise/wire/rosbridge/requester"
)

// proxy stands between clients and the server. What is published, either way, it drops,
// repeats and delays, so that messages overtake each other; and it cuts connections.
type proxy struct {
	b       *bed
	address string
	chaos   bool

	mu      sync.Mutex
	random  *rand.Rand
	cuts    []context.CancelFunc
	dropped int
	doubled int
	delayed int
}

func newProxy(b *bed, seed uint64) *proxy {
	b.t.Helper()
	p := &proxy{b: b, chaos: true, random: rand.New(rand.NewPCG(seed, 1))}
	listener, err := b.net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.t.Fatal(err)
	}
	p.address = listener.Addr().String()
	server := &http.Server{Handler: p}
	go func() { _ = server.Serve(listener) }()
	b.t.Cleanup(func() { p.cut(); _ = server.Close() })
	return p
}

// ServeHTTP carries one connection.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	near, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	ctx, cut := context.WithCancel(context.Background())
	defer cut()
	far, _, err := websocket.Dial(ctx, "ws://"+p.b.s.Address()+"/rosbridge", &websocket.DialOptions{HTTPClient: p.b.net.Client()})
	if err != nil {
		_ = near.CloseNow()
		return
	}
	p.mu.Lock()
	p.cuts = append(p.cuts, cut)
	p.mu.Unlock()
	near.SetReadLimit(-1)
	far.SetReadLimit(-1)
	go func() { defer cut(); p.carry(ctx, far, near) }()
	p.carry(ctx, near, far)
	_ = near.CloseNow()
	_ = far.CloseNow()
}

// carry passes messages on from one end to the other.
func (p *proxy) carry(ctx context.Context, to, from *websocket.Conn) {
	var pending sync.WaitGroup
	defer pending.Wait()
	for {
		kind, data, err := from.Read(ctx)
		if err != nil {
			return
		}
		copies, late := p.fate(string(data))
		for i := range copies {
			if late == 0 {
				_ = to.Write(ctx, kind, data)
				continue
			}
			pending.Go(func() {
				select {
				case <-time.After(late * time.Duration(i+1)):
					_ = to.Write(ctx, kind, data)
				case <-ctx.Done():
				}
			})
		}
	}
}

// fate decides what becomes of a message. What registers topics passes.
func (p *proxy) fate(text string) (copies int, late time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.chaos || !strings.Contains(text, `"op":"publish"`) {
		return 1, 0
	}
	copies = 1
	switch x := p.random.Float64(); {
	case x < 0.1:
		p.dropped++
		return 0, 0
	case x < 0.2:
		p.doubled++
		copies = 2
	}
	if p.random.Float64() < 0.3 {
		p.delayed++
		late = time.Duration(p.random.IntN(60)+1) * time.Millisecond
	}
	return copies, late
}

// cut ends all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.cuts {
		f()
	}
	p.cuts = nil
}

func (p *proxy) calm() { p.mu.Lock(); p.chaos = false; p.mu.Unlock() }

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
			p.cut()
		}
	}
	end()
	fights.Wait()
	p.calm()
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
	t.Logf("%d rounds, %d granted; %d messages dropped, %d repeated, %d delayed", len(granted), n, p.dropped, p.doubled, p.delayed)
	if len(granted) < 20 || n < 5 || p.dropped < 20 || p.doubled < 20 || p.delayed < 20 {
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

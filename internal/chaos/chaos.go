// Package chaos has a proxy for tests of clients and servers on WebSocket: what is
// published, either way, it drops, repeats and delays, so that messages overtake each
// other; and it cuts connections. What registers topics passes.
package chaos

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Proxy stands between clients and a server. Make one with New.
type Proxy struct {
	target string
	client *http.Client
	server *http.Server

	mu     sync.Mutex
	calm   bool
	random *rand.Rand
	cuts   []context.CancelFunc
	counts Counts
}

// Counts are messages that did not just pass.
type Counts struct{ Dropped, Repeated, Delayed int }

// New serves a proxy on a listener; target is the URL of the server behind it.
func New(listener net.Listener, target string, client *http.Client, seed uint64) *Proxy {
	p := &Proxy{target: target, client: client, random: rand.New(rand.NewPCG(seed, 1))}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(listener) }()
	return p
}

// Close cuts all connections and ends the proxy.
func (p *Proxy) Close() {
	p.Cut()
	_ = p.server.Close()
}

// Cut ends all connections.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.cuts {
		f()
	}
	p.cuts = nil
}

// Calm lets everything pass from now on, or nothing of the kind.
func (p *Proxy) Calm(calm bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calm = calm
}

// Counts tells what was done so far.
func (p *Proxy) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts
}

// ServeHTTP carries one connection.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	near, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	ctx, cut := context.WithCancel(context.Background())
	defer cut()
	far, _, err := websocket.Dial(ctx, p.target, &websocket.DialOptions{HTTPClient: p.client})
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
func (p *Proxy) carry(ctx context.Context, to, from *websocket.Conn) {
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

// fate decides what becomes of a message.
func (p *Proxy) fate(text string) (copies int, late time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calm || !strings.Contains(text, `"publish"`) {
		return 1, 0
	}
	copies = 1
	switch x := p.random.Float64(); {
	case x < 0.1:
		p.counts.Dropped++
		return 0, 0
	case x < 0.2:
		p.counts.Repeated++
		copies = 2
	}
	if p.random.Float64() < 0.3 {
		p.counts.Delayed++
		late = time.Duration(p.random.IntN(60)+1) * time.Millisecond
	}
	return copies, late
}

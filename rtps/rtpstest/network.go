// Package rtpstest is a network in memory for tests of package rtps and of what stands on it,
// with losses, delays and cut cables by a seed.
package rtpstest

import (
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"
)

// Network is a network in memory of domain 0. Each participant is participant number i of its
// own machine, or of the one machine 127.0.0.1. Loss, Jitter and Direct are set before it is used.
type Network struct {
	Loss   float64       // of datagrams
	Jitter time.Duration // by which datagrams overtake each other
	Direct bool          // datagrams take no time: there is no goroutine of a timer for each

	mu     sync.Mutex
	rnd    *rand.Rand
	at     map[netip.AddrPort]*Port
	bursts map[time.Time]int // bytes by the time at which they were sent
	cut    map[netip.Addr]bool
}

// latency is how long a datagram takes at least.
const latency = 100 * time.Microsecond

// New returns a network whose losses and delays follow from a seed.
func New(seed uint64) *Network {
	return &Network{rnd: rand.New(rand.NewPCG(seed, 1)), at: map[netip.AddrPort]*Port{}, bursts: map[time.Time]int{}, cut: map[netip.Addr]bool{}}
}

// Cut pulls the cable of a machine, or plugs it in again.
func (n *Network) Cut(host string, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[netip.MustParseAddr(host)] = cut
}

// LargestBurst returns the most bytes that were sent at one moment since it was last called.
func (n *Network) LargestBurst() (most int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, bytes := range n.bursts {
		most = max(most, bytes)
	}
	clear(n.bursts)
	return most
}

// Port is the transport of a participant: an rtps.Transport.
type Port struct {
	n     *Network
	host  netip.Addr
	index int

	mu     sync.Mutex
	come   sync.Cond
	queue  []datagram
	flying []datagram // without jitter, in the order in which they were sent
	closed bool
}

type datagram struct {
	b    []byte
	from netip.AddrPort
}

// Join returns the port of participant number index of a machine.
func (n *Network) Join(host string, index int) *Port {
	w := &Port{n: n, host: netip.MustParseAddr(host), index: index}
	w.come.L = &w.mu
	meta, data := w.Addresses()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.at[meta[0]], n.at[data[0]] = w, w
	return w
}

// Addresses returns where the participant is reached.
func (w *Port) Addresses() (meta, data []netip.AddrPort) {
	port := uint16(7410 + 2*w.index)
	return []netip.AddrPort{netip.AddrPortFrom(w.host, port)}, []netip.AddrPort{netip.AddrPortFrom(w.host, port+1)}
}

// Own reports whether an address is one of the participant's machine.
func (w *Port) Own(a netip.Addr) bool { return a == w.host || a.IsLoopback() }

// Send sends a datagram.
func (w *Port) Send(to netip.AddrPort, b []byte) error {
	n := w.n
	n.mu.Lock()
	defer n.mu.Unlock()
	n.bursts[time.Now()] += len(b)
	n.carry(w, n.at[to], b)
	return nil
}

// Announce sends a datagram to all others.
func (w *Port) Announce(b []byte) error {
	n := w.n
	n.mu.Lock()
	defer n.mu.Unlock()
	done := map[*Port]bool{w: true}
	for _, to := range n.at {
		if !done[to] {
			done[to] = true
			n.carry(w, to, b)
		}
	}
	return nil
}

// carry brings a datagram to a participant. n is locked.
func (n *Network) carry(from, to *Port, b []byte) {
	if to == nil || n.cut[from.host] || n.cut[to.host] || n.rnd.Float64() < n.Loss {
		return
	}
	_, data := from.Addresses()
	d := datagram{append([]byte(nil), b...), data[0]}
	if n.Direct {
		to.put(d)
		return
	}
	if n.Jitter > 0 {
		time.AfterFunc(latency+time.Duration(n.rnd.Int64N(int64(n.Jitter))), func() { to.put(d) })
		return
	}
	to.mu.Lock()
	to.flying = append(to.flying, d) // timers of one moment fire in any order
	to.mu.Unlock()
	time.AfterFunc(latency, to.land)
}

// land puts the datagram into the queue that was sent first of those on their way.
func (w *Port) land() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(w.queue, w.flying[0])
	w.flying = w.flying[1:]
	w.come.Signal()
}

func (w *Port) put(d datagram) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = append(w.queue, d)
	w.come.Signal()
}

// Receive calls handle with what comes.
func (w *Port) Receive(handle func(b []byte, from netip.AddrPort)) {
	for {
		w.mu.Lock()
		for len(w.queue) == 0 && !w.closed {
			w.come.Wait()
		}
		if w.closed {
			w.mu.Unlock()
			return
		}
		d := w.queue[0]
		w.queue = w.queue[1:]
		w.mu.Unlock()
		handle(d.b, d.from)
	}
}

// Close takes the participant off the network.
func (w *Port) Close() {
	w.n.mu.Lock()
	for a, x := range w.n.at {
		if x == w {
			delete(w.n.at, a)
		}
	}
	w.n.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.come.Signal()
}

package rtps

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// udp is the Transport over UDP.
type udp struct {
	domain int
	open   bool
	group  *net.UDPConn // takes what is sent to the group
	meta   *net.UDPConn
	data   *net.UDPConn
	index  int
	pace   pace

	state  atomic.Pointer[interfaces]
	mu     sync.Mutex // of refresh and closed
	closed bool
}

// interfaces are those that the machine has now.
type interfaces struct {
	at      time.Time
	own     []netip.Addr
	senders map[int]*net.UDPConn // to the group, by interface
}

// refreshEvery is how often interfaces are looked at: cables are pulled and plugged in.
const refreshEvery = 3 * time.Second

// receiveBuffer is what sockets are asked to hold; the kernel may give less.
const receiveBuffer = 4 << 20

// newUDP takes the ports of a participant.
func newUDP(domain int, open bool) (*udp, error) {
	t := &udp{domain: domain, open: open}
	var err error
	if t.group, err = listenGroup(groupPort(domain)); err != nil {
		return nil, fmt.Errorf("DDS domain %d: port %d cannot be shared with others: %w", domain, groupPort(domain), err)
	}
	for i := range maxParticipants {
		if t.meta, err = net.ListenUDP("udp4", &net.UDPAddr{Port: int(MetaPort(domain, i))}); err != nil {
			continue
		}
		if t.data, err = net.ListenUDP("udp4", &net.UDPAddr{Port: int(dataPort(domain, i))}); err != nil {
			t.meta.Close()
			continue
		}
		t.index = i
		for _, c := range []*net.UDPConn{t.group, t.meta, t.data} {
			_ = c.SetReadBuffer(receiveBuffer)
		}
		t.state.Store(&interfaces{})
		t.refresh()
		return t, nil
	}
	t.group.Close()
	return nil, fmt.Errorf("DDS domain %d: no port is free for a participant on this machine; the last error: %w", domain, err)
}

// refresh looks at the interfaces, and joins the group on those that are new.
func (t *udp) refresh() {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.state.Load()
	if t.closed || time.Since(old.at) < refreshEvery {
		return
	}
	now := &interfaces{at: time.Now(), senders: map[int]*net.UDPConn{}}
	all, err := net.Interfaces()
	if err != nil {
		return
	}
	for _, i := range all {
		addrs := addressesOf(&i)
		now.own = append(now.own, addrs...)
		if i.Flags&net.FlagUp == 0 || len(addrs) == 0 {
			continue
		}
		if c := old.senders[i.Index]; c != nil {
			now.senders[i.Index] = c
			_ = joinGroup(t.group, i.Index) // again, if it was down meanwhile
			continue
		}
		ttl := 0 // it does not leave the machine
		if t.open {
			ttl = 1
		}
		if c, err := groupSender(i.Index, addrs[0], ttl); err == nil {
			now.senders[i.Index] = c
			_ = joinGroup(t.group, i.Index) // without multicast it is reached by unicast
		}
	}
	for index, c := range old.senders {
		if now.senders[index] == nil {
			c.Close()
		}
	}
	t.state.Store(now)
}

func addressesOf(i *net.Interface) (own []netip.Addr) {
	addrs, err := i.Addrs()
	if err != nil {
		return nil
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Unmap().Is4() {
			own = append(own, p.Addr().Unmap())
		}
	}
	return own
}

// Own reports whether an address is one of this machine.
func (t *udp) Own(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsLoopback() || slices.Contains(t.state.Load().own, a)
}

var errForeign = errors.New("the address is not this machine's, and the participant is closed")

// Send sends a datagram. A closed participant sends to this machine alone.
func (t *udp) Send(to netip.AddrPort, b []byte) error {
	if !t.open && !t.Own(to.Addr()) {
		return errForeign
	}
	_, err := t.data.WriteToUDPAddrPort(b, to)
	return err
}

// Announce sends a datagram to the group, on every interface.
func (t *udp) Announce(b []byte) error {
	to := netip.AddrPortFrom(Group, groupPort(t.domain))
	var last error
	for _, c := range t.state.Load().senders {
		if _, err := c.WriteToUDPAddrPort(b, to); err != nil {
			last = err
		}
	}
	return last
}

// Receive reads all sockets, at a pace.
func (t *udp) Receive(handle func(b []byte, from netip.AddrPort)) {
	var running sync.WaitGroup
	for _, c := range []*net.UDPConn{t.group, t.meta, t.data} {
		running.Go(func() {
			b := make([]byte, 64<<10)
			for {
				n, from, err := c.ReadFromUDPAddrPort(b)
				if errors.Is(err, net.ErrClosed) {
					return
				}
				if err != nil {
					continue
				}
				began := time.Now()
				handle(b[:n], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
				now := time.Now()
				if rest := t.pace.spend(now, now.Sub(began)); rest > 0 {
					time.Sleep(rest)
				}
			}
		})
	}
	running.Wait()
}

// Addresses returns the addresses of all interfaces, the machine's own first. Interfaces are looked at
// here and not by Announce: the first announcement over a new one must have its address, since Cyclone
// DDS believes none that comes later.
func (t *udp) Addresses() (meta, data []netip.AddrPort) {
	t.refresh()
	for _, a := range t.state.Load().own {
		meta = append(meta, netip.AddrPortFrom(a, MetaPort(t.domain, t.index)))
		data = append(data, netip.AddrPortFrom(a, dataPort(t.domain, t.index)))
	}
	return meta, data
}

func (t *udp) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, c := range []*net.UDPConn{t.group, t.meta, t.data} {
		c.Close()
	}
	for _, c := range t.state.Load().senders {
		c.Close()
	}
}

package rtps

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"time"
)

// remote is another participant.
type remote struct {
	prefix   Prefix
	vendor   Vendor
	name     string
	source   netip.Addr // that it announced itself from
	here     bool       // it is on this machine
	meta     netip.AddrPort
	data     netip.AddrPort
	builtin  uint32
	userData []byte
	lease    time.Duration
	seen     time.Time
	ahead    time.Duration // of its clock, as far as its words have shown
	writers  map[EntityID]*endpoint
	readers  map[EntityID]*endpoint
	read     map[EntityID][]*writerProxy // by its writers
	held     int                         // bytes
	told     int                         // bytes of what is known of its endpoints
	places   []netip.AddrPort            // of its endpoints, beside data
}

// isFrom reports whether an address may speak for the participant.
func (r *remote) isFrom(a netip.Addr, t Transport) bool {
	return a == r.source || r.here && t.Own(a)
}

// Bits of what a participant has of discovery.
const (
	hasSPDPWriter = 1 << 0
	hasSPDPReader = 1 << 1
	hasPubsWriter = 1 << 2
	hasPubsReader = 1 << 3
	hasSubsWriter = 1 << 4
	hasSubsReader = 1 << 5
)

// maxLease bounds how long a participant that is silent is kept.
const maxLease = 5 * time.Minute

// plCDR is the encapsulation of a parameter list, little-endian.
var plCDR = []byte{0, 3, 0, 0}

// openBuiltin makes the endpoints of discovery.
func (p *Participant) openBuiltin() {
	builtin := QoS{Reliable: true, TransientLocal: true}
	p.pubs = p.addWriter(pubsWriter, WriterConfig{QoS: builtin})
	p.subs = p.addWriter(subsWriter, WriterConfig{QoS: builtin})
	p.pubs.builtin, p.subs.builtin = true, true
	p.addReader(pubsReader, ReaderConfig{QoS: builtin, Receive: func(s *Sample) { p.endpointCame(s, true) }})
	p.addReader(subsReader, ReaderConfig{QoS: builtin, Receive: func(s *Sample) { p.endpointCame(s, false) }})
}

// announcement is what the participant says of itself.
func (p *Participant) announcement() []byte {
	l := params{b: append([]byte(nil), plCDR...)}
	l.bytes(pidProtocol, []byte{2, 4, 0, 0})
	l.bytes(pidVendor, []byte{VendorOwn[0], VendorOwn[1], 0, 0})
	l.guid(pidParticipant, p.GUID())
	meta, data := p.t.Addresses()
	for _, a := range meta {
		l.locator(pidMetaUnicast, a)
	}
	for _, a := range data {
		l.locator(pidDefaultUnicast, a)
	}
	l.duration(pidLease, p.c.Lease)
	l.words(pidBuiltin, hasSPDPWriter|hasSPDPReader|hasPubsWriter|hasPubsReader|hasSubsWriter|hasSubsReader)
	if p.c.Name != "" {
		l.text(pidName, p.c.Name)
	}
	if len(p.c.UserData) > 0 {
		l.octets(pidUserData, p.c.UserData)
	}
	return l.end()
}

func (p *params) duration(pid uint16, d time.Duration) {
	if d == Infinite {
		p.words(pid, 0x7fffffff, 0xffffffff)
		return
	}
	p.words(pid, uint32(d/time.Second), uint32(uint64(d%time.Second)<<32/1e9))
}

// greet builds an announcement.
func (p *Participant) greet() {
	p.packet.begin(p.prefix)
	p.packet.time(time.Now())
	p.packet.data(spdpReader, spdpWriter, &change{sequence: 1, data: p.announcement()})
}

// announce tells everyone of the participant.
func (p *Participant) announce() {
	p.greet()
	p.broadcast()
}

// broadcast sends the packet that is built to everyone who may listen.
func (p *Participant) broadcast() {
	if err := p.t.Announce(p.packet.b); err != nil {
		p.stats.Unsent++
	}
	loopback := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	own, _ := p.t.Addresses()
	for _, host := range append([]netip.Addr{loopback}, p.c.Peers...) {
		if !p.c.Open && !p.t.Own(host) {
			continue
		}
		for i := range peerIndices {
			to := netip.AddrPortFrom(host, MetaPort(p.c.Domain, i))
			isOwn := false
			for _, a := range own {
				isOwn = isOwn || a.Port() == to.Port() && p.t.Own(host)
			}
			if !isOwn {
				_ = p.t.Send(to, p.packet.b) // most of these ports have no participant
			}
		}
	}
}

// peerIndices is how many participants of a machine are told without multicast.
const peerIndices = 12

// disposeParticipant tells everyone that the participant is gone.
func (p *Participant) disposeParticipant() {
	p.packet.begin(p.prefix)
	p.packet.time(time.Now())
	p.packet.data(spdpReader, spdpWriter, gone(p.GUID(), pidParticipant, 2))
	p.broadcast()
	for _, r := range p.remotes {
		p.send(r.meta)
	}
}

// gone is the sample that says that something is not there any more.
func gone(g GUID, pid uint16, sequence int64) *change {
	inline := params{}
	inline.guid(pidKeyHash, g)
	inline.bytes(pidStatus, []byte{0, 0, 0, statusDisposed | statusUnregistered})
	key := params{b: append([]byte(nil), plCDR...)}
	key.guid(pid, g)
	return &change{sequence: sequence, time: time.Now(), inline: inline.end(), data: key.end(), key: true, endpoint: g}
}

// readParams reads a parameter list with its encapsulation header.
func readParams(b []byte, f func(pid uint16, v value)) bool {
	if len(b) < 4 {
		return false
	}
	kind := binary.BigEndian.Uint16(b)
	if kind != 2 && kind != 3 {
		return false
	}
	_, ok := eachParam(b[4:], kind == 2, f)
	return ok
}

// participantCame takes an announcement.
func (p *Participant) participantCame(m *message, h *dataHead) {
	old := p.remotes[m.source]
	if old != nil && !old.isFrom(m.from.Addr(), p.t) {
		return // only its own addresses speak for it
	}
	if h.status&(statusDisposed|statusUnregistered) != 0 {
		if old != nil {
			p.forget(old)
		}
		return
	}
	r := &remote{prefix: m.source, vendor: m.vendor, source: m.from.Addr(), here: p.t.Own(m.from.Addr()), lease: 100 * time.Second, seen: m.now,
		writers: map[EntityID]*endpoint{}, readers: map[EntityID]*endpoint{}, read: map[EntityID][]*writerProxy{}}
	meta, data, ok := r.announced(h.payload)
	r.meta, r.data = p.choose(r, meta), p.choose(r, data)
	switch {
	case !ok || !r.meta.IsValid():
		p.stats.Malformed++
		return
	case old != nil: // receive has noted that it lives
		if !slices.Contains(meta, old.meta) && old.meta != r.meta || !slices.Contains(data, old.data) && old.data != r.data {
			p.moved(old, r.meta, r.data)
		}
		return
	case len(p.remotes) >= p.c.Limits.Participants:
		p.stats.Refused++
		return
	case !p.know(r, r.bytes()):
		return
	}
	p.remotes[r.prefix] = r
	p.greet() // at once, so that it need not wait for the next announcement
	p.send(r.meta)
	p.matchBuiltin(r)
	p.at(m.now.Add(r.lease))
	p.c.Changed()
}

// announced reads what a participant says of itself, and where it says that it is.
func (r *remote) announced(b []byte) (meta, data []netip.AddrPort, ok bool) {
	var id GUID
	ok = readParams(b, func(pid uint16, v value) {
		switch pid {
		case pidParticipant:
			id, _ = v.guid()
		case pidMetaUnicast:
			if a, ok := v.locator(); ok && len(meta) < maxListed {
				meta = append(meta, a)
			}
		case pidDefaultUnicast:
			if a, ok := v.locator(); ok && len(data) < maxListed {
				data = append(data, a)
			}
		case pidLease:
			if d, ok := v.duration(0); ok {
				r.lease = d
			}
		case pidBuiltin:
			r.builtin, _ = v.word(0)
		case pidName:
			r.name, _ = v.text()
		case pidUserData:
			if b, ok := v.octets(maxUserData); ok {
				r.userData = append([]byte(nil), b...)
			}
		}
	})
	r.lease = min(max(r.lease, time.Second), maxLease)
	return meta, data, ok && id.Prefix == r.prefix
}

// moved takes new addresses of a participant: its endpoints that were where it was are sent to there.
func (p *Participant) moved(r *remote, meta, data netip.AddrPort) {
	was := r.data
	r.meta, r.data = meta, data
	p.matchBuiltin(r)
	for _, all := range []map[EntityID]*endpoint{r.writers, r.readers} {
		for id, e := range all {
			if e.addr == was {
				now := *e
				now.addr = data
				all[id] = &now
				p.matchEndpoint(r, &now, id.isWriter())
			}
		}
	}
	p.c.Changed()
}

// choose returns where a participant is sent to: of its locators one that it speaks from, or
// that is this machine's if it is here. Others are not believed: another host may have them.
func (p *Participant) choose(r *remote, from []netip.AddrPort) (to netip.AddrPort) {
	for _, a := range from {
		if a.Addr() == r.source {
			return a
		}
	}
	for _, a := range from {
		if r.here && p.t.Own(a.Addr()) {
			return a
		}
	}
	if len(from) > 0 && !r.here { // behind another address of its own
		return netip.AddrPortFrom(r.source, from[0].Port())
	}
	return to
}

// maxPlaces is at how many addresses the endpoints of a participant may be, beside its own: each costs
// a datagram of every sample.
const maxPlaces = 8

// place returns where an endpoint is sent to: its own address, unless the participant has named too
// many.
func (r *remote) place(a netip.AddrPort) netip.AddrPort {
	switch {
	case !a.IsValid() || a == r.data:
		return r.data
	case slices.Contains(r.places, a):
		return a
	case len(r.places) >= maxPlaces:
		return r.data
	}
	r.places = append(r.places, a)
	return a
}

// matchBuiltin matches the endpoints of discovery.
func (p *Participant) matchBuiltin(r *remote) {
	builtin := func(id EntityID) *endpoint {
		return &endpoint{id: GUID{r.prefix, id}, policies: policies{reliable: true, durability: 1, deadline: Infinite, livelinessLease: Infinite}, addr: r.meta}
	}
	if r.builtin&hasPubsReader != 0 {
		p.pubs.match(r, builtin(pubsReader))
	}
	if r.builtin&hasSubsReader != 0 {
		p.subs.match(r, builtin(subsReader))
	}
	if r.builtin&hasPubsWriter != 0 {
		p.readers[pubsReader].match(r, builtin(pubsWriter))
	}
	if r.builtin&hasSubsWriter != 0 {
		p.readers[subsReader].match(r, builtin(subsWriter))
	}
}

// forget drops a participant that is gone.
func (p *Participant) forget(r *remote) {
	delete(p.remotes, r.prefix)
	for _, w := range p.writers {
		for g := range w.proxies {
			if g.Prefix == r.prefix {
				w.unmatch(g)
			}
		}
	}
	for _, list := range r.read {
		for _, w := range append([]*writerProxy(nil), list...) {
			w.r.unmatch(w.e.id)
		}
	}
	p.know(r, -r.told)
	p.c.Changed()
}

// expire drops participants that have been silent for too long.
func (p *Participant) expire(now time.Time) {
	for _, r := range p.remotes {
		if end := r.seen.Add(r.lease); !now.Before(end) {
			p.forget(r)
		} else {
			p.nextDue = earlier(p.nextDue, end)
		}
	}
}

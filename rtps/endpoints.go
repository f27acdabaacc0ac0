package rtps

import (
	"net/netip"
	"time"
)

// endpoint is a writer or reader of another participant.
type endpoint struct {
	id         GUID
	topic, typ string
	policies   policies
	userData   []byte
	addr       netip.AddrPort
	asserted   time.Time // when a writer last showed that it is alive
	oversize   int       // bytes of its largest sample that was left out
	crowded    bool      // there was no room for a match
}

func (e *endpoint) guid() GUID { return e.id }

// writerParams is what others are told of a writer.
func writerParams(w *Writer) []byte {
	return endpointParams(w.guid(), w.c.Topic, w.c.Type, w.c.QoS, w.c.UserData)
}

// readerParams is what others are told of a reader.
func readerParams(r *Reader) []byte {
	return endpointParams(r.guid(), r.c.Topic, r.c.Type, r.c.QoS, r.c.UserData)
}

func endpointParams(g GUID, topic, typ string, q QoS, user []byte) []byte {
	l := params{b: append([]byte(nil), plCDR...)}
	l.guid(pidEndpoint, g)
	l.guid(pidParticipant, GUID{g.Prefix, entityParticipant})
	l.text(pidTopic, topic)
	l.text(pidType, typ)
	l.bytes(pidProtocol, []byte{2, 4, 0, 0})
	l.bytes(pidVendor, []byte{VendorOwn[0], VendorOwn[1], 0, 0})
	kind, durability := uint32(1), uint32(0)
	if q.Reliable {
		kind = 2
	}
	if q.TransientLocal {
		durability = 1
	}
	l.words(pidReliability, kind, 0, 1<<32/10) // and blocking of 100 ms at most
	l.words(pidDurability, durability)
	l.words(pidHistory, 0, uint32(max(q.Depth, 1)))
	l.words(pidLiveliness, 0, 0x7fffffff, 0xffffffff)
	l.words(pidDeadline, 0x7fffffff, 0xffffffff)
	l.words(pidOwnership, 0)
	l.words(pidDestOrder, 0)
	if len(user) > 0 {
		l.octets(pidUserData, user)
	}
	return l.end()
}

// tell tells others of an endpoint.
func (p *Participant) tell(w *Writer, g GUID, about []byte) {
	c := w.add()
	c.data, c.inline, c.key, c.endpoint = about, nil, false, g
	w.push(c)
}

// retract tells others that an endpoint is gone. What was said of it is not kept.
func (p *Participant) retract(w *Writer, g GUID) {
	kept := make([]change, 0, w.count+1)
	for i := range w.count {
		if c := w.kept(i); c.endpoint != g && !(c.key && w.heard(c.sequence)) {
			kept = append(kept, *c)
		}
	}
	w.ring, w.head, w.count = kept, 0, len(kept)
	w.ring = w.ring[:len(kept):len(kept)]
	if w.count == 0 {
		w.ring = nil
	}
	c := w.add()
	sequence := c.sequence
	*c = *gone(g, pidEndpoint, sequence)
	w.push(c)
}

// heard reports whether all readers have acknowledged a sample.
func (w *Writer) heard(sequence int64) bool {
	for _, x := range w.proxies {
		if x.reliable && x.acked < sequence {
			return false
		}
	}
	return true
}

// endpointCame takes what another participant tells of a writer or a reader.
func (p *Participant) endpointCame(s *Sample, writer bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.remotes[s.Writer.Prefix]
	if r == nil || p.closed {
		return
	}
	e := &endpoint{policies: defaults(writer)}
	var locators []netip.AddrPort
	ok := true
	if len(s.Payload) > 0 {
		ok = readParams(s.Payload, func(pid uint16, v value) { e.param(pid, v, &locators) })
	}
	if s.head.hasKey && e.id == (GUID{}) {
		e.id = s.head.key
	}
	if e.id.Prefix != r.prefix || e.id.Entity.isWriter() != writer {
		p.stats.Malformed++
		return
	}
	all := r.readers
	if writer {
		all = r.writers
	}
	old := all[e.id.Entity]
	if s.head.status&(statusDisposed|statusUnregistered) != 0 {
		if old != nil {
			p.account(r, old, nil)
			delete(all, e.id.Entity)
			old.topic = "" // matches nothing
			p.matchEndpoint(r, old, writer)
			p.c.Changed()
		}
		return
	}
	switch {
	case !ok || e.topic == "" || e.typ == "":
		p.stats.Malformed++
		return
	case old == nil && len(r.readers)+len(r.writers) >= p.c.Limits.Endpoints:
		p.stats.Refused++
		return
	case !p.account(r, old, e):
		return
	}
	e.addr = r.place(p.choose(r, locators))
	if e.asserted = time.Now(); old != nil {
		e.asserted, e.oversize = old.asserted, old.oversize
	}
	all[e.id.Entity] = e
	p.matchEndpoint(r, e, writer)
	p.c.Changed()
}

func (p *Participant) matchEndpoint(r *remote, e *endpoint, writer bool) {
	if writer {
		for _, x := range p.readers {
			if x.c.Topic != "" {
				x.match(r, e)
			}
		}
		return
	}
	for _, x := range p.writers {
		if x.c.Topic != "" {
			x.match(r, e)
		}
	}
}

// param takes a parameter of an endpoint.
func (e *endpoint) param(pid uint16, v value, locators *[]netip.AddrPort) {
	q := &e.policies
	word, _ := v.word(0)
	switch pid {
	case pidEndpoint:
		e.id, _ = v.guid()
	case pidTopic:
		e.topic, _ = v.text()
	case pidType:
		e.typ, _ = v.text()
	case pidUserData:
		if b, ok := v.octets(maxUserData); ok {
			e.userData = append([]byte(nil), b...)
		}
	case pidUnicast:
		if a, ok := v.locator(); ok && len(*locators) < maxListed {
			*locators = append(*locators, a)
		}
	case pidReliability:
		q.reliable = word == 2
	case pidDurability:
		q.durability = word
	case pidDeadline:
		if d, ok := v.duration(0); ok {
			q.deadline = d
		}
	case pidLatency:
		if d, ok := v.duration(0); ok {
			q.latency = d
		}
	case pidLiveliness:
		q.liveliness = word
		if d, ok := v.duration(1); ok {
			q.livelinessLease = d
		}
	case pidOwnership:
		q.exclusive = word == 1
	case pidDestOrder:
		q.bySource = word == 1
	case pidPartition:
		q.partitions, _ = v.texts()
	case pidRepresentation:
		for i := 0; i < int(min(word, maxListed)) && 4+2*i+2 <= len(v.b); i++ {
			q.representations = append(q.representations, v.order.Uint16(v.b[4+2*i:]))
		}
	}
}

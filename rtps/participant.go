package rtps

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Config is how a participant is made; zero values take the defaults.
type Config struct {
	Domain   int
	Name     string           // that others list
	UserData []byte           // of the participant
	Program  [4]byte          // participants that have the same do not meet; zero meets all
	Open     bool             // reach other machines, and let them in
	Peers    []netip.Addr     // that are told of the participant beside the multicast group
	Announce time.Duration    // between announcements; default 3 s
	Lease    time.Duration    // after which others take the participant for gone; default 20 s
	Limits   Limits           // what others can use
	Changed  func()           // is called when others came, went or changed; may only signal
	Dial     func() Transport // nil is UDP of the domain

	// FragmentSize is the longest sample that is sent in one piece; default 16 KiB on this
	// machine alone, 1344 bytes beyond it, where a datagram should be one packet.
	FragmentSize int
}

// Limits bound what others can make a participant hold.
type Limits struct {
	Participants int // others at a time; default 256
	Endpoints    int // of each; default 4096
	TellBytes    int // of what is known of a participant's endpoints: names, user data, partitions, matches; default 8 MiB
	AllTellBytes int // of all participants; default 64 MiB
	SampleBytes  int // of one sample; default 16 MiB
	HeldBytes    int // of samples that wait for others or for their own fragments, and of what is asked for again, for each participant; default 32 MiB
	AllHeldBytes int // of all participants; default 128 MiB
	HistoryBytes int // of one writer; default 64 MiB
	Rate         int // bytes per second of fragments and of what is sent again; default 40 MB
}

func (c *Config) finish() error {
	if c.Domain < 0 || c.Domain > maxDomain {
		return fmt.Errorf("the DDS domain is %d, must be 0 to %d", c.Domain, maxDomain)
	}
	orDefault(&c.Announce, 3*time.Second)
	orDefault(&c.Lease, 20*time.Second)
	l := &c.Limits
	orDefault(&l.Participants, 256)
	orDefault(&l.Endpoints, 4096)
	orDefault(&l.TellBytes, 8<<20)
	orDefault(&l.AllTellBytes, 64<<20)
	orDefault(&l.SampleBytes, 16<<20)
	orDefault(&l.HeldBytes, 32<<20)
	orDefault(&l.AllHeldBytes, 128<<20)
	orDefault(&l.HistoryBytes, 64<<20)
	orDefault(&l.Rate, 40e6)
	otherwise := 16 << 10
	if c.Open {
		otherwise = 1344
	}
	orDefault(&c.FragmentSize, otherwise)
	c.FragmentSize = min(c.FragmentSize, 60<<10)
	if c.Changed == nil {
		c.Changed = func() {}
	}
	return nil
}

func orDefault[T int | time.Duration](v *T, otherwise T) {
	if *v <= 0 {
		*v = otherwise
	}
}

// Stats are counts since a participant began, but for the first four.
type Stats struct {
	Participants, Readers, Writers int // of others, now
	HeldBytes                      int // that others make it hold, now

	Datagrams  uint64 // that came
	Foreign    uint64 // of them from other machines, dropped
	Malformed  uint64 // of them not understood
	Received   uint64 // samples for readers
	Duplicates uint64 // samples that came again
	Lost       uint64 // samples that no writer had any more
	Old        uint64 // samples from before their reader, left out
	Written    uint64 // samples
	Resent     uint64 // samples and fragments
	Refused    uint64 // participants, endpoints and samples beyond a limit
	Unsent     uint64 // datagrams that the network did not take
}

// Participant is a member of a domain.
type Participant struct {
	c      Config
	prefix Prefix
	t      Transport

	rx sync.Mutex // one datagram at a time; its samples are delivered in order

	mu      sync.Mutex
	closed  bool
	remotes map[Prefix]*remote
	writers map[EntityID]*Writer
	readers map[EntityID]*Reader
	pubs    *Writer // tells of writers
	subs    *Writer // tells of readers
	number  uint32  // of user endpoints
	out     []delivery
	packet  packet
	stats   Stats
	held    int
	told    int       // bytes of what is known of endpoints
	active  []*Writer // that have something to be sent at a pace
	tokens  float64   // bytes that may be sent now
	refill  time.Time
	started int // announcements of the beginning that are made

	announceDue time.Time
	nextDue     time.Time
	looking     bool // due runs: nextDue needs no signal
	wake        chan struct{}
	end         chan struct{}
	running     sync.WaitGroup
}

// delivery is a sample on its way to a reader.
type delivery struct {
	r *Reader
	s Sample
}

// ErrClosed is returned by what has been closed.
var ErrClosed = errors.New("closed")

// New returns a participant that has begun to announce itself. Close ends it.
func New(c Config) (*Participant, error) {
	if err := c.finish(); err != nil {
		return nil, err
	}
	p := &Participant{c: c, remotes: map[Prefix]*remote{}, writers: map[EntityID]*Writer{}, readers: map[EntityID]*Reader{},
		wake: make(chan struct{}, 1), end: make(chan struct{})}
	p.prefix[0], p.prefix[1] = VendorOwn[0], VendorOwn[1]
	_, _ = rand.Read(p.prefix[2:]) // never fails
	if c.Program != [4]byte{} {
		copy(p.prefix[2:], c.Program[:])
	}
	if c.Dial != nil {
		p.t = c.Dial()
	} else {
		t, err := newUDP(c.Domain, c.Open)
		if err != nil {
			return nil, err
		}
		p.t = t
	}
	p.openBuiltin()
	now := time.Now()
	p.tokens, p.refill, p.announceDue = burst, now, now
	p.running.Go(func() { p.t.Receive(p.handle) })
	p.running.Go(p.loop)
	return p, nil
}

// GUID returns the participant's own.
func (p *Participant) GUID() GUID { return GUID{p.prefix, entityParticipant} }

// Addresses returns where the participant is reached.
func (p *Participant) Addresses() []netip.AddrPort {
	_, data := p.t.Addresses()
	return data
}

// Close tells others that the participant is gone, and ends it.
func (p *Participant) Close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed = true
	p.disposeParticipant()
	p.mu.Unlock()
	close(p.end)
	p.t.Close()
	p.running.Wait()
}

// loop does what is due.
func (p *Participant) loop() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-p.end:
			return
		case <-timer.C:
		case <-p.wake:
		}
		now := time.Now()
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			return
		}
		p.nextDue, p.looking = now.Add(time.Second), true
		p.due(now)
		p.looking = false
		next := p.nextDue
		p.mu.Unlock()
		timer.Reset(max(time.Until(next), 0))
	}
}

// at sees to it that due runs no later than t.
func (p *Participant) at(t time.Time) {
	if p.nextDue.IsZero() || !t.Before(p.nextDue) {
		return
	}
	p.nextDue = t
	if p.looking {
		return
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// due does everything whose time has come, and notes when the next is.
func (p *Participant) due(now time.Time) {
	if !now.Before(p.announceDue) {
		p.announce()
		wait := p.c.Announce
		if p.started < startAnnouncements {
			p.started++
			wait = min(wait, startEvery)
		}
		p.announceDue = now.Add(wait)
	}
	p.nextDue = earlier(p.nextDue, p.announceDue)
	p.expire(now)
	for _, w := range p.writers {
		if due := w.heartbeatDue(now); !due.IsZero() {
			p.nextDue = earlier(p.nextDue, due)
		}
	}
	for _, r := range p.readers {
		if due := r.askDue(now); !due.IsZero() {
			p.nextDue = earlier(p.nextDue, due)
		}
	}
	p.drain(now)
}

// At the beginning announcements are made more often: one may be lost.
const (
	startAnnouncements = 4
	startEvery         = 250 * time.Millisecond
)

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// handle takes a datagram. It is called from several goroutines.
func (p *Participant) handle(b []byte, from netip.AddrPort) {
	p.rx.Lock()
	defer p.rx.Unlock()
	p.mu.Lock()
	p.stats.Datagrams++
	switch {
	case p.closed:
		p.mu.Unlock()
		return
	case !p.c.Open && !p.t.Own(from.Addr()):
		p.stats.Foreign++
		p.mu.Unlock()
		return
	}
	p.receive(b, from)
	out := p.out
	p.mu.Unlock()
	for i := range out {
		if d := &out[i]; !d.r.isClosed() {
			d.r.c.Receive(&d.s)
		}
		out[i] = delivery{}
	}
	p.mu.Lock()
	if p.out = out[:0]; cap(out) > maxSpare {
		p.out = nil
	}
	p.mu.Unlock()
}

// message is the state of a message that is read.
type message struct {
	source Prefix
	vendor Vendor
	dest   Prefix // zero is everyone
	time   time.Time
	from   netip.AddrPort
	now    time.Time
}

// receive reads a message.
func (p *Participant) receive(b []byte, from netip.AddrPort) {
	if len(b) < headerSize || string(b[:4]) != "RTPS" || b[4] != 2 {
		p.stats.Malformed++
		return
	}
	m := message{vendor: Vendor(b[6:8]), from: from, now: time.Now()}
	copy(m.source[:], b[8:headerSize])
	for b = b[headerSize:]; len(b) >= 4; {
		kind, flags := b[0], b[1]
		n := int(byteOrder(flags&flagLittle == 0).Uint16(b[2:]))
		b = b[4:]
		if n == 0 && kind != subInfoTime && kind != 1 {
			n = len(b) // the last one may leave its length out
		}
		if n > len(b) {
			p.stats.Malformed++
			return
		}
		p.submessage(&m, kind, flags, b[:n])
		b = b[n:]
	}
	if r := p.remotes[m.source]; r != nil && r.isFrom(from.Addr(), p.t) {
		r.seen = m.now
		if !r.here && !m.time.IsZero() {
			r.ahead = max(r.ahead, m.time.Sub(m.now))
		}
	}
}

// submessage takes one submessage.
func (p *Participant) submessage(m *message, kind, flags byte, body []byte) {
	c := cursor{b: body, order: byteOrder(flags&flagLittle == 0)}
	switch kind {
	case subInfoDest:
		copy(m.dest[:], c.take(12))
		return
	case subInfoSource:
		c.take(6)
		copy(m.vendor[:], c.take(2))
		copy(m.source[:], c.take(12))
		return
	case subInfoTime:
		m.time = time.Time{}
		if flags&flagInvalid == 0 {
			m.time = goTime(c.u32(), c.u32())
		}
		return
	}
	if p.isOwn(m.source) || m.dest != (Prefix{}) && m.dest != p.prefix {
		return
	}
	switch kind {
	case subData, subDataFrag:
		h, ok := readData(kind, flags, body)
		if !ok {
			p.stats.Malformed++
			return
		}
		p.data(m, &h)
	case subHeartbeat:
		reader, writer, first, last, count := c.entity(), c.entity(), c.sequence(), c.sequence(), c.u32()
		if p.understood(&c) && first > 0 && last >= first-1 {
			if flags&flagAlive != 0 {
				p.asserted(m, writer)
			}
			p.eachReader(m, reader, writer, func(w *writerProxy) { w.heartbeat(m, first, last, count, flags&flagFinal != 0) })
		}
	case subHeartbeatFrag:
		reader, writer, sequence, last := c.entity(), c.entity(), c.sequence(), c.u32()
		if p.understood(&c) {
			p.eachReader(m, reader, writer, func(w *writerProxy) { w.heartbeatFrag(m, sequence, last) })
		}
	case subGap:
		reader, writer, start, base, more := c.entity(), c.entity(), c.sequence(), c.sequence(), c.set()
		if p.understood(&c) && start > 0 && base >= start {
			p.eachReader(m, reader, writer, func(w *writerProxy) { w.gap(start, base, &more) })
		}
	case subAckNack:
		reader, writer, base, missing, count := c.entity(), c.entity(), c.sequence(), c.set(), c.u32()
		if w := p.writers[writer]; p.understood(&c) && w != nil {
			w.ackNack(m, GUID{m.source, reader}, base, &missing, count, flags&flagFinal != 0)
		}
	case subNackFrag:
		reader, writer, sequence, base, missing := c.entity(), c.entity(), c.sequence(), c.u32(), c.set()
		if w := p.writers[writer]; p.understood(&c) && w != nil {
			w.nackFrag(m, GUID{m.source, reader}, sequence, base, &missing)
		}
	}
}

// isOwn reports whether a participant is this one, or one of the same program.
func (p *Participant) isOwn(other Prefix) bool {
	if p.c.Program == ([4]byte{}) {
		return other == p.prefix
	}
	return [6]byte(other[:6]) == [6]byte(p.prefix[:6])
}

func (p *Participant) understood(c *cursor) bool {
	if c.bad {
		p.stats.Malformed++
	}
	return !c.bad
}

// eachReader calls f for what readers know of a writer: of one reader, or of all that read it.
func (p *Participant) eachReader(m *message, reader, writer EntityID, f func(*writerProxy)) {
	from := GUID{m.source, writer}
	if reader != entityUnknown {
		if r := p.readers[reader]; r != nil && r.proxies[from] != nil {
			f(r.proxies[from])
		}
		return
	}
	rem := p.remotes[m.source]
	if rem == nil {
		return
	}
	for _, w := range rem.read[writer] {
		f(w)
	}
}

// data takes DATA or DATA_FRAG.
func (p *Participant) data(m *message, h *dataHead) {
	if h.writer == spdpWriter {
		if h.first == 0 {
			p.participantCame(m, h)
		}
		return
	}
	p.asserted(m, h.writer)
	p.eachReader(m, h.reader, h.writer, func(w *writerProxy) { w.data(m, h) })
}

// asserted notes that a writer has shown that it is alive: by a sample, or by saying so.
func (p *Participant) asserted(m *message, writer EntityID) {
	if rem := p.remotes[m.source]; rem != nil && rem.isFrom(m.from.Addr(), p.t) {
		if e := rem.writers[writer]; e != nil {
			e.asserted = m.now
		}
	}
}

// send sends the packet that is built.
func (p *Participant) send(to netip.AddrPort) {
	if !to.IsValid() {
		return
	}
	if err := p.t.Send(to, p.packet.b); err != nil {
		p.stats.Unsent++
	}
}

// Stats returns what a metrics page shows.
func (p *Participant) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Participants, s.HeldBytes = len(p.remotes), p.held
	for _, r := range p.remotes {
		s.Readers += len(r.readers)
		s.Writers += len(r.writers)
	}
	return s
}

// newEntity returns the id of a new user endpoint.
func (p *Participant) newEntity(kind byte) EntityID {
	p.number++
	return EntityID{byte(p.number >> 16), byte(p.number >> 8), byte(p.number), kind}
}

// sorted returns the values of a map in the order of their GUIDs.
func sorted[E interface{ guid() GUID }](all map[EntityID]E) []E {
	out := make([]E, 0, len(all))
	for _, e := range all {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b E) int {
		x, y := a.guid().Entity, b.guid().Entity
		return slices.Compare(x[:], y[:])
	})
	return out
}

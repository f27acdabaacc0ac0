package rtps

import (
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

// silent is a transport that goes nowhere.
type silent struct {
	own netip.Addr

	mu   sync.Mutex
	to   map[netip.Addr]int // datagrams by destination
	last []byte

	lastTo netip.AddrPort
}

func addrPort(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

func (s *silent) Send(to netip.AddrPort, b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to[to.Addr()]++
	s.lastTo = to
	s.last = append(s.last[:0], b...)
	return nil
}

func (s *silent) sent() map[netip.Addr]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.to)
}

func (s *silent) Announce([]byte) error                       { return nil }
func (s *silent) Receive(func(b []byte, from netip.AddrPort)) {}
func (s *silent) Addresses() (meta, data []netip.AddrPort)    { return nil, nil }
func (s *silent) Own(a netip.Addr) bool                       { return a.IsLoopback() || a == s.own }
func (s *silent) Close()                                      {}

// pair returns a participant without goroutines that disturb, and its transport.
func pair(t testing.TB, change ...func(*Config)) (*Participant, *silent) {
	t.Helper()
	s := &silent{own: netip.MustParseAddr("10.0.0.1"), to: map[netip.Addr]int{}}
	c := Config{Announce: time.Hour, Dial: func() Transport { return s }}
	for _, f := range change {
		f(&c)
	}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, s
}

// forge is another participant, as a test makes it up.
type forge struct {
	packet
	prefix Prefix
}

// hello announces the forged participant with locators.
func (f *forge) hello(locators ...string) []byte {
	l := params{b: append([]byte(nil), plCDR...)}
	l.guid(pidParticipant, GUID{f.prefix, entityParticipant})
	for _, a := range locators {
		l.locator(pidMetaUnicast, netip.MustParseAddrPort(a))
		l.locator(pidDefaultUnicast, netip.MustParseAddrPort(a))
	}
	l.words(pidBuiltin, 0x3f)
	f.begin(f.prefix)
	f.data(spdpReader, spdpWriter, &change{sequence: 1, data: l.end()})
	return f.b
}

// endpoint tells of a writer or a reader of the forged participant.
func (f *forge) endpoint(sequence int64, id EntityID, q QoS) []byte {
	writer := subsWriter
	if id.isWriter() {
		writer = pubsWriter
	}
	f.begin(f.prefix)
	f.heartbeat(entityUnknown, writer, 1, sequence-1, uint32(2*sequence), true)
	f.data(entityUnknown, writer, &change{sequence: sequence, data: endpointParams(GUID{f.prefix, id}, "rt/chatter", "T", q, nil)})
	f.heartbeat(entityUnknown, writer, 1, sequence, uint32(2*sequence+1), true)
	return f.b
}

var (
	here    = netip.MustParseAddrPort("127.0.0.1:5555")
	foreign = netip.MustParseAddrPort("10.0.0.9:5555")
)

// TestClosedIsClosed: what comes from other machines is dropped and counted, and nothing
// goes there.
func TestClosedIsClosed(t *testing.T) {
	p, s := pair(t)
	f := forge{prefix: Prefix{1}}
	p.handle(f.hello("10.0.0.9:7410"), foreign)
	if st := p.Stats(); st.Foreign != 1 || st.Participants != 0 {
		t.Errorf("a foreign announcement: %+v", st)
	}
	p.handle(f.hello("10.0.0.9:7410"), here)
	if st := p.Stats(); st.Participants != 0 {
		t.Errorf("a participant here with a locator elsewhere is taken: %+v", st)
	}
	p.handle(f.hello("10.0.0.9:7410", "10.0.0.1:7412"), here)
	if st := p.Stats(); st.Participants != 1 {
		t.Errorf("a participant here is not taken: %+v", st)
	}
	for a, n := range s.sent() {
		if !s.Own(a) {
			t.Errorf("%d datagrams went to %v", n, a)
		}
	}
}

// TestLocatorsAreNotBelieved: an open participant sends to where others speak from, and not
// to a third party that they name.
func TestLocatorsAreNotBelieved(t *testing.T) {
	p, s := pair(t, open)
	f := forge{prefix: Prefix{1}}
	p.handle(f.hello("8.8.8.8:53"), foreign)
	if st := p.Stats(); st.Participants != 1 {
		t.Fatalf("%+v", st)
	}
	if to := s.sent(); to[netip.MustParseAddr("8.8.8.8")] != 0 || to[foreign.Addr()] == 0 {
		t.Errorf("datagrams went to %v", to)
	}
	// another machine cannot end it, nor keep it
	g := forge{prefix: Prefix{1}}
	g.begin(g.prefix)
	g.data(spdpReader, spdpWriter, gone(GUID{g.prefix, entityParticipant}, pidParticipant, 2))
	p.handle(g.b, netip.MustParseAddrPort("10.0.0.66:1"))
	if p.Stats().Participants != 1 {
		t.Error("another machine has ended a participant")
	}
	p.handle(g.b, foreign)
	if p.Stats().Participants != 0 {
		t.Error("a participant has not ended itself")
	}
}

// TestAHostileParticipantIsBounded: floods of participants, endpoints, samples that never
// come in turn, fragments of what is never complete and requests for everything cost no more
// than the limits say.
func TestAHostileParticipantIsBounded(t *testing.T) {
	limits := Limits{Participants: 20, Endpoints: 50, SampleBytes: 1 << 20, HeldBytes: 4 << 20, AllHeldBytes: 8 << 20}
	p, _ := pair(t, func(c *Config) { c.Limits = limits })
	_, in := readerOf(t, p, QoS{Reliable: true})
	w := writerOf(t, p, QoS{Reliable: true, Depth: 100}, 0)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range 1000 {
		f := forge{prefix: Prefix{1, byte(i), byte(i >> 8)}}
		p.handle(f.hello("127.0.0.1:7412"), here)
	}
	f := forge{prefix: Prefix{1, 3}}
	for i := range 500 {
		kind := byte(kindWriter)
		if i%2 == 1 {
			kind = kindReader
		}
		p.handle(f.endpoint(int64(i/2+1), EntityID{0, byte(i >> 8), byte(i), kind}, QoS{Reliable: true}), here)
	}
	st := p.Stats()
	if st.Participants != limits.Participants || st.Readers+st.Writers != limits.Endpoints {
		t.Errorf("%d participants, %d endpoints", st.Participants, st.Readers+st.Writers)
	}
	flood(p, &f, rnd)
	st = p.Stats()
	if st.HeldBytes > limits.HeldBytes {
		t.Errorf("%d bytes are held, the limit is %d", st.HeldBytes, limits.HeldBytes)
	}
	if st.HeldBytes < limits.HeldBytes/2 {
		t.Errorf("only %d bytes are held: the flood has not reached", st.HeldBytes)
	}
	p.mu.Lock()
	if len(w.jobs) > 20*maxSet {
		t.Errorf("%d jobs wait", len(w.jobs))
	}
	p.mu.Unlock()
	for i := range limits.Participants {
		g := forge{prefix: Prefix{1, byte(i)}}
		g.begin(g.prefix)
		g.data(spdpReader, spdpWriter, gone(GUID{g.prefix, entityParticipant}, pidParticipant, 2))
		p.handle(g.b, here)
	}
	if st := p.Stats(); st.HeldBytes != 0 || st.Participants != 0 {
		t.Errorf("after they have gone: %+v", st)
	}
	t.Logf("delivered %d, refused %d", in.len(), st.Refused)
}

// TestWhatIsToldOfEndpointsIsBounded: long names, user data and partitions of many endpoints are
// refused beyond their bound, and room comes back as endpoints go.
func TestWhatIsToldOfEndpointsIsBounded(t *testing.T) {
	limits := Limits{TellBytes: 100 << 10, AllTellBytes: 150 << 10}
	p, _ := pair(t, func(c *Config) { c.Limits = limits })
	known := func() int { st := p.Stats(); return st.Readers + st.Writers }
	long := strings.Repeat("t", 1000)
	tell := func(f *forge, sequence int64, body []byte) {
		f.begin(f.prefix)
		f.heartbeat(entityUnknown, pubsWriter, 1, sequence-1, uint32(2*sequence), true)
		f.data(entityUnknown, pubsWriter, &change{sequence: sequence, data: body})
		p.handle(f.b, here)
	}
	for i := range 3 {
		f := forge{prefix: Prefix{1, byte(i)}}
		p.handle(f.hello("127.0.0.1:7412"), here)
		for k := range 200 {
			tell(&f, int64(k+1), endpointParams(GUID{f.prefix, EntityID{0, 0, byte(k), kindWriter}}, long, long, QoS{}, nil))
		}
	}
	each := 2000 + endpointBytes
	participant := remoteBytes + 2*readingBytes + 2*servedBytes
	if want := (limits.AllTellBytes - 3*participant) / each; known() < want-2 || p.told > limits.AllTellBytes {
		t.Errorf("%d endpoints with %d bytes are known, there is room for %d at least, and %d bytes", known(), p.told, want-2, limits.AllTellBytes)
	}
	if p.Stats().Refused == 0 {
		t.Error("no refusal is counted")
	}
	f := forge{prefix: Prefix{1, 0}}
	before, first := known(), (limits.TellBytes-participant)/each
	f.begin(f.prefix)
	f.data(spdpReader, spdpWriter, gone(GUID{f.prefix, entityParticipant}, pidParticipant, 2))
	p.handle(f.b, here)
	if known() != before-first || p.told > 2*participant+(before-first)*each {
		t.Errorf("%d of %d endpoints with %d bytes are known after one has gone", known(), before, p.told)
	}
}

// flood sends what is never complete, from all writers and readers of a participant.
func flood(p *Participant, f *forge, rnd *rand.Rand) {
	small, half, large := make([]byte, 8000), make([]byte, 1<<19), make([]byte, 3<<20)
	for i := range 20000 {
		id := EntityID{0, 0, byte(2 * rnd.IntN(25)), kindWriter}
		f.begin(f.prefix)
		switch i % 5 {
		case 0: // out of turn
			f.data(entityUnknown, id, &change{sequence: rnd.Int64N(1 << 40), data: small})
		case 1: // one fragment of many
			c := &change{sequence: rnd.Int64N(1 << 40), data: half}
			f.fragment(entityUnknown, id, c, 3, 1000)
		case 2: // more than is allowed
			f.fragment(entityUnknown, id, &change{sequence: 5, data: large}, 1, 1000)
		case 3:
			f.heartbeat(entityUnknown, id, 1+rnd.Int64N(3), 1<<50, uint32(i), false)
			f.gap(entityUnknown, id, 3, 1<<20, &set{bits: 256, words: [8]uint32{1 << 31, 5, 7}})
		case 4:
			reader := EntityID{0, 0, byte(1 + 2*rnd.IntN(25)), kindReader}
			every := set{bits: maxSet, words: [8]uint32{1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1}}
			f.ackNack(reader, EntityID{0, 0, 2, kindWriter}, 1, &every, uint32(i))
		}
		p.handle(f.b, here)
	}
}

// FuzzReceive: no datagram makes a participant panic or hold more than it may, whatever it
// has been told before.
func FuzzReceive(f *testing.F) {
	g := forge{prefix: Prefix{1, 2, 3}}
	f.Add(append([]byte(nil), g.hello("127.0.0.1:7412")...))
	f.Add(append([]byte(nil), g.endpoint(2, EntityID{0, 0, 1, kindWriter}, QoS{Reliable: true})...))
	g.begin(g.prefix)
	g.dest(Prefix{1})
	g.time(time.Unix(5, 6))
	c := &change{sequence: 3, data: make([]byte, 5000), inline: appendRelated(nil, &Identity{Sequence: 4})}
	g.fragment(entityUnknown, EntityID{0, 0, 1, kindWriter}, c, 2, 1000)
	g.data(entityUnknown, EntityID{0, 0, 1, kindWriter}, &change{sequence: 1, data: []byte{0, 1, 0, 0, 9}, inline: c.inline})
	g.heartbeat(entityUnknown, EntityID{0, 0, 1, kindWriter}, 1, 9, 5, false)
	g.gap(entityUnknown, EntityID{0, 0, 1, kindWriter}, 2, 5, &set{bits: 40})
	g.ackNack(EntityID{0, 0, 3, kindReader}, EntityID{0, 0, 2, kindWriter}, 1, &set{bits: 3, words: [8]uint32{7 << 29}}, 1)
	g.nackFrag(EntityID{0, 0, 3, kindReader}, EntityID{0, 0, 2, kindWriter}, 2, 1, &set{bits: 3, words: [8]uint32{7 << 29}}, 2)
	f.Add(append([]byte(nil), g.b...))
	f.Fuzz(func(t *testing.T, b []byte) {
		limits := Limits{HeldBytes: 1 << 20, SampleBytes: 1 << 18}
		p, _ := pair(t, func(c *Config) { c.Limits, c.FragmentSize = limits, 100 })
		_, _ = readerOf(t, p, QoS{Reliable: true})
		w := writerOf(t, p, QoS{Reliable: true, TransientLocal: true, Depth: 5}, 0)
		for i := range 3 {
			_, _ = w.Write(text(i, 200), nil)
		}
		known := forge{prefix: Prefix{1, 2, 3}}
		p.handle(known.hello("127.0.0.1:7412"), here)
		p.handle(known.endpoint(1, EntityID{0, 0, 1, kindWriter}, QoS{Reliable: true}), here)
		p.handle(known.endpoint(1, EntityID{0, 0, 3, kindReader}, QoS{Reliable: true}), here)
		if len(b) > 0 && b[0]&1 == 0 { // most of what is tried speaks RTPS for the known participant
			known.begin(known.prefix)
			b = append(known.b, b...)
		}
		for range 3 {
			p.handle(b, here)
			if len(b) > 60 {
				binary.LittleEndian.PutUint32(b[len(b)-4:], rand.Uint32())
			}
		}
		if s := p.Stats(); s.HeldBytes > limits.HeldBytes || s.HeldBytes < 0 {
			t.Errorf("%d bytes are held", s.HeldBytes)
		}
	})
}

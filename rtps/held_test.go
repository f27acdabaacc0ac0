package rtps

import (
	"fmt"
	"runtime"
	"testing"
)

// heap returns how many bytes the program has in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// numbered is the id of one of many endpoints.
func numbered(i int, kind byte) EntityID { return EntityID{byte(i >> 16), byte(i >> 8), byte(i), kind} }

// every is a set that is full.
var every = set{bits: maxSet, words: [8]uint32{1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 1<<32 - 1}}

// TestHeldIsWhatTheHeapHolds: whatever a participant makes another one hold, the heap has no more than
// is counted, so that the limits bound memory; and it comes back when the participant goes.
func TestHeldIsWhatTheHeapHolds(t *testing.T) {
	const writers = 200
	cases := []struct {
		name  string
		limit bool // it comes up to the limit
		do    func(p *Participant, f *forge)
	}{
		{"samples of a byte out of turn", true, func(p *Participant, f *forge) {
			for i := range writers {
				for k := range maxHeld {
					f.begin(f.prefix)
					f.data(entityUnknown, numbered(i, kindWriter), &change{sequence: int64(k + 5), data: []byte{1}})
					p.handle(f.b, here)
				}
			}
		}},
		{"one sample of every writer", false, func(p *Participant, f *forge) {
			for i := range writers {
				f.begin(f.prefix)
				f.data(entityUnknown, numbered(i, kindWriter), &change{sequence: 5, data: []byte{1}})
				p.handle(f.b, here)
			}
		}},
		{"gaps", true, func(p *Participant, f *forge) {
			for i := range writers {
				f.begin(f.prefix)
				f.heartbeat(entityUnknown, numbered(i, kindWriter), 1, 1<<20, 1, true)
				for k := range int64(4) {
					f.gap(entityUnknown, numbered(i, kindWriter), 1<<20+100+maxSet*k, 1<<20+100+maxSet*k, &every)
				}
				p.handle(f.b, here)
			}
		}},
		{"fragments of a byte", true, func(p *Participant, f *forge) {
			c := &change{data: make([]byte, 60000)}
			for i := range writers {
				for k := range maxParts + 2 {
					c.sequence = int64(k + 5)
					f.begin(f.prefix)
					f.fragment(entityUnknown, numbered(i, kindWriter), c, 3, 1)
					p.handle(f.b, here)
				}
			}
		}},
		{"small samples in fragments", false, func(p *Participant, f *forge) {
			c := &change{data: make([]byte, 3)}
			for i := range writers {
				for k := range maxParts {
					c.sequence = int64(k + 5)
					f.begin(f.prefix)
					f.fragment(entityUnknown, numbered(i, kindWriter), c, 1, 1)
					p.handle(f.b, here)
				}
			}
		}},
		{"user data that is replaced behind samples that wait", false, func(p *Participant, f *forge) {
			id := numbered(1, kindWriter)
			for k := range 300 {
				user := make([]byte, maxUserData)
				sequence := int64(writers + k + 1)
				f.begin(f.prefix)
				f.data(entityUnknown, pubsWriter, &change{sequence: sequence, data: endpointParams(GUID{f.prefix, id}, "rt/chatter", "T", QoS{Reliable: true}, user)})
				f.data(entityUnknown, id, &change{sequence: int64(k + 5), data: []byte{1}})
				p.handle(f.b, here)
			}
		}},
		{"readers that ask for everything again and again", true, func(p *Participant, f *forge) {
			for i := range writers {
				p.handle(f.endpoint(int64(i+1), numbered(i, kindReader), QoS{Reliable: true, TransientLocal: true}), here)
			}
			for k := range 20 {
				for i := range writers {
					f.begin(f.prefix)
					f.ackNack(numbered(i, kindReader), EntityID{0, 0, 2, kindWriter}, 1, &every, uint32(k+1))
					p.handle(f.b, here)
				}
			}
		}},
		{"endpoints", false, func(p *Participant, f *forge) {
			for i := range 5000 {
				p.handle(f.endpoint(int64(writers+i+1), numbered(writers+i, kindWriter), QoS{Reliable: true}), here)
			}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			limits := Limits{HeldBytes: 1 << 20, TellBytes: 2 << 20, Rate: 1}
			p, _ := pair(t, func(c *Config) { c.Limits = limits })
			_, _ = readerOf(t, p, QoS{Reliable: true})
			w := writerOf(t, p, QoS{Reliable: true, TransientLocal: true, Depth: maxSet}, 0)
			for i := range maxSet {
				_, _ = w.Write(text(i, 1000), nil)
			}
			f := forge{prefix: Prefix{1, 3}}
			f.b = make([]byte, 0, 1<<17)
			empty := heap()
			p.handle(f.hello("127.0.0.1:7412"), here)
			for i := range writers {
				p.handle(f.endpoint(int64(i+1), numbered(i, kindWriter), QoS{Reliable: true}), here)
			}
			c.do(p, &f)
			held, told, grown := p.Stats().HeldBytes, p.told, heap()-empty
			t.Logf("held %d, told %d, heap %d", held, told, grown)
			if held > limits.HeldBytes || told > limits.TellBytes {
				t.Errorf("%d bytes are held and %d known, at most %d and %d may be", held, told, limits.HeldBytes, limits.TellBytes)
			}
			if c.limit && held < limits.HeldBytes*9/10 {
				t.Errorf("only %d bytes are held: the flood has not reached", held)
			}
			const others = 128 << 10 // buffers that are used again, and what the runtime has
			if grown > int64(held+told)+others {
				t.Errorf("the heap has grown by %d bytes, %d are counted", grown, held+told)
			}
			f.begin(f.prefix)
			f.data(spdpReader, spdpWriter, gone(GUID{f.prefix, entityParticipant}, pidParticipant, 2))
			p.handle(f.b, here)
			if st := p.Stats(); st.HeldBytes != 0 || p.told != 0 || st.Participants != 0 {
				t.Errorf("after it has gone %d bytes are held and %d known", st.HeldBytes, p.told)
			}
			if left := heap() - empty; left > 2*others {
				t.Errorf("after it has gone the heap has %d bytes more", left)
			}
			runtime.KeepAlive(p)
		})
	}
}

// TestAddressesOfAParticipantAreFew: however many addresses its readers name, a sample goes to a bounded
// number of them.
func TestAddressesOfAParticipantAreFew(t *testing.T) {
	p, _ := pair(t)
	w := writerOf(t, p, QoS{Reliable: true}, 0)
	f := forge{prefix: Prefix{1, 3}}
	p.handle(f.hello("127.0.0.1:7412"), here)
	for i := range 200 {
		body := params{b: endpointParams(GUID{f.prefix, numbered(i, kindReader)}, "rt/chatter", "T", QoS{Reliable: true}, nil)}
		body.b = body.b[:len(body.b)-4] // without its end
		body.locator(pidUnicast, addrPort(fmt.Sprintf("127.0.0.1:%d", 20000+i)))
		f.begin(f.prefix)
		f.heartbeat(entityUnknown, subsWriter, 1, int64(i), uint32(2*i+2), true)
		f.data(entityUnknown, subsWriter, &change{sequence: int64(i + 1), data: body.end()})
		p.handle(f.b, here)
	}
	if n := w.Readers(); n != 200 {
		t.Fatalf("%d readers are matched", n)
	}
	p.mu.Lock()
	n := len(w.dests)
	p.mu.Unlock()
	if n != maxPlaces+1 {
		t.Errorf("a sample goes to %d addresses, not to %d", n, maxPlaces+1)
	}
	f.begin(f.prefix)
	f.data(spdpReader, spdpWriter, gone(GUID{f.prefix, entityParticipant}, pidParticipant, 2))
	p.handle(f.b, here)
	if len(w.dests) != 0 || w.reliable != 0 {
		t.Errorf("after it has gone there are %d addresses, %d reliable readers", len(w.dests), w.reliable)
	}
}

// TestAParticipantMoves: one that announces other addresses is sent to there, by discovery and by samples,
// and goes on where it was.
func TestAParticipantMoves(t *testing.T) {
	p, s := pair(t, open)
	w := writerOf(t, p, QoS{Reliable: true, Depth: 5}, 0)
	f := forge{prefix: Prefix{1, 3}}
	p.handle(f.hello("10.0.0.9:7412"), foreign)
	p.handle(f.endpoint(1, numbered(1, kindReader), QoS{}), foreign)
	sendsTo := func(want string) {
		t.Helper()
		_, _ = w.Write(text(1, 20), nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.lastTo != addrPort(want) {
			t.Errorf("a sample goes to %v, not to %s", s.lastTo, want)
		}
	}
	sendsTo("10.0.0.9:7412")
	p.handle(f.hello("10.0.0.9:7500"), foreign)
	if n := len(p.Others()); n != 1 || w.Readers() != 1 {
		t.Fatalf("%d participants, %d readers", n, w.Readers())
	}
	sendsTo("10.0.0.9:7500")
	p.handle(f.hello("10.0.0.66:7500"), addrPort("10.0.0.66:5555")) // another machine that takes its name
	sendsTo("10.0.0.9:7500")
	p.handle(f.hello("10.0.0.9:7600", "10.0.0.9:7500"), foreign) // where it was is still one of them
	sendsTo("10.0.0.9:7500")
}

// TestOthersMessagesAreLeftAlone: what is for another participant is not taken; what follows a
// submessage of a vendor's own is.
func TestOthersMessagesAreLeftAlone(t *testing.T) {
	p, _ := pair(t)
	_, in := readerOf(t, p, QoS{})
	f, id := forge{prefix: Prefix{7}}, numbered(9, kindWriter)
	p.handle(f.hello("127.0.0.1:7414"), here)
	p.handle(f.endpoint(1, id, QoS{}), here)
	send := func(sequence int64, before func()) int {
		f.begin(f.prefix)
		before()
		f.data(entityUnknown, id, &change{sequence: sequence, data: text(int(sequence), 20)})
		p.handle(f.b, here)
		return in.len()
	}
	if n := send(1, func() { f.dest(Prefix{9, 9}) }); n != 0 {
		t.Errorf("%d samples for another are taken", n)
	}
	if n := send(2, func() { f.b = append(f.b, 0x80, 1, 4, 0, 1, 2, 3, 4); f.dest(p.prefix) }); n != 1 {
		t.Errorf("%d samples behind a vendor's submessage are taken", n)
	}
	if n := send(3, func() { f.dest(Prefix{9, 9}); f.dest(Prefix{}) }); n != 2 {
		t.Errorf("%d samples are taken: one for all again is not", n)
	}
	if st := p.Stats(); st.Malformed != 0 {
		t.Errorf("%d messages were not understood", st.Malformed)
	}
}

package rtps

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestLivelinessByTopic: a writer that asserts its liveliness for itself is taken for alive as long as its
// lease says, by samples and by heartbeats that say so, and not by other ones; it stays matched, and
// listings say why it is not alive. Others are alive with their participant.
func TestLivelinessByTopic(t *testing.T) {
	stepped(t, func(t *testing.T) {
		p, _ := pair(t)
		_, in := readerOf(t, p, QoS{Reliable: true})
		f, id, from := forge{prefix: Prefix{1}}, EntityID{0, 0, 7, kindWriter}, here
		p.handle(f.hello(from.String()), from)
		known := f.endpoint(1, id, QoS{Reliable: true, Depth: 10})
		at := bytes.Index(known, []byte{pidLiveliness, 0, 12, 0})
		if at < 0 {
			t.Fatal("no liveliness is announced")
		}
		binary.LittleEndian.PutUint32(known[at+4:], manualByTopic)
		binary.LittleEndian.PutUint32(known[at+8:], 1) // s
		binary.LittleEndian.PutUint32(known[at+12:], 0)
		p.handle(known, from)
		alive := func(want bool) {
			t.Helper()
			w := p.Others()[0].Writers[0]
			if w.Alive != want || !w.Matched || want != (w.Why == "") || !want && !strings.Contains(w.Why, "its lease is 1s") {
				t.Errorf("alive is %v, matched %v, why %q", w.Alive, w.Matched, w.Why)
			}
		}
		beat := func(count uint32, flags byte) {
			f.begin(f.prefix)
			f.heartbeat(entityUnknown, id, 1, 0, count, true)
			f.b[headerSize+1] |= flags
			p.handle(f.b, from)
		}
		alive(true)
		time.Sleep(1100 * time.Millisecond)
		alive(false)
		beat(1, 0)
		alive(false)
		beat(2, flagAlive)
		alive(true)
		time.Sleep(1100 * time.Millisecond)
		alive(false)
		f.begin(f.prefix)
		f.data(entityUnknown, id, &change{sequence: 1, data: text(1, 20)})
		p.handle(f.b, from)
		alive(true)
		if in.len() != 1 {
			t.Errorf("%d samples came", in.len())
		}
	})
}

// TestWhatIsGoneIsToldInARun: a reader that asks for what is not kept any more is notified as a run of
// numbers from the first to before the next that there is, and the rest behind it: Fast DDS does not
// take it otherwise.
func TestWhatIsGoneIsToldInARun(t *testing.T) {
	stepped(t, func(t *testing.T) {
		p, s := pair(t)
		var writers []*Writer
		for range 8 {
			writers = append(writers, writerOf(t, p, QoS{Reliable: true}, 0))
		}
		f := forge{prefix: Prefix{1}}
		p.handle(f.hello(here.String()), here)
		for _, i := range []int{2, 3, 5} { // samples 3, 4 and 6 of discovery
			writers[i].Close()
		}
		f.begin(f.prefix)
		missing := set{}
		for i := range 4 {
			missing.add(i)
		}
		f.ackNack(pubsReader, pubsWriter, 3, &missing, 1) // of 3, 4, 5, 6
		synctest.Wait()                                   // the participant has announced itself, and is not going to after the GAP
		p.mu.Lock()
		p.tokens = 0 // what there is waits, so that what is gone is the last word
		p.refill = time.Now()
		p.mu.Unlock()
		p.handle(f.b, here)
		s.mu.Lock()
		defer s.mu.Unlock()
		at := bytes.Index(s.last, append([]byte{pubsReader[0], pubsReader[1], pubsReader[2], pubsReader[3]}, pubsWriter[:]...))
		if at < 4 || s.last[at-4] != subGap {
			t.Fatalf("the last word is no GAP: %x", s.last)
		}
		c := cursor{b: s.last[at+8:], order: binary.LittleEndian}
		start, base, more := c.sequence(), c.sequence(), c.set()
		if start != 3 || base != 5 || more.bits != 2 || more.has(0) || !more.has(1) {
			t.Errorf("gone are %d to before %d, and of %d more %v", start, base, more.bits, more.words[0])
		}
	})
}

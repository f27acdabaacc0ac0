package graph

import (
	"strings"
	"testing"

	"poise/msgs"
)

// FuzzTopics lets the bytes of an input use a small graph in any order, and holds
// what must be true of it whatever happens: what was published reaches every
// subscriber or is counted as lost, and an unused graph is empty.
func FuzzTopics(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x02\x02\x03\x04\x05"))
	f.Add([]byte{0, 20, 1, 2, 0, 2, 21, 2, 3, 10, 31, 52, 13, 94, 4, 16, 5, 7})
	f.Fuzz(func(t *testing.T, ops []byte) {
		p := newPlayer(t)
		for _, op := range ops[:min(len(ops), 400)] {
			p.play(op)
		}
		p.finish()
	})
}

type countedSub struct {
	*Subscription
	from, told int // published before it came; delivered and lost
}

type player struct {
	t         *testing.T
	g         *Graph
	pubs      []*Advertisement
	subs      []*countedSub
	published int
}

func newPlayer(t *testing.T) *player {
	return &player{t: t, g: newGraph(t)}
}

// play does one thing, on the thing of its kind that the high bits choose.
func (p *player) play(op byte) {
	pick := int(op / 7)
	switch op % 7 {
	case 0:
		a, err := p.g.Advertise("n", "std_msgs/msg/Int32", TopicOptions{})
		p.check(err)
		p.pubs = append(p.pubs, a)
	case 1:
		s, err := p.g.Subscribe("n", SubscribeOptions{QoS: QoS{Depth: 1 + pick%4}, Type: "std_msgs/msg/Int32"})
		p.check(err)
		p.subs = append(p.subs, &countedSub{Subscription: s, from: p.published})
	case 2, 3:
		if len(p.pubs) > 0 {
			p.check(p.pubs[pick%len(p.pubs)].Publish(&msgs.Int32{Data: int32(p.published)}))
			p.published++
		}
	case 4:
		if len(p.subs) > 0 {
			p.read(p.subs[pick%len(p.subs)])
		}
	case 5:
		if len(p.subs) > 0 {
			i := pick % len(p.subs)
			p.subs[i].Close()
			p.subs = append(p.subs[:i], p.subs[i+1:]...)
		}
	case 6:
		if len(p.pubs) > 0 {
			i := pick % len(p.pubs)
			p.pubs[i].Close()
			p.pubs = append(p.pubs[:i], p.pubs[i+1:]...)
		}
	}
}

func (p *player) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// read takes all that waits: each message is the one after those told before.
func (p *player) read(s *countedSub) {
	for {
		m, lost, ok := s.Poll()
		if !ok {
			return
		}
		s.told += lost
		if got := int(m.Value.(*msgs.Int32).Data); got != s.from+s.told {
			p.t.Fatalf("message %d, want %d", got, s.from+s.told)
		}
		s.told++
	}
}

func (p *player) finish() {
	for _, s := range p.subs {
		p.read(s)
		if s.from+s.told != p.published {
			p.t.Errorf("a subscriber was told of %d messages of %d", s.told, p.published-s.from)
		}
		s.Close()
	}
	for _, a := range p.pubs {
		a.Close()
	}
	if left := p.g.Topics(); len(left) > 0 {
		p.t.Errorf("topics are left: %+v", left)
	}
}

// FuzzNames: a name that is taken is absolute, clean and stays what it is.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"joint_states", "/a/b", "//", "a/../b", "", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		s, err := Clean(name)
		if err != nil {
			return
		}
		again, err := Clean(s)
		if err != nil || again != s || s[0] != '/' || strings.Contains(s, "//") || strings.HasSuffix(s, "/") {
			t.Errorf("Clean(%q) = %q, then %q, %v", name, s, again, err)
		}
	})
}

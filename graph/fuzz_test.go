package graph

import (
	"fmt"
	"strings"
	"testing"

	"poise/action"
	"poise/msgs"
)

// FuzzGraph lets the bytes of an input use a small graph in any order, and holds
// what must be true of it whatever happens: what was published reaches every
// subscriber or is counted as lost, every goal that was taken ends once, and a
// graph that nobody uses is empty.
func FuzzGraph(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x02\x02\x03\x04\x05"))
	f.Add([]byte{10, 11, 11, 12, 13, 14, 15, 16, 17, 10, 11})
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
	clock     *testClock
	pubs      []*Advertisement
	subs      []*countedSub
	published int
	server    *ActionServer
	handles   []*GoalHandle
	clients   []*GoalClient
	ends      map[*GoalClient]int
	sent      int
}

func newPlayer(t *testing.T) *player {
	g, clock := clockGraph(t)
	return &player{t: t, g: g, clock: clock, ends: map[*GoalClient]int{}}
}

// play does one thing, on the thing of its kind that the high bits choose.
func (p *player) play(op byte) {
	pick := int(op / 18)
	switch op % 18 {
	case 0:
		a, err := p.g.Advertise("n", "std_msgs/msg/Int32", TopicOptions{})
		p.check(err)
		p.pubs = append(p.pubs, a)
	case 1:
		s, err := p.g.Subscribe("n", SubscribeOptions{Queue: 1 + pick%4, Type: "std_msgs/msg/Int32"})
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
	default:
		p.playAction(op%18, pick)
	}
}

func (p *player) playAction(op byte, pick int) {
	switch op {
	case 7:
		if p.server == nil {
			s, err := p.g.Act("act", "text_msgs/action/TextAction", GoalHandler{
				Goal:   func(h *GoalHandle) { p.handles = append(p.handles, h) },
				Cancel: func(h *GoalHandle) {},
			}, ActionOptions{MaxGoals: 5})
			p.check(err)
			p.server = s
		}
	case 8, 9, 10:
		p.sent++
		c, err := p.g.SendGoal("act", &msgs.TextActionGoal{}, GoalOptions{ID: action.ID(fmt.Sprint(p.sent - pick%2)), Queue: 1})
		if err == nil {
			p.clients = append(p.clients, c)
		}
	case 11:
		_, _ = p.g.Cancel("act", action.ID(fmt.Sprint(pick)), 0)
	case 12:
		_, _ = p.g.Cancel("act", "", 0)
	case 17:
		p.clock.advance(minKeepResults)
		if p.server != nil {
			p.server.beat()
		}
	default:
		if len(p.handles) == 0 {
			return
		}
		h := p.handles[pick%len(p.handles)]
		switch op {
		case 13:
			h.Accept()
		case 14:
			h.Feedback(&msgs.TextActionFeedback{})
		case 15:
			h.Succeed(nil, "")
		case 16:
			_ = h.Reject(action.Fault, nil, "") || h.Withdraw(action.Replaced, nil, "")
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
	if p.server != nil {
		p.server.Close()
	}
	for _, c := range p.clients {
		last := action.Pending
		for {
			u, ok := c.Poll()
			if !ok {
				break
			}
			if last.Terminal() {
				p.t.Errorf("goal %s: news after its end", c.ID())
			}
			if u.Feedback == nil {
				last = u.State
			}
			if u.Result != nil {
				p.ends[c]++
			}
		}
		if p.ends[c] != 1 {
			p.t.Errorf("goal %s ended %d times", c.ID(), p.ends[c])
		}
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

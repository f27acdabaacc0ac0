package graph

import (
	"fmt"
	"testing"

	"poise/action"
	"poise/msgs"
)

// FuzzGoals lets the bytes of an input use an action in any order, and holds what must
// be true whatever happens: every goal that was taken ends once, and of an action that
// has no server nothing is left in the graph.
func FuzzGoals(f *testing.F) {
	f.Add([]byte{0, 1, 1, 2, 6, 7, 8, 9, 10, 1, 4})
	f.Add([]byte{0, 12, 1, 17, 28, 4, 6, 7, 39, 5, 8, 9, 10, 0})
	f.Fuzz(func(t *testing.T, ops []byte) {
		g, clock := clockGraph(t)
		p := &goalPlayer{t: t, g: g, clock: clock, ends: map[*GoalClient]int{}}
		for _, op := range ops[:min(len(ops), 400)] {
			p.play(op)
		}
		p.finish()
	})
}

type goalPlayer struct {
	t       *testing.T
	g       *Graph
	clock   *testClock
	server  *ActionServer
	handles []*GoalHandle
	clients []*GoalClient
	ends    map[*GoalClient]int
	sent    int
}

// play does one thing, on the goal that the high digits choose.
func (p *goalPlayer) play(op byte) {
	pick := int(op / 11)
	switch op %= 11; op {
	case 0:
		if p.server == nil {
			s, err := p.g.ServeAction("act", "text_msgs/action/TextAction", ActionHandler{
				Goal:   func(h *GoalHandle) { p.handles = append(p.handles, h) },
				Cancel: func(h *GoalHandle) {},
			}, ActionOptions{MaxGoals: 5})
			p.check(err)
			p.server = s
		}
	case 1, 2, 3:
		p.sent++
		c, err := p.g.SendGoal("act", &msgs.TextActionGoal{}, GoalOptions{ID: action.ID(fmt.Sprint(p.sent - pick%2)), Queue: 1})
		if err == nil {
			p.clients = append(p.clients, c)
		}
	case 4:
		_, _ = p.g.CancelGoals("act", "", action.ID(fmt.Sprint(pick)), 0)
	case 5:
		_, _ = p.g.CancelGoals("act", "", "", 0)
	case 10:
		p.clock.advance(keepResults)
		if p.server != nil {
			p.server.beat()
		}
	default:
		if len(p.handles) == 0 {
			return
		}
		h := p.handles[pick%len(p.handles)]
		switch op {
		case 6:
			h.Accept()
		case 7:
			h.Feedback(&msgs.TextActionFeedback{})
		case 8:
			h.Succeed(nil, "")
		case 9:
			_ = h.Reject(action.Fault, nil, "") || h.Withdraw(action.Replaced, nil, "")
		}
	}
}

func (p *goalPlayer) check(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *goalPlayer) finish() {
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
	if left := p.g.Actions(); len(left) > 0 {
		p.t.Errorf("actions are left: %+v", left)
	}
}

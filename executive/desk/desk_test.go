package desk

import (
	"math/rand/v2"
	"testing"

	"poise/executive/explain"
	"poise/loop"
	"poise/servo"
)

// ring is a cycle's inbox with little room.
type ring struct {
	room  int
	taken []loop.Order
}

func (r *ring) send(o loop.Order) bool {
	if len(r.taken) >= r.room {
		return false
	}
	r.taken = append(r.taken, o)
	return true
}

func late(*Command, int64) explain.Explanation { return explain.Because("late", "late") }

// TestOrdersKeepTheirOrder fills the ring: what must not get lost waits, in order,
// and what can be refused is.
func TestOrdersKeepTheirOrder(t *testing.T) {
	r := &ring{room: 2}
	d := New(r.send, func(*Command, Outcome) {})
	for k := range 5 {
		d.Order(loop.Order{Goal: uint64(k)})
	}
	if d.Waiting() != 3 || d.OrderNow(loop.Order{Goal: 99}) {
		t.Errorf("%d wait", d.Waiting())
	}
	r.room = 10
	d.Flush()
	if !d.OrderNow(loop.Order{Goal: 5}) {
		t.Error("there is room")
	}
	for k, o := range r.taken {
		if o.Goal != uint64(k) {
			t.Errorf("%d is order %d", o.Goal, k)
		}
	}
}

// TestCommandsAreAnsweredOnce goes through all ways a command can end.
func TestCommandsAreAnsweredOnce(t *testing.T) {
	r := &ring{room: 100}
	ends := map[*Command]int{}
	d := New(r.send, func(c *Command, _ Outcome) { ends[c]++ })
	d.Above(1000)
	plain, refusedOne, slow := &Command{}, &Command{}, &Command{}
	state := &Command{Settled: func(s *loop.Snapshot) (Outcome, bool) { return Outcome{Value: 7}, s.Stopped }}
	report := &Command{Told: func(r *loop.Report) (Outcome, bool) { return Outcome{}, r.Kind == loop.Stopped }}
	all := []*Command{plain, refusedOne, slow, state, report}
	for _, c := range all {
		d.Start(c, 0, loop.Order{Kind: loop.Reset})
		if c.Number <= 1000 {
			t.Errorf("number %d", c.Number)
		}
	}
	d.Refuse(refusedOne.Number, explain.Because("no", "no"))
	for _, c := range []*Command{plain, refusedOne, state} {
		d.Take(&loop.Report{Kind: loop.Echoed, Goal: c.Number, Tick: servo.Tick{N: 10}})
	}
	d.Settle(&loop.Snapshot{Tick: servo.Tick{N: 9}, Stopped: true}, 1, 5, late)
	if _, over := state.Answer.Outcome(); over {
		t.Error("settled by a state from before its echo")
	}
	d.Settle(&loop.Snapshot{Tick: servo.Tick{N: 10}, Stopped: true}, 2, 5, late)
	d.Take(&loop.Report{Kind: loop.Stopped})
	d.Settle(nil, 6, 5, late)
	for i, want := range []string{"ok", "no", "late", "ok", "ok"} {
		if o, over := all[i].Answer.Outcome(); !over || o.Text() != want || ends[all[i]] != 1 {
			t.Errorf("command %d: %v %q, ended %d times", i, over, o.Text(), ends[all[i]])
		}
	}
	if o, _ := state.Answer.Outcome(); o.Value != 7 || d.Open() != 0 {
		t.Errorf("%+v, %d open", o, d.Open())
	}
	last := &Command{}
	d.Start(last, 6)
	d.End(explain.Because("closed", "closed"))
	if o, over := last.Answer.Outcome(); !over || o.OK() || last.Answer.Resolve(Outcome{}) {
		t.Error("the end answers everything, once")
	}
}

// TestRandomCommands lets commands and reports come in any order: every command
// ends exactly once.
func TestRandomCommands(t *testing.T) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, 1))
	r := &ring{}
	ends, started := 0, 0
	d := New(r.send, func(*Command, Outcome) { ends++ })
	var open []*Command
	for now := range int64(20000) {
		r.room = rng.IntN(5)
		r.taken = nil
		d.Flush()
		for _, o := range r.taken {
			switch rng.IntN(3) {
			case 0:
				d.Refuse(o.Goal, explain.Because("no", "no"))
			case 1:
				d.Take(&loop.Report{Kind: loop.Echoed, Goal: o.Goal, Tick: servo.Tick{N: uint64(now)}})
			}
		}
		if rng.IntN(4) == 0 {
			c := &Command{}
			if rng.IntN(2) == 0 {
				c.Told = func(r *loop.Report) (Outcome, bool) { return Outcome{}, r.Kind == loop.Placed && r.Goal == c.Number }
			}
			d.Start(c, now, loop.Order{Kind: loop.Pause})
			open = append(open, c)
			started++
		}
		d.Settle(&loop.Snapshot{Tick: servo.Tick{N: uint64(now)}}, now, 50, late)
	}
	d.Settle(nil, 1<<40, 50, late)
	if ends != started || d.Open() != 0 {
		t.Errorf("seed %d: %d started, %d ended", seed, started, ends)
	}
	for _, c := range open {
		if _, over := c.Answer.Outcome(); !over {
			t.Fatalf("seed %d: a command without an answer", seed)
		}
	}
}

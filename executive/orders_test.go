package executive

import (
	"math/rand/v2"
	"testing"

	"poise/loop"
	"poise/problem"
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

func late(*command, int64) Explanation { return *problem.New("late", "late") }

// TestOrdersKeepTheirOrder fills the ring: what must not get lost waits, in order,
// and what can be refused is.
func TestOrdersKeepTheirOrder(t *testing.T) {
	r := &ring{room: 2}
	d := newOrders(r.send, func(*command, Outcome) {})
	for k := range 5 {
		d.send(loop.Order{Goal: uint64(k)})
	}
	if len(d.waiting) != 3 || d.trySend(loop.Order{Goal: 99}) {
		t.Errorf("%d wait", len(d.waiting))
	}
	r.room = 10
	d.flush()
	if !d.trySend(loop.Order{Goal: 5}) {
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
	ends := map[*command]int{}
	d := newOrders(r.send, func(c *command, _ Outcome) { ends[c]++ })
	d.above(1000)
	plain, refusedOne, slow := &command{}, &command{}, &command{}
	state := &command{settled: func(s *loop.Snapshot) (Outcome, bool) { return Outcome{Value: 7}, s.Stopped }}
	report := &command{told: func(r *loop.Report) (Outcome, bool) { return Outcome{}, r.Kind == loop.Stopped }}
	all := []*command{plain, refusedOne, slow, state, report}
	for _, c := range all {
		d.start(c, 0, loop.Order{Kind: loop.Reset})
		if c.number <= 1000 {
			t.Errorf("number %d", c.number)
		}
	}
	d.refuse(refusedOne.number, *problem.New("no", "no"))
	for _, c := range []*command{plain, refusedOne, state} {
		d.take(&loop.Report{Kind: loop.Echoed, Goal: c.number, Tick: servo.Tick{N: 10}})
	}
	d.settle(&loop.Snapshot{Tick: servo.Tick{N: 9}, Stopped: true}, 1, 5, late)
	if _, over := state.answer.Outcome(); over {
		t.Error("settled by a state from before its echo")
	}
	d.settle(&loop.Snapshot{Tick: servo.Tick{N: 10}, Stopped: true}, 2, 5, late)
	d.take(&loop.Report{Kind: loop.Stopped})
	d.settle(nil, 6, 5, late)
	for i, want := range []string{"ok", "no", "late", "ok", "ok"} {
		if o, over := all[i].answer.Outcome(); !over || o.Text() != want || ends[all[i]] != 1 {
			t.Errorf("command %d: %v %q, ended %d times", i, over, o.Text(), ends[all[i]])
		}
	}
	if o, _ := state.answer.Outcome(); o.Value != 7 || len(d.commands) != 0 {
		t.Errorf("%+v, %d open", o, len(d.commands))
	}
	last := &command{}
	d.start(last, 6)
	d.end(*problem.New("closed", "closed"))
	if o, over := last.answer.Outcome(); !over || o.OK() || last.answer.resolve(Outcome{}) {
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
	d := newOrders(r.send, func(*command, Outcome) { ends++ })
	var open []*command
	for now := range int64(20000) {
		r.room = rng.IntN(5)
		r.taken = nil
		d.flush()
		for _, o := range r.taken {
			switch rng.IntN(3) {
			case 0:
				d.refuse(o.Goal, *problem.New("no", "no"))
			case 1:
				d.take(&loop.Report{Kind: loop.Echoed, Goal: o.Goal, Tick: servo.Tick{N: uint64(now)}})
			}
		}
		if rng.IntN(4) == 0 {
			c := &command{}
			if rng.IntN(2) == 0 {
				c.told = func(r *loop.Report) (Outcome, bool) { return Outcome{}, r.Kind == loop.Placed && r.Goal == c.number }
			}
			d.start(c, now, loop.Order{Kind: loop.Pause})
			open = append(open, c)
			started++
		}
		d.settle(&loop.Snapshot{Tick: servo.Tick{N: uint64(now)}}, now, 50, late)
	}
	d.settle(nil, 1<<40, 50, late)
	if ends != started || len(d.commands) != 0 {
		t.Errorf("seed %d: %d started, %d ended", seed, started, ends)
	}
	for _, c := range open {
		if _, over := c.answer.Outcome(); !over {
			t.Fatalf("seed %d: a command without an answer", seed)
		}
	}
}

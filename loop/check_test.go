package loop

import (
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/servo"
)

// TestCheckGoalTakesNothing asks whether goals could start: the answers are those
// that starting them would have, and nothing changes.
func TestCheckGoalTakesNothing(t *testing.T) {
	r := newRig(t, parts{robot: "pony", controllers: 3})
	head := r.limb("head")
	check := func(controller int, p control.Program) control.Reason {
		t.Helper()
		r.l.Send(Order{Kind: CheckGoal, Controller: arbiter.ClientID(controller), Goal: 77, Program: p})
		r.run(1)
		told := r.told(GoalChecked)
		if len(told) == 0 || told[len(told)-1].To != 0 || int(told[0].To) != len(told)-1 || told[0].Goal != 77 || told[0].Controller != arbiter.ClientID(controller) {
			t.Fatalf("told %+v", told)
		}
		return told[0].Reason
	}
	if why := check(0, r.program(head, 0.05, 1)); why.Code != control.OK {
		t.Errorf("free: %+v", why)
	}
	r.must(1, 5, r.program(head, 0.05, 1))
	before := r.l.arb.Hash()
	if why := check(2, r.program(head, 0.05, 1)); why.Code != control.OK {
		t.Errorf("a controller of higher priority: %+v", why)
	}
	if why := check(0, r.program(head, 0.05, 1)); why.Code != control.NotGranted || why.Who != 1 {
		t.Errorf("a controller of lower priority: %+v", why)
	}
	if why := check(2, r.program(head, 10, 100)); why.Code != control.BeyondLimit {
		t.Errorf("too fast: %+v", why)
	}
	r.swings[2].refuse = true
	if why := check(2, r.program(head, 0.05, 1)); why.Code != control.StartTooFar {
		t.Errorf("refused by the controller: %+v", why)
	}
	r.l.Send(Order{Kind: Halt, Controller: 2})
	if why := check(2, r.program(head, 0.05, 1)); why.Code != control.NotRunning {
		t.Errorf("halted: %+v", why)
	}
	if after := r.l.arb.Hash(); after != before || r.l.seats[1].goal != 5 || r.l.seats[1].program == nil {
		t.Errorf("something was taken: %x → %x", before, after)
	}
}

// TestACheckTellsAllReasons: a goal of a halted controller that is too fast, for limbs that two
// others of a higher rank have, hears all of it at once.
func TestACheckTellsAllReasons(t *testing.T) {
	r := newRig(t, parts{robot: "pony", controllers: 3})
	head, tail := r.limb("head"), r.limb("tail")
	r.must(1, 5, r.program(head, 0.05, 1))
	r.must(2, 6, r.program(tail, 0.05, 1))
	r.l.Send(Order{Kind: Halt, Controller: 0})
	r.run(1)
	_ = r.told(GoalChecked)
	r.l.Send(Order{Kind: CheckGoal, Controller: 0, Goal: 77, Program: r.program(head.Union(tail), 10, 100)})
	r.run(1)
	codes := map[control.Code]int{}
	for _, x := range r.told(GoalChecked) {
		codes[x.Reason.Code]++
	}
	if codes[control.NotRunning] != 1 || codes[control.BeyondLimit] != 1 || codes[control.NotGranted] != 2 {
		t.Errorf("told %v", codes)
	}
	program := r.program(head, 10, 100)
	if n := testing.AllocsPerRun(100, func() {
		r.l.Send(Order{Kind: CheckGoal, Controller: 0, Goal: 78, Program: program})
		r.l.Step(servo.Tick{N: r.n, Time: int64(r.n) * 1e6, Dt: period})
		r.n++
		for ok := true; ok; {
			_, ok = r.l.Receive()
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestSmallerClaimGivesTheRestBack replaces a goal by one that needs less: what it
// does not ask for any more goes to the one who waits for it, in the same tick.
func TestSmallerClaimGivesTheRestBack(t *testing.T) {
	r := newRig(t, parts{robot: "pony", controllers: 2})
	head, tail := r.limb("head"), r.limb("tail")
	waiting := r.program(tail, 0.02, 1)
	waiting.Wants = head
	r.must(0, 1, waiting)
	r.must(1, 2, r.program(head.Union(tail), 0.02, 1))
	if r.l.seats[0].program != nil {
		t.Fatal("a controller goes on without what it needs")
	}
	waiting = r.program(r.limb("ears"), 0.02, 1)
	waiting.Wants = head
	r.must(0, 3, waiting)
	r.must(1, 4, r.program(tail, 0.02, 1))
	if own := r.l.seats[1].owned(); own != tail {
		t.Errorf("the smaller goal still owns %v", own)
	}
	if own := r.l.seats[0].owned(); !own.Contains(head) {
		t.Errorf("the head did not go back: %v", own)
	}
}

package action

import (
	"fmt"
	"strings"
	"testing"

	"poise/robot"
)

// player is a role that writes down what it was told; stage a seat that grants
// when the test says so.
type player struct {
	log       []string
	unmet     string // Check refuses with this
	unstarted string // Start refuses with this
}

func (r *player) Check(goal int) (need, want robot.Set, why string, ok bool) {
	return robot.Leaf(robot.LeafID(goal)), robot.Leaf(99), r.unmet, r.unmet == ""
}

func (r *player) Start(goal int) (string, bool) {
	if r.unstarted == "" {
		r.log = append(r.log, fmt.Sprint("start ", goal))
	}
	return r.unstarted, r.unstarted == ""
}

func (r *player) Stop(c Cause) { r.log = append(r.log, "stop "+c.String()) }

type seat struct {
	held       robot.Set
	log        []string
	speechless bool
}

func (s *seat) Holds(need robot.Set) bool { return s.held.Contains(need) && !s.held.Empty() }
func (s *seat) Request(need, want robot.Set) bool {
	s.log = append(s.log, "request")
	return !s.speechless
}
func (s *seat) Withdraw() { s.log = append(s.log, "withdraw") }
func (s *seat) Release()  { s.log = append(s.log, "release"); s.held = robot.Set{} }

type show struct {
	*Performer[int, string, string, string]
	role *player
	seat *seat
	r    *recorder
}

func newShow(t testing.TB) show {
	w := show{role: &player{}, seat: &seat{}, r: newRecorder(t)}
	w.Performer = NewPerformer[int, string, string, string](w.role, w.seat,
		func(c Cause, why string) string { return c.String() + "|" + why }, w.r)
	w.Performer.Start()
	return w
}

// grant gives the performer a set, as the arbiter does: offer, then assignment.
func (w show) grant(leaves ...robot.LeafID) bool {
	var s robot.Set
	for _, l := range leaves {
		s = s.With(l)
	}
	if !w.CanStart(s) {
		return false
	}
	w.seat.held = s
	return w.ResourcesChanged(s)
}

func (w show) told(t *testing.T, role, seat string) {
	t.Helper()
	if got := strings.Join(w.role.log, ", "); got != role {
		t.Errorf("role was told %q, want %q", got, role)
	}
	if got := strings.Join(w.seat.log, ", "); got != seat {
		t.Errorf("seat was told %q, want %q", got, seat)
	}
}

func TestGoalStaysPendingUntilItsNeedsAreGranted(t *testing.T) {
	w := newShow(t)
	w.Submit("a", 1, 5)
	w.r.expect("a pending")
	if w.CanStart(robot.Leaf(6)) {
		t.Error("an offer without the needed leaf is enough")
	}
	if !w.grant(5) {
		t.Error("granted, and not going")
	}
	w.r.expect("a active")
	w.told(t, "start 5", "request")
	w.Done("there")
	w.r.expect("a succeeded")
	w.told(t, "start 5", "request, release")
	if w.r.result["a"] != "finished|there" {
		t.Errorf("result %q", w.r.result["a"])
	}
}

func TestConditionsUnmetRejectsAndTheActiveGoalGoesOn(t *testing.T) {
	w := newShow(t)
	w.Submit("a", 1, 5)
	w.grant(5)
	w.role.unmet = "leg in the air"
	w.Submit("b", 2, 6)
	w.r.expect("a pending", "a active", "b pending", "b rejected")
	if !w.IsActive() || w.r.cause["b"] != ConditionsUnmet || w.r.result["b"] != "conditions unmet|leg in the air" {
		t.Errorf("b: %v %q; a active: %v", w.r.cause["b"], w.r.result["b"], w.IsActive())
	}
	w.told(t, "start 5", "request")
}

func TestNotGrantedRejectsAndTheActiveGoalGoesOn(t *testing.T) {
	w := newShow(t)
	w.Submit("a", 1, 5)
	w.grant(5)
	w.Submit("b", 2, 6)
	w.Denied("held by walk")
	w.r.expect("a pending", "a active", "b pending", "b rejected")
	if !w.IsActive() || w.r.cause["b"] != NotGranted || w.r.result["b"] != "not granted|held by walk" {
		t.Errorf("b: %v %q", w.r.cause["b"], w.r.result["b"])
	}
}

func TestNoSeatAtAllIsNotGranted(t *testing.T) {
	w := newShow(t)
	w.seat.speechless = true
	w.Submit("a", 1, 5)
	w.r.expect("a pending", "a rejected")
	if w.r.cause["a"] != NotGranted {
		t.Errorf("a ended by %v", w.r.cause["a"])
	}
}

func TestHeldResourcesSwapAtOnceWithoutARound(t *testing.T) {
	w := newShow(t)
	w.Submit("a", 1, 5)
	w.grant(5)
	w.Submit("b", 2, 5)
	w.r.expect("a pending", "a active", "b pending", "a preempted", "b active")
	w.told(t, "start 5, start 5", "request") // one request, for a
	if w.r.cause["a"] != Replaced || w.r.result["a"] != "replaced|" {
		t.Errorf("a ended by %v with %q", w.r.cause["a"], w.r.result["a"])
	}
}

func TestReplacedAfterARoundIsPreempted(t *testing.T) {
	w := newShow(t)
	w.Submit("a", 1, 5)
	w.grant(5)
	w.Submit("b", 2, 6)
	w.grant(6)
	w.r.expect("a pending", "a active", "b pending", "a preempted", "b active")
}

func TestStartThatFailsLeavesTheActiveGoal(t *testing.T) {
	w := newShow(t)
	w.Submit("a", 1, 5)
	w.grant(5)
	w.role.unstarted = "spline too steep"
	w.Submit("b", 2, 5)
	w.r.expect("a pending", "a active", "b pending", "b rejected")
	if w.r.result["b"] != "conditions unmet|spline too steep" || !w.IsActive() {
		t.Errorf("b %q, a active %v", w.r.result["b"], w.IsActive())
	}
}

func TestConditionsAreAskedAgainWhenTheOfferComes(t *testing.T) {
	w := newShow(t)
	w.Submit("a", 1, 5)
	w.role.unmet = "changed meanwhile"
	if w.CanStart(robot.Leaf(5)) {
		t.Error("the offer was taken though the conditions are gone")
	}
}

func TestLosingANeededResourceAborts(t *testing.T) {
	w := newShow(t)
	w.Submit("a", 1, 5)
	w.grant(5, 99)
	if !w.ResourcesChanged(robot.Leaf(5)) {
		t.Error("quit for a wanted resource")
	}
	if w.ResourcesChanged(robot.Leaf(99)) {
		t.Error("goes on without the needed one")
	}
	w.r.expect("a pending", "a active", "a aborted")
	w.told(t, "start 5, stop resource lost", "request")
	if w.r.cause["a"] != ResourceLost {
		t.Errorf("a ended by %v", w.r.cause["a"])
	}
}

func TestCancelWindsDownFirst(t *testing.T) {
	w := newShow(t)
	w.Submit("a", 1, 5)
	w.grant(5)
	w.Cancel("a", 0)
	w.r.expect("a pending", "a active", "a preempting")
	w.told(t, "start 5, stop client cancel", "request")
	w.WoundDown("rest at 0.4")
	w.r.expect("a preempted")
	w.told(t, "start 5, stop client cancel", "request, release")
	if w.r.cause["a"] != ClientCancel || w.r.result["a"] != "client cancel|rest at 0.4" {
		t.Errorf("a: %v %q", w.r.cause["a"], w.r.result["a"])
	}
	if w.WoundDown("again") {
		t.Error("a goal that is over wound down")
	}
}

func TestCancelOfAWaitingGoalWithdrawsItsRequest(t *testing.T) {
	w := newShow(t)
	w.Submit("a", 1, 5)
	w.Cancel("a", 0)
	w.r.expect("a pending", "a recalling", "a recalled")
	w.told(t, "", "request, withdraw")
	if w.grant(5) {
		t.Error("an answer that came late started a goal that is gone")
	}
}

func TestFaultAborts(t *testing.T) {
	w := newShow(t)
	w.Submit("a", 1, 5)
	w.grant(5)
	w.Fail(Fault, "servo 11")
	w.r.expect("a pending", "a active", "a aborted")
	if w.r.result["a"] != "fault|servo 11" {
		t.Errorf("result %q", w.r.result["a"])
	}
}

func TestShutEndsAllAndGivesBack(t *testing.T) {
	w := newShow(t)
	w.Submit("a", 1, 5)
	w.grant(5)
	w.Submit("b", 2, 6)
	if !w.Shut("bye") || w.Shut("twice") {
		t.Error("Shut does not say what it did")
	}
	w.Submit("c", 3, 5)
	w.r.expect("a pending", "a active", "b pending", "a aborted", "b rejected", "c pending", "c rejected")
	w.told(t, "start 5, stop server stopped", "request, request, withdraw, release")
}

// FuzzPerformer plays random lives: whatever happens, changes are legal (the
// recorder looks) and at rest nothing is held.
func FuzzPerformer(f *testing.F) {
	f.Add([]byte{0, 3, 0, 3, 6, 5})
	f.Add([]byte{0, 1, 3, 8, 7, 0, 4, 2, 2, 9})
	f.Fuzz(func(t *testing.T, life []byte) {
		w := newShow(t)
		w.r.quiet = true
		n := 0
		for _, b := range life {
			leaf := robot.LeafID(b >> 4)
			w.role.unmet, w.role.unstarted = "", ""
			switch b % 10 {
			case 0, 1:
				n++
				w.Submit(ID(fmt.Sprint(n)), Time(n), int(leaf))
			case 2:
				w.role.unmet = "no"
				n++
				w.Submit(ID(fmt.Sprint(n)), Time(n), int(leaf))
			case 3:
				w.grant(leaf)
			case 4:
				w.role.unstarted = "no"
				w.grant(leaf)
			case 5:
				w.Denied("held")
			case 6:
				w.Cancel("", 0)
			case 7:
				w.WoundDown("")
			case 8:
				w.ResourcesChanged(robot.Leaf(leaf))
			case 9:
				w.Done("")
			}
			if w.IsActive() && w.need.Empty() && b>>4 != 0 {
				t.Fatal("a goal is active and needs nothing")
			}
		}
		w.Shut("end")
		for id, s := range w.r.state {
			if !s.Terminal() {
				t.Fatalf("goal %s is %v after the end", id, s)
			}
		}
		if !w.seat.held.Empty() {
			t.Fatal("resources are held after the end")
		}
	})
}

func TestNothingIsHeldWhenTheLastGoalIsOver(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(w show)
		seat string
	}{
		{"denied", func(w show) { w.Denied("held") }, "request, request, release"},
		{"cancelled", func(w show) { w.Cancel("b", 0) }, "request, request, withdraw, release"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newShow(t)
			w.r.quiet = true
			w.Submit("a", 1, 5)
			w.grant(5)
			w.Submit("b", 2, 6) // other resources: a round is under way
			must(t, "Done", w.Done("there"))
			w.told(t, "start 5", "request, request") // b may still come: nothing goes back yet
			c.end(w)
			w.told(t, "start 5", c.seat)
			if w.IsActive() || w.IsPending() || !w.seat.held.Empty() {
				t.Errorf("active %v, pending %v, held %v", w.IsActive(), w.IsPending(), w.seat.held)
			}
		})
	}
}

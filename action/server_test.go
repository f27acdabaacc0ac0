package action

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// recorder is an Observer that checks every change against the table of legal
// ones and keeps what it saw.
type recorder struct {
	t        testing.TB
	state    map[ID]State
	cause    map[ID]Cause
	result   map[ID]string
	lines    []string
	feedback []string
	quiet    bool // keep no lines
}

func newRecorder(t testing.TB) *recorder {
	return &recorder{t: t, state: map[ID]State{}, cause: map[ID]Cause{}, result: map[ID]string{}}
}

func (r *recorder) Changed(_ *Handle[int, string, string], c Change[string]) {
	if old, known := r.state[c.ID]; known && old.Terminal() && c.From == Pending && c.To == Pending {
		delete(r.state, c.ID) // the name is used again
	}
	old, known := r.state[c.ID]
	switch {
	case !known && (c.From != Pending || c.To != Pending):
		r.t.Errorf("goal %s began with %v → %v", c.ID, c.From, c.To)
	case known && old != c.From:
		r.t.Errorf("goal %s was %v, its change says %v", c.ID, old, c.From)
	case known:
		ok := false
		for _, to := range legal[c.From] {
			ok = ok || to == c.To
		}
		if !ok {
			r.t.Errorf("goal %s: illegal %v → %v", c.ID, c.From, c.To)
		}
	}
	r.state[c.ID], r.cause[c.ID], r.result[c.ID] = c.To, c.Cause, c.Result
	if !r.quiet {
		r.lines = append(r.lines, fmt.Sprintf("%s %v", c.ID, c.To))
	}
}

func (r *recorder) Feedback(h *Handle[int, string, string], f string) {
	id := h.ID()
	if !r.state[id].Running() {
		r.t.Errorf("feedback of goal %s, which is %v", id, r.state[id])
	}
	r.feedback = append(r.feedback, string(id)+" "+f)
}

// expect compares the whole story of all goals.
func (r *recorder) expect(want ...string) {
	r.t.Helper()
	if got := strings.Join(r.lines, ", "); got != strings.Join(want, ", ") {
		r.t.Errorf("story:\n got %s\nwant %s", got, strings.Join(want, ", "))
	}
	r.lines = nil
}

// server returns a started Single whose goals are numbers.
func server(t testing.TB, hooks Hooks[int]) (*Single[int, string, string], *recorder) {
	r := newRecorder(t)
	s := NewSingle(hooks, Observer[int, string, string](r))
	s.Start()
	return s, r
}

func must(t testing.TB, what string, acted bool) {
	t.Helper()
	if !acted {
		t.Errorf("%s did not act", what)
	}
}

func mustNot(t testing.TB, what string, acted bool) {
	t.Helper()
	if acted {
		t.Errorf("%s acted, and there was nothing to act on", what)
	}
}

func TestOperationsWithoutAGoalDoNothing(t *testing.T) {
	s, r := server(t, Hooks[int]{})
	mustNot(t, "AcceptPending", s.AcceptPending("", ""))
	mustNot(t, "RejectPending", s.RejectPending(ConditionsUnmet, "", ""))
	mustNot(t, "AbortActive", s.AbortActive(Fault, "", ""))
	mustNot(t, "SucceedActive", s.SucceedActive("", ""))
	mustNot(t, "CancelActive", s.CancelActive("", ""))
	mustNot(t, "Feedback", s.Feedback("x"))
	mustNot(t, "Start of a started server", s.Start())
	if n := s.Cancel("", 0); n != 0 {
		t.Errorf("Cancel reached %d goals of none", n)
	}
	if _, ok := s.ActiveGoal(); ok || s.IsActive() || s.IsPending() || s.IsPreempting() {
		t.Error("an empty server claims to have a goal")
	}
	r.expect()
}

func TestAcceptPreemptsTheActiveGoalWithItsResult(t *testing.T) {
	s, r := server(t, Hooks[int]{})
	s.Submit("a", 1, 10)
	must(t, "AcceptPending", s.AcceptPending("", ""))
	s.Submit("b", 2, 20)
	if g, ok := s.ActiveGoal(); !ok || g != 10 {
		t.Errorf("ActiveGoal = %v, %v while b waits", g, ok)
	}
	if g, ok := s.PendingGoal(); !ok || g != 20 {
		t.Errorf("PendingGoal = %v, %v", g, ok)
	}
	must(t, "AcceptPending", s.AcceptPending("half way", ""))
	r.expect("a pending", "a active", "b pending", "a preempted", "b active")
	if r.result["a"] != "half way" || r.cause["a"] != Replaced {
		t.Errorf("a ended with %q by %v", r.result["a"], r.cause["a"])
	}
}

func TestANewerPendingGoalReplacesTheOlder(t *testing.T) {
	dropped := 0
	s, r := server(t, Hooks[int]{DropPending: func() { dropped++ }})
	s.Submit("a", 1, 10)
	s.Submit("b", 2, 20)
	r.expect("a pending", "b pending", "a recalled")
	if g, ok := s.PendingGoal(); !ok || g != 20 || dropped != 1 || r.cause["a"] != Replaced {
		t.Errorf("pending %v %v, dropped %d, a ended by %v", g, ok, dropped, r.cause["a"])
	}
}

func TestRejectLeavesTheActiveGoalAlone(t *testing.T) {
	s, r := server(t, Hooks[int]{})
	s.Submit("a", 1, 10)
	s.AcceptPending("", "")
	s.Submit("b", 2, 20)
	must(t, "RejectPending", s.RejectPending(ConditionsUnmet, "too far", ""))
	if !s.IsActive() || s.IsPending() {
		t.Error("rejecting b disturbed a")
	}
	must(t, "SucceedActive", s.SucceedActive("done", ""))
	r.expect("a pending", "a active", "b pending", "b rejected", "a succeeded")
	if r.cause["b"] != ConditionsUnmet || r.result["b"] != "too far" || r.cause["a"] != Finished {
		t.Errorf("b: %v %q, a: %v", r.cause["b"], r.result["b"], r.cause["a"])
	}
}

func TestCancelOfTheActiveGoalGoesThroughTheHook(t *testing.T) {
	asked := 0
	s, r := server(t, Hooks[int]{CancelActive: func() { asked++ }})
	s.Submit("a", 1, 10)
	s.AcceptPending("", "")
	if n := s.Cancel("a", 0); n != 1 || asked != 1 || !s.IsPreempting() {
		t.Errorf("Cancel reached %d, hook called %d times, preempting %v", n, asked, s.IsPreempting())
	}
	if n := s.Cancel("a", 0); n != 0 || asked != 1 {
		t.Errorf("a second cancel reached %d goals and called the hook %d times in all", n, asked)
	}
	must(t, "Feedback while it winds down", s.Feedback("slowing"))
	must(t, "CancelActive", s.CancelActive("stopped at 40 %", ""))
	r.expect("a pending", "a active", "a preempting", "a preempted")
	if r.cause["a"] != ClientCancel || r.result["a"] != "stopped at 40 %" {
		t.Errorf("a ended by %v with %q", r.cause["a"], r.result["a"])
	}
}

func TestCancelWithoutAHookEndsAtOnce(t *testing.T) {
	s, r := server(t, Hooks[int]{})
	s.Submit("a", 1, 10)
	s.AcceptPending("", "")
	s.Cancel("", 0)
	r.expect("a pending", "a active", "a preempting", "a preempted")
	if s.IsActive() {
		t.Error("a is over and still active")
	}
}

func TestCancelOfThePendingGoalRecallsIt(t *testing.T) {
	dropped := 0
	s, r := server(t, Hooks[int]{DropPending: func() { dropped++ }})
	s.Submit("a", 1, 10)
	s.Cancel("a", 0)
	r.expect("a pending", "a recalling", "a recalled")
	if dropped != 1 || s.IsPending() {
		t.Errorf("dropped %d times, pending %v", dropped, s.IsPending())
	}
}

func TestStoppedServerRefusesGoalsWithThatReason(t *testing.T) {
	s, r := server(t, Hooks[int]{NewGoal: func(g int) {
		if g == 30 {
			t.Error("a stopped server called the hook")
		}
	}})
	s.Submit("a", 1, 10)
	s.AcceptPending("", "")
	s.Submit("b", 2, 20)
	must(t, "Stop", s.Stop("shut down"))
	mustNot(t, "Stop of a stopped server", s.Stop(""))
	s.Submit("c", 3, 30)
	r.expect("a pending", "a active", "b pending", "a aborted", "b rejected", "c pending", "c rejected")
	for _, id := range []ID{"a", "b", "c"} {
		if r.cause[id] != ServerStopped {
			t.Errorf("%s ended by %v, want %v", id, r.cause[id], ServerStopped)
		}
	}
	must(t, "Start", s.Start())
}

func TestTheHookMayAcceptAtOnce(t *testing.T) {
	var s *Single[int, string, string]
	r := newRecorder(t)
	s = NewSingle(Hooks[int]{NewGoal: func(int) { s.AcceptPending("replaced", "") }}, Observer[int, string, string](r))
	s.Start()
	s.Submit("a", 1, 10)
	s.Submit("b", 2, 20)
	r.expect("a pending", "a active", "b pending", "a preempted", "b active")
}

// keeper is the user's side of a Many: it keeps handles and accepts what is odd.
type keeper struct {
	handles   []*Handle[int, string, string]
	cancelled []ID
}

func (k *keeper) Goal(h *Handle[int, string, string]) { k.handles = append(k.handles, h) }
func (k *keeper) Cancel(h *Handle[int, string, string]) {
	k.cancelled = append(k.cancelled, h.ID())
}

func many(t testing.TB) (*Many[int, string, string], *keeper, *recorder) {
	k, r := &keeper{}, newRecorder(t)
	m := NewMany[int, string, string](k, r)
	m.Start()
	return m, k, r
}

func TestManyGoalsRunSideBySide(t *testing.T) {
	m, k, r := many(t)
	for i, id := range []ID{"a", "b", "c"} {
		m.Submit(id, Time(i+1), i)
	}
	must(t, "accept a", k.handles[0].Accept())
	must(t, "accept b", k.handles[1].Accept())
	must(t, "reject c", k.handles[2].Reject(ConditionsUnmet, "", ""))
	must(t, "b succeeds", k.handles[1].Succeed("", ""))
	mustNot(t, "b succeeds again", k.handles[1].Succeed("", ""))
	mustNot(t, "c is accepted after its end", k.handles[2].Accept())
	must(t, "a aborts", k.handles[0].Abort(Fault, "", ""))
	mustNot(t, "feedback of a goal that is over", k.handles[0].Feedback("x"))
	r.expect("a pending", "b pending", "c pending", "a active", "b active", "c rejected", "b succeeded", "a aborted")
}

func TestCancelOneAllOrThoseBeforeATime(t *testing.T) {
	for _, tc := range []struct {
		name  string
		id    ID
		stamp Time
		want  string
	}{
		{"all", "", 0, "[a b c]"},
		{"one by id", "b", 0, "[b]"},
		{"those stamped no later", "", 20, "[a b]"},
		{"by id and by time", "c", 10, "[a c]"},
		{"unknown id", "z", 0, "[]"},
		{"before all", "", 5, "[]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, k, _ := many(t)
			m.Submit("a", 10, 0)
			m.Submit("b", 20, 0)
			m.Submit("c", 30, 0)
			n := m.Cancel(tc.id, tc.stamp)
			if got := fmt.Sprint(k.cancelled); got != tc.want || n != len(k.cancelled) {
				t.Errorf("cancelled %s (%d), want %s", got, n, tc.want)
			}
		})
	}
}

func TestACancelBeforeItsGoalIsRemembered(t *testing.T) {
	m, k, r := many(t)
	m.Cancel("late", 0)
	m.Submit("late", 7, 1)
	r.expect("late pending", "late recalling", "late recalled")
	if len(k.handles) != 0 {
		t.Error("the user was shown a goal that was cancelled before it came")
	}
	m.Forget(nil)
	m.Submit("late", 8, 1) // the name again: the cancel was for the first
	r.expect("late pending")
}

func TestACancelByTimeReachesGoalsOnTheirWay(t *testing.T) {
	m, _, r := many(t)
	m.Cancel("", 100)
	m.Submit("old", 99, 1)
	m.Submit("new", 101, 1)
	m.Submit("unstamped", 0, 1) // no stamp, no order: it lives
	r.expect("old pending", "old recalling", "old recalled", "new pending", "unstamped pending")
}

func TestEarlyCancelsAreBounded(t *testing.T) {
	m, _, _ := many(t)
	for i := range 10 * maxEarly {
		m.Cancel(ID(fmt.Sprint(i)), 0)
		m.Cancel(ID(fmt.Sprint(i)), 0)
	}
	if len(m.early) != maxEarly {
		t.Errorf("%d early cancels kept, want %d", len(m.early), maxEarly)
	}
}

func TestDuplicateIDIsRefusedAndHarmless(t *testing.T) {
	m, k, r := many(t)
	m.Submit("a", 1, 10)
	k.handles[0].Accept()
	_, err := m.Submit("a", 2, 20)
	var dup *DuplicateError
	if !errors.As(err, &dup) || dup.ID != "a" || dup.State != Active {
		t.Errorf("second a: %v", err)
	}
	if !strings.Contains(err.Error(), `"a"`) || !strings.Contains(err.Error(), "active") {
		t.Errorf("the refusal does not name goal and state: %v", err)
	}
	r.expect("a pending", "a active")
	if k.handles[0].Goal() != 10 || k.handles[0].Stamp() != 1 {
		t.Error("the first goal was disturbed")
	}
}

func TestEmptyIDGetsOneOfOurs(t *testing.T) {
	m, k, _ := many(t)
	a, _ := m.Submit("", 5, 1)
	b, _ := m.Submit("", 5, 2)
	if a.ID() == "" || b.ID() == "" || a.ID() == b.ID() {
		t.Errorf("ids %q and %q", a.ID(), b.ID())
	}
	taken := ID("goal-5-4")
	m.Submit(taken, 1, 3)
	m.Submit("", 5, 4)
	d, err := m.Submit("", 5, 5)
	if err != nil || d.ID() == taken || len(k.handles) != 5 {
		t.Errorf("a made id met one in use: %v, %v", d, err)
	}
}

func TestLoseEndsEverythingUnknown(t *testing.T) {
	m, k, r := many(t)
	m.Submit("a", 1, 1)
	m.Submit("b", 1, 1)
	k.handles[0].Accept()
	m.Lose()
	r.expect("a pending", "b pending", "a active", "a lost", "b lost")
}

func TestForgetKeepsWhatItIsToldTo(t *testing.T) {
	m, k, _ := many(t)
	for _, id := range []ID{"a", "b", "c"} {
		m.Submit(id, 1, 1)
	}
	k.handles[0].Reject(ConditionsUnmet, "", "")
	k.handles[1].Reject(ConditionsUnmet, "", "")
	m.Forget(func(h *Handle[int, string, string]) bool { return h.ID() == "b" })
	var left []ID
	for _, h := range m.Goals() {
		left = append(left, h.ID())
	}
	if fmt.Sprint(left) != "[b c]" {
		t.Errorf("left %v, want b (kept) and c (pending)", left)
	}
}

func TestSingleTellsTheNameAndKeepsTheHandle(t *testing.T) {
	s, r := server(t, Hooks[int]{})
	ours, err := s.Submit("", 5, 10)
	if err != nil || ours == "" {
		t.Fatalf("a goal without a name got %q, %v", ours, err)
	}
	must(t, "AcceptPending", s.AcceptPending("", ""))
	var twice *DuplicateError
	if again, err := s.Submit(ours, 6, 20); again != "" || !errors.As(err, &twice) || twice.State != Active {
		t.Errorf("the name again: %q, %v", again, err)
	}
	if id, err := s.Submit("b", 7, 30); id != "b" || err != nil {
		t.Errorf("b was named %q, %v", id, err)
	}
	if g, ok := s.ActiveGoal(); !ok || g != 10 {
		t.Errorf("ActiveGoal = %v, %v", g, ok)
	}
	r.expect(string(ours)+" pending", string(ours)+" active", "b pending")
}

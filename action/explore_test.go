package action

import (
	"fmt"
	"testing"
)

// move is one thing that a client or the user can do to a Single.
type move struct {
	name string
	// do acts and returns what the operation said; legal tells, from the slots
	// before the act, whether it should have acted.
	do    func(w *world) bool
	legal func(w *world) bool
}

// world is a Single under exploration with a model of its two slots that shares
// no code with it.
type world struct {
	s               *Single[int, string, string]
	r               *recorder
	next            int
	running         bool
	active, pending ID // "" if the model holds none there
	preempting      bool
	asked           int // calls of the cancel hook
}

func newWorld(t testing.TB) *world {
	w := &world{r: newRecorder(t)}
	w.r.quiet = true
	w.s = NewSingle(Hooks[int]{CancelActive: func() { w.asked++ }}, Observer[int, string, string](w.r))
	return w
}

// moves are written against the model; each updates it by the rules of the text.
var moves = []move{
	{"start", func(w *world) bool { a := w.s.Start(); w.running = true; return a }, func(w *world) bool { return !w.running }},
	{"stop", func(w *world) bool {
		a := w.s.Stop("stopped")
		w.running, w.active, w.pending, w.preempting = false, "", "", false
		return a
	}, func(w *world) bool { return w.running }},
	{"submit", func(w *world) bool {
		w.next++
		id := ID(fmt.Sprint(w.next))
		_, err := w.s.Submit(id, Time(w.next), w.next)
		if w.running {
			w.pending = id
		}
		return err == nil
	}, func(*world) bool { return true }},
	{"submit duplicate", func(w *world) bool {
		_, err := w.s.Submit(w.active, Time(w.next), 0)
		if w.active == "" && err == nil && w.running { // an empty name makes a new goal
			w.pending = w.s.pending.id
		}
		return err == nil
	}, func(w *world) bool { return w.active == "" }},
	{"accept", func(w *world) bool {
		a := w.s.AcceptPending("replaced", "")
		if w.pending != "" {
			w.active, w.pending, w.preempting = w.pending, "", false
		}
		return a
	}, func(w *world) bool { return w.pending != "" }},
	{"reject", func(w *world) bool { a := w.s.RejectPending(ConditionsUnmet, "no", ""); w.pending = ""; return a },
		func(w *world) bool { return w.pending != "" }},
	{"abort", func(w *world) bool { return w.over(w.s.AbortActive(Fault, "", "")) }, hasActive},
	{"succeed", func(w *world) bool { return w.over(w.s.SucceedActive("", "")) }, hasActive},
	{"cancelled", func(w *world) bool { return w.over(w.s.CancelActive("", "")) }, hasActive},
	{"client cancels all", func(w *world) bool { return w.cancelled(w.s.Cancel("", 0)) }, cancellable},
	{"client cancels active", func(w *world) bool {
		if w.active == "" {
			return false
		}
		n := w.s.Cancel(w.active, 0)
		w.preempting = true
		return n == 1
	}, func(w *world) bool { return w.active != "" && !w.preempting }},
	{"feedback", func(w *world) bool { w.r.feedback = nil; return w.s.Feedback("f") }, hasActive},
}

func hasActive(w *world) bool { return w.active != "" }

func cancellable(w *world) bool { return w.pending != "" || (w.active != "" && !w.preempting) }

func (w *world) over(acted bool) bool {
	w.active, w.preempting = "", false
	return acted
}

func (w *world) cancelled(n int) bool {
	w.pending = ""
	w.preempting = w.active != ""
	return n > 0
}

// check compares the server with the model and asks that every goal which is in
// no slot has found its end.
func (w *world) check() error {
	switch {
	case w.s.IsActive() != (w.active != ""):
		return fmt.Errorf("IsActive = %v, model %q", w.s.IsActive(), w.active)
	case w.s.IsPending() != (w.pending != ""):
		return fmt.Errorf("IsPending = %v, model %q", w.s.IsPending(), w.pending)
	case w.s.IsPreempting() != w.preempting:
		return fmt.Errorf("IsPreempting = %v, model %v", w.s.IsPreempting(), w.preempting)
	}
	for id, st := range w.r.state {
		slot := id == w.active || id == w.pending
		if slot == st.Terminal() {
			return fmt.Errorf("goal %s is %v; in a slot: %v", id, st, slot)
		}
		if id == w.active && !st.Running() || id == w.pending && !st.Waiting() {
			return fmt.Errorf("goal %s is %v in the wrong slot", id, st)
		}
	}
	return nil
}

// TestExploreAllShortLives runs every sequence of moves up to a length, the
// shipped code against the model: whether each operation acted, which slots are
// filled, that every change is legal and every goal ends exactly once.
func TestExploreAllShortLives(t *testing.T) {
	depth := 5
	if testing.Short() {
		depth = 4
	}
	states := map[string]bool{}
	sequences := 0
	var path []int
	var explore func(left int)
	explore = func(remaining int) {
		w := newWorld(t)
		for i, m := range path {
			want := moves[m].legal(w)
			got := moves[m].do(w)
			if i < len(path)-1 {
				continue // judged when it was the last of a shorter sequence
			}
			if got != want {
				t.Fatalf("%v: %s acted: %v, want %v", names(path), moves[m].name, got, want)
			}
			if err := w.check(); err != nil {
				t.Fatalf("%v: %v", names(path), err)
			}
		}
		sequences++
		states[fmt.Sprint(w.running, w.active != "", w.pending != "", w.preempting)] = true
		if remaining == 0 || t.Failed() {
			return
		}
		for m := range moves {
			path = append(path, m)
			explore(remaining - 1)
			path = path[:len(path)-1]
		}
	}
	explore(depth)
	t.Logf("%d sequences of up to %d moves, %d kinds of state", sequences, depth, len(states))
	if !testing.Short() && len(states) != 7 { // stopped; running with {no, active, preempting} × {pending or not}
		t.Errorf("%d kinds of state reached, want 7", len(states))
	}
}

func names(path []int) (out []string) {
	for _, m := range path {
		out = append(out, moves[m].name)
	}
	return out
}

// FuzzSingle plays long random lives of a server.
func FuzzSingle(f *testing.F) {
	f.Add([]byte{0, 2, 4, 2, 4, 9, 8})
	f.Add([]byte{2, 0, 2, 2, 5, 2, 4, 10, 11, 7, 1})
	f.Fuzz(func(t *testing.T, life []byte) {
		w := newWorld(t)
		for i, b := range life {
			m := moves[int(b)%len(moves)]
			want := m.legal(w)
			if got := m.do(w); got != want {
				t.Fatalf("move %d, %s, acted: %v, want %v", i, m.name, got, want)
			}
			if err := w.check(); err != nil {
				t.Fatalf("move %d, %s: %v", i, m.name, err)
			}
		}
	})
}

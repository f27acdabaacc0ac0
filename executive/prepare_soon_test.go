package executive

import (
	"testing"

	"poise/action"
)

// later collects the jobs of an executive, to be run when the test says.
type later struct{ jobs []func() }

func (l *later) add(job func()) { l.jobs = append(l.jobs, job) }

// run runs the oldest job.
func (l *later) run() {
	job := l.jobs[0]
	l.jobs = l.jobs[1:]
	job()
}

// lateRig is a rig whose goals are prepared when the test says.
func lateRig(t *testing.T) (*rig, *later) {
	l := &later{}
	return newRig(t, parts{change: func(c *Config) { c.Go = l.add }}), l
}

// submitFrom gives a goal of a sender to the executive.
func (r *rig) submitFrom(who string, g Goal) *goal {
	r.t.Helper()
	out := &goal{}
	id, err := r.e.Submit(who, "", 0, g, out.watch())
	if err != nil {
		r.t.Fatal(err)
	}
	out.id = id
	return out
}

// failing is a goal whose preparation panics.
type failing struct{}

func (failing) Action() string                       { return "failing" }
func (failing) prepare(*view) (*work, []Explanation) { panic("test") }

// TestSubmitDoesNotWaitForPreparation: a goal is pending until it is prepared, can be
// called off meanwhile, and no other goal waits for it.
func TestSubmitDoesNotWaitForPreparation(t *testing.T) {
	r, workers := lateRig(t)
	slow := r.submitFrom("slow", &Follow{Goal: r.nod("joint52", -0.1)})
	r.run(5)
	if slow.state() != action.Pending || len(r.e.State().Goals) != 1 {
		t.Fatalf("it is %v", slow.state())
	}
	quick := r.submitFrom("quick", &Follow{Goal: r.nod("joint52", -0.1)})
	if len(workers.jobs) != 2 {
		t.Fatalf("%d senders are worked for, want 2", len(workers.jobs))
	}
	if n := r.e.Cancel("slow", "follow", slow.id.ID, 0); n != 1 {
		t.Errorf("%d goals reached", n)
	}
	r.mustEnd(slow, 0.1, action.Recalled, action.ClientCancel, "cancelled")
	workers.run()
	workers.run()
	r.active(quick)
	if slow.last(t).To != action.Recalled || len(r.e.waiting) != 0 {
		t.Error("it came back")
	}
}

// TestGoalsOfOneSenderKeepTheirOrder: the goal that was sent last replaces the others,
// whenever they are prepared.
func TestGoalsOfOneSenderKeepTheirOrder(t *testing.T) {
	r, workers := lateRig(t)
	first, bad, last := r.submit(&Follow{Goal: r.nod("joint52", -0.1)}), r.submit(failing{}), r.submit(&Follow{Goal: r.nod("joint52", -0.1)})
	if len(workers.jobs) != 1 {
		t.Fatalf("%d jobs for one sender", len(workers.jobs))
	}
	workers.run()
	r.mustEnd(first, 1, action.Preempted, action.Replaced, "replaced")
	r.mustEnd(bad, 1, action.Rejected, action.Fault, "panicked")
	r.mustEnd(last, 20, action.Succeeded, action.Finished, "ok")
}

// TestPreparedTooLate: what became of the robot meanwhile counts, and the end of the
// executive ends goals that wait.
func TestPreparedTooLate(t *testing.T) {
	r, workers := lateRig(t)
	g := r.submit(&Follow{Goal: r.nod("joint52", -0.1)})
	r.ok(r.e.Stop("test", 2))
	workers.run()
	r.mustEnd(g, 1, action.Rejected, action.ConditionsUnmet, "stopping")
	r.ok(r.e.Reset("test"))
	g = r.submit(&Follow{Goal: r.nod("joint52", -0.1)})
	r.e.Close()
	r.mustEnd(g, 1, action.Rejected, action.ServerStopped, "server_stopped")
	workers.run()
}

// TestActionsHaveTheirOwnGoals: ids and cancels are those of one action, also where
// goals of several share controllers.
func TestActionsHaveTheirOwnGoals(t *testing.T) {
	r := newRig(t, parts{})
	one, other := r.e.Goals("one"), r.e.Goals("other")
	a, b := &goal{}, &goal{}
	for _, x := range []struct {
		goals *Goals
		g     *goal
		joint string
	}{{one, a, "tail_joint1"}, {other, b, "joint52"}} {
		if id, err := x.goals.Submit("test", "same", 7, &Follow{Goal: r.nod(x.joint, 0.05)}, x.g.watch()); err != nil || id != "same" {
			t.Fatal(id, err)
		}
	}
	r.active(a)
	r.active(b)
	if n := other.Cancel("test", "", 7); n != 1 {
		t.Errorf("%d goals reached", n)
	}
	r.mustEnd(b, 2, action.Preempted, action.ClientCancel, "cancelled")
	if a.over() {
		t.Error("a cancel of another action reached it")
	}
	one.Stop()
	r.mustEnd(a, 2, action.Aborted, action.ServerStopped, "server_stopped")
	r.run(5)
	if st := r.e.State(); len(st.Goals) != 0 {
		t.Errorf("%+v", st.Goals)
	}
}

// TestOneWorkerPerSender: a goal that comes between two turns of the worker of its
// sender, here from the end of the goal before, is that worker's; a second one would
// prepare it twice.
func TestOneWorkerPerSender(t *testing.T) {
	r, workers := lateRig(t)
	next := &goal{}
	first := Watch{Changed: func(c Change) {
		if c.To.Terminal() {
			if _, err := r.e.Submit("one", "", 0, &Follow{Goal: r.nod("joint52", -0.1)}, next.watch()); err != nil {
				t.Error(err)
			}
		}
	}}
	if _, err := r.e.Submit("one", "", 0, failing{}, first); err != nil {
		t.Fatal(err)
	}
	workers.run()
	if len(workers.jobs) != 0 {
		t.Errorf("%d more workers were begun", len(workers.jobs))
	}
	r.active(next)
}

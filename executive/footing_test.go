package executive

import (
	"strings"
	"testing"

	"poise/action"
	"poise/control"
	"poise/control/pose"
	"poise/loop"
	"poise/robot/load"
)

// TestRefusedByAGoalThatSteps: a goal whose resources another goal's steps use is refused with the name of that goal, and not of a controller alone.
func TestRefusedByAGoalThatSteps(t *testing.T) {
	r := newRig(t, parts{})
	s, _ := r.e.robot.seat("swing")
	why := control.Reason{Code: control.NotGranted, Joint: 0, Who: s.id}
	if x := r.e.refusal(why, "trajectory", nil)[0]; strings.Contains(x.Error(), "nod") {
		t.Errorf("%v", x.Error())
	}
	j := &job{e: r.e, goal: Resumed{&Play{Name: "nod"}}, seat: s, stepping: true}
	r.e.goals.live = append(r.e.goals.live, j)
	x := r.e.refusal(why, "trajectory", nil)[0]
	for _, want := range []string{`"swing" has it`, `it takes the steps of motion "nod" to where its feet begin`, `wait until motion "nod" is over, or cancel it`} {
		if !strings.Contains(x.Error(), want) {
			t.Errorf("%q does not say %q", x.Error(), want)
		}
	}
	r.e.goals.live = nil
}

// afterSteps is a trajectory before which the controller swing moves the tail for 0.2 s in place of steps.
type afterSteps struct {
	r *rig
	*Follow
}

func (g afterSteps) prepare(v *view) (*work, []Explanation) {
	w, why := g.Follow.prepare(v)
	if why == nil {
		w.steps = newWork([]string{"swing"}, g.r.swing(g.r.set("tail"), v.now, 0.2))
		w.steps.stages = []Stage{{Phase: Stepping, End: 10}}
	}
	return w, why
}

// steps gives a goal that takes steps before it moves the head.
func (r *rig) steps() Goal { return afterSteps{r, &Follow{Goal: r.nod(r.headJoint(), 0.05)}} }

// stepped lets the cycle run to the tick in which the steps of a goal are done, of which the executive has not heard.
func (r *rig) stepped(g Goal) *goal {
	r.t.Helper()
	r.checks = false // of which the executive does not see every tick
	out := r.active(r.submit(g))
	r.until(1, "a step", func() bool { return r.stateOf(r.e.State(), "swing").Active })
	for n := 0; ; n++ {
		s, _ := r.l.Snapshot()
		if !s.Active[r.seatID("swing")].Active {
			return out
		}
		if n == 1000 {
			r.t.Fatal("steps that do not end")
		}
		r.step()
	}
}

func (r *rig) seatID(name string) int {
	s, _ := r.e.robot.seat(name)
	return int(s.id)
}

// TestAGoalCalledOffWhileItsStepsEnd: a cancel, a stop or a switch that comes when the cycle has just done the steps ends the goal; what
// it asked for does not begin.
func TestAGoalCalledOffWhileItsStepsEnd(t *testing.T) {
	for _, c := range []struct {
		what  string
		off   func(r *rig, g *goal)
		state action.State
		cause action.Cause
		code  string
	}{
		{"cancelled", func(r *rig, g *goal) { r.e.Cancel("test", g.id.Action, g.id.ID, 0) }, action.Preempted, action.ClientCancel, "cancelled"},
		{"stopped", func(r *rig, _ *goal) { r.e.Stop("test", 2) }, action.Aborted, action.Stopped, "stopping"},
		{"switched off", func(r *rig, _ *goal) { r.submit(&Operational{Controller: "swing"}) }, action.Aborted, action.ServerStopped, "switched_off"},
	} {
		r := newRig(t, parts{})
		g := r.stepped(r.steps())
		head := r.command(r.headJoint())
		c.off(r, g)
		r.mustEnd(g, 0.5, c.state, c.cause, c.code)
		r.seconds(0.5)
		if at := r.command(r.headJoint()); at != head {
			t.Errorf("%s: the head moved from %g to %g", c.what, head, at)
		}
		g.last(t)
	}
}

// TestAStopBetweenStepsAndTheirGoal: what was stopped while it was prepared anew does not begin, even if the stop was reset meanwhile.
func TestAStopBetweenStepsAndTheirGoal(t *testing.T) {
	var jobs []func()
	r := newRig(t, parts{change: func(c *Config) { c.Go = func(job func()) { jobs = append(jobs, job) } }})
	prepared := func() {
		for _, job := range jobs {
			job()
		}
		jobs = nil
	}
	g := r.submit(r.steps())
	prepared()
	r.active(g)
	r.until(1, "the end of the steps", func() bool { return len(jobs) > 0 })
	r.ok(r.e.Stop("test", 2))
	r.ok(r.e.Reset("test"))
	prepared()
	r.mustEnd(g, 0.1, action.Aborted, action.Stopped, "stopping")
}

// TestAPauseWhileStepsEnd: a goal that undoes a pause does so once. One that comes later holds it, and does not end it.
func TestAPauseWhileStepsEnd(t *testing.T) {
	r := newRig(t, parts{})
	r.ok(r.e.Pause("test", ""))
	g := r.stepped(resumedSteps{r.steps().(afterSteps)})
	head := r.command(r.headJoint())
	r.ok(r.e.Pause("test", ""))
	r.seconds(0.5)
	if at := r.command(r.headJoint()); g.over() || at != head {
		t.Fatalf("%v: %s; the head moved from %g to %g", g.state(), g.text(), head, at)
	}
	r.ok(r.e.Resume("test", ""))
	r.mustEnd(g, 5, action.Succeeded, action.Finished, "ok")
}

type resumedSteps struct{ afterSteps }

func (g resumedSteps) prepare(v *view) (*work, []Explanation) {
	return Resumed{g.afterSteps}.prepare(v)
}

// TestAPoseWaitsForAGoalThatSteps: goals for the joints of one that takes its steps are refused, those of other controllers that move, too.
func TestAPoseWaitsForAGoalThatSteps(t *testing.T) {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	poses, err := pose.New(bot.Model, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, parts{model: bot.Model, more: []loop.Registration{{Name: "pose", Kind: "pose", Controller: poses}}, known: []Controller{{Name: "pose", Kind: "pose", Replaces: true}}})
	g := r.active(r.submit(r.steps()))
	other := r.submit(&Pose{Name: "stand"})
	if c := r.ended(other, 0.1); c.To != action.Rejected || !strings.Contains(other.text(), "takes steps to where its feet begin") {
		t.Errorf("%v: %s", c.To, other.text())
	}
	r.active(r.submit(&Operational{Controller: "sway", On: true, Resources: []string{"head"}})) // what moves by itself gives way later
	r.mustEnd(g, 5, action.Succeeded, action.Finished, "ok")
}

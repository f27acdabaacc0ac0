package executive

import (
	"math"
	"slices"
	"strings"
	"testing"

	"poise/action"
	"poise/loop"
	"poise/motion"
)

// TestPlayAnEditedMotion plays a motion that is stored nowhere: a part of it, backwards
// and faster, from elsewhere, in one goal.
func TestPlayAnEditedMotion(t *testing.T) {
	r := newRig(t, parts{})
	head := r.headJoint()
	d := yes(r, head)
	d.Points[1].Mark, d.Points[2].Mark = motion.StartMark, motion.EndMark
	q := r.command(head)
	d.Points[2].Positions[0] = q - 0.4 // where it begins backwards
	g := r.active(r.submit(&Play{Name: "draft", Document: d, Part: motion.Part{Marked: true, Scale: 0.5, Backward: true}, Approach: true}))
	r.mustEnd(g, 6, action.Succeeded, action.Finished, "ok")
	if math.Abs(r.command(head)-(q-0.2)) > 1e-9 {
		t.Errorf("it ended at %g", r.command(head)-q)
	}
	phases, last := []Phase{}, math.Inf(1)
	for _, f := range g.feedback {
		if len(phases) == 0 || phases[len(phases)-1] != f.Phase {
			phases = append(phases, f.Phase)
		}
		if f.Phase == Moving && (f.Table > last+1e-9 || f.Table > 2 || f.Table < 1 || math.Abs(f.Progress-(2-f.Table)) > 1e-9 || f.End != 1) {
			t.Errorf("at %g s of its clock it is at %g s of the table, %g of it are done", f.Time, f.Table, f.Progress)
		}
		last = f.Table
	}
	if phases[0] != Approaching || !slices.Contains(phases, Moving) {
		t.Errorf("phases %v", phases)
	}
	if c := g.changes[len(g.changes)-1]; c.Result.Table != 1 {
		t.Errorf("it ended at %g s of the table", c.Result.Table)
	}
	kept, ok := r.e.Last()
	if !ok || kept.Source != "motion" || len(kept.Goal.Points) != 2 || kept.Goal.End() != 0.5 {
		t.Errorf("%+v was kept", kept)
	}
}

// TestPlayRefusesInTableTimes: what is too fast is found in the table, not on the clock
// of the part.
func TestPlayRefusesInTableTimes(t *testing.T) {
	r := newRig(t, parts{})
	d := yes(r, r.headJoint())
	d.Points[2].Mark = motion.EndMark
	d.Points[1].Mark = motion.StartMark
	d.Points[2].Positions[0] -= 0.3
	for _, backward := range []bool{false, true} {
		c := r.mustEnd(r.submit(&Play{Document: d, Part: motion.Part{Marked: true, Scale: 0.05, Backward: backward}, Approach: true}), 1, action.Rejected, action.ConditionsUnmet, "beyond_velocity_limit")
		if at := c.Result.Explanations[0].At; at < 1 || at > 2 {
			t.Errorf("too fast at %g s, the rows are at 1 and 2 s", at)
		}
	}
	if c := r.mustEnd(r.submit(&Play{Document: d, Part: motion.Part{Scale: -1}}), 1, action.Rejected, action.ConditionsUnmet, "bad_motion"); !said(c.Result.Explanations[0], "-1") {
		t.Errorf("%v", c.Result.Explanations)
	}
}

// TestResumedUndoesStopAndPause: a goal of a person goes on from them; one of a program
// does not.
func TestResumedUndoesStopAndPause(t *testing.T) {
	r := newRig(t, parts{})
	head := r.headJoint()
	play := func() Goal { return &Play{Document: yes(r, head), Approach: true} }
	for _, c := range []struct {
		what, code string
		undo       string
		stop       func()
	}{
		{"a stop of category 2", "stopping", "reset", func() { r.e.Stop("test", 2) }},
		{"a pause", "", "resume", func() { r.e.Pause("test", "") }},
	} {
		c.stop()
		r.seconds(1)
		if c.code != "" {
			r.mustEnd(r.submit(play()), 1, action.Rejected, action.ConditionsUnmet, c.code)
		}
		r.audits = nil
		g := r.submit(Resumed{play()})
		r.mustEnd(g, 6, action.Succeeded, action.Finished, "ok")
		if undone := r.undone(); !slices.Equal(undone, []string{c.undo}) {
			t.Errorf("%s: %v undoes it, want %s", c.what, undone, c.undo)
		}
	}
}

// undone lists the orders that went before goals.
func (r *rig) undone() (all []string) {
	for _, a := range r.audits {
		if a.What == "reset" || a.What == "power on" || a.What == "resume" {
			all = append(all, a.What)
		}
	}
	return all
}

// TestResumedNeverEnergises: without torque a goal of a person is refused as any other
// is, names what has none and the service that helps, and undoes nothing. With torque it
// begins where a hand has left the robot.
func TestResumedNeverEnergises(t *testing.T) {
	r := full(t, parts{})
	head := r.headJoint()
	for _, c := range []struct {
		what  string
		names string
		stop  func()
	}{
		{"a stop of category 1", "the servos", func() { r.e.Stop("test", 1) }},
		{"a stop of category 0", "the servos", func() { r.e.Stop("test", 0) }},
		{"no power", "the servos", func() { r.e.Power("test", false) }},
		{"a limp head", "head", func() { r.e.SetTorque("test", false, []string{"head"}) }},
		{"a limp head and a stop of category 2", "head", func() { r.e.SetTorque("test", false, []string{"head"}); r.e.Stop("test", 2) }},
	} {
		c.stop()
		r.seconds(1)
		r.audits = nil
		before := r.e.State()
		x := r.mustEnd(r.submit(Resumed{&Play{Document: yes(r, head), Approach: true}}), 1, action.Rejected, action.ConditionsUnmet, "power_off").Result.Explanations[0]
		if !said(x, c.names) || !strings.Contains(x.Help, "set_torque") || len(r.undone()) > 0 {
			t.Errorf("%s: %+v, undone %v", c.what, x, r.undone())
		}
		if after := r.e.State(); after.Stopped != before.Stopped || after.Power != before.Power || !slices.Equal(after.Limp, before.Limp) {
			t.Errorf("%s: was %v %v %v, is %v %v %v", c.what, before.Stopped, before.Power, before.Limp, after.Stopped, after.Power, after.Limp)
		}
		r.ok(r.e.Reset("test"))
		r.ok(r.e.SetTorque("test", true, nil))
	}
	r.ok(r.e.Power("test", false))
	d := yes(r, head)
	id, _ := r.m.Joint(head)
	at := r.command(head) - 0.3
	r.checks = false // the command follows the hand
	if !r.bus.PoseByHand(int(id), at) {
		t.Fatal("the joint has torque")
	}
	r.seconds(1)
	r.ok(r.e.Power("test", true))
	g := r.active(r.submit(Resumed{&Play{Document: d, Approach: true}}))
	if f := g.feedback; len(f) == 0 || f[0].Phase != Approaching {
		t.Errorf("it is not on its way to the start")
	}
	if off := r.command(head) - at; math.Abs(off) > 0.01 {
		t.Errorf("it begins %g rad from where it is", off)
	}
	r.mustEnd(g, 6, action.Succeeded, action.Finished, "ok")
}

// TestResumedSaysWhyItCannot: while a stop is under way, and while its fault lasts.
func TestResumedSaysWhyItCannot(t *testing.T) {
	r := newRig(t, parts{})
	head := r.headJoint()
	moving := r.active(r.submit(&Play{Document: yes(r, head)}))
	r.seconds(0.5)
	r.e.Stop("test", 2)
	r.run(1) // the stop has begun
	g := r.submit(Resumed{&Play{Document: yes(r, head), Approach: true}})
	r.mustEnd(g, 1, action.Rejected, action.ConditionsUnmet, "stopping")
	r.ended(moving, 2)
}

// TestResumedUndoesNothingNewer: a stop that comes while the goal is being prepared
// stands, whatever the goal may undo.
func TestResumedUndoesNothingNewer(t *testing.T) {
	var later []func()
	r := newRig(t, parts{change: func(c *Config) { c.Go = func(job func()) { later = append(later, job) } }})
	head := r.headJoint()
	for _, c := range []struct {
		code  string
		again func()
	}{
		{"stopping", func() { r.e.Stop("test", 2) }}, {"stopping", func() { r.e.Pause("test", "") }}, {"power_off", func() { r.e.Power("test", false) }},
	} {
		r.e.Stop("test", 2)
		r.seconds(0.1)
		g := r.submit(Resumed{&Play{Document: yes(r, head), Approach: true}})
		r.seconds(0.1)
		c.again()
		r.seconds(0.1)
		for _, job := range later {
			job()
		}
		later = nil
		r.mustEnd(g, 1, action.Rejected, action.ConditionsUnmet, c.code)
		r.e.View(func(s *loop.Snapshot) {
			if !s.Stopped {
				t.Error("the stop is undone")
			}
		})
	}
}

package executive

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"poise/action"
	"poise/arbiter"
	"poise/control/follow"
	"poise/loop"
	"poise/motion"
	"poise/trajectory"
)

var motionWhole = motion.Part{}

// TestReplaceInFlight gives a joint a new motion while it moves: the old goal is
// preempted in the same tick, and nothing jumps.
func TestReplaceInFlight(t *testing.T) {
	r := newRig(t, parts{})
	head := r.headJoint()
	first := r.active(r.submit(&Follow{Goal: r.nod(head, -0.6)}))
	r.seconds(0.5)
	q := r.command(head)
	second := r.submit(&Follow{Goal: follow.Goal{Joints: []string{head}, Points: []trajectory.Point{{Time: 1, Position: []float64{q + 0.2}}}}})
	r.mustEnd(first, 0.1, action.Preempted, action.Replaced, "replaced")
	if c := r.e.State().Goals; len(c) != 1 || c[0].Controller != "trajectory" {
		t.Errorf("%+v", c)
	}
	r.mustEnd(second, 3, action.Succeeded, action.Finished, "ok")
	// one that overlaps two goals replaces both
	a, b := r.active(r.submit(&Follow{Goal: r.nod("joint52", -0.1)})), r.active(r.submit(&Follow{Goal: r.nod("tail_joint1", 0.1)}))
	both := follow.Goal{Joints: []string{"tail_joint1", "joint52"}, Points: []trajectory.Point{{Time: 1, Position: []float64{0, 0}}}}
	c := r.submit(&Follow{Goal: both})
	r.mustEnd(a, 0.1, action.Preempted, action.Replaced, "replaced")
	if end := r.ended(b, 0.1); end.To != action.Preempted || end.Cause != action.Replaced {
		t.Errorf("%v, %v", end.To, end.Cause)
	}
	r.mustEnd(c, 3, action.Succeeded, action.Finished, "ok")
}

// TestAppend goes on where a motion ends, without a stop of its own making.
func TestAppend(t *testing.T) {
	r := newRig(t, parts{})
	head := r.headJoint()
	goal := r.nod(head, -0.3)
	start := goal.Points[0].Position[0]
	first := r.active(r.submit(&Follow{Goal: goal}))
	r.seconds(0.5)
	more := follow.Goal{Joints: []string{head}, Points: []trajectory.Point{{Position: []float64{start}}, {Time: 1, Position: []float64{start + 0.1}}}}
	second := r.submit(&Follow{Goal: more, Append: true})
	r.mustEnd(first, 0.1, action.Preempted, action.Replaced, "replaced")
	deepest := 0.0
	for !second.over() {
		r.run(1)
		deepest = min(deepest, r.command(head)-start)
	}
	r.mustEnd(second, 1, action.Succeeded, action.Finished, "ok")
	if math.Abs(deepest+0.3) > 1e-3 || math.Abs(r.command(head)-start-0.1) > 1e-6 {
		t.Errorf("it went to %g, and ended at %g", deepest, r.command(head)-start)
	}
}

// TestFeedbackRate counts: 20 Hz of cycle time unless told otherwise.
func TestFeedbackRate(t *testing.T) {
	sequential(t)
	for _, hz := range []float64{0, 100} {
		r := newRig(t, parts{change: func(c *Config) { c.FeedbackRate = hz }})
		g := r.submit(&Follow{Goal: r.nod(r.headJoint(), -0.3)})
		r.ended(g, 5)
		want := 2 * hz
		if hz == 0 {
			want = 40
		}
		if n := float64(len(g.feedback)); math.Abs(n-want) > 2 {
			t.Errorf("%g feedbacks in 2 s at %g Hz", n, hz)
		}
		last := 0.0
		for _, f := range g.feedback {
			if f.Time < last || f.Duration != 2 || len(f.Joints) != 1 || f.Error[0] != f.Desired[0]-f.Actual[0] || f.Tick.Stamp == 0 {
				t.Fatalf("%+v", f)
			}
			last = f.Time
		}
	}
}

// TestIdsAndCancels has goals of one action cancelled by name, by time and all.
func TestIdsAndCancels(t *testing.T) {
	sequential(t)
	r := newRig(t, parts{})
	give := func(id action.ID, stamp action.Time, joint string) *goal {
		g := &goal{}
		name, err := r.e.Submit("test", id, stamp, &Follow{Goal: r.nod(joint, -0.1)}, g.watch())
		if err != nil {
			t.Fatal(err)
		}
		g.id = name
		return r.active(g)
	}
	a, b, c := give("a", 10, r.headJoint()), give("b", 20, "tail_joint1"), give("c", 30, "ear_l_joint")
	var dup *action.DuplicateError
	if _, err := r.e.Submit("test", "a", 0, &Follow{}, Watch{}); !errors.As(err, &dup) || dup.State != action.Active {
		t.Errorf("%v", err)
	}
	if n := r.e.Cancel("test", "follow", "", 20); n != 2 {
		t.Errorf("%d reached by time", n)
	}
	r.mustEnd(a, 1, action.Preempted, action.ClientCancel, "cancelled")
	r.mustEnd(b, 1, action.Preempted, action.ClientCancel, "cancelled")
	if c.over() {
		t.Error("a later goal was cancelled, too")
	}
	if n := r.e.Cancel("test", "play", "", 0); n != 0 || c.over() {
		t.Error("another action was reached")
	}
	r.e.Cancel("test", "follow", "c", 0)
	r.mustEnd(c, 1, action.Preempted, action.ClientCancel, "cancelled")
	// names are free again after a while, and not before
	if _, err := r.e.Submit("test", "c", 0, &Follow{}, Watch{}); err == nil {
		t.Error("a name was free at once")
	}
	r.seconds(10.1)
	if _, err := r.e.Submit("test", "c", 0, &Follow{}, Watch{}); err != nil {
		t.Error(err)
	}
	// without a name it gets one, and a fourth body part finds no seat
	for _, j := range []string{r.headJoint(), "tail_joint1", "ear_l_joint"} {
		r.active(r.submit(&Follow{Goal: r.nod(j, -0.1)}))
	}
	busy := r.mustEnd(r.submit(&Follow{Goal: r.nod("joint11", -0.1)}), 1, action.Rejected, action.NotGranted, "all_busy")
	if !said(busy.Result.Explanations[0], "3 controllers") {
		t.Errorf("%+v", busy.Result)
	}
}

// TestHeldByAHigherPriority explains who has what, and by which right.
func TestHeldByAHigherPriority(t *testing.T) {
	r := newRig(t, parts{settings: loop.Settings{Policy: arbiter.PolicyPriority}, rank: map[string]float32{"swing": 9, "trajectory": 5}})
	r.active(r.submit(&Operational{Controller: "swing", On: true}))
	head := &Follow{Goal: r.nod(r.headJoint(), -0.1)}
	c := r.mustEnd(r.submit(head), 1, action.Rejected, action.NotGranted, "not_granted")
	x := c.Result.Explanations[0]
	if x.Owner != "swing" || x.Joint != r.headJoint() || x.Resource != "head" || x.Value != 5 || x.Limit != 9 || !said(x, `stop "swing"`) {
		t.Errorf("%+v", x)
	}
	if o := r.answer(r.e.CheckGoal("test", head)); o.OK() || o.Explanations[0] != x {
		t.Errorf("the check says %+v", o.Explanations)
	}
	if o := r.answer(r.e.CheckGoal("test", &Follow{Goal: r.nod("tail_joint1", 0.1)})); !o.OK() {
		t.Errorf("%+v", o.Explanations)
	}
	if got := r.e.State().Owners; !slices.Contains(got, Ownership{Resource: "head", Owner: "swing"}) || len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestRobbedByAnother ends a goal that loses what it needs, naming the taker.
func TestRobbedByAnother(t *testing.T) {
	r := newRig(t, parts{})
	g := r.active(r.submit(&Operational{Controller: "swing", On: true}))
	r.active(r.submit(&Follow{Goal: r.nod(r.headJoint(), -0.1)}))
	c := r.mustEnd(g, 1, action.Aborted, action.ResourceLost, "resource_lost")
	if x := c.Result.Explanations[0]; x.Owner != "trajectory" || x.Joint == "" || x.Resource != "head" {
		t.Errorf("%+v", x)
	}
}

// TestSwitchedOffByAnother ends a goal whose controller another client switches off:
// not as if its own client had called it off.
func TestSwitchedOffByAnother(t *testing.T) {
	r := newRig(t, parts{})
	g := r.active(r.submit(&Operational{Controller: "swing", On: true}))
	off := r.submit(&Operational{Controller: "swing"})
	c := r.mustEnd(g, 1, action.Aborted, action.ServerStopped, "switched_off")
	if !said(c.Result.Explanations[0], "swing") {
		t.Errorf("%+v", c.Result)
	}
	r.mustEnd(off, 1, action.Succeeded, action.Finished, "ok")
	r.mustEnd(r.submit(&Operational{Controller: "swing"}), 1, action.Succeeded, action.Finished, "ok") // off already
	// names that are made up do not fill the memory
	for i := range 3 * maxActions {
		r.submit(&Operational{Controller: strings.Repeat("x", i+1), On: true})
	}
	if n := len(r.e.goals.actions); n > maxActions+1 {
		t.Errorf("%d actions", n)
	}
}

// TestPanicIsTold ends the goal of a controller whose code fails, with the last
// second of states, and goes on with all others.
func TestPanicIsTold(t *testing.T) {
	r := newRig(t, parts{})
	moments := 0
	r.e.cfg.Notice = func(n Notice) {
		r.notes = append(r.notes, n)
		if n.Last != nil {
			moments = len(n.Last.Moments)
		}
	}
	other := r.active(r.submit(&Follow{Goal: r.nod(r.headJoint(), -0.2)}))
	g := r.active(r.submit(&Operational{Controller: "sway", On: true}))
	r.seconds(0.5)
	r.failer.panics = true
	r.mustEnd(g, 0.1, action.Aborted, action.Fault, "panicked")
	if moments < 400 {
		t.Errorf("%d moments of the last second", moments)
	}
	st := r.e.State()
	if len(st.Faults) != 1 || st.Faults[0].Explanation.Owner != "sway" {
		t.Errorf("%+v", st.Faults)
	}
	if c := r.stateOf(st, "sway"); c.Running {
		t.Error("it takes goals again")
	}
	r.mustEnd(r.submit(&Operational{Controller: "sway", On: true}), 1, action.Rejected, action.ConditionsUnmet, "not_running")
	r.mustEnd(other, 4, action.Succeeded, action.Finished, "ok")
	r.failer.panics = false
	r.ok(r.e.SwitchControllers("test", Switch{Start: []string{"sway"}}))
	r.ok(r.e.Reset("test"))
	if n := len(r.e.State().Faults); n > 0 {
		t.Errorf("%d faults after the reset", n)
	}
}

// TestSilentCycle ends everything when the cycle does not run any more: no
// client waits for ever. What started late all the same is called off.
func TestSilentCycle(t *testing.T) {
	r := newRig(t, parts{change: func(c *Config) { c.Patience = 100 * time.Millisecond }})
	running := r.active(r.submit(&Follow{Goal: r.nod(r.headJoint(), -0.3)}))
	waiting := r.submit(&Follow{Goal: r.nod("tail_joint1", 0.3)})
	stop := r.e.Pause("test", "")
	for k := range int64(200) {
		r.e.Pump(r.time() + k*1_000_000)
	}
	if c := running.last(t); c.To != action.Aborted || c.Cause != action.ServerGone || c.Result.Code != "cycle_silent" {
		t.Errorf("%+v", c)
	}
	if c := waiting.last(t); c.To != action.Rejected || c.Cause != action.ServerGone {
		t.Errorf("%+v", c)
	}
	if o, ok := stop.Outcome(); !ok || o.OK() {
		t.Errorf("%+v %v", o, ok)
	}
	late := r.submit(&Follow{Goal: r.nod("tail_joint1", 0.3)})
	if c := late.last(t); c.Result.Code != "cycle_silent" {
		t.Errorf("%+v", c)
	}
	r.n += 200 // and on it goes
	r.seconds(1)
	for _, c := range r.e.State().Controllers {
		if c.Active {
			t.Errorf("%s performs a goal that is over", c.Name)
		}
	}
	r.ok(r.e.Resume("test", ""))
	r.mustEnd(r.submit(&Follow{Goal: r.nod("tail_joint1", 0.1)}), 4, action.Succeeded, action.Finished, "ok")
}

// TestStartedLate makes an executive for a loop that runs already, with a goal that
// no client asked for and a ring of old reports.
func TestStartedLate(t *testing.T) {
	r := newRig(t, parts{})
	r.active(r.submit(&Operational{Controller: "swing", On: true}))
	r.checks = false // not every tick is looked at here
	for range 100 {
		r.submit(&Follow{Goal: follow.Goal{Joints: []string{r.headJoint()}}})
		r.step()
	}
	old := r.e
	next, err := New(old.cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.e = next
	r.seconds(0.5)
	if c := r.stateOf(r.e.State(), "swing"); c.Active {
		t.Error("the orphan goes on")
	}
	r.mustEnd(r.submit(&Follow{Goal: r.nod(r.headJoint(), -0.1)}), 4, action.Succeeded, action.Finished, "ok")
}

// TestFullRing refuses goals for which there is no room, and loses no cancel.
func TestFullRing(t *testing.T) {
	r := newRig(t, parts{orders: 4})
	first := r.active(r.submit(&Follow{Goal: r.nod(r.headJoint(), -0.3)}))
	var all []*goal
	for range 20 {
		all = append(all, r.submit(&Follow{Goal: r.nod(r.headJoint(), -0.1)}))
	}
	refused := 0
	for _, g := range all {
		if g.over() && g.last(t).Result.Code == "full" {
			refused++
		}
	}
	if refused == 0 || refused == len(all) {
		t.Errorf("%d of %d refused for want of room", refused, len(all))
	}
	r.e.CancelAll("test")
	r.until(2, "the end of all", func() bool { return len(r.e.State().Goals) == 0 })
	for _, g := range append(all, first) {
		g.last(t)
	}
}

// TestClose ends everything, once.
func TestClose(t *testing.T) {
	r := newRig(t, parts{})
	g := r.active(r.submit(&Follow{Goal: r.nod(r.headJoint(), -0.3)}))
	waiting := r.submit(&Follow{Goal: r.nod("tail_joint1", -0.3)})
	cmd := r.e.SetSpeed("test", 0.5, "")
	r.e.Close()
	r.e.Close()
	if c := g.last(t); c.To != action.Aborted || c.Cause != action.ServerStopped {
		t.Errorf("%+v", c)
	}
	if c := waiting.last(t); c.To != action.Rejected || c.Cause != action.ServerStopped {
		t.Errorf("%+v", c)
	}
	if o, ok := cmd.Outcome(); !ok || o.OK() {
		t.Error("a command waits for ever")
	}
	after := r.submit(&Follow{Goal: r.nod("tail_joint1", -0.3)})
	if c := after.last(t); c.To != action.Rejected || c.Cause != action.ServerStopped {
		t.Errorf("%+v", c)
	}
	if o, ok := r.e.Reset("test").Outcome(); !ok || o.OK() {
		t.Error("a command after the end")
	}
	r.seconds(1)
	if v := r.speed(r.headJoint()); v != 0 {
		t.Errorf("it moves with %g", v)
	}
}

// TestAuditTellsEverything has a line for every request and every end.
func TestAuditTellsEverything(t *testing.T) {
	r := newRig(t, parts{})
	r.audits = nil
	g := r.submit(&Follow{Goal: r.nod(r.headJoint(), -0.1)})
	r.ended(g, 4)
	r.ok(r.e.Stop("other", 2))
	var got []string
	for _, a := range r.audits {
		got = append(got, a.Who+": "+a.What+": "+a.Result)
	}
	want := []string{"test: follow " + string(g.id.ID) + ": asked", "test: follow " + string(g.id.ID) + ": succeeded", "other: stop 2: ok"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestBadConfiguration reports everything at once.
func TestBadConfiguration(t *testing.T) {
	r := newRig(t, parts{})
	cfg := r.e.cfg
	cfg.Controllers = append(slices.Clone(cfg.Controllers), Controller{Name: "bare"}, Controller{Name: "swing", Resources: []string{"wing"}})
	cfg.FeedbackRate, cfg.Patience, cfg.Approach.Share = math.Inf(1), -1, 2
	_, err := New(cfg)
	if err == nil {
		t.Fatal("taken")
	}
	for _, want := range []string{"bare", `"swing" comes twice`, "wing", "+Inf Hz", "-1ns", "share of 2"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

// TestPlayOptions reads the options of a text command.
func TestPlayOptions(t *testing.T) {
	p, why := ParsePlay("nod", "speed=0.5, loop part backward=false approach return=true")
	if len(why) > 0 || *p.(*Play) != (Play{Name: "nod", Speed: 0.5, Loop: true, Part: motion.Part{Marked: true}, Approach: true, Return: true}) {
		t.Errorf("%+v %+v", p, why)
	}
	if p, why = ParsePlay("nod", "resume"); len(why) > 0 || *p.(Resumed).Goal.(*Play) != (Play{Name: "nod"}) {
		t.Errorf("%+v %+v", p, why)
	}
	if _, why = ParsePlay("nod", "sped=2 loop=maybe speed=fast"); len(why) != 3 || !said(why[0], `"speed"`) {
		t.Errorf("%+v", why)
	}
}

// TestPlayInParts plays a stored motion looped, in part, faster, and from a start
// pose that it requires.
func TestPlayInParts(t *testing.T) {
	sequential(t)
	lib := shelf(t)
	r := newRig(t, parts{library: lib})
	head := r.headJoint()
	d := yes(r, head)
	d.Points[1].Mark = motion.EndMark
	put := func(name string, d *motion.Document) {
		if _, err := lib.Put(name, d, ""); err != nil {
			t.Fatal(err)
		}
	}
	put("yes", d)
	g := r.submit(&Play{Name: "yes", Part: motion.Part{Marked: true}})
	began := r.n
	r.mustEnd(g, 4, action.Succeeded, action.Finished, "ok")
	if took := float64(r.n-began) * r.dt; math.Abs(took-1) > 0.1 || len(r.events) != 3 {
		t.Errorf("the part took %g s and %d events left", took, len(r.events))
	}
	r.mustEnd(r.submit(&Play{Name: "yes", Part: motion.Part{Backward: true}, Approach: true, Speed: 1.5}), 4, action.Succeeded, action.Finished, "ok")
	r.events = nil
	loops := r.active(r.submit(&Play{Name: "yes", Loop: true, Approach: true}))
	r.seconds(5)
	if loops.over() || len(r.events) < 8 {
		t.Errorf("%v, %d events", loops.state(), len(r.events))
	}
	r.e.Cancel("test", "play", "", 0)
	r.mustEnd(loops, 1, action.Preempted, action.ClientCancel, "cancelled")

	d = yes(r, head)
	d.StartPose = "stand"
	put("standing", d)
	r.mustEnd(r.submit(&Pose{Name: "stand"}), 1, action.Rejected, action.ConditionsUnmet, "no_controller")
	r.active(r.submit(&Follow{Goal: follow.Goal{Joints: []string{"joint12"}, Points: []trajectory.Point{{Time: 2, Position: []float64{r.command("joint12") + 0.5}}}}}))
	r.seconds(3)
	c := r.mustEnd(r.submit(&Play{Name: "standing"}), 1, action.Rejected, action.ConditionsUnmet, "start_too_far")
	if x := c.Result.Explanations[0]; !said(x, "stand") || !said(x, "approach") {
		t.Errorf("%+v", x)
	}
	// an approach brings joints that the motion does not move into its pose, too
	r.mustEnd(r.submit(&Play{Name: "standing", Approach: true}), 8, action.Succeeded, action.Finished, "ok")
	stand, _ := r.m.Pose("stand")
	for i, id := range stand.Joints {
		if name := r.m.Joints()[id].Name; name == "joint12" && math.Abs(r.command(name)-stand.Q[i][0]) > 1e-6 {
			t.Errorf("%s is at %g, the pose has it at %g", name, r.command(name), stand.Q[i][0])
		}
	}
}

// TestNamedPose goes to a pose of the robot.
func TestNamedPose(t *testing.T) {
	r := full(t, parts{})
	var name string
	for _, p := range r.m.Poses() {
		if p.Name != "stand" {
			name = p.Name
		}
	}
	g := r.submit(&Pose{Name: name, Speed: 0.8})
	r.mustEnd(g, 10, action.Succeeded, action.Finished, "ok")
	named, _ := r.m.Pose(name)
	for i, id := range named.Joints {
		if q := r.command(r.m.Joints()[id].Name); math.Abs(q-named.Q[i][0]) > 1e-6 {
			t.Errorf("%s: %g, want %g", r.m.Joints()[id].Name, q, named.Q[i][0])
		}
	}
	c := r.mustEnd(r.submit(&Pose{Name: "stnd"}), 1, action.Rejected, action.ConditionsUnmet, "unknown_pose")
	if !said(c.Result.Explanations[0], `"stand"`) {
		t.Errorf("%+v", c.Result)
	}
}

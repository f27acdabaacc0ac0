package executive

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/fstest"

	"poise/action"
	"poise/control"
	"poise/control/follow"
	"poise/loop"
	"poise/motion"
	"poise/robot"
	"poise/robot/load"
	"poise/servo/sim"
	"poise/trajectory"
)

// What users of robots ask for most, one test each. Three of the first fourteen are
// not about execution and are proved elsewhere; those about trajectories have tests
// of their own in control/follow, too.
//
//	 2  editor of key points, timeline      motion: TestAsk02KeyframeEditor
//	 5  jitter and overruns are measured    loop/runner: TestLateTicksAreCountedAndTold
//	    slow calls do not disturb           loop: TestStepDoesNotAllocate, TestOverrunsAreAFaultThatFades
//	 9  tool speed in m/s, of any link      planner/smooth: TestUsersSpeedOfAnyLinkOnALine, TestPTPHonoursTheSpeedOfANamedLink
//
// All others, and 43 (back to the start pose), are here: TestAsk and their number.

// TestAsk01CancelStopsWithARamp cancels a motion at many instants: it slows down
// within its limits, stands, gets exactly one end, and nothing moves any more.
func TestAsk01CancelStopsWithARamp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	runs := 12
	if testing.Short() {
		runs = 2
	}
	for range runs {
		r := newRig(t, parts{})
		joint := r.headJoint()
		g := r.active(r.submit(&Follow{Goal: r.nod(joint, -0.6)}))
		r.seconds(0.1 + 1.7*rng.Float64())
		if n := r.e.Cancel("test", "follow", g.id.ID, 0); n != 1 {
			t.Fatalf("the cancel reached %d goals", n)
		}
		if g.state() != action.Preempting {
			t.Fatalf("%v after the cancel", g.state())
		}
		began := r.n
		r.mustEnd(g, 1, action.Preempted, action.ClientCancel, "cancelled")
		if took := float64(r.n-began) * r.dt; took > 0.5 {
			t.Errorf("the ramp took %g s", took)
		}
		at := r.command(joint)
		r.seconds(0.3)
		if now := r.command(joint); math.Abs(now-at) > 1e-9 || r.speed(joint) != 0 {
			t.Errorf("it moves on after the cancel: %g → %g", at, now)
		}
	}
}

// TestAsk01CancelIsNotLostInARace cancels before the cycle has seen the goal.
func TestAsk01CancelIsNotLostInARace(t *testing.T) {
	r := newRig(t, parts{})
	joint := r.headJoint()
	at := r.command(joint)
	g := r.submit(&Follow{Goal: r.nod(joint, -0.6)})
	r.e.Cancel("test", "follow", "", 0)
	c := r.ended(g, 1)
	if c.Cause != action.ClientCancel || c.To != action.Preempted && c.To != action.Recalled {
		t.Errorf("%v, %v", c.To, c.Cause)
	}
	r.seconds(0.5)
	if off := math.Abs(r.command(joint) - at); off > 1e-3 {
		t.Errorf("it went %g", off)
	}
	// and before the goal has come at all
	r.e.Cancel("test", "follow", "late", 0)
	late := &goal{}
	if _, err := r.e.Submit("test", "late", 0, &Follow{Goal: r.nod(joint, 0.1)}, late.watch()); err != nil {
		t.Fatal(err)
	}
	r.mustEnd(late, 0.1, action.Recalled, action.ClientCancel, "client_cancel")
}

// TestAsk03PartOfTheBody plays motions on parts of the body: the rest goes on with
// what it did, undisturbed to the last bit.
func TestAsk03PartOfTheBody(t *testing.T) {
	tail := func(busy bool) (positions []float64) {
		r := newRig(t, parts{})
		r.active(r.submit(&Operational{Controller: "sway", On: true}))
		var head, ear *goal
		for k := range 2000 {
			switch {
			case busy && k == 200:
				head = r.submit(&Follow{Goal: r.nod(r.headJoint(), 0.1)})
			case busy && k == 400:
				ear = r.submit(&Follow{Goal: r.nod("ear_l_joint", -0.2)})
			case busy && k == 1900:
				if head.state() != action.Active || ear.state() != action.Active {
					t.Errorf("side by side: the head's goal is %v, the ear's is %v", head.state(), ear.state())
				}
			}
			r.run(1)
			positions = append(positions, r.command("tail_joint1"))
		}
		return positions
	}
	alone, accompanied := tail(false), tail(true)
	for k := range alone {
		if alone[k] != accompanied[k] {
			t.Fatalf("tick %d: the tail is at %g alone and at %g beside other motions", k, alone[k], accompanied[k])
		}
	}
}

// TestAsk04SwitchingIsAllOrNothing starts and stops sets of controllers.
func TestAsk04SwitchingIsAllOrNothing(t *testing.T) {
	r := newRig(t, parts{})
	active := func() (names []string) {
		for _, c := range r.e.State().Controllers {
			if c.Active {
				names = append(names, c.Name)
			}
		}
		return names
	}
	r.ok(r.e.SwitchControllers("test", Switch{Start: []string{"swing", "sway"}}))
	if got := active(); !slices.Equal(got, []string{"swing", "sway"}) {
		t.Fatalf("active: %v", got)
	}
	r.seconds(0.3)
	r.ok(r.e.SwitchControllers("test", Switch{Stop: []string{"sway"}}))
	r.until(1, "the end of sway", func() bool { return slices.Equal(active(), []string{"swing"}) })
	// a name that is wrong stops nothing
	o := r.answer(r.e.SwitchControllers("test", Switch{Start: []string{"sway", "unknown"}, Stop: []string{"swing"}}))
	if len(o.Explanations) != 1 || o.Explanations[0].Code != "unknown_controller" {
		t.Fatalf("%+v", o.Explanations)
	}
	r.seconds(0.3)
	if got := active(); !slices.Equal(got, []string{"swing"}) {
		t.Fatalf("half switched: %v", got)
	}
	// strict: what is as wanted already is an error, and nothing happens
	o = r.answer(r.e.SwitchControllers("test", Switch{Start: []string{"swing", "sway"}, Strict: true}))
	if len(o.Explanations) != 1 || !said(o.Explanations[0], "swing", "already") || slices.Contains(active(), "sway") {
		t.Errorf("%+v, active %v", o.Explanations, active())
	}
	o = r.answer(r.e.SwitchControllers("test", Switch{Stop: []string{"sway"}, Strict: true}))
	if len(o.Explanations) != 1 || !said(o.Explanations[0], "sway", "stopped already") {
		t.Errorf("%+v", o.Explanations)
	}
	// two that need the same are refused before anything happens, by name
	r = newRig(t, parts{})
	r.e.robot.seats[4].Resources = []string{"head"}
	o = r.answer(r.e.SwitchControllers("test", Switch{Start: []string{"swing", "sway"}}))
	if o.OK() || o.Explanations[0].Code != "switch_conflict" || !said(o.Explanations[0], "swing", "sway", "head") {
		t.Errorf("%+v", o.Explanations)
	}
	if got := active(); len(got) > 0 {
		t.Errorf("half switched: %v", got)
	}
	// a controller of goals is halted and run
	r.ok(r.e.SwitchControllers("test", Switch{Stop: []string{"trajectory", "trajectory_2", "trajectory_3"}}))
	r.mustEnd(r.submit(&Follow{Goal: r.nod(r.headJoint(), -0.1)}), 1, action.Rejected, action.ConditionsUnmet, "not_running")
	r.ok(r.e.SwitchControllers("test", Switch{Start: []string{"trajectory_2"}}))
	r.mustEnd(r.submit(&Follow{Goal: r.nod(r.headJoint(), -0.1)}), 4, action.Succeeded, action.Finished, "ok")
}

// TestAsk04SwitchThatFailsIsUndone lets a controller fail in the very start: those
// that were stopped for it are back.
func TestAsk04SwitchThatFailsIsUndone(t *testing.T) {
	r := newRig(t, parts{})
	r.e.robot.seats[4].Resources = []string{"head"}
	r.e.robot.seats[4].Operate = func(set robot.Set, now *loop.Snapshot) (control.Program, error) {
		p := r.swing(set, now, 0)
		p.Amplitude = 10 // beyond all limits: the controller refuses it
		return p, nil
	}
	r.ok(r.e.SwitchControllers("test", Switch{Start: []string{"swing"}}))
	r.ok(r.e.SwitchControllers("test", Switch{Stop: []string{"trajectory_3"}}))
	o := r.answer(r.e.SwitchControllers("test", Switch{Stop: []string{"swing"}, Start: []string{"sway", "trajectory_3"}}))
	if o.OK() || o.Explanations[0].Code != "beyond_limit" || o.Explanations[0].Joint == "" {
		t.Fatalf("%+v", o)
	}
	r.seconds(0.5)
	for _, c := range r.e.State().Controllers {
		if want := c.Name == "swing"; c.Active != want || c.Running != (c.Name != "trajectory_3") {
			t.Errorf("%s: active %v, running %v", c.Name, c.Active, c.Running)
		}
	}
}

// TestAsk06StartDeviates names the joint and the amount, and offers a way.
func TestAsk06StartDeviates(t *testing.T) {
	r := newRig(t, parts{})
	joint := r.headJoint()
	g := r.nod(joint, 0.1)
	for i := range g.Points {
		g.Points[i].Position[0] -= 0.8
	}
	g.Path = []follow.Tolerance{{Joint: joint, Tolerance: trajectory.Tolerance{Position: 0.3}}}
	far := r.submit(&Follow{Goal: g})
	c := r.mustEnd(far, 1, action.Rejected, action.ConditionsUnmet, "start_too_far")
	x := c.Result.Explanations[0]
	if x.Joint != joint || math.Abs(x.Value-0.8) > 1e-3 || x.Limit != 0.3 || !said(x, "approach") {
		t.Errorf("%+v", x)
	}
	g.Approach = 0.5
	near := r.active(r.submit(&Follow{Goal: g}))
	r.seconds(0.1)
	r.mustEnd(near, 10, action.Succeeded, action.Finished, "ok")
	if p := near.feedback[0].Phase; p != Approaching {
		t.Errorf("first phase %q", p)
	}
}

// TestAsk06PlannedElsewhere refuses to execute what begins elsewhere.
func TestAsk06PlannedElsewhere(t *testing.T) {
	r := newRig(t, parts{robot: "arm6"})
	g := follow.Goal{Joints: []string{"joint_1", "joint_2"}, Points: []trajectory.Point{
		{Position: []float64{0.5, 0}}, {Time: 1, Position: []float64{0.6, 0}}}}
	c := r.mustEnd(r.submit(&Execute{Goal: g}), 1, action.Rejected, action.ConditionsUnmet, "start_too_far")
	if x := c.Result.Explanations; len(x) != 1 || x[0].Joint != "joint_1" || math.Abs(x[0].Value-0.5) > 1e-9 || x[0].Limit != 0.01 {
		t.Errorf("%+v", x)
	}
}

// TestAsk07TolerancesPerGoal plays the same motion on a lagging robot with a
// tolerance on either side of the lag.
func TestAsk07TolerancesPerGoal(t *testing.T) {
	const lag = 0.1 // s: at 0.6 rad/s the joint is some 0.06 rad behind
	for _, c := range []struct {
		tolerance float64
		holds     bool
	}{{0.03, false}, {0.15, true}} {
		r := newRig(t, parts{servo: sim.Servo{Lag: lag}})
		joint := r.headJoint()
		goal := r.nod(joint, -0.4)
		goal.Path = []follow.Tolerance{{Joint: joint, Tolerance: trajectory.Tolerance{Position: c.tolerance}}}
		g := r.submit(&Follow{Goal: goal})
		end := r.ended(g, 6)
		if c.holds {
			if end.To != action.Succeeded {
				t.Errorf("tolerance %g: %v: %s", c.tolerance, end.To, g.text())
			}
			continue
		}
		if end.To != action.Aborted || end.Cause != action.Failed || end.Result.Code != "tolerance_broken" {
			t.Fatalf("tolerance %g: %v %v %s", c.tolerance, end.To, end.Cause, end.Result.Code)
		}
		x := end.Result.Explanations[0]
		if x.Joint != joint || x.Limit != c.tolerance || x.Value <= c.tolerance || x.At <= 0 {
			t.Errorf("%+v", x)
		}
		r.seconds(0.5) // and the robot stands, without a jump
	}
}

const turntable = `<robot name="turntable">
  <link name="base"/><link name="plate"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="plate"/><axis xyz="0 0 1"/><limit effort="1" velocity="2"/></joint>
</robot>`

// TestAsk08ContinuousJointsGoTheShortWay sends a turntable from 3 rad to −3 rad: it
// crosses half a turn instead of going all the way back.
func TestAsk08ContinuousJointsGoTheShortWay(t *testing.T) {
	bot, err := load.File(fstest.MapFS{"t.urdf": {Data: []byte(turntable)}}, "t.urdf", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, parts{model: bot.Model, settings: loop.Settings{Transition: control.Transition{Acceleration: 4}}})
	to := func(q, time float64) follow.Goal {
		return follow.Goal{Joints: []string{"turn"}, Points: []trajectory.Point{{Time: time, Position: []float64{q}}}}
	}
	r.mustEnd(r.submit(&Follow{Goal: to(3, 6)}), 10, action.Succeeded, action.Finished, "ok")
	from, way := r.command("turn"), 0.0
	g := r.submit(&Follow{Goal: to(-3, 2)})
	for !g.over() {
		r.run(1)
		way = max(way, math.Abs(r.command("turn")-from))
	}
	r.mustEnd(g, 1, action.Succeeded, action.Finished, "ok")
	if want := 2*math.Pi - 6; math.Abs(way-want) > 0.01 {
		t.Errorf("it went %g, the short way is %g", way, want)
	}
}

// TestAsk10PauseResumeSpeed pauses, resumes and slows a motion with tolerances:
// its own time stands and goes with it, and so does the time to reach the goal.
func TestAsk10PauseResumeSpeed(t *testing.T) {
	sequential(t)
	r := newRig(t, parts{})
	joint := r.headJoint()
	goal := r.nod(joint, -0.4)
	goal.Path = []follow.Tolerance{{Joint: joint, Tolerance: trajectory.Tolerance{Position: 0.05}}}
	goal.GoalTime = 0.2
	g := r.active(r.submit(&Follow{Goal: goal}))
	r.seconds(0.5)
	r.ok(r.e.Pause("test", ""))
	at := r.command(joint)
	r.seconds(3)
	if g.over() || math.Abs(r.command(joint)-at) > 1e-9 {
		t.Fatalf("paused, and %v at %g, was %g", g.state(), r.command(joint), at)
	}
	if f := g.feedback[len(g.feedback)-1]; f.Rate != 0 || f.Time < 0.4 || f.Time > 0.8 {
		t.Errorf("rate %g, time %g", f.Rate, f.Time)
	}
	r.ok(r.e.Resume("test", ""))
	if o := r.ok(r.e.SetSpeed("test", 0.25, "")); math.Abs(o.Value-0.25) > 1e-6 {
		t.Errorf("achieved %g of 0.25", o.Value)
	}
	r.seconds(2)
	if g.over() {
		t.Fatalf("%v at a quarter of the speed", g.state())
	}
	r.ok(r.e.SetSpeed("test", 1, ""))
	r.mustEnd(g, 4, action.Succeeded, action.Finished, "ok")
	o := r.answer(r.e.SetSpeed("test", 3, ""))
	if o.OK() || o.Explanations[0].Code != "bad_value" || o.Explanations[0].Value != 3 || o.Explanations[0].Limit != 2 {
		t.Errorf("%+v", o.Explanations)
	}
}

// TestAsk10SpeedIsCappedByLimits asks for 200 % of a motion near its limits: what
// is achieved is told, and no limit is broken (every command is judged).
func TestAsk10SpeedIsCappedByLimits(t *testing.T) {
	r := newRig(t, parts{})
	joint := r.headJoint()
	g := r.active(r.submit(&Follow{Goal: r.nod(joint, -0.9)}))
	o := r.ok(r.e.SetSpeed("test", 2, "trajectory"))
	if !(o.Value >= 1 && o.Value < 2) {
		t.Errorf("achieved %g", o.Value)
	}
	r.mustEnd(g, 4, action.Succeeded, action.Finished, "ok")
}

// TestAsk11LimitsAreTheLastGate refuses what would pass a limit, naming all, and
// does not cut a motion up to its limits on a robot that lags.
func TestAsk11LimitsAreTheLastGate(t *testing.T) {
	r := newRig(t, parts{servo: sim.Servo{Lag: 0.05}})
	joint := r.headJoint() // −1.5708 … 0.26
	goal := r.nod(joint, 0)
	goal.Points[1].Position[0] = 0.4
	c := r.mustEnd(r.submit(&Follow{Goal: goal}), 1, action.Rejected, action.ConditionsUnmet, "beyond_position_limit")
	if x := c.Result.Explanations[0]; x.Joint != joint || x.Limit != 0.26 || math.Abs(x.Value-0.4) > 1e-6 || math.Abs(x.At-1) > 1e-6 {
		t.Errorf("%+v", x)
	}
	goal.Points[1].Position[0] = 0.26
	g := r.submit(&Follow{Goal: goal})
	cut := 0
	for !g.over() {
		r.run(1)
		r.e.View(func(s *loop.Snapshot) {
			for _, x := range s.Cut {
				if x != 0 {
					cut++
				}
			}
		})
	}
	r.mustEnd(g, 1, action.Succeeded, action.Finished, "ok")
	if cut > 0 {
		t.Errorf("%d commands were cut", cut)
	}
}

// TestAsk12RecoveryWithoutRestart stops in every category, resets and goes on:
// goals are refused in between with that reason, and nothing jumps.
func TestAsk12RecoveryWithoutRestart(t *testing.T) {
	sequential(t)
	for category := range uint8(3) {
		r := newRig(t, parts{})
		joint := r.headJoint()
		g := r.active(r.submit(&Follow{Goal: r.nod(joint, -0.6)}))
		r.seconds(0.4)
		o := r.ok(r.e.Stop("test", category))
		if o.Value > 1 {
			t.Errorf("category %d took %g s", category, o.Value)
		}
		code := "stopping"
		if category == 0 {
			code = "power_off"
		}
		r.mustEnd(g, 1, action.Aborted, action.Stopped, code)
		r.mustEnd(r.submit(&Follow{Goal: r.nod(joint, -0.1)}), 1, action.Rejected, action.ConditionsUnmet, "stopping")
		if st := r.e.State(); !st.Stopped || (st.Power == loop.Enabled) != (category == 2) {
			t.Errorf("category %d: %+v", category, st.Power)
		}
		if o := r.answer(r.e.Power("test", true)); category < 2 && o.OK() {
			t.Errorf("category %d: power came back before the reset", category)
		}
		r.ok(r.e.Reset("test"))
		r.ok(r.e.Power("test", true))
		again := r.submit(&Follow{Goal: r.nod(joint, -0.1)})
		r.mustEnd(again, 4, action.Succeeded, action.Finished, "ok")
	}
}

// TestAsk13NothingJumpsOnActivation hands the head to and fro between moving
// controllers at random instants; every command is judged.
func TestAsk13NothingJumpsOnActivation(t *testing.T) {
	sequential(t)
	r := newRig(t, parts{})
	rng := rand.New(rand.NewPCG(13, 13))
	for range 40 {
		switch rng.IntN(3) {
		case 0:
			r.submit(&Operational{Controller: "swing", On: true})
		case 1:
			r.submit(&Follow{Goal: r.nod(r.headJoint(), -0.3*rng.Float64())})
		case 2:
			r.submit(&Operational{Controller: "sway", On: true, Resources: []string{"head"}})
		}
		r.run(20 + rng.IntN(300))
	}
	r.e.CancelAll("test")
	r.until(3, "everything to end", func() bool { return len(r.e.State().Goals) == 0 })
}

// yes makes a motion of the head with events.
func yes(r *rig, joints ...string) *motion.Document {
	d := &motion.Document{Columns: joints, Events: []follow.Event{
		{Time: 0, Type: "voice/say", Command: "yes"}, {Time: 0.5, Type: "eyes/action", Command: "blink"},
		{Time: 1, Type: "mouth/speech", Command: "begin"}, {Time: 2, Type: "mouth/speech", Command: "end", Options: "soft"}}}
	for _, j := range joints {
		d.Joints = append(d.Joints, motion.Joint{Name: j, Enabled: true})
	}
	for i, off := range []float64{0, -0.2, 0} {
		p := motion.Point{Time: float64(i), Enabled: true}
		for _, j := range joints {
			p.Positions = append(p.Positions, r.command(j)+off)
		}
		d.Points = append(d.Points, p)
	}
	return d
}

// TestAsk14MotionAndSoundAreOne plays a stored motion by name: its events leave at
// their cycle and are in the feedback; pause holds them, cancel drops them.
func TestAsk14MotionAndSoundAreOne(t *testing.T) {
	sequential(t)
	library := shelf(t)
	r := newRig(t, parts{library: library})
	if _, err := library.Put("nod_yes", yes(r, r.headJoint()), ""); err != nil {
		t.Fatal(err)
	}
	g := r.active(r.submit(&Play{Name: "nod_yes"}))
	began := r.n - 1
	r.mustEnd(g, 5, action.Succeeded, action.Finished, "ok")
	if len(r.events) != 4 || r.events[3].Options != "soft" || r.events[1].Motion != "nod_yes" || r.events[0].Goal != g.id {
		t.Fatalf("%+v", r.events)
	}
	for i, want := range []float64{0, 0.5, 1, 2} {
		if at := float64(r.events[i].Tick.N-began) * r.dt; math.Abs(at-want) > 4*r.dt {
			t.Errorf("event %d left after %g s, want %g", i, at, want)
		}
	}
	told := 0
	for _, f := range g.feedback {
		told += len(f.Events)
	}
	if told != 4 {
		t.Errorf("%d events in the feedback", told)
	}
	// paused at 70 %, resumed, cancelled: the last event never leaves
	r.events = nil
	g = r.active(r.submit(&Play{Name: "nod_yes"}))
	r.seconds(0.7)
	r.ok(r.e.Pause("test", ""))
	r.seconds(2)
	if len(r.events) != 2 {
		t.Errorf("paused: %d events left", len(r.events))
	}
	r.ok(r.e.Resume("test", ""))
	r.seconds(0.6)
	r.e.Cancel("test", "play", "", 0)
	r.mustEnd(g, 1, action.Preempted, action.ClientCancel, "cancelled")
	r.seconds(2)
	if len(r.events) != 3 {
		t.Errorf("cancelled: %d events left", len(r.events))
	}
	// names
	c := r.mustEnd(r.submit(&Play{Name: "nod_yess"}), 1, action.Rejected, action.ConditionsUnmet, "unknown_motion")
	if !said(c.Result.Explanations[0], `"nod_yes"`) {
		t.Errorf("%+v", c.Result.Explanations)
	}
	c = r.mustEnd(r.submit(&Play{Name: "broken"}), 1, action.Rejected, action.ConditionsUnmet, "unreadable_motion")
	if !said(c.Result.Explanations[0], "sped") {
		t.Errorf("%+v", c.Result.Explanations)
	}
}

// TestAsk43BackToTheStart plays a motion that ends elsewhere, and goes back.
func TestAsk43BackToTheStart(t *testing.T) {
	r := newRig(t, parts{})
	joint := r.headJoint()
	from := r.command(joint)
	goal := r.nod(joint, -0.3)
	goal.Points = goal.Points[:2] // it ends at the far point
	g := r.submit(&Follow{Goal: goal, Return: true})
	furthest := 0.0
	for !g.over() {
		r.run(1)
		furthest = max(furthest, math.Abs(r.command(joint)-from))
	}
	r.mustEnd(g, 1, action.Succeeded, action.Finished, "ok")
	if off := math.Abs(r.command(joint) - from); off > 1e-6 || math.Abs(furthest-0.3) > 1e-3 {
		t.Errorf("it ends %g from where it began, having gone %g", off, furthest)
	}
	if !slices.ContainsFunc(g.feedback, func(f Feedback) bool { return f.Phase == Returning }) {
		t.Error("the feedback does not tell of the return")
	}
}

// TestAsk43StoredMotionsGoBackToo plays a motion by name that ends elsewhere: without
// the option it stays there.
func TestAsk43StoredMotionsGoBackToo(t *testing.T) {
	library := shelf(t)
	r := newRig(t, parts{library: library})
	joint := r.headJoint()
	d := yes(r, joint)
	d.Points, d.Events = d.Points[:2], d.Events[:2]
	if _, err := library.Put("dip", d, ""); err != nil {
		t.Fatal(err)
	}
	from := r.command(joint)
	for _, x := range []struct {
		back bool
		want float64
	}{{true, 0}, {false, 0.2}} {
		r.mustEnd(r.submit(&Play{Name: "dip", Return: x.back}), 6, action.Succeeded, action.Finished, "ok")
		if off := math.Abs(r.command(joint) - from); math.Abs(off-x.want) > 1e-6 {
			t.Errorf("return %v: it ends %g from where it began, want %g", x.back, off, x.want)
		}
	}
}

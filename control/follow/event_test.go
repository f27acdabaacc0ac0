package follow

import (
	"math"
	"slices"
	"strings"
	"testing"

	"poise/control"
	"poise/loop"
	"poise/problem"
	"poise/trajectory"
)

// nod is a motion with events a … e, one of them at half of it and two at the ends.
func nod() *Goal {
	return withEvents(bend(), 0, 0.3, 0.6, 0.9, 1.2)
}

// TestEventsLeaveInTheirCycle: each in the tick in which the motion's clock passes
// it, at any speed.
func TestEventsLeaveInTheirCycle(t *testing.T) {
	for _, dt := range []float64{period, busPeriod} {
		for _, rate := range []float64{0.3, 1, 1.4} {
			r := newRig(t, parts{robot: "arm6", period: dt})
			r.order(loop.SetRate, rate)
			r.run(1)
			goal := r.must(0, nod())
			before, due := math.Inf(-1), []uint64{}
			for {
				now := r.s.Active[0].Time
				for _, e := range nod().Events {
					if e.Time > before && e.Time <= now {
						due = append(due, r.s.Tick.N)
					}
				}
				before = now
				if _, over := r.report(loop.GoalEnded, goal); over {
					break
				}
				r.run(1)
			}
			words, ticks := r.left(goal)
			if strings.Join(words, "") != "abcde" || !slices.Equal(ticks, due) {
				t.Errorf("period %g, rate %g: %v in ticks %v, want %v", dt, rate, words, ticks, due)
			}
		}
	}
}

// TestAsk14MotionAndEventsAreOne: a motion with events at half of it, paused just
// before, resumed, and cancelled just after, leaves exactly the right events.
func TestAsk14MotionAndEventsAreOne(t *testing.T) {
	for _, tc := range []struct {
		rule   string
		cancel float64 // time of the motion at which it is cancelled
		want   string
	}{
		{"before the middle", 0.45, "ab"},
		{"in the ramp down the middle is passed, and its event stays", 0.59, "ab"},
		{"after the middle", 0.65, "abc"},
		{"not at all", 9, "abcde"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			r := newRig(t, parts{robot: "arm6"})
			goal := r.must(0, nod())
			paused := false
			for {
				if _, over := r.report(loop.GoalEnded, goal); over {
					break
				}
				now := r.s.Active[0].Time
				if now >= 0.4 && !paused {
					paused = true
					r.order(loop.Pause, 0)
					r.run(1000)
					if words, _ := r.left(goal); strings.Join(words, "") != "ab" || maxSpeed(r) != 0 {
						t.Fatalf("while paused: %v, speed %g", words, maxSpeed(r))
					}
					r.order(loop.Resume, 0)
				}
				if now >= tc.cancel {
					r.l.Send(loop.Order{Kind: loop.CancelGoal})
				}
				r.run(1)
			}
			r.run(2000)
			if words, _ := r.left(goal); strings.Join(words, "") != tc.want {
				t.Errorf("%v left, want %s", words, tc.want)
			}
		})
	}
}

// stamped gives a goal a stamp some seconds from now, as a message does.
func (r *rig) stamped(g *Goal, from float64) *Goal {
	g.Begin = CycleTime(r.tick().Stamp+int64(from*1e9), r.tick())
	return g
}

// TestStampInTheFutureWaits, in the first pose, and is then on time.
func TestStampInTheFutureWaits(t *testing.T) {
	r := newRig(t, parts{robot: "arm6"})
	r.stamp = 1_700_000_000_000_000_000
	r.run(1)
	goal := r.must(0, r.stamped(nod(), 0.5))
	zero := r.n - 1 + 500
	for r.n-1 < zero {
		r.run(1)
		if r.s.Tick.N <= zero && maxSpeed(r) != 0 {
			t.Fatalf("moves %d ticks too early", zero-r.s.Tick.N)
		}
	}
	if a := r.s.Active[0]; math.Abs(a.Time) > 1e-12 {
		t.Errorf("its clock is at %g", a.Time)
	}
	rep := r.finish(goal, 3)
	ended(t, rep, control.Done, control.OK)
	if rep.Tick.N < zero+1200 || rep.Tick.N > zero+1201 {
		t.Errorf("ends %d ticks after its beginning", rep.Tick.N-zero)
	}
	if words, ticks := r.left(goal); strings.Join(words, "") != "abcde" || ticks[1] < zero+300 || ticks[1] > zero+301 {
		t.Errorf("%v in ticks %v, began in %d", words, ticks, zero)
	}
}

// TestStampInThePastDropsPoints, and their events: the motion is joined where it
// should be now, on time; one that is over is refused.
func TestStampInThePastDropsPoints(t *testing.T) {
	r := newRig(t, parts{robot: "arm6"})
	r.stamp = 1_700_000_000_000_000_000
	r.run(1)
	g := nod()
	goal := r.send(0, r.compile(r.stamped(g, -0.7)))
	if a := r.s.Active[0]; !a.Active || math.Abs(a.Time-0.7) > 1e-9 {
		t.Fatalf("its clock is at %g: %+v", a.Time, r.reports)
	}
	rep := r.finish(goal, 3)
	ended(t, rep, control.Done, control.OK)
	for k, j := range r.programs[goal].Record().Joints {
		if want := g.Points[2].Position[k]; math.Abs(r.s.Command.Q[j]-want) > 1e-9 {
			t.Errorf("joint %d ends at %g, want %g", j, r.s.Command.Q[j], want)
		}
	}
	if words, _ := r.left(goal); strings.Join(words, "") != "de" {
		t.Errorf("%v left", words)
	}

	goal = r.send(0, r.compile(r.stamped(nod(), -1.5)))
	rep, ok := r.report(loop.GoalRejected, goal)
	if !ok || rep.Reason.Code != control.TooOld || math.Abs(rep.Reason.Value-0.3) > 1e-6 {
		t.Errorf("%+v", rep)
	}
	if CycleTime(0, r.tick()) != 0 {
		t.Error("no stamp is not now")
	}
}

// stride makes steps longer in short tests.
func stride(n int) int {
	if testing.Short() {
		return 6 * n
	}
	return n
}

// TestReplaceInFlight: a new goal takes over at any instant, from the command; the
// rig judges the limits, the old goal is told why it ended.
func TestReplaceInFlight(t *testing.T) {
	for k := 20; k < 1200; k += stride(97) {
		r := newRig(t, parts{robot: "arm6"})
		first := r.must(0, bend())
		r.run(k)
		second := r.must(0, &Goal{Joints: []string{"joint_6", "joint_5", "joint_4", "joint_3", "joint_2", "joint_1"},
			Points: []trajectory.Point{{Time: 1.5, Position: []float64{0.1, -0.2, 0.3, 0.2, -0.1, 0.2}}}})
		rep, _ := r.report(loop.GoalEnded, first)
		ended(t, rep, control.Quit, control.Replaced)
		ended(t, r.finish(second, 4), control.Done, control.OK)
		if math.Abs(r.at("joint_1")-0.2) > 1e-9 || math.Abs(r.at("joint_6")-0.1) > 1e-9 {
			t.Errorf("ends at %v", r.s.Command.Q)
		}
	}
}

// TestAppend: a motion is extended while it runs, at any instant, also while it
// settles; each event leaves once, and nothing is bridged.
func TestAppend(t *testing.T) {
	more := func() *Goal {
		g := &Goal{Joints: []string{"joint_6", "joint_5", "joint_4", "joint_3", "joint_2", "joint_1"},
			Points: []trajectory.Point{{Time: 0.8, Position: []float64{0, 0, 0, 0, 0, 0}}},
			Events: []Event{{Time: 0.5, Command: "f"}}}
		return g
	}
	for k := 1; k < 1200; k += stride(83) {
		r := newRig(t, parts{robot: "arm6"})
		first := r.must(0, nod())
		r.run(k)
		both, err := Append(r.m, Options{}, r.programs[first], more())
		if err != nil {
			t.Fatal(err)
		}
		second := r.send(0, both)
		if a := r.s.Active[0]; !a.Active || a.Goal != second || math.Abs(a.Time-float64(k+1)*period) > 1e-9 {
			t.Fatalf("after %d ticks its clock is at %g: %+v", k, a.Time, r.reports)
		}
		worst := 0.0
		for {
			rep, over := r.report(loop.GoalEnded, second)
			if over {
				ended(t, rep, control.Done, control.OK)
				break
			}
			r.run(1)
			worst = max(worst, r.offPath(0))
		}
		if worst > 1e-6 {
			t.Errorf("%g off its path", worst)
		}
		one, _ := r.left(first)
		two, _ := r.left(second)
		if got := strings.Join(one, "") + strings.Join(two, ""); got != "abcdef" {
			t.Errorf("after %d ticks: events %s", k, got)
		}
		if math.Abs(r.at("joint_4")) > 1e-9 {
			t.Errorf("ends at %v", r.s.Command.Q)
		}
	}

	// later it begins where the other ended
	r := newRig(t, parts{robot: "arm6"})
	first := r.must(0, nod())
	both, err := Append(r.m, Options{}, r.programs[first], more())
	if err != nil {
		t.Fatal(err)
	}
	ended(t, r.finish(first, 2), control.Done, control.OK)
	r.run(100)
	second := r.send(0, both)
	ended(t, r.finish(second, 2), control.Done, control.OK)
	if words, _ := r.left(second); strings.Join(words, "") != "f" {
		t.Errorf("%v left", words)
	}

	p := r.programs[first]
	gap := bend()
	if _, err := Append(r.m, Options{}, p, gap); len(problem.In(err)) == 0 || problem.In(err)[0].Code != StartTooFar {
		t.Errorf("a gap is appended: %v", err)
	}
	if _, err := Append(r.m, Options{}, p, line("joint_1", 1, 0.1, 0)); len(problem.In(err)) == 0 || problem.In(err)[0].Code != CannotExtend {
		t.Errorf("other joints are appended: %v", err)
	}
}

// TestLoop goes round until it is cancelled, without losing a tick, lets its events
// go in each round, and goes back to its beginning if it is allowed to.
func TestLoop(t *testing.T) {
	r := newRig(t, parts{robot: "arm6"})
	g := withEvents(line("joint_1", 0.35065, 0, 0.1, 0), 0, 0.3)
	g.Loop = true
	goal := r.must(0, g)
	start := r.n - 1
	r.run(7015)
	words, ticks := r.left(goal)
	if got := strings.Join(words, ""); got != strings.Repeat("ab", 10)+"a" {
		t.Errorf("events %s", got)
	}
	for i, at := range ticks {
		want := float64(i/2) * 0.7013
		if i%2 == 1 {
			want += 0.3
		}
		if d := float64(at-start)*period - want; d < -1e-9 || d > 1.5*period {
			t.Errorf("event %d leaves %g s late", i, d)
		}
	}
	r.l.Send(loop.Order{Kind: loop.CancelGoal})
	ended(t, r.finish(goal, 1), control.Quit, control.Cancelled)

	r = newRig(t, parts{robot: "arm6"})
	g = line("joint_1", 0.5, 0, 0.2)
	g.Loop, g.Approach = true, 0.5
	r.must(0, g)
	most, least := 0.0, 1.0
	for range 4000 {
		r.run(1)
		most = max(most, r.at("joint_1"))
		if r.s.Active[0].Time > 0.5 {
			least = min(least, r.at("joint_1"))
		}
	}
	if math.Abs(most-0.2) > 1e-6 || least > 1e-3 {
		t.Errorf("between %g and %g", least, most)
	}

	// one that is led in begins again at its first point, and so do its events
	r = newRig(t, parts{robot: "arm6"})
	g = withEvents(line("joint_1", 0.5, 0.1, 0.2, 0.1), 0.2, 0.5, 1)
	for i := range g.Points {
		g.Points[i].Time += 0.4
	}
	g.Loop = true
	goal = r.must(0, g)
	r.run(3500)
	words, _ = r.left(goal)
	if got := strings.Join(words, ""); got != "abcbcbc" {
		t.Errorf("events %s", got)
	}

	// a wheel that goes round and round keeps turning
	m := spinner(t)
	r = newRig(t, parts{model: m})
	g = line("wheel", 2, 0, 2*math.Pi)
	g.Loop = true
	r.must(0, g)
	r.run(6000)
	if q := r.at("wheel"); math.Abs(q-6*math.Pi) > 0.01 {
		t.Errorf("after three rounds the wheel is at %g", q)
	}
}

package follow

import (
	"math"
	"testing"

	"poise/control"
	"poise/loop"
	"poise/servo/sim"
	"poise/trajectory"
)

// TestHandOverIsNotJudged: a joint that is taken over at speed runs past where the
// new motion begins. That is the hand-over's way, and breaks no tolerance.
func TestHandOverIsNotJudged(t *testing.T) {
	r := newRig(t, parts{robot: "arm6"})
	r.must(0, line("joint_1", 0.8, 0, 0.6, 0))
	r.run(400)
	at, past := r.at("joint_1"), 0.0
	goal := r.must(1, within(line("joint_1", 1, at, at), 0.03, 0.01))
	for {
		rep, over := r.report(loop.GoalEnded, goal)
		if over {
			ended(t, rep, control.Done, control.OK)
			break
		}
		r.run(1)
		past = max(past, r.at("joint_1")-at)
	}
	if past < 0.03 {
		t.Errorf("ran only %g past: nothing was shown", past)
	}
}

// TestHandOverLeavesRoom: a motion that uses its limits whole is slower while the
// bridge leads to it, so that the gate has nothing to cut.
func TestHandOverLeavesRoom(t *testing.T) {
	r := newRig(t, parts{robot: "arm6"})
	goal := r.must(0, line("joint_1", 1, 0.3, 1.6, 0.3)) // 7.8 of 8 rad/s²
	slow := false
	for {
		if rep, over := r.report(loop.GoalEnded, goal); over {
			ended(t, rep, control.Done, control.OK)
			break
		}
		r.run(1)
		if r.s.Cut[0] != 0 {
			t.Fatalf("the gate cuts at %g s: %v", r.s.Active[0].Time, r.s.Cut[0])
		}
		slow = slow || r.s.Active[0].Rate < 0.8
	}
	if !slow {
		t.Error("it was never slower")
	}
}

// TestTakenUpAtTheSpeedOfTheCommand: a motion that begins at speed runs at first as
// fast as the joints move already.
func TestTakenUpAtTheSpeedOfTheCommand(t *testing.T) {
	for _, share := range []float64{0.4, 1, 1.5} {
		r := newRig(t, parts{robot: "arm6"})
		r.must(0, line("joint_1", 0.9, 0, 0.5, 0))
		r.run(450)
		q, v := r.s.Command.Q[0], r.s.Command.V[0]
		goal := r.must(0, &Goal{Joints: []string{"joint_1"}, Points: []trajectory.Point{
			{Position: []float64{q + v*period}, Velocity: []float64{v / share}}, {Time: 1, Position: []float64{q + 0.4}, Velocity: []float64{0}}}})
		if rate := r.s.Active[0].Rate; math.Abs(rate-min(share, 1)) > 1e-6 {
			t.Errorf("share %g: it begins with rate %g", share, rate)
		}
		ended(t, r.finish(goal, 4), control.Done, control.OK)
	}
	r := newRig(t, parts{robot: "arm6"}) // at rest: along the path from the beginning
	goal := r.must(0, &Goal{Joints: []string{"joint_1"}, Points: []trajectory.Point{
		{Position: []float64{0}, Velocity: []float64{0.5}}, {Time: 1, Position: []float64{0.4}, Velocity: []float64{0}}}})
	if r.s.Active[0].Rate != 0 {
		t.Errorf("it begins with rate %g", r.s.Active[0].Rate)
	}
	off := 0.0
	for range 1500 {
		r.run(1)
		off = max(off, r.offPath(0))
	}
	rep, _ := r.report(loop.GoalEnded, goal)
	ended(t, rep, control.Done, control.OK)
	if off > pathSlack {
		t.Errorf("%g off its path", off)
	}
}

// TestStartIsMeasured: a joint that hangs away from its command does not start a
// motion whose tolerance it breaks, unless tolerances are against the command.
func TestStartIsMeasured(t *testing.T) {
	const sag = 0.2
	r := newRig(t, parts{robot: "arm6", servo: sim.Servo{Stiffness: 100}, settings: patient(), load: func(dst, q []float64) {
		clear(dst)
		dst[1] = 100 * sag
	}})
	r.run(100)
	at := r.at("joint_2")
	g := within(line("joint_2", 1, at, at+0.1), sag*0.99, 0)
	goal := r.send(0, r.compile(g))
	rep, ok := r.report(loop.GoalRejected, goal)
	if why := rep.Reason; !ok || why.Code != control.StartTooFar || why.Joint != 1 || math.Abs(why.Value-sag) > 1e-6 {
		t.Errorf("%+v", rep)
	}
	g.Path[0].Position = sag * 1.01
	ended(t, r.finish(r.must(0, g), 3), control.Done, control.OK)
	at = r.at("joint_2")
	g = within(line("joint_2", 1, at, at+0.1), 0.001, 0.001)
	g.Commanded = true
	ended(t, r.finish(r.must(0, g), 3), control.Done, control.OK)
}

// TestApproachIsNotJudged: on a fast approach the joints lag behind by more than the
// path allows, on the path by less.
func TestApproachIsNotJudged(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", servo: sim.Servo{Lag: 0.05}, settings: patient()})
	g := within(line("joint_1", 2, 1, 1.1), 0.02, 0.02)
	g.Approach = 1
	goal := r.must(0, g)
	lag := 0.0
	for r.s.Active[0].Active && r.s.Active[0].Time < 0 {
		r.run(1)
		lag = max(lag, math.Abs(r.s.Measured.Q[0]-r.s.Command.Q[0]))
	}
	ended(t, r.finish(goal, 4), control.Done, control.OK)
	if lag < 0.02 {
		t.Errorf("lags only %g behind: nothing was shown", lag)
	}
}

// TestGoalTimeStandsInAPause: what is left of it is left after the pause.
func TestGoalTimeStandsInAPause(t *testing.T) {
	p := parts{robot: "arm6", servo: sim.Servo{Stiffness: 100}, settings: patient(), load: func(dst, q []float64) {
		clear(dst)
		dst[1] = 4
	}}
	r := newRig(t, p)
	at := r.at("joint_2")
	g := line("joint_2", 0.5, at, at+0.1)
	g.Final, g.GoalTime = []Tolerance{{Joint: "joint_2", Tolerance: trajectory.Tolerance{Position: 0.02}}}, 0.3
	goal := r.must(0, g)
	r.run(600) // 0.1 s of settling
	r.order(loop.Pause, 0)
	r.run(2000)
	if _, over := r.report(loop.GoalEnded, goal); over {
		t.Fatal("it ended in the pause")
	}
	r.order(loop.Resume, 0)
	from := r.n
	rep := r.finish(goal, 1)
	ended(t, rep, control.Failed, control.GoalMissed)
	if left := float64(rep.Tick.N-from) * period; math.Abs(left-0.2) > 0.003 {
		t.Errorf("given up %g s after the pause", left)
	}
	r = newRig(t, p)
	r.order(loop.SetRate, 0.5)
	goal = r.must(0, g)
	from = r.n
	rep = r.finish(goal, 3)
	if took := float64(rep.Tick.N-from) * period; math.Abs(took-(1+0.6)) > 0.003 {
		t.Errorf("given up after %g s at half speed", took)
	}
}

// TestAppendWithApproach: a gap is closed by a move, wherever the motion ends.
func TestAppendWithApproach(t *testing.T) {
	r := newRig(t, parts{robot: "arm6"})
	first := r.compile(bend())
	cases := 60
	if testing.Short() {
		cases = 3
	}
	for i := range cases {
		g := line("joint_1", 0.5, 0.3+0.001*float64(i), 0.3)
		g.Joints = bend().Joints
		for k := range g.Points {
			g.Points[k].Position = append(g.Points[k].Position, 0, 0, 0, 0, 0)
		}
		g.Approach = 0.3 + 0.001*float64(i)
		both, err := Append(r.m, Options{}, first, g)
		if err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		if i == 0 {
			goal := r.send(0, first)
			r.run(500)
			second := r.send(0, both)
			rep, _ := r.report(loop.GoalEnded, goal)
			ended(t, rep, control.Quit, control.Replaced)
			ended(t, r.finish(second, 5), control.Done, control.OK)
		}
	}
}

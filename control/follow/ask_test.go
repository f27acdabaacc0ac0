package follow

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/fstest"

	"poise/arbiter"
	"poise/control"
	"poise/loop"
	"poise/problem"
	"poise/robot"
	"poise/robot/load"
	"poise/servo/sim"
	"poise/trajectory"
)

// TestAsk01StopReallyStops cancels three motions at every cycle of a HerkuleX bus:
// the speed falls from the next tick on, along the path, within limits, to a
// standstill that lasts; the goal ends as cancelled.
func TestAsk01StopReallyStops(t *testing.T) {
	stride := 1
	if testing.Short() {
		stride = 50
	}
	stops, longest, off := 0, 0.0, 0.0
	for m := range 3 {
		for k := 1; ; k += stride {
			r := newRig(t, parts{robot: "arm6", period: busPeriod})
			goal := r.must(0, randomGoal(rand.New(rand.NewPCG(1, uint64(m)))))
			r.run(k - 1)
			if _, over := r.report(loop.GoalEnded, goal); over {
				break
			}
			r.l.Send(loop.Order{Kind: loop.CancelGoal, Goal: goal})
			stops++
			rate, from := r.s.Active[0].Rate, r.n
			for {
				r.run(1)
				if now := r.s.Active[0].Rate; now > rate+1e-12 {
					t.Fatalf("motion %d, cycle %d: speeds up from %g to %g after the cancel", m, k, rate, now)
				} else {
					rate = now
				}
				off = max(off, r.offPath(0))
				if rep, over := r.report(loop.GoalEnded, goal); over {
					if rep.Status != control.Done { // it may have reached its end by itself
						ended(t, rep, control.Quit, control.Cancelled)
					}
					break
				}
				if r.n-from > 200 {
					t.Fatalf("motion %d, cycle %d: does not end", m, k)
				}
			}
			longest = max(longest, float64(r.n-from)*r.dt)
			r.run(3)
			rest := append([]float64(nil), r.s.Command.Q...)
			r.run(20)
			for j := range rest {
				if r.s.Command.Q[j] != rest[j] {
					t.Fatalf("motion %d, cycle %d: joint %d moves on", m, k, j)
				}
			}
		}
	}
	t.Logf("%d cancels, the longest ramp %.2g s, at most %.2g rad off the path", stops, longest, off)
	if off > pathSlack {
		t.Errorf("%g rad off the path", off)
	}
}

// pathSlack is how far from the path the gate may lead: changes of rate are within
// limits at every instant, and their steps of one period a little less so, rad.
const pathSlack = 1e-4

// offPath returns how far a command is from where its motion's clock stands.
func (r *rig) offPath(controller int) (off float64) {
	a := r.s.Active[controller]
	p := r.programs[a.Goal]
	q := make([]float64, p.Curve().Joints())
	p.Curve().PositionTo(q, a.Time)
	for k, j := range p.Record().Joints {
		off = max(off, math.Abs(r.s.Command.Q[j]-q[k]))
	}
	return off
}

// randomGoal is a motion of arm6 from its zero pose, fast but within limits.
func randomGoal(rng *rand.Rand) *Goal {
	at := make([]float64, 6)
	g := arm(0.7, at)
	for i := range 3 {
		q := make([]float64, 6)
		for j := range q {
			q[j] = 0.5*rng.Float64() - 0.25 - 0.1*float64(i%2)
		}
		g.Points = append(g.Points, trajectory.Point{Time: 0.7 * float64(i+1), Position: q})
	}
	return g
}

// TestCancelIsNeverLost: in the tick of the start, twice, and after the end.
func TestCancelIsNeverLost(t *testing.T) {
	r := newRig(t, parts{robot: "arm6"})
	p := r.compile(bend())
	r.l.Send(loop.Order{Kind: loop.StartGoal, Goal: 1, Program: p})
	r.l.Send(loop.Order{Kind: loop.CancelGoal, Goal: 1})
	r.l.Send(loop.Order{Kind: loop.CancelGoal, Goal: 1})
	rep := r.finish(1, 0.1)
	ended(t, rep, control.Quit, control.Cancelled)
	if maxSpeed(r) != 0 {
		t.Error("it moved")
	}
	r.l.Send(loop.Order{Kind: loop.CancelGoal, Goal: 1})
	r.run(1)
	if rep, ok := r.report(loop.OrderRefused, 1); !ok || rep.Reason.Code != control.Unknown {
		t.Error("a cancel after the end is not refused")
	}
}

// TestAsk03TheRestGoesOn: a goal for the head leaves the tail alone, bit for bit;
// what is not in any goal does not move at all.
func TestAsk03TheRestGoesOn(t *testing.T) {
	play := func(head bool) (tail [][3]float64) {
		r := newRig(t, parts{robot: "pony"})
		r.must(0, &Goal{Joints: []string{"tail_joint3", "tail_joint1"}, Points: []trajectory.Point{
			{Position: []float64{0, 0}}, {Time: 1, Position: []float64{-0.3, 0.5}}, {Time: 2, Position: []float64{0.2, 0}}}})
		before := append([]float64(nil), r.s.Command.Q...)
		for k := range 2000 {
			if head && k == 300 {
				r.must(1, line("joint52", 0.5, 0, 0.3, 0)) // takes the tick
			} else {
				r.run(1)
			}
			tail = append(tail, [3]float64{r.at("tail_joint1"), r.at("tail_joint2"), r.at("tail_joint3")})
		}
		for j, q := range r.s.Command.Q {
			switch r.m.Joints()[j].Name {
			case "tail_joint1", "tail_joint3", "joint52":
			default:
				if q != before[j] {
					t.Errorf("%s moved", r.m.Joints()[j].Name)
				}
			}
		}
		if rep, _ := r.report(loop.GoalEnded, 2); head && rep.Status != control.Done {
			t.Errorf("the head: %+v", rep)
		}
		return tail
	}
	alone, both := play(false), play(true)
	for k := range alone {
		if alone[k] != both[k] {
			t.Fatalf("tick %d: the tail is at %v, and alone at %v", k, both[k], alone[k])
		}
	}
	if alone[1999] != [3]float64{0, 0, 0.2} {
		t.Errorf("the tail ends at %v", alone[1999])
	}
}

// TestAsk06StartDeviates: the refusal names the joint that is furthest off, in
// tolerances; a move to the start is made when the goal allows it, slowly, and is
// not judged by the path's tolerances; whole turns do not count.
func TestAsk06StartDeviates(t *testing.T) {
	r := newRig(t, parts{robot: "arm6"})
	r.must(0, arm(1, make([]float64, 6), []float64{0.3, 0.2, 0, 0, 0, 0}))
	r.run(1100)
	g := within(arm(1, []float64{0.2, -0.3, 0, 0, 0, 0}, []float64{0.4, -0.3, 0, 0, 0, 0}), 0.05, 0.05)

	_, err := Compile(r.m, Options{}, &r.s.Command, g)
	all := problem.In(err)
	if len(all) != 2 || all[1].Joint != "joint_2" || math.Abs(all[1].Value-0.5) > 1e-9 || all[1].Limit != 0.05 || all[1].Help == "" {
		t.Errorf("%v", err)
	}
	// the robot has moved since the goal was compiled
	blind, err := Compile(r.m, Options{}, nil, g)
	if err != nil {
		t.Fatal(err)
	}
	goal := r.send(0, blind)
	rep, ok := r.report(loop.GoalRejected, goal)
	if why := rep.Reason; !ok || why.Code != control.StartTooFar || why.Joint != 1 || math.Abs(why.Value-0.5) > 1e-6 || why.Max != 0.05 {
		t.Errorf("%+v", rep)
	}

	tight := within(arm(1, []float64{0.306, 0.2, 0, 0, 0, 0}, []float64{0.4, 0.2, 0, 0, 0, 0}), 0.004, 0.004)
	if tight.Approach = 1; r.compile(tight).Curve().Start() >= 0 {
		t.Error("a small step out of a tight tolerance is not approached")
	}

	g.Approach = 0.3
	withEvents(g, 0)
	p := r.compile(g)
	if p.Curve().Start() > -0.5 || p.Curve().End() != 1 {
		t.Fatalf("from %g to %g s", p.Curve().Start(), p.Curve().End())
	}
	goal = r.send(0, p)
	speed := 0.0
	for r.s.Active[0].Active && r.s.Active[0].Time < 0 {
		r.run(1)
		speed = max(speed, maxSpeed(r))
		if words, _ := r.left(goal); len(words) > 0 && r.s.Active[0].Time < 0 {
			t.Fatal("an event left on the approach")
		}
	}
	if most := 0.3 * 3.5; speed > most*(1+1e-9) || speed < most/3 {
		t.Errorf("approached with %g, %g is the share of the limit", speed, most)
	}
	if d := math.Abs(r.at("joint_2") + 0.3); d > 1e-6 {
		t.Errorf("begins %g away from its first point", d)
	}
	ended(t, r.finish(goal, 2), control.Done, control.OK)
}

// spinner is a robot of one wheel and one bounded joint.
func spinner(t testing.TB) *robot.Model {
	t.Helper()
	files := fstest.MapFS{
		"spin/spin.urdf": {Data: []byte(`<robot name="spin">
<link name="base"/><link name="wheel"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="wheel" type="continuous"><parent link="base"/><child link="wheel"/><axis xyz="0 0 1"/><limit effort="1" velocity="8"/></joint>
<joint name="arm" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/><limit effort="1" velocity="3" lower="-7" upper="7"/></joint>
</robot>`)},
		"spin/joint_limits.yaml": {Data: []byte(`joint_limits:
  wheel: {has_acceleration_limits: true, max_acceleration: 20}
  arm: {has_acceleration_limits: true, max_acceleration: 10}
`)},
	}
	bot, err := load.Folder(files, "spin", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return bot.Model
}

// TestAsk08WrapAround: a wheel goes the short way to where a motion begins, and
// between angles that a planner has brought into ±π; turns that a motion counts are
// kept; a joint with limits has no short way.
func TestAsk08WrapAround(t *testing.T) {
	m := spinner(t)
	for _, tc := range []struct {
		rule  string
		at    float64 // where the wheel is
		times float64
		q     []float64
		ends  float64
	}{
		{"the short way to the beginning", 6, 1, []float64{-0.2, 0.3}, 2*math.Pi + 0.3},
		{"many turns away", -20, 1, []float64{math.Remainder(-20, 2*math.Pi), math.Remainder(-20, 2*math.Pi) + 0.5}, -19.5},
		{"across half a turn", 3, 1, []float64{3, -3}, 2*math.Pi - 3},
		{"and back", -3, 1, []float64{-3, 3}, 3 - 2*math.Pi},
		{"whole turns are kept", 0, 3, []float64{0, 4 * math.Pi}, 4 * math.Pi},
		{"a target half a turn away", 0, 2, []float64{0, 3}, 3},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			r := newRig(t, parts{model: m, pose: []float64{0, tc.at}})
			wheel, _ := m.Joint("wheel")
			if r.s.Command.Q[wheel] != tc.at {
				t.Fatalf("the wheel is at %v", r.s.Command.Q)
			}
			far := 0.0
			goal := r.must(0, within(line("wheel", tc.times, tc.q...), 0.3, 0.01))
			for {
				if rep, over := r.report(loop.GoalEnded, goal); over {
					ended(t, rep, control.Done, control.OK)
					break
				}
				r.run(1)
				far = max(far, math.Abs(r.at("wheel")-tc.at))
			}
			if d := math.Abs(r.at("wheel") - tc.ends); d > 1e-9 {
				t.Errorf("ends at %g, want %g", r.at("wheel"), tc.ends)
			}
			if far > math.Abs(tc.ends-tc.at)+0.01 {
				t.Errorf("went %g far to get %g away", far, math.Abs(tc.ends-tc.at))
			}
		})
	}
	r := newRig(t, parts{model: m})
	if _, err := Compile(m, Options{}, &r.s.Command, within(line("arm", 3, 2*math.Pi, 0), 0.1, 0)); len(problem.In(err)) != 1 || problem.In(err)[0].Code != StartTooFar {
		t.Errorf("a joint with limits starts a turn away: %v", err)
	}
	// one point, from wherever the wheel is, the short way
	r = newRig(t, parts{model: m, pose: []float64{0, 10}})
	ended(t, r.finish(r.must(0, &Goal{Joints: []string{"wheel"}, Points: []trajectory.Point{{Time: 1, Position: []float64{-2.5}}}}), 2), control.Done, control.OK)
	if want := 4*math.Pi - 2.5; math.Abs(r.at("wheel")-want) > 1e-9 {
		t.Errorf("ends at %g, want %g", r.at("wheel"), want)
	}
}

// TestAsk10PauseAndSpeed: lagging joints keep their tolerances through a pause, half
// speed and double speed, because those are counted on the motion's own clock; what
// limits do not allow is told.
func TestAsk10PauseAndSpeed(t *testing.T) {
	g := within(bend(), 0.12, 0.05)
	g.GoalTime = 0.1
	play := func(act func(r *rig, tick int)) (ticks int, r *rig) {
		r = newRig(t, parts{robot: "arm6", servo: sim.Servo{Lag: 0.05}, settings: patient()})
		goal := r.must(0, g)
		for {
			if rep, over := r.report(loop.GoalEnded, goal); over {
				ended(t, rep, control.Done, control.OK)
				return ticks, r
			}
			act(r, ticks)
			r.run(1)
			ticks++
		}
	}
	plain, _ := play(func(r *rig, tick int) {})
	if plain < 1200 || plain > 1300 {
		t.Fatalf("%d ticks", plain)
	}
	half, _ := play(func(r *rig, tick int) {
		if tick == 0 {
			r.order(loop.SetRate, 0.5)
		}
	})
	if half < 2390 || half > 2400+200 {
		t.Errorf("%d ticks at half speed, %d at full", half, plain)
	}
	paused, _ := play(func(r *rig, tick int) {
		switch tick {
		case 500:
			r.order(loop.Pause, 0)
		case 1500:
			if maxSpeed(r) != 0 {
				t.Errorf("moves with %g while paused", maxSpeed(r))
			}
			r.order(loop.Resume, 0)
		}
	})
	if paused < plain+900 || paused > plain+1200 {
		t.Errorf("%d ticks with a pause of 1000, %d without", paused, plain)
	}
	held := false
	g = within(bend(), 0.3, 0.05) // at twice the speed a lag is twice as far
	double, _ := play(func(r *rig, tick int) {
		if tick == 0 {
			r.order(loop.SetRate, 2)
		}
		if a := r.s.Active[0]; a.Active && a.Rate < a.Wanted-1e-9 && tick > 10 && a.Time < 1.2 {
			held = true
		}
	})
	if !held || double >= plain || double < plain/2 {
		t.Errorf("%d ticks at double speed, %d at full; told that limits hold it back: %v", double, plain, held)
	}
	// the same for one motion alone
	alone, _ := play(func(r *rig, tick int) {
		if tick == 0 {
			r.l.Send(loop.Order{Kind: loop.GoalRate, Controller: arbiter.ClientID(0), Value: 0.5})
		}
	})
	if alone != half {
		t.Errorf("%d ticks at half speed of one motion, %d of all", alone, half)
	}
}

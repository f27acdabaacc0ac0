package follow

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"poise/control"
	"poise/loop"
	"poise/problem"
	"poise/robot"
	"poise/servo"
	"poise/servo/sim"
	"poise/trajectory"
)

// The failures of this kind of system that concern trajectories, each as what it
// would look like today.

// TestNoOvershootAtEndsNoCreepInHolds: the command stays between the keys, rests at
// both ends and does not move in a hold.
func TestNoOvershootAtEndsNoCreepInHolds(t *testing.T) {
	r := newRig(t, parts{robot: "arm6"})
	goal := r.must(0, line("joint_1", 0.7, 0, 0.4, 0.4, -0.1, -0.1))
	first := r.n - 1
	for {
		rep, over := r.report(loop.GoalEnded, goal)
		if over {
			ended(t, rep, control.Done, control.OK)
			break
		}
		r.run(1)
		q, at := r.at("joint_1"), float64(r.n-1-first)*period
		if q > 0.4+1e-12 || q < -0.1-1e-12 {
			t.Fatalf("at %g s it overshoots to %g", at, q)
		}
		if at > 0.7005 && at < 1.3995 && q != 0.4 || at > 2.1005 && q != -0.1 {
			t.Fatalf("at %g s it creeps: %g", at, q)
		}
	}
	if maxSpeed(r) > 1e-3 {
		t.Errorf("ends with speed %g", maxSpeed(r))
	}
}

// TestGoalWithoutDuration: one point at time zero is a pose. Where the robot is, it
// is over at once; elsewhere it is refused, or gone to.
func TestGoalWithoutDuration(t *testing.T) {
	r := newRig(t, parts{robot: "arm6"})
	ended(t, r.finish(r.must(0, within(line("joint_1", 0, 0), 0.1, 0.1)), 0.01), control.Done, control.OK)
	if _, err := Compile(r.m, Options{}, &r.s.Command, within(line("joint_1", 0, 0.5), 0.1, 0.1)); len(problem.In(err)) != 1 {
		t.Errorf("half a radian away: %v", err)
	}
	g := within(line("joint_1", 0, 0.5), 0.1, 0.1)
	g.Approach = 1
	ended(t, r.finish(r.must(0, g), 2), control.Done, control.OK)
	if r.at("joint_1") != 0.5 {
		t.Errorf("ends at %g", r.at("joint_1"))
	}
	// without tolerances the bridge leads there, and the goal ends when it has
	ended(t, r.finish(r.must(0, line("joint_1", 0, 0)), 3), control.Done, control.OK)
	if r.at("joint_1") != 0 {
		t.Errorf("ends at %g", r.at("joint_1"))
	}
}

// TestOnePoint is reached from the command, in its time.
func TestOnePoint(t *testing.T) {
	for _, velocity := range [][]float64{nil, {0}} {
		r := newRig(t, parts{robot: "arm6"})
		goal := r.must(0, &Goal{Joints: []string{"joint_3"}, Points: []trajectory.Point{{Time: 1, Position: []float64{0.4}, Velocity: velocity}}})
		first := r.n - 1
		rep := r.finish(goal, 2)
		ended(t, rep, control.Done, control.OK)
		if n := rep.Tick.N - first; n != 1000 && n != 1001 || r.at("joint_3") != 0.4 {
			t.Errorf("%d ticks, at %g", n, r.at("joint_3"))
		}
		if _, err := Compile(r.m, Options{}, nil, &Goal{Joints: []string{"joint_3"}, Points: []trajectory.Point{{Time: 1, Position: []float64{0.4}}}}); len(problem.In(err)) != 1 || problem.In(err)[0].Code != NoStart {
			t.Errorf("from nowhere: %v", err)
		}
	}
}

// TestNoSpeedIsKeptAfterASwitch: a motion that is taken over at full speed by one
// that stands leaves nothing behind: the joint comes to rest there, and so does one
// that all controllers have left.
func TestNoSpeedIsKeptAfterASwitch(t *testing.T) {
	r := newRig(t, parts{robot: "arm6"})
	r.must(0, line("joint_1", 0.8, 0, 0.6, 0))
	r.run(400)
	v := r.v[0]
	if v < 0.5 {
		t.Fatalf("moves with %g", v)
	}
	at := r.at("joint_1")
	second := r.must(1, line("joint_1", 1, at, at))
	r.run(1)
	if d := math.Abs(r.s.Command.V[0] - v); d > 8*3*period {
		t.Errorf("velocity jumps from %g to %g", v, r.s.Command.V[0])
	}
	ended(t, r.finish(second, 3), control.Done, control.OK)
	r.run(200)
	if math.Abs(r.at("joint_1")-at) > 1e-9 || r.s.Command.V[0] != 0 || r.s.Command.A[0] != 0 {
		t.Errorf("at %g with %g after the switch, want %g at rest", r.at("joint_1"), r.s.Command.V[0], at)
	}
	r.must(0, line("joint_1", 0.8, at, at+0.5, at))
	r.run(400)
	r.l.Send(loop.Order{Kind: loop.Halt, Controller: 0})
	r.run(1000)
	if r.s.Command.V[0] != 0 || maxSpeed(r) != 0 {
		t.Errorf("left alone it moves with %g", maxSpeed(r))
	}
}

// TestDamagedProgramsAreRefused: what does not fit the robot never reaches a joint.
func TestDamagedProgramsAreRefused(t *testing.T) {
	r := newRig(t, parts{robot: "arm6"})
	pony := newRig(t, parts{robot: "pony"})
	foreign := pony.compile(line("tail_joint3", 1, 0, 0.2))
	goal := r.send(0, foreign)
	if rep, ok := r.report(loop.GoalRejected, goal); !ok || rep.Reason.Code != control.BadProgram {
		t.Errorf("%+v", r.reports)
	}
	var none *Program
	input := control.Input{Cmd: &r.s.Command, Meas: &r.s.Measured}
	for _, p := range []control.Program{nil, none} {
		if why := r.all[0].Check(&input, p); why.Code != control.BadProgram {
			t.Errorf("%v: %+v", p, why)
		}
	}
	if New(r.m).Owned(&input, robot.Set{}) != control.Quit {
		t.Error("lives on without a program")
	}
}

// TestSupportsWhileItRuns: a driven leg without a track is free while it runs, and
// carries again when it is done, also if a second goal replaced the first; one with
// a track keeps what its last point says.
func TestSupportsWhileItRuns(t *testing.T) {
	r := newRig(t, parts{robot: "pony"})
	leg1, _ := r.m.Chain("leg1")
	weight := func() float64 { return r.s.Command.Support[leg1].Weight }
	if weight() != 1 {
		t.Fatal("legs do not carry at first")
	}
	r.must(0, line("joint12", 0.5, 0, 0.1, 0))
	r.run(500)
	if weight() != 0 {
		t.Error("a driven leg carries")
	}
	goal := r.must(0, &Goal{Joints: []string{"joint12"}, Points: []trajectory.Point{{Time: 0.5, Position: []float64{0}}}})
	r.run(100)
	if weight() != 0 {
		t.Error("a driven leg carries")
	}
	ended(t, r.finish(goal, 2), control.Done, control.OK)
	r.run(10)
	if weight() != 1 {
		t.Error("the leg does not carry again")
	}
	track := &Goal{Joints: []string{"joint12", "support/leg1"}, Points: []trajectory.Point{
		{Position: []float64{0, 1}}, {Time: 0.5, Position: []float64{0.1, 0}}, {Time: 1, Position: []float64{0, 0.5}}}}
	goal = r.must(0, track)
	for k := range 998 {
		want := 1.0
		if k >= 500 {
			want = 0
		}
		if weight() != want {
			t.Fatalf("after %d ticks the leg carries %g", k, weight())
		}
		r.run(1)
	}
	ended(t, r.finish(goal, 1), control.Done, control.OK)
	r.run(10)
	if weight() != 0.5 {
		t.Errorf("the leg carries %g at last", weight())
	}
}

// TestFeetStayWhereAMotionKnowsOfNone: a motion that moves every leg and has no support track
// leaves the feet as they are, while it runs and after; with one track the others are free.
func TestFeetStayWhereAMotionKnowsOfNone(t *testing.T) {
	r := newRig(t, parts{robot: "pony"})
	carried := func() (all []float64) {
		for i, c := range r.m.Chains() {
			if c.Contact != robot.NoContact {
				all = append(all, r.s.Command.Support[i].Weight)
			}
		}
		return all
	}
	legs := []string{"joint12", "joint22", "joint32", "joint42"}
	squat := func(more ...string) *Goal {
		g := &Goal{Joints: append(slices.Clone(legs), more...)}
		for k, q := range []float64{0, 0.1, 0} {
			row := []float64{q, q, q, q}
			for range more {
				row = append(row, 0.5)
			}
			g.Points = append(g.Points, trajectory.Point{Time: 0.5 * float64(k), Position: row})
		}
		return g
	}
	for _, c := range []struct {
		g           *Goal
		before      float64
		want, after []float64
	}{
		{g: squat(), before: 1, want: []float64{1, 1, 1, 1}, after: []float64{1, 1, 1, 1}},
		{g: squat(), before: 0.6, want: []float64{0.6, 1, 1, 1}, after: []float64{0.6, 1, 1, 1}},
		{g: squat("support/leg1"), before: 1, want: []float64{0.5, 0, 0, 0}, after: []float64{0.5, 1, 1, 1}},
	} {
		ended(t, r.finish(r.must(0, line("support/leg1", 0.2, c.before, c.before)), 2), control.Done, control.OK)
		goal := r.must(0, c.g)
		for range 9 {
			if r.run(100); !slices.Equal(carried(), c.want) {
				t.Fatalf("%v after %g: the legs carry %v, want %v", c.g.Joints, c.before, carried(), c.want)
			}
		}
		ended(t, r.finish(goal, 2), control.Done, control.OK)
		if r.run(10); !slices.Equal(carried(), c.after) {
			t.Errorf("%v after %g: at last the legs carry %v, want %v", c.g.Joints, c.before, carried(), c.after)
		}
	}
}

// TestJoinedSupports: of two motions, one after the other, each has the supports it would have alone.
func TestJoinedSupports(t *testing.T) {
	stands, free := control.Support{Weight: 1, Contact: 2}, control.Support{Contact: 2}
	half := control.Support{Weight: 0.5, Contact: 1}
	record := func(x *Support) *Record {
		r := &Record{Steps: []float64{0, 1}}
		if x != nil {
			x.Contact, r.Chains = 2, []Support{*x}
		}
		return r
	}
	holding, leaving, tracked := &Support{Holds: true}, &Support{}, &Support{Track: []control.Support{stands, half}}
	for _, c := range []struct {
		name  string
		a, b  *Support
		track []control.Support
		holds bool
	}{
		{"both hold", holding, holding, nil, true},
		{"holds, then a track", holding, tracked, []control.Support{stands, stands, stands, half}, false},
		{"a track, then holds", tracked, holding, []control.Support{stands, half, half, half}, false},
		{"holds, then free", holding, leaving, []control.Support{stands, stands, free, free}, false},
		{"free, then holds", leaving, holding, nil, false},
		{"holds, then unknown", holding, nil, nil, true},
		{"unknown, then holds", nil, holding, nil, true},
	} {
		steps, chains := joinTracks(record(c.a), record(c.b), 2)
		if len(steps) != 4 || len(chains) != 1 || !slices.Equal(chains[0].Track, c.track) || chains[0].Holds != c.holds {
			t.Errorf("%s: steps %v, %+v", c.name, steps, chains)
		}
	}
}

// TestSupportsAlone: a goal may have no joints at all.
func TestSupportsAlone(t *testing.T) {
	r := newRig(t, parts{robot: "pony"})
	leg2, _ := r.m.Chain("leg2")
	goal := r.must(0, line("support/leg2", 0.5, 0, 0.7))
	if r.run(100); r.s.Command.Support[leg2].Weight != 0 {
		t.Error("not free")
	}
	ended(t, r.finish(goal, 2), control.Done, control.OK)
	if r.s.Command.Support[leg2].Weight != 0.7 {
		t.Errorf("%+v", r.s.Command.Support[leg2])
	}
}

// TestStartIsBlended: without tolerances a motion may start elsewhere; the bridge
// leads the robot to it within limits while it plays, and it ends where it should.
func TestStartIsBlended(t *testing.T) {
	for _, dt := range []float64{period, busPeriod} {
		r := newRig(t, parts{robot: "arm6", period: dt})
		goal := r.must(0, arm(0.9, []float64{0.5, -0.2, 0.3, 0, 0, 0}, []float64{0, 0.2, 0, 0.4, 0, 0}, []float64{0.4, 0, 0, 0, 0, 0.5}))
		ended(t, r.finish(goal, 6), control.Done, control.OK)
		if math.Abs(r.at("joint_1")-0.4) > 1e-9 || math.Abs(r.at("joint_6")-0.5) > 1e-9 {
			t.Errorf("ends at %v", r.s.Command.Q)
		}
	}
}

// TestRandomGoals plays random motions near their limits with random speeds, pauses,
// replacements and cancels, on good and bad servos: every command keeps the limits
// of its joint, and every goal ends.
func TestRandomGoals(t *testing.T) {
	rounds := 25
	if testing.Short() {
		rounds = 1
	}
	if soak {
		rounds = 1000
	}
	rng := rand.New(rand.NewPCG(8, 1))
	outcomes := map[control.Code]int{}
	for n := range rounds {
		dt := []float64{period, 0.004, busPeriod}[rng.IntN(3)]
		p := parts{robot: []string{"arm6", "pony"}[rng.IntN(2)], period: dt, settings: patient()}
		if rng.IntN(3) == 0 {
			p.servo = sim.Servo{Lag: 0.1 * rng.Float64(), Loss: 0.3 * rng.Float64(), Delay: rng.IntN(5)}
		}
		r := newRig(t, p)
		last := uint64(0)
		for range 6 {
			g := r.randomGoal(rng)
			program, err := Compile(r.m, Options{}, &r.s.Command, g)
			if err != nil {
				t.Fatalf("round %d: %v", n, err)
			}
			last = r.send(0, program)
			for range rng.IntN(400) {
				if rng.IntN(60) == 0 {
					kinds := []loop.OrderKind{loop.Pause, loop.Resume, loop.SetRate, loop.SetRate, loop.Resume}
					r.order(kinds[rng.IntN(len(kinds))], 2*rng.Float64())
				}
				if rng.IntN(300) == 0 {
					r.l.Send(loop.Order{Kind: loop.CancelGoal})
				}
				r.run(1)
			}
		}
		r.order(loop.Resume, 0)
		r.order(loop.SetRate, 1)
		if r.programs[last].Record().Loop {
			r.l.Send(loop.Order{Kind: loop.CancelGoal})
		}
		if _, rejected := r.report(loop.GoalRejected, last); !rejected {
			r.finish(last, 40+r.programs[last].Curve().End()-r.programs[last].Curve().Start())
		}
		for _, rep := range r.reports {
			if rep.Kind == loop.GoalEnded || rep.Kind == loop.GoalRejected {
				outcomes[rep.Reason.Code]++
			}
		}
	}
	t.Logf("%d rounds: %v", rounds, outcomes)
}

// randomGoal makes a goal for some joints of the robot that passes, as fast as it
// may be: a refusal says how much slower.
func (r *rig) randomGoal(rng *rand.Rand) *Goal {
	joints := r.m.Joints()
	g := &Goal{Loop: rng.IntN(8) == 0, Approach: float64(rng.IntN(2)) * (0.1 + 0.9*rng.Float64())}
	for _, j := range rng.Perm(len(joints))[:1+rng.IntN(6)] {
		g.Joints = append(g.Joints, joints[j].Name)
	}
	style := rng.IntN(4)
	at, points := 0.0, 2+rng.IntN(5)
	for i := range points {
		p := trajectory.Point{Time: at, Position: make([]float64, len(g.Joints))}
		for k, name := range g.Joints {
			id, _ := r.m.Joint(name)
			l := joints[id].Limits
			p.Position[k] = l.Lower.Value + (0.1+0.8*rng.Float64())*(l.Upper.Value-l.Lower.Value)
			if i == 0 && style != 3 {
				p.Position[k] = r.s.Command.Q[id]
			}
		}
		if style == 1 || style == 2 {
			p.Velocity = make([]float64, len(g.Joints))
		}
		if style == 2 {
			p.Acceleration = make([]float64, len(g.Joints))
		}
		g.Points = append(g.Points, p)
		at += 0.1 + rng.Float64()
	}
	if g.Loop {
		copy(g.Points[points-1].Position, g.Points[0].Position)
	}
	for range 40 {
		_, err := Compile(r.m, Options{}, &r.s.Command, g)
		if err == nil {
			return g
		}
		for i := range g.Points {
			g.Points[i].Time *= 1.15
		}
	}
	r.t.Fatalf("no speed is slow enough")
	return nil
}

// TestDecodedProgramsDoTheSame: a program that went through the recorder gives the
// same hashes, tick by tick.
func TestDecodedProgramsDoTheSame(t *testing.T) {
	hashes := func(again bool) (all []uint64) {
		r := newRig(t, parts{robot: "pony", tap: tapFunc(func(f *loop.TickRecord) { all = append(all, f.Hash) })})
		rng := rand.New(rand.NewPCG(3, 3))
		for range 4 {
			p := r.compile(r.randomGoal(rng))
			if again {
				b, err := p.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				q, err := Decode(b)
				if err != nil {
					t.Fatal(err)
				}
				p = q.(*Program)
			}
			r.send(0, p)
			r.run(400)
		}
		return all
	}
	if a, b := hashes(false), hashes(true); !slices.Equal(a, b) {
		t.Error("a decoded program does something else")
	}
	for _, bad := range []string{"", "{}", "[]", `{"names":["x"]}`} {
		if _, err := Decode([]byte(bad)); err == nil {
			t.Errorf("%q is a program", bad)
		}
	}
}

type tapFunc func(*loop.TickRecord)

func (f tapFunc) Tick(x *loop.TickRecord) { f(x) }

func TestNothingAllocatesInTheCycle(t *testing.T) {
	r := newRig(t, parts{robot: "pony"})
	g := withEvents(line("joint52", 0.5, 0, 0.2, 0), 0.1, 0.2)
	g.Loop = true
	g = within(g, 0.5, 0.5)
	p := r.compile(g)
	needs, _ := p.Claim()
	c := New(r.m)
	input := &control.Input{Tick: servo.Tick{Dt: period}, Cmd: &r.s.Command, Meas: &r.s.Measured, Rate: 1}
	out := control.NewReference(len(r.m.Joints()), len(r.m.Chains()), 1)
	if n := testing.AllocsPerRun(200, func() {
		if why := c.Start(input, p); why.Code != control.OK {
			t.Fatalf("%+v", why)
		}
		for k := range 30 {
			input.Tick.N++
			input.Rate = 0.1 * float64(k%20)
			out.Reset()
			c.Update(input, out)
			copy(r.s.Command.Q, out.Q)
			c.Owned(input, needs)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	// and with the loop around it
	r = newRig(t, parts{robot: "pony"})
	r.must(0, g)
	if n := testing.AllocsPerRun(300, func() {
		r.l.Step(r.tick())
		r.n++
		for {
			if _, ok := r.l.Receive(); !ok {
				break
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations in a tick", n)
	}
}

// pony38 is a goal of all joints of the pony, with tolerances for all.
func pony38(b testing.TB, m *robot.Model) *Goal {
	g := &Goal{Loop: true}
	for i := range m.Joints() {
		g.Joints = append(g.Joints, m.Joints()[i].Name)
	}
	for i := range 20 {
		p := trajectory.Point{Time: 0.5 * float64(i), Position: make([]float64, len(g.Joints))}
		for k := range p.Position {
			p.Position[k] = 0.02 * float64(k%3-1) * float64(i%3) * float64(i%19) / 19
		}
		g.Points = append(g.Points, p)
	}
	return within(g, 0.5, 0.1)
}

func BenchmarkUpdate(b *testing.B) {
	m := model(b, "pony")
	g := pony38(b, m)
	p, err := Compile(m, Options{}, nil, g)
	if err != nil {
		b.Fatal(err)
	}
	cmd, meas := control.NewMotion(len(m.Joints()), len(m.Chains()), 1), control.NewMeasured(len(m.Joints()), 0, servo.Sensors{})
	input := &control.Input{Tick: servo.Tick{Dt: period}, Cmd: &cmd, Meas: &meas, Rate: 1}
	out := control.NewReference(len(m.Joints()), len(m.Chains()), 1)
	c := New(m)
	c.Start(input, p)
	b.ReportAllocs()
	for b.Loop() {
		input.Tick.N++
		out.Reset()
		if st, why := c.Update(input, out); st != control.Going {
			b.Fatalf("%d %+v", st, why)
		}
		copy(cmd.Q, out.Q)
		copy(meas.Q, out.Q)
	}
}

func BenchmarkCompile(b *testing.B) {
	m := model(b, "pony")
	g := pony38(b, m)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(m, Options{}, nil, g); err != nil {
			b.Fatal(err)
		}
	}
}

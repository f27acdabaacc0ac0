package step_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"poise/contact"
	"poise/control"
	"poise/control/pose"
	"poise/control/step"
	"poise/internal/rig"
	"poise/kinematics"
	"poise/loop"
	"poise/problem"
	"poise/servo/sim"
	"poise/spatial"
)

// footError is what the issue allows, between a limb and where its samples have it.
const footError = 2e-3 // m

// hoofSpeed is how fast hooves of the gait are at most, m/s.
const hoofSpeed = 0.15

func setup(t testing.TB, o rig.Options) *rig.Rig {
	t.Helper()
	m := rig.Model(t, "pony")
	s, err := step.New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pose.New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	return rig.New(t, m, o, loop.Registration{Name: "step", Controller: s}, loop.Registration{Name: "pose", Controller: p})
}

// stage knows where limbs are.
type stage struct {
	r    *rig.Rig
	d    *kinematics.Data
	tips map[string]kinematics.Place
	q    []float64
	home map[string]spatial.Pose // in the world, standing
	base spatial.Pose
}

func newStage(t testing.TB, r *rig.Rig) *stage {
	t.Helper()
	s := &stage{r: r, d: kinematics.NewData(r.M), tips: map[string]kinematics.Place{}, home: map[string]spatial.Pose{}, q: make([]float64, r.M.NumQ())}
	for _, c := range r.M.Chains() {
		s.tips[c.Name] = s.d.At(c.VirtualTip)
	}
	g, err := contact.NewGround(r.M)
	if err != nil {
		t.Fatal(err)
	}
	s.base, _ = g.Settle(r.Now.Command.Q, g.DefaultFeetTo(nil))
	for name := range s.tips {
		s.home[name] = s.limb(name, r.Now.Command.Q, s.base)
	}
	return s
}

// limb returns where a limb is in the world.
func (s *stage) limb(name string, joints []float64, X_WB spatial.Pose) spatial.Pose {
	for j, q := range joints {
		s.q[s.r.M.Joints()[j].Q] = q
	}
	o := X_WB.R.Quat()
	copy(s.q, []float64{X_WB.P.X, X_WB.P.Y, X_WB.P.Z, o.X, o.Y, o.Z, o.W})
	s.d.UpdatePosition(s.q)
	return s.d.Pose(s.tips[name])
}

var legs = []string{"leg1", "leg3", "leg4", "leg2"}

// walk is a creeping gait: the body leans over three hooves while the fourth is put
// forward; every limb in turn, and the body follows.
func (s *stage) walk() *step.Goal {
	const stride, lift, beat = 0.02, 0.015, 0.2
	g := &step.Goal{}
	at := map[string]spatial.Pose{}
	for _, l := range legs {
		at[l] = s.home[l]
		g.Limbs = append(g.Limbs, step.Limb{Chain: l})
	}
	body, t := s.base, 0.0
	add := func(dt float64, free string) {
		t += dt
		g.Times, g.Base = append(g.Times, t), append(g.Base, body)
		for i, l := range legs {
			name := "hoof_flat"
			if l == free {
				name = ""
			}
			g.Limbs[i].Poses, g.Limbs[i].Contacts = append(g.Limbs[i].Poses, at[l]), append(g.Limbs[i].Contacts, name)
		}
	}
	add(0, "")
	for _, l := range legs {
		away := s.home[l].P.Sub(s.base.P)
		body.P.Y -= math.Copysign(0.015, away.Y) // lean away
		body.P.X -= math.Copysign(0.010, away.X)
		add(beat, "")
		add(beat, "")
		add(beat, l)       // it carries nothing any more
		for k := range 5 { // swing
			X := at[l]
			X.P.X += stride / 5
			X.P.Z = s.home[l].P.Z + lift*math.Sin(math.Pi*float64(k+1)/5)
			at[l] = X
			add(beat, l)
		}
		add(beat, "") // stands again
		body.P.Y += math.Copysign(0.015, away.Y)
		body.P.X += math.Copysign(0.010, away.X) + stride/4
		for range 3 {
			add(beat, "")
		}
	}
	return g
}

// TestWalkKeepsTheFeet: a gait of four steps on the cycle; at the samples every limb
// is where it is to be, and a hoof that stands does not move in between. Supports
// change with the samples.
func TestWalkKeepsTheFeet(t *testing.T) {
	for _, period := range rig.Periods() {
		r := setup(t, rig.Options{Pose: "crouched", Period: period})
		r.Slack = math.Inf(1) // the gait sets its own accelerations, and the robot has no limit of them
		s := newStage(t, r)
		g := s.walk()
		p, err := step.Compile(r.M, step.Options{From: r.Now.Command.Q}, g)
		if err != nil {
			t.Fatal(err)
		}
		goal := r.Start("step", p)
		worst, slid := 0.0, 0.0
		for k := 1; k < len(g.Times); k++ {
			for r.Activity("step").Time < g.Times[k] && r.Activity("step").Active {
				r.Run(1)
				// hooves that stand are where they stood
				for _, l := range g.Limbs {
					if l.Contacts[k-1] != "" && l.Contacts[k] != "" {
						X := s.limb(l.Chain, r.Now.Command.Q, r.Now.Command.Base.Pose)
						slid = max(slid, X.P.Sub(l.Poses[k-1].P).Norm())
					}
				}
			}
			// the first tick after a sample: what a hoof goes in that time counts too
			late := r.Activity("step").Time - g.Times[k]
			for _, l := range g.Limbs {
				X := s.limb(l.Chain, r.Now.Command.Q, r.Now.Command.Base.Pose)
				worst = max(worst, X.P.Sub(l.Poses[k].P).Norm()-late*hoofSpeed)
				chain, _ := r.M.Chain(l.Chain)
				want := 0.0
				if l.Contacts[k] != "" {
					want = 1
				}
				lands := slices.ContainsFunc(l.Contacts[k:], func(name string) bool { return name != "" })
				if swing := r.Now.Command.Support[chain].Swing; (swing > 0) != (want == 0 && lands) || swing > 1 {
					t.Errorf("period %g: %s carries %g at %.2f s, at %g of a swing", period, l.Chain, want, g.Times[k], swing)
				}
				if got := r.Now.Command.Support[chain].Weight; got != want {
					t.Errorf("period %g: %s carries %g at %.2f s, want %g", period, l.Chain, got, g.Times[k], want)
				}
			}
		}
		if st, why := r.Until(goal, 1); st != control.Done {
			t.Fatalf("%v %+v", st, why)
		}
		end := 0.0
		for _, l := range g.Limbs {
			X := s.limb(l.Chain, r.Now.Command.Q, r.Now.Command.Base.Pose)
			end = max(end, X.P.Sub(l.Poses[len(l.Poses)-1].P).Norm())
		}
		t.Logf("period %g: feet %.2g m off at samples, %.2g m in the end, standing hooves moved %.2g m, curve %.2g m", period, worst, end, slid, p.Deviation())
		if worst > footError || slid > footError || end > 1e-6 || p.Deviation() > 2e-4 {
			t.Errorf("period %g: feet %g m off, standing hooves moved %g m, %g m off in the end", period, worst, slid, end)
		}
		if d := r.Now.Command.Base.Pose.P.X - s.base.P.X; math.Abs(d-0.02) > 1e-6 {
			t.Errorf("the body went %g m", d)
		}
	}
}

// TestPauseHoldsTheGait: paused in mid-swing nothing moves, and it ends where it
// would have.
func TestPauseHoldsTheGait(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
	r := setup(t, rig.Options{Pose: "crouched"})
	r.Slack = math.Inf(1)
	s := newStage(t, r)
	p, err := step.Compile(r.M, step.Options{From: r.Now.Command.Q}, s.walk())
	if err != nil {
		t.Fatal(err)
	}
	goal := r.Start("step", p)
	r.For(1.1)
	r.Send(loop.Order{Kind: loop.GoalPause, Controller: r.Controller("step")})
	r.For(0.5)
	before := append([]float64(nil), r.Now.Command.Q...)
	at := r.Activity("step").Time
	r.For(0.3)
	for j, q := range r.Now.Command.Q {
		if q != before[j] {
			t.Errorf("%s moves in a pause", r.M.Joints()[j].Name)
		}
	}
	if at < 1 || at > 1.5 {
		t.Errorf("paused at %g s", at)
	}
	r.Send(loop.Order{Kind: loop.GoalResume, Controller: r.Controller("step")})
	if st, why := r.Until(goal, 15); st != control.Done {
		t.Errorf("%v %+v", st, why)
	}
}

// TestLimbsSeenFromTheBase mean the same when the base is given with them, and work
// without one.
func TestLimbsSeenFromTheBase(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
	r := setup(t, rig.Options{Pose: "crouched"})
	r.Slack = math.Inf(1)
	s := newStage(t, r)
	g := s.walk()
	world, err := step.Compile(r.M, step.Options{From: r.Now.Command.Q}, g)
	if err != nil {
		t.Fatal(err)
	}
	for i := range g.Limbs {
		for k := range g.Times {
			g.Limbs[i].Poses[k] = g.Base[k].Inverse().Mul(g.Limbs[i].Poses[k])
		}
	}
	g.InBase = true
	seen, err := step.Compile(r.M, step.Options{From: r.Now.Command.Q}, g)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := world.MarshalBinary()
	b, _ := seen.MarshalBinary()
	if len(a) == 0 || math.Abs(world.Duration()-seen.Duration()) > 0 || math.Abs(world.Deviation()-seen.Deviation()) > 1e-9 || len(b) == 0 {
		t.Errorf("%g s and %g s, %g and %g m", world.Duration(), seen.Duration(), world.Deviation(), seen.Deviation())
	}
	g.Base = nil
	free, err := step.Compile(r.M, step.Options{From: r.Now.Command.Q}, g)
	if err != nil {
		t.Fatal(err)
	}
	if needs, _ := free.Claim(); needs.Overlaps(r.Set("base")) {
		t.Error("it asks for a base that it leaves alone")
	}
	if st, why := r.Until(r.Start("step", free), 15); st != control.Done {
		t.Errorf("%v %+v", st, why)
	}
}

// TestProblems: each wrong goal is refused with what is wrong, all at once.
func TestProblems(t *testing.T) {
	r := setup(t, rig.Options{Pose: "crouched"})
	s := newStage(t, r)
	for _, c := range []struct {
		name   string
		change func(g *step.Goal)
		words  []string
	}{
		{"no limb", func(g *step.Goal) { g.Limbs = nil }, []string{"step: ee_motion names no limb, must name at least one"}},
		{"one sample", func(g *step.Goal) {
			g.Times, g.Base = g.Times[:1], g.Base[:1]
			for i := range g.Limbs {
				g.Limbs[i].Poses, g.Limbs[i].Contacts = g.Limbs[i].Poses[:1], g.Limbs[i].Contacts[:1]
			}
		}, []string{"1 samples"}},
		{"lengths", func(g *step.Goal) {
			g.Base = g.Base[1:]
			g.Limbs[0].Poses = g.Limbs[0].Poses[2:]
			g.Limbs[1].Contacts = nil
			g.Limbs[2].Contacts = g.Limbs[2].Contacts[3:]
		}, []string{"poses of the base", `"leg1" has`, `"leg4" has`}},
		{"unknown chain, twice the same", func(g *step.Goal) { g.Limbs[0].Chain, g.Limbs[1].Chain = "leg9", "leg2" }, []string{`no chain "leg9"`, "did you mean", "given twice"}},
		{"times", func(g *step.Goal) { g.Times[4] = g.Times[3] }, []string{"sample 4", "not after"}},
		{"no number", func(g *step.Goal) { g.Limbs[0].Poses[2].P.X = math.NaN() }, []string{"sample 2", "not finite"}},
		{"no rotation", func(g *step.Goal) { g.Base[1].R = spatial.Mat3{} }, []string{"the base at sample 1"}},
		{"contact", func(g *step.Goal) { g.Limbs[3].Contacts[1] = "paw" }, []string{`"paw"`, "no such contact"}},
		{"out of reach", func(g *step.Goal) { g.Limbs[0].Poses[7].P.X += 0.3; g.Limbs[0].Poses[6].P.X += 0.3 }, []string{`"leg1" does not reach`, "missing"}},
		{"slips", func(g *step.Goal) {
			for k := 20; k < len(g.Times); k++ {
				g.Limbs[0].Poses[k].P.X += 0.01
			}
		}, []string{`"leg1" stands from`, "0.0100 m away"}},
		{"too fast", func(g *step.Goal) {
			for k := range g.Times {
				g.Times[k] /= 10
			}
		}, []string{"velocity of", "its limit is"}},
		{"shared joints", func(g *step.Goal) {
			g.Limbs = []step.Limb{{Chain: "head", Poses: g.Limbs[0].Poses}, {Chain: "nose", Poses: g.Limbs[0].Poses}}
		}, []string{"shares"}},
	} {
		g := s.walk()
		c.change(g)
		_, err := step.Compile(r.M, step.Options{From: r.Now.Command.Q}, g)
		if err == nil {
			t.Errorf("%s: accepted", c.name)
			continue
		}
		for _, w := range c.words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: no %q in:\n%v", c.name, w, err)
			}
		}
		var p *problem.Problem
		if !errors.As(err, &p) {
			t.Errorf("%s: %T is no *problem.Problem", c.name, err)
		}
	}
	// where it may, time slows down instead, and the path stays
	g := s.walk()
	for k := range g.Times {
		g.Times[k] /= 10
	}
	g.MaySlow = true
	p, err := step.Compile(r.M, step.Options{From: r.Now.Command.Q}, g)
	if err != nil {
		t.Fatal(err)
	}
	r.Slack = math.Inf(1)
	began := r.N
	if st, why := r.Until(r.Start("step", p), 20); st != control.Done {
		t.Fatalf("%v %+v", st, why)
	}
	if took := float64(r.N-began) * r.Dt; took < 1.5*p.Duration() {
		t.Errorf("took %g s of %g", took, p.Duration())
	}
}

// TestStartAndTolerance: a start from elsewhere is refused with limb and distance; a
// limb that falls behind its command breaks the tolerance, from both sides of it.
func TestStartAndTolerance(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
	r := setup(t, rig.Options{Pose: "crouched"})
	r.Slack = math.Inf(1)
	g := newStage(t, r).walk()
	g.PositionTolerance = 0.01
	p, err := step.Compile(r.M, step.Options{From: r.Now.Command.Q}, g)
	if err != nil {
		t.Fatal(err)
	}
	up := setup(t, rig.Options{})
	why, refused := up.Refused(up.Ask("step", p))
	if !refused || why.Code != control.StartTooFar || why.Max != 0.01 || why.Value < 0.01 || int(why.Joint) != up.Joint("joint11") {
		t.Errorf("%v %+v", why.Code, why)
	}
	for _, c := range []struct {
		lag  float64
		done bool
	}{{0.02, true}, {0.5, false}} {
		slow := setup(t, rig.Options{Pose: "crouched", Servo: sim.Servo{Lag: c.lag}})
		slow.Slack = math.Inf(1)
		st, why := slow.Until(slow.Start("step", p), 15)
		if (st == control.Done) != c.done {
			t.Errorf("lag %g s: %v %+v", c.lag, st, why)
		}
		if !c.done && (why.Code != control.ToleranceBroken || why.Value <= 0.01 || why.Max != 0.01 || why.At <= 0) {
			t.Errorf("lag %g s: %+v", c.lag, why)
		}
	}
}

func TestLosesALegAndQuits(t *testing.T) {
	r := setup(t, rig.Options{Pose: "crouched"})
	r.Slack = math.Inf(1)
	p, err := step.Compile(r.M, step.Options{From: r.Now.Command.Q}, newStage(t, r).walk())
	if err != nil {
		t.Fatal(err)
	}
	goal := r.Start("step", p)
	r.For(0.5)
	other, err := pose.Named(r.M, "crouched", 0)
	if err != nil {
		t.Fatal(err)
	}
	other.Needs = other.Needs.Intersect(r.Set("leg3"))
	r.Start("pose", other)
	if st, why, over := r.Ended(goal); !over || st != control.Quit || why.Code != control.ResourceLost {
		t.Errorf("%v %+v", st, why)
	}
	r.For(2)
}

func TestProgramsSurvive(t *testing.T) {
	r := setup(t, rig.Options{Pose: "crouched"})
	p, err := step.Compile(r.M, step.Options{From: r.Now.Command.Q}, newStage(t, r).walk())
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	q, err := step.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := q.(*step.Program).MarshalBinary(); string(again) != string(b) {
		t.Error("another program came back")
	}
	n1, _ := p.Claim()
	if n2, _ := q.Claim(); n1 != n2 {
		t.Errorf("%v %v", n1, n2)
	}
	for _, bad := range []string{"", "{}", `{"times":[0,1],"chains":[{"chain":0,"contacts":[0,0]}],"joints":[0],"knots":[0,1],"table":[[0],[1]],"velocity":[1],"acceleration":[]}`} {
		if _, err := step.Decode([]byte(bad)); err == nil {
			t.Errorf("%q is a program", bad)
		}
	}
}

func TestStepDoesNotAllocate(t *testing.T) {
	r := setup(t, rig.Options{Pose: "crouched"})
	p, err := step.Compile(r.M, step.Options{From: r.Now.Command.Q}, newStage(t, r).walk())
	if err != nil {
		t.Fatal(err)
	}
	r.Slack = math.Inf(1)
	r.Start("step", p)
	if n := testing.AllocsPerRun(200, func() { r.L.Step(r.Tick()); r.N++ }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzDecode: no record makes it fail, and what it accepts can be checked.
func FuzzDecode(f *testing.F) {
	r := setup(f, rig.Options{Pose: "crouched"})
	c, err := step.New(r.M, control.Transition{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"times":[0,1],"chains":[{"chain":0,"contacts":[0,-1]}],"joints":[0,1],"knots":[0,1],"table":[[0,0],[0.1,0]],"velocity":[1,0],"acceleration":[1,2]}`))
	f.Add([]byte(`{"times":[0,1],"chains":[{"chain":9,"contacts":[0,-1]}],"joints":[200],"base":true,"knots":[0,1],"table":[[0,0,0,0,0,0,0],[1,0,0,0,0,0,0]],"velocity":[1],"acceleration":[1]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := step.Decode(b)
		if err != nil {
			return
		}
		input := &control.Input{Tick: r.Tick(), Cmd: &r.Now.Command, Meas: &r.Now.Measured, Rate: 1}
		out := control.NewReference(len(r.M.Joints()), len(r.M.Chains()), 1)
		if c.Start(input, p).Code == control.OK {
			for range 10 {
				c.Update(input, out)
			}
		}
	})
}

func BenchmarkStep(b *testing.B) {
	r := setup(b, rig.Options{Pose: "crouched"})
	p, err := step.Compile(r.M, step.Options{From: r.Now.Command.Q}, newStage(b, r).walk())
	if err != nil {
		b.Fatal(err)
	}
	c, _ := step.New(r.M, control.Transition{})
	needs, _ := p.Claim()
	input := &control.Input{Tick: r.Tick(), Cmd: &r.Now.Command, Meas: &r.Now.Measured, Own: needs, Rate: 1}
	input.Tick.Dt = 1e-6
	out := control.NewReference(len(r.M.Joints()), len(r.M.Chains()), 1)
	c.Start(input, p)
	b.ReportAllocs()
	for b.Loop() {
		c.Update(input, out)
	}
}

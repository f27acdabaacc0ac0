package stream_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/control"
	"poise/control/hold"
	"poise/control/stream"
	"poise/internal/rig"
	"poise/loop"
	"poise/robot"
)

func setup(t testing.TB) *rig.Rig {
	t.Helper()
	m := rig.Model(t, "pony")
	s, err := stream.New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := hold.New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	return rig.New(t, m, rig.Options{}, loop.Registration{Name: "stream", Controller: s}, loop.Registration{Name: "hold", Controller: h})
}

// sample brings one joint somewhere, stamped now.
func sample(r *rig.Rig, joint string, q float64) *stream.Sample {
	j := r.Joint(joint)
	s := &stream.Sample{At: r.Tick().Time, Joints: robot.Leaf(robot.LeafID(j)), Q: make([]float64, len(r.M.Joints()))}
	s.Q[j] = q
	return s
}

func refusals(r *rig.Rig) (all []control.Reason) {
	for _, rep := range r.Reports {
		if rep.Kind == loop.OrderRefused {
			all = append(all, rep.Reason)
		}
	}
	return all
}

// TestPhantomInputNeverMovesAJoint is a failure of the original: poses queued
// before the activation were played after it. Here values are fed before the goal,
// in the same tick before it, and after it with stamps from before; no joint moves
// by a bit, and each late one is refused as stale.
func TestPhantomInputNeverMovesAJoint(t *testing.T) {
	r := setup(t)
	before := append([]float64(nil), r.Now.Command.Q...)
	var old []*stream.Sample
	for k := range 10 {
		s := sample(r, "joint52", 0.1*float64(k))
		old = append(old, s)
		r.Feed("stream", s)
		r.Run(1)
	}
	r.Feed("stream", old[9]) // drained in the tick of the activation, before it
	goal := r.Start("stream", &stream.Program{Needs: r.Set("head")})
	r.Reports = nil
	for k := range 50 {
		r.Feed("stream", old[k%10])
		r.Run(1)
	}
	if got := refusals(r); len(got) != 50 || got[0].Code != control.Stale || !(got[0].Value > got[0].Max) {
		t.Errorf("%d refusals, the first %+v", len(got), got[0])
	}
	for j, q := range r.Now.Command.Q {
		if q != before[j] {
			t.Errorf("%s moved from %v to %v", r.M.Joints()[j].Name, before[j], q)
		}
	}
	// what is new does move it
	r.Feed("stream", sample(r, "joint52", 0.3))
	r.For(0.4)
	if q := r.Now.Command.Q[r.Joint("joint52")]; q < 0.25 {
		t.Errorf("the neck is at %g after a fresh value", q)
	}
	if _, why, over := r.Ended(goal); over {
		t.Errorf("ended: %+v", why)
	}
}

// TestOnlyTheNewestCounts: of many values in one tick the last is taken, and one
// older than it is refused whenever it comes.
func TestOnlyTheNewestCounts(t *testing.T) {
	r := setup(t)
	r.Start("stream", &stream.Program{Needs: r.Set("head")})
	for k := range 10 {
		r.Feed("stream", sample(r, "joint52", -0.1*float64(k)))
	}
	last := sample(r, "joint52", 0.2)
	r.Feed("stream", last)
	r.Run(100)
	r.Feed("stream", sample(r, "joint52", 0.25))
	r.Run(1)
	r.Reports = nil
	r.Feed("stream", last)
	r.Run(1)
	if got := refusals(r); len(got) != 1 || got[0].Code != control.Stale {
		t.Errorf("out of order: %+v", got)
	}
	least := 0.0
	for range 400 {
		r.Run(1)
		least = min(least, r.Now.Command.Q[r.Joint("joint52")])
	}
	if q := r.Now.Command.Q[r.Joint("joint52")]; math.Abs(q-0.25) > 1e-9 || least < 0 {
		t.Errorf("at %g, on the way as low as %g", q, least)
	}
}

// TestAStepIsALimitedMotion: jumps of the input at random instants, beyond the
// position limits too; the rig judges every command, and what is asked for is
// reached when the input rests.
func TestAStepIsALimitedMotion(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
	r := setup(t)
	rng := rand.New(rand.NewPCG(8, 5))
	r.Start("stream", &stream.Program{Needs: r.Set("head", "leg1", "tail", "ears")})
	var s *stream.Sample
	for range 300 {
		s = &stream.Sample{At: r.Tick().Time, Joints: r.Set("head", "leg1", "tail", "ears"), Q: make([]float64, len(r.M.Joints()))}
		for j := range s.Q {
			s.Q[j] = 3 * (2*rng.Float64() - 1)
		}
		r.Feed("stream", s)
		r.Run(1 + rng.IntN(60))
	}
	s.At = r.Tick().Time
	r.Feed("stream", s)
	for range 12 {
		r.For(0.4)
		s.At = r.Tick().Time
		r.Feed("stream", s)
	}
	for leaf := range s.Joints.All {
		if int(leaf) >= len(s.Q) {
			continue
		}
		l := r.M.Joints()[leaf].Limits
		want := min(max(s.Q[leaf], l.Lower.Value), l.Upper.Value)
		if q := r.Now.Command.Q[leaf]; math.Abs(q-want) > 1e-6 {
			t.Errorf("seed 8, 5: %s is at %g, wanted at %g", r.M.Joints()[leaf].Name, q, want)
		}
	}
}

// TestDryStreamHoldsAndSaysSo: without values the joints stop; when they come back
// they are followed; with Patience the goal fails in the end, with the times.
func TestDryStreamHoldsAndSaysSo(t *testing.T) {
	r := setup(t)
	goal := r.Start("stream", &stream.Program{Needs: r.Set("head"), Timeout: 0.1, Patience: 1})
	r.Feed("stream", sample(r, "joint52", 1))
	r.For(0.6)
	at := r.Now.Command.Q[r.Joint("joint52")]
	r.For(0.1)
	if q := r.Now.Command.Q[r.Joint("joint52")]; q != at || at < 0.02 || at > 0.3 {
		t.Errorf("not held: %g → %g", at, q)
	}
	if a := r.Activity("stream"); !a.Active || a.Why.Code != control.Stale || a.Why.Max != 0.1 || a.Why.Value < 0.5 {
		t.Errorf("it holds and does not say why: %+v", a)
	}
	r.Feed("stream", sample(r, "joint52", 0.5))
	r.For(0.05)
	if r.Now.Command.Q[r.Joint("joint52")] <= at {
		t.Error("the stream is back, and not followed")
	}
	st, why := r.Until(goal, 3)
	if st != control.Failed || why.Code != control.Stale || why.Max != 1 || why.Value <= 1 {
		t.Errorf("%v %+v", st, why)
	}
}

// TestAnyGrantedSubset: joints come and go while the stream leads the rest; Needs
// decides when it is over.
func TestAnyGrantedSubset(t *testing.T) {
	r := setup(t)
	goal := r.Start("stream", &stream.Program{Wants: r.Set("head", "tail", "ears")})
	neck, tail := r.Joint("joint52"), r.Joint("tail_joint1")
	s := &stream.Sample{Joints: r.Set("head", "tail"), Q: make([]float64, len(r.M.Joints()))}
	feed := func(q float64) {
		next := *s
		next.Q = append([]float64(nil), s.Q...)
		next.Q[neck], next.Q[tail], next.At = q, q, r.Tick().Time
		r.Feed("stream", &next)
		r.For(0.4)
	}
	feed(0.1)
	held := r.Start("hold", &hold.Program{Needs: r.Set("tail")})
	at := r.Now.Command.Q[tail]
	feed(0.2)
	if math.Abs(r.Now.Command.Q[neck]-0.2) > 1e-6 || math.Abs(r.Now.Command.Q[tail]-at) > 0.02 {
		t.Errorf("neck %g, tail %g, held at %g", r.Now.Command.Q[neck], r.Now.Command.Q[tail], at)
	}
	r.Cancel("hold")
	r.Until(held, 1)
	feed(0.3)
	r.For(1)
	if q := r.Now.Command.Q[tail]; math.Abs(q-0.3) > 1e-6 {
		t.Errorf("the tail is back and at %g", q)
	}
	if _, why, over := r.Ended(goal); over {
		t.Errorf("ended: %+v", why)
	}
	need := r.Start("stream", &stream.Program{Needs: r.Set("head"), Wants: r.Set("tail")})
	r.Start("hold", &hold.Program{Needs: r.Set("head")})
	r.Run(1)
	if st, why, over := r.Ended(need); !over || st != control.Quit || why.Code != control.ResourceLost {
		t.Errorf("lost what it needs: %v %+v", st, why)
	}
}

// TestPauseAndSpeed: a pause stops a stream, and half speed halves its velocity.
func TestPauseAndSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
	r := setup(t)
	r.Start("stream", &stream.Program{Needs: r.Set("head"), Timeout: 10})
	neck := r.Joint("joint52")
	r.Send(loop.Order{Kind: loop.GoalRate, Controller: r.Controller("stream"), Value: 0.5})
	r.Feed("stream", sample(r, "joint52", 1.5))
	fastest := 0.0
	for range 600 {
		r.Run(1)
		fastest = max(fastest, r.Now.Command.V[neck])
	}
	if want := 0.5 * 0.9 * 1.5708; math.Abs(fastest-want) > 1e-3 {
		t.Errorf("at half speed %g rad/s, want %g", fastest, want)
	}
	r.Send(loop.Order{Kind: loop.Pause})
	r.For(0.5)
	at := r.Now.Command.Q[neck]
	r.For(0.5)
	if r.Now.Command.Q[neck] != at {
		t.Error("it moves in a pause")
	}
	r.Send(loop.Order{Kind: loop.Resume})
	r.For(3)
	if q := r.Now.Command.Q[neck]; math.Abs(q-1.5) > 1e-9 {
		t.Errorf("after the pause it reached %g", q)
	}
}

// TestSupportsOfAStream reach the command for limbs that it owns as a whole.
func TestSupportsOfAStream(t *testing.T) {
	r := setup(t)
	r.Start("stream", &stream.Program{Needs: r.Set("leg1")})
	leg1, _ := r.M.Chain("leg1")
	leg2, _ := r.M.Chain("leg2")
	s := sample(r, "joint12", -0.3)
	s.Support = []stream.Support{{Chain: leg1}, {Chain: leg2}}
	r.Feed("stream", s)
	r.Run(2)
	if got := r.Now.Command.Support; got[leg1].Weight != 0 || got[leg2].Weight != 1 {
		t.Errorf("leg1 carries %g, leg2, which is not its, %g", got[leg1].Weight, got[leg2].Weight)
	}
}

// TestWhatWasSaidBeforeDoesNotCount: what a stream says of a joint, a support or an output while
// another owns it has no effect when it comes back; the next value has.
func TestWhatWasSaidBeforeDoesNotCount(t *testing.T) {
	r := setup(t)
	r.Start("stream", &stream.Program{Wants: r.Set("leg1", "eyes", "tail", "ears")})
	tail := r.Joint("tail_joint1")
	leg1, _ := r.M.Chain("leg1")
	screens, ok := outputOf(r)
	if !ok {
		t.Fatal("no output")
	}
	say := func(q, weight, shows float64) {
		s := sample(r, "tail_joint1", q)
		s.Support = []stream.Support{{Chain: leg1, Weight: weight}}
		s.Output = []stream.Output{{Leaf: screens, Value: shows}}
		r.Feed("stream", s)
		r.For(0.4)
	}
	told := func(when string, q, weight, shows float64) {
		t.Helper()
		c := &r.Now.Command
		if math.Abs(c.Q[tail]-q) > 1e-6 || c.Support[leg1].Weight != weight || c.Output[0] != shows {
			t.Errorf("%s: the tail is at %g, leg1 carries %g, the screens show %g; want %g, %g, %g", when, c.Q[tail], c.Support[leg1].Weight, c.Output[0], q, weight, shows)
		}
	}
	say(0.1, 1, 2)
	told("at first", 0.1, 1, 2)
	held := r.Start("hold", &hold.Program{Needs: r.Set("leg1", "eyes", "tail")})
	say(0.2, 0, 3)
	told("while another owns them", 0.1, 1, 2)
	r.Cancel("hold")
	r.Until(held, 1)
	r.For(0.4)
	told("when they are back", 0.1, 1, 2)
	say(0.2, 0, 3)
	told("after the next value", 0.2, 0, 3)
}

// outputOf finds the first typed output.
func outputOf(r *rig.Rig) (robot.LeafID, bool) {
	res, err := r.M.Resources()
	if err != nil {
		r.T.Fatal(err)
	}
	for i, leaf := range res.Leaves() {
		if leaf.Kind == robot.OutputLeaf {
			return robot.LeafID(i), true
		}
	}
	return 0, false
}

// with gives all joints of a sample a velocity and an acceleration.
func with(s *stream.Sample, v, a float64) *stream.Sample {
	s.V, s.A = make([]float64, len(s.Q)), make([]float64, len(s.Q))
	for j := range s.Q {
		s.V[j], s.A[j] = v, a
	}
	return s
}

func TestRefusedSamples(t *testing.T) {
	r := setup(t)
	r.Start("stream", &stream.Program{Needs: r.Set("head")})
	none := sample(r, "joint52", math.NaN())
	short := &stream.Sample{At: r.Tick().Time, Q: []float64{1}}
	heavy := sample(r, "joint52", 0)
	heavy.Support = []stream.Support{{Chain: 99, Weight: 1}}
	aged := sample(r, "joint52", 0.1)
	for _, c := range []struct {
		s    control.Program
		code control.Code
	}{{none, control.NonFinite}, {short, control.BadProgram}, {heavy, control.BadValue}, {&stream.Program{}, control.BadProgram},
		{with(sample(r, "joint52", 0), 1e308, 0), control.TooFast}, {with(sample(r, "joint52", 0), 0, -1e308), control.TooSteep}} {
		r.Reports = nil
		r.Feed("stream", c.s)
		r.Run(1)
		if got := refusals(r); len(got) != 1 || got[0].Code != c.code {
			t.Errorf("%+v, want %v", got, c.code)
		}
	}
	r.For(0.6)
	r.Reports = nil
	r.Feed("stream", aged) // younger than the activation, and half a second old
	r.Run(1)
	if got := refusals(r); len(got) != 1 || got[0].Code != control.Stale || got[0].Max != 0.5 {
		t.Errorf("%+v", got)
	}
}

func TestProgramsSurvive(t *testing.T) {
	r := setup(t)
	for _, p := range []control.Program{&stream.Program{Needs: r.Set("head"), Timeout: 0.3}, sample(r, "joint52", 0.1)} {
		b, err := p.(interface{ MarshalBinary() ([]byte, error) }).MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		q, err := stream.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := q.(interface{ MarshalBinary() ([]byte, error) }).MarshalBinary(); string(again) != string(b) {
			t.Errorf("%s\n%s", b, again)
		}
	}
	for _, bad := range []string{"", "{", `{"kind":"x"}`, `{"kind":"sample","data":[]}`} {
		if _, err := stream.Decode([]byte(bad)); err == nil {
			t.Errorf("%q is a program", bad)
		}
	}
}

func TestStreamDoesNotAllocate(t *testing.T) {
	r := setup(t)
	r.Start("stream", &stream.Program{Needs: r.Set("head", "leg1", "leg2", "leg3", "leg4")})
	s := &stream.Sample{Joints: r.Set("head", "leg1"), Q: make([]float64, len(r.M.Joints()))}
	if n := testing.AllocsPerRun(50, func() {
		s.At = r.Tick().Time
		r.L.Send(loop.Order{Kind: loop.Feed, Controller: 0, Program: s})
		r.L.Step(r.Tick())
		r.N++
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzFeed: whatever is fed, commands stay within limits and are numbers (the rig
// judges), and nothing fails.
func FuzzFeed(f *testing.F) {
	f.Add([]byte(`{"kind":"sample","data":{"at":5000000,"joints":[255,0,0,0],"q":[1,2]}}`), 1.0, int64(0))
	f.Add([]byte(`{"kind":"program","data":{"needs":[1,0,0,0],"timeout":0.1}}`), -9.0, int64(1))
	m := rig.Model(f, "arm6")
	f.Fuzz(func(t *testing.T, blob []byte, q float64, at int64) {
		c, err := stream.New(m, control.Transition{Acceleration: 5})
		if err != nil {
			t.Fatal(err)
		}
		r := rig.New(t, m, rig.Options{Settings: loop.Settings{Transition: control.Transition{Acceleration: 5}}}, loop.Registration{Name: "stream", Controller: c})
		r.Start("stream", &stream.Program{Wants: control.JointLeaves(len(m.Joints()))})
		s := &stream.Sample{At: at, Joints: control.JointLeaves(len(m.Joints())), Q: make([]float64, len(m.Joints()))}
		for j := range s.Q {
			s.Q[j] = q
		}
		r.Feed("stream", s)
		r.Run(5)
		if p, err := stream.Decode(blob); err == nil {
			r.Feed("stream", p)
			r.Ask("stream", p)
		}
		r.Run(20)
	})
}

// TestNonsenseMovesNothing: a value far beyond the limits is refused by joint, value and
// limit, and the joints stay; one that is a little beyond goes to the limit.
func TestNonsenseMovesNothing(t *testing.T) {
	r := setup(t)
	r.Start("stream", &stream.Program{Needs: r.Set("head")})
	joint := r.Joint("joint52")
	before := r.Now.Command.Q[joint]
	for _, q := range []float64{1e308, -1e308, 1e6, -100} {
		s := &stream.Sample{At: r.Tick().Time, Joints: robot.Leaf(robot.LeafID(joint)), Q: make([]float64, len(r.M.Joints()))}
		s.Q[joint] = q
		refused := len(r.Reports)
		r.Feed("stream", s)
		r.Run(50)
		found := false
		for _, rep := range r.Reports[refused:] {
			found = found || rep.Kind == loop.OrderRefused && rep.Reason.Code == control.BeyondLimit && int(rep.Reason.Joint) == joint && rep.Reason.Value == q
		}
		if !found || r.Now.Command.Q[joint] != before {
			t.Errorf("%g: refused %v, joint at %g, was at %g", q, found, r.Now.Command.Q[joint], before)
		}
	}
}

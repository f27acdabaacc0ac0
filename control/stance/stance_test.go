package stance_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/contact"
	"poise/control"
	"poise/control/pose"
	"poise/control/stance"
	"poise/internal/rig"
	"poise/loop"
	"poise/robot"
	"poise/servo/sim"
	"poise/spatial"
)

// lagging servos come 50 ms late.
var lagging = sim.Servo{Lag: 0.05}

// glideRest is what the hand-over of the base leaves for a while when a program
// follows another, m and rad: the stance itself is exact.
const glideRest = 1e-5

// hoofDrift is what the issue allows over a figure-eight; what is measured is
// rounding.
const hoofDrift = 1e-3 // m

func setup(t testing.TB, o rig.Options) *rig.Rig {
	t.Helper()
	m := rig.Model(t, "pony")
	s, err := stance.New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pose.New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	return rig.New(t, m, o, loop.Registration{Name: "stance", Controller: s}, loop.Registration{Name: "pose", Controller: p})
}

func stand(t testing.TB, r *rig.Rig) *stance.Program {
	t.Helper()
	p, err := stance.Stand(r.M)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// moved is a displacement of the body.
func moved(x, y, z, roll, pitch, yaw float64) spatial.Pose {
	return spatial.Pose{R: spatial.FromRPY(roll, pitch, yaw), P: spatial.Vec3{X: x, Y: y, Z: z}}
}

// hooves watches the contact points in the world, by the commanded joints and base,
// and by the joints of the servos alone.
type hooves struct {
	g       *contact.Ground
	feet    []contact.Foot
	anchors []spatial.Vec3
	worst   float64
	apart   float64 // by the servos: what no pose of the body explains
	points  []spatial.Vec3
	q       []float64
}

func watch(t testing.TB, r *rig.Rig) *hooves {
	t.Helper()
	g, err := contact.NewGround(r.M)
	if err != nil {
		t.Fatal(err)
	}
	h := &hooves{g: g, feet: g.DefaultFeetTo(nil), q: make([]float64, len(r.M.Joints()))}
	X := r.Now.Command.Base.Pose
	h.anchors = g.PointsTo(nil, r.Now.Command.Q, h.feet, X)
	return h
}

func (h *hooves) look(r *rig.Rig) {
	h.points = h.g.PointsTo(h.points[:0], r.Now.Command.Q, h.feet, r.Now.Command.Base.Pose)
	for i, p := range h.points {
		h.worst = max(h.worst, p.Sub(h.anchors[i]).Norm())
	}
	for j := range h.q {
		h.q[j] = r.Bus.Joint(j)
	}
	_, off := h.g.Fit(h.q, h.feet, h.anchors, r.Now.Command.Base.Pose)
	h.apart = max(h.apart, off)
}

// TestFigureEightKeepsTheHooves: a stream of targets leads the body through a
// figure-eight of 60 by 20 mm with roll, pitch and yaw, at 20 Hz; hooves stay
// within a millimetre, by command and at the servos, and the body goes there.
func TestFigureEightKeepsTheHooves(t *testing.T) {
	for _, period := range rig.Periods() {
		r := setup(t, rig.Options{Pose: "crouched", Period: period})
		goal := r.Start("stance", stand(t, r))
		h := watch(t, r)
		height := r.Now.Command.Base.Pose.P.Z
		low, high := spatial.Vec3{X: 1, Y: 1, Z: 1}, spatial.Vec3{X: -1, Y: -1, Z: -1}
		for k := range 120 { // 6 s at 20 Hz
			φ := 2 * math.Pi * float64(k) / 120
			X := moved(0.03*math.Sin(φ), 0.010*math.Sin(2*φ), 0.01*math.Sin(φ), 0.05*math.Sin(2*φ), 0.05*math.Cos(φ)-0.05, 0.1*math.Sin(φ))
			r.Feed("stance", &stance.Target{At: r.Tick().Time, Body: X, Relative: true})
			for range int(math.Round(0.05 / period)) {
				r.Run(1)
				h.look(r)
				p := r.Now.Command.Base.Pose.P
				low = spatial.Vec3{X: min(low.X, p.X), Y: min(low.Y, p.Y), Z: min(low.Z, p.Z)}
				high = spatial.Vec3{X: max(high.X, p.X), Y: max(high.Y, p.Y), Z: max(high.Z, p.Z)}
			}
		}
		for _, rep := range r.Reports {
			if rep.Kind == loop.OrderRefused {
				t.Fatalf("refused: %v %+v", rep.Reason.Code, rep.Reason)
			}
		}
		if _, why, over := r.Ended(goal); over {
			t.Fatalf("ended: %v %+v", why.Code, why)
		}
		if span := high.Sub(low); span.X < 0.05 || span.Y < 0.015 || span.Z < 0.015 || height < 0.15 {
			t.Errorf("period %g: the body spans only %v", period, span)
		}
		t.Logf("period %g s: drift %.2g m by command, %.2g m at the servos", period, h.worst, h.apart)
		if h.worst > hoofDrift || h.apart > hoofDrift {
			t.Errorf("period %g: hooves drift by %g m, at the servos by %g m", period, h.worst, h.apart)
		}
	}
}

// TestTargetsAreReached: random poses of the body, each reached exactly, hooves
// where they were, and the joints within their limits on the way (the rig judges).
func TestTargetsAreReached(t *testing.T) {
	r := setup(t, rig.Options{Pose: "crouched"})
	rng := rand.New(rand.NewPCG(8, 6))
	p := stand(t, r)
	p.Once = true
	r.Until(r.Start("stance", p), 1)
	h := watch(t, r)
	home := r.Now.Command.Base.Pose
	reached, all := 0, 12
	if testing.Short() {
		all = 4
	}
	for n := range all {
		d := moved(0.02*rng.NormFloat64(), 0.01*rng.NormFloat64(), 0.01*rng.NormFloat64(), 0.1*rng.NormFloat64(), 0.1*rng.NormFloat64(), 0.1*rng.NormFloat64())
		q := *p
		q.Target = &stance.Target{Body: home.Mul(d)}
		goal := r.Ask("stance", &q)
		if why, refused := r.Refused(goal); refused {
			if why.Code != control.Unbalanced && why.Code != control.Unreachable {
				t.Fatalf("case %d of seed 8, 6: %v %+v", n, why.Code, why)
			}
			continue
		}
		reached++
		for {
			if _, _, over := r.Ended(goal); over {
				break
			}
			r.Run(1)
			h.look(r)
		}
		if st, why, _ := r.Ended(goal); st != control.Done {
			t.Fatalf("case %d of seed 8, 6: %v %v %+v", n, st, why.Code, why)
		}
		off := r.Now.Command.Base.Pose.Inverse().Mul(q.Target.Body)
		if off.P.Norm() > glideRest || off.R.Quat().Log().Norm() > glideRest {
			t.Errorf("case %d of seed 8, 6: the body is %g m, %g rad away", n, off.P.Norm(), off.R.Quat().Log().Norm())
		}
	}
	if reached < all/2 || h.worst > hoofDrift || h.apart > hoofDrift {
		t.Errorf("%d of %d reached, drift %g m, at the servos %g m", reached, all, h.worst, h.apart)
	}
}

// TestRefusesTargetsOutsideThePolygon, with the distance: a body moved by d moves
// its centre of mass by d, so the margin that is told can be foretold.
func TestRefusesTargetsOutsideThePolygon(t *testing.T) {
	r := setup(t, rig.Options{Pose: "crouched"})
	p := stand(t, r)
	g, err := contact.NewGround(r.M)
	if err != nil {
		t.Fatal(err)
	}
	X, _ := g.Settle(r.Now.Command.Q, p.Feet)
	var b contact.Balance
	g.BalanceTo(&b, r.Now.Command.Q, p.Feet, X)
	t.Logf("the crouched pony stands with a margin of %.4f m", b.Margin)

	out := *p
	out.Target = &stance.Target{Body: moved(0, 0.06, 0, 0, 0, 0), Relative: true}
	why, refused := r.Refused(r.Ask("stance", &out))
	if !refused || why.Code != control.Unbalanced || why.Max != 0.01 {
		t.Fatalf("%v %+v", why.Code, why)
	}
	// the polygon is a box along x: moving left by 60 mm costs 60 mm, less what the
	// thighs, which do not move as far, keep back
	if why.Value > b.Margin-0.03 || why.Value < b.Margin-0.06 || why.Value >= 0.01 {
		t.Errorf("margin told %g, was %g", why.Value, b.Margin)
	}
	near := *p
	near.Target = &stance.Target{Body: moved(0, 0.01, 0, 0, 0, 0), Relative: true}
	near.Margin = b.Margin + 0.01 // asks for more than there is
	if why, refused := r.Refused(r.Ask("stance", &near)); !refused || why.Code != control.Unbalanced {
		t.Errorf("%v %+v", why.Code, why)
	}
	near.Margin = 0
	r.Start("stance", &near)
	r.For(1)
	// and a fed one is refused while the first goes on
	r.Reports = nil
	r.Feed("stance", &stance.Target{At: r.Tick().Time, Body: moved(0.09, 0.05, 0, 0, 0, 0), Relative: true})
	r.Run(1)
	if len(r.Reports) != 1 || r.Reports[0].Kind != loop.OrderRefused || r.Reports[0].Reason.Code == control.OK {
		t.Errorf("%+v", r.Reports)
	}
	if !r.Activity("stance").Active {
		t.Error("a refused target ended the stance")
	}
}

// TestTwoFeetAreNoSupport: a body on two hooves has no polygon to be inside of.
func TestTwoFeetAreNoSupport(t *testing.T) {
	r := setup(t, rig.Options{Pose: "crouched"})
	p, err := stance.Stand(r.M, "leg1", "leg4")
	if err != nil {
		t.Fatal(err)
	}
	p.Target = &stance.Target{Body: moved(0, 0, 0.01, 0, 0, 0), Relative: true}
	if why, refused := r.Refused(r.Ask("stance", p)); !refused || why.Code != control.Unbalanced || why.Value > 0 {
		t.Errorf("%v %+v", why.Code, why)
	}
}

// TestUnreachableNamesTheJoint: higher than straight legs are long.
func TestUnreachableNamesTheJoint(t *testing.T) {
	r := setup(t, rig.Options{})
	p := stand(t, r)
	p.Target = &stance.Target{Body: moved(0, 0, 0.1, 0, 0, 0), Relative: true}
	why, refused := r.Refused(r.Ask("stance", p))
	if !refused || why.Code != control.Unreachable || !(why.Value > 0.01) {
		t.Errorf("%v %+v", why.Code, why)
	}
}

// TestBodyIsNotStuck is a failure of the original: body motion in stance was very
// slow or got stuck, because the next limb poses came from feedback. Here the body
// arrives in about the time that its legs need, also with lagging servos.
func TestBodyIsNotStuck(t *testing.T) {
	r := setup(t, rig.Options{Pose: "crouched", Servo: lagging})
	p := stand(t, r)
	p.Once, p.Target = true, &stance.Target{Body: moved(0.03, 0, 0, 0, 0, 0), Relative: true}
	goal := r.Start("stance", p)
	began := r.N
	if st, why := r.Until(goal, 3); st != control.Done {
		t.Fatalf("%v %+v", st, why)
	}
	if took := float64(r.N-began) * r.Dt; took > 1 {
		t.Errorf("30 mm take %g s", took)
	}
}

// TestPauseStopsTheBodyOnItsWay, and cancel ends it there; hooves stay.
func TestPauseStopsTheBodyOnItsWay(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
	r := setup(t, rig.Options{Pose: "crouched"})
	r.Start("stance", stand(t, r))
	h := watch(t, r)
	r.Feed("stance", &stance.Target{At: r.Tick().Time, Body: moved(0.03, 0.005, -0.01, 0, 0.1, 0), Relative: true})
	r.For(0.2)
	r.Send(loop.Order{Kind: loop.GoalPause, Controller: r.Controller("stance")})
	r.For(0.5)
	at := r.Now.Command.Base.Pose.P
	r.For(0.3)
	h.look(r)
	if p := r.Now.Command.Base.Pose.P; p != at || at.X < 0.002 || at.X > 0.028 {
		t.Errorf("paused at %v, then at %v", at, p)
	}
	r.Send(loop.Order{Kind: loop.GoalResume, Controller: r.Controller("stance")})
	r.For(2)
	h.look(r)
	if p := r.Now.Command.Base.Pose.P; math.Abs(p.X-0.03) > 1e-9 || h.worst > hoofDrift {
		t.Errorf("resumed to %v, drift %g", p, h.worst)
	}
}

// TestAHeadThatLeansOutStopsTheBody: the head turns left while the body goes left to
// a place that was allowed when it was asked for; on the edge the body waits, and
// goes on when the head is back.
func TestAHeadThatLeansOutStopsTheBody(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
	r := setup(t, rig.Options{Pose: "crouched"})
	p := stand(t, r)
	goal := r.Start("stance", p)
	turn := func(yaw float64) uint64 {
		neck, _ := r.M.Joint("joint52")
		q, err := pose.To(r.M, []robot.JointID{neck}, []float64{yaw}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return r.Start("pose", q)
	}
	turn(1.5)
	r.For(0.3)
	y := 0.045
	for ; ; y -= 0.0005 { // the farthest that is allowed now
		r.Reports = nil
		r.Feed("stance", &stance.Target{At: r.Tick().Time, Body: moved(0, y, 0, 0, 0, 0), Relative: true})
		r.Run(1)
		if len(r.Reports) == 0 {
			break
		}
	}
	r.For(2)
	at := r.Now.Command.Base.Pose.P.Y
	if at > y-1e-4 || at < 0.005 {
		t.Errorf("the body went to %g of %g", at, y)
	}
	if _, why, over := r.Ended(goal); over {
		t.Fatalf("ended: %v %+v", why.Code, why)
	}
	if why := r.Activity("stance").Why; why.Code != control.Unbalanced || !(why.Value < why.Max) {
		t.Errorf("it waits and says %v %+v", why.Code, why)
	}
	r.Until(turn(0), 5)
	r.For(1)
	if at := r.Now.Command.Base.Pose.P.Y; math.Abs(at-y) > 1e-9 {
		t.Errorf("the head is back, and the body at %g of %g", at, y)
	}
}

func TestOwnsAllLegsOrQuits(t *testing.T) {
	r := setup(t, rig.Options{Pose: "crouched"})
	goal := r.Start("stance", stand(t, r))
	leg, err := pose.Named(r.M, "stand", 0)
	if err != nil {
		t.Fatal(err)
	}
	leg.Needs = r.Set("leg2").Intersect(leg.Needs)
	r.Start("pose", leg)
	r.Run(1)
	if st, why, over := r.Ended(goal); !over || st != control.Quit || why.Code != control.ResourceLost || why.Who != r.Controller("pose") {
		t.Errorf("%v %+v", st, why)
	}
}

func TestBadProgramsAndTargets(t *testing.T) {
	r := setup(t, rig.Options{Pose: "crouched"})
	good := stand(t, r)
	for name, change := range map[string]func(p *stance.Program){
		"no feet":     func(p *stance.Program) { p.Feet = nil },
		"no base":     func(p *stance.Program) { p.Needs = r.Set("leg1") },
		"a head":      func(p *stance.Program) { p.Feet = []contact.Foot{{Chain: 4}} },
		"no contact":  func(p *stance.Program) { p.Feet = []contact.Foot{{Chain: 0, Contact: -1}} },
		"margin":      func(p *stance.Program) { p.Margin = math.NaN() },
		"no rotation": func(p *stance.Program) { p.Target = &stance.Target{} },
		"no number":   func(p *stance.Program) { p.Target = &stance.Target{Body: moved(math.NaN(), 0, 0, 0, 0, 0)} },
	} {
		p := *good
		change(&p)
		if why, refused := r.Refused(r.Ask("stance", &p)); !refused || why.Code == control.OK {
			t.Errorf("%s: %v %+v", name, why.Code, why)
		}
	}
	if _, err := stance.Stand(r.M, "leg5", "head"); err == nil {
		t.Error("stands on its head")
	}
	r.Start("stance", good)
	r.Run(10)
	old := &stance.Target{At: 1, Body: moved(0.01, 0, 0, 0, 0, 0), Relative: true}
	r.Reports = nil
	r.Feed("stance", old)
	r.Run(1)
	if len(r.Reports) != 1 || r.Reports[0].Reason.Code != control.Stale {
		t.Errorf("a target from before: %+v", r.Reports)
	}
}

func TestProgramsSurvive(t *testing.T) {
	r := setup(t, rig.Options{})
	p := stand(t, r)
	p.Target = &stance.Target{Body: moved(0.01, 0, 0, 0.1, 0, 0)}
	for _, x := range []interface {
		control.Program
		MarshalBinary() ([]byte, error)
	}{p, p.Target} {
		b, err := x.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		q, err := stance.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := q.(interface{ MarshalBinary() ([]byte, error) }).MarshalBinary(); string(again) != string(b) {
			t.Errorf("%s\n%s", b, again)
		}
	}
	for _, bad := range []string{"", `{"kind":"x"}`, `{"kind":"target","data":3}`} {
		if _, err := stance.Decode([]byte(bad)); err == nil {
			t.Errorf("%q is a program", bad)
		}
	}
}

func TestFixedRobotsDoNotStand(t *testing.T) {
	if _, err := stance.New(rig.Model(t, "arm6"), control.Transition{Acceleration: 5}); err == nil {
		t.Error("an arm stands")
	}
}

func TestStanceDoesNotAllocate(t *testing.T) {
	r := setup(t, rig.Options{Pose: "crouched"})
	r.Start("stance", stand(t, r))
	target := &stance.Target{Body: moved(0.02, 0, 0, 0, 0.1, 0), Relative: true}
	if n := testing.AllocsPerRun(50, func() {
		target.At = r.Tick().Time
		r.L.Send(loop.Order{Kind: loop.Feed, Controller: 0, Program: target})
		for range 5 {
			r.L.Step(r.Tick())
			r.N++
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkStance(b *testing.B) {
	r := setup(b, rig.Options{Pose: "crouched"})
	c, err := stance.New(r.M, control.Transition{})
	if err != nil {
		b.Fatal(err)
	}
	p := stand(b, r)
	p.Target = &stance.Target{Body: moved(0.03, 0, -0.01, 0, 0.1, 0), Relative: true}
	input := &control.Input{Tick: r.Tick(), Cmd: &r.Now.Command, Meas: &r.Now.Measured, Own: p.Needs, Rate: 1}
	out := control.NewReference(len(r.M.Joints()), len(r.M.Chains()), 1)
	b.Run("start", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if why := c.Start(input, p); why.Code != control.OK {
				b.Fatal(why)
			}
		}
	})
	b.Run("update", func(b *testing.B) {
		b.ReportAllocs()
		input.Tick.Dt = 1e-7 // stays on its way
		for b.Loop() {
			if st, why := c.Update(input, out); st != control.Going {
				b.Fatal(why)
			}
		}
	})
}

// FuzzPrograms: no record makes it fail, and whatever it takes on gives numbers.
func FuzzPrograms(f *testing.F) {
	r := setup(f, rig.Options{Pose: "crouched"})
	c, err := stance.New(r.M, control.Transition{})
	if err != nil {
		f.Fatal(err)
	}
	p := stand(f, r)
	p.Target = &stance.Target{Body: moved(0.01, 0, 0, 0, 0.1, 0), Relative: true}
	for _, x := range []interface{ MarshalBinary() ([]byte, error) }{p, p.Target} {
		b, err := x.MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, 0.01)
	}
	f.Fuzz(func(t *testing.T, b []byte, x float64) {
		input := &control.Input{Tick: r.Tick(), Cmd: &r.Now.Command, Meas: &r.Now.Measured, Own: p.Needs, Rate: 1}
		out := control.NewReference(len(r.M.Joints()), len(r.M.Chains()), 1)
		q, err := stance.Decode(b)
		if err != nil || c.Start(input, q).Code != control.OK {
			if why := c.Start(input, p); why.Code != control.OK {
				t.Fatalf("%v %+v", why.Code, why)
			}
		}
		if err == nil {
			c.Feed(input, q)
		}
		c.Feed(input, &stance.Target{At: input.Tick.Time, Body: moved(x, -x, x/2, x, x, x), Relative: true})
		for range 5 {
			out.Reset()
			input.Tick.Time += 1e6
			c.Update(input, out)
			for leaf := range out.Has.All {
				if int(leaf) < len(out.Q) && (out.Q[leaf]-out.Q[leaf] != 0 || out.V[leaf]-out.V[leaf] != 0) {
					t.Fatalf("%s: %g, %g", r.M.Joints()[leaf].Name, out.Q[leaf], out.V[leaf])
				}
			}
		}
	})
}

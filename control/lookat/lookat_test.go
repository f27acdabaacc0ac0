package lookat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/contact"
	"poise/control"
	"poise/control/lookat"
	"poise/control/pose"
	"poise/control/stance"
	"poise/internal/rig"
	"poise/kinematics"
	"poise/loop"
	"poise/robot"
	"poise/spatial"
)

// degree is how far the gaze may be from its target.
const degree = math.Pi / 180

func setup(t testing.TB, o rig.Options) *rig.Rig {
	t.Helper()
	m := rig.Model(t, "pony")
	var regs []loop.Registration
	add := func(name string, c control.Controller, err error) {
		if err != nil {
			t.Fatal(err)
		}
		regs = append(regs, loop.Registration{Name: name, Controller: c})
	}
	l, err := lookat.New(m, control.Transition{})
	add("look_at", l, err)
	p, err := pose.New(m, control.Transition{})
	add("pose", p, err)
	s, err := stance.New(m, control.Transition{})
	add("stance", s, err)
	return rig.New(t, m, o, regs...)
}

func at(t testing.TB, r *rig.Rig, x, y, z float64) *lookat.Program {
	t.Helper()
	p, err := lookat.At(r.M, spatial.Vec3{X: x, Y: y, Z: z})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// watcher measures the gaze by forward kinematics of the servos, on the ground.
type watcher struct {
	r    *rig.Rig
	d    *kinematics.Data
	eyes kinematics.Place
	g    *contact.Ground
	feet []contact.Foot
	q    []float64
	qs   []float64
}

func watch(t testing.TB, r *rig.Rig) *watcher {
	t.Helper()
	f, ok := r.M.Frame("eyes_pitch_link")
	if !ok {
		t.Fatal("no eyes")
	}
	g, err := contact.NewGround(r.M)
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{r: r, d: kinematics.NewData(r.M), g: g, feet: g.DefaultFeetTo(nil), q: make([]float64, len(r.M.Joints())), qs: make([]float64, r.M.NumQ())}
	w.eyes = w.d.At(f)
	return w
}

// off returns the angle between the eyes' axis and the direction of a point.
func (w *watcher) off(p spatial.Vec3) float64 {
	for j := range w.q {
		w.q[j] = w.r.Bus.Joint(j)
		w.qs[w.r.M.Joints()[j].Q] = w.q[j]
	}
	X, _ := w.g.Settle(w.q, w.feet)
	if w.r.Now.Command.Base.Has {
		X = w.r.Now.Command.Base.Pose
	}
	o := X.R.Quat()
	copy(w.qs, []float64{X.P.X, X.P.Y, X.P.Z, o.X, o.Y, o.Z, o.W})
	w.d.UpdatePosition(w.qs)
	E := w.d.Pose(w.eyes)
	d := p.Sub(E.P)
	x := E.R.Col(0)
	return math.Atan2(x.Cross(d).Norm(), x.Dot(d))
}

// TestGazeIsWithinADegree: targets at random around the robot, near and far; each is
// looked at within a degree, or was refused as out of reach with the angle.
func TestGazeIsWithinADegree(t *testing.T) {
	r := setup(t, rig.Options{Period: 0.004})
	w := watch(t, r)
	rng := rand.New(rand.NewPCG(8, 7))
	r.Start("look_at", at(t, r, 1, 0, 0.3))
	r.For(2)
	worst, looked, all := 0.0, 0, 40
	if testing.Short() {
		all = 8
	}
	for n := range all {
		yaw, pitch, far := 1.9*(2*rng.Float64()-1), 1.2*(2*rng.Float64()-1), 0.4+3*rng.Float64()
		p := spatial.Vec3{X: far * math.Cos(pitch) * math.Cos(yaw), Y: far * math.Cos(pitch) * math.Sin(yaw), Z: 0.3 + far*math.Sin(pitch)}
		r.Reports = nil
		r.Feed("look_at", &lookat.Target{At: r.Tick().Time, Point: p})
		r.Run(1)
		if len(r.Reports) > 0 {
			if why := r.Reports[0].Reason; why.Code != control.Unreachable || !(why.Value > why.Max) || why.Max != degree {
				t.Errorf("case %d of seed 8, 7: %+v", n, why)
			}
			continue
		}
		looked++
		r.For(5)
		if a := w.off(p); a > degree {
			t.Errorf("case %d of seed 8, 7: %.2f° off %v", n, a/degree, p)
		} else {
			worst = max(worst, a)
		}
	}
	t.Logf("%d of %d targets, the worst %.2g° off", looked, all, worst/degree)
	if looked < all*3/4 {
		t.Errorf("only %d of %d targets were within reach", looked, all)
	}
}

// TestEyesFirst: after a jump of the target the eyes move before the head; they are
// on the target while the head still turns, stay there within a degree, and end
// nearer to their middle.
func TestEyesFirst(t *testing.T) {
	for _, period := range rig.Periods() {
		r := setup(t, rig.Options{Period: period})
		w := watch(t, r)
		r.Start("look_at", at(t, r, 2, 0, 0.35))
		r.For(2)
		p := spatial.Vec3{X: 1.5, Y: 1.5, Z: 0.35}
		r.Feed("look_at", &lookat.Target{At: r.Tick().Time, Point: p})
		eye, neck := r.Joint("eyes_yaw"), r.Joint("joint52")
		e0, n0 := r.Now.Command.Q[eye], r.Now.Command.Q[neck]
		var eyes, head, there, far float64
		for began := r.Seconds(); r.Seconds()-began < 3; {
			r.Run(1)
			since := r.Seconds() - began
			if eyes == 0 && math.Abs(r.Now.Command.Q[eye]-e0) > 1e-3 {
				eyes = since
			}
			if head == 0 && math.Abs(r.Now.Command.Q[neck]-n0) > 1e-3 {
				head = since
			}
			far = max(far, math.Abs(r.Now.Command.Q[eye]))
			if a := w.off(p); there == 0 && a < degree {
				there = since
			} else if there > 0 && a > degree {
				t.Fatalf("period %g: %.2f° off after %.3f s, was on the target at %.3f s", period, a/degree, since, there)
			}
		}
		end := math.Abs(r.Now.Command.Q[eye])
		t.Logf("period %g: eyes after %.3f s, head after %.3f s, on target after %.3f s; eyes at most %.2f rad, in the end %.2f", period, eyes, head, there, far, end)
		if !(eyes > 0 && head > eyes+0.05 && there > 0 && there < 1) || end > far/3 {
			t.Errorf("period %g: eyes after %g, head after %g, on target after %g s; eyes %g then %g", period, eyes, head, there, far, end)
		}
	}
}

// TestDirectionsWithoutAYaw: straight up, straight down, exactly behind, through the
// axis back and forth. Commands stay within limits (the rig judges), and what is
// within reach is looked at.
func TestDirectionsWithoutAYaw(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
	r := setup(t, rig.Options{Period: 0.002})
	w := watch(t, r)
	r.Start("look_at", at(t, r, 2, 0, 0.35))
	r.For(1)
	head := spatial.Vec3{X: 0.1, Z: 0.34}
	for _, p := range []spatial.Vec3{
		{X: head.X, Z: 3}, {X: head.X, Z: -3}, {X: -2, Z: 0.35}, {X: -2, Y: 1e-9, Z: 0.35}, {X: -2, Y: -1e-9, Z: 0.35},
		{X: head.X, Y: 1e-6, Z: 3}, {X: head.X - 1e-6, Z: 3}, {X: 2, Z: 0.35},
	} {
		r.Reports = nil
		r.Feed("look_at", &lookat.Target{At: r.Tick().Time, Point: p})
		r.For(5)
		if len(r.Reports) > 0 {
			t.Logf("%v: %v, %.1f° missing", p, r.Reports[0].Reason.Code, r.Reports[0].Reason.Value/degree)
			continue
		}
		if a := w.off(p); a > degree {
			t.Errorf("%v: %.2f° off", p, a/degree)
		}
	}
	// through the zenith, in small steps
	for k := range 100 {
		φ := 0.6 + 2*float64(k)/100
		r.Feed("look_at", &lookat.Target{At: r.Tick().Time, Point: spatial.Vec3{X: head.X + 2*math.Cos(φ), Y: 0.01, Z: head.Z + 2*math.Sin(φ)}})
		r.For(0.03)
	}
}

// TestGazeStaysWhileTheBodyMoves: the target is in the world, and the base moves over
// its hooves; gaze stays within a degree.
func TestGazeStaysWhileTheBodyMoves(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
	r := setup(t, rig.Options{Pose: "crouched"})
	w := watch(t, r)
	stand, err := stance.Stand(r.M)
	if err != nil {
		t.Fatal(err)
	}
	r.Start("stance", stand)
	p := spatial.Vec3{X: 0.8, Y: 0.3, Z: 0.4}
	r.Start("look_at", at(t, r, p.X, p.Y, p.Z))
	r.For(2)
	worst := 0.0
	for k := range 80 {
		φ := 2 * math.Pi * float64(k) / 80
		r.Feed("stance", &stance.Target{At: r.Tick().Time, Relative: true,
			Body: spatial.Pose{R: spatial.FromRPY(0.08*math.Sin(2*φ), 0.1*math.Sin(φ), 0.1*math.Sin(φ)), P: spatial.Vec3{X: 0.02 * math.Sin(φ), Y: 0.01 * math.Sin(2*φ)}}})
		for range 50 {
			r.Run(1)
			worst = max(worst, w.off(p))
		}
	}
	t.Logf("at most %.3f° off while the body moves", worst/degree)
	if worst > degree {
		t.Errorf("%.2f° off", worst/degree)
	}
}

// TestYawnDuringLookAtTakesTheHeadAndGivesItBack: a yawn needs head and mouth; the
// look-at goes on with its eyes alone and stays on target while they reach, has the
// head back in the tick in which the yawn is over, and turns it to the target again.
func TestYawnDuringLookAtTakesTheHeadAndGivesItBack(t *testing.T) {
	r := setup(t, rig.Options{})
	w := watch(t, r)
	p := spatial.Vec3{X: 1, Y: 0.6, Z: 0.4}
	look := r.Start("look_at", at(t, r, p.X, p.Y, p.Z))
	r.For(2)
	looking := append([]float64(nil), r.Now.Command.Q...)
	yawn := func(neck, mouth float64) *pose.Program {
		var joints []robot.JointID
		for _, n := range []string{"joint51", "joint52", "joint53", "joint54", "joint55", "joint56", "mouth_joint"} {
			joints = append(joints, robot.JointID(r.Joint(n)))
		}
		q, err := pose.To(r.M, joints, []float64{neck, 0, 0.3, 0.1, 0, 0, mouth}, 0.7)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	for _, part := range []*pose.Program{yawn(-0.1, -0.4), yawn(-0.3, 0)} {
		goal := r.Start("pose", part)
		if own := r.Activity("look_at").Own; own.Overlaps(r.Set("head")) || !own.Contains(r.Set("eyes")) {
			t.Fatalf("during the yawn look-at owns %v", own)
		}
		st, why := r.Until(goal, 5)
		if st != control.Done {
			t.Fatalf("yawn: %v %+v", st, why)
		}
		if a := w.off(p); a > degree {
			t.Errorf("eyes alone are %.2f° off", a/degree)
		}
	}
	if _, why, over := r.Ended(look); over {
		t.Fatalf("look-at ended: %v %+v", why.Code, why)
	}
	r.Run(1)
	if own := r.Activity("look_at").Own; !own.Contains(r.Set("head", "eyes")) {
		t.Error("the head did not come back")
	}
	r.For(3)
	if a := w.off(p); a > degree {
		t.Errorf("after the yawn %.2f° off", a/degree)
	}
	for _, n := range []string{"joint51", "joint52", "joint53"} {
		if d := math.Abs(r.Now.Command.Q[r.Joint(n)] - looking[r.Joint(n)]); d > 1e-6 {
			t.Errorf("%s is %g rad away from where it looked before", n, d)
		}
	}
}

// TestNoOscillation is a failure of the original: its Cartesian filter stood before
// the inverse kinematics and made the head swing. Here head and eyes come to rest,
// bit for bit, and joints go to their places without turning round.
func TestNoOscillation(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
	r := setup(t, rig.Options{})
	r.Start("look_at", at(t, r, 0.6, 0.5, 0.2))
	neck := r.Joint("joint52")
	turns, last, way := 0, r.Now.Command.Q[neck], 0.0
	for range 3000 {
		r.Run(1)
		step := r.Now.Command.Q[neck] - last
		last = r.Now.Command.Q[neck]
		if step*way < -1e-18 {
			turns++
		}
		if step != 0 {
			way = step
		}
	}
	if turns != 0 {
		t.Errorf("the neck turned round %d times", turns)
	}
	before := append([]float64(nil), r.Now.Command.Q...)
	r.Run(500)
	for j, q := range r.Now.Command.Q {
		if q != before[j] {
			t.Errorf("%s still moves, by %g", r.M.Joints()[j].Name, q-before[j])
		}
	}
}

// TestPauseAndCancel hold the head in mid-turn.
func TestPauseAndCancel(t *testing.T) {
	r := setup(t, rig.Options{})
	goal := r.Start("look_at", at(t, r, 0.5, 1, 0.35))
	r.For(0.5)
	r.Send(loop.Order{Kind: loop.Pause})
	r.For(0.6)
	before := append([]float64(nil), r.Now.Command.Q...)
	r.For(0.3)
	for j, q := range r.Now.Command.Q {
		if q != before[j] {
			t.Errorf("%s moves in a pause", r.M.Joints()[j].Name)
		}
	}
	r.Send(loop.Order{Kind: loop.Resume})
	r.For(0.2)
	r.Cancel("look_at")
	if st, why := r.Until(goal, 2); st != control.Quit || why.Code != control.Cancelled {
		t.Errorf("%v %+v", st, why)
	}
}

func TestRefusals(t *testing.T) {
	r := setup(t, rig.Options{})
	for name, c := range map[string]struct {
		change func(p *lookat.Program)
		code   control.Code
	}{
		"behind, with the eyes alone": {func(p *lookat.Program) { p.Target.Point.X, p.Wants = -5, robot.Set{} }, control.Unreachable},
		"no number":                   {func(p *lookat.Program) { p.Target.Point.X = math.NaN() }, control.NonFinite},
		"tolerance":                   {func(p *lookat.Program) { p.Tolerance = -1 }, control.BadValue},
		"without eyes or head":        {func(p *lookat.Program) { p.Needs, p.Wants = r.Set("tail"), robot.Set{} }, control.BadProgram},
	} {
		p := at(t, r, 1, 0, 0.3)
		c.change(p)
		if why, refused := r.Refused(r.Ask("look_at", p)); !refused || why.Code != c.code {
			t.Errorf("%s: %v %+v", name, why.Code, why)
		}
	}
	r.Start("look_at", at(t, r, 1, 0, 0.3))
	r.Run(5)
	r.Reports = nil
	r.Feed("look_at", &lookat.Target{At: 1, Point: spatial.Vec3{X: 1}})
	r.Run(1)
	r.Feed("look_at", &lookat.Program{})
	r.Run(1)
	if len(r.Reports) != 2 || r.Reports[0].Reason.Code != control.Stale || r.Reports[1].Reason.Code != control.BadProgram {
		t.Errorf("%+v", r.Reports)
	}
}

func TestProgramsSurvive(t *testing.T) {
	r := setup(t, rig.Options{})
	p := at(t, r, 1, 2, 3)
	for _, x := range []interface{ MarshalBinary() ([]byte, error) }{p, &p.Target} {
		b, err := x.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		q, err := lookat.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := q.(interface{ MarshalBinary() ([]byte, error) }).MarshalBinary(); string(again) != string(b) {
			t.Errorf("%s\n%s", b, again)
		}
	}
	for _, bad := range []string{"", `{"kind":"x"}`, `{"kind":"target","data":3}`} {
		if _, err := lookat.Decode([]byte(bad)); err == nil {
			t.Errorf("%q is a program", bad)
		}
	}
}

func TestLookAtDoesNotAllocate(t *testing.T) {
	r := setup(t, rig.Options{})
	r.Start("look_at", at(t, r, 1, 0.5, 0.3))
	target := &lookat.Target{Point: spatial.Vec3{X: 1, Z: 0.3}}
	if n := testing.AllocsPerRun(50, func() {
		target.At = r.Tick().Time
		target.Point.Y = 1 - target.Point.Y
		r.L.Send(loop.Order{Kind: loop.Feed, Controller: 0, Program: target})
		for range 10 {
			r.L.Step(r.Tick())
			r.N++
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLookAt(b *testing.B) {
	r := setup(b, rig.Options{})
	c, err := lookat.New(r.M, control.Transition{})
	if err != nil {
		b.Fatal(err)
	}
	p := at(b, r, 1, 0.5, 0.3)
	input := &control.Input{Tick: r.Tick(), Cmd: &r.Now.Command, Meas: &r.Now.Measured, Own: p.Needs, Rate: 1}
	out := control.NewReference(len(r.M.Joints()), len(r.M.Chains()), 1)
	if why := c.Start(input, p); why.Code != control.OK {
		b.Fatal(why)
	}
	b.ReportAllocs()
	for b.Loop() {
		input.Tick.Time += 1000
		c.Update(input, out)
	}
}

// FuzzPrograms: no record makes it fail, and whatever it takes on gives numbers.
func FuzzPrograms(f *testing.F) {
	r := setup(f, rig.Options{})
	c, err := lookat.New(r.M, control.Transition{})
	if err != nil {
		f.Fatal(err)
	}
	p := at(f, r, 1, 0.2, 0.3)
	for _, x := range []interface{ MarshalBinary() ([]byte, error) }{p, &p.Target} {
		b, err := x.MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, 1.0, 0.0, 0.3)
	}
	f.Fuzz(func(t *testing.T, b []byte, x, y, z float64) {
		input := &control.Input{Tick: r.Tick(), Cmd: &r.Now.Command, Meas: &r.Now.Measured, Own: p.Needs.Union(p.Wants), Rate: 1}
		out := control.NewReference(len(r.M.Joints()), len(r.M.Chains()), 1)
		q, err := lookat.Decode(b)
		if err != nil || c.Start(input, q).Code != control.OK {
			if why := c.Start(input, p); why.Code != control.OK {
				t.Fatalf("%v %+v", why.Code, why)
			}
		}
		if err == nil {
			c.Feed(input, q)
		}
		c.Feed(input, &lookat.Target{At: input.Tick.Time, Point: spatial.Vec3{X: x, Y: y, Z: z}})
		for range 5 {
			out.Reset()
			input.Tick.Time += 2e8
			c.Update(input, out)
			for leaf := range out.Has.All {
				if int(leaf) < len(out.Q) && (out.Q[leaf]-out.Q[leaf] != 0 || out.V[leaf]-out.V[leaf] != 0) {
					t.Fatalf("%s: %g, %g", r.M.Joints()[leaf].Name, out.Q[leaf], out.V[leaf])
				}
			}
		}
	})
}

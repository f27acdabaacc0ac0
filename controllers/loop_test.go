package controllers_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/control/hold"
	"poise/control/lookat"
	"poise/control/pose"
	"poise/control/stance"
	"poise/control/step"
	"poise/control/stream"
	"poise/control/swing"
	"poise/control/torqueoff"
	"poise/control/walk"
	"poise/controllers"
	plan "poise/gait"
	"poise/internal/rig"
	"poise/kinematics"
	"poise/loop"
	"poise/robot"
	"poise/servo/sim"
	"poise/spatial"
	"poise/telemetry"
)

// registrations are one controller of every kind.
func registrations(t testing.TB, m *robot.Model) (all []loop.Registration) {
	t.Helper()
	for _, k := range controllers.Kinds() {
		c, err := k.New(m, control.Transition{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, loop.Registration{Name: k.Name, Kind: k.Name, Controller: c})
	}
	return all
}

func setup(t testing.TB, o rig.Options) *rig.Rig {
	t.Helper()
	m := rig.Model(t, "pony")
	return rig.New(t, m, o, registrations(t, m)...)
}

// gait swings legs, which it needs, and the tail, which it wants.
func gait(r *rig.Rig) *swing.Program {
	p := &swing.Program{Needs: r.Set("leg1", "leg2", "leg3", "leg4"), Wants: r.Set("tail"), Amplitude: 0.1, Frequency: 4}
	p.Centre = append(p.Centre, r.Now.Command.Q...)
	return p
}

// TestGaitLosesTheTailAndKeepsGoing: something else takes the tail of a gait-like
// controller; its legs go on as if nothing had happened, bit for bit, and it has the
// tail back when that is over.
func TestGaitLosesTheTailAndKeepsGoing(t *testing.T) {
	alone, r := setup(t, rig.Options{}), setup(t, rig.Options{})
	alone.Slack, r.Slack = 1, 1 // a swing begins with a jump of velocity, which the bridge takes up
	alone.Start("swing", gait(alone))
	goal := r.Start("swing", gait(r))
	both := func(seconds float64) {
		for range int(seconds / r.Dt) {
			alone.Run(1)
			r.Run(1)
			for leaf := range r.Set("leg1", "leg2", "leg3", "leg4").All {
				if int(leaf) < len(r.Now.Command.Q) && r.Now.Command.Q[leaf] != alone.Now.Command.Q[leaf] {
					t.Fatalf("tick %d: %s is at %v, undisturbed at %v", r.N, r.M.Joints()[leaf].Name, r.Now.Command.Q[leaf], alone.Now.Command.Q[leaf])
				}
			}
		}
	}
	both(1)
	r.Send(loop.Order{Kind: loop.StartGoal, Controller: r.Controller("hold"), Goal: 77, Program: &hold.Program{Needs: r.Set("tail")}})
	both(1)
	if own := r.Activity("swing").Own; own.Overlaps(r.Set("tail")) || !own.Contains(r.Set("leg1", "leg2", "leg3", "leg4")) {
		t.Errorf("the gait owns %v", own)
	}
	tail := r.Joint("tail_joint1")
	at := r.Now.Command.Q[tail]
	both(0.2)
	if r.Now.Command.Q[tail] != at {
		t.Error("the tail moves while it is held")
	}
	r.Cancel("hold")
	both(1)
	if !r.Activity("swing").Own.Contains(r.Set("tail")) || r.Now.Command.Q[tail] == at {
		t.Error("the tail did not come back")
	}
	if _, why, over := r.Ended(goal); over {
		t.Errorf("the gait ended: %+v", why)
	}
}

// counting counts how often a controller is told of a change.
type counting struct {
	control.Fed
	owned int
}

func (c *counting) Owned(in *control.Input, now robot.Set) control.Status {
	c.owned++
	return c.Fed.Owned(in, now)
}

// TestUnrelatedSwitchesDisturbNothing: in the original every assignment told every
// controller, which then began again. Here a look-at hears of nothing while others
// fight for the legs.
func TestUnrelatedSwitchesDisturbNothing(t *testing.T) {
	m := rig.Model(t, "pony")
	regs := registrations(t, m)
	var look *counting
	for i := range regs {
		if regs[i].Name == "look_at" {
			look = &counting{Fed: regs[i].Controller.(control.Fed)}
			regs[i].Controller = look
		}
	}
	r := rig.New(t, m, rig.Options{}, regs...)
	p, err := lookat.At(m, spatial.Vec3{X: 1, Z: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	r.Start("look_at", p)
	r.For(1)
	before := look.owned
	for k := range 20 {
		r.Start([]string{"hold", "stream"}[k%2], []control.Program{&hold.Program{Needs: r.Set("leg1")}, &stream.Program{Needs: r.Set("leg1")}}[k%2])
		r.Run(10)
	}
	if look.owned != before {
		t.Errorf("told %d times", look.owned-before)
	}
}

// TestNoSpeedIsKeptAfterASwitch is a failure of the original: a controller that was
// switched away kept its filter's state, and went on with the old speed when it
// came back. A stream at full speed is interrupted, the limb held and given back:
// it is at rest, and only what is new moves it.
func TestNoSpeedIsKeptAfterASwitch(t *testing.T) {
	r := setup(t, rig.Options{})
	neck := r.Joint("joint52")
	run := func(q float64) {
		s := &stream.Sample{At: r.Tick().Time, Joints: r.Set("head"), Q: append([]float64(nil), r.Now.Command.Q...)}
		s.Q[neck] = q
		r.Feed("stream", s)
	}
	r.Start("stream", &stream.Program{Needs: r.Set("head"), Timeout: 10})
	run(1.5)
	r.For(0.5)
	if r.Now.Command.V[neck] < 1 {
		t.Fatalf("speed %g", r.Now.Command.V[neck])
	}
	held := r.Start("hold", &hold.Program{Needs: r.Set("head")})
	r.For(1)
	r.Cancel("hold")
	r.Until(held, 1)
	at := r.Now.Command.Q[neck]
	r.Start("stream", &stream.Program{Needs: r.Set("head"), Timeout: 10})
	r.For(1)
	if q := r.Now.Command.Q[neck]; q != at {
		t.Errorf("the neck went on from %g to %g", at, q)
	}
}

// TestNoJerkAtStart is a failure of the original: the reference began at zero, or with
// what was queued. The robot is switched on crouched, with every continuous controller
// started at once: nothing moves.
func TestNoJerkAtStart(t *testing.T) {
	r := setup(t, rig.Options{Pose: "crouched"})
	before := append([]float64(nil), r.Now.Command.Q...)
	stand, err := stance.Stand(r.M)
	if err != nil {
		t.Fatal(err)
	}
	r.Start("stance", stand)
	r.Start("stream", &stream.Program{Needs: r.Set("head")})
	r.Start("hold", &hold.Program{Needs: r.Set("tail")})
	r.Start("torque_off", &torqueoff.Program{Needs: r.Set("ears")})
	r.For(1)
	for j, q := range r.Now.Command.Q {
		if math.Abs(q-before[j]) > 1e-12 {
			t.Errorf("%s went from %v to %v", r.M.Joints()[j].Name, before[j], q)
		}
	}
}

// TestEveryKindReplays: two seconds with a goal of every kind, streams fed, hand-overs
// and a lossy bus, recorded; the recording gives the same hashes.
func TestEveryKindReplays(t *testing.T) { replays(t, 0.001, everything) }

// TestAWalkReplays: a walk that is told to go otherwise, and then nothing more, recorded; the recording gives
// the same hashes.
func TestAWalkReplays(t *testing.T) {
	replays(t, 0.0112, func(t *testing.T, r *rig.Rig) {
		t.Helper()
		p, err := walk.Walk(r.M)
		if err != nil {
			t.Fatal(err)
		}
		r.Start("walk", p)
		for k := range 20 { // the recorder has room for 2.8 s
			r.Feed("walk", &walk.Choice{At: r.Tick().Time, Gait: []string{"trot", "crawl"}[k/18]})
			r.Feed("walk", &walk.Velocity{At: r.Tick().Time, Velocity: plan.Velocity{X: 0.1, Yaw: 0.1 * math.Sin(float64(k))}})
			r.Run(10)
		}
		if x := r.Now.Command.Base.Pose.P.X; x < 0.02 {
			t.Errorf("it went %g m", x)
		}
		r.Run(30)
	})
}

func replays(t *testing.T, period float64, do func(*testing.T, *rig.Rig)) {
	t.Helper()
	m := rig.Model(t, "pony")
	regs := registrations(t, m)
	cfg := loop.Config{Model: m, Controllers: regs, Settings: loop.Settings{Policy: arbiter.PolicyLast}}
	h, err := telemetry.NewHeader("pony", period, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	rec := telemetry.NewRecorder(h)
	r := rig.New(t, m, rig.Options{Pose: "crouched", Period: period, Servo: sim.Servo{Lag: 0.01, Noise: 1e-5}, Settings: cfg.Settings, Tap: rec}, regs...)
	r.Slack = math.Inf(1)

	do(t, r)
	if rec.Lost() != 0 {
		t.Fatalf("%d ticks lost", rec.Lost())
	}
	var file bytes.Buffer
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if err := rec.Run(done, &file); err != nil {
		t.Fatal(err)
	}
	kinds := telemetry.Kinds{}
	for _, k := range controllers.Kinds() {
		kinds[k.Name] = telemetry.Kind{New: func(m *robot.Model, s loop.Settings) (control.Controller, error) { return k.New(m, s.Transition) }, Decode: k.Decode}
	}
	in, err := telemetry.NewReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	out, err := telemetry.Replay(in, m, kinds)
	if err != nil {
		t.Fatal(err)
	}
	if out.First != nil || out.Ticks != r.N || out.Missing != 0 {
		t.Errorf("%d of %d ticks, %d missing, first difference %v", out.Ticks, r.N, out.Missing, out.First)
	}
	t.Logf("%d ticks, %d orders, %d hand-overs: all hashes equal", out.Ticks, out.Orders, out.HandOvers)
}

// everything gives a goal to a controller of every kind but follow and walk, which have their own
// recordings, and feeds the streams.
func everything(t *testing.T, r *rig.Rig) {
	t.Helper()
	must := func(p control.Program, err error) control.Program {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	feed := func(k int) {
		φ := float64(k) / 10
		r.Feed("stance", &stance.Target{At: r.Tick().Time, Relative: true, Body: spatial.Pose{R: spatial.TurnZ(0.05 * math.Sin(φ)), P: spatial.Vec3{X: 0.01 * math.Sin(φ)}}})
		r.Feed("look_at", &lookat.Target{At: r.Tick().Time, Point: spatial.Vec3{X: 1, Y: math.Sin(φ), Z: 0.3}})
		s := &stream.Sample{At: r.Tick().Time, Joints: r.Set("tail"), Q: make([]float64, len(r.M.Joints()))}
		for j := range s.Q {
			s.Q[j] = 0.3 * math.Cos(φ)
		}
		r.Feed("stream", s)
	}
	stand, err := stance.Stand(r.M)
	r.Start("stance", must(stand, err))
	look, err := lookat.At(r.M, spatial.Vec3{X: 1, Z: 0.3})
	r.Start("look_at", must(look, err))
	r.Start("stream", &stream.Program{Wants: r.Set("tail", "ears")})
	r.Start("hold", &hold.Program{Needs: r.Set("mouth")})
	for k := range 15 {
		feed(k)
		r.Run(40)
	}
	r.Start("torque_off", &torqueoff.Program{Needs: r.Set("ears")})
	r.Run(50)
	r.Bus.PoseByHand(r.Joint("ear_l_joint"), 0.3)
	r.Run(50)
	crouch, err := pose.Named(r.M, "crouched", 0)
	r.Start("pose", must(crouch, err))
	r.Run(300)
	r.Start("swing", &swing.Program{Needs: r.Set("tail"), Centre: make([]float64, len(r.M.Joints())), Amplitude: 0.1, Frequency: 3})
	for k := range 5 {
		feed(k)
		r.Run(40)
	}
	r.Until(r.Start("step", liftLeg(t, r)), 0.6)
}

// TestTwistsAgreeWithPoses: what stance and step say of the speed and acceleration of
// base and limbs are the differences of their poses and speeds. Twists are about the
// origin and in the axes of what moves.
func TestTwistsAgreeWithPoses(t *testing.T) {
	r := setup(t, rig.Options{Pose: "crouched"})
	r.Slack = math.Inf(1)
	leg2, _ := r.M.Chain("leg2")
	between := func(a, b spatial.Twist) float64 {
		return max(a.Linear.Sub(b.Linear).Norm(), a.Angular.Sub(b.Angular).Norm())
	}
	// apart is the worst of all ticks but a share in which accelerations jump
	apart := func(all []float64, share float64) float64 {
		slices.Sort(all)
		return all[int(float64(len(all)-1)*(1-share))]
	}
	agree := func(name string, seconds, jumps float64, get func() control.BaseRef) {
		t.Helper()
		was := get()
		var speeds, changes []float64
		fastest := 0.0
		for range int(seconds / r.Dt) {
			r.Run(1)
			now := get()
			d := was.Pose.Inverse().Mul(now.Pose)
			got := spatial.LogTwist(d.R.Quat(), d.P).Scale(1 / r.Dt)
			speeds = append(speeds, between(got, was.Twist.Add(now.Twist).Scale(0.5)))
			change := now.Twist.Add(was.Twist.Scale(-1)).Scale(1 / r.Dt)
			changes = append(changes, between(change, was.Acceleration.Add(now.Acceleration).Scale(0.5)))
			fastest = max(fastest, got.Linear.Norm())
			was = now
		}
		// accelerations jump at samples: half a step of 1 ms of a few m/s²
		if v, a := apart(speeds, 0), apart(changes, jumps); v > 5e-3 || a > 0.05 || fastest < 0.01 {
			t.Errorf("%s: speeds differ by %g, accelerations by %g, at up to %g m/s", name, v, a, fastest)
		}
	}
	p, err := stance.Stand(r.M)
	if err != nil {
		t.Fatal(err)
	}
	p.Target = &stance.Target{Body: spatial.Pose{R: spatial.FromRPY(0.05, 0.1, 0.1), P: spatial.Vec3{X: 0.02, Z: -0.01}}, Relative: true}
	r.Start("stance", p)
	agree("base in stance", 0.3, 0, func() control.BaseRef { return r.Now.Command.Base })
	r.For(1)
	r.Start("step", liftLeg(t, r))
	r.Run(2)
	agree("limb in step", 0.25, 0.25, func() control.BaseRef { return control.BaseRef(r.Now.Command.Limb[leg2]) })
}

// liftLeg puts a hoof up and back, as seen from the base.
func liftLeg(t *testing.T, r *rig.Rig) *step.Program {
	t.Helper()
	d := kinematics.NewData(r.M)
	q := make([]float64, r.M.NumQ())
	kinematics.NewSpace(r.M).NeutralTo(q)
	for j, x := range r.Now.Command.Q {
		q[r.M.Joints()[j].Q] = x
	}
	d.UpdatePosition(q)
	id, _ := r.M.Chain("leg2")
	X := d.Pose(d.At(r.M.Chains()[id].VirtualTip))
	up := X
	up.P.Z += 0.005
	up.P.X += 0.003
	p, err := step.Compile(r.M, step.Options{From: r.Now.Command.Q},
		&step.Goal{Times: []float64{0, 0.15, 0.3}, Limbs: []step.Limb{{Chain: "leg2", Poses: []spatial.Pose{X, up, X}, Contacts: []string{"", "", "hoof_flat"}}}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSixAtOnceDoNotAllocate: a cycle with all continuous controllers at work.
func TestSixAtOnceDoNotAllocate(t *testing.T) {
	r := setup(t, rig.Options{Pose: "crouched"})
	startSix(t, r)
	if n := testing.AllocsPerRun(100, func() { r.L.Step(r.Tick()); r.N++ }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func startSix(t testing.TB, r *rig.Rig) {
	t.Helper()
	stand, err := stance.Stand(r.M)
	if err != nil {
		t.Fatal(err)
	}
	stand.Target = &stance.Target{Body: spatial.Pose{R: spatial.Identity3, P: spatial.Vec3{X: 0.02}}, Relative: true}
	look, err := lookat.At(r.M, spatial.Vec3{X: 1, Y: 0.5, Z: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	r.Start("stance", stand)
	r.Start("look_at", look)
	r.Start("stream", &stream.Program{Needs: r.Set("tail"), Timeout: 100})
	r.Start("hold", &hold.Program{Needs: r.Set("mouth")})
	r.Start("torque_off", &torqueoff.Program{Needs: r.Set("ears")})
}

// BenchmarkCycle is a cycle of the pony with all continuous controllers at work.
func BenchmarkCycle(b *testing.B) {
	r := setup(b, rig.Options{Pose: "crouched"})
	startSix(b, r)
	b.ReportAllocs()
	for b.Loop() {
		r.L.Step(r.Tick())
		r.N++
		for {
			if _, ok := r.L.Receive(); !ok {
				break
			}
		}
	}
}

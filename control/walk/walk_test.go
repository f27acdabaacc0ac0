package walk_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"poise/contact"
	"poise/control"
	"poise/control/hold"
	"poise/control/pose"
	"poise/control/walk"
	"poise/gait"
	"poise/internal/rig"
	"poise/loop"
	"poise/spatial"
)

const (
	period     = 0.0112 // s
	stopTime   = 1.5    // s within which it stands after a stop; loop.stop_deadline is 2
	hoofDrift  = 1e-6   // m, of a hoof that stands, by the command
	pastLimits = 1e-6   // share

	// named poses have three digits: soles are brought to the plane while it takes over
	handOver     = 1    // s
	poseRounding = 1e-4 // m in a tick
)

// walker is a pony whose command is watched in every tick.
type walker struct {
	*rig.Rig
	t      *testing.T
	ground *contact.Ground
	stand  contact.Balance
	feet   []contact.Foot
	points []spatial.Vec3
	stood  []bool
	swing  []float64 // of each chain, the tick before
	was    []spatial.Vec3
	q, v   []float64
	n      int
	least  float64 // margin of the centre of mass inside the feet that carry, while all do
	steps  int     // feet that were put down
	motion control.BaseRef
}

func setup(t *testing.T, at string) *walker {
	t.Helper()
	m := rig.Model(t, "pony")
	w, err := walk.New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := hold.New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pose.New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	r := rig.New(t, m, rig.Options{Pose: at, Period: period}, loop.Registration{Name: "walk", Controller: w, Supports: true}, loop.Registration{Name: "hold", Controller: h}, loop.Registration{Name: "pose", Controller: p})
	r.Slack = math.Inf(1) // legs walk faster than transitions; their own limits are judged here
	g, err := contact.NewGround(m)
	if err != nil {
		t.Fatal(err)
	}
	n := len(m.Joints())
	return &walker{Rig: r, t: t, ground: g, feet: g.DefaultFeetTo(nil), least: math.Inf(1), q: make([]float64, n), v: make([]float64, n),
		stood: make([]bool, len(m.Chains())), swing: make([]float64, len(m.Chains())), was: make([]spatial.Vec3, len(m.Chains()))}
}

func (w *walker) begin() uint64 {
	w.t.Helper()
	p, err := walk.Walk(w.M)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.Start("walk", p)
}

// run goes on for some seconds, led by a velocity unless that is nil.
func (w *walker) run(seconds float64, v *gait.Velocity) {
	w.t.Helper()
	for range int(math.Round(seconds / w.Dt)) {
		if v != nil {
			w.Feed("walk", &walk.Velocity{At: w.Tick().Time, Velocity: *v})
		}
		w.Run(1)
		w.look()
	}
}

// look judges the command of a tick: limits of joints, hooves that stand, continuity of the base.
func (w *walker) look() {
	w.t.Helper()
	c := &w.Now.Command
	for j, q := range c.Q {
		l := &w.M.Joints()[j].Limits
		v := (q - w.q[j]) / w.Dt
		if a := math.Abs(v-w.v[j]) / w.Dt; w.n > 2 && l.Acceleration.Has && a > l.Acceleration.Value*(1+pastLimits) {
			w.t.Fatalf("%.3f s: %s accelerates by %g", w.Seconds(), w.M.Joints()[j].Name, a)
		}
		w.q[j], w.v[j] = q, v
	}
	if b := &c.Base; w.n > 2 && w.motion.Has && b.Has {
		mean := b.Pose.R.MulVec(b.Twist.Linear).Add(w.motion.Pose.R.MulVec(w.motion.Twist.Linear)).Scale(0.5)
		if d := b.Pose.P.Sub(w.motion.Pose.P).Scale(1 / w.Dt).Sub(mean).Norm(); d > 0.01 {
			w.t.Fatalf("%.3f s: the base jumps: %g m/s", w.Seconds(), d)
		}
	}
	w.motion = c.Base
	all := true
	for _, f := range w.feet {
		w.points = w.ground.PointsTo(w.points[:0], c.Q, []contact.Foot{f}, c.Base.Pose)
		stands := c.Support[f.Chain].Weight > 0
		if s := c.Support[f.Chain].Swing; w.n > 2 && (stands != (s == 0) || s > 1 || !stands && s < w.swing[f.Chain]) {
			w.t.Fatalf("%.3f s: %s stands %v, at %g of a swing after %g", w.Seconds(), w.M.Chains()[f.Chain].Name, stands, s, w.swing[f.Chain])
		}
		w.swing[f.Chain] = c.Support[f.Chain].Swing
		if stands && w.stood[f.Chain] {
			allowed := hoofDrift
			if w.Seconds() < handOver {
				allowed = poseRounding
			}
			if d := w.points[0].Sub(w.was[f.Chain]).Norm(); d > allowed {
				w.t.Fatalf("%.3f s: %s stands and moves by %g m", w.Seconds(), w.M.Chains()[f.Chain].Name, d)
			}
		} else if stands && w.n > 2 {
			w.steps++
			if z := w.points[0].Z; math.Abs(z) > 1e-4 {
				w.t.Fatalf("%.3f s: %s is put down at %g m", w.Seconds(), w.M.Chains()[f.Chain].Name, z)
			}
		}
		w.stood[f.Chain], w.was[f.Chain] = stands, w.points[0]
		all = all && stands
	}
	if all {
		w.ground.BalanceTo(&w.stand, c.Q, w.feet, c.Base.Pose)
		w.least = min(w.least, w.stand.Margin)
	}
	w.n++
}

func (w *walker) still() bool {
	for j := range w.v {
		if math.Abs(w.v[j]) > 1e-6 {
			return false
		}
	}
	return true
}

// stands runs until the command rests, for so long at most.
func (w *walker) stands(within float64, v *gait.Velocity) float64 {
	w.t.Helper()
	begin := w.Seconds()
	for {
		w.run(w.Dt, v)
		if took := w.Seconds() - begin; w.still() {
			return took
		} else if took > within {
			w.t.Fatalf("it still moves after %g s", took)
		}
	}
}

// TestWalks: the pony walks ahead, sideways and round, at the speed that it is told, and stands when
// nothing more comes; hooves that stand stay to the micrometre, joints keep their limits.
func TestWalks(t *testing.T) {
	for _, c := range []struct {
		gait string
		v    gait.Velocity
	}{
		{"crawl", gait.Velocity{X: 0.05}}, {"trot", gait.Velocity{X: 0.10}}, {"trot", gait.Velocity{Y: 0.05}}, {"trot", gait.Velocity{Yaw: 0.5}},
		{"crawl", gait.Velocity{X: -0.03, Yaw: 0.1}}, {"", gait.Velocity{X: 0.12}},
	} {
		w := setup(t, "stand")
		goal := w.begin()
		w.Feed("walk", &walk.Choice{At: w.Tick().Time, Gait: c.gait})
		w.run(4, &c.v)
		from := w.Now.Command.Base.Pose
		w.run(3.2, &c.v)
		way := from.Inverse().Mul(w.Now.Command.Base.Pose)
		yaw := way.R.Quat().Log().Z
		if c.v.Yaw == 0 {
			if d := math.Hypot(way.P.X-3.2*c.v.X, way.P.Y-3.2*c.v.Y); d > 0.012 {
				t.Errorf("%+v: it went %v in 3.2 s", c, way.P)
			}
		} else if math.Abs(yaw-3.2*c.v.Yaw) > 0.05 {
			t.Errorf("%+v: it turned by %g rad in 3.2 s", c, yaw)
		}
		if why := w.Activity("walk").Why; why.Code != control.NoInertialUnit { // this robot has none
			t.Errorf("%+v: %v", c, why)
		}
		w.run(walk.Timeout+0.05, nil)
		if why := w.Activity("walk").Why; why.Code != control.Stale {
			t.Errorf("%+v: nothing was heard for %g s: %+v", c, walk.Timeout, why)
		}
		took := w.stands(6, nil)
		t.Logf("%+v: %d steps; stands %.2f s after the velocity was too old, the centre of mass at least %.1f mm inside while all hooves stood", c, w.steps, took, 1e3*w.least)
		if _, why, over := w.Ended(goal); over {
			t.Fatalf("%+v: it ended: %+v", c, why)
		}
		if w.steps < 8 {
			t.Errorf("%+v: %d steps", c, w.steps)
		}
	}
}

// TestTellsThatItIsSlower: of a velocity beyond what legs can do it tells how fast it walks, which is as fast as it goes.
func TestTellsThatItIsSlower(t *testing.T) {
	for _, c := range []struct {
		v    gait.Velocity
		code control.Code
		told float64
	}{
		{gait.Velocity{X: 1000}, control.WalksSlower, 1000}, {gait.Velocity{X: -0.3, Y: 0.4}, control.WalksSlower, 0.5}, {gait.Velocity{Yaw: -20}, control.TurnsSlower, 20},
	} {
		w := setup(t, "stand")
		w.begin()
		w.Feed("walk", &walk.Choice{At: w.Tick().Time, Gait: "trot"})
		w.run(4, &c.v)
		from := w.Now.Command.Base.Pose
		w.run(2, &c.v)
		way := from.Inverse().Mul(w.Now.Command.Base.Pose)
		speed := math.Hypot(way.P.X, way.P.Y) / 2
		if c.code == control.TurnsSlower {
			speed = math.Abs(way.R.Quat().Log().Z) / 2
		}
		why := w.Activity("walk").Why
		if why.Code != c.code || why.Max != c.told || !(why.Value > 0.05) || math.Abs(speed/why.Value-1) > 0.1 {
			t.Errorf("%+v: it goes at %.3f, and tells %+v", c.v, speed, why)
		}
	}
}

// TestStopsAtAnyInstant: pause, a speed of zero, cancel and a stop of category 2 at random instants of a
// walk: it stands soon on all its hooves, without a jump, and goes on when it may.
func TestStopsAtAnyInstant(t *testing.T) {
	n := 10
	if testing.Short() {
		n = 3
	}
	slowest := 0.0
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(7, seed))
		w := setup(t, "stand")
		goal := w.begin()
		v := gait.Velocity{X: 0.05, Yaw: 0.2 * rng.NormFloat64()}
		if seed%2 == 1 {
			w.Feed("walk", &walk.Choice{At: w.Tick().Time, Gait: "trot"})
			v.X = 0.12
		}
		w.run(2.5+2*rng.Float64(), &v)
		if w.still() {
			t.Fatalf("seed %d: it does not walk", seed)
		}
		kind := []string{"pause", "speed", "cancel", "stop"}[rng.IntN(4)]
		switch kind {
		case "pause":
			w.Send(loop.Order{Kind: loop.Pause})
		case "speed":
			w.Send(loop.Order{Kind: loop.SetRate, Value: 0})
		case "cancel":
			w.Cancel("walk")
		case "stop":
			w.L.Stop(2)
		}
		feed := &v
		if kind == "cancel" || kind == "stop" {
			feed = nil
		}
		took := w.stands(stopTime, feed)
		slowest = max(slowest, took)
		for i, f := range w.feet {
			if !w.stood[f.Chain] {
				t.Errorf("seed %d, %s: foot %d is in the air", seed, kind, i)
			}
		}
		w.run(0.3, feed)
		if w.stand.Margin < 0.015 {
			t.Errorf("seed %d, %s: it stands with its centre of mass %.1f mm inside", seed, kind, 1e3*w.stand.Margin)
		}
		steps := w.steps
		switch kind {
		case "pause":
			w.Send(loop.Order{Kind: loop.Resume})
			w.run(2.5, feed)
		case "speed":
			w.Send(loop.Order{Kind: loop.SetRate, Value: 0.5})
			w.run(2.5, feed)
		case "cancel":
			if _, why, over := w.Ended(goal); !over || why.Code != control.Cancelled {
				t.Errorf("seed %d: cancelled, and %v %+v", seed, over, why)
			}
			continue
		case "stop":
			continue
		}
		if w.steps == steps {
			t.Errorf("seed %d, %s: it does not go on", seed, kind)
		}
	}
	t.Logf("it stands after %.2f s at most", slowest)
}

// TestCommandsThatJump: absurd velocities, and such that change at random; NaN and infinities are
// refused, and what was told before counts.
func TestCommandsThatJump(t *testing.T) {
	jumps(t, 3, 12)
}

// TestSoakOfCommandsThatJump: the same for hours of other commands.
func TestSoakOfCommandsThatJump(t *testing.T) {
	if os.Getenv("POISE_SOAK") == "" {
		t.Skip("absent: POISE_SOAK, which make soak sets")
	}
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { jumps(t, 100+seed, 200) })
	}
}

func jumps(t *testing.T, seed uint64, commands int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 24))
	w := setup(t, "stand")
	goal := w.begin()
	w.run(1, nil)
	for range commands {
		v := gait.Velocity{X: rng.NormFloat64() * 0.2, Y: rng.NormFloat64() * 0.1, Yaw: rng.NormFloat64()}
		if rng.IntN(3) == 0 {
			v = gait.Velocity{X: 1e6 * rng.NormFloat64(), Yaw: 1e5}
		}
		w.Feed("walk", &walk.Choice{At: w.Tick().Time, Gait: []string{"crawl", "trot", ""}[rng.IntN(3)]})
		w.run(0.2+1.5*rng.Float64(), &v)
		if _, why, over := w.Ended(goal); over {
			t.Fatalf("%+v: it ended: %v %+v", v, why.Code, why)
		}
	}
	w.Reports = nil
	w.Feed("walk", &walk.Velocity{At: w.Tick().Time, Velocity: gait.Velocity{X: math.NaN()}})
	w.run(2*period, nil)
	refused := false
	for _, r := range w.Reports {
		refused = refused || r.Kind == loop.OrderRefused && r.Reason.Code == control.NonFinite
	}
	if !refused {
		t.Error("a velocity that is no number was taken")
	}
	w.run(walk.Timeout, nil)
	w.stands(6, nil)
}

// TestHugeVelocitiesAreWalked: a velocity near the largest number is walked in its direction, at any speed override.
func TestHugeVelocitiesAreWalked(t *testing.T) {
	for _, v := range []gait.Velocity{{X: 1e308, Y: 1e308}, {X: 1.7e308}} {
		w := setup(t, "stand")
		w.begin()
		w.Send(loop.Order{Kind: loop.SetRate, Value: 2})
		from := w.at().P
		w.run(4, &v)
		if way := w.at().P.Sub(from); !(way.X > 0.05) || (way.Y > 0.02) != (v.Y > 0) {
			t.Errorf("%v: it went by %v", v, way)
		}
	}
}

// TestItStartsFromAStand: from a pose in which it does not stand it is refused, by what is wrong and by how
// much; from those in which it does it begins without a jump, lowered or raised to the height of walking.
func TestItStartsFromAStand(t *testing.T) {
	for at, want := range map[string]control.Code{"stand": control.OK, "crouched": control.OK, "bow": control.NotStanding, "lying": control.NotStanding} {
		w := setup(t, at)
		p, err := walk.Walk(w.M)
		if err != nil {
			t.Fatal(err)
		}
		goal := w.Ask("walk", p)
		why, refused := w.Refused(goal)
		if refused != (want != control.OK) || refused && why.Code != want {
			t.Errorf("%s: refused %v, %v %+v", at, refused, why.Code, why)
		}
		if refused {
			t.Logf("%s: %v %g, %g is allowed", at, why.Code, why.Value, why.Max)
			continue
		}
		w.run(2, nil)
		if !w.still() || w.stand.Margin < 0.03 {
			t.Errorf("%s: it stands with its centre of mass %g m inside", at, w.stand.Margin)
		}
		if z := w.Now.Command.Base.Pose.P.Z; z < 0.17 || z > 0.225 {
			t.Errorf("%s: its base is %g m high", at, z)
		}
	}
}

// TestHeadAndTailAreWanted: another controller takes the tail of a walk and gives it back, and the tail loses its torque and gets it where a hand
// has left it; the legs go on as if nothing had happened, bit for bit. One that takes a leg ends the walk.
func TestHeadAndTailAreWanted(t *testing.T) {
	alone, w := setup(t, "stand"), setup(t, "stand")
	alone.begin()
	goal := w.begin()
	v := gait.Velocity{X: 0.05}
	both := func(seconds float64) {
		t.Helper()
		for range int(seconds / period) {
			alone.run(period, &v)
			w.run(period, &v)
			for leaf := range w.Set("leg1", "leg2", "leg3", "leg4").All {
				if j := int(leaf); j < len(w.q) && w.q[j] != alone.q[j] {
					t.Fatalf("%.3f s: %s is at %v, undisturbed at %v", w.Seconds(), w.M.Joints()[j].Name, w.q[j], alone.q[j])
				}
			}
		}
	}
	both(2)
	if !w.Activity("walk").Own.Contains(w.Set("tail", "head")) {
		t.Errorf("it owns %v", w.Activity("walk").Own)
	}
	w.Send(loop.Order{Kind: loop.StartGoal, Controller: w.Controller("hold"), Goal: 77, Program: &hold.Program{Needs: w.Set("tail")}})
	both(1)
	if w.Activity("walk").Own.Overlaps(w.Set("tail")) {
		t.Error("the tail was not taken")
	}
	w.Cancel("hold")
	both(1)
	if !w.Activity("walk").Own.Contains(w.Set("tail")) {
		t.Error("the tail did not come back")
	}
	tail, _ := w.M.Joint("tail_joint1")
	torque := &control.Torque{Joints: w.Set("tail")}
	w.Send(loop.Order{Kind: loop.TorqueOff, Program: torque})
	both(0.5)
	const there = 0.3
	if !w.Bus.PoseByHand(int(tail), there) {
		t.Error("the tail holds itself")
	}
	both(0.5)
	w.Send(loop.Order{Kind: loop.TorqueOn, Program: torque})
	both(1)
	if _, why, over := w.Ended(goal); over || w.q[tail] != there || w.Bus.Joint(int(tail)) != there {
		t.Errorf("the tail got its torque: over %v, %+v, its command is %g", over, why, w.q[tail])
	}
	w.Send(loop.Order{Kind: loop.StartGoal, Controller: w.Controller("hold"), Goal: 78, Program: &hold.Program{Needs: w.Set("leg1")}})
	w.Run(3)
	if _, why, over := w.Ended(goal); !over || why.Code != control.ResourceLost {
		t.Errorf("a leg was taken: %v %+v", over, why)
	}
}

// TestNothingIsAllocated: ticks of a walk, with velocities.
func TestNothingIsAllocated(t *testing.T) {
	w := setup(t, "stand")
	w.begin()
	v := gait.Velocity{X: 0.05}
	w.run(2, &v)
	if n := testing.AllocsPerRun(200, func() { w.L.Step(w.Tick()); w.N++ }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestProgramsAreRecorded: what is sent comes back as it was.
func TestProgramsAreRecorded(t *testing.T) {
	p, err := walk.Walk(rig.Model(t, "pony"))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []interface {
		control.Program
		MarshalBinary() ([]byte, error)
	}{p, &walk.Velocity{At: 5, Velocity: gait.Velocity{X: 0.1, Y: 0.2, Yaw: 0.3}}, &walk.Choice{At: 7, Gait: "trot"}, &walk.Parameters{At: 9, Gait: gait.Gait{Name: "crawl", Period: 1.2, Phase: []float64{0, 0.5}}}} {
		b, err := x.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		back, err := walk.Decode(b)
		if err != nil || fmt.Sprintf("%+v", back) != fmt.Sprintf("%+v", x) {
			t.Errorf("%+v came back as %+v, %v", x, back, err)
		}
	}
	if _, err := walk.Decode([]byte(`{"kind":"run"}`)); err == nil {
		t.Error("an unknown kind was read")
	}
}

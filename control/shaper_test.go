package control

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/arbiter"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/spatial"
)

const period = 0.0112 // of a HerkuleX bus, s

// rig is a shaper whose references are written by hand.
type rig struct {
	t      testing.TB
	m      *robot.Model
	refs   *Aggregate
	shaper *Shaper
	mode   []servo.Mode
	ref    *Reference // of the writer
	writer arbiter.ClientID
	n      int
}

func newRig(t testing.TB, name string) *rig {
	t.Helper()
	return newRigWith(t, name, BridgeConfig{})
}

func newRigWith(t testing.TB, name string, decay BridgeConfig) *rig {
	t.Helper()
	bot, err := load.Robot(name, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, m: bot.Model, writer: arbiter.NoClient}
	if r.refs, err = NewAggregate(r.m); err != nil {
		t.Fatal(err)
	}
	if r.shaper, err = NewShaper(r.m, Transition{}, decay, r.refs); err != nil {
		t.Fatal(err)
	}
	joints := len(r.m.Joints())
	r.mode = make([]servo.Mode, joints)
	for j := range r.mode {
		r.mode[j] = servo.Position
	}
	r.ref = NewReference(joints, len(r.m.Chains()), r.refs.Outputs())
	return r
}

// step runs a tick in which the writer asks for r.ref.
func (r *rig) step() {
	r.n++
	k := r.shaper
	k.Begin(float64(r.n)*period, period)
	r.refs.Begin()
	if r.writer != arbiter.NoClient {
		if leaf, ok := r.refs.Take(r.writer, r.ref.Has, r.ref); !ok {
			r.t.Fatalf("tick %d: leaf %d is non-finite", r.n, leaf)
		}
	}
	r.refs.End()
	k.References(r.mode)
	if r.writer != arbiter.NoClient {
		k.HandOver(r.writer, r.ref.Peak)
	}
	k.HandOver(arbiter.NoClient, 0)
	for j := range r.mode {
		if r.mode[j].Powered() {
			k.Limit(j)
		}
	}
	k.Complete(r.mode)
}

// base returns the leaf of the robot's base.
func (r *rig) base() robot.LeafID {
	r.t.Helper()
	if !r.shaper.poses.owned {
		r.t.Fatal("the robot has no base")
	}
	return r.shaper.poses.leaf
}

// all returns the joints of the robot, as leaves.
func (r *rig) all() (set robot.Set) {
	for j := range r.mode {
		set = set.With(robot.LeafID(j))
	}
	return set
}

// TestJointsAreHandedOver changes writers, programs and minds at random instants:
// steps stay within the limits of the joints, and when a hand-over has ended the
// command is the reference bit for bit.
func TestJointsAreHandedOver(t *testing.T) {
	changes := 400
	if testing.Short() {
		changes = 40
	}
	rng := rand.New(rand.NewPCG(11, 3))
	r := newRig(t, "arm6")
	n := len(r.mode)
	randomWaves := func() []wave {
		all := make([]wave, n)
		for j := range all {
			all[j] = wave{centre: -0.05 * rng.Float64(), amplitude: 0.03 * rng.Float64(), ω: 1 + 2*rng.Float64(), φ: 6 * rng.Float64()}
		}
		return all
	}
	now, same, held := randomWaves(), 0, 0
	q, v := make([]float64, n), make([]float64, n)
	for change := range changes {
		switch rng.IntN(4) {
		case 0:
			r.writer = arbiter.NoClient
		case 1: // another program of the same writer
			now = randomWaves()
			r.shaper.Renew(r.all())
		case 2: // the same program, another reference: it jumps
			now = randomWaves()
		default:
			r.writer, now = arbiter.ClientID(change%3), randomWaves()
		}
		length := 1 + rng.IntN(40)
		if rng.IntN(10) == 0 {
			length = 500
		}
		for range length {
			r.ref.Has, r.ref.Peak = r.all(), 0.3
			for j := range n {
				s := now[j].at(float64(r.n+1) * period)
				r.ref.Q[j], r.ref.V[j], r.ref.A[j] = s.P, s.V, s.A
			}
			r.step()
			for j := range n {
				r.judge(j, q, v)
				switch {
				case r.writer == arbiter.NoClient:
					if r.shaper.Still(j) {
						held++
					}
				case !r.shaper.HandingOver(j) && r.shaper.Cut[j] == 0:
					same++
					if r.shaper.Motion.Q[j] != r.ref.Q[j] {
						t.Fatalf("seed 11 3, tick %d, joint %d: no hand-over, and %g off the reference", r.n, j, r.shaper.Motion.Q[j]-r.ref.Q[j])
					}
				}
			}
		}
	}
	if same == 0 || held == 0 {
		t.Errorf("%d ticks on the reference, %d at rest", same, held)
	}
	t.Logf("%d changes, %d joint ticks on the reference, %d held", changes, same, held)
}

// judge compares the step of a joint with its limits, and remembers it.
func (r *rig) judge(j int, q, v []float64) {
	r.t.Helper()
	b := r.shaper.Bounds(j)
	now := r.shaper.Motion.Q[j]
	speed := (now - q[j]) / period
	const slack = 1e-6 // of the gate, and of differences of steps
	if acc := math.Abs(speed-v[j]) / period; math.Abs(speed) > b.Velocity*(1+slack)+slack || acc > max(b.Acceleration, b.Deceleration)*(1+slack)+slack/period {
		r.t.Fatalf("seed 11 3, tick %d, joint %d: %g rad/s, %g rad/s², limits %+v", r.n, j, speed, acc, b)
	}
	q[j], v[j] = now, speed
}

// TestSentJointsArriveTogether and rest there; those that are told to stay stop on
// the way.
func TestSentJointsArriveTogether(t *testing.T) {
	r := newRig(t, "arm6")
	r.shaper.Send(0, 0.4)
	r.shaper.Send(1, -0.1)
	r.shaper.Send(2, 0.2)
	for range 20 {
		r.step()
	}
	if a, b := r.shaper.Motion.Q[0]/0.4, r.shaper.Motion.Q[1]/-0.1; math.Abs(a-b) > 1e-9 || a == 0 {
		t.Errorf("one has gone %g of its way, the other %g", a, b)
	}
	r.shaper.Stay(2)
	left := r.shaper.Motion.Q[2]
	for range 400 {
		r.step()
	}
	for j, want := range []float64{0.4, -0.1} {
		if !r.shaper.Arrived(j) || r.shaper.Motion.Q[j] != want {
			t.Errorf("joint %d is at %g, sent to %g", j, r.shaper.Motion.Q[j], want)
		}
	}
	if q := r.shaper.Motion.Q[2]; !r.shaper.Still(2) || !(q > left && q < 0.2) {
		t.Errorf("the joint that stays went on from %g to %g", left, q)
	}
}

// TestPlacedJointsStay where they were put.
func TestPlacedJointsStay(t *testing.T) {
	r := newRig(t, "arm6")
	r.shaper.Send(0, 0.3)
	for range 10 {
		r.step()
	}
	r.shaper.Place(0, -0.2)
	for range 5 {
		if r.step(); r.shaper.Motion.Q[0] != -0.2 || !r.shaper.AtRest() {
			t.Fatalf("tick %d: it is at %g", r.n, r.shaper.Motion.Q[0])
		}
	}
}

// TestPosesAreHandedOver moves the base and the tip of a leg by changing writers,
// and unowned: place and speed are continuous, the speed is the one at which the
// place changes, and when a hand-over has ended the command is the reference bit
// for bit.
func TestPosesAreHandedOver(t *testing.T) {
	changes := 1500
	if testing.Short() {
		changes = 60
	}
	rng := rand.New(rand.NewPCG(4, 7))
	r := newRig(t, "pony")
	vec := func(s float64) spatial.Vec3 {
		return spatial.Vec3{X: s * rng.NormFloat64(), Y: s * rng.NormFloat64(), Z: s * rng.NormFloat64()}
	}
	randomMotion := func() BaseRef {
		return BaseRef{Has: true, Pose: spatial.Pose{R: spatial.ExpRotation(vec(0.5)).Matrix(), P: vec(0.3)},
			Twist: spatial.Twist{Linear: vec(0.1), Angular: vec(0.1)}}
	}
	there := func(x BaseRef) BaseRef { // and back
		t := float64(r.n+1) * period
		x = x.At(math.Sin(t))
		x.Twist = x.Twist.Scale(math.Cos(t))
		return x
	}
	leg := r.refs.Limb(0).With(r.base())
	base, tip, same := randomMotion(), randomMotion(), 0
	k := r.shaper
	was, wasTip := k.Motion.Base, k.Motion.Limb[0]
	for change := range changes {
		if rng.IntN(4) == 0 {
			r.writer = arbiter.NoClient
		} else {
			r.writer, base, tip = arbiter.ClientID(change%3), randomMotion(), randomMotion()
			k.Renew(leg)
		}
		length := 1 + rng.IntN(30)
		if rng.IntN(20) == 0 {
			length = 400
		}
		for range length {
			r.ref.Has, r.ref.Base, r.ref.Limb[0] = leg, there(base), LimbRef(there(tip))
			r.step()
			now, nowTip := k.Motion.Base, k.Motion.Limb[0]
			if was.Has {
				smooth(t, r.n, &was, &now)
			}
			if wasTip.Has && nowTip.Has {
				smooth(t, r.n, (*BaseRef)(&wasTip), (*BaseRef)(&nowTip))
			}
			was, wasTip = now, nowTip
			if r.writer != arbiter.NoClient && !k.poses.base.Active() {
				same++
				if now.Pose != r.ref.Base.Pose || now.Twist != r.ref.Base.Twist || !k.poses.limbs[0].Active() && nowTip.Pose != r.ref.Limb[0].Pose {
					t.Fatalf("seed 4 7, tick %d: no hand-over, and not on the reference", r.n)
				}
			}
		}
	}
	if same == 0 {
		t.Error("no hand-over ever ended")
	}
	r.writer = arbiter.NoClient
	for range 400 {
		r.step()
	}
	if b := k.Motion.Base; b.Twist != (spatial.Twist{}) || k.Motion.Limb[0].Has {
		t.Errorf("an unowned base moves: %+v", b.Twist)
	}
	t.Logf("%d changes, %d ticks on the reference", changes, same)
}

// smooth asks that a pose goes on as its twist says, and that the twist changes no
// faster than a hand-over makes it.
func smooth(t *testing.T, n int, was, now *BaseRef) {
	t.Helper()
	// hand-overs of up to π rad and 2 m with T = 0.06 s reach 0.23·x/T² and v/T
	const most = 400 // m/s² or rad/s²
	step := now.Pose.P.Sub(was.Pose.P).Norm()
	limit := (was.Twist.Linear.Norm()+now.Twist.Linear.Norm())/2*period + most*period*period
	if step > limit {
		t.Fatalf("tick %d: the pose jumps by %g, %g m/s and %g m/s before and after", n, step, was.Twist.Linear.Norm(), now.Twist.Linear.Norm())
	}
	turn := was.Pose.R.Transpose().Mul(now.Pose.R).Quat().Log().Norm()
	if limit := (was.Twist.Angular.Norm()+now.Twist.Angular.Norm())/2*period + most*period*period; turn > limit {
		t.Fatalf("tick %d: the pose turns by %g", n, turn)
	}
	// speed compared in world axes
	a, b := was.Pose.R.MulVec(was.Twist.Linear), now.Pose.R.MulVec(now.Twist.Linear)
	if jump := b.Sub(a).Norm(); jump > most*period {
		t.Fatalf("tick %d: the speed jumps by %g m/s", n, jump)
	}
	if !now.Pose.P.Finite() || math.IsNaN(turn) {
		t.Fatalf("tick %d: %+v", n, now)
	}
}

func TestMakingACommandDoesNotAllocate(t *testing.T) {
	r := newRig(t, "pony")
	r.ref.Has = r.all().With(r.base())
	r.ref.Base.Has, r.ref.Base.Pose.R = true, spatial.TurnZ(1)
	if n := testing.AllocsPerRun(500, func() {
		r.writer = arbiter.ClientID(r.n / 20 % 3)
		r.step()
	}); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
	if !r.shaper.poses.base.Active() && !r.shaper.HandingOver(0) {
		t.Error("nothing was handed over")
	}
}

package stream_test

import (
	"math"
	"testing"

	"poise/control"
	"poise/control/stream"
	"poise/internal/rig"
	"poise/kinematics"
	"poise/loop"
	"poise/robot"
	"poise/spatial"
)

// tip is the virtual tip of a chain of the commanded robot, seen from its base.
type tip struct {
	r     *rig.Rig
	data  *kinematics.Data
	q     []float64
	chain robot.ChainID
}

func newTip(r *rig.Rig, name string) *tip {
	r.T.Helper()
	id, ok := r.M.Chain(name)
	if !ok {
		r.T.Fatalf("no chain %q", name)
	}
	t := &tip{r: r, data: kinematics.NewData(r.M), q: make([]float64, r.M.NumQ()), chain: id}
	kinematics.NewSpace(r.M).NeutralTo(t.q)
	return t
}

func (t *tip) inBase() spatial.Pose {
	for i, j := range t.r.M.Joints() {
		t.q[j.Q] = t.r.Now.Command.Q[i]
	}
	t.data.UpdatePosition(t.q)
	return t.data.Pose(t.data.At(t.r.M.Chains()[t.chain].VirtualTip))
}

func (t *tip) inWorld() spatial.Pose { return t.r.Now.Command.Base.Pose.Mul(t.inBase()) }

// limbs returns a value that brings the tip of a limb somewhere, seen from the base.
func limbs(r *rig.Rig, chain robot.ChainID, X spatial.Pose) *stream.Sample {
	return &stream.Sample{At: r.Tick().Time, Stream: stream.Limbs, InBase: true, Limbs: []stream.Limb{{Chain: chain, Pose: X}}}
}

// TestATipIsFollowed: a stream of poses of a hoof, with and without twists, becomes motion
// of the leg's joints: the tip is on the streamed curve at most 25 ms late. The rig judges
// limits of joints.
func TestATipIsFollowed(t *testing.T) {
	const hz, radius, w = 50, 0.01, 2 * math.Pi * 0.5
	for _, twists := range []bool{false, true} {
		r := setup(t)
		r.Start("stream", &stream.Program{Needs: r.Set("leg1")})
		hoof := newTip(r, "leg1")
		from, began := hoof.inBase(), r.Seconds()
		wave := func(t float64) (X spatial.Pose, v spatial.Vec3) {
			s, c := math.Sincos(w * (t - began))
			X = from
			X.P = X.P.Add(spatial.Vec3{X: radius * s, Z: radius * (1 - c)})
			return X, spatial.Vec3{X: radius * w * c, Z: radius * w * s}
		}
		var times []float64
		var at []spatial.Vec3
		for n := range 5000 {
			if now := r.Seconds(); n%(1000/hz) == 0 {
				X, v := wave(now)
				s := limbs(r, hoof.chain, X)
				s.Limbs[0].Twist.Linear, s.Limbs[0].Moves = v, twists
				r.Feed("stream", s)
			}
			now := r.Seconds()
			r.Run(1)
			if now > began+1 {
				times, at = append(times, now), append(at, hoof.inBase().P)
			}
		}
		if bad := refusals(r); len(bad) > 0 {
			t.Fatalf("%+v", bad[0])
		}
		best, delay := math.Inf(1), 0.0
		for d := 0.0; d < 0.1; d += 0.001 {
			worst := 0.0
			for i, now := range times {
				X, _ := wave(now - d)
				worst = max(worst, X.P.Sub(at[i]).Norm())
			}
			if worst < best {
				best, delay = worst, d
			}
		}
		t.Logf("twists %v: %g ms late, %g m off", twists, delay*1e3, best)
		if delay > 0.025 || best > 2e-4 {
			t.Errorf("twists %v: %g ms late, %g m off", twists, delay*1e3, best)
		}
	}
}

// TestATipInTheWorld: a pose in the world is seen from where the base is.
func TestATipInTheWorld(t *testing.T) {
	r := setup(t)
	r.Start("stream", &stream.Program{Needs: r.Set("leg1"), Timeout: 10})
	hoof := newTip(r, "leg1")
	X := hoof.inWorld()
	X.P = X.P.Add(spatial.Vec3{X: 0.01, Z: 0.02})
	r.Feed("stream", &stream.Sample{At: r.Tick().Time, Stream: stream.Limbs, Limbs: []stream.Limb{{Chain: hoof.chain, Pose: X}},
		Support: []stream.Support{{Chain: hoof.chain}}})
	base := r.Now.Command.Base.Pose
	r.For(1)
	if d := base.Mul(hoof.inBase()).P.Sub(X.P).Norm(); d > 1e-6 {
		t.Errorf("the tip is %g m off: %+v", d, refusals(r))
	}
	if w := r.Now.Command.Support[hoof.chain].Weight; w != 0 {
		t.Errorf("the hoof is in the air, and carries %g", w)
	}
}

// TestTheBaseIsLedOverItsFeet: a stream of poses of the base moves the body while the
// hooves stay where they stand.
func TestTheBaseIsLedOverItsFeet(t *testing.T) {
	r := setup(t)
	r.Start("stream", &stream.Program{Needs: r.Set("base", "leg1", "leg2", "leg3", "leg4")})
	from := r.Now.Command.Base.Pose
	var hooves []*tip
	var stood []spatial.Pose
	for _, name := range []string{"leg1", "leg2", "leg3", "leg4"} {
		hooves = append(hooves, newTip(r, name))
		stood = append(stood, hooves[len(hooves)-1].inWorld())
	}
	slip, last := 0.0, from
	for n := range 3000 {
		if n%20 == 0 {
			last = from
			last.P.X += 0.015 * math.Sin(float64(n)/1000*math.Pi)
			last.P.Z -= 0.01 * (1 - math.Cos(float64(n)/1000*math.Pi))
			X := last
			r.Feed("stream", &stream.Sample{At: r.Tick().Time, Stream: stream.Limbs, Base: &X})
		}
		r.Run(1)
		for i, h := range hooves {
			slip = max(slip, h.inWorld().P.Sub(stood[i].P).Norm())
		}
	}
	if bad := refusals(r); len(bad) > 0 {
		t.Fatalf("%+v", bad[0])
	}
	off := r.Now.Command.Base.Pose.P.Sub(last.P).Norm()
	t.Logf("hooves slip %g m, the base is %g m off", slip, off)
	if slip > 1e-4 || off > 1e-3 {
		t.Errorf("hooves slip %g m, the base is %g m off", slip, off)
	}
}

// TestCartesianRefusals: what inverse kinematics cannot resolve is refused with what is
// in the way, and moves nothing.
func TestCartesianRefusals(t *testing.T) {
	r := setup(t)
	r.Start("stream", &stream.Program{Needs: r.Set("base", "leg1"), Timeout: 10})
	hoof, other := newTip(r, "leg1"), newTip(r, "leg2")
	X, Y := hoof.inBase(), r.Now.Command.Base.Pose
	far, away, none := X, Y, X
	far.P.Z -= 1
	away.P.X += 0.1
	none.P.X = math.NaN()
	base := func(X spatial.Pose) *stream.Sample {
		return &stream.Sample{At: r.Tick().Time, Stream: stream.Limbs, Base: &X}
	}
	before := append([]float64(nil), r.Now.Command.Q...)
	for _, c := range []struct {
		name  string
		value *stream.Sample
		code  []control.Code
		joint string
	}{
		{"out of reach", limbs(r, hoof.chain, far), []control.Code{control.Unreachable, control.LimbUnreachable}, ""},
		{"another's leg", limbs(r, other.chain, other.inBase()), []control.Code{control.NotOwned}, "joint21"},
		{"no number", limbs(r, hoof.chain, none), []control.Code{control.NonFinite}, "joint11"},
		{"no such chain", limbs(r, 99, X), []control.Code{control.BadProgram}, ""},
		{"a jump of the base", base(away), []control.Code{control.BaseTooFar}, ""},
		{"others stand", base(Y), []control.Code{control.NotOwned}, "joint31"},
		{"twice", &stream.Sample{Stream: stream.Limbs, InBase: true, Limbs: []stream.Limb{{Chain: hoof.chain, Pose: X}, {Chain: hoof.chain, Pose: X}}}, []control.Code{control.BadProgram}, ""},
	} {
		r.Reports = nil
		c.value.At = r.Tick().Time
		r.Feed("stream", c.value)
		r.Run(1)
		got := refusals(r)
		ok := len(got) == 1 && (got[0].Code == c.code[0] || len(c.code) > 1 && got[0].Code == c.code[1])
		if !ok || c.joint != "" && (got[0].Joint < 0 || r.M.Joints()[got[0].Joint].Name != c.joint) {
			t.Errorf("%s: %+v, want %v %s", c.name, got, c.code, c.joint)
		}
	}
	r.For(0.2)
	for j, q := range r.Now.Command.Q {
		if q != before[j] {
			t.Errorf("joint %s has moved", r.M.Joints()[j].Name)
		}
	}
}

// TestABaseWithoutSupportsIsRefused: a base without a foot that carries cannot be led.
func TestABaseWithoutSupportsIsRefused(t *testing.T) {
	r := setup(t)
	r.Start("stream", &stream.Program{Needs: r.Set("base", "leg1", "leg2", "leg3", "leg4")})
	var all []stream.Support
	for _, name := range []string{"leg1", "leg2", "leg3", "leg4"} {
		all = append(all, stream.Support{Chain: newTip(r, name).chain})
	}
	r.Feed("stream", &stream.Sample{At: r.Tick().Time, Stream: stream.Supports, Support: all})
	r.Run(1)
	X := r.Now.Command.Base.Pose
	r.Feed("stream", &stream.Sample{At: r.Tick().Time, Stream: stream.Limbs, Base: &X})
	r.Run(1)
	if got := refusals(r); len(got) != 1 || got[0].Code != control.NothingStands {
		t.Errorf("%+v", got)
	}
}

// TestStreamsSideBySide: joints, outputs, supports and limbs that come within one tick
// all count.
func TestStreamsSideBySide(t *testing.T) {
	r := setup(t)
	r.Start("stream", &stream.Program{Needs: r.Set("leg1", "leg2", "eyes", "tail"), Timeout: 10})
	hoof, other := newTip(r, "leg1"), newTip(r, "leg2")
	res, err := r.M.Resources()
	if err != nil {
		t.Fatal(err)
	}
	screens, _ := res.Find("eye_screens")
	var leaf robot.LeafID
	for leaf = range screens.All {
	}
	X := hoof.inBase()
	X.P.Z += 0.01
	at := r.Tick().Time
	r.Feed("stream", limbs(r, hoof.chain, X))
	r.Feed("stream", &stream.Sample{At: at, Stream: stream.Supports, Support: []stream.Support{{Chain: other.chain, Weight: 0.25}}})
	r.Feed("stream", &stream.Sample{At: at, Stream: stream.Outputs, Output: []stream.Output{{Leaf: leaf, Value: 3}}})
	r.Feed("stream", sample(r, "tail_joint1", 0.2))
	r.For(1)
	if bad := refusals(r); len(bad) > 0 {
		t.Fatalf("%+v", bad)
	}
	c := &r.Now.Command
	if d := hoof.inBase().P.Sub(X.P).Norm(); d > 1e-6 || c.Support[other.chain].Weight != 0.25 || c.Output[0] != 3 || math.Abs(c.Q[r.Joint("tail_joint1")]-0.2) > 1e-6 {
		t.Errorf("the hoof is %g m off, leg2 carries %g, the screens show %g, the tail is at %g", d, c.Support[other.chain].Weight, c.Output[0], c.Q[r.Joint("tail_joint1")])
	}
}

// TestOutputsAlone: who leads nothing but a typed output needs no joint.
func TestOutputsAlone(t *testing.T) {
	r := setup(t)
	r.Start("stream", &stream.Program{Needs: r.Set("eye_screens")})
	r.Run(10)
	if a := r.Activity("stream"); !a.Active {
		t.Errorf("%+v", a)
	}
}

// TestResolvingDoesNotAllocate: neither limbs and base, nor a refusal.
func TestResolvingDoesNotAllocate(t *testing.T) {
	r := setup(t)
	r.Start("stream", &stream.Program{Needs: r.Set("base", "leg1", "leg2", "leg3", "leg4", "head")})
	X := r.Now.Command.Base.Pose
	nose := newTip(r, "nose")
	body := &stream.Sample{Stream: stream.Limbs, Base: &X, InBase: true, Limbs: []stream.Limb{{Chain: nose.chain, Pose: nose.inBase(), Moves: true}}}
	far := limbs(r, nose.chain, spatial.Pose{R: spatial.Identity3, P: spatial.Vec3{Z: 5}})
	for name, s := range map[string]*stream.Sample{"limbs and base": body, "out of reach": far} {
		if n := testing.AllocsPerRun(50, func() {
			s.At = r.Tick().Time
			X.P.X += 1e-6
			r.L.Send(loop.Order{Kind: loop.Feed, Program: s})
			r.L.Step(r.Tick())
			r.N++
			for {
				if _, ok := r.L.Receive(); !ok {
					break
				}
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

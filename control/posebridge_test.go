package control

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/spatial"
)

// randomPose returns a moving pose anywhere.
func randomPose(rng *rand.Rand) BaseRef {
	vec := func(s float64) spatial.Vec3 {
		return spatial.Vec3{X: s * rng.NormFloat64(), Y: s * rng.NormFloat64(), Z: s * rng.NormFloat64()}
	}
	return BaseRef{Has: true, Pose: spatial.Pose{R: spatial.ExpRotation(vec(1)).Matrix(), P: vec(1)},
		Twist:        spatial.Twist{Linear: vec(1), Angular: vec(1)},
		Acceleration: spatial.Twist{Linear: vec(1), Angular: vec(1)}}
}

// apart is the largest difference of two poses, two twists and two accelerations.
func apart(a, b *BaseRef) (pose, twist, acceleration float64) {
	for i := range a.Pose.R {
		pose = max(pose, math.Abs(a.Pose.R[i]-b.Pose.R[i]))
	}
	pose = max(pose, a.Pose.P.Sub(b.Pose.P).Norm())
	return pose, between(a.Twist, b.Twist), between(a.Acceleration, b.Acceleration)
}

func between(a, b spatial.Twist) float64 {
	return max(a.Linear.Sub(b.Linear).Norm(), a.Angular.Sub(b.Angular).Norm())
}

// TestPoseBridgeIsContinuous hands random moving poses over to random moving
// references: place, speed and acceleration begin as they were, the twist is the
// derivative of the pose and the acceleration that of the twist all the way, and at
// the end the command is the reference.
func TestPoseBridgeIsContinuous(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	const h = 1e-5 // s
	for n := range 300 {
		var g PoseBridge
		command, ref := randomPose(rng), randomPose(rng)
		g.Begin(2, &command, &ref)
		// the reference goes on along a curve whose rates are exact
		at := func(s float64) BaseRef {
			g := g // ends by itself
			x := curve(&ref, s)
			g.Apply(2+s, &x)
			return x
		}
		start := at(0)
		if pose, twist, acc := apart(&start, &command); pose > 1e-9 || twist > 1e-9 || acc > 1e-7 {
			t.Fatalf("case %d begins %g, %g/s, %g/s² away", n, pose, twist, acc)
		}
		for _, s := range []float64{0.01, 0.1, 0.4, 1} {
			x, before, after := at(s), at(s-h), at(s+h)
			step := before.Pose.Inverse().Mul(after.Pose)
			ξ := spatial.LogTwist(step.R.Quat(), step.P).Scale(1 / (2 * h))
			// difference quotients are off by terms in h², and by rounding
			if off := between(ξ, x.Twist); off > 1e-5 {
				t.Fatalf("case %d: at %g s the twist is %+v, the pose moves by %+v", n, s, x.Twist, ξ)
			}
			a := after.Twist.Add(before.Twist.Scale(-1)).Scale(1 / (2 * h))
			if off := between(a, x.Acceleration); off > 1e-3 {
				t.Fatalf("case %d: at %g s the acceleration is %+v, the twist changes by %+v", n, s, x.Acceleration, a)
			}
		}
		end := ref.At(expEnds * poseTime)
		x := end
		g.Apply(2+expEnds*poseTime, &x)
		if x != end || g.Active() {
			t.Fatalf("case %d: not on its reference when it ends", n)
		}
	}
}

// curve is a motion that begins as x does: position and rotation vector along
// parabolas.
func curve(x *BaseRef, t float64) BaseRef {
	v, a := x.Pose.R.MulVec(x.Twist.Linear), x.worldAcceleration()
	ω, α := x.Twist.Angular, x.Acceleration.Angular
	c2 := [6]float64{a.X, a.Y, a.Z, α.X, α.Y, α.Z}
	c1 := [6]float64{v.X, v.Y, v.Z, ω.X, ω.Y, ω.Z}
	c0 := [6]float64{}
	for i := range c0 {
		c0[i], c1[i] = t*c1[i]+t*t/2*c2[i], c1[i]+t*c2[i]
	}
	return CoordinatePose(&x.Pose, &c0, &c1, &c2)
}

// TestAtKeepsItsRates: a pose that goes on for a moment has moved as its twist and
// acceleration say, to the third order.
func TestAtKeepsItsRates(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 4))
	const dt = 1e-3 // s
	for range 100 {
		x := randomPose(rng)
		x.Acceleration = x.Acceleration.Scale(5)
		there, want := x.At(dt), curve(&x, dt)
		if pose, twist, _ := apart(&there, &want); pose > 1e-7 || twist > 1e-4 {
			t.Fatalf("%g, %g/s away", pose, twist)
		}
		back := there.At(-dt)
		if pose, twist, _ := apart(&back, &x); pose > 1e-7 || twist > 1e-12 {
			t.Fatalf("and back: %g, %g/s away", pose, twist)
		}
	}
}

// TestRestHasNoWayBack: a pose that is left alone goes on in its direction, ever
// slower, and rests.
func TestRestHasNoWayBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	for range 50 {
		var g PoseBridge
		command := randomPose(rng)
		command.Acceleration = spatial.Twist{Linear: command.Twist.Angular.Cross(command.Twist.Linear).Neg()} // straight on, at a constant speed
		rest := BaseRef{Pose: g.Rest(0, &command)}
		speed, left := math.Inf(1), math.Inf(1)
		for s := 0.0; s < 1; s += 0.01 {
			x := rest
			g.Apply(s, &x)
			way := x.Pose.P.Sub(rest.Pose.P).Norm()
			if v := x.Twist.Linear.Norm(); v > speed || way > left {
				t.Fatalf("at %g s: %g m/s after %g, %g m away after %g", s, v, speed, way, left)
			} else {
				speed, left = v, way
			}
		}
		if want := 2 * command.Twist.Linear.Norm() * poseTime; math.Abs(rest.Pose.P.Sub(command.Pose.P).Norm()-want) > 1e-12 {
			t.Fatalf("rests %g m away, want %g", rest.Pose.P.Sub(command.Pose.P).Norm(), want)
		}
	}
}

// TestPoseBridgeOfNoPose: a matrix that is no rotation is taken as it is, and nothing
// that is not a number comes of it.
func TestPoseBridgeOfNoPose(t *testing.T) {
	var g PoseBridge
	good, bad := randomPose(rand.New(rand.NewPCG(1, 1))), BaseRef{}
	for _, pair := range [][2]*BaseRef{{&good, &bad}, {&bad, &good}} {
		g.Begin(0, pair[0], pair[1])
		x := *pair[1]
		g.Apply(0.05, &x)
		if !x.finite() {
			t.Errorf("%+v", x)
		}
	}
}

// TestWrenchBridgeFades from one owner's wrench to the next one's, without a step.
func TestWrenchBridgeFades(t *testing.T) {
	var b WrenchBridge
	from := spatial.Wrench{Force: spatial.Vec3{X: 1, Z: 20}, Torque: spatial.Vec3{Y: 0.3}}
	to := spatial.Wrench{Force: spatial.Vec3{Z: 5}}
	b.Begin(1, from, to)
	at := func(s float64) spatial.Wrench { w := to; b.Apply(1+s, &w); return w }
	last := at(0)
	if last.Force.Sub(from.Force).Norm() > 1e-12 || last.Torque.Sub(from.Torque).Norm() > 1e-12 {
		t.Errorf("begins at %+v", last)
	}
	for s := 0.01; s < 1; s += 0.01 {
		w := at(s)
		if step := w.Force.Sub(last.Force).Norm(); step > 0.8 || w.Force.Z > last.Force.Z {
			t.Fatalf("at %g s: %+v after %+v", s, w, last)
		}
		last = w
	}
	if w := at(expEnds * poseTime); w != to || b.active {
		t.Errorf("ends at %+v", w)
	}
}

func TestPoseBridgeDoesNotAllocate(t *testing.T) {
	var g PoseBridge
	a, b := BaseRef{Pose: spatial.Pose{R: spatial.TurnZ(1)}}, BaseRef{Pose: spatial.Pose{R: spatial.TurnX(1)}}
	if n := testing.AllocsPerRun(100, func() {
		g.Begin(0, &a, &b)
		x := b
		g.Apply(0.1, &x)
		g.Rest(0, &x)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

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
		Twist: spatial.Twist{Linear: vec(1), Angular: vec(1)}}
}

// apart is the largest difference of two poses and of two twists.
func apart(a, b *BaseRef) (pose, twist float64) {
	for i := range a.Pose.R {
		pose = max(pose, math.Abs(a.Pose.R[i]-b.Pose.R[i]))
	}
	pose = max(pose, a.Pose.P.Sub(b.Pose.P).Norm())
	return pose, max(a.Twist.Linear.Sub(b.Twist.Linear).Norm(), a.Twist.Angular.Sub(b.Twist.Angular).Norm())
}

// TestGlideIsContinuous hands random moving poses over to random moving
// references: place and speed begin as they were, the twist is the derivative of
// the pose all the way, and at the end the command is the reference.
func TestGlideIsContinuous(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	const h = 1e-5 // s
	for n := range 300 {
		var g Glide
		command, ref := randomPose(rng), randomPose(rng)
		g.Begin(2, &command, &ref)
		at := func(s float64) BaseRef {
			g := g // ends by itself
			x := ref.At(s)
			g.Apply(2+s, &x)
			return x
		}
		start := at(0)
		if pose, twist := apart(&start, &command); pose > 1e-9 || twist > 1e-9 {
			t.Fatalf("case %d begins %g, %g/s away", n, pose, twist)
		}
		for _, s := range []float64{0.01, 0.1, 0.4, 1} {
			x, y := at(s), at(s+h)
			ξ := spatial.LogTwist(x.Pose.Inverse().Mul(y.Pose).R.Quat(), x.Pose.Inverse().Mul(y.Pose).P).Scale(1 / h)
			// the difference quotient is off by half the acceleration times h, and by rounding
			if off := max(ξ.Linear.Sub(x.Twist.Linear).Norm(), ξ.Angular.Sub(x.Twist.Angular).Norm()); off > 0.02 {
				t.Fatalf("case %d: at %g s the twist is %+v, the pose moves by %+v", n, s, x.Twist, ξ)
			}
		}
		end := ref.At(expEnds * glideTime)
		x := end
		g.Apply(2+expEnds*glideTime, &x)
		if x != end || g.Active() {
			t.Fatalf("case %d: not on its reference when it ends", n)
		}
	}
}

// TestRestHasNoWayBack: a pose that is left alone goes on in its direction, ever
// slower, and rests.
func TestRestHasNoWayBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	for range 50 {
		var g Glide
		command := randomPose(rng)
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
		if want := command.Twist.Linear.Norm() * glideTime; math.Abs(rest.Pose.P.Sub(command.Pose.P).Norm()-want) > 1e-12 {
			t.Fatalf("rests %g m away, want %g", rest.Pose.P.Sub(command.Pose.P).Norm(), want)
		}
	}
}

// TestGlideOfNoPose: a matrix that is no rotation is taken as it is, and nothing
// that is not a number comes of it.
func TestGlideOfNoPose(t *testing.T) {
	var g Glide
	good, bad := randomPose(rand.New(rand.NewPCG(1, 1))), BaseRef{}
	for _, pair := range [][2]*BaseRef{{&good, &bad}, {&bad, &good}} {
		g.Begin(0, pair[0], pair[1])
		x := *pair[1]
		g.Apply(0.05, &x)
		if !finiteAt(&x.Pose, &x.Twist) {
			t.Errorf("%+v", x)
		}
	}
}

// TestRightJacobianAndItsInverse at angles near zero, near π and between.
func TestRightJacobianAndItsInverse(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 3))
	for range 1000 {
		v := randomPose(rng)
		axis, _ := v.Pose.P.Unit()
		φ := axis.Scale([...]float64{1e-9, 1e-4, 0.01, 1, 3, math.Pi}[rng.IntN(6)])
		x := v.Twist.Angular
		if off := right(φ, unright(φ, x)).Sub(x).Norm(); off > 1e-7*x.Norm() {
			t.Fatalf("φ %v: off by %g", φ, off)
		}
	}
}

func TestGlideDoesNotAllocate(t *testing.T) {
	var g Glide
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

package spatial_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/internal/approx"
	"poise/spatial"
)

// tolScrew is rounding of a few operations on numbers near one.
var tolScrew = approx.Tol{Abs: 1e-14, Rel: 1e-14}

func TestLogTwistUndoesExpTwist(t *testing.T) {
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range 20_000 {
		dir, _ := randomVec(rng).Unit()
		// all sizes of angle: nothing, tiny, across the series' seam, up to near π
		θ := []float64{0, 1e-300, 1e-9, 1e-3, 0.0199999, 0.0200001, 0.5, 3.1}[i%8] * (0.5 + 0.5*rng.Float64())
		ξ := spatial.Twist{Angular: dir.Scale(θ), Linear: randomVec(rng)}
		Q, p := spatial.ExpTwist(ξ)
		back := spatial.LogTwist(Q, p)
		approx.Equal(t, "angular", list(back.Angular), list(ξ.Angular), tolScrew)
		approx.Equal(t, "linear", list(back.Linear), list(ξ.Linear), approx.Tol{Abs: 1e-13, Rel: 1e-13})
		if t.Failed() {
			t.Fatalf("seed %d, ξ = %v", seed, ξ)
		}
	}
}

func TestExpTwistIsTheLimitOfSmallMotions(t *testing.T) {
	const seed = 2
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 50 {
		ξ := spatial.Twist{Angular: randomVec(rng), Linear: randomVec(rng)}
		Q, p := spatial.ExpTwist(ξ)

		// 2¹⁶ steps of second order: 1 + ξ·h + (ξ·h)²/2
		const n = 1 << 16
		h := ξ.Scale(1.0 / n)
		S := spatial.Skew(h.Angular)
		dR := spatial.Identity3.Add(S).Add(S.Mul(S).Scale(0.5))
		dp := h.Linear.Add(S.MulVec(h.Linear).Scale(0.5))
		X := spatial.Pose{R: dR, P: dp}
		for range 16 {
			X = X.Mul(X)
		}
		R := Q.Matrix()
		approx.Equal(t, "rotation", R[:], X.R[:], approx.Tol{Abs: 1e-8})
		approx.Equal(t, "position", list(p), list(X.P), approx.Tol{Abs: 1e-8})
	}
}

func TestPowerDoesNotDependOnPointOrAxes(t *testing.T) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		V := spatial.Twist{Angular: randomVec(rng), Linear: randomVec(rng)}
		F := spatial.Wrench{Torque: randomVec(rng), Force: randomVec(rng)}
		want := F.Power(V)
		r := randomVec(rng)
		R := spatial.ExpRotation(randomVec(rng)).Matrix()
		approx.Scalar(t, "at another point", F.At(r).Power(V.At(r)), want, tolScrew)
		approx.Scalar(t, "in other axes", F.In(R).Power(V.In(R)), want, tolScrew)
	}
}

func TestTwistAtThereAndBack(t *testing.T) {
	V := spatial.Twist{Angular: spatial.Vec3{Z: 2}, Linear: spatial.Vec3{X: 1}}
	// one metre to the side of a body that turns left, the left side moves back
	if got, want := V.At(spatial.Vec3{Y: 1}).Linear, (spatial.Vec3{X: -1}); got != want {
		t.Errorf("At = %v, want %v", got, want)
	}
	if got := V.At(spatial.Vec3{Y: 1}).At(spatial.Vec3{Y: -1}); got != V {
		t.Errorf("there and back = %v, want %v", got, V)
	}
	F := spatial.Wrench{Force: spatial.Vec3{X: 3}}
	// the torque of a force seen from a point on its left
	if got, want := F.At(spatial.Vec3{Y: 1}).Torque, (spatial.Vec3{Z: 3}); got != want {
		t.Errorf("At = %v, want %v", got, want)
	}
	if sum := V.Add(V.Scale(-1)); sum != (spatial.Twist{}) {
		t.Errorf("V − V = %v", sum)
	}
	if sum := F.Add(F); sum.Force.X != 6 {
		t.Errorf("F + F = %v", sum)
	}
}

func TestScrewNoAlloc(t *testing.T) {
	ξ := spatial.Twist{Angular: spatial.Vec3{X: 1, Y: math.Pi / 3}, Linear: spatial.Vec3{Z: 1}}
	if n := testing.AllocsPerRun(100, func() {
		Q, p := spatial.ExpTwist(ξ)
		ξ = spatial.LogTwist(Q, p)
	}); n != 0 {
		t.Errorf("ExpTwist and LogTwist allocate %v times", n)
	}
}

func randomVec(rng *rand.Rand) spatial.Vec3 {
	return spatial.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}
}

func list(v spatial.Vec3) []float64 { return []float64{v.X, v.Y, v.Z} }

package spatial_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/internal/approx"
	"poise/spatial"
)

const seed = 11

func random() *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func randomQuat(rng *rand.Rand) spatial.Quat {
	q, _ := spatial.Quat{W: rng.NormFloat64(), X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Unit()
	return q
}

func randomPose(rng *rand.Rand) spatial.Pose {
	return spatial.Pose{R: randomQuat(rng).Matrix(), P: randomVec(rng)}
}

func equalMat(t *testing.T, what string, got, want spatial.Mat3) {
	t.Helper()
	approx.Equal(t, what, got[:], want[:], tolScrew)
}

func equalVec(t *testing.T, what string, got, want spatial.Vec3) {
	t.Helper()
	approx.Equal(t, what, list(got), list(want), tolScrew)
}

func TestVectorProducts(t *testing.T) {
	rng := random()
	for range 200 {
		a, b, c := randomVec(rng), randomVec(rng), randomVec(rng)
		equalVec(t, "a × (b × c)", a.Cross(b.Cross(c)), b.Scale(a.Dot(c)).Sub(c.Scale(a.Dot(b))))
		equalVec(t, "[a]×·b", spatial.Skew(a).MulVec(b), a.Cross(b))
		approx.Scalar(t, "|a|²", a.Norm()*a.Norm(), a.Dot(a), tolScrew)
		equalVec(t, "a − b", a.Sub(b), a.Add(b.Neg()))
		u, ok := a.Unit()
		if !ok {
			t.Fatal("no direction")
		}
		approx.Scalar(t, "|u|", u.Norm(), 1, tolScrew)
		equalVec(t, "u × a", u.Cross(a), spatial.Vec3{})
	}
}

func TestUnitOfWhatHasNoDirection(t *testing.T) {
	for _, v := range []spatial.Vec3{{}, {X: math.NaN()}, {Y: math.Inf(1)}} {
		if u, ok := v.Unit(); ok {
			t.Errorf("Unit(%v) = %v", v, u)
		}
	}
	for _, q := range []spatial.Quat{{}, {W: math.NaN()}, {X: math.Inf(-1)}} {
		if u, ok := q.Unit(); ok {
			t.Errorf("Unit(%v) = %v", q, u)
		}
	}
	huge := spatial.Vec3{X: 1e300, Y: 1e300}
	if n := huge.Norm(); math.Abs(n/1e300-math.Sqrt2) > 1e-15 {
		t.Errorf("Norm(%v) = %v", huge, n)
	}
}

func TestFinite(t *testing.T) {
	for _, tc := range []struct {
		v    spatial.Vec3
		want bool
	}{
		{spatial.Vec3{X: 1, Y: -1e308, Z: 0}, true},
		{spatial.Vec3{X: math.NaN()}, false},
		{spatial.Vec3{Y: math.Inf(1)}, false},
		{spatial.Vec3{X: math.Inf(1), Y: math.Inf(-1)}, false},
		{spatial.Vec3{Z: math.Inf(-1)}, false},
	} {
		if got := tc.v.Finite(); got != tc.want {
			t.Errorf("Finite(%v) = %v", tc.v, got)
		}
	}
}

func TestRotationIsOneThingInAllForms(t *testing.T) {
	rng := random()
	for range 500 {
		a, b := randomQuat(rng), randomQuat(rng)
		A, B := a.Matrix(), b.Matrix()
		equalMat(t, "a·b", a.Mul(b).Matrix(), A.Mul(B))
		equalMat(t, "a⁻¹", a.Conj().Matrix(), A.Transpose())
		equalMat(t, "R → quaternion → R", A.Quat().Matrix(), A)
		equalMat(t, "log → exp", spatial.ExpRotation(a.Log()).Matrix(), A)
		v := randomVec(rng)
		equalVec(t, "Rᵀ·R·v", A.TMulVec(A.MulVec(v)), v)
		if A.Quat().W < 0 {
			t.Error("W < 0")
		}

		// Rodrigues
		axis, _ := v.Unit()
		angle := 3 * rng.Float64()
		equalMat(t, "axis and angle", spatial.AxisAngle(axis, angle), spatial.ExpRotation(axis.Scale(angle)).Matrix())
	}
}

func TestQuaternionOfHalfTurns(t *testing.T) {
	// where one of the four pivots after the other is zero
	for _, axis := range []spatial.Vec3{{X: 1}, {Y: 1}, {Z: 1}, {X: 1, Y: 1}, {X: 1, Z: -1}, {Y: 2, Z: 1}} {
		u, _ := axis.Unit()
		for _, angle := range []float64{math.Pi, math.Pi - 1e-9, math.Pi + 1e-9, 1e-12, math.Pi / 2} {
			R := spatial.AxisAngle(u, angle)
			equalMat(t, "R", R.Quat().Matrix(), R)
		}
	}
}

func TestLogOfSmallAndLargeTurns(t *testing.T) {
	for _, angle := range []float64{0, 1e-300, 1e-12, 1e-8, 1e-3, 1, 3, math.Pi} {
		r := spatial.Vec3{Z: angle}
		equalVec(t, "log(exp r)", spatial.ExpRotation(r).Log(), r)
	}
	// beyond half a turn the short way is taken
	equalVec(t, "log", spatial.ExpRotation(spatial.Vec3{Z: 4}).Log(), spatial.Vec3{Z: 4 - 2*math.Pi})
}

func TestRPYTurnsAboutFixedAxes(t *testing.T) {
	rng := random()
	for range 100 {
		r, p, y := 3*rng.NormFloat64(), 3*rng.NormFloat64(), 3*rng.NormFloat64()
		want := spatial.AxisAngle(spatial.Vec3{Z: 1}, y).
			Mul(spatial.AxisAngle(spatial.Vec3{Y: 1}, p)).
			Mul(spatial.AxisAngle(spatial.Vec3{X: 1}, r))
		equalMat(t, "RPY", spatial.FromRPY(r, p, y), want)
	}
}

func TestPosesCompose(t *testing.T) {
	rng := random()
	for range 200 {
		X, Y, p := randomPose(rng), randomPose(rng), randomVec(rng)
		equalVec(t, "X·(Y·p)", X.Mul(Y).Apply(p), X.Apply(Y.Apply(p)))
		equalVec(t, "X⁻¹·X·p", X.Inverse().Apply(X.Apply(p)), p)
		inv, want := X.Mul(Y).Inverse(), Y.Inverse().Mul(X.Inverse())
		equalMat(t, "(X·Y)⁻¹", inv.R, want.R)
		equalVec(t, "(X·Y)⁻¹", inv.P, want.P)
	}
}

// energy returns the kinetic energy of a body that moves with V, about the origin
// of the frame of M.
func energy(M spatial.Inertia, V spatial.Twist) float64 {
	v := V.At(M.Com).Linear
	return (M.Mass*v.Dot(v) + V.Angular.Dot(M.I.MulVec(V.Angular))) / 2
}

func randomInertia(rng *rand.Rand) spatial.Inertia {
	// three rods along random axes
	R := randomQuat(rng).Matrix()
	I := R.Mul(spatial.Mat3{2, 0, 0, 0, 2.5, 0, 0, 0, 3}).Mul(R.Transpose())
	return spatial.Inertia{Mass: 1 + rng.Float64(), Com: randomVec(rng), I: I}
}

func TestInertiaKeepsEnergy(t *testing.T) {
	rng := random()
	for range 200 {
		M, N, X := randomInertia(rng), randomInertia(rng), randomPose(rng)
		V := spatial.Twist{Angular: randomVec(rng), Linear: randomVec(rng)}

		// seen from another frame
		V_A := V.In(X.R).At(X.P.Neg())
		approx.Scalar(t, "transformed", energy(M.Transform(X), V_A), energy(M, V), tolScrew)

		// welded together
		approx.Scalar(t, "sum", energy(M.Add(N), V), energy(M, V)+energy(N, V), tolScrew)

		// about the origin
		spin := spatial.Twist{Angular: V.Angular}
		approx.Scalar(t, "about the origin", V.Angular.Dot(M.AboutOrigin().MulVec(V.Angular))/2, energy(M, spin), tolScrew)
	}
}

func TestInertiaWithoutMass(t *testing.T) {
	I := spatial.Inertia{Com: spatial.Vec3{X: 1}, I: spatial.Identity3}
	if got := (spatial.Inertia{}).Add(I); got != I {
		t.Errorf("nothing + I = %v", got)
	}
	if got := I.Add(spatial.Inertia{}); got != I {
		t.Errorf("I + nothing = %v", got)
	}
}

package spatial_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"poise/internal/approx"
	"poise/spatial"
)

// TestZToIsTheSmallestRotation: it takes z to the axis, is a rotation, and turns
// by no more than the angle between the two.
func TestZToIsTheSmallestRotation(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	axes := []spatial.Vec3{{X: 1}, {Y: 1}, {Z: 1}, {X: -1}, {Y: -1}, {Z: -1}, {X: 1e-9, Z: -1}, {Y: -1e-200, Z: -1}, {X: 3, Y: -4, Z: -0.1}}
	for range 500 {
		axes = append(axes, spatial.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()})
	}
	for _, axis := range axes {
		R := spatial.ZTo(axis)
		u, _ := axis.Unit()
		what := fmt.Sprintf("ZTo(%v)", axis)
		z := R.Col(2)
		approx.Equal(t, what+"·z", []float64{z.X, z.Y, z.Z}, []float64{u.X, u.Y, u.Z}, approx.Tol{Abs: 1e-15})
		I := R.Mul(R.Transpose())
		approx.Equal(t, what+"·ZToᵀ", I[:], spatial.Identity3[:], approx.Tol{Abs: 1e-14})
		// the angle by atan2 keeps its digits near 0 and π
		want := math.Atan2(math.Hypot(u.X, u.Y), u.Z)
		approx.Scalar(t, "angle of "+what, R.Quat().Log().Norm(), want, approx.Tol{Abs: 1e-13})
	}
}

func TestZToIsExactOnTheAxes(t *testing.T) {
	for axis, want := range map[spatial.Vec3]spatial.Mat3{
		{Z: 2}:  spatial.Identity3,
		{X: 1}:  {0, 0, 1, 0, 1, 0, -1, 0, 0},
		{Y: -3}: {1, 0, 0, 0, 0, -1, 0, 1, 0},
		{Z: -1}: {1, 0, 0, 0, -1, 0, 0, 0, -1},
		{}:      spatial.Identity3,
	} {
		if got := spatial.ZTo(axis); got != want {
			t.Errorf("ZTo(%v) = %v, want %v", axis, got, want)
		}
	}
}

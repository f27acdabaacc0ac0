package spatial_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/internal/approx"
	"poise/spatial"
)

func TestEulerZXZPutsTogetherAgain(t *testing.T) {
	const seed = 6
	rng := rand.New(rand.NewPCG(seed, 0))
	angle := func() float64 { return math.Pi * (2*rng.Float64() - 1) }
	for i := range 5000 {
		// tilts of all sizes, and close to a half turn
		tilt := []float64{0, 1e-17, 1e-14, 1e-12, 1e-8, 1e-3, math.Pi / 2, math.Pi, math.Pi - 1e-12, angle()}[i%10]
		R := spatial.TurnZ(angle()).Mul(spatial.TurnX(tilt)).Mul(spatial.TurnZ(angle()))
		first, tilt, last := R.EulerZXZ()
		if tilt < 0 {
			t.Errorf("tilt %v", tilt)
		}
		back := spatial.TurnZ(first).Mul(spatial.TurnX(tilt)).Mul(spatial.TurnZ(last))
		approx.Equal(t, "R", back[:], R[:], approx.Tol{Abs: 2e-15})
		if t.Failed() {
			t.Fatalf("seed %d, case %d, R = %v", seed, i, R)
		}
	}
}

func TestTurnsAreRotationsAboutTheirAxis(t *testing.T) {
	for _, θ := range []float64{-2, 0, 0.3, 5} {
		z, x := spatial.TurnZ(θ), spatial.TurnX(θ)
		wantZ, wantX := spatial.AxisAngle(spatial.Vec3{Z: 1}, θ), spatial.AxisAngle(spatial.Vec3{X: 1}, θ)
		approx.Equal(t, "z", z[:], wantZ[:], tolScrew)
		approx.Equal(t, "x", x[:], wantX[:], tolScrew)
	}
}

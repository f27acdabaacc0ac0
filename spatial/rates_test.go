package spatial_test

import (
	"math/rand/v2"
	"testing"

	"poise/internal/approx"
	"poise/spatial"
)

// angles of all sizes: nothing, tiny, across the series' seam, up to π.
var angles = []float64{0, 1e-9, 1e-4, 0.0199999, 0.0200001, 0.5, 1.5, 3.1, 3.141592653589793}

// TestExpRatesAreDerivatives compares with differences of the exponential map
// along a curve r(t) = r + t·ṙ + t²/2·r̈.
func TestExpRatesAreDerivatives(t *testing.T) {
	const seed, h = 4, 1e-4 // h: s
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range 2000 {
		dir, _ := randomVec(rng).Unit()
		r, v, a := dir.Scale(angles[i%len(angles)]), randomVec(rng), randomVec(rng)
		at := func(t float64) spatial.Quat { return spatial.ExpRotation(r.Add(v.Scale(t)).Add(a.Scale(t * t / 2))) }
		turn := func(from, to float64) spatial.Vec3 { return at(from).Conj().Mul(at(to)).Log().Scale(1 / (to - from)) }
		ω, α := spatial.ExpRates(r, v, a)
		// the mean rate over ±h differs from the rate by terms in h², its change by terms in h²
		approx.Equal(t, "ω", list(turn(-h, h)), list(ω), approx.Tol{Abs: 1e-6})
		change := turn(h/2, 3*h/2).Sub(turn(-3*h/2, -h/2)).Scale(1 / (2 * h))
		approx.Equal(t, "α", list(change), list(α), approx.Tol{Abs: 1e-6})
		approx.Equal(t, "ExpRate", list(spatial.ExpRate(r, v)), list(ω), approx.Tol{})
		approx.Equal(t, "LogRate", list(spatial.LogRate(r, ω)), list(v), approx.Tol{Abs: 1e-11})
		if t.Failed() {
			t.Fatalf("seed %d, case %d, r = %v", seed, i, r)
		}
	}
}

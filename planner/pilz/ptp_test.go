package pilz

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"poise/internal/approx"
	"poise/internal/golden"
)

// TestGoldenTrapezoids compares the shape of a point-to-point motion with results
// of the original planner's own profile, as closely as the original's own tests.
func TestGoldenTrapezoids(t *testing.T) {
	var file struct {
		Cases []struct {
			Mode     string
			MaxVel   float64 `json:"max_vel"`
			MaxAcc   float64 `json:"max_acc"`
			MaxDec   float64 `json:"max_dec"`
			Start    float64
			Goal     float64
			Duration float64
			Phases   [3]float64
			Samples  [][4]float64
		}
	}
	if err := json.Unmarshal(golden.Read(t, "golden/pilz/atrap.json"), &file); err != nil {
		t.Fatal(err)
	}
	const exact = 1e-10
	tol := approx.Tol{Abs: exact, Rel: exact}
	compared := 0
	for _, c := range file.Cases {
		way := c.Goal - c.Start
		if c.Mode != "SetProfile" || way == 0 {
			continue // no such motion is planned
		}
		compared++
		t.Run(fmt.Sprintf("%g to %g", c.Start, c.Goal), func(t *testing.T) {
			f := fastest(math.Abs(way), strictest{math.Abs(c.MaxVel), math.Abs(c.MaxAcc), math.Abs(c.MaxDec)})
			approx.Scalar(t, "duration", f.duration(), c.Duration, tol)
			approx.Equal(t, "phases", []float64{f.up, f.cruise, f.down}, c.Phases[:], tol)
			for _, at := range c.Samples {
				s, ds, dds := f.at(at[0])
				approx.Equal(t, fmt.Sprintf("position and velocity at %g s", at[0]), []float64{c.Start + way*s, way * ds}, at[1:3], tol)
				border := false // where rounding decides which phase it is
				for _, b := range []float64{0, f.up, f.up + f.cruise, f.duration()} {
					border = border || math.Abs(at[0]-b) < exact
				}
				if !border {
					approx.Scalar(t, fmt.Sprintf("acceleration at %g s", at[0]), way*dds, at[3], tol)
				}
			}
		})
	}
	if compared < 10 {
		t.Errorf("%d cases compared, at least 10 wanted", compared)
	}
}

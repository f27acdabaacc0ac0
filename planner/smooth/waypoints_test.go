package smooth_test

import (
	"context"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"poise/planner"
	"poise/spatial"
)

// TestAwkwardWaypointsArePlannedOrExplained: waypoints on one line, on top of each
// other or nearly so, corners whose roundings fill their sides to the last bit, in
// sequences that blend into one another.
func TestAwkwardWaypointsArePlannedOrExplained(t *testing.T) {
	b := arm6(t)
	b.p.Sampling = 0.05
	b.start(at(0.4, -0.2, 0.5), down)
	seeds := uint64(300)
	switch {
	case os.Getenv("POISE_SOAK") != "":
		seeds = 10_000
	case testing.Short():
		seeds = 30
	}
	planned := 0
	for seed := range seeds {
		items := b.awkward(rand.New(rand.NewPCG(seed, 5)))
		all, refusal := b.p.Sequence(context.Background(), items, b.q)
		if refusal == nil {
			planned++
			for _, m := range all {
				checkMotion(t, b.m, m, b.p.Sampling)
			}
			continue
		}
		// a tool that does not move has no number to tell
		if still := strings.Contains(refusal.Text, "does not move"); refusal.Item == planner.None || refusal.Help == "" || refusal.Value == 0 && !still {
			t.Errorf("seed %d, 5: refused without item, value or help: %+v", seed, refusal)
		}
		for _, inner := range []string{"break", "s =", "row", "cannot be timed", "knot"} {
			if strings.Contains(refusal.Error(), inner) {
				t.Errorf("seed %d, 5: %v", seed, refusal)
			}
		}
	}
	t.Logf("%d of %d planned", planned, seeds)
	if planned < int(seeds)/2 {
		t.Errorf("only %d of %d planned", planned, seeds)
	}
}

// awkward returns items with waypoints on a lattice, moved by less than rounding, by
// little, or not at all.
func (b *bench) awkward(rng *rand.Rand) (items []planner.Item) {
	const grid = 0.05
	place := at(0.4, -0.2, 0.5)
	little := []float64{0, 0, 0, 1e-17, 1e-16, 1e-15, 1e-12, 1e-10, 1e-9, 2e-9, 1e-7, 1e-5, 1.9e-4, 2.1e-4}
	next := func() spatial.Vec3 {
		step := []spatial.Vec3{at(grid, 0, 0), at(0, grid, 0), at(0, 0, grid), at(-grid, 0, 0), at(0, grid, 0), at(0, 0, -grid), {}}[rng.IntN(7)]
		place = place.Add(step.Scale(float64(1 + rng.IntN(3))))
		place.X, place.Y, place.Z = min(max(place.X, 0.35), 0.6), min(max(place.Y, -0.3), 0.4), min(max(place.Z, 0.35), 0.6)
		off := little[rng.IntN(len(little))]
		return place.Add(at(off*rng.NormFloat64(), off*rng.NormFloat64(), off*rng.NormFloat64()))
	}
	for range 1 + rng.IntN(3) {
		radius := 0.0
		if rng.IntN(2) == 0 {
			radius = grid / float64(int(1)<<rng.IntN(4))
		}
		var points []spatial.Vec3
		var radii []float64
		for range 2 + rng.IntN(4) {
			points = append(points, next())
			radii = append(radii, []float64{0, grid, grid / 2, grid / 4, grid / 2 * (1 - 1e-16), grid / 2 * (1 + 1e-13), grid/2 - 1e-10}[rng.IntN(7)])
		}
		r := b.polyline(next(), rng.Float64(), points, radii)
		switch rng.IntN(4) {
		case 0:
			r = b.lin(next(), down)
		case 1:
			r = b.request(planner.PTP)
			r.Goals = b.pose(next(), down)
		}
		items = append(items, planner.Item{Request: r, Radius: radius})
	}
	items[len(items)-1].Radius = 0
	return items
}

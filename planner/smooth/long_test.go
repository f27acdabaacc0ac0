package smooth_test

import (
	"context"
	"math"
	"runtime"
	"testing"

	"poise/planner"
	"poise/planner/smooth"
)

// asked counts how often planning asks whether it is still wanted: once for every so
// much work.
type asked struct {
	context.Context
	times int
}

func (a *asked) Err() error {
	a.times++
	return a.Context.Err()
}

// TestLongSequencesGrowLinearly: an item among many takes no more memory and no more
// work than one among a few, be it lines, point-to-point motions or both in turn.
func TestLongSequencesGrowLinearly(t *testing.T) {
	const few, many, slack = 50, 400, 1.25
	m := loadRobot(t, "arm6")
	p := smooth.Planner{Model: m, Sampling: 0.01}
	start, lines := blendedLines(t, m, many)
	for _, c := range []struct {
		name  string
		start []float64
		items []planner.Item
	}{{"LIN", start, lines}, {"PTP", make([]float64, m.NumQ()), blendedTransfers(many)}, {"PTP and LIN", start, inTurn(lines)}} {
		each := func(n int) (bytes, work, samples float64) {
			items := append([]planner.Item(nil), c.items[:n]...)
			items[n-1].Radius = 0
			ctx := &asked{Context: context.Background()}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			motions, why := p.Sequence(ctx, items, c.start)
			if why != nil {
				t.Fatal(why)
			}
			runtime.ReadMemStats(&after)
			checkMotion(t, m, motions[0], p.Sampling)
			return float64(after.TotalAlloc-before.TotalAlloc) / float64(n), float64(ctx.times) / float64(n), float64(len(motions[0].Trajectory.Points)) / float64(n)
		}
		bytes, work, samples := each(few)
		longBytes, longWork, longSamples := each(many)
		t.Logf("%s: an item takes %.0f bytes, %.2f steps and %.1f samples among %d, %.0f, %.2f and %.1f among %d",
			c.name, bytes, work, samples, few, longBytes, longWork, longSamples, many)
		for _, x := range []struct {
			what        string
			short, long float64
		}{{"bytes", bytes, longBytes}, {"steps", work, longWork}, {"samples", samples, longSamples}} {
			if x.long > slack*x.short {
				t.Errorf("%s: an item takes %.4g %s among %d, %.4g among %d", c.name, x.short, x.what, few, x.long, many)
			}
		}
	}
}

// TestLongSequencesAreSampledMoreCoarsely: a planner that may takes fewer samples of
// many items, says so, and keeps the limits between them.
func TestLongSequencesAreSampledMoreCoarsely(t *testing.T) {
	m := loadRobot(t, "arm6")
	plan := func(n int, coarser bool) *planner.Motion {
		p := smooth.Planner{Model: m, Coarser: coarser}
		all, why := p.Sequence(context.Background(), blendedTransfers(n), make([]float64, m.NumQ()))
		if why != nil {
			t.Fatal(why)
		}
		return all[0]
	}
	long := plan(201, true)
	checkMotion(t, m, long, 2*smooth.DefaultSampling)
	if n := len(long.Notes); n == 0 || long.Notes[n-1].Kind != planner.Coarser || math.Abs(long.Notes[n-1].Share-2) > 1e-9 {
		t.Errorf("no note of the period: %v", long.Notes)
	}
	checkMotion(t, m, plan(201, false), smooth.DefaultSampling)
}

package smooth_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"syscall"
	"testing"

	"poise/planner"
	"poise/planner/pilz"
	"poise/planner/pipeline"
	"poise/planner/smooth"
	"poise/robot"
	"poise/spatial"
)

// BenchmarkLongSequence plans sequences of many items, each blended with the next,
// of lines, of point-to-point motions and of both in turn.
func BenchmarkLongSequence(b *testing.B) {
	m := loadRobot(b, "arm6")
	start, lines := blendedLines(b, m, 2000)
	for _, c := range []struct {
		name    string
		planner pipeline.Planner
		start   []float64
		items   []planner.Item
	}{
		{"LIN", &smooth.Planner{Model: m, Coarser: true}, start, lines},
		{"PTP", &smooth.Planner{Model: m, Coarser: true}, make([]float64, m.NumQ()), blendedTransfers(2000)},
		{"PTP-LIN", &smooth.Planner{Model: m, Coarser: true}, start, inTurn(lines)},
		{"pilz-LIN", &pilz.Planner{Model: m}, start, slowed(lines, 0.1)},
	} {
		for _, n := range []int{10, 100, 500, 2000} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				items := append([]planner.Item(nil), c.items[:n]...)
				items[n-1].Radius = 0
				b.ReportAllocs()
				var before, after runtime.MemStats
				seconds := 0.0
				samples, held, busy := 0, uint64(0), 0.0
				for b.Loop() {
					b.StopTimer()
					runtime.GC()
					runtime.ReadMemStats(&before)
					begin := processorTime(b)
					b.StartTimer()
					motions, why := c.planner.Sequence(context.Background(), items, c.start)
					if why != nil {
						b.Fatal(why)
					}
					b.StopTimer()
					busy += processorTime(b) - begin
					runtime.GC()
					runtime.ReadMemStats(&after)
					held = after.HeapAlloc - before.HeapAlloc
					samples, seconds = 0, duration(motions...)
					for _, m := range motions {
						samples += len(m.Trajectory.Points)
					}
					b.StartTimer()
				}
				each := float64(b.N) * float64(n)
				b.ReportMetric(busy*1e9/each, "cpu-ns/item")
				b.ReportMetric(seconds, "s")
				b.ReportMetric(float64(held)/float64(n), "held-B/item")
				b.ReportMetric(float64(samples)/float64(n), "samples/item")
			})
		}
	}
}

// processorTime returns what the process has taken of it, s: on a machine that others
// use too, time on the wall tells of them.
func processorTime(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// blendedLines goes up and down a field of lines of 8 cm.
func blendedLines(tb testing.TB, m *robot.Model, n int) (start []float64, items []planner.Item) {
	tb.Helper()
	g := groupOf(tb, m, "manipulator")
	tool := spatial.Quat{X: 1}.Matrix()
	start = reach(tb, m, g, spatial.Pose{P: at(0.45, -0.2, 0.45), R: tool}, make([]float64, m.NumQ()))
	for i := range n {
		// a spiral of squares that wander slowly
		a := float64(i) * math.Pi / 2 * 1.02
		X := spatial.Pose{P: at(0.45+0.06*math.Cos(a), -0.2+0.06*math.Sin(a), 0.45+0.03*math.Sin(float64(i)/40)), R: tool}
		items = append(items, planner.Item{Request: linRequest(m, g, X, 1), Radius: 0.01})
	}
	items[n-1].Radius = 0
	return start, items
}

// inTurn makes every other line a point-to-point motion to the same place.
func inTurn(lines []planner.Item) []planner.Item {
	out := append([]planner.Item(nil), lines...)
	for i := 0; i < len(out); i += 2 {
		out[i].Request.Command, out[i].Request.CommandName = planner.PTP, "PTP"
	}
	return out
}

// slowed returns items with smaller scaling factors.
func slowed(items []planner.Item, by float64) []planner.Item {
	out := append([]planner.Item(nil), items...)
	for i := range out {
		out[i].Request.VelocityScaling, out[i].Request.AccelerationScaling = by, by
	}
	return out
}

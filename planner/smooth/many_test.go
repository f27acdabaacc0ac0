package smooth_test

import (
	"context"
	"testing"

	"poise/planner"
	"poise/planner/smooth"
)

// BenchmarkBlendedTransfers plans many point-to-point motions, each blended with the
// next.
func BenchmarkBlendedTransfers(b *testing.B) {
	m := loadRobot(b, "arm6")
	for _, n := range []int{10, 100, 1000} {
		b.Run(ftoa(float64(n)), func(b *testing.B) {
			items := blendedTransfers(n)
			p := smooth.Planner{Model: m, Sampling: 0.01}
			for b.Loop() {
				if _, why := p.Sequence(context.Background(), items, make([]float64, m.NumQ())); why != nil {
					b.Fatal(why)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N)/float64(n), "ms/item")
		})
	}
}

// blendedTransfers goes to and fro between three places.
func blendedTransfers(n int) (items []planner.Item) {
	places := [][]float64{{0.5, 0.3}, {-0.5, 0.1}, {0, -0.4}}
	for i := range n {
		r := planner.Request{Command: planner.PTP, CommandName: "PTP", Group: "manipulator", VelocityScaling: 1, AccelerationScaling: 1}
		p := places[i%3]
		r.Goals = []planner.Goal{{Joints: []planner.JointGoal{{Joint: "joint_1", Position: p[0]}, {Joint: "joint_2", Position: p[1]}}}}
		items = append(items, planner.Item{Request: r, Radius: 0.05})
	}
	items[n-1].Radius = 0
	return items
}

// TestLongSequencesAreAsFastAsShortOnes: an item of many takes no longer than one of a
// few, and limits hold all the same.
func TestLongSequencesAreAsFastAsShortOnes(t *testing.T) {
	const slower = 1.13 // of an item: ends count less among many, and many are tightened further
	b := arm6(t)
	b.p.Sampling = 0.01
	few, many := 10, 120
	if testing.Short() {
		many = 40
	}
	each := func(n int) float64 {
		all := b.sequence(blendedTransfers(n)...)
		checkMotion(t, b.m, all[0], b.p.Sampling)
		return duration(all...) / float64(n)
	}
	short, long := each(few), each(many)
	t.Logf("an item takes %.3f s among %d, %.3f s among %d", short, few, long, many)
	if long > slower*short {
		t.Errorf("an item takes %g s among %d, %g s among %d", short, few, long, many)
	}
}

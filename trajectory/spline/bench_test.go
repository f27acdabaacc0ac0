package spline_test

import (
	"testing"

	"poise/trajectory/spline"
)

// The goal is 5 ns per joint for position, velocity and acceleration together,
// with time running forward.
func BenchmarkStateTo(b *testing.B) {
	for _, n := range []int{7, 24} {
		r := rng(30)
		times, keys := randomKeys(r, 100, n)
		for _, name := range []string{"akima", "quintic"} {
			s := builders(b, r, times, keys)[name]
			b.Run(name+"/"+map[int]string{7: "7joints", 24: "24joints"}[n], func(b *testing.B) {
				q, v, a := make([]float64, n), make([]float64, n), make([]float64, n)
				c, at := s.Cursor(), s.Start()
				b.ReportAllocs()
				for b.Loop() {
					if at += 0.001; at > s.End() {
						at = s.Start()
					}
					c.StateTo(q, v, a, at)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/joint")
			})
		}
	}
}

func BenchmarkPeakOfQuinticSegment(b *testing.B) {
	r := rng(31)
	times, keys := randomKeys(r, 2, 1)
	s := builders(b, r, times, keys)["quintic"]
	b.ReportAllocs()
	for b.Loop() {
		s.Peak(0, spline.Velocity, times[0], times[1])
	}
}

func BenchmarkAkima(b *testing.B) {
	times, keys := randomKeys(rng(32), 100, 7)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := spline.Akima(times, keys, 0); err != nil {
			b.Fatal(err)
		}
	}
}

package clock_test

import (
	"math"
	"testing"

	"poise/trajectory"
	"poise/trajectory/clock"
	"poise/trajectory/spline"
)

// seven is a motion of 7 joints through 20 keys, close to its limits.
func seven(b *testing.B) (*spline.Spline, trajectory.Limits) {
	r := rng(20)
	var times []float64
	var keys [][]float64
	for i := range 20 {
		times = append(times, 0.5*float64(i))
		row := make([]float64, 7)
		for j := range row {
			row[j] = r.NormFloat64()
		}
		keys = append(keys, row)
	}
	s, err := spline.Akima(times, keys, 0)
	if err != nil {
		b.Fatal(err)
	}
	l := trajectory.Limits{}
	for j := range 7 {
		l.Velocity = append(l.Velocity, 1.2*math.Abs(s.Peak(j, spline.Velocity, 0, s.End()).Value))
		l.Acceleration = append(l.Acceleration, 1.2*math.Abs(s.Peak(j, spline.Acceleration, 0, s.End()).Value))
	}
	return s, l
}

func BenchmarkStep(b *testing.B) {
	s, l := seven(b)
	track, err := clock.Compile(s, &l, clock.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var c clock.Clock
	q, v, a := make([]float64, 7), make([]float64, 7), make([]float64, 7)
	c.Start(track, 0, 0)
	requested, n := 2.0, 0
	b.ReportAllocs()
	for b.Loop() {
		if c.Done() {
			c.Start(track, 0, 0)
		}
		if n++; n%300 == 0 {
			requested = 2 - requested
		}
		c.Step(0.001, requested)
		c.StateTo(q, v, a)
	}
}

func BenchmarkCompile(b *testing.B) {
	s, l := seven(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := clock.Compile(s, &l, clock.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

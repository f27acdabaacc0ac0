package retime_test

import (
	"math"
	"testing"

	"poise/trajectory"
	"poise/trajectory/retime"
	"poise/trajectory/spline"
)

// thousand is the yardstick: a smooth curve through 1,000 path points of 7
// joints, with velocity and acceleration limits that all bind somewhere.
func thousand(t testing.TB) *retime.Problem {
	t.Helper()
	times, keys := make([]float64, 1000), make([][]float64, 1000)
	for i := range keys {
		x := float64(i) / 999
		times[i] = x
		keys[i] = make([]float64, 7)
		for j := range keys[i] {
			keys[i][j] = math.Sin(float64(j+1)*x*3 + float64(j))
		}
	}
	s, err := spline.Natural(times, keys)
	if err != nil {
		t.Fatal(err)
	}
	l := trajectory.Limits{Velocity: repeat(2, 7), Acceleration: repeat(5, 7)}
	return &retime.Problem{Path: retime.FromSpline(s), Limits: []trajectory.Limits{l}}
}

func bench(b *testing.B, p *retime.Problem) {
	var w retime.Solver
	var law retime.Law
	if err := w.Solve(&law, p); err != nil { // the solver's memory grows once
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Solve(&law, p); err != nil {
			b.Fatal(err)
		}
	}
}

// The goal is 1 ms for 1,000 path points of 7 joints.
func BenchmarkRetime(b *testing.B) {
	b.Run("1000points7joints", func(b *testing.B) { bench(b, thousand(b)) })
	l := trajectory.Limits{Velocity: []float64{2, 2, 0.5}, Acceleration: []float64{8, 8, 2}}
	b.Run("elbow256", func(b *testing.B) {
		bench(b, &retime.Problem{Path: elbow(0.985, 0.17), Limits: []trajectory.Limits{l}})
	})
	b.Run("elbow256at1ms", func(b *testing.B) {
		bench(b, &retime.Problem{Path: elbow(0.985, 0.17), Limits: []trajectory.Limits{l}, Period: 0.001})
	})
	l.Jerk = []float64{200, 200, 100}
	b.Run("elbow256jerk", func(b *testing.B) {
		bench(b, &retime.Problem{Path: elbow(0.985, 0.17), Limits: []trajectory.Limits{l}})
	})
}

func BenchmarkMotionStateTo(b *testing.B) {
	p := thousand(b)
	law := solve(b, p)
	m := retime.NewMotion(p.Path, law)
	q, v, a := make([]float64, 7), make([]float64, 7), make([]float64, 7)
	at := 0.0
	b.ReportAllocs()
	for b.Loop() {
		if at += 0.001; at > law.Duration() {
			at = 0
		}
		m.StateTo(q, v, a, at)
	}
}

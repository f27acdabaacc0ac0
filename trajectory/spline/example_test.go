package spline_test

import (
	"fmt"

	"poise/trajectory/spline"
)

// A nod: down, hold, up. The curve rests at its ends and on the hold, and never
// goes lower than the lowest key.
func ExampleAkima() {
	times := []float64{0, 0.5, 1.0, 1.5}
	keys := [][]float64{{0}, {-0.4}, {-0.4}, {0}}
	s, err := spline.Akima(times, keys, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	q, v, a := make([]float64, 1), make([]float64, 1), make([]float64, 1)
	for _, t := range []float64{0, 0.25, 0.5, 0.75, 1.25, 1.5} {
		s.StateTo(q, v, a, t)
		fmt.Printf("%.2f s: %+.3f rad, %+.3f rad/s\n", t, q[0]+0, v[0]+0)
	}
	low, _ := s.Range(0, spline.Position, s.Start(), s.End())
	fmt.Printf("lowest %.3f rad\n", low.Value)
	// Output:
	// 0.00 s: +0.000 rad, +0.000 rad/s
	// 0.25 s: -0.200 rad, -1.200 rad/s
	// 0.50 s: -0.400 rad, +0.000 rad/s
	// 0.75 s: -0.400 rad, +0.000 rad/s
	// 1.25 s: -0.200 rad, +1.200 rad/s
	// 1.50 s: +0.000 rad, +0.000 rad/s
	// lowest -0.400 rad
}

// The fastest moment of a curve is found, not sampled.
func ExampleSpline_Peak() {
	zero := [][]float64{{0}, {0}}
	s, err := spline.Quintic([]float64{0, 2}, [][]float64{{0}, {1}}, zero, zero)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := s.Peak(0, spline.Velocity, s.Start(), s.End())
	fmt.Printf("%.4f rad/s at %.2f s\n", p.Value, p.Time)
	// Output: 0.9375 rad/s at 1.00 s
}

// Bad key points are named, all at once.
func ExampleKeyError() {
	_, err := spline.Akima([]float64{0, 1, 1}, [][]float64{{0}, {1}, {2, 3}}, 0)
	fmt.Println(err)
	// Output:
	// spline: key 2: time 1 s is not after 1 s
	// key 2: position: 2 values, want 1
}

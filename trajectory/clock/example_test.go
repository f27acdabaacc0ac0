package clock_test

import (
	"fmt"

	"poise/trajectory"
	"poise/trajectory/clock"
	"poise/trajectory/spline"
)

// A motion is slowed to half, paused and taken up again. The pause takes the time
// that the joint needs to stop, and the motion goes on where it was.
func Example() {
	motion, err := spline.Akima([]float64{0, 1, 2}, [][]float64{{0}, {0.5}, {1}}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	limits := trajectory.Limits{Velocity: []float64{1}, Acceleration: []float64{4}}
	track, err := clock.Compile(motion, &limits, clock.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var c clock.Clock
	c.Start(track, 0, 1)
	for _, s := range []struct {
		steps int
		rate  float64
	}{{800, 1}, {300, 0.5}, {300, 0}, {2000, 1.5}} {
		var now clock.State
		for range s.steps {
			now = c.Step(0.001, s.rate)
		}
		fmt.Printf("wanted %.1f: at %.3f s of the motion, rate %.2f, done %v\n", s.rate, now.Time, now.Rate, now.Done)
	}
	// Output:
	// wanted 1.0: at 0.800 s of the motion, rate 1.00, done false
	// wanted 0.5: at 0.971 s of the motion, rate 0.50, done false
	// wanted 0.0: at 0.988 s of the motion, rate 0.00, done false
	// wanted 1.5: at 2.000 s of the motion, rate 0.00, done true
}

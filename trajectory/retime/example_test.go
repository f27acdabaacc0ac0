package retime_test

import (
	"fmt"

	"poise/trajectory"
	"poise/trajectory/retime"
)

// A quarter circle of radius 0.1 between two straight lines, as the planner
// would hand it over: x, y, and the way along as a measure. In the bend the
// acceleration limits of x and y hold the tool back, elsewhere its own speed.
func Example() {
	path := bend(0.4, 0.1)
	limits := trajectory.Limits{
		Velocity:     []float64{2, 2, 1}, // of x, y and the tool, m/s
		Acceleration: []float64{4, 4, 3},
	}
	var solver retime.Solver
	var law retime.Law
	if err := solver.Solve(&law, &retime.Problem{Path: path, Limits: []trajectory.Limits{limits}}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f s, limits active along %.0f %%\n", law.Duration(), 100*law.Active())
	tight, _ := law.Tightest()
	fmt.Printf("slowest in between: %.2f m/s at %.2f m, by the %v of row %d\n", tight.Slowest, tight.At, tight.Limit, tight.Row)
	// Output:
	// 1.421 s, limits active along 100 %
	// slowest in between: 0.63 m/s at 0.55 m, by the deceleration of row 0
}

// Samples for a controller that runs at 250 Hz: the law is made for the period,
// so that the quintic through the points obeys the limits between them as well.
func ExampleProblem_period() {
	path := bend(0.4, 0.1)
	limits := trajectory.Limits{Velocity: []float64{2, 2, 1}, Acceleration: []float64{4, 4, 3}}
	var solver retime.Solver
	var law retime.Law
	if err := solver.Solve(&law, &retime.Problem{Path: path, Limits: []trajectory.Limits{limits}, Period: 0.004}); err != nil {
		fmt.Println(err)
		return
	}
	points, err := trajectory.Sample(retime.NewMotion(path, &law), 0.004)
	if err != nil {
		fmt.Println(err)
		return
	}
	curve, err := points.Interpolant()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d points, %.3f s, violations: %v\n", len(points.Points), law.Duration(), limits.Violations(curve, 1e-8))
	// Output: 362 points, 1.444 s, violations: []
}

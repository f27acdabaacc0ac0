package trajectory_test

import (
	"fmt"

	"poise/trajectory"
)

// Between its points a trajectory means one curve, so that limits are checked at
// every instant, and not only at samples.
func ExampleLimits_Violations() {
	motion := &trajectory.Trajectory{Points: []trajectory.Point{
		{Time: 0, Position: []float64{0}},
		{Time: 1, Position: []float64{1.2}},
		{Time: 2, Position: []float64{1.2}},
	}}
	curve, err := motion.Interpolant()
	if err != nil {
		fmt.Println(err)
		return
	}
	limits := trajectory.Limits{Velocity: []float64{1.5}, Acceleration: []float64{8}, Deceleration: []float64{5}}
	for _, v := range limits.Violations(curve, 1e-9) {
		fmt.Println(v)
	}
	// Output:
	// velocity of joint 0 is 1.7999999999999998 at 0.5 s, limit 1.5
	// deceleration of joint 0 is -7.199999999999999 at 1 s, limit -5
}

// A motion is taken back the way it came, at half the speed.
func ExampleTrajectory_Reversed() {
	there := &trajectory.Trajectory{Points: []trajectory.Point{
		{Time: 0, Position: []float64{0}}, {Time: 0.5, Position: []float64{0.3}}, {Time: 2, Position: []float64{1}},
	}}
	back := there.Reversed().Scaled(0.5)
	for _, p := range back.Points {
		fmt.Printf("%g s: %g\n", p.Time, p.Position[0])
	}
	// Output:
	// 0 s: 1
	// 3 s: 0.3
	// 4 s: 0
}

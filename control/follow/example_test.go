package follow_test

import (
	"fmt"

	"poise/control"
	"poise/control/follow"
	"poise/problem"
	"poise/robot/load"
	"poise/trajectory"
)

// A goal that is too fast says so before anything moves, and how fast it could be.
func ExampleCompile() {
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		panic(err)
	}
	at := control.NewMotion(len(bot.Model.Joints()), len(bot.Model.Chains()), 0)
	goal := follow.Goal{
		Joints: []string{"joint_3", "joint_1"}, // in any order
		Points: []trajectory.Point{
			{Time: 0, Position: []float64{0, 0}},
			{Time: 0.5, Position: []float64{-0.2, 1}},
		},
		Events: []follow.Event{{Time: 0.25, Type: "voice/say", Command: "hello"}},
	}
	_, err = follow.Compile(bot.Model, follow.Options{}, &at, &goal)
	for _, p := range problem.In(err) {
		fmt.Println(p)
	}

	goal.Points[1].Time = 1
	p, err := follow.Compile(bot.Model, follow.Options{}, &at, &goal)
	if err != nil {
		panic(err)
	}
	q, v, a := make([]float64, 2), make([]float64, 2), make([]float64, 2)
	p.Curve().StateTo(q, v, a, 0.5)
	names := p.Record().Names
	fmt.Printf("%v at %.2f in the middle, %v leaves %g s after the beginning\n", names, q, p.Event(0).Command, p.Event(0).Time)

	// Output:
	// acceleration of "joint_1" is 24 rad/s² at 0 s, its limit is 8; it would pass at 57.7 % of its speed
	// [joint_3 joint_1] at [-0.10 0.50] in the middle, hello leaves 0.25 s after the beginning
}

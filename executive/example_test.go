package executive_test

import (
	"fmt"

	"poise/arbiter"
	"poise/control/follow"
	"poise/executive"
	"poise/loop"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
	"poise/trajectory"
)

// A robot in simulated time: power on, one trajectory, and one that is refused.
func Example() {
	bot, err := load.Robot("arm6", load.Options{})
	if err != nil {
		panic(err)
	}
	m := bot.Model
	l, err := loop.New(loop.Config{Model: m, Bus: sim.New(sim.Config{Servos: make([]sim.Servo, len(m.Joints()))}),
		Settings:    loop.Settings{Policy: arbiter.PolicyLast},
		Controllers: []loop.Registration{{Name: "trajectory", Kind: "follow", Controller: follow.New(m)}}})
	if err != nil {
		panic(err)
	}
	e, err := executive.New(executive.Config{Model: m, Loop: l, Controllers: []executive.Controller{{Name: "trajectory", Kind: "follow"}},
		Go: func(job func()) { job() }}) // prepares goals at once: time is stepped by hand here
	if err != nil {
		panic(err)
	}
	n := uint64(0)
	seconds := func(s float64) {
		for range int(s * 1000) {
			l.Step(servo.Tick{N: n, Time: int64(n) * 1_000_000, Dt: 0.001})
			n++
			e.Pump(int64(n) * 1_000_000)
		}
	}
	seconds(0.01)
	e.Power("example", true)
	seconds(0.01)

	tell := executive.Watch{Changed: func(c executive.Change) {
		fmt.Println(c.Goal.Action, c.To)
		for _, x := range c.Result.Explanations {
			fmt.Println(" ", x.Text)
		}
	}}
	turn := func(to float64) *executive.Follow {
		return &executive.Follow{Goal: follow.Goal{Joints: []string{"joint_1"}, Points: []trajectory.Point{
			{Position: []float64{0}}, {Time: 1, Position: []float64{to}}, {Time: 2, Position: []float64{0}}}}}
	}
	e.Submit("example", "", 0, turn(0.5), tell)
	seconds(2.5)
	e.Submit("example", "", 0, turn(3), tell)
	seconds(0.1)
	// Output:
	// follow pending
	// follow active
	// follow succeeded
	// follow pending
	// follow rejected
	//   position of "joint_1" is 3 rad at 1 s, its limit is 2.967
	//   velocity of "joint_1" is 4.5 rad/s at 0.5 s, its limit is 4
	//   acceleration of "joint_1" is 18 rad/s² at 0 s, its limit is 8
}

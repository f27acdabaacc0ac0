package loop_test

import (
	"fmt"

	"poise/control"
	"poise/control/swing"
	"poise/loop"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
)

// A loop on a simulated robot, stepped by hand: power on, swing the tail, stop.
func Example() {
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := bot.Model
	limits, _, err := control.JointLimits(m, control.Transition{})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := loop.New(loop.Config{
		Model:       m,
		Bus:         sim.New(sim.Config{Servos: make([]sim.Servo, len(m.Joints()))}),
		Controllers: []loop.Registration{{Name: "swing", Controller: swing.New(limits)}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, _ := m.Resources()
	tail, _ := res.Find("tail")
	for n := range uint64(2000) {
		switch n {
		case 2:
			l.Send(loop.Order{Kind: loop.PowerOn})
		case 3:
			l.Send(loop.Order{Kind: loop.StartGoal, Goal: 7, Program: &swing.Program{
				Needs: tail, Centre: make([]float64, len(m.Joints())), Amplitude: 0.2, Frequency: 2, Duration: 1}})
		}
		l.Step(servo.Tick{N: n, Time: int64(n) * 1e6, Dt: 1e-3})
		for {
			r, ok := l.Receive()
			if !ok {
				break
			}
			switch r.Kind {
			case loop.PowerChanged:
				fmt.Printf("tick %d: power is %v\n", r.Tick.N, r.Power)
			case loop.GoalStarted:
				fmt.Printf("tick %d: goal %d started\n", r.Tick.N, r.Goal)
			case loop.GoalEnded:
				fmt.Printf("tick %d: goal %d is done: %v\n", r.Tick.N, r.Goal, r.Status == control.Done)
			}
		}
	}
	// Output:
	// tick 1: power is ready
	// tick 2: power is enabled
	// tick 3: goal 7 started
	// tick 1002: goal 7 is done: true
}

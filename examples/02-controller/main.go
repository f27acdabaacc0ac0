// Adds a controller: one package (wag), one registration, and a pony that wags its
// tail and ears while a pose borrows the tail. Runs in simulated time.
//
//	go run ./examples/02-controller
package main

import (
	"fmt"
	"log"
	"math"

	"poise/arbiter"
	"poise/control"
	"poise/control/pose"
	"poise/controllers"
	"poise/examples/02-controller/wag"
	"poise/loop"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
)

const period = 0.001 // s

func main() {
	log.SetFlags(0)
	bot, err := load.Robot("pony", load.Options{})
	if err != nil {
		log.Fatal(err)
	}
	m := bot.Model

	// the declaration: one row of the table
	controllers.Table = append(controllers.Table, controllers.Declaration{Name: "wag", Kind: wag.Kind, Seats: 1, Pending: 20, Operational: 20})

	// a loop with the controllers of the table, on servos without hardware
	cfg := loop.Config{Model: m, Bus: sim.New(sim.Config{Servos: make([]sim.Servo, len(m.Joints()))})}
	cfg.Policy = arbiter.PolicyLast
	seats, err := controllers.For(m, control.Transition{}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range seats {
		cfg.Controllers = append(cfg.Controllers, s.Loop)
	}
	l, err := loop.New(cfg)
	if err != nil {
		log.Fatal(err)
	}
	s := &stage{l: l, m: m}
	s.run(0.01)
	l.Send(loop.Order{Kind: loop.PowerOn})

	// wag tail and ears
	s.start("wag", 1, &wag.Program{Wants: s.set("tail", "ears"), Amplitude: 0.2, Frequency: 5})
	s.run(1)

	// a pose takes the tail, and gives it back when it is done
	tail, _ := m.Group("tail")
	p, err := pose.To(m, m.Groups()[tail].Joints, []float64{0, 0.8, 0}, 0)
	if err != nil {
		log.Fatal(err)
	}
	s.start("pose", 2, p)
	s.run(2)

	// too fast: refused, and told why
	s.start("wag", 3, &wag.Program{Wants: s.set("tail"), Amplitude: 1, Frequency: 20})
	s.run(0.1)

	l.Stop(1) // ramp down, then torque off
	s.run(1)
}

// stage steps the loop and prints what it reports.
type stage struct {
	l *loop.Loop
	m *robot.Model
	n uint64
}

func (s *stage) set(names ...string) (all robot.Set) {
	res, err := s.m.Resources()
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range names {
		one, _ := res.Find(n)
		all = all.Union(one)
	}
	return all
}

func (s *stage) start(controller string, goal uint64, p control.Program) {
	id, _ := s.l.Controller(controller)
	s.l.Send(loop.Order{Kind: loop.StartGoal, Controller: id, Goal: goal, Program: p})
}

func (s *stage) run(seconds float64) {
	for range int(math.Round(seconds / period)) {
		s.l.Step(servo.Tick{N: s.n, Time: int64(math.Round(float64(s.n) * period * 1e9)), Dt: period})
		s.n++
		for {
			r, ok := s.l.Receive()
			if !ok {
				break
			}
			s.print(r)
		}
		if s.n%250 == 0 {
			now, _ := s.l.Snapshot()
			tail, _ := s.m.Joint("tail_joint1")
			ear, _ := s.m.Joint("ear_l_joint")
			fmt.Printf("%5.2f s  tail %6.3f  ear %6.3f rad\n", float64(now.Tick.Time)*1e-9, now.Command.Q[tail], now.Command.Q[ear])
		}
	}
}

func (s *stage) print(r loop.Report) {
	at := float64(r.Tick.Time) * 1e-9
	switch r.Kind {
	case loop.GoalStarted:
		fmt.Printf("%5.2f s  goal %d started\n", at, r.Goal)
	case loop.GoalRejected:
		fmt.Printf("%5.2f s  goal %d refused, %v: %s would come to %.2f, its limit is %.2f\n", at, r.Goal, r.Reason.Code,
			s.m.Joints()[r.Reason.Joint].Name, r.Reason.Value, r.Reason.Max)
	case loop.GoalEnded:
		fmt.Printf("%5.2f s  goal %d ended, %v\n", at, r.Goal, r.Reason.Code)
	case loop.OwnerChanged:
		fmt.Printf("%5.2f s  %s owns %d leaves\n", at, s.name(r.Controller), r.Set.Len())
	case loop.PowerChanged:
		fmt.Printf("%5.2f s  power %v\n", at, r.Power)
	case loop.Stopped:
		fmt.Printf("%5.2f s  stopped within %.3f s\n", at, r.Time)
	}
}

func (s *stage) name(id arbiter.ClientID) string {
	for _, d := range controllers.Table {
		if got, ok := s.l.Controller(d.Name); ok && got == id {
			return d.Name
		}
	}
	return "no controller"
}

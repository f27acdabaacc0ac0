package loop

import (
	"math"
	"testing"

	"poise/control"
	"poise/robot"
	"poise/servo"
	"poise/servo/sim"
)

// TestLimpStaysLimp lets a leg go, moves it by hand further than any fault or guard
// would bear under torque, and ends its being let go in every way there is: the leg
// stays limp and listed, until an order gives it torque. Nothing jumps, no fault is
// raised, and the command was the truth all the time.
func TestLimpStaysLimp(t *testing.T) {
	for _, tc := range []struct {
		name string
		then func(r *rig)
	}{
		{"its owner stiffens", func(r *rig) { r.swings[0].limp = false }},
		{"its owner is cancelled", func(r *rig) { r.l.Send(Order{Kind: CancelGoal}) }},
		{"its owner is halted", func(r *rig) { r.l.Send(Order{Kind: Halt}) }},
		{"its owner panics", func(r *rig) { r.swings[0].panics = "Update" }},
		{"another wants it", func(r *rig) { r.goal(1, 2, r.program(r.limb("leg1"), 0.1, 1)) }},
		{"a pause and its end", func(r *rig) { r.l.Send(Order{Kind: Pause}); r.run(5); r.l.Send(Order{Kind: Resume}) }},
		{"a stop of category 2", func(r *rig) { r.l.Stop(2) }},
		{"a stop of category 1", func(r *rig) { r.l.Stop(1) }},
		{"a stop of category 0", func(r *rig) { r.l.Stop(0) }},
		{"a fault that holds", func(r *rig) {
			r.bus.Plan(sim.Trouble{Joint: int(first(r.limb("leg1"))), From: r.n, Until: r.n + 20, Fault: servo.Overload})
			r.run(10)
			if !r.raised(ServoFault) {
				r.t.Error("no fault was raised")
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, parts{robot: "pony", period: busPeriod, controllers: 2, options: ponyLimits(t), servo: sim.Servo{Lag: 0.02}})
			r.checks = true
			leg := r.limb("leg1")
			j := int(first(leg)) + 2
			r.must(0, 1, r.program(leg, 0.1, 1))
			r.run(200)
			r.swings[0].limp = true
			r.run(2)
			limits := r.m.Joints()[j].Limits
			for k := range 200 { // back and forth through the whole range, faster than any limit
				q := limits.Lower.Value + (limits.Upper.Value-limits.Lower.Value)*(0.5+0.49*math.Sin(float64(k)))
				if !r.bus.PoseByHand(j, q) {
					t.Fatalf("tick %d: the joint holds itself", r.n)
				}
				r.run(2)
				if s, _ := r.l.Snapshot(); s.Command.Q[j] != q || s.Command.V[j] != 0 || s.Mode[j] != servo.Off || s.Cut[j] != 0 {
					t.Fatalf("tick %d: at %g, command %g (%g/s), mode %v, cut %v", r.n, q, s.Command.Q[j], s.Command.V[j], s.Mode[j], s.Cut[j])
				}
			}
			if r.l.faults.latch.active != 0 || r.l.seats[0].program == nil {
				t.Fatalf("posing by hand is a fault: %+v", r.reports)
			}
			there := r.bus.Joint(j)
			free := func() {
				t.Helper()
				s, _ := r.l.Snapshot()
				if r.l.mode[j] != servo.Off || !s.Limp.Has(robot.LeafID(j)) || r.bus.Joint(j) != there {
					t.Errorf("mode %v, listed %v, joint at %g, was at %g", r.l.mode[j], s.Limp.Has(robot.LeafID(j)), r.bus.Joint(j), there)
				}
			}
			tc.then(r)
			r.run(3)
			free()
			r.run(400)
			free()
			r.swings[0].limp = false
			r.l.Send(Order{Kind: Reset})
			r.run(100)
			free()
			r.torque(true, leg)
			r.run(100)
			if s, _ := r.l.Snapshot(); !r.l.mode[j].Powered() || s.Limp.Has(robot.LeafID(j)) || math.Abs(r.bus.Joint(j)-there) > 1e-6 {
				t.Errorf("mode %v after torque on, joint at %g, was at %g", r.l.mode[j], r.bus.Joint(j), there)
			}
			for _, rep := range r.reports {
				if rep.Kind == FaultRaised && tc.name != "its owner panics" && tc.name != "a fault that holds" {
					t.Errorf("%v", rep.Fault)
				}
			}
		})
	}
}

// TestLimpLimbStartsWhereItIs: a program that checks where it starts sees where
// the hand left the joint.
func TestLimpLimbStartsWhereItIs(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 2})
	r.must(0, 1, r.program(robot.Leaf(1), 0.1, 1))
	r.run(1000)
	r.swings[0].limp = true
	r.run(2)
	r.bus.PoseByHand(1, 0.77)
	r.run(2)
	c := &nosy{Controller: r.swings[1].Controller}
	r.l.seats[1].controller = c
	r.goal(1, 2, r.program(robot.Leaf(1), 0.1, 1))
	r.run(1)
	if rej := r.told(GoalRejected); len(rej) != 1 || rej[0].Reason.Code != control.PowerOff || rej[0].Reason.Joint != 1 {
		t.Fatalf("a goal on a limp joint: %+v", rej)
	}
	r.reports = nil
	r.torque(true, robot.Leaf(1))
	r.run(1)
	if ended := r.told(GoalEnded); len(ended) != 1 || ended[0].Reason.Code != control.Energised {
		t.Errorf("what had let it go: %+v", ended)
	}
	r.must(1, 2, r.program(robot.Leaf(1), 0.1, 1))
	if c.saw != 0.77 {
		t.Errorf("started from %g", c.saw)
	}
}

// TestTorqueOfWhatIsOnlyWanted: a joint that is only wanted loses its torque, is moved by hand and gets it back: what wants it goes on, the
// command begins where the hand left the joint, and leads it on within its limits.
func TestTorqueOfWhatIsOnlyWanted(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 1})
	p := r.program(robot.Leaf(0), 0.1, 1)
	p.Wants = robot.Leaf(1)
	r.must(0, 1, p)
	r.run(1000)
	r.checks = true
	r.torque(false, robot.Leaf(1))
	r.run(2)
	const there = 0.77
	r.bus.PoseByHand(1, there)
	r.run(50)
	r.torque(true, robot.Leaf(1))
	r.run(2)
	if s, _ := r.l.Snapshot(); !r.l.mode[1].Powered() || math.Abs(s.Command.Q[1]-there) > 1e-4 {
		t.Errorf("mode %v, commanded to %g", r.l.mode[1], s.Command.Q[1])
	}
	r.run(2000)
	if ended := r.told(GoalEnded); len(ended) > 0 || r.l.seats[0].program == nil {
		t.Errorf("it ended: %+v", ended)
	}
	if s, _ := r.l.Snapshot(); math.Abs(s.Command.Q[1]-p.Centre[1]) > 0.11 {
		t.Errorf("commanded to %g, and swings about %g", s.Command.Q[1], p.Centre[1])
	}
}

// nosy remembers where it started.
type nosy struct {
	control.Controller
	saw float64
}

func (c *nosy) Start(input *control.Input, p control.Program) control.Reason {
	c.saw = input.Cmd.Q[1]
	return c.Controller.Start(input, p)
}

package loop

import (
	"testing"

	"poise/control"
	"poise/robot"
	"poise/servo"
	"poise/servo/sim"
)

// TestJointsBeyondTheirLimitsGetNoTorque: with torque they would move by themselves. All others get it by their names,
// and those, too, once a hand has brought them back.
func TestJointsBeyondTheirLimitsGetNoTorque(t *testing.T) {
	within := []servo.Within{{Joint: 2, Low: -0.1, High: 0.1}}
	r := newRig(t, parts{robot: "pony", period: busPeriod, controllers: 1, options: ponyLimits(t), servo: sim.Servo{}, settings: Settings{TorqueWithin: within}})
	j := robot.JointID(2)
	one, others := robot.Set{}.With(robot.LeafID(j)), r.l.all.Minus(robot.Set{}.With(robot.LeafID(j)))
	hand := func(at float64) {
		t.Helper()
		if !r.bus.PoseByHand(int(j), at) {
			t.Fatal("it holds itself")
		}
		r.run(2)
	}
	refused := func(limit float64, order func()) {
		t.Helper()
		before := len(r.told(OrderRefused))
		order()
		r.run(50)
		all := r.told(OrderRefused)
		if len(all) != before+1 {
			t.Fatalf("%d orders are refused", len(all)-before)
		}
		if why := all[before].Reason; why.Code != control.StandsBeyond || why.Joint != j || why.Value != r.bus.Joint(int(j)) || why.Max != limit {
			t.Errorf("%+v, at %g", why, r.bus.Joint(int(j)))
		}
		if r.l.mode[j] != servo.Off {
			t.Errorf("mode %v", r.l.mode[j])
		}
	}
	r.torque(false, one)
	r.run(2)
	hand(0.13)
	refused(0.1, func() { r.torque(true, one) })
	refused(0.1, func() { r.l.Send(Order{Kind: PowerOn}) })
	hand(-0.2)
	refused(-0.1, func() { r.torque(true, one) })
	r.l.Send(Order{Kind: PowerOff})
	r.run(2)
	refused(-0.1, func() { r.l.Send(Order{Kind: PowerOn}) })
	r.torque(true, others)
	r.run(2)
	if r.l.powered.state != Enabled || r.l.mode[j] != servo.Off || r.l.mode[0] != servo.Position {
		t.Errorf("power %v, modes %v and %v", r.l.powered.state, r.l.mode[0], r.l.mode[j])
	}
	hand(0.11) // what play explains
	r.torque(true, one)
	r.run(2)
	if r.l.mode[j] != servo.Position {
		t.Errorf("back within its limits: mode %v", r.l.mode[j])
	}
}

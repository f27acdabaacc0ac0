package loop

import (
	"math"
	"testing"

	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
	"poise/wholebody/stage"
)

// resting makes a rig of an arm that leaves by way of a pose.
func resting(t *testing.T) (*rig, int) {
	rest := []RestPlace{{0, 0.4}, {1, -0.3}, {2, 0.2}}
	r := newRig(t, parts{robot: "arm6", controllers: 1, settings: Settings{Leave: Leaving{Do: LeaveRest, Rest: rest, Speed: 0.1, Deadline: 20}}})
	r.checks = true
	return r, 0
}

// left runs until the robot is left, at most for some seconds.
func (r *rig) left(seconds float64) {
	r.t.Helper()
	for range int(seconds / r.dt) {
		if r.run(1); r.l.Left() {
			return
		}
	}
	r.t.Fatalf("phase %d after %g s", r.l.leaving.phase, seconds)
}

// TestLeavingRampsRestsAndLetsGo: a motion slows down, the joints go to the pose within
// their share of the limits, nothing takes that for a standstill that was broken, and the
// torque goes there; goals are refused all the time.
func TestLeavingRampsRestsAndLetsGo(t *testing.T) {
	r, j := resting(t)
	r.must(0, 1, r.program(r.limb("manipulator"), 0.3, 2))
	r.run(700)
	r.l.Leave()
	r.run(1500)
	r.l.Send(Order{Kind: Reset})
	r.run(1)
	r.goal(0, 2, r.program(r.limb("manipulator"), 0.01, 1))
	r.left(20)
	for i, want := range []float64{0.4, -0.3, 0.2} {
		if q := r.bus.Joint(i); q != want {
			t.Errorf("joint %d rests at %g, want %g", i, q, want)
		}
	}
	if refused := r.told(GoalRejected); r.l.mode[j] != servo.Off || r.l.faults.latch.active != 0 || len(refused) != 1 {
		t.Errorf("mode %v, %d faults, refused %+v", r.l.mode[j], r.l.faults.latch.active, refused)
	}
}

// TestAStopEndsLeaving: of category 2 the robot holds where it stops, of 1 and 0 the
// torque goes.
func TestAStopEndsLeaving(t *testing.T) {
	for category := range uint8(3) {
		r, j := resting(t)
		r.run(10)
		r.l.Leave()
		for r.l.leaving.phase != rests || r.l.command.V[j] == 0 {
			r.run(1)
		}
		r.run(100)
		r.l.Stop(category)
		r.left(3)
		if q := r.bus.Joint(j); q == 0.4 || math.Abs(q) < 1e-3 || r.l.mode[j].Powered() != (category == 2) {
			t.Errorf("category %d: joint at %g, mode %v", category, q, r.l.mode[j])
		}
	}
}

// TestLeavingGivesNoTorque: what is limp stays limp, wherever it rests.
func TestLeavingGivesNoTorque(t *testing.T) {
	r, j := resting(t)
	r.torque(false, robot.Leaf(robot.LeafID(j)))
	r.run(10)
	at := r.bus.Joint(j)
	r.l.Leave()
	for !r.l.Left() {
		r.run(1)
		if r.l.mode[j] != servo.Off || r.bus.Joint(j) != at {
			t.Fatalf("mode %v, joint at %g", r.l.mode[j], r.bus.Joint(j))
		}
	}
	if q := r.bus.Joint(1); q != -0.3 {
		t.Errorf("joint 1 rests at %g", q)
	}
	r, _ = resting(t)
	r.l.Send(Order{Kind: PowerOff})
	r.run(100)
	r.l.Leave()
	if r.run(1); !r.l.Left() || r.l.powered.torque() {
		t.Errorf("a robot without torque: left %v, power %v", r.l.Left(), r.l.powered.state)
	}
}

func TestLeavingDoesNotAllocate(t *testing.T) {
	r, _ := resting(t)
	r.checks = false
	r.run(10)
	r.l.Leave()
	if n := testing.AllocsPerRun(300, func() {
		r.l.Step(servo.Tick{N: r.n, Time: int64(r.n) * 1e6, Dt: r.dt})
		r.n++
	}); n != 0 || r.l.leaving.phase != rests {
		t.Errorf("%v allocations, phase %d", n, r.l.leaving.phase)
	}
}

// TestLeavingCycle2: what rests or crouches goes there whatever its feet do meanwhile. They are at other places in both poses than in the stand, where
// cycle 2 would hold them until the deadline.
func TestLeavingCycle2(t *testing.T) {
	m := model(t, "pony", load.Options{})
	lying, ok := m.Pose("lying")
	if !ok {
		t.Fatal("no pose lying")
	}
	var rest []RestPlace
	for i, j := range lying.Joints {
		rest = append(rest, RestPlace{j, lying.Q[i][0]})
	}
	r := newRig(t, parts{robot: "pony", period: 0.005, pose: ponyPose(t), settings: Settings{Cycle2: true, Leave: Leaving{Do: LeaveRest, Rest: rest, Speed: 0.3, Deadline: 30}}})
	r.run(300)
	if s, _ := r.l.Snapshot(); !s.Cycle2 || s.WholeBody.State.Status != stage.Served {
		t.Fatal("it is not led")
	}
	r.l.Leave()
	began := r.l.now
	r.left(20)
	for _, p := range rest {
		if q := r.bus.Joint(int(p.Joint)); math.Abs(q-p.Position) > 1e-6 {
			t.Errorf("joint %d rests at %g, want %g", p.Joint, q, p.Position)
		}
	}
	t.Logf("left after %.1f s", r.l.now-began)

	r = newRig(t, parts{robot: "pony", period: 0.005, pose: ponyPose(t), settings: Settings{Cycle2: true}})
	leg := r.limb("leg1")
	joint := int(first(leg)) + 2
	r.bus.Plan(sim.Trouble{Joint: joint, From: 300, Temperature: 90})
	r.run(350)
	for range 1000 {
		r.run(1)
		if safe := r.told(LimbSafe); len(safe) > 0 {
			if safe[0].Time > 0.6*defaultCrouchDeadline {
				t.Errorf("leg1 is safe after %g s", safe[0].Time)
			}
			return
		}
	}
	t.Error("leg1 does not come to its safe state")
}

package loop

import (
	"math"
	"testing"

	"poise/robot"
	"poise/wholebody/stage"
)

// TestCyclesAreSwitchedToTheWholeBody: a pony that stands goes to cycle 2 and back at several
// periods: it stays where it is, efforts change by 0.1 N·m a tick at most, and levels are told.
func TestCyclesAreSwitchedToTheWholeBody(t *testing.T) {
	for _, dt := range []float64{0.005, 0.0224, 0.056} {
		r := newRig(t, parts{robot: "pony", period: dt, pose: ponyPose(t)})
		ticks := int(2 / dt)
		r.efforts(20)
		at := append([]float64{}, r.l.command.Q...)
		for _, number := range []int{2, 1, 2, 0, 2, 2} {
			r.cycle(number, r.l.all)
			if worst := r.efforts(ticks); worst > largestStep {
				t.Errorf("period %g, to cycle %d: an effort changes by %g N·m in a tick", dt, number, worst)
			}
			s, ok := r.l.Snapshot()
			if !ok || s.Cycle2 != (number == 2) || s.Cycle2 && s.Cycle1 != r.l.all {
				t.Errorf("period %g: in cycle %d the snapshot has %v, %v", dt, number, s.Cycle2, s.Cycle1)
			}
			for j, q := range r.l.command.Q {
				if math.Abs(q-at[j]) > 1e-4 {
					t.Fatalf("period %g: in cycle %d joint %d is at %g, stood at %g", dt, number, j, q, at[j])
				}
			}
			if number != 2 {
				continue
			}
			w := &s.WholeBody
			if w.State.Status != stage.Served || !w.State.Feasible || w.State.Prevented || len(w.Levels) != 11 {
				t.Errorf("period %g: %+v, %d levels", dt, w.State, len(w.Levels))
			}
			up := 0.0
			for _, f := range s.Forces {
				up += f.Force.Z
			}
			if weight := 9.81 * r.l.cfg.Model.Mass(); math.Abs(up-weight) > 1e-3*weight {
				t.Errorf("period %g: feet carry %g N of %g", dt, up, weight)
			}
		}
	}
}

// TestTheWholeBodyServesMotions: a motion of the head is followed as in cycle 0, within a tenth of a
// milliradian, through hand-overs and a stop.
func TestTheWholeBodyServesMotions(t *testing.T) {
	run := func(two bool) (trace []float64) {
		r := newRig(t, parts{robot: "pony", period: 0.005, controllers: 2, pose: ponyPose(t), settings: Settings{Cycle2: two}})
		r.run(300)
		for k := range 3 {
			r.goal(k%2, uint64(k+1), r.program(r.limb("head"), 0.2, 3))
			for range 150 {
				r.run(1)
				trace = append(trace, r.l.command.Q...)
			}
		}
		return trace
	}
	was, now := run(false), run(true)
	worst := 0.0
	for i, q := range now {
		worst = math.Max(worst, math.Abs(q-was[i]))
	}
	t.Logf("within %.2g rad of cycle 0", worst)
	if worst > 1e-3 {
		t.Errorf("the whole body is %g rad from what was asked for", worst)
	}
}

// TestCycle2OfTheWholeRobotAlone: parts of a robot, and robots with a fixed base, are refused.
func TestCycle2OfTheWholeRobotAlone(t *testing.T) {
	r := newRig(t, parts{robot: "pony", pose: ponyPose(t)})
	r.run(5)
	r.cycle(2, r.limb("leg1"))
	r.run(5)
	if s, _ := r.l.Snapshot(); s.Cycle2 {
		t.Error("a leg is in cycle 2")
	}
	arm := newRig(t, parts{robot: "arm6"})
	arm.run(5)
	arm.cycle(2, arm.l.all)
	arm.run(5)
	if s, _ := arm.l.Snapshot(); s.Cycle2 {
		t.Error("an arm is in cycle 2")
	}
}

// TestCycle2DoesNotAllocate: a tick of a pony that swings its head.
func TestCycle2DoesNotAllocate(t *testing.T) {
	r := newRig(t, parts{robot: "pony", period: 0.005, controllers: 1, pose: ponyPose(t), settings: Settings{Cycle2: true}})
	r.run(300)
	r.goal(0, 1, r.program(r.limb("head"), 0.2, 60))
	r.run(10)
	if n := testing.AllocsPerRun(200, func() { r.run(1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestNoTorqueBeyondTheServos: legs whose motors do not carry the body make the motion slow down, and no torque
// is asked for that a motor does not have, whichever cycle found it.
func TestNoTorqueBeyondTheServos(t *testing.T) {
	r := newRig(t, parts{robot: "pony", period: 0.005, pose: ponyPose(t), settings: Settings{Cycle2: true}})
	r.run(300)
	const most = 0.05 // N·m
	for i, j := range r.m.Joints() {
		if x := r.m.Servo(robot.JointID(i)).Model; x != nil && !j.Virtual {
			weak := *x
			weak.Effort = most
			r.l.cycles.models[i] = &weak
		}
	}
	slowing, needs := 0, 0.0
	for range 400 {
		r.run(1)
		state := &r.l.cycles.whole.State
		if state.Status == stage.Slowing {
			slowing++
			if state.Feasible {
				t.Fatalf("slowing, and said to be feasible: %+v", *state)
			}
		}
		for i, tau := range r.l.cycles.stage.Tau {
			weak := r.l.cycles.models[i]
			if weak == nil {
				continue
			}
			needs = math.Max(needs, math.Abs(tau))
			if least, greatest := weak.Range(r.l.command.V[i], 0, 12); tau > greatest+1e-3 || tau < least-1e-3 { // limits are those of the tick's own speed
				t.Fatalf("%+v: joint %d is to have %g N·m of %g … %g", *state, i, tau, least, greatest)
			}
		}
	}
	t.Logf("slowing in %d of 400 ticks, torques up to %.3f N·m", slowing, needs)
	if slowing < 100 || needs < 0.9*most {
		t.Errorf("slowing in %d ticks, torques up to %g N·m", slowing, needs)
	}
}

// TestMotionsStretch: a head of which a motor is slower than its motion is led at the pace that it reaches, and the motion ends later;
// its clock tells how fast it went. In cycle 0 it goes on.
func TestMotionsStretch(t *testing.T) {
	run := func(two, weak bool) (time, least float64) {
		r := newRig(t, parts{robot: "pony", period: 0.005, controllers: 1, pose: ponyPose(t), settings: Settings{Cycle2: two}})
		r.run(300)
		if weak {
			j, _ := r.m.Joint("joint52")
			slow := *r.m.Servo(j).Model
			slow.Effort, slow.Saturation = 0.06*slow.Effort, 0.06*slow.Saturation
			r.l.cycles.models[j] = &slow
		}
		r.goal(0, 1, r.program(r.limb("head"), 0.2, 3))
		least = 1
		for range 400 {
			r.run(1)
			least = math.Min(least, r.l.seats[0].ref.Rate)
		}
		return r.l.seats[0].ref.Time, least
	}
	plain, _ := run(true, false)
	stretched, least := run(true, true)
	other, _ := run(false, true)
	t.Logf("in 2 s the motion's clock comes to %.2f s, with a slow head to %.2f at a rate of %.2f", plain, stretched, least)
	if plain < 1.9 || stretched > 0.9*plain || stretched < 0.3*plain || least > 0.8 || other < 1.9 {
		t.Errorf("the clock comes to %g s, with a slow head to %g at %g, in cycle 0 to %g", plain, stretched, least, other)
	}
}

package follow

import (
	"math"
	"testing"

	"poise/control"
	"poise/loop"
	"poise/problem"
	"poise/trajectory"
)

// TestVelocitiesAndAccelerationsAreMet: given velocities make a cubic, with
// accelerations a quintic; the command passes each point as it says.
func TestVelocitiesAndAccelerationsAreMet(t *testing.T) {
	for _, accelerations := range []bool{false, true} {
		r := newRig(t, parts{robot: "arm6"})
		g := &Goal{Joints: []string{"joint_4", "joint_2"}, Points: []trajectory.Point{
			{Time: 0, Position: []float64{0, 0}, Velocity: []float64{0, 0}, Acceleration: []float64{0, 0}},
			{Time: 0.5, Position: []float64{0.2, -0.1}, Velocity: []float64{0.6, -0.3}, Acceleration: []float64{0.5, 0.2}},
			{Time: 1.0, Position: []float64{0.5, -0.2}, Velocity: []float64{0.4, 0}, Acceleration: []float64{0, -0.3}},
			{Time: 1.6, Position: []float64{0.6, -0.3}, Velocity: []float64{0, 0}, Acceleration: []float64{0, 0}},
		}}
		if !accelerations {
			for i := range g.Points {
				g.Points[i].Acceleration = nil
			}
		}
		goal := r.must(0, within(g, 1e-3, 1e-3))
		first := r.n - 1
		for i, p := range g.Points[1:3] {
			for r.n-1 < first+uint64(math.Round(p.Time/period)) {
				r.run(1)
			}
			for k, j := range r.programs[goal].Record().Joints {
				c := &r.s.Command
				if math.Abs(c.Q[j]-p.Position[k]) > 1e-9 || math.Abs(c.V[j]-p.Velocity[k]) > 1e-7 {
					t.Errorf("point %d, %s: %g with %g, want %g with %g", i+1, g.Joints[k], c.Q[j], c.V[j], p.Position[k], p.Velocity[k])
				}
				if accelerations && math.Abs(c.A[j]-p.Acceleration[k]) > 1e-5 {
					t.Errorf("point %d, %s: acceleration %g, want %g", i+1, g.Joints[k], c.A[j], p.Acceleration[k])
				}
			}
		}
		ended(t, r.finish(goal, 2), control.Done, control.OK)
	}
}

// TestRobotOutsideItsLimitsMayComeBack: a joint that was left beyond its range is led
// in again, and not further out.
func TestRobotOutsideItsLimitsMayComeBack(t *testing.T) {
	pose := make([]float64, 7)
	m := model(t, "arm6")
	id, _ := m.Joint("joint_2")
	pose[id] = m.Joints()[id].Limits.Upper.Value + 0.05
	r := newRig(t, parts{robot: "arm6", pose: pose})
	r.judging = false
	to := func(q float64) *Goal {
		return &Goal{Joints: []string{"joint_2"}, Points: []trajectory.Point{{Time: 1, Position: []float64{q}}}}
	}
	if _, err := Compile(m, Options{}, &r.s.Command, to(pose[id]+0.1)); len(problem.In(err)) != 1 || problem.In(err)[0].Code != BeyondPosition {
		t.Errorf("further out: %v", err)
	}
	ended(t, r.finish(r.must(0, to(1.5)), 4), control.Done, control.OK)
	if math.Abs(r.at("joint_2")-1.5) > 1e-9 {
		t.Errorf("ends at %g", r.at("joint_2"))
	}
}

// TestLosingAJointEndsTheGoal, and says to whom.
func TestLosingAJointEndsTheGoal(t *testing.T) {
	r := newRig(t, parts{robot: "pony"})
	g := &Goal{Joints: []string{"joint51", "joint52"}, Points: []trajectory.Point{{Position: []float64{0, 0}}, {Time: 2, Position: []float64{0.1, 0.4}}}}
	first := r.must(0, g)
	r.run(800)
	second := r.must(1, &Goal{Joints: []string{"joint52"}, Points: []trajectory.Point{{Time: 1, Position: []float64{0}}}})
	rep := r.finish(first, 0.1)
	ended(t, rep, control.Quit, control.ResourceLost)
	if id, _ := r.m.Joint("joint52"); rep.Reason.Who != 1 || rep.Reason.Joint != id {
		t.Errorf("%+v", rep.Reason)
	}
	ended(t, r.finish(second, 3), control.Done, control.OK)
	if r.at("joint52") != 0 {
		t.Errorf("ends at %g", r.at("joint52"))
	}
}

// TestPausedFromTheBeginning: a goal that is given during a pause waits at its
// beginning; a stop of category 2 slows it down along its path, and it is told.
func TestPausedFromTheBeginning(t *testing.T) {
	r := newRig(t, parts{robot: "arm6"})
	r.order(loop.Pause, 0)
	goal := r.must(0, nod())
	r.run(500)
	if r.s.Active[0].Time != 0 || maxSpeed(r) != 0 {
		t.Errorf("at %g s with %g during a pause", r.s.Active[0].Time, maxSpeed(r))
	}
	r.order(loop.Resume, 0)
	r.run(400)
	r.l.Stop(2)
	off := 0.0
	for range 500 {
		r.run(1)
		off = max(off, r.offPath(0))
	}
	rep, _ := r.report(loop.GoalEnded, goal)
	ended(t, rep, control.Quit, control.Stopping)
	if off > pathSlack || maxSpeed(r) != 0 {
		t.Errorf("%g off its path, speed %g", off, maxSpeed(r))
	}
}

// TestCompiledForALaterPose: the command has moved a little since the goal was
// compiled, and at speed; the start is bridged, and the motion meets its end.
func TestCompiledForALaterPose(t *testing.T) {
	r := newRig(t, parts{robot: "arm6"})
	r.must(0, line("joint_1", 0.8, 0, 0.6, 0))
	r.run(300)
	next := r.compile(within(&Goal{Joints: []string{"joint_1"}, Points: []trajectory.Point{{Time: 1.2, Position: []float64{0.2}, Velocity: []float64{0}}}}, 0.2, 0.01))
	r.run(30) // on its way to the cycle
	ended(t, r.finish(r.send(0, next), 3), control.Done, control.OK)
	if math.Abs(r.at("joint_1")-0.2) > 1e-9 {
		t.Errorf("ends at %g", r.at("joint_1"))
	}
}

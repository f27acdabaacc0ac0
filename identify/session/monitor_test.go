package session

import (
	"context"
	"math"
	"testing"

	"poise/loop"
	"poise/problem"
	"poise/servo"
	"poise/servo/physics"
	"poise/spatial"
)

// moved performs the motion of an identification, and lets the monitor look.
func (b *bench) moved(q Request) {
	b.t.Helper()
	s, why := b.x.Begin(q, b.now)
	if len(why) > 0 {
		b.t.Fatal(problem.Join(why))
	}
	p, why := s.Plan(context.Background(), b.now)
	if len(why) > 0 {
		b.t.Fatal(problem.Join(why))
	}
	s.End()
	b.ended = nil
	b.l.Send(loop.Order{Kind: loop.StartGoal, Goal: b.n + 1, Program: p})
	for len(b.ended) == 0 {
		b.run(50)
		b.x.Monitor().Update()
	}
}

// TestTheMonitorTellsOfServosThatDoNotFit: servos that differ from their models are named with what they show; with models that
// fit none is; and no model is changed by that.
func TestTheMonitorTellsOfServosThatDoNotFit(t *testing.T) {
	b := newBench(t, settings{robot: "so101", period: 0.01, line: physics.Line{Delay: 0.015}, share: 0, seed: 3, step: 1e-3})
	q := Request{Set: b.set("shoulder_lift", "elbow_flex"), Names: []string{"shoulder_lift", "elbow_flex"}, Duration: 10}
	for j, m := range b.truth {
		exact := *m
		exact.Lead = 0.015
		b.models.joints[j] = &exact
	}
	b.moved(q)
	if wrong := b.x.Monitor().Misfits(); len(wrong) > 0 {
		t.Errorf("servos that fit are told of: %+v", wrong)
	}
	elbow, _ := b.m.Joint("elbow_flex")
	other := *b.models.joints[elbow]
	other.A[1], other.A[3] = 0.5*other.A[1], 0.5*other.A[3]
	b.models.joints[elbow] = &other
	b.moved(q)
	wrong := b.x.Monitor().Misfits()
	if len(wrong) != 1 || wrong[0].Joint != "elbow_flex" || !(wrong[0].Error > wrong[0].Limit) {
		t.Fatalf("%+v", wrong)
	}
	if p, truth := wrong[0].Parameters, b.truth[elbow].A; !(p[1] > 0.85*truth[1] && p[1] < 1.15*truth[1] && p[3] > 0.85*truth[3] && p[3] < 1.15*truth[3]) {
		t.Errorf("shown %v, want %v", p, truth)
	}
	if b.models.joints[elbow] != &other || b.models.version != 1 {
		t.Error("the monitor changed a model")
	}
}

// TestTheMonitorBlamesNoServoOfARobotThatFalls: where nothing carries a free robot its servos feel no weight, which is not one of
// their faults; of one that is held upright the same servos are told of.
func TestTheMonitorBlamesNoServoOfARobotThatFalls(t *testing.T) {
	for _, falls := range []bool{true, false} {
		b := newBench(t, settings{robot: "pony", fixed: !falls, period: 0.0112, seed: 3, step: 1e-3})
		for j, m := range b.truth {
			wrong := *m
			wrong.A[1], wrong.A[3] = 0.4*m.A[1], 0.4*m.A[3] // seen wherever it is judged
			b.models.joints[j] = &wrong
		}
		b.moved(Request{Set: b.set("head"), Names: []string{"head"}, Duration: 10})
		if told := len(b.x.Monitor().Misfits()); falls != (told == 0) {
			t.Errorf("falls %v: %d servos are told of", falls, told)
		}
	}
}

// TestShaken: what an inertial unit of a robot that stands, leans, is pushed or falls feels.
func TestShaken(t *testing.T) {
	for _, c := range []struct {
		f    spatial.Vec3
		want bool
	}{
		{spatial.Vec3{Z: 9.8}, false}, {spatial.Vec3{X: 0.5, Z: 9.9}, false}, {spatial.Vec3{X: 2, Z: 9.6}, true}, {spatial.Vec3{Z: 0.3}, true},
		{spatial.Vec3{Z: 12}, true}, {spatial.Vec3{Z: -9.8}, true}, {spatial.Vec3{Y: 9.8}, true}, {spatial.Vec3{Z: math.NaN()}, true},
	} {
		if got := shaken([]servo.Inertial{{Acceleration: c.f}}); got != c.want {
			t.Errorf("%+v: %v", c.f, got)
		}
	}
	if shaken(nil) || shaken([]servo.Inertial{{Age: servo.Never}}) {
		t.Error("a robot without an inertial unit is never judged")
	}
}

// TestTheTapDoesNotAllocate, with a recording and without.
func TestTheTapDoesNotAllocate(t *testing.T) {
	b := newBench(t, settings{robot: "so101", period: 0.01, seed: 3})
	if n := testing.AllocsPerRun(100, func() { b.run(1) }); n != 0 {
		t.Errorf("%g allocations a tick", n)
	}
	b.x.tap.now.Store(newRecording(b.x.path(nil), 0.01, 10, true))
	if n := testing.AllocsPerRun(100, func() { b.run(1) }); n != 0 {
		t.Errorf("%g allocations a tick that is recorded", n)
	}
}

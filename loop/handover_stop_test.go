package loop_test

import (
	"math"
	"testing"

	"poise/control/follow"
	"poise/internal/rig"
	"poise/loop"
	"poise/trajectory"
)

// TestAStopInAHandOverDoesNotSpeedUp: a motion takes the tail over from another and is stopped
// at every instant of the hand-over. The motion's way down and what is left of the hand-over
// do not add up: the joint gains no more speed than its acceleration gives until it is let go
// of, within the jerk of transitions.
func TestAStopInAHandOverDoesNotSpeedUp(t *testing.T) {
	m := rig.Model(t, "pony")
	for after := 1; after <= 300; after += 7 {
		r := rig.New(t, m, rig.Options{Pose: "stand"},
			loop.Registration{Name: "first", Kind: "follow", Controller: follow.New(m)},
			loop.Registration{Name: "second", Kind: "follow", Controller: follow.New(m)})
		r.Slack = math.Inf(1) // motions may do more than transitions
		j := r.Joint("tail_joint1")
		play := func(name string, way, seconds float64) {
			at := r.Now.Command.Q[j]
			p, err := follow.Compile(m, follow.Options{}, &r.Now.Command, &follow.Goal{Joints: []string{"tail_joint1"}, Points: []trajectory.Point{
				{Time: 0, Position: []float64{at}, Velocity: []float64{0}}, {Time: seconds, Position: []float64{at + way}, Velocity: []float64{0}}}})
			if err != nil {
				t.Fatal(err)
			}
			r.Start(name, p)
		}
		play("first", 0.2, 0.6)
		r.Run(100)
		play("second", -0.3, 0.5)
		r.Run(after)
		v, a := math.Abs(r.Now.Command.V[j]), math.Abs(r.Now.Command.A[j])
		r.L.Stop(2)
		most, n := 0.0, 0
		for ; n < 3000 && (n < 3 || !r.Now.Stopped || r.Now.Command.V[j] != 0); n++ {
			r.Run(1)
			most = max(most, math.Abs(r.Now.Command.V[j]))
		}
		if allowed := v + a*a/(2*r.Limits[j].Jerk) + 0.01; most > allowed {
			t.Errorf("stopped %d ms after the hand-over began, at %.3f rad/s and %.1f rad/s²: it becomes %.3f rad/s fast, %.3f is allowed (at rest after %d ms)", after, v, a, most, allowed, n)
		}
	}
}

package server_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/msgs/rosjson"
	"poise/server/config"
	"poise/wire/rosbridge/client"
)

// outcome reads the result of a goal.
func outcome(b *bed, u client.Update, r any) {
	b.t.Helper()
	if err := rosjson.Unmarshal(u.Result, r); err != nil {
		b.t.Fatal(err)
	}
}

// TestAGripperGoesWhereItIsTold: gripper_cmd moves the joint of the end effector, says where
// it is, and refuses what it cannot reach by naming it.
func TestAGripperGoesWhereItIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.Robot = "arm6" })
		const typ = "control_msgs/action/GripperCommand"
		command := func(position, effort float64) *msgs.GripperCommandGoal {
			return &msgs.GripperCommandGoal{Command: msgs.GripperCommand{Position: position, MaxEffort: effort}}
		}
		u, feedback := b.end(b.send("/gripper_cmd", typ, command(0.02, 5)))
		b.want(u, succeeded)
		if feedback == 0 {
			t.Error("no feedback")
		}
		var r msgs.GripperCommandResult
		outcome(b, u, &r)
		if math.Abs(r.Position-0.02) > 1e-3 || !r.ReachedGoal || r.Stalled {
			t.Errorf("the result is %+v", r)
		}
		if at := b.joints("/joint_states")["finger_left_joint"]; math.Abs(at-0.02) > 1e-6 {
			t.Errorf("the finger is at %g", at)
		}
		u, _ = b.end(b.send("/gripper_cmd", typ, command(3, 0)))
		outcome(b, u, &r)
		if r.ReachedGoal || math.Abs(r.Position-0.02) > 1e-3 {
			t.Errorf("out of reach: %+v", r)
		}
		u, _ = b.end(b.send("/gripper_cmd", typ, command(0.01, -1)))
		b.rejected(u, "max_effort", "-1")
	})
}

// TestTrajectoriesOfATopic: joint_trajectory plays what it is sent, a newer one replaces it,
// an empty one calls it off, and one that cannot be played is told.
func TestTrajectoriesOfATopic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		const joint = "joint52"
		ends := b.subscribe("/goal_explanations")
		at := func() float64 { return b.joints("/joint_states")[joint] }
		publish := b.publish("/joint_trajectory", "trajectory_msgs/msg/JointTrajectory")
		send := func(to, seconds float64) {
			publish(&msgs.JointTrajectory{JointNames: []string{joint},
				Points: []msgs.JointTrajectoryPoint{{Positions: []float64{to}, TimeFromStart: msgs.DurationFromSeconds(seconds)}}})
		}
		first := at()
		send(first+0.2, 1)
		time.Sleep(3 * time.Second / 2)
		if got := at(); math.Abs(got-first-0.2) > 1e-3 {
			t.Errorf("the joint is at %g, want %g", got, first+0.2)
		}
		send(first+0.3, 10)
		time.Sleep(time.Second / 2)
		send(first, 1)
		time.Sleep(3 * time.Second / 2)
		if got := at(); math.Abs(got-first) > 1e-3 {
			t.Errorf("after a newer one the joint is at %g, want %g", got, first)
		}
		if told := next[poisemsgs.GoalExplanations](b, ends); told.Action != "joint_trajectory" || told.State != "preempted" {
			t.Errorf("the replaced one is told as %+v", told)
		}
		send(first+0.3, 10)
		time.Sleep(time.Second)
		publish(&msgs.JointTrajectory{})
		time.Sleep(time.Second)
		stands := at()
		time.Sleep(time.Second)
		if got := at(); got != stands || math.Abs(got-first) > 0.1 {
			t.Errorf("called off at %g, then at %g", stands, got)
		}
		if told := next[poisemsgs.GoalExplanations](b, ends); told.State != "preempted" || told.Cause != "client cancel" {
			t.Errorf("the one that is called off is told as %+v", told)
		}
		publish(&msgs.JointTrajectory{JointNames: []string{"joint99"}, Points: []msgs.JointTrajectoryPoint{{Positions: []float64{0}}}})
		if told := next[poisemsgs.GoalExplanations](b, ends); told.State != "rejected" {
			t.Errorf("an unknown joint is told as %+v", told)
		}
	})
}

// TestJointStatesOfEveryCycle: at 1 kHz no cycle is left out, though the pump looks every 2 ms.
func TestJointStatesOfEveryCycle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.Loop.Period, c.Rates.JointStates = 0.001, 1000 })
		for _, topic := range []string{"/joint_states", "/joint_states_real"} {
			states := b.subscribe(topic)
			var last int64
			for i := range 500 {
				at := next[msgs.JointState](b, states).Header.Stamp.Nanos()
				if gap := at - last; i > 0 && (gap < 999_000 || gap > 1_001_000) {
					t.Fatalf("%s: message %d comes %d ns after the one before", topic, i, gap)
				}
				last = at
			}
		}
	})
}

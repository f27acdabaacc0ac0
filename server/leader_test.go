package server_test

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/msgs/rosjson"
	"poise/server/config"
	"poise/servo/sim"
)

// TestOneArmLeadsAnother: the leader is limp and moved by hand; the follower goes where it is,
// within its limits of velocity and position, and stays where it was when the controller ends.
func TestOneArmLeadsAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		plays := sim.RealSettings()
		plays.Gravity = false // hands hold the leader
		b := start(t, func(c *config.Config) {
			c.Robot = "so101"
			c.Robots = []config.Robot{{Name: "follower", Driver: "sim", Leader: "leader"}, {Name: "leader", Driver: "sim", Settings: &plays, Start: config.StartLimp}}
		})
		hand := func(joint string, at float64) {
			t.Helper()
			b.must("/leader/joints_hand_set", &poisemsgs.JointsHandSetRequest{Joints: msgs.JointState{Name: []string{joint}, Position: []float64{at}}})
		}
		near := func(topic, joint string, at float64) bool { return math.Abs(b.joints(topic)[joint]-at) < 0.02 }
		began := b.joints("/follower/joint_states")["elbow_flex"]
		hand("elbow_flex", 0.8)
		b.until("the leader is there", func() bool { return near("/leader/joint_states_real", "elbow_flex", 0.8) })
		if !near("/follower/joint_states", "elbow_flex", began) {
			t.Error("the follower moves before it was told to")
		}
		b.must("/follower/switch_controllers", &poisemsgs.SwitchControllersRequest{Start: []string{"follow_arm"}})
		states := b.subscribe("/follower/joint_states")
		b.until("the follower is where the leader is", func() bool { return near("/follower/joint_states", "elbow_flex", 0.8) })
		hand("elbow_flex", -1.6)
		hand("gripper", 1.7)
		fastest := 0.0
		b.until("it follows", func() bool {
			text, _, err := states.Next(b.ctx)
			if err != nil {
				t.Fatal(err)
			}
			var m msgs.JointState
			if err := rosjson.Unmarshal(text, &m); err != nil {
				t.Fatal(err)
			}
			for _, v := range m.Velocity {
				fastest = max(fastest, math.Abs(v))
			}
			return near("/follower/joint_states", "elbow_flex", -1.6) && near("/follower/joint_states", "gripper", 1.7)
		})
		if fastest > 3*(1+1e-9) || fastest < 0.5 {
			t.Errorf("fastest %g rad/s, its limit is 3", fastest)
		}
		if st := b.stateOf("/leader"); st.Power != "ready" {
			t.Errorf("the leader's power is %s", st.Power)
		}
		b.must("/follower/switch_controllers", &poisemsgs.SwitchControllersRequest{Stop: []string{"follow_arm"}})
		hand("elbow_flex", 0)
		b.until("the leader is back", func() bool { return near("/leader/joint_states_real", "elbow_flex", 0) })
		if !near("/follower/joint_states", "elbow_flex", -1.6) {
			t.Error("it still follows")
		}
	})
}

// TestALeaderIsAnotherRobotOfTheList, or the configuration is refused.
func TestALeaderIsAnotherRobotOfTheList(t *testing.T) {
	for _, leader := range []string{"virtual", "unknown"} {
		c := config.Default()
		c.Robots[0].Leader = leader
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), "robots[0].leader") {
			t.Errorf("leader %q: %v", leader, err)
		}
	}
}

package server_test

import (
	"testing"
	"testing/synctest"

	"poise/internal/stepped"
	"poise/msgs"
	"poise/server/config"
)

// TestARobotBehindAnotherServerIsSeenAndDriven: one server mirrors another, and a client
// of the first plays a motion of the second.
func TestARobotBehindAnotherServerIsSeenAndDriven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := start(t, nil).stock()
		near := startOn(t, far.net, stepped.Clock{}, func(c *config.Config) {
			c.Robot, c.Mirror.URL, c.Mirror.Prefix = "arm6", "ws://"+far.s.Address()+"/rosbridge", "pony"
		})
		near.until("the robot is mirrored", func() bool { return len(near.log.lines("mirrored", "pony")) > 0 })

		g := near.send("/pony/play_motion", textType,
			&msgs.TextActionGoal{Command: msgs.TextCommand{Type: "motion", Command: "twitch", Options: "approach"}})
		turned := false
		near.until("its joint turns", func() bool {
			turned = turned || near.joints("/pony/joint_states")["joint52"] > 0.1
			return turned
		})
		u, _ := near.end(g)
		near.want(u, succeeded)
		if len(far.log.lines("audit", "twitch")) == 0 {
			t.Error("the far server has no line about the motion")
		}
		if _, here := near.joints("/joint_states")["joint52"]; here {
			t.Error("the joints of the two robots are mixed up")
		}
	})
}

package server_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"poise/msgs"
	"poise/msgs/poisemsgs"
	"poise/server"
	"poise/server/config"
)

// TestRefusalsSayWhatTheirClientCanDo: what would help is worded for the fields that
// a goal of that action has.
func TestRefusalsSayWhatTheirClientCanDo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.Robot = "arm6" })
		at := b.joints("/joint_states")
		at["joint_1"] += 0.5
		away := sweep(at, 2, map[string]float64{"joint_1": 0.1})
		away.PathTolerance = []msgs.JointTolerance{{Name: "joint_1", Position: 0.1}}
		u, _ := b.end(b.send("/follow_joint_trajectory", followType, away))
		b.rejected(u, "joint_1", "0.5", "time 0", "path_tolerance")
		if strings.Contains(u.Text, "approach") {
			t.Errorf("a goal without such a field is told of approaches: %s", u.Text)
		}
		u, _ = b.end(b.send("/execute_trajectory", executeType, &msgs.ExecuteTrajectoryGoal{Trajectory: msgs.RobotTrajectory{JointTrajectory: away.Trajectory}}))
		b.rejected(u, "joint_1", "plan again from where the robot is")
	})
}

// TestAnAnswerIsInTheStateThatIsAskedForNext: who was told that something is done
// finds it done.
func TestAnAnswerIsInTheStateThatIsAskedForNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil).stock()
		for range 10 {
			b.must("/stop", &poisemsgs.StopRequest{Category: 1})
			if s := b.state(); !s.Stopped || s.Power != "ready" {
				t.Fatalf("after a stop: stopped %v, power %s", s.Stopped, s.Power)
			}
			b.must("/reset", &poisemsgs.ResetRequest{})
			if s := b.state(); s.Stopped {
				t.Fatal("after a reset it is still stopped")
			}
			b.must("/set_torque", &poisemsgs.SetTorqueRequest{On: true})
			if s := b.state(); s.Power != "enabled" {
				t.Fatalf("after torque on, power is %s", s.Power)
			}
			b.must("/set_speed", &poisemsgs.SetSpeedRequest{Rate: 2})
			u, _ := b.end(b.send("/play_motion", textType, play("twitch", "")))
			b.want(u, succeeded)
			if s := b.state(); len(s.Goals) > 0 || len(s.Owners) > 0 {
				t.Fatalf("after its end a goal has %+v, goals %+v", s.Owners, s.Goals)
			}
		}
	})
}

// TestOnlyRobotsOnFeetTellOfBalance and take steps: what never speaks, and what can
// only be refused, is not there.
func TestOnlyRobotsOnFeetTellOfBalance(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for robot, want := range map[string]bool{"arm6": false, "pony": true} {
			b := start(t, func(c *config.Config) { c.Robot = robot })
			text, err := b.c.Call(b.ctx, "/rosapi/topics", nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, topic := range []string{`"/balance_state"`, `"/follow_step_sequence/goal"`} {
				if got := strings.Contains(string(text), topic); got != want {
					t.Errorf("%s: %s is listed: %v", robot, topic, got)
				}
			}
		}
	})
}

// TestAStartWithoutTroubleSoundsLikeOne: nothing in the log of a good start reads like
// a refusal.
func TestAStartWithoutTroubleSoundsLikeOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		if power := b.log.lines("audit", `what="power on"`); len(power) != 1 || !strings.Contains(power[0], "result=ok") {
			t.Errorf("power was switched on with\n%s", strings.Join(power, ""))
		}
	})
}

func TestAPortInUseIsNamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		c := config.Default()
		c.Listen = b.s.Address()
		_, err := server.New(t.Context(), c, server.Options{Listen: b.net.Listen})
		if err == nil || !strings.Contains(err.Error(), c.Listen) || !strings.Contains(err.Error(), "another program listens there") {
			t.Errorf("a second server on %s: %v", c.Listen, err)
		}
	})
}

func TestAFileIsNoFolderOfMotions(t *testing.T) {
	c := config.Default()
	c.Listen, c.Motions = "127.0.0.1:0", manyJoints(t, 1)
	if _, err := server.New(t.Context(), c, server.Options{}); err == nil || !strings.Contains(err.Error(), c.Motions) || !strings.Contains(err.Error(), "no folder") {
		t.Errorf("a file as folder of motions: %v", err)
	}
}

// TestAStopOfAnUnknownCategoryStops: every stop is obeyed, and the answer says which.
func TestAStopOfAnUnknownCategoryStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		if a := b.must("/stop", &poisemsgs.StopRequest{Category: 7}); !strings.Contains(a.Message, "category 7 is unknown (0, 1, 2) and was taken as 2") {
			t.Errorf("it says %q", a.Message)
		}
		if s := b.state(); !s.Stopped || s.Power != "enabled" {
			t.Errorf("stopped %v, power %s", s.Stopped, s.Power)
		}
	})
}

// TestARobotWithoutAccelerationLimitsIsServed: hardly any URDF has them. It moves, and
// what is assumed for its stops is said.
func TestARobotWithoutAccelerationLimitsIsServed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.Robot = manyJoints(t, 4) })
		for _, said := range []string{b.s.Assumed(), strings.Join(b.log.lines("level=WARN", "assumed"), "")} {
			if !strings.Contains(said, "4 of 4 joints have no acceleration limit (joint1, joint2, joint3, …)") || !strings.Contains(said, "5 rad/s²") || !strings.Contains(said, "; poise new-robot ") {
				t.Errorf("it says %q", said)
			}
		}
		at := b.joints("/joint_states")
		g := b.send("/follow_joint_trajectory", followType, sweep(at, 2, map[string]float64{"joint2": 0.5}))
		b.begun(g)
		u, _ := b.end(g)
		b.want(u, succeeded)
		g = b.send("/follow_joint_trajectory", followType, sweep(b.joints("/joint_states"), 3, map[string]float64{"joint3": 0.9}))
		b.begun(g)
		b.must("/stop", &poisemsgs.StopRequest{Category: 2}) // with the acceleration that is assumed
		u, _ = b.end(g)
		b.want(u, aborted)
		if pony := start(t, nil).s.Assumed(); pony != "" {
			t.Errorf("of the pony is assumed %q", pony)
		}
	})
}

package server_test

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"poise/msgs/poisemsgs"
	"poise/server/config"
)

// TestTheCycleIsChosen: by configuration for some limbs, by the service for all and for one; the
// state of the dynamics tells it, with the torques and the forces that carry the robot.
func TestTheCycleIsChosen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) {
			c.Robots[0].Cycle, c.Robots[0].CycleResources = 1, []string{"leg1", "head"}
		})
		state := func() poisemsgs.DynamicsState {
			return next[poisemsgs.DynamicsState](b, b.subscribe("/dynamics_state"))
		}
		in1 := func(prefixes ...string) func() bool {
			return func() bool {
				s := state()
				for i, name := range s.Name {
					want := false
					for _, p := range prefixes {
						want = want || strings.HasPrefix(name, p)
					}
					if (s.Cycle[i] == 1) != want {
						return false
					}
				}
				return true
			}
		}
		b.until("a leg and the head are in cycle 1", in1("joint1", "joint5"))
		change := func(cycle int32, ok bool, resources ...string) {
			t.Helper()
			var res poisemsgs.SwitchCycleResponse
			if b.call("/switch_cycle", &poisemsgs.SwitchCycleRequest{Cycle: cycle, Resources: resources}, &res); res.Success != ok {
				t.Errorf("cycle %d of %v: %s", cycle, resources, res.Message)
			}
		}
		change(0, true, "head")
		b.until("the leg alone is in cycle 1", in1("joint1"))
		change(1, true)
		b.until("all of it is in cycle 1, and carries itself", func() bool {
			s := state()
			up, most := 0.0, 0.0
			for _, f := range s.Forces {
				up += f.Force.Z
			}
			for i := range s.Name {
				if s.Cycle[i] != 1 || math.Abs(s.Effort[i]-s.Needed[i]) > 1e-9 {
					return false
				}
				most = max(most, math.Abs(s.Effort[i]))
			}
			return up > 10 && most > 0.05 && len(s.Supports) == 4 && !s.Failed && math.Abs(s.Residual.Force.Z) < 1e-6*up
		})
		change(2, false)
		change(1, false, "wing")
		change(0, true)
		b.until("it is in cycle 0", func() bool {
			for _, x := range state().Effort {
				if x != 0 {
					return false
				}
			}
			return true
		})
	})
}

// TestTheRobotTellsWhatCycleOneNeeds: limits of effort, what is lacking in the words of poise check,
// and whether stiffness can be chosen.
func TestTheRobotTellsWhatCycleOneNeeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) {
			c.Robot = "arm6"
			c.Robots = append(c.Robots, config.Robot{Name: "heavy", Driver: "physics"})
		})
		var info poisemsgs.RobotInfoResponse
		b.call("/robot_info", &poisemsgs.RobotInfoRequest{}, &info)
		if len(info.CycleOneLacks) != 1 || !strings.HasPrefix(info.CycleOneLacks[0], "a servo model of 7 joints") {
			t.Errorf("cycle 1 lacks %q", info.CycleOneLacks)
		}
		for _, j := range info.Joints {
			if !j.Mimic && j.MaxEffort <= 0 {
				t.Errorf("%s has no limit of effort", j.Name)
			}
		}
		if r := info.Robots; len(r) != 2 || r[0].Stiffness || !r[1].Stiffness || r[1].ByModel {
			t.Errorf("robots %+v", r)
		}
	})
}

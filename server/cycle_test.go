package server_test

import (
	"math"
	"os"
	"path/filepath"
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
		change(2, false, "leg1")
		change(3, false)
		change(2, true)
		levels := func() poisemsgs.LevelsState { return next[poisemsgs.LevelsState](b, b.subscribe("/levels")) }
		b.until("all of it is in cycle 2, level by level", func() bool {
			s, l := state(), levels()
			for i := range s.Name {
				if s.Cycle[i] != 2 {
					return false
				}
			}
			return l.Status == "served" && l.Feasible && !l.Prevented && len(l.Levels) == 11 && l.Levels[0].Name == "dynamics" &&
				l.Levels[10].Name == "regularisation" && len(l.Limbs) > 4 && l.Limbs[0].Ratio == 1 && l.Levels[0].AskedBy[0] == "robot"
		})
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

// TestCycleOneWithoutWhatItNeeds: a robot without masses starts in cycle 0, and the log says why; one
// without servo models is switched and told what is lacking.
func TestCycleOneWithoutWhatItNeeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.Robot = "arm6" })
		var res poisemsgs.SwitchCycleResponse
		if b.call("/switch_cycle", &poisemsgs.SwitchCycleRequest{Cycle: 1}, &res); !res.Success || !strings.Contains(res.Message, "lacks a servo model of 7 joints") {
			t.Errorf("%+v", res)
		}
		if b.call("/switch_cycle", &poisemsgs.SwitchCycleRequest{}, &res); !res.Success || strings.Contains(res.Message, "lacks") {
			t.Errorf("%+v", res)
		}
	})
	dir := t.TempDir()
	urdf := `<robot name="bare"><link name="base"/><link name="arm"/><joint name="shoulder" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>`
	if err := os.WriteFile(filepath.Join(dir, "bare.urdf"), []byte(urdf), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) {
			c.Robot, c.Robots[0].Cycle = filepath.Join(dir, "bare.urdf"), 1
		})
		if s := next[poisemsgs.DynamicsState](b, b.subscribe("/dynamics_state")); len(s.Cycle) == 0 || s.Cycle[0] != 0 {
			t.Errorf("%+v", s)
		}
		if len(b.log.lines("cycle 0 is used", "has no mass")) == 0 {
			t.Error("the log does not say that cycle 0 is used")
		}
		if all := b.s.Robots(); len(all) != 1 || strings.Contains(all[0], "cycle") {
			t.Errorf("the banner says %q", all)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *config.Config) { c.Robot, c.Robots[0].Cycle = "arm6", 1 })
		if len(b.log.lines("cycle 1 does not know all that it needs", "a servo model of 7 joints")) == 0 {
			t.Error("the log does not say what cycle 1 lacks")
		}
		if all := b.s.Robots(); len(all) != 1 || !strings.Contains(all[0], "cycle 1") {
			t.Errorf("the banner says %q", all)
		}
	})
}

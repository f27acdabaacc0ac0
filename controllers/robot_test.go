package controllers

import (
	"slices"
	"testing"

	"poise/control"
	"poise/robot/load"
)

// TestControllersSuitTheirRobot: what stands, steps or looks is only there where legs or eyes
// are, names are unique, and what people do by hand wins over goals, goals over the background.
func TestControllersSuitTheirRobot(t *testing.T) {
	for robot, want := range map[string][]string{
		"arm6": {"trajectory", "trajectory_2", "pose", "joint_state", "remote", "hold", "torque_off"},
		"pony": {"trajectory", "pose", "hold", "stance", "look_at", "step", "walk"},
	} {
		bot, err := load.Robot(robot, load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		all, err := For(bot.Model, control.Transition{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		rank := map[string]float32{}
		for _, s := range all {
			if _, twice := rank[s.Loop.Name]; twice {
				t.Errorf("%s: two controllers are called %s", robot, s.Loop.Name)
			}
			rank[s.Loop.Name] = s.Loop.Operational
		}
		for _, name := range want {
			if rank[name] == 0 {
				t.Errorf("%s has no %s", robot, name)
			}
		}
		for _, name := range []string{"stance", "look_at", "step", "walk"} {
			if got := rank[name] > 0; got != slices.Contains(want, name) {
				t.Errorf("%s has %s: %v", robot, name, got)
			}
		}
		if robot == "pony" && !(rank["torque_off"] > rank["walk"] && rank["walk"] > rank["trajectory"]) {
			t.Errorf("legs that walk are taken by a motion, or not by hand: %v", rank)
		}
		if !(rank["torque_off"] > rank["trajectory"] && rank["trajectory"] > rank["joint_state"] && rank["joint_state"] > rank["hold"]) {
			t.Errorf("%s: priorities %v", robot, rank)
		}
	}
}

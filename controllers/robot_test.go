package controllers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"poise/control"
	"poise/internal/walks"
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

// TestLegsThatReachNowhere: a robot whose legs do not reach around their places has no use for a walk, and is driven without. One whose robot.yaml says
// how it walks is told why it does not.
func TestLegsThatReachNowhere(t *testing.T) {
	folder := walks.Hexapod(t).Folder
	change := func(name string, by func(text string) string) {
		t.Helper()
		file := filepath.Join(folder, name)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(by(string(text))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	seats := func() ([]Seat, error) {
		t.Helper()
		bot, err := load.Robot(folder, load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return For(bot.Model, control.Transition{Acceleration: 1}, nil)
	}
	walk := func(s Seat) bool { return s.Loop.Name == "walk" }
	if all, err := seats(); err != nil || !slices.ContainsFunc(all, walk) {
		t.Fatalf("it walks: %v", err)
	}
	change("hexapod.urdf", func(text string) string {
		return strings.ReplaceAll(text, `lower="-0.9" upper="0.9"`, `lower="-0.001" upper="0.001"`)
	})
	if all, err := seats(); err != nil || len(all) == 0 || slices.ContainsFunc(all, walk) {
		t.Errorf("with hips that do not turn it is to be driven without a walk: %v", err)
	}
	bot, err := load.Robot(folder, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, unfit, err := Fit(bot.Model, control.Transition{Acceleration: 1}, nil); err != nil || unfit["walk"] == nil || !strings.Contains(unfit["walk"].Error(), "reach only") {
		t.Errorf("why it does not walk: %v, %v", unfit["walk"], err)
	}
	change("robot.yaml", func(text string) string { return text + "walking: {by_speed: [trot]}\n" })
	if _, err := seats(); err == nil || !strings.Contains(err.Error(), "controller walk: ") || !strings.Contains(err.Error(), "reach only") {
		t.Errorf("what robot.yaml says of walking: %v", err)
	}
}

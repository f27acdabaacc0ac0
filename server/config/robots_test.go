package config

import (
	"fmt"
	"strings"
	"testing"

	"poise/servo/sim"
)

// TestRobotsAreAList: names and drivers in order, settings over the driver's defaults, and
// what with_real_sim adds last.
func TestRobotsAreAList(t *testing.T) {
	c, err := Read([]byte("robots:\n- {name: hand, driver: sim, settings: {lag: 0.5}}\n- name: foot\nwith_real_sim: true\nreal_sim: {noise: 0.25}"), "poise.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lagging, added := sim.DefaultSettings(), sim.RealSettings()
	lagging.Lag, added.Noise = 0.5, 0.25
	want := []sim.Settings{lagging, sim.DefaultSettings(), added}
	for i, r := range c.AllRobots() {
		if name := []string{"hand", "foot", "real"}[i]; r.Name != name || r.Driver != "sim" || *r.Settings.(*sim.Settings) != want[i] {
			t.Errorf("robot %d is %+v with %+v, want %s with %+v", i, r, r.Settings, name, want[i])
		}
	}
	if len(c.Robots) != 2 || len(c.AllRobots()) != 3 {
		t.Errorf("%d robots, %d with the added one", len(c.Robots), len(c.AllRobots()))
	}
}

// TestRobotsThatCannotBe are refused by line, place, name and reason.
func TestRobotsThatCannotBe(t *testing.T) {
	many := "robots:\n"
	for i := range maxRobots {
		many += fmt.Sprintf("- {name: r%d}\n", i)
	}
	for _, c := range []struct{ document, want string }{
		{"robots: []", "poise.yaml:1: robots has 0 robots, must have 1 … 16"},
		{many + "- {name: last}", "poise.yaml:1: robots has 17 robots, must have 1 … 16"},
		{many + "with_real_sim: true", "robots has 17 robots"},
		{"robots:\n- driver: sim", `poise.yaml:2: robots[0].name is "", must be a letter`},
		{"robots:\n- name: my robot", `poise.yaml:2: robots[0].name is "my robot", must be a letter`},
		{"robots:\n- name: a/b", `robots[0].name is "a/b"`},
		{"robots:\n- name: 2nd", `robots[0].name is "2nd"`},
		{"robots:\n- name: " + strings.Repeat("x", 65), "must be a letter and up to 63"},
		{"robots:\n- name: a\n- name: b\n\n- name: a", `poise.yaml:5: robots[2].name is "a", which robots[0] has already`},
		{"with_real_sim: true\nrobots: [{name: real}]", `with_real_sim: the name is "real", which robots[0] has already`},
		{"robots:\n- name: motions", `poise.yaml:2: robots[0].name is "motions", which is reserved, as are all of controllers, motions, physics, rosapi`},
		{"robots:\n- name: a\n  driver: simm", `poise.yaml:3: robots[0].driver is "simm", must be one of sim`},
		{"robots:\n- name: a\n  driver: simm", `; did you mean "sim"?`},
		{"robots:\n- name: a\n  driver: sim\n  settings:\n    lag: 11", "poise.yaml:5: robots[0].settings.lag is 11 s, must be 0 … 10 s"},
		{"robots:\n- name: a\n  settings: {lagg: 1}", `poise.yaml:3: robots[0].settings: unknown key "lagg"; did you mean "lag"?`},
		{"robots:\n- name: a\n  settings: {lag: fast}", `poise.yaml:3: robots[0].settings.lag: "fast" must be a finite number`},
		{"robots:\n- name: a\n  settings: 3", `poise.yaml:3: robots[0].settings: is "3", must be a mapping`},
		{"robots:\n- name: a\n  port: x", `poise.yaml:3: robots[0]: unknown key "port"; known are name, driver, settings, start, after_gap, leaving`},
		{"robots:\n- name: a\n  start: on", `poise.yaml:3: robots[0].start is "on", must be limp or powered`},
		{"robots:\n- name: a\n  after_gap: halt", `poise.yaml:3: robots[0].after_gap is "halt", must be stop or pause`},
		{"robots:\n- name: a\n  leaving: {do: hodl}", `robots[0].leaving.do is "hodl", must be hold or off or rest; did you mean "hold"?`},
		{"robots:\n- name: a\n  cycle_resources: [head]", `robots[0].cycle_resources names head, and cycle is 0`},
		{"robots:\n- name: a\n  leaving: {do: rest}", `robots[0].leaving.pose is "", and leaving.do is "rest"`},
		{"robots:\n- name: a\n  leaving: {pose: lying}", `robots[0].leaving.pose is "lying", and leaving.do is ""`},
		{"robots:\n- name: a\n  leaving: {do: rest, pose: x, speed: 2}", "robots[0].leaving.speed is 2, must be 0.01 … 1"},
		{"robots:\n- name: a\n  leaving: {do: rest, pose: x, deadline: 601}", "robots[0].leaving.deadline is 601 s, must be 0.1 … 600 s"},
		{"robots: virtual", `robots: is "virtual", must be a list`},
	} {
		if _, err := Read([]byte(c.document), "poise.yaml"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", c.document, err, c.want)
		}
	}
}

// TestSettingsOfAnotherDriverAreRefused: a program that makes a configuration gives a
// driver its own settings.
func TestSettingsOfAnotherDriverAreRefused(t *testing.T) {
	c := Default()
	c.Robots[0].Settings = &struct{ Port string }{"x"}
	if err := c.Check(); err == nil || !strings.Contains(err.Error(), "robots[0].settings are *struct") {
		t.Errorf("got %v", err)
	}
}

// TestHowRobotsLiveIsWrittenAndRead: start, gap and end of a robot survive being printed.
func TestHowRobotsLiveIsWrittenAndRead(t *testing.T) {
	c := Default()
	c.Robots[0].Start, c.Robots[0].AfterGap = StartLimp, GapStops
	c.Robots[0].Leaving = Leaving{Do: "rest", Pose: "lying", Speed: 0.5, Deadline: 3}
	var text strings.Builder
	if err := Write(&text, c); err != nil {
		t.Fatal(err)
	}
	again, err := Read([]byte(text.String()), "poise.yaml")
	if err != nil {
		t.Fatalf("%v in\n%s", err, text.String())
	}
	got, want := again.Robots[0], c.Robots[0]
	if got.Start != want.Start || got.AfterGap != want.AfterGap || got.Leaving != want.Leaving {
		t.Errorf("%+v, want %+v", got, want)
	}
}

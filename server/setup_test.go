package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"poise/msgs/poisemsgs"
	"poise/robot/load"
	"poise/server/config"
)

const twoAxes = `<robot name="crane"><link name="foot"/><link name="boom"/><link name="tool0"/>
<joint name="turn" type="continuous"><parent link="foot"/><child link="boom"/></joint>
<joint name="lift" type="revolute"><parent link="boom"/><child link="tool0"/><axis xyz="0 1 0"/><limit lower="0.2" upper="1" velocity="2" effort="3"/></joint></robot>`

// TestARobotIsSetUpOverTheWire: proposed, changed, refused, written once; the robot that is
// served stays as it is.
func TestARobotIsSetUpOverTheWire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "crane.urdf")
		if err := os.WriteFile(file, []byte(twoAxes), 0o644); err != nil {
			t.Fatal(err)
		}
		b := start(t, func(c *config.Config) { c.Robot = file })
		ask := func(q *poisemsgs.SetUpRobotRequest) (r poisemsgs.SetUpRobotResponse) {
			t.Helper()
			b.call("/set_up_robot", q, &r)
			return r
		}
		first := ask(&poisemsgs.SetUpRobotRequest{})
		if !first.Success || len(first.Setup.Limbs) != 1 || first.Setup.Limbs[0].Name != "arm" || first.Setup.Limbs[0].Tip != "tool0" || !first.Setup.Limits || len(first.Written) > 0 {
			t.Fatalf("%+v", first)
		}
		q := &poisemsgs.SetUpRobotRequest{Chosen: true, Setup: first.Setup, Version: first.Version}
		q.Setup.Limbs[0].Name = "crane"
		q.Setup.Poses[0].Positions[1] = 7
		if r := ask(q); r.Success || !strings.Contains(r.Message, `joint "lift" at 7`) || len(r.Explanations) == 0 {
			t.Errorf("a pose outside the limits: %+v", r)
		}
		q.Setup.Poses[0].Positions[1] = 0.5
		q.Write, q.Version = true, "old"
		if r := ask(q); r.Success || len(r.Explanations) != 1 || r.Explanations[0].Code != "version_conflict" {
			t.Errorf("another version: %+v", r)
		}
		about := filepath.Join(filepath.Dir(file), "robot.yaml")
		if _, err := os.Stat(about); err == nil {
			t.Error("it was written all the same")
		}
		q.Version = first.Version
		r := ask(q)
		if !r.Success || strings.Join(r.Written, " ") != "joint_limits.yaml robot.yaml" || !strings.Contains(r.Message, "poise serve --robot "+filepath.Dir(file)) {
			t.Fatalf("%+v", r)
		}
		if text, err := os.ReadFile(about); err != nil || string(text) != r.RobotYAML || len(b.log.lines("set up the robot", "result=ok")) != 1 {
			t.Errorf("%v: %s", err, text)
		}
		bot, err := load.Robot(file, load.Options{})
		if err != nil || bot.Model.GroupNames()[0] != "crane" {
			t.Errorf("read back: %v", err)
		}
		var info poisemsgs.RobotInfoResponse
		b.call("/robot_info", &poisemsgs.RobotInfoRequest{}, &info)
		if len(info.Groups) == 0 || info.Groups[0].Name == "crane" {
			t.Errorf("the robot that is served has changed: %+v", info.Groups)
		}
		if r := ask(&poisemsgs.SetUpRobotRequest{}); !r.Success || len(r.Added) > 0 || len(r.Kept) < 6 {
			t.Errorf("a second time: %+v", r)
		}
	})
}

// TestAShippedRobotIsNotSetUp: it is inside the program.
func TestAShippedRobotIsNotSetUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		var r poisemsgs.SetUpRobotResponse
		b.call("/set_up_robot", &poisemsgs.SetUpRobotRequest{}, &r)
		if r.Success || len(r.Explanations) != 1 || r.Explanations[0].Code != "shipped_robot" {
			t.Errorf("%+v", r)
		}
	})
}

package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"poise/server/config"
	"poise/telemetry"
)

const lampURDF = `<robot name="lamp"><link name="foot"/><link name="head"/>
<joint name="neck" type="revolute"><parent link="foot"/><child link="head"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="2" effort="5"/></joint></robot>`

const lampYAML = `name: lamp
urdf: lamp.urdf
groups: {arm: {joints: [neck]}}
poses: {down: {neck: -0.5}, up: {neck: 0.5}}
leaving: {do: rest, pose: down, speed: 0.5}
`

// TestRobotYAMLDeclaresLeaving: what the robot declares is done at the end, and what the
// configuration says in its place.
func TestRobotYAMLDeclaresLeaving(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{"lamp.urdf": lampURDF, "robot.yaml": lampYAML} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name     string
		said     config.Leaving
		declared string
		rest     float64 // where the joint rests
		speed    float64
	}{
		{"the robot's own", config.Leaving{}, "rest", -0.5, 0.5},
		{"another way", config.Leaving{Do: "off"}, "off", 0, 0},
		{"another pose", config.Leaving{Do: "rest", Pose: "up"}, "rest", 0.5, 0.5},
		{"another speed", config.Leaving{Speed: 0.25}, "rest", -0.5, 0.25},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "flight.rec")
				b := start(t, func(cfg *config.Config) { cfg.Robot, cfg.Robots[0].Leaving, cfg.Record.File = folder, c.said, file })
				b.stop()
				err := <-b.ended
				b.ended <- err // for the cleanup
				if left := b.log.lines("robot is left"); err != nil || len(left) != 1 || !strings.Contains(left[0], "declared="+c.declared) || !strings.Contains(left[0], "without torque") {
					t.Errorf("%v: %v", err, left)
				}
				rec, err := telemetry.Open(file) // it carries the settings of the cycle
				if err != nil {
					t.Fatal(err)
				}
				defer rec.Close()
				how := rec.Header.Settings.Leave
				if how.Speed != c.speed || (c.rest != 0) != (len(how.Rest) == 1) || c.rest != 0 && how.Rest[0].Position != c.rest {
					t.Errorf("it leaves as %+v", how)
				}
			})
		})
	}
}

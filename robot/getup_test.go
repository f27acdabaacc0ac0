package robot_test

import (
	"strings"
	"testing"

	"poise/internal/rig"
	"poise/robot"
	"poise/robot/description"
)

// TestGettingUpIsDeclared: the pony has both sides, one the image of the other; what cannot be is told with its line.
func TestGettingUpIsDeclared(t *testing.T) {
	m := rig.Model(t, "pony")
	g := m.GetUp()
	if len(g.Left) == 0 || len(g.Left) != len(g.Right) || len(g.Belly) == 0 {
		t.Fatalf("%d steps from the left, %d from the right, %d from the belly", len(g.Left), len(g.Right), len(g.Belly))
	}
	for i, s := range g.Left {
		for k, j := range s.Joints {
			image := m.Mirror()[j]
			if r := g.Right[i]; r.Joints[k] != image.Of || r.Q[k] != image.Sign*s.Q[k] {
				t.Errorf("step %d: %s at %g has the image %s at %g", i, m.Joints()[j].Name, s.Q[k], m.Joints()[r.Joints[k]].Name, r.Q[k])
			}
		}
	}
	for text, want := range map[string]string{
		"left: [{in: 1, pose: a}]":                  "belly is missing",
		"belly: [{in: 0, pose: a}]":                 "in 0 s is not within 0.1 … 60 s",
		"belly: [{in: 1, pose: standd}]":            `pose "standd" is not declared`,
		"belly: [{in: 1, joints: {l_hipp: 1}}]":     "l_hipp",
		"belly: [{in: 1}]":                          "either pose or joints",
		"belly: [{in: 1, pose: a, joints: {b: 1}}]": "either pose or joints",
	} {
		d, err := description.Read([]byte(dogYAML+"get_up: {"+text+"}\n"), "robot.yaml")
		if err == nil {
			_, _, err = robot.Build(parse(t, dogURDF), robot.Options{Description: d})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, it should say %q", text, err, want)
		}
	}
}

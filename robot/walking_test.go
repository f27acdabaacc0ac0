package robot_test

import (
	"strings"
	"testing"

	"poise/robot"
	"poise/robot/description"
)

// TestWalkingIsDeclared: what robot.yaml says of walking is in the model; what cannot be is told.
func TestWalkingIsDeclared(t *testing.T) {
	build := func(walking string) (*robot.Model, error) {
		d, err := description.Read([]byte(dogYAML+"walking:\n"+walking), "robot.yaml")
		if err != nil {
			return nil, err
		}
		m, _, err := robot.Build(parse(t, dogURDF), robot.Options{Description: d})
		return m, err
	}
	m, err := build("  height: 0.2\n  by_speed: [trot]\n  gaits:\n    crawl: {period: 2, order: [right, left]}\n    trot: {lift: 0.03, phase: {left: 0.5, right: 0}}\n")
	if err != nil {
		t.Fatal(err)
	}
	left, _ := m.Chain("left")
	right, _ := m.Chain("right")
	w := m.Walking()
	if w.Height != 0.2 || len(w.BySpeed) != 1 || len(w.Gaits) != 2 {
		t.Fatalf("%+v", w)
	}
	if g := w.Gaits[0]; g.Name != "crawl" || g.Period != 2 || g.Duty != 0 || g.Phase[left] != 0.5 || g.Phase[right] != 0 {
		t.Errorf("%+v", g)
	}
	if g := w.Gaits[1]; g.Lift != 0.03 || g.Phase[left] != 0.5 {
		t.Errorf("%+v", g)
	}
	for text, want := range map[string]string{
		"  height: 20\n":                                                 "walking: height 20 m is not within 0.01 … 10 m",
		"  gaits: {crawl: {duty: 1.5}}\n":                                "duty 1.5 is not within 0.05 … 0.99",
		"  gaits: {crwl: {duty: 0.8}}\n":                                 `"crwl" is not one of`,
		"  by_speed: [trot, trot]\n":                                     "trot twice",
		"  gaits: {crawl: {order: [left]}}\n":                            "names 1 of the 2 legs",
		"  gaits: {crawl: {order: [left, stub]}}\n":                      `"stub" is not a chain with a contact`,
		"  gaits: {crawl: {order: [left, left]}}\n":                      "left is named twice",
		"  gaits: {crawl: {order: [left, right], phase: {left: 0.1}}}\n": "phase stands beside order",
		"  gaits: {trot: {phase: {left: 1, right: 0}}}\n":                "phase of left: 1 is not within",
		"  stride: 3\n":                                                  "stride",
	} {
		if _, err := build(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "robot.yaml:") {
			t.Errorf("%q: %v, it should say %q", text, err, want)
		}
	}
}

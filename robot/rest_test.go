package robot_test

import (
	"testing"

	"poise/robot"
)

// TestRestPositions: the preferred named pose where there is one, and zero, or the limit
// nearest to it, elsewhere.
func TestRestPositions(t *testing.T) {
	const text = `<robot name="two"><link name="a"/><link name="b"/><link name="c"/>
<joint name="lift" type="prismatic"><parent link="a"/><child link="b"/><limit lower="0.2" upper="1" velocity="1" effort="1"/></joint>
<joint name="turn" type="revolute"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>`
	for _, c := range []struct {
		poses string
		want  [2]float64
	}{
		{"", [2]float64{0.2, 0}},
		{"poses:\n  wave: {turn: 0.7}\n", [2]float64{0.2, 0}},
		{"poses:\n  ready: {turn: 0.7, lift: 0.3}\n", [2]float64{0.3, 0.7}},
		{"poses:\n  ready: {turn: 0.7, lift: 0.3}\n  stand: {turn: -0.5}\n", [2]float64{0.2, -0.5}},
	} {
		o := robot.Options{}
		if c.poses != "" {
			o.Description = describe(t, c.poses)
		}
		m, _, err := robot.Build(parse(t, text), o)
		if err != nil {
			t.Fatal(err)
		}
		if q := m.RestPositions(); [2]float64(q) != c.want {
			t.Errorf("%q: %v, want %v", c.poses, q, c.want)
		}
	}
}

package servotest

import (
	"fmt"
	"strings"
	"testing"

	"poise/robot"
	"poise/robot/description"
	"poise/urdf"
)

// Turntable is a robot of n joints about vertical axes, j1 … jn, each within ±2 rad, with a robot.yaml.
func Turntable(t testing.TB, n int, robotYAML string) *robot.Model {
	t.Helper()
	var links, joints strings.Builder
	links.WriteString(`<link name="l0"/>`)
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&links, `<link name="l%d"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>`, i)
		fmt.Fprintf(&joints, `<joint name="j%d" type="revolute"><parent link="l%d"/><child link="l%d"/><axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="2" velocity="5"/></joint>`, i, i-1, i)
	}
	doc, _, err := urdf.Parse([]byte(`<robot name="turntable">`+links.String()+joints.String()+`</robot>`), "turntable.urdf")
	if err != nil {
		t.Fatal(err)
	}
	d, err := description.Read([]byte(robotYAML), "robot.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := robot.Build(doc, robot.Options{Description: d})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

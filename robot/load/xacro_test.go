package load_test

import (
	"strings"
	"testing"

	"poise/robot/description"
	"poise/robot/load"
)

const armXacro = `<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:arg name="reach" default="1"/>
<xacro:include filename="$(find parts)/limit.xacro"/>
<link name="a"/><link name="b"/>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><xacro:bounds upper="$(arg reach)"/></joint></robot>`

const limitXacro = `<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:macro name="bounds" params="upper"><limit lower="-1" upper="${2*upper}" velocity="2" effort="3"/></xacro:macro></robot>`

func TestXacro(t *testing.T) {
	reach := func(text string) []description.Argument { return []description.Argument{{Name: "reach", Value: text}} }
	for _, tc := range []struct {
		name  string
		files []string
		opts  load.Options
		upper float64
		want  string // of the error
	}{
		{"default", []string{"arm/arm.urdf.xacro", armXacro}, load.Options{PackagePath: []string{"lib"}}, 2, ""},
		{"another name", []string{"arm/arm.xacro", armXacro}, load.Options{PackagePath: []string{"lib"}}, 2, ""},
		{"argument of the command line", []string{"arm/arm.urdf.xacro", armXacro}, load.Options{PackagePath: []string{"lib"}, Arguments: reach("3")}, 6, ""},
		{"argument of robot.yaml", []string{"arm/arm.urdf.xacro", armXacro, "arm/robot.yaml", "xacro_arguments: {reach: 4}\npackages: [../lib]\n"}, load.Options{}, 8, ""},
		{"the command line wins", []string{"arm/arm.urdf.xacro", armXacro, "arm/robot.yaml", "xacro_arguments: {reach: 4}\npackages: [../lib]\n"}, load.Options{Arguments: reach("5")}, 10, ""},
		{"the URDF is preferred", []string{"arm/arm.urdf.xacro", "<nonsense", "arm/arm.urdf", urdfWith("x.stl")}, load.Options{}, 1, ""},
		{"package nowhere", []string{"arm/arm.urdf.xacro", armXacro}, load.Options{}, 0, `arm/arm.urdf.xacro:3: `},
		{"arguments for a plain URDF", []string{"arm/arm.urdf", urdfWith("x.stl")}, load.Options{Arguments: reach("5")}, 0, `arm/arm.urdf: argument "reach": only xacro files take arguments`},
		{"mistake in the expanded", []string{"arm/arm.urdf.xacro", armXacro}, load.Options{PackagePath: []string{"lib"}, Arguments: reach("-4")}, 0, `lower limit -1 is above the upper limit -8`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bot, err := load.Folder(files(append(tc.files, "lib/parts/limit.xacro", limitXacro)...), "arm", tc.opts)
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("error %v, want %s", err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := bot.Model.Joints()[0].Limits.Upper; got.Value != tc.upper {
				t.Errorf("upper limit %+v, want %g", got, tc.upper)
			}
		})
	}
}

// TestSourceOfAnExpandedLimit: a limit comes from the line where it is written.
func TestSourceOfAnExpandedLimit(t *testing.T) {
	fsys := files("arm/arm.urdf.xacro", armXacro, "lib/parts/limit.xacro", limitXacro)
	bot, err := load.File(fsys, "arm/arm.urdf.xacro", load.Options{PackagePath: []string{"lib"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := bot.Model.Joints()[0].Limits.Upper.Source; !strings.HasSuffix(got, "lib/parts/limit.xacro:2") {
		t.Errorf("source %s", got)
	}
}

package urdf

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"poise/problem"
	"poise/spatial"
)

// wrap makes a document of what goes into <robot> from line 2 on.
func wrap(body string) string { return "<robot name='r'>\n" + body + "\n</robot>" }

const twoLinks = "<link name='a'/><link name='b'/>"

// jointWith makes a robot with one revolute joint; parts begin on line 4.
func jointWith(parts string) string {
	return wrap(twoLinks + "\n<joint name='j' type='revolute'><parent link='a'/><child link='b'/>\n" + parts + "\n</joint>")
}

func linkWith(parts string) string { return wrap("<link name='a'>\n" + parts + "\n</link>") }

func shapeWith(shape string) string {
	return linkWith("<collision><geometry>" + shape + "</geometry></collision>")
}

func mustParse(t *testing.T, doc string) *Document {
	t.Helper()
	d, warnings, err := Parse([]byte(doc), "f.urdf")
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%s\nerror: %v\nwarnings: %v", doc, err, warnings)
	}
	return d
}

const complete = `<?xml version="1.0"?>
<robot name="complete" version="1.2">
  <material name="blue"><color rgba="0 0 .8 1"/><texture filename="blue.png"/></material>
  <link name="base"/>
  <link name="arm">
    <inertial>
      <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>
      <mass value="1.5"/>
      <inertia ixx="1" ixy="2" ixz="3" iyy="4" iyz="5" izz="6"/>
    </inertial>
    <visual name="v"><origin xyz="1 0 0"/><geometry><box size="1 2 3"/></geometry><material name="blue"/></visual>
    <visual><geometry><mesh filename="package://p/m.stl" scale="1 -1 1"/></geometry></visual>
    <visual><geometry><mesh filename="m.dae"/></geometry><material name=""><color rgba="1 0 0 1"/></material></visual>
    <collision name="c"><geometry><cylinder radius="1" length="2"/></geometry></collision>
    <collision><geometry><sphere radius="3"/></geometry></collision>
    <collision><geometry><capsule radius="4" length="5"/></geometry></collision>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="base"/>
    <child link="arm"/>
    <origin xyz="0 0 1" rpy="0 0 1.5"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" effort="3" velocity="4" acceleration="5" deceleration="6" jerk="7"/>
    <dynamics damping="0.1" friction="0.2"/>
    <mimic joint="other" multiplier="-2" offset="0.5"/>
    <safety_controller soft_lower_limit="-0.9" soft_upper_limit="1.9" k_position="10" k_velocity="20"/>
    <calibration reference_position="0.7" rising="0.1"/>
  </joint>
  <transmission name="t"><type>simple</type><joint name="hinge"><hardwareInterface>effort</hardwareInterface></joint></transmission>
  <transmission name="old" type="pr2"/>
</robot>`

func TestEverythingOfURDFIsRead(t *testing.T) {
	d := mustParse(t, complete)
	if d.Name != "complete" || d.Version != "1.2" || len(d.Links) != 2 || len(d.Joints) != 1 || len(d.Materials) != 1 || len(d.Transmissions) != 2 {
		t.Fatalf("%+v", d)
	}
	l := d.Links[1]
	in := *l.Inertial
	in.Pos = problem.Pos{}
	if in != (Inertial{Origin{spatial.Vec3{X: 1, Y: 2, Z: 3}, spatial.Vec3{X: .1, Y: .2, Z: .3}}, 1.5, InertiaTensor{1, 2, 3, 4, 5, 6}, problem.Pos{}}) {
		t.Errorf("inertial %+v", in)
	}
	if v := l.Visuals[0]; v.Name != "v" || v.Origin.XYZ.X != 1 || v.Geometry != (Geometry{Shape: Box, Size: spatial.Vec3{X: 1, Y: 2, Z: 3}}) || v.Material.Name != "blue" {
		t.Errorf("visual %+v", v)
	}
	if g := l.Visuals[1].Geometry; g != (Geometry{Shape: Mesh, Mesh: "package://p/m.stl", Scale: spatial.Vec3{X: 1, Y: -1, Z: 1}}) {
		t.Errorf("mesh %+v", g)
	}
	if g := l.Visuals[2].Geometry; g.Scale != (spatial.Vec3{X: 1, Y: 1, Z: 1}) || *l.Visuals[2].Material.Color != [4]float64{1, 0, 0, 1} {
		t.Errorf("mesh %+v", g)
	}
	for i, want := range []Geometry{
		{Shape: Cylinder, Radius: 1, Length: 2}, {Shape: Sphere, Radius: 3}, {Shape: Capsule, Radius: 4, Length: 5},
	} {
		if got := l.Collisions[i].Geometry; got != want {
			t.Errorf("collision %+v, want %+v", got, want)
		}
	}
	if m := d.Materials[0]; m.Name != "blue" || *m.Color != [4]float64{0, 0, .8, 1} || m.Texture != "blue.png" {
		t.Errorf("material %+v", m)
	}
	j := d.Joints[0]
	if j.Name != "hinge" || j.Type != Revolute || j.Parent != "base" || j.Child != "arm" || j.Axis != (spatial.Vec3{Y: 1}) || j.Origin.RPY.Z != 1.5 {
		t.Errorf("joint %+v", j)
	}
	if *j.Limit != (Limit{-1, 2, 3, 4, 5, 6, 7, 1<<7 - 1, problem.Pos{File: "f.urdf", Line: 23}}) {
		t.Errorf("limit %+v", j.Limit)
	}
	if *j.Dynamics != (Dynamics{.1, .2}) || *j.Mimic != (Mimic{"other", -2, .5, problem.Pos{File: "f.urdf", Line: 25}}) || *j.Safety != (Safety{-.9, 1.9, 10, 20}) {
		t.Errorf("dynamics %+v, mimic %+v, safety %+v", j.Dynamics, j.Mimic, j.Safety)
	}
	if c := j.Calibration; *c.Reference != .7 || *c.Rising != .1 || c.Falling != nil {
		t.Errorf("calibration %+v", c)
	}
	for i, want := range []string{"t simple", "old pr2"} {
		if tr := d.Transmissions[i]; tr.Name+" "+tr.Type != want || tr.Tree.Name != "transmission" {
			t.Errorf("transmission %+v", tr)
		}
	}
}

func TestJointTypes(t *testing.T) {
	for kind, name := range jointTypeNames {
		doc := wrap(twoLinks + "<joint name='j' type=' " + name + "\n'><parent link='a'/><child link='b'/><limit effort='1' velocity='1'/></joint>")
		if j := mustParse(t, doc).Joints[0]; j.Type != JointType(kind) || j.Type.String() != name {
			t.Errorf("%s reads as %s", name, j.Type)
		}
	}
}

func TestDefaults(t *testing.T) {
	j := mustParse(t, jointWith("<limit effort='1' velocity='1'/><mimic joint='k'/><dynamics/><calibration/>")).Joints[0]
	if j.Axis != (spatial.Vec3{X: 1}) || j.Origin != (Origin{}) {
		t.Errorf("joint %+v", j)
	}
	if l := j.Limit; l.Lower != 0 || l.Upper != 0 || l.Has != HasEffort|HasVelocity {
		t.Errorf("limit %+v", l)
	}
	if m := j.Mimic; m.Multiplier != 1 || m.Offset != 0 {
		t.Errorf("mimic %+v", m)
	}
}

func TestWhiteSpaceMarksAndOddNamesAreRead(t *testing.T) {
	doc := "\ufeff<?xml version='1.0' encoding='UTF-8'?>\r\n<robot name='Пони №1'>\r\n" +
		"<link name='left foot'/><link name='a/b:c.d-e'/><link name='&lt;tag&gt; &amp; &quot;'/><link name='脚'/>\r\n" +
		"<joint name='j 1' type='fixed'><parent link='left foot'/><child link='脚'/>" +
		"<origin xyz='\r\n\t+1  -2.5e-3\n.5 ' rpy=' 0\t0\r0'/></joint></robot>\r\n"
	d := mustParse(t, doc)
	if d.Name != "Пони №1" || d.Links[0].Name != "left foot" || d.Links[1].Name != "a/b:c.d-e" ||
		d.Links[2].Name != `<tag> & "` || d.Joints[0].Child != "脚" {
		t.Errorf("%+v", d)
	}
	if o := d.Joints[0].Origin.XYZ; o != (spatial.Vec3{X: 1, Y: -2.5e-3, Z: .5}) {
		t.Errorf("origin %v", o)
	}
}

func TestNumbers(t *testing.T) {
	mass := func(s string) string {
		return linkWith("<inertial><mass value='" + s + "'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>")
	}
	for s, want := range map[string]float64{
		"1": 1, "+1": 1, "-1": -1, "1.": 1, ".5": .5, "007": 7, "1e3": 1000, "1E+3": 1000, "1.5e-3": .0015, " 2\n": 2,
		"1e-400": 0, "-0": 0, "1.7976931348623157e308": math.MaxFloat64, "5e-324": 5e-324,
	} {
		if got := mustParse(t, mass(s)).Links[0].Inertial.Mass; got != want {
			t.Errorf("%q reads as %g", s, got)
		}
	}
	for s, why := range map[string]string{
		"": "1 number", "  ": "1 number", "1 2": "1 number", "NaN": "not finite", "nan": "not finite", "-Inf": "not finite",
		"+infinity": "not finite", "inf": "not finite", "1e999": "too large", "-1e309": "too large",
		"0x10": "not a number", "0x1p4": "not a number", "1_000": "not a number", "1,5": "not a number", "1f": "not a number",
		"--1": "not a number", "1e": "not a number", "e5": "not a number", ".": "not a number", "+": "not a number",
		"1e5.0": "not a number", "${pi}": "not a number", "one": "not a number", "1;2": "not a number", "\u00a01": "not a number",
		"１": "not a number", "1d3": "not a number",
	} {
		d, _, err := Parse([]byte(mass(s)), "f.urdf")
		var e *problem.Problem
		if !errors.As(err, &e) || e.Pos.Line != 3 || e.Excerpt != strings.ReplaceAll(s, "\n", " ") || !strings.Contains(e.Text, why) {
			t.Errorf("%q: %v", s, err)
		} else if d.Links[0].Inertial != nil {
			t.Errorf("%q: an inertial that could not be read is there", s)
		}
	}
}

// Each breach is one error, at that line, with that text and those words.
func TestErrors(t *testing.T) {
	const limit = "<limit effort='1' velocity='1'/>"
	for _, c := range []struct {
		rule, doc  string
		line       int
		text, word string
	}{
		{"root", "\n<sdf/>", 2, "<sdf>", "not <robot>"},
		{"root of another name space", "<x:robot xmlns:x='u' name='r'/>", 1, "<x:robot>", "not <robot>"},
		{"robot without name", "<robot>" + twoLinks + "</robot>", 1, "<robot>", "name is missing"},
		{"robot with empty name", "<robot name=' '>" + twoLinks + "</robot>", 1, `name=" "`, "empty"},
		{"version", "<robot name='r'\nversion='2.0'>" + twoLinks + "</robot>", 2, "2.0", "version"},
		{"after the robot", wrap(twoLinks) + "\n<link name='c'/>", 4, "<link name='c'/>", "after the end"},
		{"text after the robot", wrap(twoLinks) + "x", 3, "x", "after the end"},
		{"link without name", wrap("<link/>"), 2, "<link>", "name is missing"},
		{"material without name", wrap(twoLinks + "<material/>"), 2, "<material>", "name is missing"},
		{"two inertials", linkWith(inertial + "\n" + inertial), 4, "<inertial>", "on line 3"},
		{"inertial without mass", linkWith("<inertial><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"), 3, "<inertial>", "<mass> is missing"},
		{"inertial without inertia", linkWith("<inertial><mass value='1'/></inertial>"), 3, "<inertial>", "<inertia> is missing"},
		{"mass without value", linkWith(strings.Replace(inertial, "value='1'", "", 1)), 3, "<mass>", "value is missing"},
		{"inertia without izz", linkWith(strings.Replace(inertial, "izz='1'", "", 1)), 3, "<inertia>", "izz is missing"},
		{"inertia not a number", linkWith(strings.Replace(inertial, "ixy='0'", "\nixy='x'", 1)), 4, "x", "ixy of <inertia>"},
		{"origin with two numbers", linkWith("<visual><origin xyz='1 2'/><geometry><sphere radius='1'/></geometry></visual>"), 3, "1 2", "3 numbers"},
		{"origin with four numbers", linkWith("<visual><origin rpy='1 2 3 4'/><geometry><sphere radius='1'/></geometry></visual>"), 3, "1 2 3 4", "3 numbers"},
		{"two origins", linkWith("<visual><origin/><origin/><geometry><sphere radius='1'/></geometry></visual>"), 3, "<origin>", "one already"},
		{"two rotations", linkWith("<visual><origin rpy='0 0 0' quat_xyzw='0 0 0 1'/><geometry><sphere radius='1'/></geometry></visual>"), 3, "0 0 0 1", "both"},
		{"zero quaternion", linkWith("<visual><origin quat_xyzw='0 0 0 0'/><geometry><sphere radius='1'/></geometry></visual>"), 3, "0 0 0 0", "zero"},
		{"visual without geometry", linkWith("<visual/>"), 3, "<visual>", "<geometry> is missing"},
		{"collision without geometry", linkWith("<collision/>"), 3, "<collision>", "<geometry> is missing"},
		{"two geometries", linkWith("<collision><geometry><sphere radius='1'/></geometry>\n<geometry/></collision>"), 4, "<geometry>", "on line 3"},
		{"geometry without shape", shapeWith(""), 3, "<geometry>", "no shape"},
		{"geometry with two shapes", shapeWith("<sphere radius='1'/>\n<box size='1 1 1'/>"), 4, "<box>", "a shape already"},
		{"box without size", shapeWith("<box/>"), 3, "<box>", "size is missing"},
		{"negative box", shapeWith("<box size='1 -2 3'/>"), 3, "1 -2 3", "negative"},
		{"negative radius", shapeWith("<sphere radius='-1'/>"), 3, "-1", "radius of <sphere> is negative"},
		{"sphere without radius", shapeWith("<sphere/>"), 3, "<sphere>", "radius is missing"},
		{"negative length", shapeWith("<cylinder radius='1' length='-1'/>"), 3, "-1", "length of <cylinder> is negative"},
		{"cylinder without length", shapeWith("<cylinder radius='1'/>"), 3, "<cylinder>", "length is missing"},
		{"negative capsule", shapeWith("<capsule radius='1' length='-1'/>"), 3, "-1", "length of <capsule> is negative"},
		{"mesh without file", shapeWith("<mesh/>"), 3, "<mesh>", "filename is missing"},
		{"mesh with empty file", shapeWith("<mesh filename=''/>"), 3, `filename=""`, "empty"},
		{"mesh with one scale", shapeWith("<mesh filename='m' scale='2'/>"), 3, "2", "3 numbers"},
		{"colour of three", wrap(twoLinks + "<material name='m'><color rgba='1 1 1'/></material>"), 2, "1 1 1", "4 numbers"},
		{"colour of none", wrap(twoLinks + "<material name='m'><color/></material>"), 2, "<color>", "rgba is missing"},
		{"joint without name", wrap(twoLinks + "<joint type='fixed'><parent link='a'/><child link='b'/></joint>"), 2, "<joint>", "name is missing"},
		{"joint without type", wrap(twoLinks + "<joint name='j'><parent link='a'/><child link='b'/></joint>"), 2, "<joint name='j'>", "type is missing"},
		{"unknown type", wrap(twoLinks + "<joint name='j'\ntype='hinge'><parent link='a'/><child link='b'/></joint>"), 3, "hinge", "not one of fixed, revolute"},
		{"joint without parent", wrap(twoLinks + "<joint name='j' type='fixed'><child link='b'/></joint>"), 2, "<joint name='j'>", "<parent> is missing"},
		{"joint without child", wrap(twoLinks + "<joint name='j' type='fixed'><parent link='a'/></joint>"), 2, "<joint name='j'>", "<child> is missing"},
		{"parent without link", wrap(twoLinks + "<joint name='j' type='fixed'><parent/><child link='b'/></joint>"), 2, "<parent>", "link is missing"},
		{"two parents", jointWith(limit + "<parent link='a'/>"), 4, "<parent>", "on line 3"},
		{"two limits", jointWith(limit + limit), 4, "<limit>", "one already"},
		{"two axes", jointWith(limit + "<axis xyz='1 0 0'/><axis xyz='1 0 0'/>"), 4, "<axis>", "one already"},
		{"two safeties", jointWith(limit + "<safety_controller k_velocity='1'/><safety_controller k_velocity='1'/>"), 4, "<safety_controller>", "one already"},
		{"axis without xyz", jointWith(limit + "<axis/>"), 4, "<axis>", "xyz is missing"},
		{"limit not a number", jointWith("<limit lower='a' effort='1' velocity='1'/>"), 4, "a", "lower of <limit>: a is not a number"},
		{"limit not finite", jointWith("<limit upper='inf' effort='1' velocity='1'/>"), 4, "inf", "not finite"},
		{"negative acceleration", jointWith("<limit effort='1' velocity='1' acceleration='-1'/>"), 4, "-1", "acceleration of <limit> is negative"},
		{"dynamics not a number", jointWith(limit + "<dynamics damping='x'/>"), 4, "x", "damping of <dynamics>"},
		{"mimic without joint", jointWith(limit + "<mimic/>"), 4, "<mimic>", "joint is missing"},
		{"mimic not a number", jointWith(limit + "<mimic joint='k' multiplier='1 1'/>"), 4, "1 1", "1 number"},
		{"safety not a number", jointWith(limit + "<safety_controller k_velocity='nan'/>"), 4, "nan", "not finite"},
		{"calibration not a number", jointWith(limit + "<calibration falling='x'/>"), 4, "x", "falling of <calibration>"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, warnings, err := Parse([]byte(c.doc), "f.urdf")
			var e *problem.Problem
			if !errors.As(err, &e) || strings.Contains(err.Error(), "\n") || len(warnings) > 0 {
				t.Fatalf("error %v, warnings %v", err, warnings)
			}
			if e.Pos != (problem.Pos{File: "f.urdf", Line: c.line}) || e.Excerpt != c.text || !strings.Contains(e.Text, c.word) {
				t.Errorf("got %v, want line %d, text %q, words %q", e, c.line, c.text, c.word)
			}
		})
	}
}

const inertial = "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"

func TestAllErrorsAtOnce(t *testing.T) {
	d, warnings, err := Parse([]byte(`<robot name="r">
<link/>
<link name="a"><inertial><mass value="heavy"/></inertial></link>
<joint name="j" type="hinge">
  <limit lower="NaN" upper="1e999"/>
</joint>
<gazebo/>
</robot>`), "f.urdf")
	const want = `f.urdf:2: attribute name is missing: "<link>"
f.urdf:3: value of <mass>: heavy is not a number: "heavy"
f.urdf:3: element <inertia> is missing: "<inertial>"
f.urdf:4: type of <joint> is not one of fixed, revolute, continuous, prismatic, planar, floating: "hinge"
f.urdf:4: element <parent> is missing: "<joint name='j'>"
f.urdf:4: element <child> is missing: "<joint name='j'>"
f.urdf:5: lower of <limit>: NaN is not finite: "NaN"
f.urdf:5: upper of <limit>: 1e999 is too large: "1e999"`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if len(warnings) != 3 {
		t.Errorf("warnings %v", warnings)
	}
	if d == nil || len(d.Links) != 2 || len(d.Joints) != 1 || d.Joints[0].Limit == nil {
		t.Errorf("what could be read is not there: %+v", d)
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		rule, doc string
		want      []string
	}{
		{"unknown elements are counted", wrap(twoLinks + "\n<gazebo/><sensor/><gazebo><x/></gazebo>\n<ros2_control/><gazebo/>"), []string{
			"f.urdf:3: unknown element <gazebo> in <robot> (and 2 more)",
			"f.urdf:3: unknown element <sensor> in <robot>",
			"f.urdf:4: unknown element <ros2_control> in <robot>",
		}},
		{"unknown attributes", wrap("<link name='a'\ncolour='red'/><link name='b' colour='blue'/>"), []string{
			"f.urdf:3: unknown attribute colour of <link> (and 1 more)",
		}},
		{"unknown parts", jointWith("<limit effort='1' velocity='1' soft='2'><x/></limit><sping/>"), []string{
			"f.urdf:4: unknown attribute soft of <limit>",
			"f.urdf:4: unknown element <x> in <limit>",
			"f.urdf:4: unknown element <sping> in <joint>",
		}},
		{"text", wrap(twoLinks + "\n-->"), []string{`f.urdf:3: text in <robot> is not read: "-->"`}},
		{"unknown shape", shapeWith("<plane/>"), []string{
			"f.urdf:3: unknown element <plane> in <geometry>",
			"f.urdf:3: <geometry> without a shape of URDF is passed over",
		}},
		{"limit without effort and velocity", jointWith("<limit lower='1'/>"), []string{
			"f.urdf:4: <limit> without effort", "f.urdf:4: <limit> without velocity",
		}},
		{"safety without gain", jointWith("<limit effort='1' velocity='1'/><safety_controller/>"), []string{
			"f.urdf:4: <safety_controller> without k_velocity",
		}},
		{"material that is not there", linkWith("<visual><geometry><sphere radius='1'/></geometry><material name='m'/></visual>"), []string{
			`f.urdf:3: material "m" is not defined`,
		}},
		{"material twice", wrap(twoLinks + "<material name='m'/>\n<material name='m'/>"), []string{
			`f.urdf:3: material "m" is defined again: the first one counts`,
		}},
		{"several materials", linkWith("<visual><geometry><sphere radius='1'/></geometry><material name=''/><material name=''/></visual>"), []string{
			"f.urdf:3: <visual> with several materials: the first one counts",
		}},
		{"colour out of range", wrap(twoLinks + "<material name='m'><color rgba='0 0 255 1'/></material>"), []string{
			`f.urdf:2: colour is not between 0 and 1: "0 0 255 1"`,
		}},
		{"transmission without name", wrap(twoLinks + "<transmission/>"), []string{"f.urdf:2: <transmission> without a name"}},
		{"macro not expanded", "<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'>\n" + twoLinks + "<xacro:leg/></robot>", []string{
			"f.urdf:2: <xacro:leg> in <robot> is not expanded",
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, warnings, err := Parse([]byte(c.doc), "f.urdf")
			var got []string
			for _, w := range warnings {
				got = append(got, w.String())
			}
			if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("error %v, warnings\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestOtherNameSpacesAreNeverURDF(t *testing.T) {
	d := mustParse(t, `<robot name="r" xmlns:d="http://drake.mit.edu" d:name="x" d:version="9">
<d:link name="no"/><link name="a" d:x="1"><d:inertial/><gazebo xmlns="http://sdformat.org"><link name="no"/></gazebo></link>
<link name="b"/>
<joint name="j" type="revolute"><parent link="a"/><d:parent/><child link="b"/><d:limit lower="x"/>
<limit effort="1" velocity="1" d:acceleration="x"/></joint>
<transmission name="t" d:type="x"><d:y/><z>1</z></transmission></robot>`)
	if d.Name != "r" || len(d.Links) != 2 || d.Joints[0].Limit.Has != HasEffort|HasVelocity || len(d.Transmissions[0].Tree.Children) != 1 {
		t.Errorf("%+v", d)
	}
}

func TestDefaultNameSpaceOfTheRootIsURDFs(t *testing.T) {
	d := mustParse(t, `<robot name="r" xmlns="http://drake.mit.edu" xmlns:d="http://drake.mit.edu"><link name="a"/>
<d:link name="b"/><link xmlns="" name="c"/><link xmlns="other" name="no"/></robot>`)
	if len(d.Links) != 3 {
		t.Errorf("%+v", d.Links)
	}
}

func TestQuaternionBecomesAngles(t *testing.T) {
	for _, s := range []string{
		"0 0 0 1", "0 0 0 -2", "1 0 0 0", "0 1 0 0", "0 0 1 0", "0.5 0.5 0.5 0.5", "0.1 -0.2 0.3 0.9", "0 0.7071067811865476 0 0.7071067811865476",
		"0.3 -0.6403124237432849 0.3 0.6403124237432849", "0 1 0 1.0000000001", "1e-200 0 0 1e-200",
	} {
		var x [4]float64
		if _, err := fmt.Sscan(s, &x[0], &x[1], &x[2], &x[3]); err != nil {
			t.Fatal(err)
		}
		doc := linkWith("<collision><origin quat_xyzw='" + s + "'/><geometry><sphere radius='1'/></geometry></collision>")
		got := mustParse(t, doc).Links[0].Collisions[0].Origin.Pose().R
		q, _ := spatial.Quat{X: x[0], Y: x[1], Z: x[2], W: x[3]}.Unit()
		want := q.Matrix()
		for i := range got {
			if math.Abs(got[i]-want[i]) > tolAngles {
				t.Errorf("%s: %v, want %v", s, got, want)
				break
			}
		}
	}
}

// tolAngles is what rounding may do to a rotation matrix that goes through
// angles, near an upright pitch too (the threshold of angles).
const tolAngles = 2e-9

func TestShortestNumbersArePrinted(t *testing.T) {
	d := mustParse(t, jointWith("<limit lower='-0.10000' upper='1e-7' effort='100000000000000000000000' velocity='0.1'/>"))
	if got := string(d.Print()); !strings.Contains(got, `<limit lower="-0.1" upper="1e-07" effort="1e+23" velocity="0.1"/>`) {
		t.Error(got)
	}
}

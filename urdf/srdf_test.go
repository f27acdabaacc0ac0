package urdf

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"poise/problem"
	"poise/spatial"
)

const completeSRDF = `<robot name="complete">
  <group name="arm"><chain base_link="base" tip_link="tool"/></group>
  <group name="hand"><joint name="f1"/><joint name="f2"/><link name="palm"/></group>
  <group name="all"><group name="arm"/><group name="hand"/></group>
  <group_state name="home" group="arm"><joint name="j1" value="0.5"/><joint name="base" value="1 2 0.5"/></group_state>
  <group_state name="home" group="hand"/>
  <end_effector name="gripper" group="hand" parent_link="tool" parent_group="arm"/>
  <end_effector name="plain" group="hand" parent_link="tool"/>
  <virtual_joint name="world" type="planar" parent_frame="odom" child_link="base"/>
  <passive_joint name="wheel"/>
  <disable_default_collisions link="palm"/>
  <disable_collisions link1="a" link2="b" reason="Adjacent"/>
  <disable_collisions link1="a" link2="c"/>
  <enable_collisions link1="palm" link2="a" reason="User"/>
  <joint_property joint_name="j1" property_name="angular_distance_weight" value=""/>
  <link_sphere_approximation link="palm"><sphere center="1 2 3" radius="0.5"/></link_sphere_approximation>
</robot>`

func TestEverythingOfSRDFIsRead(t *testing.T) {
	s, warnings, err := ParseSRDF([]byte(completeSRDF), "f.srdf")
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	withoutPlaces(s)
	for i, pair := range [][2]any{
		{s.Groups, []Group{
			{Name: "arm", Chains: []Chain{{Base: "base", Tip: "tool"}}},
			{Name: "hand", Joints: []Ref{{Name: "f1"}, {Name: "f2"}}, Links: []Ref{{Name: "palm"}}},
			{Name: "all", Groups: []Ref{{Name: "arm"}, {Name: "hand"}}},
		}},
		{s.States, []GroupState{
			{Name: "home", Group: "arm", Joints: []JointValue{{Joint: "j1", Value: []float64{.5}}, {Joint: "base", Value: []float64{1, 2, .5}}}},
			{Name: "home", Group: "hand"},
		}},
		{s.EndEffectors, []EndEffector{
			{Name: "gripper", Group: "hand", ParentLink: "tool", ParentGroup: "arm"}, {Name: "plain", Group: "hand", ParentLink: "tool"},
		}},
		{s.VirtualJoints, []VirtualJoint{{Name: "world", Type: Planar, ParentFrame: "odom", ChildLink: "base"}}},
		{s.PassiveJoints, []Ref{{Name: "wheel"}}},
		{s.NoDefaultCollision, []Ref{{Name: "palm"}}},
		{s.Disabled, []LinkPair{{Link1: "a", Link2: "b", Reason: "Adjacent"}, {Link1: "a", Link2: "c"}}},
		{s.Enabled, []LinkPair{{Link1: "palm", Link2: "a", Reason: "User"}}},
		{s.Properties, []JointProperty{{Joint: "j1", Property: "angular_distance_weight"}}},
		{s.Spheres, []SphereModel{{Link: "palm", Spheres: []SphereAt{{Center: spatial.Vec3{X: 1, Y: 2, Z: 3}, Radius: .5}}}}},
	} {
		if got, want := fmt.Sprintf("%+v", pair[0]), fmt.Sprintf("%+v", pair[1]); got != want {
			t.Errorf("part %d:\n got %s\nwant %s", i, got, want)
		}
	}
}

func TestSRDFErrors(t *testing.T) {
	group := func(body string) string { return wrap("<group name='g'>\n" + body + "</group>") }
	const g = "<group name='g'><joint name='j'/></group>"
	for _, c := range []struct {
		rule, doc  string
		line       int
		text, word string
	}{
		{"root", "<group/>", 1, "<group>", "not <robot>"},
		{"robot without name", "<robot/>", 1, "<robot>", "name is missing"},
		{"group without name", wrap("<group><joint name='j'/></group>"), 2, "<group>", "name is missing"},
		{"two groups of one name", wrap(g + "\n" + g), 3, "g", "on line 2"},
		{"chain without base", group("<chain tip_link='t'/>"), 3, "<chain>", "base_link is missing"},
		{"chain without tip", group("<chain base_link='b'/>"), 3, "<chain>", "tip_link is missing"},
		{"joint without name", group("<joint/>"), 3, "<joint>", "name is missing"},
		{"link without name", group("<link name=''/>"), 3, `name=""`, "empty"},
		{"unknown subgroup", group("<group name='h'/>"), 3, "h", "not there"},
		{"group in itself", group("<group name='g'/>"), 3, "g > g", "contains itself"},
		{"ring of groups", wrap("<group name='a'><group name='b'/></group>\n<group name='b'><group name='c'/></group>\n<group name='c'><group name='a'/></group>"),
			4, "a > b > c > a", "contains itself"},
		{"state without name", wrap(g + "<group_state group='g'/>"), 2, "<group_state>", "name is missing"},
		{"state of unknown group", wrap(g + "\n<group_state name='s' group='h'/>"), 3, "h", "not there"},
		{"two states of one name", wrap(g + "<group_state name='s' group='g'/>\n<group_state name='s' group='g'/>"), 3, "s", "on line 2"},
		{"joint twice in a state", wrap(g + "<group_state name='s' group='g'><joint name='j' value='1'/>\n<joint name='j' value='1'/></group_state>"), 3, "j", "on line 2"},
		{"state without value", wrap(g + "<group_state name='s' group='g'><joint name='j'/></group_state>"), 2, "<joint name='j'>", "value is missing"},
		{"state with empty value", wrap(g + "<group_state name='s' group='g'><joint name='j' value=''/></group_state>"), 2, "", "1 number"},
		{"state with too many values", wrap(g + "<group_state name='s' group='g'><joint name='j' value='1 2 3 4 5 6 7 8'/></group_state>"), 2, "1 2 3 4 5 6 7 8", "7 numbers"},
		{"state not a number", wrap(g + "<group_state name='s' group='g'><joint name='j' value='1 inf'/></group_state>"), 2, "1 inf", "not finite"},
		{"end effector without group", wrap(g + "<end_effector name='e' parent_link='l'/>"), 2, "<end_effector name='e'>", "group is missing"},
		{"end effector without parent", wrap(g + "<end_effector name='e' group='g'/>"), 2, "<end_effector name='e'>", "parent_link is missing"},
		{"end effector of unknown group", wrap(g + "\n<end_effector name='e' group='h' parent_link='l'/>"), 3, "h", "not there"},
		{"end effector on unknown group", wrap(g + "\n<end_effector name='e' group='g' parent_link='l' parent_group='h'/>"), 3, "h", "not there"},
		{"two end effectors of one name", wrap(g + "<end_effector name='e' group='g' parent_link='l'/>\n<end_effector name='e' group='g' parent_link='l'/>"), 3, "e", "on line 2"},
		{"virtual joint of a wrong type", wrap("<virtual_joint name='v' type='revolute' parent_frame='w' child_link='b'/>"), 2, "revolute", "not one of fixed, planar, floating"},
		{"virtual joint without child", wrap("<virtual_joint name='v' type='fixed' parent_frame='w'/>"), 2, "<virtual_joint name='v'>", "child_link is missing"},
		{"two virtual joints of one name", wrap("<virtual_joint name='v' type='fixed' parent_frame='w' child_link='b'/>\n<virtual_joint name='v' type='fixed' parent_frame='w' child_link='b'/>"), 3, "v", "on line 2"},
		{"passive joint without name", wrap("<passive_joint/>"), 2, "<passive_joint>", "name is missing"},
		{"pair without second link", wrap("<disable_collisions link1='a'/>"), 2, "<disable_collisions>", "link2 is missing"},
		{"pair without first link", wrap("<enable_collisions link2='a'/>"), 2, "<enable_collisions>", "link1 is missing"},
		{"default of no link", wrap("<disable_default_collisions/>"), 2, "<disable_default_collisions>", "link is missing"},
		{"property without value", wrap("<joint_property joint_name='j' property_name='p'/>"), 2, "<joint_property>", "value is missing"},
		{"sphere without centre", wrap("<link_sphere_approximation link='l'><sphere radius='1'/></link_sphere_approximation>"), 2, "<sphere>", "center is missing"},
		{"negative sphere", wrap("<link_sphere_approximation link='l'><sphere center='0 0 0' radius='-1'/></link_sphere_approximation>"), 2, "-1", "negative"},
		{"after the robot", "<robot name='r'/>\n<group name='g'/>", 2, "<group name='g'/>", "after the end"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, _, err := ParseSRDF([]byte(c.doc), "f.srdf")
			var e *problem.Problem
			if !errors.As(err, &e) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v", err)
			}
			if e.Pos != (problem.Pos{File: "f.srdf", Line: c.line}) || e.Excerpt != c.text || !strings.Contains(e.Text, c.word) {
				t.Errorf("got %v, want line %d, text %q, words %q", e, c.line, c.text, c.word)
			}
		})
	}
}

func TestSRDFWarningsAndOtherNameSpaces(t *testing.T) {
	s, warnings, err := ParseSRDF([]byte("<robot name='r' xmlns:x='u'><x:group/>\n<group name='g' x:y=''><x:joint/><passive_joint name='j'/></group>\n<sensor/></robot>"), "f.srdf")
	const want = "[f.srdf:2: unknown element <passive_joint> in <group>; did you mean \"joint\"? f.srdf:2: group \"g\" is empty f.srdf:3: unknown element <sensor> in <robot>]"
	if err != nil || len(s.Groups) != 1 || fmt.Sprint(warnings) != want {
		t.Errorf("error %v\ngot  %v\nwant %s", err, warnings, want)
	}
}

func TestDiamondOfGroupsIsNoRing(t *testing.T) {
	if _, _, err := ParseSRDF([]byte(wrap("<group name='a'><group name='b'/><group name='c'/></group><group name='b'><group name='d'/></group>"+
		"<group name='c'><group name='d'/></group><group name='d'><joint name='j'/></group>")), "f"); err != nil {
		t.Error(err)
	}
}

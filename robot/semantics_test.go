package robot

import (
	"errors"
	"strings"
	"testing"

	"poise/urdf"
)

func TestLinksOfSRDFMustExist(t *testing.T) {
	for _, tc := range []struct{ name, body, fault, warning string }{
		{"sound", `<virtual_joint name="v" type="fixed" parent_frame="world" child_link="a"/><disable_collisions link1="a" link2="b"/>`, "", ""},
		{"end effector", `<group name="g"><joint name="j1"/></group><end_effector name="e" group="g" parent_link="x"/>`,
			`r.srdf:2: end effector "e": parent_link: link "x" does not exist`, ""},
		{"virtual joint", `<virtual_joint name="v" type="fixed" parent_frame="world" child_link="aa"/>`,
			`r.srdf:2: virtual joint "v": child_link: link "aa" does not exist; did you mean "a"?`, ""},
		{"disabled collision, twice", "<disable_collisions link1=\"a\" link2=\"gripper\"/>\n<disable_collisions link1=\"gripper\" link2=\"b\"/>",
			"", `r.srdf:2: link "gripper": its collisions are spoken of, but it does not exist`},
		{"enabled collision", `<enable_collisions link1="gripper" link2="a"/>`, "", `link "gripper"`},
		{"no default collision", `<disable_default_collisions link="gripper"/>`, "", `link "gripper"`},
		{"spheres", `<link_sphere_approximation link="gripper"/>`, "", `link "gripper"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, _, err := urdf.ParseSRDF([]byte("<robot name=\"r\">\n"+tc.body+"</robot>"), "r.srdf")
			if err != nil {
				t.Fatal(err)
			}
			tr, r, _ := read(t, arm)
			tr.checkSemantics(s, r)
			if err := r.Err(); tc.fault == "" && err != nil || tc.fault != "" && (!errors.Is(err, UnknownLink) || !strings.Contains(err.Error(), tc.fault)) {
				t.Errorf("error %v, want %q", err, tc.fault)
			}
			if tc.warning == "" && len(r.Warnings) > 0 || tc.warning != "" && (len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Error(), tc.warning)) {
				t.Errorf("warnings %v, want %q", r.Warnings, tc.warning)
			}
		})
	}
}

func TestSRDFOfAnotherRobotIsAWarning(t *testing.T) {
	tr, r, _ := read(t, arm)
	tr.checkSemantics(&urdf.Semantics{Name: "other"}, r)
	if r.Err() != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Error(), `the SRDF is of robot "other", the description of "r"`) {
		t.Errorf("errors %v, warnings %v", r.Err(), r.Warnings)
	}
}

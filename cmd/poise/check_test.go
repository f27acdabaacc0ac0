package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// save writes a file for a command to read.
func save(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

const elbow = `<robot name="elbow"><link name="a"/><link name="b"/>
<joint name="bend" type="revolute"><parent link="a"/><child link="b"/><limit lower="-1" upper="1" velocity="2" effort="3"/></joint></robot>`

func TestCheckJSON(t *testing.T) {
	file := save(t, filepath.Join(t.TempDir(), "elbow.urdf"), elbow)
	for _, args := range [][]string{{"check", file, "--json"}, {"check", "--json", file}, {"check", "-json", file}} {
		out, errs, code := poise("", args...)
		var got map[string]any
		if err := json.Unmarshal([]byte(out), &got); code != 0 || errs != "" || err != nil {
			t.Fatalf("%v: code %d, %v, %s%s", args, code, err, out, errs)
		}
		if got["nq"] != 1.0 || got["name"] != "elbow" {
			t.Errorf("%v: %s", args, out)
		}
		if !strings.HasPrefix(out, `{"success":true,"message":"elbow: 1 joints, 1 warnings",`) {
			t.Errorf("%v does not begin as every answer does: %s", args, out)
		}
		for _, key := range []string{"success", "message", "name", "nq", "nv", "mass", "joints", "mimic", "links", "groups", "cartesian_limits", "cycle_1_lacks", "warnings"} {
			if _, ok := got[key]; !ok {
				t.Errorf("%s is missing", key)
			}
		}
		if len(got) != 13 {
			t.Errorf("%d keys, want 13", len(got))
		}
	}
}

// told reads what a command that failed says to programs: nothing without --json.
func told(t *testing.T, args []string, out string) (a answered) {
	t.Helper()
	if !slices.Contains(args, "--json") {
		if out != "" {
			t.Errorf("%v prints %q", args, out)
		}
		return a
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil || !strings.HasPrefix(out, `{"success":false,"message":"`) {
		t.Errorf("%v: %v: %q", args, err, out)
	}
	return a
}

func TestCheckFloating(t *testing.T) {
	for _, tc := range []struct {
		args []string
		nq   string
	}{
		{[]string{"check", "pony", "--json"}, `"nq":45,"nv":44`},
		{[]string{"check", "pony", "--json", "--fixed"}, `"nq":38,"nv":38`},
		{[]string{"check", "arm6", "--json"}, `"nq":7,"nv":7`},
		{[]string{"check", "--floating", "arm6", "--json"}, `"nq":14,"nv":13`},
	} {
		if out, errs, code := poise("", tc.args...); code != 0 || !strings.Contains(out, tc.nq) {
			t.Errorf("%v: code %d, %.60s%s, want %s", tc.args, code, out, errs, tc.nq)
		}
	}
}

func TestCheckTable(t *testing.T) {
	out, errs, code := poise("", "check", "arm6")
	if code != 0 || errs != "" || !strings.HasPrefix(out, "arm6: fixed base, 7 joints") || !strings.Contains(out, "joint_limits.yaml:") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
}

func TestCheckTableOfThePony(t *testing.T) {
	out, _, code := poise("", "check", "pony")
	for _, want := range []string{
		"pony: floating base", "stands on hoof_flat", "mirrors leg2", "safe state: crouch then off", "none", "Poses: ",
		"hand-overs assume an acceleration", "leg1 *", "Followers:",
	} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("code %d: the table lacks %q:\n%s", code, want, out)
		}
	}
}

// TestCheckJudgesWalking: what robot.yaml says of walking, and legs cannot do, is told before the robot is served.
func TestCheckJudgesWalking(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pony")
	if err := os.CopyFS(dir, os.DirFS("../../robot/shipped/pony")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "robot.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for walking, want := range map[string]string{
		"{reach: 1}":                    "walking.reach 1 m is beyond 0.0391 m",
		"{gaits: {trot: {duty: 0.4}}}":  `gait "trot": at times 0 of 4 feet stand, and 2 are needed`,
		"{gaits: {trot: {duty: 0.55}}}": "",
	} {
		save(t, file, string(text)+"\nwalking: "+walking+"\n")
		_, errs, code := poise("", "check", dir)
		if want == "" && code != 0 || want != "" && (code != 1 || !strings.Contains(errs, want)) {
			t.Errorf("%s: code %d, %s, it should say %q", walking, code, errs, want)
		}
	}
}

func TestCheckListsEveryError(t *testing.T) {
	bad := strings.Replace(elbow, `lower="-1"`, `lower="2"`, 1)
	bad = strings.Replace(bad, `velocity="2"`, `velocity="-2"`, 1)
	bad = strings.Replace(bad, `<link name="b"/>`, `<link name="b"><inertial><mass value="-1"/><inertia ixx="-1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>`, 1)
	file := save(t, filepath.Join(t.TempDir(), "elbow.urdf"), bad)
	for _, args := range [][]string{{"check", file}, {"check", file, "--json"}} {
		out, errs, code := poise("", args...)
		if code != 1 || strings.Count(errs, "poise: check: ") != 4 {
			t.Errorf("%v: code %d, %s\n%s", args, code, out, errs)
		}
		if said := told(t, args, out); len(args) == 3 && (said.Success || strings.Count(said.Message, "\n") != 3) {
			t.Errorf("%v: %+v", args, said)
		}
		for _, want := range []string{"mass -1 kg is negative", "inertia is not positive", "lower limit 2 is above the upper limit 1", "velocity limit -2 is negative", "elbow.urdf:2"} {
			if !strings.Contains(errs, want) {
				t.Errorf("%v: %s lacks %s", args, errs, want)
			}
		}
	}
}

func TestCheckLimits(t *testing.T) {
	dir := t.TempDir()
	file := save(t, filepath.Join(dir, "elbow.urdf"), elbow)
	fast := save(t, filepath.Join(dir, "fast.yaml"), "joint_limits: {bend: {max_velocity: 5}}\n")
	if _, errs, code := poise("", "check", file, "--limits", fast); code != 1 || !strings.Contains(errs, `joint "bend": velocity limit 5`) || !strings.Contains(errs, "looser than 2") {
		t.Errorf("code %d, %s", code, errs)
	}
	if out, errs, code := poise("", "check", file, "--limits", fast, "--override-limits", "--json"); code != 0 || !strings.Contains(out, `"velocity":5`) || !strings.Contains(out, "fast.yaml:1") {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
	tip := save(t, filepath.Join(dir, "tip.yaml"), "cartesian_limits: {max_trans_vel: 1, max_trans_acc: 2, max_trans_dec: -3, max_rot_vel: 4}\n")
	if out, errs, code := poise("", "check", file, "--cartesian-limits="+tip, "--json"); code != 0 || !strings.Contains(out, `"cartesian_limits":{"max_trans_vel":1`) {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
}

// TestWriteLimits goes the whole way: propose, save, load.
func TestWriteLimits(t *testing.T) {
	dir := t.TempDir()
	file := save(t, filepath.Join(dir, "elbow.urdf"), elbow)
	out, errs, code := poise("", "check", file, "--write-limits")
	if code != 0 || errs != "" || !strings.Contains(out, "to be accepted by a person") {
		t.Fatalf("code %d, %s%s", code, out, errs)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Error("a proposal was written without being asked for")
	}
	accepted := save(t, filepath.Join(dir, "joint_limits.yaml"), out)
	out, errs, code = poise("", "check", file, "--json", "--limits", accepted)
	if code != 0 || !strings.Contains(out, `"acceleration":4,"deceleration":-4,"jerk":40`) {
		t.Errorf("code %d, %s%s", code, out, errs)
	}
}

func TestCheckXacro(t *testing.T) {
	text := `<robot name="elbow" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="v" default="2"/><link name="a"/><link name="b"/>
<joint name="bend" type="revolute"><parent link="a"/><child link="b"/><limit lower="-1" upper="1" velocity="$(arg v)" effort="$(optenv POISE_TEST_EFFORT 3)"/></joint></robot>`
	file := save(t, filepath.Join(t.TempDir(), "elbow.xacro"), text)
	t.Setenv("POISE_TEST_EFFORT", "7")
	for _, args := range [][]string{{"check", file, "v:=5", "--json"}, {"check", "--json", file, "v:=5"}} {
		if out, errs, code := poise("", args...); code != 0 || !strings.Contains(out, `"velocity":5,"effort":7`) {
			t.Errorf("%v: code %d, %s%s", args, code, out, errs)
		}
	}
}

// TestCheckFindsPackages of ROS 1 and of ROS 2 by the environment, or where it
// is told.
func TestCheckFindsPackages(t *testing.T) {
	ros1, ros2 := t.TempDir(), t.TempDir()
	for _, dir := range []string{filepath.Join(ros1, "one"), filepath.Join(ros2, "share", "two")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		save(t, filepath.Join(dir, "a.stl"), "solid")
	}
	file := save(t, filepath.Join(t.TempDir(), "r.urdf"), `<robot name="r"><link name="a"><visual><geometry><mesh filename="package://one/a.stl"/></geometry></visual>
<visual><geometry><mesh filename="package://two/a.stl"/></geometry></visual></link></robot>`)
	for _, tc := range []struct {
		ros1, ros2, flag string
		missing          int
	}{
		{"", "", "", 2}, {ros1, "", "", 1}, {"", ros2, "", 1}, {ros1, ros2, "", 0}, {ros1, ros2, ros1, 1},
		{"", "", ros1 + string(filepath.ListSeparator) + ros2, 0},
	} {
		t.Setenv("ROS_PACKAGE_PATH", tc.ros1)
		t.Setenv("AMENT_PREFIX_PATH", tc.ros2)
		args := []string{"check", "--json", file}
		if tc.flag != "" {
			args = append(args, "--package-path", tc.flag)
		}
		out, errs, code := poise("", args...)
		if got := strings.Count(out, "is missing"); code != 0 || got != tc.missing {
			t.Errorf("%+v: %d meshes are missing, code %d\n%s%s", tc, got, code, out, errs)
		}
	}
}

func TestCheckUsage(t *testing.T) {
	for _, args := range [][]string{
		{"check"}, {"check", "arm6", "pony"}, {"check", "arm6", "--floating", "--fixed"}, {"check", "arm6", "--nope"}, {"check", "arm6", "--json", "--write-limits"},
		{"check", "missing.urdf", "--json", "--write-limits"}, {"check", "missing.urdf", "pony"}, {"check", "arm6", ":=2"}, {"check", "arm6", "a:=b:=c"},
	} {
		out, errs, code := poise("", args...)
		if code != 2 || !strings.HasPrefix(errs, "poise: check: ") {
			t.Errorf("%v: code %d, %s%s", args, code, out, errs)
		}
		if said := told(t, args, out); said.Success || slices.Contains(args, "--json") && said.Message == "" {
			t.Errorf("%v: %s", args, out)
		}
	}
	if _, errs, code := poise("", "check", "missing"); code != 1 || !strings.HasPrefix(errs, `poise: check: robot "missing": `) {
		t.Errorf("code %d, %s", code, errs)
	}
}

// TestCheckSaysWhatCycleOneLacks: masses and servo models, by joint and with the place where they are
// written down; nothing of a robot that has them.
func TestCheckSaysWhatCycleOneLacks(t *testing.T) {
	const joint = `<joint name="%s" type="revolute"><parent link="%s"/><child link="%s"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" velocity="5" effort="9"/></joint>`
	const mass = `<inertial><mass value="1"/><inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial>`
	robot := func(arm, hand string) string {
		return `<robot name="r"><link name="base"/><link name="arm">` + arm + `</link><link name="hand">` + hand + `</link>` +
			fmt.Sprintf(joint, "swing", "base", "arm") + fmt.Sprintf(joint, "wrist", "arm", "hand") + `</robot>`
	}
	for _, c := range []struct {
		urdf, yaml string
		want       []string
	}{
		{robot("", ""), "", []string{"a mass behind joint swing, wrist: inertial in the URDF", "a servo model of joint swing, wrist: servo_models in robot.yaml"}},
		{robot(mass, ""), "", []string{"a mass behind joint wrist: inertial in the URDF", "a servo model of joint swing, wrist: servo_models in robot.yaml"}},
		{robot("", mass), "servos: {swing: {id: 2, type: other}, wrist: {id: 1, type: s}}\nservo_models: {s: {kp: 100, voltage: 12, parameters: {a3: 235}}}\n", []string{"a servo model of joint swing: servo_models in robot.yaml"}},
		{robot(mass, mass), "servos: {swing: {id: 2, type: s}, wrist: {id: 1, type: s}}\nservo_models: {s: {kp: 100, voltage: 12, parameters: {a3: 235}}}\n", nil},
	} {
		dir := t.TempDir()
		save(t, filepath.Join(dir, "r.urdf"), c.urdf)
		save(t, filepath.Join(dir, "robot.yaml"), "name: r\nurdf: r.urdf\n"+c.yaml)
		out, errs, code := poise("", "check", dir)
		for _, want := range c.want {
			if code != 0 || !strings.Contains(out, "cycle 1 lacks "+want) {
				t.Errorf("code %d, without %q:\n%s%s", code, want, out, errs)
			}
		}
		if whole := strings.Contains(out, "cycle 1 has all it needs"); whole != (c.want == nil) {
			t.Errorf("it has all: %v, lacks %q:\n%s", whole, c.want, out)
		}
		var told struct {
			Lacks []string `json:"cycle_1_lacks"`
		}
		out, _, _ = poise("", "check", dir, "--json")
		if err := json.Unmarshal([]byte(out), &told); err != nil || !slices.Equal(told.Lacks, c.want) {
			t.Errorf("%v: %q, want %q", err, told.Lacks, c.want)
		}
	}
}

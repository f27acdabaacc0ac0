package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNewRobot: a robot of one's own is looked at, set up, named otherwise and set up
// again; what is there stays.
func TestNewRobot(t *testing.T) {
	dir := t.TempDir()
	file := save(t, filepath.Join(dir, "elbow.urdf"), elbow)
	about := filepath.Join(dir, "robot.yaml")

	out, errs, code := poise("", "new-robot", file, "--dry-run")
	if code != 0 || errs != "" || !strings.Contains(out, "# How it is built.\nurdf: elbow.urdf\n") || !strings.Contains(out, "PROPOSED: full speed in 0.5 s") {
		t.Fatalf("dry run: code %d, %s%s", code, out, errs)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Fatalf("a dry run wrote %v", left)
	}
	out, errs, code = poise("", "new-robot", file, "--rename", "bend=bender", "--floating")
	if code != 0 || !strings.Contains(out, "wrote joint_limits.yaml and robot.yaml in "+dir) || !strings.Contains(out, "poise serve --robot "+dir) {
		t.Fatalf("code %d, %s%s", code, out, errs)
	}
	before, err := os.ReadFile(about)
	if err != nil || !strings.Contains(string(before), "base: floating") {
		t.Fatalf("%v: %s", err, before)
	}
	for _, robot := range []string{dir, file} {
		if out, _, code = poise("", "check", robot); code != 0 || !strings.Contains(out, "bender") {
			t.Errorf("check %s: code %d, %s", robot, code, out)
		}
	}
	out, _, code = poise("", "new-robot", file, "--json")
	var got struct {
		Success   bool     `json:"success"`
		Message   string   `json:"message"`
		Added     []string `json:"added"`
		Kept      []string `json:"kept"`
		RobotYAML string   `json:"robot_yaml"`
		Proposal  struct {
			Limbs []struct{ Name string } `json:"limbs"`
		} `json:"proposal"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 || !got.Success || len(got.Added) > 0 || len(got.Kept) < 6 || got.RobotYAML != string(before) || len(got.Proposal.Limbs) != 1 {
		t.Errorf("a second time: code %d, %v, %s", code, err, out)
	}
	if after, _ := os.ReadFile(about); string(after) != string(before) {
		t.Errorf("it was written again:\n%s", after)
	}
	for want, args := range map[string][]string{
		"comes with poise":          {"pony"},
		"no such file":              {filepath.Join(dir, "no.urdf")},
		`did you mean "bend"`:       {file, "--rename", "Bend=x"},
		"a limb and its new name":   {file, "--rename", "bend"},
		"which robot?":              {},
		"is too much":               {file, file},
		"exclude each other":        {file, "--fixed", "--floating"},
		"only xacro files take arg": {file, "a:=b"},
	} {
		_, errs, code := poise("", append([]string{"new-robot"}, args...)...)
		if code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%v: code %d, %s, want %s", args, code, errs, want)
		}
	}
}

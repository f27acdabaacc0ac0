package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"poise/internal/golden"
)

// genpyGoal lets genpy write or read a serialised goal, and returns its JSON.
func genpyGoal(t *testing.T, verb, path string) (tree any) {
	t.Helper()
	if out, err := exec.Command("/usr/bin/python3", "-c", "import genpy.dynamic").CombinedOutput(); err != nil {
		golden.Missing(t, "Debian's genpy is missing; tools/setup.sh installs it: %s", out)
	}
	definition, errs, code := poise("", "interface", "show", "--ros1", "--full", "control_msgs/FollowJointTrajectoryGoal")
	if code != 0 {
		t.Fatal(errs)
	}
	cmd := exec.Command("/usr/bin/python3", filepath.Join(golden.Root(t), "tools/peers/ros1/stored.py"), verb, path)
	cmd.Stdin = strings.NewReader(definition)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	if err := json.Unmarshal(out, &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestMotionsAreStoredAsROS1Serialises imports what genpy serialised, and lets it read what
// is exported: the same bytes.
func TestMotionsAreStoredAsROS1Serialises(t *testing.T) {
	tmp := t.TempDir()
	file := filepath.Join(tmp, "wave.goal")
	want := genpyGoal(t, "write", file)
	dir := filepath.Join(tmp, "motions")
	if out, errs, code := poise("", "motions", "import", file, "--dir", dir); code != 0 || errs != "" || !strings.HasPrefix(out, "wave: 4 points, 2 joints, 1 supports") {
		t.Fatal(code, out, errs)
	}
	back := filepath.Join(tmp, "back")
	if _, errs, code := poise("", "motions", "export", "wave", "--goal", "--ros1", "-o", back, "--dir", dir); code != 0 {
		t.Fatal(errs)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(back)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("%v: %d bytes became %d others", err, len(before), len(after))
	}
	if got := genpyGoal(t, "read", back); !reflect.DeepEqual(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}

	// what is cut off, or has no number, is refused
	for what, c := range map[string]struct {
		data []byte
		says string
	}{
		"cut":     {before[:len(before)-3], "not a serialised FollowJointTrajectoryGoal"},
		"longer":  {append(bytes.Clone(before), 0), "not a serialised FollowJointTrajectoryGoal"},
		"no goal": {make([]byte, 20), "not a serialised FollowJointTrajectoryGoal"},
		"NaN":     {bytes.Replace(before, []byte("\x55\x55\x55\x55\x55\x55\xd5\x3f"), []byte("\x00\x00\x00\x00\x00\x00\xf8\x7f"), 1), "positions[0]"},
	} {
		bad := filepath.Join(tmp, "bad")
		if err := os.WriteFile(bad, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, errs, code := poise("", "motions", "import", bad, "--dir", dir); code != 1 || !strings.Contains(errs, c.says) {
			t.Errorf("%s: exit %d: %s%s", what, code, out, errs)
		}
	}
	if _, errs, code := poise("", "motions", "export", "wave", "--ros1", "--dir", dir); code != 2 || !strings.Contains(errs, "--ros1 only with --goal") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

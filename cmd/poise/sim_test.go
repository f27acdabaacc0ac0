package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const standScenario = `duration: 0.3
start: {pose: stand}
servos: {all: {kp: 20, kd: 0.3, armature: 0.009}}
vary: {mass: 0.05}
expect:
  - {name: stands, what: fallen, is: false}
  - {name: exact, what: joint_rms, max: 0.02}
`

// TestSim: report, trace and picture of a run; the exit code says whether all is met.
func TestSim(t *testing.T) {
	dir := t.TempDir()
	file := save(t, filepath.Join(dir, "stand.yaml"), standScenario)
	report, trace, picture := filepath.Join(dir, "r.json"), filepath.Join(dir, "t.jsonl"), filepath.Join(dir, "p.svg")
	out, errs, code := poise("", "sim", "pony", file, "--seeds", "2", "--report", report, "--trace", trace, "--plot", picture)
	if code != 0 || errs != "" || !strings.Contains(out, "pass  stands") {
		t.Fatalf("code %d, %s%s", code, out, errs)
	}
	var r struct {
		Fallen   bool     `json:"fallen"`
		FellAt   *float64 `json:"fell_at"`
		Factor   float64  `json:"realtime_factor"`
		Criteria []struct {
			Name         string
			Value, Limit any
			Pass         bool
		} `json:"criteria"`
		Figures map[string]map[string]float64 `json:"figures"`
		Seeds   []any                         `json:"seeds"`
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if r.Fallen || r.FellAt != nil || r.Factor <= 0 || len(r.Criteria) != 2 || !r.Criteria[1].Pass || r.Figures["base.z"]["last"] < 0.2 || len(r.Seeds) != 2 {
		t.Errorf("%s", text)
	}
	lines, err := os.Open(trace)
	if err != nil {
		t.Fatal(err)
	}
	defer lines.Close()
	n := 0
	for scan := bufio.NewScanner(lines); scan.Scan(); n++ {
		var f struct{ T float64 }
		if err := json.Unmarshal(scan.Bytes(), &f); err != nil || f.T != float64(n)/100 {
			t.Fatalf("line %d: %v, %s", n, err, scan.Text())
		}
	}
	if n != 31 {
		t.Errorf("%d lines of trace, want 31", n)
	}
	if svg, err := os.ReadFile(picture); err != nil || !strings.Contains(string(svg), "base.z") {
		t.Errorf("picture: %v", err)
	}

	hard := save(t, filepath.Join(dir, "hard.yaml"), strings.Replace(standScenario, "max: 0.02", "max: 1e-9", 1))
	if out, _, code := poise("", "sim", "pony", hard); code != 1 || !strings.Contains(out, "FAIL  exact") {
		t.Errorf("code %d, %s", code, out)
	}
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"sim", "pony"}, 2, "one SCENARIO"},
		{[]string{"sim", "pony", file, "--seeds", "0"}, 2, "--seeds 0"},
		{[]string{"sim", "pony", file, "--plot", "x.pdf"}, 2, "--plot"},
		{[]string{"sim", "pony", save(t, filepath.Join(dir, "bad.yaml"), "duration: 1\nfoo: 1")}, 1, `bad.yaml:2: unknown key "foo"`},
	} {
		if _, errs, code := poise("", tc.args...); code != tc.code || !strings.Contains(errs, tc.want) {
			t.Errorf("%v: code %d, %s", tc.args, code, errs)
		}
	}
}

// TestSimThatBreaksOff: a run that nothing can have ends with its time, exit code 1, and what
// there is of its trace.
func TestSimThatBreaksOff(t *testing.T) {
	dir := t.TempDir()
	urdf := save(t, filepath.Join(dir, "grain.urdf"), `<robot name="grain"><link name="grain"><inertial><mass value="0.001"/>
<inertia ixx="1e-8" iyy="1e-8" izz="1e-8" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><sphere radius="0.005"/></geometry></collision></link></robot>`)
	file := save(t, filepath.Join(dir, "shot.yaml"), "duration: 1\ndo: [{at: 0.1, push: {link: grain, force: [0, 0, 1e5], for: 0.5}}]")
	trace := filepath.Join(dir, "t.jsonl")
	_, errs, code := poise("", "sim", urdf, file, "--floating", "--trace", trace)
	if code != 1 || !strings.Contains(errs, "simulation ended at 0.1 s: diverged") {
		t.Errorf("code %d, %s", code, errs)
	}
	if text, err := os.ReadFile(trace); err != nil || strings.Count(string(text), "\n") != 11 {
		t.Errorf("%d lines of trace: %v", strings.Count(string(text), "\n"), err)
	}
}

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hiddenServos are those that the arm of TestIdentOnARunningRobot really has, and is not said to have.
const hiddenServos = "sts3215: {kp: 200, voltage: 7.4, effort: 1.9, resolution: 0.001534, parameters: {a0: 1.2, a1: 26, a2: 5.5, a3: 130}}\n"

// TestIdentOnARunningRobot: poise ident --execute looks first, moves a joint of a server's robot, and tells its verdict as
// poise ident LOG does of the log that it leaves; the model is in force then. Refusals name the thing, and nothing moves.
func TestIdentOnARunningRobot(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("absent: time for a whole identification")
	}
	folder := t.TempDir()
	truth, kept := filepath.Join(folder, "truth.yaml"), filepath.Join(folder, "identified")
	if err := os.WriteFile(truth, []byte(hiddenServos), 0o600); err != nil {
		t.Fatal(err)
	}
	r := serveIt(t, "--no-record", "--config", writtenFile(t, fmt.Sprintf("robot: so101\nloop: {silence: 600, period: 0.01}\nfaults: {cycle_gap: {severity: ignore}, overrun: {severity: ignore}}\n"+
		"identified: %q\nrobots: [{name: arm, driver: physics, settings: {servos: %q, delay: 0.015}}]\n", kept, truth)))
	version := func() string {
		return r.do("version", "topic", "echo", "/servo_models_state", "--count", "1", "--json")
	}
	before := version()
	r.fails(1, `"wing"`, "ident", "--execute", "wing")
	r.fails(1, "amplitude is 4 rad, must be 0.06 … 1.5", "ident", "--execute", "wrist_flex", "--amplitude", "4")
	r.fails(1, `mounting is "glued"`, "ident", "--execute", "wrist_flex", "--mounting", "glued")
	for _, args := range [][]string{{"--execute"}, {"--execute", "wrist_flex", "--holdout", "x.csv"}, {"--execute", "wrist_flex", "-o", "m.yaml"}, {"--duration", "20", "x.csv"}, {"--pre-flight", "x.csv"}} {
		r.fails(exitUsage, "", append([]string{"ident"}, args...)...)
	}
	if out := r.do(`"plan":[{"joint":"wrist_flex"`, "ident", "--execute", "wrist_flex", "--pre-flight"); !strings.Contains(out, `"name":"temperature"`) || version() != before {
		t.Errorf("pre-flight: %s", out)
	}
	if logs, _ := os.ReadDir(kept); len(logs) > 0 {
		t.Errorf("what was refused or only looked at left %v", logs)
	}
	r.do("done", "call", "physics/set_speed", `{"speed": 20}`)
	out := r.do(`"joint":"wrist_flex"`, "ident", "--execute", "wrist_flex", "--duration", "15", "--json")
	r.do("done", "call", "physics/set_speed", `{"speed": 1}`)
	found := identifiedIn(t, out)
	if len(found) != 1 || !*found[0].Accepted || !strings.Contains(out, `"published":true,"version":2`) {
		t.Fatalf("%s", out)
	}
	for name, want := range map[string]float64{"a1": 26, "a3": 130} {
		if got := found[0].Parameters[name]; !(math.Abs(got/want-1) < 0.03) {
			t.Errorf("%s is %g, want %g", name, got, want)
		}
	}
	if after := version(); after == before || !strings.Contains(strings.ReplaceAll(after, " ", ""), `"version":2`) {
		t.Errorf("in force: %s", after)
	}
	logs, err := filepath.Glob(filepath.Join(kept, "arm-*-wrist_flex.csv"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("%v, %v", logs, err)
	}
	out, errs, code := poise("", "ident", logs[0], "--robot", "so101", "--joint", "wrist_flex", "--json")
	again := identifiedIn(t, out)
	if code != 0 || errs != "" || len(again) != 1 || !*again[0].Accepted || !(math.Abs(again[0].Parameters["a1"]/found[0].Parameters["a1"]-1) < 1e-3) {
		t.Errorf("poise ident of the log: %d %s %s, by --execute %v", code, errs, out, found[0].Parameters)
	}
}

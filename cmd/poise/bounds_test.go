//go:build linux

package main

import (
	"os"
	"strings"
	"testing"
)

// TestAWrongZeroMovesNothing: a robot.yaml without the zero of the gripper puts it beyond its limits; it gets no torque by
// its name nor with all others, the words say where it stands and what would do, and no servo has moved it. A zero that
// no servo can read is refused.
func TestAWrongZeroMovesNothing(t *testing.T) {
	t.Parallel()
	needsProgram(t)
	arm := servosOfFamily(t, "feetech")
	e := emulateIt(t, "feetech", "--robot", arm)
	zero := func(old, new string) {
		t.Helper()
		text, err := os.ReadFile(arm + "/robot.yaml")
		if err != nil || !strings.Contains(string(text), old) {
			t.Fatalf("%v: %s", err, text)
		}
		if err := os.WriteFile(arm+"/robot.yaml", []byte(strings.Replace(string(text), old, new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	zero(", zero: 1533}", ", zero: 15330}")
	if code, out, errs := runWords("serve", "--robot", arm, "--bus", e.port, "--listen", "127.0.0.1:0", "--no-record"); code == exitOK ||
		!strings.Contains(errs, `joint "gripper": servo 6`) || !strings.Contains(errs, "zero 15330: a sts3215 reads 0 … 4095") {
		t.Errorf("a zero of 15330: code %d, %s%s", code, out, errs)
	}
	zero(", zero: 15330}", "}")
	r := serveThrough(t, nil, nil, "--robot", arm, "--bus", e.port, "--no-record", "--config", writtenFile(t, slowWorld))
	for _, words := range [][]string{{"torque", "on", "gripper", "--robot", "real"}, {"torque", "on", "--robot", "real"}} {
		r.fails(exitFailure, "joint gripper stands at 2.35", words...)
		_, errs, _ := r.cli(words...)
		for _, want := range []string{"limits of -0.17", "1.75", "so it gets none", "poise bus calibrate"} {
			if !strings.Contains(errs, want) {
				t.Errorf("%v: no %q in %s", words, want, errs)
			}
		}
	}
	e.after(0.3)
	if text := e.text(); strings.Contains(text, "torque on") || strings.Contains(text, "violation") {
		t.Error("a servo got torque")
	}
	r.until("the others have torque", func() bool {
		_, _, code := r.cli("torque", "on", "shoulder_pan", "--robot", "real")
		return code == exitOK
	})
}

// TestARobotWithoutOneServo is used with the others: torque on succeeds and does not advise the joint whose servo is
// missing, which is told so by its name.
func TestARobotWithoutOneServo(t *testing.T) {
	t.Parallel()
	needsProgram(t)
	arm := servosOfFamily(t, "feetech")
	e := emulateIt(t, "feetech", "--robot", arm, "--joints", "shoulder_pan,shoulder_lift,elbow_flex,wrist_flex,wrist_roll")
	robots := "\nrobots:\n  - {name: real, driver: bus, start: limp, settings: {lines: [" + e.port + "], partial: true}}\n"
	r := serveThrough(t, nil, nil, "--robot", arm, "--no-record", "--config", writtenFile(t, slowWorld+robots))
	r.until("the others have torque", func() bool {
		_, _, code := r.cli("torque", "on")
		return code == exitOK
	})
	r.fails(exitFailure, "its servo was missing when the robot was opened", "torque", "on", "gripper")
	if out, _, _ := r.cli("state"); !strings.Contains(out, "missing  gripper") || strings.Contains(out, "limp") {
		t.Errorf("poise state:\n%s", out)
	}
	if _, errs, _ := r.cli("torque", "on", "gripper"); strings.Contains(errs, "try:") {
		t.Error(errs)
	}
}

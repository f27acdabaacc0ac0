//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestARecordedMovementAndAnInertialUnit: on emulated servos, the movement of a hand is recorded from Enter to Enter and is a
// motion that plays; the inertial unit of robot.yaml is on the graph as real/imu.
func TestARecordedMovementAndAnInertialUnit(t *testing.T) {
	t.Parallel()
	needsProgram(t)
	arm := servosOfFamily(t, "feetech")
	e := emulateIt(t, "feetech", "--robot", arm, "--imu", "wit")
	yaml, err := os.OpenFile(arm+"/robot.yaml", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = yaml.WriteString("imu: {port: " + e.port + "-imu, type: wit}\n")
	if err := yaml.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := serveThrough(t, nil, nil, "--robot", arm, "--bus", e.port, "--no-record", "--config", writtenFile(t, slowWorld))

	out := r.do("linear_acceleration", "topic", "echo", "real/imu", "--count", "1", "--json")
	var felt struct {
		Orientation        struct{ W float64 }       `json:"orientation"`
		LinearAcceleration struct{ X, Y, Z float64 } `json:"linear_acceleration"`
	}
	if err := json.Unmarshal([]byte(strings.TrimSpace(out)), &felt); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if a := felt.LinearAcceleration; math.Abs(a.Z-9.81) > 0.05 || math.Hypot(a.X, a.Y) > 0.05 || felt.Orientation.W < 0.99 {
		t.Errorf("the unit of an arm that stands measures %+v", felt)
	}

	rows := recordWave(t, r, e)
	least, most := math.Inf(1), math.Inf(-1)
	for _, q := range rows {
		least, most = min(least, q), max(most, q)
	}
	if len(rows) < 4 || least > -0.25 || most < 0.25 || most-least > 2 {
		t.Errorf("a wave of ±0.4 rad is recorded as %d rows from %.2f to %.2f", len(rows), least, most)
	}
	r.fails(exitFailure, "has no torque", "play", "wave_by_hand", "--robot", "real")
	e.hand("wrist_roll free")
	r.until("it has torque and plays", func() bool {
		_, _, code := r.cli("torque", "on", "--robot", "real")
		return code == exitOK
	})
	r.until("it plays", func() bool {
		out, errs, code := r.cli("play", "wave_by_hand", "--robot", "real", "--speed", "100")
		if strings.Contains(errs, "its limit is") {
			t.Fatal(errs)
		}
		if strings.Contains(errs, "a fault holds joint") { // servos that a busy machine keeps from answering
			_, _, _ = r.cli("reset", "--robot", "real")
			_, _, _ = r.cli("torque", "on", "--robot", "real")
		}
		return code == exitOK && strings.Contains(out, "done")
	})
	if strings.Contains(e.text(), "violation") {
		t.Error("a servo was told what it must not be told")
	}
}

// recordWave records a hand that moves the wrist to and fro, and returns the wrist's positions.
func recordWave(t *testing.T, r *running, e *emulating) (rows []float64) {
	t.Helper()
	typed, keys := io.Pipe()
	var words bytes.Buffer
	cmd := exec.Command(r.path, "teach", "wave_by_hand", "--record", "--robot", "real", "--server", r.address)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = typed, &words, &words
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	press := func() {
		if _, err := io.WriteString(keys, "\n"); err != nil {
			t.Fatal(err)
		}
	}
	there := func(at string) {
		before := strings.Count(e.text(), `"event":"hand"`)
		e.hand("wrist_roll " + at)
		e.until("the hand is there", func(log string) bool { return strings.Count(log, `"event":"hand"`) > before })
	}
	press()
	for _, at := range []string{"0.4", "-0.4", "0.4"} {
		there(at)
		e.after(0.5)
	}
	press()
	keys.Close()
	if err := cmd.Wait(); err != nil || !strings.Contains(words.String(), "wave_by_hand: ") {
		t.Fatalf("%v: %s", err, words.String())
	}
	text := r.do("wave_by_hand", "call", "/motions/get", `{"name": "wave_by_hand"}`, "--json")
	var got struct {
		Motion struct {
			Columns []string `json:"columns"`
			Points  []struct {
				Positions []float64 `json:"positions"`
			} `json:"points"`
		} `json:"motion"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	for i, name := range got.Motion.Columns {
		for _, p := range got.Motion.Points {
			if name == "wrist_roll" {
				rows = append(rows, p.Positions[i])
			}
		}
	}
	return rows
}

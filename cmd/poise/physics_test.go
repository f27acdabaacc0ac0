package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestServeWithPhysics: on the program that people start the pony stands in a world, is
// pushed over and put back up, time stands still and goes on, and the recording of all that
// is replayed with equal hashes.
func TestServeWithPhysics(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	world, record := filepath.Join(folder, "world.yaml"), filepath.Join(folder, "run.rec")
	if err := os.WriteFile(world, []byte("friction: 0.9\nboxes: [{size: [0.2, 0.2, 0.02], at: [1, 0, 0.01]}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := serveIt(t, "--physics", "--world", world, "--record", record, "--period", "0.005")
	if !strings.Contains(r.banner, "physics, simulated, world "+world) {
		t.Errorf("the banner does not tell of physics:\n%s", r.banner)
	}
	type seen struct {
		Paused, Fallen, Carried bool
		Friction                float64
		Header                  struct{ Stamp struct{ Sec, Nanosec int64 } }
	}
	see := func() (s seen) {
		t.Helper()
		out := r.do("{", "topic", "echo", "/physics/state", "--count", "1", "--json")
		if err := json.Unmarshal([]byte(out), &s); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		return s
	}
	r.until("it stands", func() bool { s := see(); return s.Carried && !s.Fallen && s.Friction == 0.9 && s.Header.Stamp.Sec >= 1 })
	r.do("linear_acceleration", "topic", "echo", "/imu", "--count", "1")
	r.do("hoof_flat", "topic", "echo", "/support_real", "--count", "1")
	r.do("nanosec", "topic", "echo", "/clock", "--count", "1")
	r.do("done", "call", "physics/push", `{"link": "base_link", "force": {"y": 25}, "duration": 0.2}`)
	r.until("it falls", func() bool { return see().Fallen })
	r.do("done", "call", "physics/put_back")
	r.until("it stands again", func() bool { s := see(); return s.Carried && !s.Fallen })
	r.do("done", "call", "physics/pause")
	before := see()
	r.do("done", "call", "physics/step", `{"steps": 4}`)
	if after := see(); !after.Paused || after.Header.Stamp.Sec*1e9+after.Header.Stamp.Nanosec != before.Header.Stamp.Sec*1e9+before.Header.Stamp.Nanosec+20e6 {
		t.Errorf("four steps lead from %+v to %+v", before, after)
	}
	r.fails(exitFailure, "base_link", "call", "physics/push", `{"link": "base_lnk", "duration": 1}`)
	r.do("done", "call", "physics/resume")
	r.do("nod: done", "play", "nod", "--speed", "200")
	r.stop(os.Interrupt)
	out, err := exec.Command(r.path, "replay", record).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "hashes are equal") {
		t.Errorf("replay: %v, %s", err, out)
	}
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"poise/internal/smalldisk"
	"poise/telemetry"
)

// TestTheRecorderIsOnByDefault: a server records in the state folder, two at a time in two
// recordings, and what they wrote replays; one that must not record does not.
func TestTheRecorderIsOnByDefault(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	folder := filepath.Join(state, "poise", "recordings")
	first := serveWithState(t, state, nil, "--period", "0.005")
	second := serveWithState(t, state, nil, "--period", "0.005")
	files := []string{filepath.Join(folder, "flight.rec"), filepath.Join(folder, "2", "flight.rec")}
	for i, r := range []*running{first, second} {
		if !strings.Contains(r.banner, "the last ticks are in the recording "+files[i]) {
			t.Errorf("server %d does not say where it records:\n%s", i+1, r.banner)
		}
		r.do("nod: done", "play", "nod", "--speed", "200")
		r.stop(syscall.SIGTERM)
		if a := replayed(t, files[i]); a.Ticks == 0 || !a.Equal {
			t.Errorf("server %d: %d ticks, equal is %v", i+1, a.Ticks, a.Equal)
		}
	}
	for _, args := range [][]string{{"--no-record"}, {"--config", writtenFile(t, "record: {enabled: false}\n")}} {
		r := serveWithState(t, t.TempDir(), nil, args...)
		if !strings.Contains(r.banner, "nothing is recorded, as was asked for") {
			t.Errorf("%v: it does not say that it does not record:\n%s", args, r.banner)
		}
	}
	cmd := exec.Command(binary(t), "replay")
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "hashes are equal") {
		t.Errorf("poise replay without a file: %v\n%s", err, out)
	}
}

// TestWithoutAPlaceToRecordTheRobotIsServed, and the server says that nothing is recorded.
func TestWithoutAPlaceToRecordTheRobotIsServed(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	if err := os.MkdirAll(filepath.Join(state, "poise"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "poise", "recordings"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := serveWithState(t, state, nil)
	for what, text := range map[string]string{"banner": r.banner, "log": r.log.String()} {
		if !strings.Contains(text, "nothing is recorded: ") {
			t.Errorf("the %s does not say so:\n%s", what, text)
		}
	}
	r.do("nod: done", "play", "nod", "--speed", "200")

	state = t.TempDir() // the recording itself cannot be begun
	if err := os.MkdirAll(filepath.Join(state, "poise", "recordings", "flight.rec", "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "poise", "recordings", "flight.rec.saved"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r = serveWithState(t, state, nil)
	if !strings.Contains(r.get("/healthz"), "recorder virtual FAILS record: ") {
		t.Errorf("health:\n%s", r.get("/healthz"))
	}
	r.do("nod: done", "play", "nod", "--speed", "200")
}

// TestAStopOnAFullDiskIsSavedWithItsCycles: on a file system of one megabyte that the recorder
// and others fill a stop is saved with the ticks around it, the recorder goes on, and the
// server ends with 0.
func TestAStopOnAFullDiskIsSavedWithItsCycles(t *testing.T) {
	t.Parallel()
	folder := smalldisk.Mount(t, 1)
	file := filepath.Join(folder, "flight.rec")
	if err := os.WriteFile(filepath.Join(folder, "of others"), make([]byte, 700_000), 0o600); err != nil {
		t.Fatal(err)
	}
	r := serveIt(t, "--config", writtenFile(t, fmt.Sprintf("loop: {silence: 600, period: 0.001}\nfaults: {cycle_gap: {severity: ignore}}\nrecord: {file: %q}\n", file)))
	last := ""
	for i := range 3 {
		r.until("the ring has turned", func() bool { _, err := os.Stat(file); return err != nil })
		r.do("", "stop")
		r.until("the stop is saved", func() bool {
			saved, _ := filepath.Glob(file + ".saved/*stop*")
			if len(saved) == 0 || saved[len(saved)-1] == last {
				return false
			}
			last = saved[len(saved)-1]
			return true
		})
		r.do("", "reset")
		if health := r.get("/healthz"); !strings.Contains(health, "recorder virtual ok") {
			t.Errorf("round %d: the recorder does not write: %s", i, health)
		}
		if stopsIn(t, last) == 0 {
			t.Errorf("round %d: the recording that was saved at the stop is without it", i)
		}
	}
	r.stop(syscall.SIGTERM)
	if !strings.Contains(r.log.String(), "the recording is written") {
		t.Error("the recording was not ended in order")
	}
}

// stopsIn counts the ticks of a recording that were told to stop.
func stopsIn(t *testing.T, name string) (n int) {
	t.Helper()
	rec, err := telemetry.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	var tick telemetry.Tick
	for rec.Next(&tick) == nil {
		if tick.Stop != 0 {
			n++
		}
	}
	return n
}

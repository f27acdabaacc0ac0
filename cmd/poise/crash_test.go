package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serveWithState starts a server whose reports of crashes are in a folder of the test.
func serveWithState(t *testing.T, state string, more []string, args ...string) *running {
	t.Helper()
	needsProgram(t)
	cmd := exec.Command(binary(t), append([]string{"serve", "--listen", "127.0.0.1:0", "--motions", t.TempDir(), "--config", unhurriedFile(t)}, args...)...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "XDG_STATE_HOME=") }), "XDG_STATE_HOME="+state)
	cmd.Env = append(cmd.Env, more...)
	return begin(t, cmd, nil)
}

// die kills a server and waits for its end.
func (r *running) die(s syscall.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
	select {
	case <-r.ended:
		r.ended <- nil
	case <-time.After(hang):
		r.t.Fatal("it does not die")
	}
}

// TestAKilledServersRecordingReplays: kill -9 at random instants of a motion leaves a recording
// that is whole up to then, the next start says that the last run was killed and puts its
// recording aside; one that ended in order leaves nothing to say.
func TestAKilledServersRecordingReplays(t *testing.T) {
	t.Parallel()
	state, file := t.TempDir(), filepath.Join(t.TempDir(), "flight.rec")
	rng := rand.New(rand.NewPCG(5, 6))
	for n := range 3 {
		r := serveWithState(t, state, nil, "--record", file, "--period", "0.005")
		if said := strings.Contains(r.banner, "did not end in order"); said != (n > 0) {
			t.Errorf("start %d says of a crash: %v", n, said)
		}
		r.moving()
		time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
		r.die(syscall.SIGKILL)
		if a := replayed(t, file); a.Ticks == 0 || !a.Equal {
			t.Errorf("%d ticks, equal is %v", a.Ticks, a.Equal)
		}
	}
	r := serveWithState(t, state, nil, "--record", file, "--period", "0.005")
	for _, want := range []string{"the last run did not end in order: it was killed", "crash-"} {
		if !strings.Contains(r.log.String(), want) || !strings.Contains(r.banner, want) {
			t.Errorf("the start does not say %q", want)
		}
	}
	r.stop(syscall.SIGTERM)
	if again := serveWithState(t, state, nil, "--record", file); strings.Contains(again.banner+again.log.String(), "did not end in order") {
		t.Error("a run that ended in order is told as a crash")
	}
	for reason, want := range map[string]int{"crash": 3, "earlier": 1} {
		if aside, _ := filepath.Glob(file + ".saved/*-" + reason); len(aside) != want {
			t.Errorf("%d recordings were put aside as %s, want %d", len(aside), reason, want)
		}
	}
	if reports, _ := filepath.Glob(filepath.Join(state, "poise", "crash-*.txt")); len(reports) != 3 {
		t.Errorf("%d reports, want 3", len(reports))
	}
}

// TestAPanicLeavesAReport: with the stack, and the next start says what it was.
func TestAPanicLeavesAReport(t *testing.T) {
	t.Parallel()
	needsProgram(t)
	state := t.TempDir()
	crash := exec.Command(os.Args[0], "one word")
	crash.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "XDG_STATE_HOME=") }), "XDG_STATE_HOME="+state, crashVariable+"=1")
	if out, err := crash.CombinedOutput(); err == nil {
		t.Fatalf("it did not crash: %s", out)
	}
	r := serveWithState(t, state, nil)
	if !strings.Contains(r.banner, "panic: a test") {
		t.Errorf("the start does not say why the last run crashed:\n%s", r.banner)
	}
	r.stop(syscall.SIGTERM)
	reports, err := filepath.Glob(filepath.Join(state, "poise", "crash-*.txt"))
	if err != nil || len(reports) != 1 {
		t.Fatal(reports, err)
	}
	text, err := os.ReadFile(reports[0])
	for _, want := range []string{"one word", "nothing was recorded", "panic: a test", "goroutine ", "cmd/poise.crashNow"} {
		if err != nil || !bytes.Contains(text, []byte(want)) {
			t.Errorf("the report does not have %q: %v\n%s", want, err, text)
		}
	}
}

// crashVariable makes the test binary one that crashes.
const crashVariable = "POISE_TEST_CRASH"

func crashNow() {
	if _, err := watchCrashes("nothing was recorded"); err != nil {
		fmt.Println(err)
		os.Exit(0)
	}
	panic("a test")
}

// TestStopsAndFaultsSaveTheRing: of every robot, in a folder that says why.
func TestStopsAndFaultsSaveTheRing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "flight.rec")
	r := serveIt(t, "--record", file, "--period", "0.005", "--with-real-sim")
	r.do("nod: done", "play", "nod", "--speed", "200")
	r.do("stands after", "stop")
	saved := func() []string { all, _ := filepath.Glob(file + ".saved/*stop*"); return all }
	r.until("the recording is saved", func() bool { return len(saved()) == 1 })
	r.stop(syscall.SIGTERM)
	if a := replayed(t, saved()[0]); a.Stops < 1 || !a.Equal {
		t.Errorf("saved: %d stops, equal is %v", a.Stops, a.Equal)
	}
	if a := replayed(t, file); a.Stops < 3 || !a.Equal {
		t.Errorf("all of it: %d stops, equal is %v", a.Stops, a.Equal)
	}
	if a := replayed(t, strings.TrimSuffix(file, ".rec")+"-real.rec"); a.Ticks == 0 || !a.Equal {
		t.Errorf("the other robot: %d ticks, equal is %v", a.Ticks, a.Equal)
	}
}

// TestARecorderThatCannotWriteIsTold by the log, the health and the metrics, and so is that it
// writes again; the robot goes on all the time.
func TestARecorderThatCannotWriteIsTold(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "poise.yaml")
	text := fmt.Sprintf("loop: {silence: 600, period: 0.005}\nfaults: {cycle_gap: {severity: ignore}, overrun: {severity: ignore}}\nrecord: {file: %q, minutes: 0.01}\n", filepath.Join(folder, "flight.rec"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := serveIt(t, "--config", config)
	health := func() string { return r.get("/healthz") }
	r.until("it records", func() bool { return strings.Contains(health(), "recorder virtual ok") })
	if err := os.Rename(folder, folder+" away"); err != nil {
		t.Fatal(err)
	}
	r.until("the health tells", func() bool { return strings.Contains(health(), "recorder virtual FAILS") })
	r.until("the log tells", func() bool { return strings.Contains(r.log.String(), "the recorder cannot write") })
	if !strings.HasPrefix(health(), "ok\n") || !strings.Contains(r.get("/metrics"), `poise_recorder_failing{robot="virtual"} 1`) {
		t.Errorf("health: %s", health())
	}
	r.do("nod: done", "play", "nod", "--speed", "200")
	if err := os.Rename(folder+" away", folder); err != nil {
		t.Fatal(err)
	}
	r.until("it writes again", func() bool { return strings.Contains(r.log.String(), "the recorder writes again") })
	r.stop(syscall.SIGTERM)
}

// get returns what a page of the server says.
func (r *running) get(path string) string {
	r.t.Helper()
	res, err := http.Get("http://" + r.address + path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

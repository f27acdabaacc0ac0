package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"poise/internal/golden"
)

// replayed runs a recording again and returns what the program says of it.
func replayed(t *testing.T, file string) (a replayAnswer) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(&env{out: &out, err: &errs}, []string{"replay", file, "--json"}); code != exitOK {
		t.Fatalf("code %d, %s %s", code, out.String(), errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// moving starts a motion without end, and returns when it moves.
func (r *running) moving() {
	r.t.Helper()
	cmd := exec.Command(r.path, "play", "wag_tail", "--loop", "--server", r.address)
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() { _ = cmd.Wait() }() // it ends with the server
	r.until("the motion begins", func() bool { return strings.Contains(r.do("power", "state"), "moving") })
}

// TestEveryWayToEndRampsFirst: each signal that ends the server, in the middle of a motion,
// is a stop of category 2 in the cycle, then the robot is left as it is declared, and the
// recording of it is whole. More signals while it ramps change nothing.
func TestEveryWayToEndRampsFirst(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGXCPU} {
		if signal.Ignored(s) { // as under nohup: a server started by this program would inherit it
			signal.Notify(make(chan os.Signal, 1), s)
		}
		for _, times := range []int{1, 5} {
			if times > 1 && s != syscall.SIGINT && s != syscall.SIGQUIT {
				continue
			}
			t.Run(s.String(), func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "flight.rec")
				r := serveIt(t, "--record", file, "--period", "0.005")
				r.moving()
				for range times - 1 {
					if err := r.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
						t.Fatal(err)
					}
					time.Sleep(5 * time.Millisecond)
				}
				r.stop(s)
				if !r.cmd.ProcessState.Exited() || r.cmd.ProcessState.ExitCode() != exitOK {
					t.Errorf("it ended with %v", r.cmd.ProcessState)
				}
				for _, want := range []string{"msg=stopping", s.String(), "a stop of category 2 took", "it holds its pose", "msg=stopped"} {
					if !strings.Contains(r.log.String(), want) {
						t.Errorf("the log does not say %q", want)
					}
				}
				if a := replayed(t, file); a.Stops < 2 || !a.Equal {
					t.Errorf("%d stops in the cycle, equal is %v", a.Stops, a.Equal)
				}
			})
		}
	}
}

// TestAHangupThatIsIgnoredStaysIgnored: under nohup the server goes on.
func TestAHangupThatIsIgnoredStaysIgnored(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("nohup"); err != nil {
		golden.Missing(t, "there is no program nohup: %v", err)
	}
	r := serveThrough(t, []string{"nohup"}, nil, "--config", unhurriedFile(t))
	if err := r.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r.do("power enabled", "state")
	}
	r.stop(syscall.SIGTERM)
	if strings.Contains(r.log.String(), "hangup") {
		t.Error("it took the signal")
	}
}

// TestAClosedLogPipeRampsFirst: when the reader of the log goes away, the next line ends the
// server in order: ramp, safe state, recording.
func TestAClosedLogPipeRampsFirst(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "flight.rec")
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r := serveThrough(t, nil, out, "--config", unhurriedFile(t), "--record", file, "--period", "0.005")
	out.Close()
	r.moving()
	in.Close()
	_, _, _ = r.cli("pause") // a line for the log; whether it is still answered does not matter
	select {
	case err := <-r.ended:
		r.ended <- nil // for the clean-up
		if code := r.cmd.ProcessState.ExitCode(); code != exitFailure {
			t.Errorf("it ended with %v, %v", r.cmd.ProcessState, err)
		}
	case <-time.After(hang):
		t.Fatal("it does not end")
	}
	if a := replayed(t, file); a.Stops < 2 || !a.Equal {
		t.Errorf("%d stops in the cycle, equal is %v", a.Stops, a.Equal)
	}
}

// TestAClosedStandardOutputChangesNothing: only the banner goes there.
func TestAClosedStandardOutputChangesNothing(t *testing.T) {
	t.Parallel()
	needsProgram(t)
	log := &lockedBuffer{}
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	file := filepath.Join(t.TempDir(), "flight.rec")
	cmd := exec.Command(binary(t), "serve", "--listen", "127.0.0.1:0", "--motions", t.TempDir(), "--record", file)
	cmd.Stdout, cmd.Stderr = out, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for end := time.Now().Add(hang); !strings.Contains(log.String(), "power is enabled"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) || len(ended) > 0 {
			t.Fatalf("it is not ready:\n%s", log)
		}
	}
	time.Sleep(100 * time.Millisecond) // the banner fails
	if len(ended) > 0 {
		t.Fatalf("it ended:\n%s", log)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v\n%s", err, log)
	}
}

// TestAnUnreadLogPipeDelaysNothing: the reader of the log stops reading, and hundreds of
// commands later every command is still answered, and a signal still ends the server.
func TestAnUnreadLogPipeDelaysNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "flight.rec")
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	r := serveThrough(t, nil, out, "--config", unhurriedFile(t), "--record", file, "--period", "0.005")
	out.Close()
	fill(t, r)
	r.do("done", "pause")
	r.do("done", "resume")
	r.do("power enabled", "state")
	r.do("stands after", "stop")
	r.stop(syscall.SIGTERM)
	if a := replayed(t, file); a.Stops < 2 || !a.Equal {
		t.Errorf("%d stops in the cycle, equal is %v", a.Stops, a.Equal)
	}
}

// fill gives the log more lines than its pipe holds, 64 KiB on Linux.
func fill(t *testing.T, r *running) {
	t.Helper()
	long := `{"joints":{"name":["` + strings.Repeat("no such joint ", 70) + `"],"position":[0]}}`
	for range 120 {
		r.cli("call", "joints_virtual_set", long)
	}
}

// TestALockedMotionsFolderDelaysNothingButItself: another program holds the lock on the
// folder, a motion is being saved, and the same client stops, plays, asks and ends as ever.
func TestALockedMotionsFolderDelaysNothingButItself(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	r := serveIt(t, "--motions", folder)
	other, err := os.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := syscall.Flock(int(other.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	put := exec.Command(r.path, "call", "motions/put", `{"motion":{"name":"mine","columns":["joint52"],"joints":[{"name":"joint52","enabled":true}],"points":[{"time":0,"enabled":true,"positions":[0]},{"time":1,"enabled":true,"positions":[0.1]}]}}`, "--server", r.address)
	var out, errs bytes.Buffer
	put.Stdout, put.Stderr = &out, &errs
	if err := put.Start(); err != nil {
		t.Fatal(err)
	}
	saved := make(chan error, 1)
	go func() { saved <- put.Wait() }()
	r.do("nod: done", "play", "nod", "--speed", "200")
	r.do("stands after", "stop")
	r.do("done", "reset")
	r.do(`"name": "nod"`, "call", "motions/list")
	r.moving()
	if err := <-saved; err == nil || !strings.Contains(errs.String()+out.String(), "lock") {
		t.Errorf("saving in a locked folder: %v, %s %s", err, out.String(), errs.String())
	}
	r.stop(syscall.SIGTERM)
}

// TestPipesAndDeviceLinksInTheMotionsFolder delay neither the start nor a stop, nor are
// they motions.
func TestPipesAndDeviceLinksInTheMotionsFolder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe.motion.yaml"), 0o600); err != nil {
		golden.Missing(t, "no pipe can be made in the temporary folder: %v", err)
	}
	for name, device := range map[string]string{"zero": "/dev/zero", "kmsg": "/dev/kmsg", "proc": "/proc/kmsg", "tty": "/dev/tty"} {
		if err := os.Symlink(device, filepath.Join(folder, name+".motion.yaml")); err != nil {
			t.Fatal(err)
		}
	}
	r := serveIt(t, "--motions", folder)
	r.do(`"name": "nod"`, "call", "motions/list")
	r.fails(exitFailure, "pipe", "play", "pipe")
	r.fails(exitFailure, "zero", "play", "zero")
	r.do("nod: done", "play", "nod", "--speed", "200")
	r.do("stands after", "stop")
	r.stop(syscall.SIGTERM)
}

// TestTwentyThousandMotionsDoNotDelayTheStart: the server is ready, plays and stops while
// they are still being read, and its list says so.
func TestTwentyThousandMotionsDoNotDelayTheStart(t *testing.T) {
	t.Parallel()
	needsProgram(t)
	const many = 20_000
	folder := t.TempDir()
	text, err := os.ReadFile(filepath.Join(golden.Root(t), "motion/shipped/pony/nod.motion.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "m0.motion.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < many; i++ { // links: it is names that count
		if err := os.Link(filepath.Join(folder, "m0.motion.yaml"), filepath.Join(folder, fmt.Sprintf("m%d.motion.yaml", i))); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	r := serveIt(t, "--motions", folder)
	ready := time.Since(began)
	r.do("m19999: done", "play", "m19999", "--speed", "200")
	r.do("stands after", "stop")
	out := r.do(`"name": "m777"`, "call", "motions/list")
	if !strings.Contains(out, "have not been read yet") {
		t.Error("all were read before the first list: the start has waited, or this test proves nothing")
	}
	t.Logf("ready after %v with %d motions", ready, many)
	r.stop(syscall.SIGTERM)
}

//go:build linux

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// emulating is the program poise bus emulate.
type emulating struct {
	t                    *testing.T
	port, logFile, hands string

	seen []servoEvent // of the log
	read int64        // bytes of it
}

// emulateIt starts it and waits until its servos are there.
func emulateIt(t *testing.T, args ...string) *emulating {
	t.Helper()
	dir := t.TempDir()
	e := &emulating{t: t, port: filepath.Join(dir, "line"), logFile: filepath.Join(dir, "log"), hands: filepath.Join(dir, "hand")}
	cmd := exec.Command(binary(t), append([]string{"bus", "emulate", "--link", e.port, "--log", e.logFile, "--hand", e.hands}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the emulator ended with %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.Contains(line, "Ctrl-C ends them") {
		t.Fatalf("%q, %v", line, err)
	}
	return e
}

// hand moves limp joints.
func (e *emulating) hand(lines ...string) {
	e.t.Helper()
	f, err := os.OpenFile(e.hands, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	}
	if err != nil {
		e.t.Fatal(err)
	}
	f.Close()
}

// text returns what happened so far.
func (e *emulating) text() string {
	b, err := os.ReadFile(e.logFile)
	if err != nil {
		e.t.Fatal(err)
	}
	return string(b)
}

// until waits for the log to say something.
func (e *emulating) until(what string, so func(log string) bool) {
	e.t.Helper()
	for end := time.Now().Add(hang); !so(e.text()); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			e.t.Fatalf("still waiting until %s", what)
		}
	}
}

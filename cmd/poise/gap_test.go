package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestAProgramThatWasStoppedIsPaused: SIGSTOP and SIGCONT in the middle of a motion. The
// virtual robot is paused, which is shown, until it is resumed; one that is declared so is
// stopped, until it is reset.
func TestAProgramThatWasStoppedIsPaused(t *testing.T) {
	for _, c := range []struct{ robots, shown, end string }{
		{"", "paused", "resume"},
		{"robots: [{name: virtual, driver: sim, after_gap: stop}]\n", "stopped", "reset"},
	} {
		t.Run(c.shown, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "poise.yaml")
			if err := os.WriteFile(file, []byte("loop: {silence: 600}\nfaults: {cycle_gap: {threshold: 3}}\n"+c.robots), 0o600); err != nil {
				t.Fatal(err)
			}
			r := serveIt(t, "--config", file, "--period", "0.005")
			r.moving()
			for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
				if err := r.cmd.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
				if s == syscall.SIGSTOP {
					time.Sleep(4 * time.Second) // more than is allowed, which is more than a busy machine takes
				}
			}
			r.until("it is "+c.shown, func() bool {
				state := r.do("power enabled", "state")
				return strings.Contains(state, c.shown) && strings.Contains(state, "cycle gap")
			})
			r.until("a "+c.end+" is accepted", func() bool { // a reset is not while the stop is under way
				out, _, _ := r.cli(c.end)
				return strings.Contains(out, "done")
			})
		})
	}
}

package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"

	"poise/internal/doctest"
)

// TestAddingADriver follows docs/adding-a-driver.md, and counts what a driver touches: its
// own package and the table.
func TestAddingADriver(t *testing.T) {
	t.Parallel()
	needsProgram(t)
	r := doctest.Run(t, "docs/adding-a-driver.md", doctest.Options{Replace: map[string]string{
		"127.0.0.1:8181": freeAddress(t), "\nloop:\n  period: 0.01\nfaults:\n": "\nloop: {period: 0.01, silence: 600}\nfaults:\n  cycle_gap: {severity: ignore}\n",
		"{patience: 0.2}": "{patience: 1}", "patience 0.2": "patience 1"}})
	if want := []string{"servo/driver/driver.go", "servo/driver/driver.go"}; !slices.Equal(r.Edited, want) {
		t.Errorf("the guide edits %v, want %v", r.Edited, want)
	}
	if want := []string{"servo/textline/textline.go", "servo/textline/textline_test.go", "textline.yaml", "wrong.yaml"}; !slices.Equal(r.Written, want) {
		t.Errorf("the guide writes %v, want %v", r.Written, want)
	}
}

// TestAddingAController follows docs/adding-a-controller.md, and counts what a controller
// touches: its own package, its messages and the table.
func TestAddingAController(t *testing.T) {
	t.Parallel()
	needsProgram(t)
	r := doctest.Run(t, "docs/adding-a-controller.md", doctest.Options{Replace: map[string]string{
		"127.0.0.1:8182": freeAddress(t), "serve --robot pony": "serve --config " + unhurriedFile(t) + " --robot pony"}})
	if want := []string{"controllers/table.go", "controllers/table.go", "docs/messages.md", "msgs/registry/poise.go"}; !slices.Equal(r.Edited, want) {
		t.Errorf("the guide edits %v, want %v", r.Edited, want)
	}
	if want := []string{"control/wag/wag.go", "control/wag/wag_test.go", "edge/wag.go", "msgs/poisemsgs/wag.go"}; !slices.Equal(r.Written, want) {
		t.Errorf("the guide writes %v, want %v", r.Written, want)
	}
}

// ports are those that freeAddress has looked at, and what keeps other processes of tests from them until this one ends.
var ports struct {
	mu    sync.Mutex
	count int
	taken []net.Listener
}

// freeAddress returns an address that is free, and is given to no other that does not ask for
// it: below the ports that the system gives away, and not twice, not to tests in another process either.
func freeAddress(t *testing.T) string {
	t.Helper()
	ports.mu.Lock()
	defer ports.mu.Unlock()
	const first, many = 20_000, 10_000
	for range many {
		ports.count++
		port := first + (os.Getpid()*127+ports.count)%many
		if runtime.GOOS == "linux" { // a name without a file
			mine, err := net.Listen("unix", fmt.Sprintf("@poise-test-port-%d", port))
			if err != nil {
				continue
			}
			ports.taken = append(ports.taken, mine)
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// TestFromTheBoxToTheFirstMotion follows docs/first-arm.md on emulated servos. The server takes
// no offence at a busy machine.
func TestFromTheBoxToTheFirstMotion(t *testing.T) {
	t.Parallel()
	if os.Getenv("POISE_ARM") == "" {
		t.Skip("absent: POISE_ARM, which make arm sets, a step of make check")
	}
	needsProgram(t)
	if runtime.GOOS != "linux" {
		t.Skip("absent: pseudo-terminals, which are made on Linux only")
	}
	r := doctest.Run(t, "docs/first-arm.md", doctest.Options{Replace: map[string]string{
		"127.0.0.1:8183": freeAddress(t), "serve --robot my-arm": "serve --config " + writtenFile(t, slowWorld+patientBus) + " --robot my-arm"}})
	if want := []string{"hands.sh"}; !slices.Equal(r.Written, want) || len(r.Edited) > 0 {
		t.Errorf("the guide writes %v and edits %v, want %v", r.Written, r.Edited, want)
	}
}

// patientBus is a robot whose servos may take long to answer; its line is that of --bus.
const patientBus = "robots: [{name: virtual, driver: sim}, {name: real, driver: bus, settings: {patience: 0.3}}]\n"

// slowWorld is the configuration of a server whose servos are in another program: on a busy machine
// they may be slow, and fall behind.
const slowWorld = "loop: {silence: 600}\nfaults: {cycle_gap: {severity: ignore}, stale_reading: {severity: ignore}, tracking_error: {severity: ignore}}\n"

package main

import (
	"net"
	"os"
	"runtime"
	"slices"
	"testing"

	"poise/internal/doctest"
)

// TestAddingADriver follows docs/adding-a-driver.md, and counts what a driver touches: its
// own package and the table.
func TestAddingADriver(t *testing.T) {
	needsProgram(t)
	r := doctest.Run(t, "docs/adding-a-driver.md", doctest.Options{Replace: map[string]string{"127.0.0.1:8181": freeAddress(t)}})
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
	needsProgram(t)
	r := doctest.Run(t, "docs/adding-a-controller.md", doctest.Options{Replace: map[string]string{"127.0.0.1:8182": freeAddress(t)}})
	if want := []string{"controllers/table.go", "controllers/table.go", "docs/messages.md", "msgs/registry/poise.go"}; !slices.Equal(r.Edited, want) {
		t.Errorf("the guide edits %v, want %v", r.Edited, want)
	}
	if want := []string{"control/wag/wag.go", "control/wag/wag_test.go", "edge/wag.go", "msgs/poisemsgs/wag.go"}; !slices.Equal(r.Written, want) {
		t.Errorf("the guide writes %v, want %v", r.Written, want)
	}
}

// freeAddress returns an address that was free a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestFromTheBoxToTheFirstMotion follows docs/first-arm.md on emulated servos. The server takes
// no offence at a busy machine.
func TestFromTheBoxToTheFirstMotion(t *testing.T) {
	if os.Getenv("POISE_ARM") == "" {
		t.Skip("absent: POISE_ARM, which make arm sets, a step of make check")
	}
	needsProgram(t)
	if runtime.GOOS != "linux" {
		t.Skip("absent: pseudo-terminals, which are made on Linux only")
	}
	r := doctest.Run(t, "docs/first-arm.md", doctest.Options{Replace: map[string]string{
		"127.0.0.1:8183": freeAddress(t), "serve --robot my-arm": "serve --config " + writtenFile(t, slowWorld) + " --robot my-arm"}})
	if want := []string{"hands.sh"}; !slices.Equal(r.Written, want) || len(r.Edited) > 0 {
		t.Errorf("the guide writes %v and edits %v, want %v", r.Written, r.Edited, want)
	}
}

// slowWorld is the configuration of a server whose emulated servos may be slow, and fall behind,
// on a busy machine.
const slowWorld = "loop: {silence: 600}\nfaults: {cycle_gap: {severity: ignore}, stale_reading: {severity: ignore}, tracking_error: {severity: ignore}}\n"

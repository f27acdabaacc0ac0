// Package netns lets a test run in a network of its own: a Linux network namespace with
// nothing in it but a loopback interface that carries multicast. What is sent there reaches
// no other program and no other machine.
//
//	func TestWithPeers(t *testing.T) {
//		if !netns.Inside(t) {
//			return // it has run in a process of its own
//		}
//		…
//	}
package netns

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"poise/internal/golden"
)

// variable is set in the process inside.
const variable = "POISE_NETWORK_NAMESPACE"

// setup makes the loopback interface one that carries multicast, and runs a program.
const setup = `ip link set lo up && ip link set lo multicast on && ip route add 224.0.0.0/4 dev lo && exec "$@"`

// Inside reports whether the test runs in a namespace of its own. If not, it runs it there, in
// a process of its own, and takes over how that ends.
func Inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(variable) != "" {
		return true
	}
	args := append(unshare(t), "--", "sh", "-c", setup, "sh", os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v", "-test.count", "1")
	if deadline, ok := t.Deadline(); ok {
		args = append(args, "-test.timeout", (time.Until(deadline) - time.Second).String())
	}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	c := exec.Command(args[0], args[1:]...)
	c.Env = append(os.Environ(), variable+"=1")
	out, err := c.CombinedOutput()
	text := string(out)
	switch {
	case err != nil:
		t.Errorf("in a network namespace: %v\n%s", err, text)
	case strings.Contains(text, "--- SKIP: "+t.Name()):
		t.Skip(text)
	default:
		t.Log(text)
	}
	return false
}

// unshare returns the command that makes a namespace, or skips the test.
func unshare(t *testing.T) []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("absent: network namespaces")
	}
	command := []string{"unshare", "-n"}
	if os.Getuid() != 0 {
		command = []string{"unshare", "-r", "-n"}
	}
	try := append(append([]string(nil), command...), "--", "sh", "-c", setup, "sh", "true")
	if out, err := exec.Command(try[0], try[1:]...).CombinedOutput(); err != nil {
		golden.Missing(t, "absent: a network namespace (%s, iproute2): %v %s", strings.Join(command, " "), err, out)
	}
	return command
}

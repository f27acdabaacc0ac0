package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTeachLosesNothing: a name that cannot be saved is refused before a pose is asked for, and poses that could not be
// saved in the end are left in the folder.
func TestTeachLosesNothing(t *testing.T) {
	t.Parallel()
	r := serveIt(t, "--with-real-sim", "--robot", "arm6")
	for name, why := range map[string]string{
		"wave":                   `motion "wave" exists already: --replace takes its place`,
		"../evil":                "the name begins with a dot",
		"":                       "a motion needs a name",
		strings.Repeat("n", 300): "300 bytes, at most 100",
	} {
		if _, errs, code := r.cli("teach", name, "--robot", "real"); code != exitFailure || !strings.Contains(errs, why) || strings.Contains(errs, "pose") {
			t.Errorf("%q: code %d, %q; want %q", name, code, errs, why)
		}
	}

	folder := t.TempDir()
	teach := func(args ...string) (*exec.Cmd, io.WriteCloser, *lockedBuffer) {
		cmd := exec.Command(r.path, append([]string{"teach", "--robot", "real", "--server", r.address}, args...)...)
		words := new(lockedBuffer)
		cmd.Dir, cmd.Stdout, cmd.Stderr = folder, words, words
		keys, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		r.until("it asks", func() bool { return strings.Contains(words.String(), "next pose") })
		return cmd, keys, words
	}
	press := func(keys io.WriteCloser) {
		if _, err := io.WriteString(keys, "\n\n"); err != nil {
			t.Fatal(err)
		}
		keys.Close()
	}
	late, lateKeys, lateWords := teach("a b")
	first, keys, words := teach("a b")
	press(keys)
	if err := first.Wait(); err != nil || !strings.Contains(words.String(), "poise play 'a b' --robot real --server "+r.address+" plays it") {
		t.Errorf("%v: %s", err, words.String())
	}
	press(lateKeys)
	if err := late.Wait(); err == nil || !strings.Contains(lateWords.String(), "exists already") || !strings.Contains(lateWords.String(), "kept in a b.motion.yaml") {
		t.Errorf("%v: %s", err, lateWords.String())
	}
	text, err := os.ReadFile(filepath.Join(folder, "a b.motion.yaml"))
	if err != nil || strings.Count(string(text), "- time:") != 2 {
		t.Errorf("%v: %s", err, text)
	}
	for _, name := range []string{"a b", "wave"} { // one of the folder, and one that comes with the robot
		again, keys, words := teach(name, "--replace")
		press(keys)
		if err := again.Wait(); err != nil {
			t.Errorf("%s: %v: %s", name, err, words.String())
		}
	}
}

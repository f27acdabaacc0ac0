// Package golden finds the reference results that tests compare with: robots and
// golden values that stand beside the project in ../shared and are never part
// of it.
//
// Outside that place they are absent and the tests skip with a clear word; under
// CI=true a missing file is a failure. Each use is counted, so that the runner
// can end with "golden: N run, M skipped".
package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// logVariable names the file to which every use appends a line: run or skip.
const logVariable = "POISE_GOLDEN_LOG"

// Path returns the path of a file or folder of ../shared, given relative to it
// (such as "robots/panda/panda.urdf"). If it is absent the test is skipped, or
// fails under CI=true.
func Path(t testing.TB, rel string) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(Root(t)), "shared", filepath.FromSlash(rel))
	if _, err := os.Stat(path); err != nil {
		count(t, "skip", rel)
		if os.Getenv("CI") == "true" {
			t.Fatalf("golden: ../shared/%s is missing, and CI=true allows no skip", rel)
		}
		t.Skipf("golden: ../shared/%s is absent: comparison with reference results skipped", rel)
	}
	count(t, "run", rel)
	return path
}

// Read returns the contents of a file of ../shared; see Path.
func Read(t testing.TB, rel string) []byte {
	t.Helper()
	b, err := os.ReadFile(Path(t, rel))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Root returns the project's root folder, the one with go.mod.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("golden: no go.mod above the test")
		}
		dir = up
	}
}

func count(t testing.TB, verdict, rel string) {
	name := os.Getenv(logVariable)
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "%s %s %s\n", verdict, t.Name(), rel)
}

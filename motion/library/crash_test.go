package library_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"poise/motion"
	"poise/motion/file"
	"poise/motion/library"
)

// writerVariable makes the test binary a writer in the folder that it names.
const writerVariable = "POISE_TEST_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerVariable); dir != "" {
		writeForEver(dir)
	}
	os.Exit(m.Run())
}

// large is the n-th of many documents; they differ in length, so that a file of both
// would be neither.
func large(n int) *motion.Document {
	d := document(fmt.Sprint("number ", n))
	for i := range 50 + 37*(n%5) {
		d.Points = append(d.Points, motion.Point{Time: float64(2 + i), Enabled: true, Positions: []float64{float64(n) / 7}})
	}
	return d
}

// writeForEver replaces one motion again and again and says so.
func writeForEver(dir string) {
	l := library.Open(dir, nil)
	out := bufio.NewWriterSize(os.Stdout, 1)
	for n := 0; ; n++ {
		m, err := l.Get("nod")
		if err == nil {
			_, err = l.Put("nod", large(n), m.Version)
		}
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		out.WriteByte('.')
		out.Flush()
	}
}

// TestSoakKilledWritersLeaveWholeFiles kills a process that writes without end, at
// random instants, and looks at what it leaves: one of the documents that it wrote,
// whole, and nothing that is taken for a motion. POISE_SOAK=1 goes on to 10⁴ writes.
func TestSoakKilledWritersLeaveWholeFiles(t *testing.T) {
	want := 80
	switch {
	case os.Getenv("POISE_SOAK") != "":
		want = 10_000
	case testing.Short():
		want = 15
	}
	rng := rand.New(rand.NewPCG(8, 8))
	dir := t.TempDir()
	put(t, library.Open(dir, nil), "nod", "first", "")
	writes, kills, remaining := 0, 0, 0
	for writes < want {
		writes += killedLife(t, dir, time.Duration(rng.IntN(30_000))*time.Microsecond)
		kills++
		checkWhole(t, dir)
		if n, _ := filepath.Glob(filepath.Join(dir, ".*")); len(n) > 0 {
			remaining++
		}
	}
	put(t, library.Open(dir, nil), "other", "sweeps", "")
	if n, _ := filepath.Glob(filepath.Join(dir, ".*")); len(n) > 0 {
		t.Errorf("left behind: %v", n)
	}
	t.Logf("%d writes, %d kills, %d in the middle of a write", writes, kills, remaining)
}

// killedLife starts a writer, lets it write once and then for some time, kills it, and
// returns how many writes it finished.
func killedLife(t *testing.T, dir string, life time.Duration) (writes int) {
	t.Helper()
	writer := exec.Command(os.Args[0])
	writer.Env = append(os.Environ(), writerVariable+"="+dir)
	said, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(said)
	_, err = in.Peek(1)
	time.Sleep(life)
	if killed := writer.Process.Kill(); err != nil || killed != nil {
		t.Fatal(err, killed)
	}
	all, err := io.ReadAll(in)
	if err != nil || bytes.Contains(all, []byte("failed")) {
		t.Fatalf("%v: %s", err, all)
	}
	_ = writer.Wait() // killed
	return len(all)
}

// checkWhole fails unless the file is exactly one of the documents.
func checkWhole(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "nod"+file.Extension))
	if err != nil {
		t.Fatal(err)
	}
	d, err := file.Read(text, "nod")
	if err != nil {
		t.Fatalf("half a file: %v", err)
	}
	n := 0
	if _, err := fmt.Sscanf(d.Description, "number %d", &n); err != nil {
		return // the first one
	}
	if !bytes.Equal(text, file.Write(large(n), nil)) {
		t.Fatalf("document %d is not whole", n)
	}
	if got := names(t, library.Open(dir, nil)); got != "nod" {
		t.Fatal(got)
	}
}

// TestCrashAtEveryStep stops a writer before each step of its work, as a crash would:
// the file is the old one or the new one, and the next writer is not disturbed.
func TestCrashAtEveryStep(t *testing.T) {
	steps := []string{"create", "write", "write on", "sync file", "rename", "sync folder"}
	for _, at := range steps {
		dir := t.TempDir()
		l := library.Open(dir, nil)
		v := put(t, l, "nod", "old", "")
		var passed []string
		l.Interrupt(func(step string) {
			if passed = append(passed, step); step == at {
				panic("crash")
			}
		})
		func() {
			defer func() { _ = recover() }()
			_, _ = l.Put("nod", document("new"), v)
		}()
		if passed[len(passed)-1] != at {
			t.Fatalf("never came to %q: %v", at, passed)
		}
		after := library.Open(dir, nil)
		m, err := after.Get("nod")
		if err != nil {
			t.Fatalf("crash before %q: %v", at, err)
		}
		want := "old"
		if at == "sync folder" {
			want = "new"
		}
		if m.Document.Description != want || names(t, after) != "nod" {
			t.Errorf("crash before %q leaves %q, want %q", at, m.Document.Description, want)
		}
		put(t, after, "nod", "next", m.Version)
		if n, _ := filepath.Glob(filepath.Join(dir, ".*")); len(n) > 0 {
			t.Errorf("crash before %q leaves %v", at, n)
		}
	}
}

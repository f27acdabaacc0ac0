//go:build unix

package library_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"poise/internal/golden"
	"poise/motion/library"
)

// TestPipesAndDevicesAreNeitherWaitedForNorRead: they are passed over where they stand for a
// motion, and one that takes a file's place just before it is opened is refused at once.
func TestPipesAndDevicesAreNeitherWaitedForNorRead(t *testing.T) {
	dir := t.TempDir()
	l := library.Open(dir, nil)
	put(t, l, "nod", "one", "")
	pipe := filepath.Join(dir, "pipe.motion.yaml")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		golden.Missing(t, "no pipe can be made in the temporary folder: %v", err)
	}
	for _, device := range []string{"/dev/zero", "/dev/null", "/dev/tty", "/dev/kmsg", "/proc/kmsg"} {
		link := filepath.Join(dir, strings.ReplaceAll(device[1:], "/", "_")+".motion.yaml")
		if err := os.Symlink(device, link); err != nil {
			t.Fatal(err)
		}
		if data, err := library.ReadPlain(link, 1000); err == nil && len(data) > 0 {
			t.Errorf("%s was read: %q", device, data)
		}
	}
	if _, err := library.ReadPlain(pipe, 1000); err == nil || !strings.Contains(err.Error(), "no plain file") {
		t.Error("a pipe was opened:", err)
	}
	all, err := l.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.Name != "nod" && m.Err == nil {
			t.Errorf("%s is listed as a motion", m.Name)
		}
	}
	if m, err := l.Get("nod"); err != nil || m.Document.Description != "one" {
		t.Error(err)
	}
	if _, err := l.Get("pipe"); !errors.Is(err, library.ErrUnknown) {
		t.Error(err)
	}
}

// TestALockedFolderDelaysWritersAlone: reading goes on, and a writer ends with the reason.
func TestALockedFolderDelaysWritersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := library.Open(dir, nil)
		v := put(t, l, "nod", "one", "")
		other, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if err := unix.Flock(int(other.Fd()), unix.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 3)
		go func() { _, err := l.Put("nod", document("two"), v); ended <- err }()
		go func() { ended <- l.Delete("nod", v) }()
		time.Sleep(time.Second)
		began := time.Now()
		for range 10 {
			if m, err := l.Get("nod"); err != nil || m.Version != v {
				t.Error(err)
			}
			if got := names(t, l); got != "nod" {
				t.Error(got)
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("readers waited %v", took)
		}
		for range 2 {
			if err := <-ended; !errors.Is(err, library.ErrBusy) && !errors.Is(err, library.ErrHangs) {
				t.Errorf("a writer ended with %v", err)
			}
		}
		if err := unix.Flock(int(other.Fd()), unix.LOCK_UN); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		put(t, l, "nod", "two", v)
	})
}

// TestAFolderThatHangsDelaysNoClientForLong: who asks waits for seconds at first, then not at all;
// motions that were read before are still known, and all is well when it answers again.
func TestAFolderThatHangsDelaysNoClientForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shipped := fstest.MapFS{"bow.motion.yaml": {Data: []byte("description: shipped\n")}}
		dir := t.TempDir()
		l := library.Open(dir, shipped)
		v := put(t, l, "nod", "one", "")
		if got := names(t, l); got != "bow* nod" {
			t.Fatal(got)
		}
		release := l.Hang()
		began := time.Now()
		m, err := l.Get("nod")
		if err != nil || m.Version != v {
			t.Errorf("what was read is not known any more: %v", err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
		began = time.Now()
		if _, err := l.Get("bow"); !errors.Is(err, library.ErrHangs) { // one of the folder may hide it
			t.Error(err)
		}
		if _, err := l.List(); err == nil || !strings.Contains(err.Error(), "has not answered") {
			t.Error(err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("they waited %v although it is known to hang", took)
		}
		release()
		synctest.Wait()
		if got := names(t, l); got != "bow* nod" {
			t.Error(got)
		}
	})
}

// TestAFolderHasItsLimits of files and bytes; what is there stays, and can be made smaller.
func TestAFolderHasItsLimits(t *testing.T) {
	dir := t.TempDir()
	l := library.Open(dir, nil)
	l.SetLimit(library.Limit{Motions: 3, Bytes: 3000})
	v := ""
	for i := range 3 {
		v = put(t, l, fmt.Sprint("m", i), "x", "")
	}
	if _, err := l.Put("m3", document("x"), ""); !errors.Is(err, library.ErrFull) || !strings.Contains(err.Error(), "at most 3") {
		t.Error(err)
	}
	if _, err := l.Put("m2", document(strings.Repeat("long ", 1000)), v); !errors.Is(err, library.ErrFull) || !strings.Contains(err.Error(), "3000") {
		t.Error(err)
	}
	v = put(t, l, "m2", "xx", v)
	if err := l.Delete("m2", v); err != nil {
		t.Fatal(err)
	}
	put(t, l, "m3", "x", "")
}

// TestForgottenContentsAreReadAgain: versions stay known without contents.
func TestForgottenContentsAreReadAgain(t *testing.T) {
	dir := t.TempDir()
	l := library.Open(dir, nil)
	v := put(t, l, "nod", "one", "")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "nod.motion.yaml"), old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Get("nod"); err != nil {
		t.Fatal(err)
	}
	l.Forget()
	if all, err := l.Names(); err != nil || len(all) != 1 || all[0].Version != v {
		t.Error(all, err)
	}
	if m, err := l.Get("nod"); err != nil || m.Version != v || m.Document == nil {
		t.Error(err)
	}
}

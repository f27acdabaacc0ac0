package library_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"poise/motion"
	"poise/motion/file"
	"poise/motion/library"
)

func document(description string) *motion.Document {
	return &motion.Document{Description: description, Joints: []motion.Joint{{Name: "a", Enabled: true}}, Columns: []string{"a"},
		Points: []motion.Point{{Enabled: true, Positions: []float64{0}}, {Time: 1, Enabled: true, Positions: []float64{1}}}}
}

func put(t *testing.T, l *library.Library, name, description, seen string) string {
	t.Helper()
	version, err := l.Put(name, document(description), seen)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func names(t *testing.T, l *library.Library) string {
	t.Helper()
	all, err := l.List()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range all {
		name := m.Name
		if m.Err != nil {
			name += "!"
		}
		if m.Shipped {
			name += "*"
		}
		list = append(list, name)
	}
	return strings.Join(list, " ")
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFolderIsListedReadAndWatched(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "motions") // need not exist
	l := library.Open(dir, nil)
	if got := names(t, l); got != "" {
		t.Fatal(got)
	}
	v1 := put(t, l, "nod", "one", "")
	write(t, dir, "README.md", "other files are passed over")
	write(t, dir, "nod.yaml", "so is this")
	write(t, dir, ".hidden.motion.yaml", "and this")
	write(t, dir, "broken.motion.yaml", "description: x\nnonsense: y\n")
	if err := os.Mkdir(filepath.Join(dir, "folder.motion.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := names(t, l); got != "broken! nod" {
		t.Fatal(got)
	}
	if m, err := l.Get("broken"); !errors.Is(err, library.ErrUnreadable) || !strings.Contains(err.Error(), "broken.motion.yaml:2: unknown key \"nonsense\"") || m == nil {
		t.Error("the reason is missing:", err)
	}

	// the same file is not read again, a changed one is
	first, err := l.Get("nod")
	if err != nil || first.Version != v1 {
		t.Fatal(first, err)
	}
	if again, _ := l.Get("nod"); again != first {
		t.Error("read again without need")
	}
	write(t, dir, "nod.motion.yaml", "description: by hand\n")
	if m, err := l.Get("nod"); err != nil || m.Document.Description != "by hand" {
		t.Error(m, err)
	}
	write(t, dir, "broken.motion.yaml", "description: mended\n")
	if got := names(t, l); got != "broken nod" {
		t.Error(got)
	}
	if err := os.Remove(filepath.Join(dir, "broken.motion.yaml")); err != nil {
		t.Fatal(err)
	}
	if got := names(t, l); got != "nod" {
		t.Error(got)
	}
	write(t, dir, "huge.motion.yaml", strings.Repeat("#", file.Bounds.Bytes+1))
	if _, err := l.Get("huge"); !errors.Is(err, library.ErrUnreadable) || !strings.Contains(err.Error(), "at most") {
		t.Error(err)
	}
}

func TestUnknownNamesComeWithNearOnes(t *testing.T) {
	l := library.Open(t.TempDir(), nil)
	for _, n := range []string{"nod", "bow_begin", "bow_end", "yawn"} {
		put(t, l, n, n, "")
	}
	for name, want := range map[string]string{"nodd": `"nod"`, "yown": `"yawn"`, "bow": `"bow_begin" or "bow_end"`, "pirouette": "does not exist"} {
		if _, err := l.Get(name); !errors.Is(err, library.ErrUnknown) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestStaleVersionsAreRefused(t *testing.T) {
	l := library.Open(t.TempDir(), nil)
	v1 := put(t, l, "nod", "one", "")
	for _, tc := range []struct {
		name string
		do   func() error
		kind error
	}{
		{"creating what exists", func() error { _, err := l.Put("nod", document("x"), ""); return err }, library.ErrExists},
		{"changing another version", func() error { _, err := l.Put("nod", document("x"), "0123"); return err }, library.ErrStale},
		{"changing what is gone", func() error { _, err := l.Put("bow", document("x"), v1); return err }, library.ErrStale},
		{"deleting another version", func() error { return l.Delete("nod", "0123") }, library.ErrStale},
		{"deleting without looking", func() error { return l.Delete("nod", "") }, library.ErrExists},
		{"deleting what is not there", func() error { return l.Delete("bow", v1) }, library.ErrUnknown},
		{"renaming another version", func() error { return l.Rename("nod", "bow", "0123") }, library.ErrStale},
		{"renaming over another", func() error { put(t, l, "yawn", "y", ""); return l.Rename("nod", "yawn", v1) }, library.ErrExists},
		{"a name that is a path", func() error { _, err := l.Put("../nod", document("x"), ""); return err }, library.ErrName},
		{"a hidden name", func() error { _, err := l.Put(".nod", document("x"), ""); return err }, library.ErrName},
		{"a document that cannot be", func() error { _, err := l.Put("x", &motion.Document{Columns: []string{"a", "a"}}, ""); return err }, motion.ErrName},
	} {
		if err := tc.do(); !errors.Is(err, tc.kind) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.kind)
		}
	}
	if m, err := l.Get("nod"); err != nil || m.Version != v1 {
		t.Error("a refused change left a trace", err)
	}
	v2 := put(t, l, "nod", "two", v1)
	if err := l.Rename("nod", "nod twice", v2); err != nil {
		t.Fatal(err)
	}
	if err := l.Delete("nod twice", v2); err != nil {
		t.Fatal(err)
	}
	if got := names(t, l); got != "yawn" {
		t.Error(got)
	}
}

func TestPutKeepsComments(t *testing.T) {
	dir := t.TempDir()
	l := library.Open(dir, nil)
	write(t, dir, "nod.motion.yaml", "# made by hand\ndescription: one # first\n")
	m, err := l.Get("nod")
	if err != nil {
		t.Fatal(err)
	}
	put(t, l, "nod", "two", m.Version)
	if m, err = l.Get("nod"); err != nil || !strings.HasPrefix(string(m.Text), "# made by hand\ndescription: two # first\n") {
		t.Errorf("%v\n%s", err, m.Text)
	}
}

func TestShippedMotionsLieBelow(t *testing.T) {
	shipped := fstest.MapFS{
		"nod.motion.yaml": {Data: []byte("description: shipped\n")}, "bow.motion.yaml": {Data: []byte("description: shipped\n")}, "README.md": {Data: []byte("x")},
	}
	l := library.Open(t.TempDir(), shipped)
	if got := names(t, l); got != "bow* nod*" {
		t.Fatal(got)
	}
	m, err := l.Get("nod")
	if err != nil || !m.Shipped {
		t.Fatal(m, err)
	}
	if err := l.Delete("nod", m.Version); !errors.Is(err, library.ErrReadOnly) {
		t.Error(err)
	}
	v := put(t, l, "nod", "mine", m.Version)
	if got := names(t, l); got != "bow* nod" {
		t.Error(got)
	}
	if err := l.Delete("nod", v); err != nil {
		t.Fatal(err)
	}
	if got := names(t, l); got != "bow* nod*" {
		t.Error(got)
	}
	only := library.Open("", shipped)
	if _, err := only.Put("x", document("x"), ""); !errors.Is(err, library.ErrReadOnly) {
		t.Error(err)
	}
}

// TestWritersTakeTurns lets many writers, as if of many processes, count in one file:
// no count is lost, since a writer that saw an old version is refused and reads again.
func TestWritersTakeTurns(t *testing.T) {
	const writers, times = 6, 15
	dir := t.TempDir()
	put(t, library.Open(dir, nil), "count", "0", "")
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			l := library.Open(dir, nil) // one each: they share nothing but the folder
			for done := 0; done < times; {
				m, err := l.Get("count")
				if err != nil {
					t.Error(err)
					return
				}
				n := 0
				fmt.Sscan(m.Document.Description, &n)
				switch _, err := l.Put("count", document(fmt.Sprint(n+1)), m.Version); {
				case err == nil:
					done++
				case !errors.Is(err, library.ErrStale):
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if m, err := library.Open(dir, nil).Get("count"); err != nil || m.Document.Description != fmt.Sprint(writers*times) {
		t.Error(m.Document.Description, err)
	}
}

// TestALinkOutOfTheFolderIsNotQuoted: what is wrong with a file from outside the
// library does not show its text; a link to a motion works.
func TestALinkOutOfTheFolderIsNotQuoted(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	write(t, elsewhere, "secret", "root:x:0:0:secret:/root\n\tdaemon: [\n")
	write(t, elsewhere, "good", "description: from elsewhere\n")
	for link, target := range map[string]string{"bad": "secret", "good": "good"} {
		if err := os.Symlink(filepath.Join(elsewhere, target), filepath.Join(dir, link+".motion.yaml")); err != nil {
			t.Skip(err)
		}
	}
	l := library.Open(dir, nil)
	m, err := l.Get("bad")
	if err == nil || !strings.Contains(err.Error(), "leads out of the folder") || strings.Contains(fmt.Sprint(err, m), "daemon") || strings.Contains(fmt.Sprint(err, m), "root:x") {
		t.Errorf("%v", err)
	}
	if m != nil && len(m.Text) > 0 {
		t.Errorf("its text is %q", m.Text)
	}
	if _, err := l.Get("good"); err != nil {
		t.Error(err)
	}
}

// TestANameIsNotSuggestedForItself: a pipe that is called like a motion is not one.
func TestANameIsNotSuggestedForItself(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "fifo.motion.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := library.Open(dir, nil).Get("fifo"); err == nil || strings.Contains(err.Error(), "did you mean") {
		t.Error(err)
	}
}

// TestFilesThatCannotBeOpenedCanBeReplacedAndDeleted: one that is too large, and a link
// to nowhere.
func TestFilesThatCannotBeOpenedCanBeReplacedAndDeleted(t *testing.T) {
	for _, end := range []string{"replaced", "deleted"} {
		dir := t.TempDir()
		l := library.Open(dir, nil)
		write(t, dir, "huge.motion.yaml", strings.Repeat("#", file.Bounds.Bytes+1))
		if err := os.Symlink("nowhere", filepath.Join(dir, "link.motion.yaml")); err != nil {
			t.Fatal(err)
		}
		if got := names(t, l); got != "huge! link!" {
			t.Fatal(got)
		}
		for _, name := range []string{"huge", "link"} {
			m, err := l.Get(name)
			if !errors.Is(err, library.ErrUnreadable) || m.Version == "" {
				t.Fatalf("%s: version %q, %v", name, m.Version, err)
			}
			if _, err := l.Put(name, document("x"), ""); !errors.Is(err, library.ErrExists) {
				t.Errorf("%s: replaced unseen: %v", name, err)
			}
			if end == "replaced" {
				put(t, l, name, "mended", m.Version)
			} else if err := l.Delete(name, m.Version); err != nil {
				t.Error(err)
			}
		}
		want := map[string]string{"replaced": "huge link", "deleted": ""}[end]
		if got := names(t, l); got != want {
			t.Errorf("%s: %q, want %q", end, got, want)
		}
	}
}

// TestQuickChangesAreNotMissed rewrites a file in place, as long as it was, faster than
// its time of change tells.
func TestQuickChangesAreNotMissed(t *testing.T) {
	dir := t.TempDir()
	l := library.Open(dir, nil)
	for n := range 200 {
		want := fmt.Sprintf("%03d", n)
		write(t, dir, "nod.motion.yaml", "description: \""+want+"\"\n")
		if m, err := l.Get("nod"); err != nil || m.Document.Description != want {
			t.Fatalf("change %d: %v", n, err)
		}
	}
}

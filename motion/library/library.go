package library

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"poise/motion"
	"poise/motion/file"
	"poise/problem"
)

// What can be wrong with a motion: the codes of its problems; errors.Is finds them.
const (
	ErrUnknown    problem.Code = "unknown_motion"
	ErrUnreadable problem.Code = "unreadable_motion"
	ErrStale      problem.Code = "version_conflict"
	ErrExists     problem.Code = "motion_exists"
	ErrName       problem.Code = "bad_motion_name"
	ErrReadOnly   problem.Code = "read_only"
)

// about makes the problem of a motion.
func about(name string, code problem.Code, format string, a ...any) *problem.Problem {
	p := problem.New(code, format, a...)
	p.Thing = problem.Named("motion", name)
	return p
}

// Motion is an entry of a library. It never changes; the next version is another one.
type Motion struct {
	Name     string
	Document *motion.Document // nil if it cannot be read; read only
	Text     []byte           // of the file; read only
	Version  string           // of the text
	Shipped  bool             // it comes with the robot
	Err      error            // why it cannot be read
}

// Library is a folder of motions over shipped ones. It is safe for concurrent use.
type Library struct {
	dir     string // "" if there is none
	shipped map[string]*Motion

	mu    sync.Mutex
	files map[string]*cached

	interrupt func(step string) // tests stop a writer here; nil otherwise
}

// cached is a file as it was when it was read.
type cached struct {
	motion *Motion
	info   fs.FileInfo
	young  bool // it was changed so shortly before that another change may bear the same time
}

// grain is how coarse a file's time of change may be.
const grain = 50 * time.Millisecond

// Open returns the library of a folder, which need not exist yet, on top of shipped
// motions. Without a folder ("") it cannot be changed; without shipped motions (nil)
// there are those of the folder alone.
func Open(dir string, shipped fs.FS) *Library {
	l := &Library{dir: dir, shipped: map[string]*Motion{}, files: map[string]*cached{}}
	if shipped == nil {
		return l
	}
	names, err := fs.Glob(shipped, "*"+file.Extension)
	if err != nil {
		panic(err) // the pattern is ours
	}
	for _, n := range names {
		data, err := fs.ReadFile(shipped, n)
		name := strings.TrimSuffix(n, file.Extension)
		l.shipped[name] = read(name, n, data, err)
		l.shipped[name].Shipped = true
	}
	return l
}

// Dir returns the folder, "" if there is none.
func (l *Library) Dir() string { return l.dir }

// Version returns the version of a content.
func Version(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

func read(name, path string, data []byte, err error) *Motion {
	if err != nil {
		return closed(name, err)
	}
	m := &Motion{Name: name, Text: data, Version: Version(data)}
	m.Document, m.Err = file.Read(data, path)
	return m
}

// closed returns the entry of a file that cannot be opened. It has a version all the
// same, or it could be neither replaced nor deleted.
func closed(name string, err error) *Motion {
	return &Motion{Name: name, Err: err, Version: Version([]byte(err.Error()))}
}

// refresh reads what has changed in the folder. It tells files apart by size, time
// and identity: one that was replaced is another file.
func (l *Library) refresh() error {
	if l.dir == "" {
		return nil
	}
	entries, err := os.ReadDir(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		clear(l.files)
		return nil
	}
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), file.Extension)
		if !ok || CheckName(name) != nil {
			continue
		}
		path := filepath.Join(l.dir, e.Name())
		info, err := os.Stat(path) // through links
		if err != nil || !info.Mode().IsRegular() {
			if err == nil || errors.Is(err, fs.ErrNotExist) && e.Type()&fs.ModeSymlink == 0 {
				continue // a folder or a device, or gone just now
			}
			seen[name] = true
			l.files[name] = &cached{motion: closed(name, err)}
			continue
		}
		seen[name] = true
		old := l.files[name]
		known := old != nil && old.info != nil && same(old.info, info)
		if known && !old.young {
			continue
		}
		young := time.Since(info.ModTime()) < grain // before it is read
		now := &cached{motion: load(name, path, info), info: info, young: young}
		if known && now.motion.Version == old.motion.Version {
			now.motion = old.motion
		}
		l.files[name] = now
	}
	for name := range l.files {
		if !seen[name] {
			delete(l.files, name)
		}
	}
	return nil
}

func same(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}

func load(name, path string, info fs.FileInfo) *Motion {
	if most := int64(file.Bounds.Bytes); info.Size() > most {
		return closed(name, fmt.Errorf("%s: %d bytes; a motion has at most %d", path, info.Size(), most))
	}
	data, err := os.ReadFile(path)
	return read(name, path, data, err)
}

// List returns all motions by name, those that cannot be read too, with the reason.
// A motion of the folder hides the shipped one of its name.
func (l *Library) List() ([]*Motion, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.refresh()
	var all []*Motion
	for _, c := range l.files {
		all = append(all, c.motion)
	}
	for name, m := range l.shipped {
		if l.files[name] == nil {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *Motion) int { return strings.Compare(a.Name, b.Name) })
	return all, err
}

// Get returns a motion that can be played. An unknown name is refused with those near
// to it, a file that cannot be read with the reason.
func (l *Library) Get(name string) (*Motion, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(); err != nil {
		return nil, err
	}
	m := l.find(name)
	switch {
	case m == nil:
		return nil, l.unknown(name)
	case m.Err != nil:
		return m, about(name, ErrUnreadable, "cannot be read: %v", m.Err)
	}
	return m, nil
}

func (l *Library) find(name string) *Motion {
	if c := l.files[name]; c != nil {
		return c.motion
	}
	return l.shipped[name]
}

func (l *Library) unknown(name string) error {
	var names []string
	for n := range l.files {
		names = append(names, n)
	}
	for n := range l.shipped {
		if l.files[n] == nil {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return about(name, ErrUnknown, "does not exist").With("%s", problem.DidYouMean(name, names))
}

// maxName bounds a name, so that the file's stays within what file systems allow.
const maxName = 100

// CheckName reports what is wrong with a name for a motion: it is part of a file's
// name on every system, and never hidden.
func CheckName(name string) error {
	bad := func(format string, a ...any) error { return about(name, ErrName, format, a...) }
	switch {
	case name == "":
		return bad("a motion needs a name")
	case len(name) > maxName:
		return bad("the name has %d bytes, at most %d are allowed", len(name), maxName)
	case strings.HasPrefix(name, ".") || strings.TrimSpace(name) != name:
		return bad("the name begins with a dot, or begins or ends with a space")
	}
	for _, r := range name {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar || strings.ContainsRune(`/\:*?"<>|`, r) {
			return bad("%q cannot be part of a file's name", r)
		}
	}
	return nil
}

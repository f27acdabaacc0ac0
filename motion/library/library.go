package library

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	ErrHangs      problem.Code = "folder_hangs"
	ErrBusy       problem.Code = "folder_locked"
	ErrFull       problem.Code = "folder_full"
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

// Library is a folder of motions over shipped ones. It is safe for concurrent use. The
// folder may be slow, locked or hang: a caller then waits for some seconds at most.
type Library struct {
	dir     string // "" if there is none
	shipped map[string]*Motion
	limit   Limit

	reading, writing disk

	mu    sync.Mutex // never held while the disk is asked
	files map[string]*cached
	held  int // bytes of text in files

	interrupt func(step string) // tests stop a writer here; nil otherwise
}

// Limit bounds what is saved in a folder. Zero values mean no bound.
type Limit struct {
	Motions int   // files
	Bytes   int64 // of all files
}

// cached is a file as it was when it was read.
type cached struct {
	motion  *Motion // nil if it was forgotten, to save memory
	version string
	info    fs.FileInfo
	young   bool // it was changed so shortly before that another change may bear the same time
}

// grain is how coarse a file's time of change may be.
const grain = 50 * time.Millisecond

// maxHeld is how much text of motions is kept in memory, bytes. Documents take a few
// times that.
const maxHeld = 32 << 20

// Open returns the library of a folder, which need not exist yet, on top of shipped
// motions. Without a folder ("") it cannot be changed; without shipped motions (nil)
// there are those of the folder alone. The folder is not looked at before it is needed.
func Open(dir string, shipped fs.FS) *Library {
	l := &Library{dir: dir, shipped: map[string]*Motion{}, files: map[string]*cached{},
		reading: newDisk(readPatience), writing: newDisk(writePatience)}
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
		l.shipped[name] = readShipped(name, n, data, err)
	}
	return l
}

// known are shipped motions that some library of this process has read, by path and version: what never
// changes is read once, however many servers a program has.
var known sync.Map

func readShipped(name, path string, data []byte, err error) *Motion {
	key := path + " " + Version(data)
	if m, ok := known.Load(key); ok && err == nil {
		return m.(*Motion)
	}
	m := read(name, path, data, err)
	if m.Shipped = true; err == nil {
		known.Store(key, m)
	}
	return m
}

// SetLimit bounds what is saved from now on. Setup.
func (l *Library) SetLimit(limit Limit) { l.limit = limit }

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

func same(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}

// stat returns what a file is, through links. What is not a regular file, such as a folder, a
// pipe or a device, and one that is not there, are passed over. A link to nowhere has a
// reason.
func (l *Library) stat(name string) (info fs.FileInfo, err error) {
	path := l.path(name)
	info, err = os.Stat(path)
	switch {
	case err == nil && info.Mode().IsRegular():
		return info, nil
	case err == nil:
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		if own, e := os.Lstat(path); e != nil || own.Mode()&fs.ModeSymlink == 0 {
			return nil, nil
		}
	}
	return nil, err
}

// look returns a motion of the folder as it is now, nil if there is none. It tells files
// apart by size, time and identity: one that was replaced is another file. It asks the
// disk.
func (l *Library) look(name string) *Motion {
	if l.dir == "" || CheckName(name) != nil {
		return nil
	}
	info, err := l.stat(name)
	if err != nil {
		return l.keep(name, &cached{motion: closed(name, err)})
	}
	if info == nil {
		l.keep(name, nil)
		return nil
	}
	l.mu.Lock()
	old := l.files[name]
	l.mu.Unlock()
	known := old != nil && old.info != nil && same(old.info, info)
	if known && !old.young && old.motion != nil {
		return old.motion
	}
	young := time.Since(info.ModTime()) < grain // before it is read
	now := &cached{motion: load(name, l.path(name)), info: info, young: young}
	if known && old.motion != nil && now.motion.Version == old.version {
		now.motion = old.motion
	}
	return l.keep(name, now)
}

// keep remembers a file, or that there is none (nil), and forgets the contents of others
// when they are too many.
func (l *Library) keep(name string, c *cached) *Motion {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old := l.files[name]; old != nil && old.motion != nil {
		l.held -= len(old.motion.Text)
	}
	if c == nil {
		delete(l.files, name)
		return nil
	}
	c.version = c.motion.Version
	l.files[name] = c
	l.held += len(c.motion.Text)
	for other, x := range l.files {
		if l.held <= maxHeld {
			break
		}
		if other != name && x.motion != nil && x.info != nil {
			l.held -= len(x.motion.Text)
			l.files[other] = &cached{version: x.version, info: x.info, young: x.young}
		}
	}
	return c.motion
}

func load(name, path string) *Motion {
	data, err := readPlain(path, int64(file.Bounds.Bytes))
	m := read(name, path, data, err)
	if m.Err != nil && len(data) > 0 && leadsOut(path) {
		// what is wrong with it would quote a file from outside the library
		return closed(name, fmt.Errorf("%s: it is a link that leads out of the folder, and what is there is no motion", path))
	}
	return m
}

// leadsOut reports whether a file is a link out of its folder.
func leadsOut(path string) bool {
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return true
	}
	target, err := filepath.EvalSymlinks(path)
	return err != nil || filepath.Dir(target) != folder
}

// Entry is a name of a library.
type Entry struct {
	Name    string
	Shipped bool
	Version string // as Get will return it; "" if the file was not read since it has changed
}

// statsPerTurn is how many files are looked at before others may ask the disk.
const statsPerTurn = 500

// Names lists the library by name without reading files. A motion of the folder hides the
// shipped one of its name.
func (l *Library) Names() ([]Entry, error) {
	names, err := l.folder()
	all := make([]Entry, 0, len(names)+len(l.shipped))
	own := map[string]bool{}
	for len(names) > 0 && err == nil {
		some := names[:min(len(names), statsPerTurn)]
		names = names[len(some):]
		var found []Entry
		if err = l.reading.do(func(*atomic.Bool) error { found = l.entries(some); return nil }); err != nil {
			break
		}
		for _, e := range found {
			own[e.Name] = true
		}
		all = append(all, found...)
	}
	if err != nil { // what is known of it
		l.mu.Lock()
		for name, c := range l.files {
			if !own[name] {
				own[name] = true
				all = append(all, Entry{Name: name, Version: c.version})
			}
		}
		l.mu.Unlock()
	}
	for name, m := range l.shipped {
		if !own[name] {
			all = append(all, Entry{Name: name, Shipped: true, Version: m.Version})
		}
	}
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return all, err
}

// folder lists the names of files in the folder, and forgets those that are gone.
func (l *Library) folder() ([]string, error) {
	if l.dir == "" {
		return nil, nil
	}
	var names []string
	err := l.reading.do(func(*atomic.Bool) error {
		entries, err := os.ReadDir(l.dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		found := map[string]bool{}
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), file.Extension); ok && CheckName(name) == nil {
				found[name] = true
			}
		}
		l.mu.Lock()
		for name := range l.files {
			if !found[name] {
				if m := l.files[name].motion; m != nil {
					l.held -= len(m.Text)
				}
				delete(l.files, name)
			}
		}
		l.mu.Unlock()
		names = slices.Sorted(maps.Keys(found))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return names, nil
}

// entries looks at some files of the folder.
func (l *Library) entries(names []string) (all []Entry) {
	for _, name := range names {
		info, err := l.stat(name)
		if info == nil && err == nil {
			continue
		}
		e := Entry{Name: name}
		l.mu.Lock()
		if c := l.files[name]; c != nil && !c.young && info != nil && c.info != nil && same(c.info, info) {
			e.Version = c.version
		}
		l.mu.Unlock()
		all = append(all, e)
	}
	return all
}

// List returns all motions by name, those that cannot be read too, with the reason.
// A motion of the folder hides the shipped one of its name.
func (l *Library) List() ([]*Motion, error) {
	names, err := l.Names()
	var all []*Motion
	for _, e := range names {
		m, e := l.Entry(e.Name)
		switch {
		case e != nil:
			err = errors.Join(err, e)
		case m != nil:
			all = append(all, m)
		}
	}
	return all, err
}

// Entry returns a motion whether it can be played or not, nil if there is none. If the
// folder does not answer, it is the one that was last read.
func (l *Library) Entry(name string) (*Motion, error) {
	if l.dir == "" {
		return l.shipped[name], nil
	}
	var m *Motion
	if err := l.reading.do(func(*atomic.Bool) error { m = l.look(name); return nil }); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if c := l.files[name]; c != nil && c.motion != nil {
			return c.motion, nil
		}
		return nil, about(name, ErrHangs, "cannot be looked for: %v", err)
	}
	if m == nil {
		return l.shipped[name], nil
	}
	return m, nil
}

// Get returns a motion that can be played. An unknown name is refused with those near
// to it, a file that cannot be read with the reason.
func (l *Library) Get(name string) (*Motion, error) {
	m, err := l.Entry(name)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return nil, l.unknown(name)
	case m.Err != nil:
		return m, about(name, ErrUnreadable, "cannot be read: %v", m.Err)
	}
	return m, nil
}

// find returns a motion as it is now. It asks the disk.
func (l *Library) find(name string) *Motion {
	if m := l.look(name); m != nil {
		return m
	}
	return l.shipped[name]
}

func (l *Library) unknown(name string) error {
	names, _ := l.folder() // without it there are the shipped ones to suggest
	for n := range l.shipped {
		names = append(names, n)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == name }) // it is there, and no motion
	slices.Sort(names)
	return about(name, ErrUnknown, "does not exist").With("%s", problem.DidYouMean(name, slices.Compact(names)))
}

// maxName bounds a name, so that the file's stays within what file systems allow.
const maxName = 100

// CheckName reports what is wrong with a name for a motion, nil if nothing is: it is part of a file's
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

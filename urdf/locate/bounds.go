package locate

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
)

// Bounds are the folders from which files may be read: a robot's own and those of
// packages. A description from another author names files; it shall not make the
// program read, and show, what is elsewhere on the machine.
type Bounds struct {
	// Open opens a folder as a file system that no name and no symbolic link leaves. Nil
	// is for a file system without links.
	Open func(dir string) (fsys fs.FS, done func(), err error)

	mu    sync.Mutex
	roots []string
	given map[string]bool
}

// OutsideError is a file outside the bounds.
type OutsideError struct{ Name string }

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s is outside the robot's folder and the package path (ROS_PACKAGE_PATH)", e.Name)
}

// Add allows reading from a folder, given by its absolute name. Without bounds it does
// nothing.
func (b *Bounds) Add(dir string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.root(dir); !known {
		b.roots = append(b.roots, path.Clean(dir))
	}
}

// Give allows reading one file, given by its absolute name, wherever it is.
func (b *Bounds) Give(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.given == nil {
		b.given = map[string]bool{}
	}
	b.given[name] = true
}

// root returns the folder that a name is in. The lock is held.
func (b *Bounds) root(name string) (string, bool) {
	for _, dir := range b.roots {
		if Within(name, dir) {
			return dir, true
		}
	}
	return "", false
}

// Within reports whether a clean absolute name is that of a folder or of something in it.
func Within(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

// Home returns the folder whose files belong together with those of a folder: the
// package that it is a part of, or, without one, the folder itself; of a folder that is
// called urdf or xacro, as packages have them, the one above.
func (f Files) Home(dir string) string {
	dir = f.Abs(dir)
	for up := dir; up != "/"; up = path.Dir(up) {
		if f.packageName(up) != "" {
			return up
		}
	}
	if base := path.Base(dir); base == "urdf" || base == "xacro" {
		return path.Dir(dir)
	}
	return dir
}

// Check returns an error if a name, or a link behind it, is outside the bounds.
func (f Files) Check(name string) error {
	fsys, inside, done, err := f.within(name)
	if err == nil {
		defer done()
		_, err = fs.Stat(fsys, inside)
		err = f.escaped(name, err)
	}
	var outside *OutsideError
	if errors.As(err, &outside) {
		return err
	}
	return nil
}

// escaped turns the error of a link that leads outside, for which package os has words but
// no value, into one that says so.
func (f Files) escaped(name string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) && strings.Contains(p.Err.Error(), "escapes") {
		return &OutsideError{Name: f.Abs(name)}
	}
	return err
}

// within returns a file system that holds a name within the bounds, the name there, and
// what is to be called when that is read.
func (f Files) within(name string) (fsys fs.FS, inside string, done func(), err error) {
	everywhere := func() (fs.FS, string, func(), error) { return f.FS, f.inFS(name), func() {}, nil }
	b := f.Bounds
	if b == nil {
		return everywhere()
	}
	abs := f.Abs(name)
	b.mu.Lock()
	root, ok := b.root(abs)
	given := b.given[abs]
	b.mu.Unlock()
	switch {
	case given:
		return everywhere()
	case !ok:
		return nil, "", nil, &OutsideError{Name: abs}
	case b.Open == nil:
		return everywhere()
	}
	if inside = strings.TrimPrefix(strings.TrimPrefix(abs, root), "/"); inside == "" {
		inside = "."
	}
	fsys, done, err = b.Open(root)
	return fsys, inside, done, err
}

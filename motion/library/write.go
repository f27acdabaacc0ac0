package library

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"poise/motion"
	"poise/motion/file"
)

// temporary begins the names of files that are being written. They begin with a dot
// and do not end as motions do, so they are not listed.
const temporary = ".poise-writing-"

// Put stores a motion and returns its version. Seen is the version that the writer
// last saw: "" if the motion must not exist yet. The comments of the file that it
// replaces are kept. A shipped motion is not changed: the folder's one hides it.
func (l *Library) Put(name string, d *motion.Document, seen string) (version string, _ error) {
	if err := errors.Join(CheckName(name), d.Check()); err != nil {
		return "", err
	}
	result := "" // a writer that was left behind keeps it
	err := l.change(func() error {
		old := l.find(name)
		if err := fits(name, old, seen); err != nil {
			return err
		}
		var previous []byte
		if old != nil {
			previous = old.Text
		}
		text := file.Write(d, previous)
		if _, err := file.Read(text, name); err != nil {
			return fmt.Errorf("motion %q would not be read back: %w", name, err)
		}
		result = Version(text)
		if err := l.room(name, int64(len(text)), int64(len(previous))); err != nil {
			return err
		}
		return l.replace(l.path(name), text)
	})
	if err != nil {
		return "", err
	}
	return result, nil
}

// Delete removes a motion of the folder. Afterwards a shipped one of the same name is
// seen again; that one cannot be removed.
func (l *Library) Delete(name, seen string) error {
	return l.change(func() error {
		if err := l.own(name, seen); err != nil {
			return err
		}
		l.step("remove")
		return os.Remove(l.path(name))
	})
}

// Rename gives a motion of the folder a name that is free.
func (l *Library) Rename(from, to, seen string) error {
	if err := CheckName(to); err != nil {
		return err
	}
	return l.change(func() error {
		if err := l.own(from, seen); err != nil {
			return err
		}
		if l.find(to) != nil {
			return about(to, ErrExists, "exists already")
		}
		l.step("rename")
		return os.Rename(l.path(from), l.path(to))
	})
}

// own checks that a motion of the folder is there, in the version that was seen.
func (l *Library) own(name, seen string) error {
	switch m := l.find(name); {
	case m == nil:
		return l.unknown(name)
	case m.Shipped:
		return about(name, ErrReadOnly, "comes with the robot and cannot be changed")
	default:
		return fits(name, m, seen)
	}
}

// fits checks that the version that was seen is the one there is.
func fits(name string, m *Motion, seen string) error {
	switch {
	case m == nil && seen == "":
		return nil
	case m == nil:
		return about(name, ErrStale, "is gone: version %s was seen", seen)
	case seen == "":
		return about(name, ErrExists, "exists already, in version %s", m.Version)
	case seen != m.Version:
		return about(name, ErrStale, "has changed: it is version %s, version %s was seen", m.Version, seen)
	}
	return nil
}

func (l *Library) path(name string) string { return filepath.Join(l.dir, name+file.Extension) }

func (l *Library) step(name string) {
	if l.interrupt != nil {
		l.interrupt(name)
	}
}

// change runs a change of the folder alone: one at a time in this process, and among
// processes by a lock on the folder.
func (l *Library) change(do func() error) error {
	if l.dir == "" {
		return ErrReadOnly
	}
	return l.writing.do(func(abandoned *atomic.Bool) error {
		if err := makeFolder(l.dir); err != nil {
			return err
		}
		unlock, err := lock(l.dir, abandoned)
		if err != nil {
			return err
		}
		defer unlock()
		if err := l.sweep(); err != nil || abandoned.Load() { // then it was told to have failed
			return err
		}
		if err := do(); err != nil {
			return err
		}
		l.step("sync folder")
		return syncFolder(l.dir)
	})
}

// sweep removes what a writer that was killed left behind. Writers hold the lock while
// such a file exists: under the lock, a file that is there was left behind.
func (l *Library) sweep() error {
	entries, err := os.ReadDir(l.dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), temporary) {
			err = errors.Join(err, ignoreMissing(os.Remove(filepath.Join(l.dir, e.Name()))))
		}
	}
	return err
}

// room checks that the folder may take a file of some size in the place of another.
func (l *Library) room(name string, size, before int64) error {
	if l.limit == (Limit{}) {
		return nil
	}
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return err
	}
	count, bytes := 1, size-before
	for _, e := range entries {
		if own, ok := strings.CutSuffix(e.Name(), file.Extension); ok && own != name {
			count++
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
	}
	switch {
	case l.limit.Motions > 0 && count > l.limit.Motions:
		return about(name, ErrFull, "has no room: the folder would have %d motions, at most %d are allowed", count, l.limit.Motions).With("delete some, or allow more: limits.motions")
	case l.limit.Bytes > 0 && bytes > l.limit.Bytes && size > before:
		return about(name, ErrFull, "has no room: the folder would have %d bytes, at most %d are allowed", bytes, l.limit.Bytes).With("delete some, or allow more: limits.motions_megabytes")
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// replace puts a file in the place of another, whole: written beside it, on the disk
// before it has its name, and renamed, which happens at once or not at all.
func (l *Library) replace(path string, text []byte) error {
	l.step("create")
	f, err := os.CreateTemp(l.dir, temporary)
	if err != nil {
		return err
	}
	undo := func(err error) error {
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	l.step("write")
	half := len(text) / 2
	if _, err := f.Write(text[:half]); err != nil {
		return undo(err)
	}
	l.step("write on")
	if _, err := f.Write(text[half:]); err != nil {
		return undo(err)
	}
	if err := f.Chmod(0o644); err != nil {
		return undo(err)
	}
	l.step("sync file")
	if err := f.Sync(); err != nil {
		return undo(err)
	}
	if err := f.Close(); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	l.step("rename")
	if err := os.Rename(f.Name(), path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// makeFolder makes a folder and those above it, on the disk before anything is in it.
func makeFolder(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	above := filepath.Dir(dir)
	if above != dir {
		if err := makeFolder(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(above)
}

// syncFolder brings the names of a folder to the disk.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

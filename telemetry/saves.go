package telemetry

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Reasons of saved rings that are worth less than others: they have few places of their own,
// and go first when the disk is full.
const (
	Warning = "warning" // a fault about which nothing is done
	Earlier = "earlier" // a run that ended in order
	crashed = "crash"   // a run that did not
)

const (
	savedFolder = ".saved" // after the name of the recording
	savedTime   = "20060102-150405.000"
	minorSaves  = 2 // how many saved rings of the lesser reasons are kept
	leastRing   = 2 // whole parts that a ring keeps on a full disk while there are older saves
	leastSave   = 2 // parts that the newest saved ring keeps: the last ones, which tell why
)

// pending is a save that is due.
type pending struct {
	reasons string
	due     time.Time // until then what follows is waited for
	lost    uint64    // ticks that were missing before
}

// add adds a reason.
func (p *pending) add(f *File, reason string) {
	switch {
	case p.reasons == "":
		p.reasons, p.due = reason, time.Now().Add(saveSoon)
		_, p.lost, _ = f.State()
	case !slices.Contains(strings.Split(p.reasons, "+"), reason):
		p.reasons += "+" + reason
	}
}

// save keeps all parts in a folder of their own: as second names of the same files, which
// costs nothing and needs no room. Ticks that are missing since the reason came are told.
func (f *File) save(p *pending) {
	f.finish()
	f.savedAt = later(time.Now().UTC(), f.savedAt.Add(time.Millisecond)) // names are in order, and are not used twice
	err := f.link(filepath.Join(f.name+savedFolder, f.savedAt.Format(savedTime)+"-"+p.reasons))
	_, lost, _ := f.State()
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err != nil:
		f.saved = fmt.Errorf("the recording %s cannot be saved at %s: %w", f.name, p.reasons, err)
	case lost > p.lost:
		f.saved = fmt.Errorf("the recording %s was saved at %s without %d ticks, which could not be written", f.name, p.reasons, lost-p.lost)
	default:
		f.saved = nil
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// link gives all parts a second name in a folder, the newest first: they tell why.
func (f *File) link(dir string) error {
	if err := f.insist(func() error { return f.disk.MkdirAll(dir) }); err != nil {
		return err
	}
	f.mu.Lock()
	parts := slices.Clone(f.parts)
	f.mu.Unlock()
	var errs []error
	for _, p := range slices.Backward(parts) {
		err := f.insist(func() error { return f.disk.Link(p.name, filepath.Join(dir, filepath.Base(p.name))) })
		if !errors.Is(err, fs.ErrNotExist) { // it made room for a newer one
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, f.forget())...)
}

// insist does something again and again on a disk that is full, as long as there is
// something to give up for it. What was given up makes room only when it is closed, which
// happens beside: that is waited for before more is given up.
func (f *File) insist(do func() error) error {
	for {
		err := do()
		if noRoom(err) {
			f.syncs.Wait()
			err = do()
		}
		if !noRoom(err) || !f.giveUp() {
			return err
		}
	}
}

// giveUp removes, on a full disk, what is worth least of all that the recording has, and
// reports whether there was anything: saved rings of lesser reasons, then all but the last
// parts of the ring, then the older saved rings, then the older parts of the newest one, then
// the rest of the ring. A part that has two names makes room when both are gone.
func (f *File) giveUp() bool {
	saves := f.savedRings()
	minor := slices.IndexFunc(saves, savedRing.minor)
	switch {
	case minor >= 0:
		return f.disk.RemoveAll(saves[minor].name) == nil
	case f.drop(leastRing + 1):
		return true
	case len(saves) > 1:
		return f.disk.RemoveAll(saves[0].name) == nil
	case len(saves) == 1 && len(saves[0].parts) > leastSave:
		return f.disk.Remove(filepath.Join(saves[0].name, saves[0].parts[0].Name())) == nil
	}
	return f.drop(0)
}

// forget removes saved rings that are too many or too long, the oldest first, and never the
// newest of them.
func (f *File) forget() error {
	saves := f.savedRings()
	var minor, major []savedRing
	for _, s := range saves {
		if s.minor() {
			minor = append(minor, s)
		} else {
			major = append(major, s)
		}
	}
	var errs []error
	remove := func(from []savedRing) []savedRing {
		errs = append(errs, f.disk.RemoveAll(from[0].name))
		return from[1:]
	}
	for len(minor) > minorSaves {
		minor = remove(minor)
	}
	for len(major) > f.options.Saves {
		major = remove(major)
	}
	for f.besides(append(slices.Clone(minor), major...)) > f.options.Saved {
		switch {
		case len(minor) > 0 && len(minor)+len(major) > 1:
			minor = remove(minor)
		case len(major) > 1:
			major = remove(major)
		default:
			return errors.Join(errs...)
		}
	}
	return errors.Join(errs...)
}

// besides returns how many bytes saved rings take that are not those of the ring. A file that
// has several names counts once.
func (f *File) besides(saves []savedRing) (bytes int64) {
	f.mu.Lock()
	parts := slices.Clone(f.parts)
	f.mu.Unlock()
	var counted []fs.FileInfo
	for _, p := range parts {
		if at, err := os.Stat(p.name); err == nil {
			counted = append(counted, at)
		}
	}
	for _, s := range saves {
		for _, p := range s.parts {
			at, err := p.Info()
			if err != nil || slices.ContainsFunc(counted, func(o fs.FileInfo) bool { return os.SameFile(at, o) }) {
				continue
			}
			counted = append(counted, at)
			bytes += at.Size()
		}
	}
	return bytes
}

// savedRing is a folder in which a ring was saved.
type savedRing struct {
	name  string
	parts []fs.DirEntry // oldest first
}

// minor reports whether all its reasons are of the lesser ones.
func (s savedRing) minor() bool {
	reasons := strings.TrimPrefix(filepath.Base(s.name), savedAt.FindString(filepath.Base(s.name)))
	return !slices.ContainsFunc(strings.Split(reasons, "+"), func(r string) bool { return r != Warning && r != Earlier })
}

// savedAt is how the names of saved rings begin.
var savedAt = regexp.MustCompile(`^[0-9]{8}-[0-9]{6}\.[0-9]{3}-`)

// savedRings lists what is saved, oldest first: names begin with times. Folders of others are
// left alone.
func (f *File) savedRings() (all []savedRing) {
	entries, _ := f.disk.ReadDir(f.name + savedFolder) // that there is none is no mistake
	for _, e := range entries {
		if !e.IsDir() || !savedAt.MatchString(e.Name()) {
			continue
		}
		s := savedRing{name: filepath.Join(f.name+savedFolder, e.Name())}
		s.parts, _ = f.disk.ReadDir(s.name)
		slices.SortFunc(s.parts, func(a, b fs.DirEntry) int { return compareParts(a.Name(), b.Name()) })
		all = append(all, s)
	}
	return all
}

// PutAside moves what an earlier run has left of a recording among the saved rings, under a
// name that says whether it ended in order. It returns the folder, "" if there was nothing.
func PutAside(name string) (dir string, err error) { return putAside(realDisk{}, name) }

func putAside(d disk, name string) (dir string, err error) {
	parts := Parts(name)
	if len(parts) == 0 {
		return "", nil
	}
	last := parts[len(parts)-1]
	at, err := os.Stat(last)
	if err != nil {
		return "", err
	}
	reason := crashed
	if endsInOrder(last) {
		reason = Earlier
	}
	dir = filepath.Join(name+savedFolder, at.ModTime().UTC().Format(savedTime)+"-"+reason)
	for err = d.MkdirAll(dir); noRoom(err) && len(parts) > 1; err = d.MkdirAll(dir) { // its oldest part makes room
		if err := d.Remove(parts[0]); err != nil {
			return "", err
		}
		parts = parts[1:]
	}
	if err != nil {
		return "", err
	}
	var errs []error
	for _, p := range parts {
		errs = append(errs, d.Rename(p, filepath.Join(dir, filepath.Base(p))))
	}
	return dir, errors.Join(errs...)
}

// endMark is the record with which a recording that ended in order ends.
const endMark = "\x06\x00\x00\x00\x00\x00"

// endsInOrder reports whether a part is the last one of a run that ended in order.
func endsInOrder(name string) bool {
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	end := make([]byte, len(endMark))
	if _, err := file.Seek(-int64(len(end)), io.SeekEnd); err != nil {
		return false
	}
	_, err = io.ReadFull(file, end)
	return err == nil && string(end) == endMark
}

// Parts lists the files of a recording in their order: of one that is named by its first
// part, even if that was overwritten, or of a folder in which a ring was saved.
func Parts(name string) (all []string) {
	if at, err := os.Stat(name); err == nil && at.IsDir() {
		all, _ = filepath.Glob(filepath.Join(escape(name), "*")) // the pattern is good
	} else {
		if err == nil {
			all = append(all, name)
		}
		more, _ := filepath.Glob(escape(name) + ".[0-9][0-9][0-9][0-9][0-9][0-9]*") // the pattern is good
		all = append(all, slices.DeleteFunc(more, func(p string) bool { return !numbered.MatchString(p) })...)
	}
	slices.SortFunc(all, compareParts)
	return all
}

// compareParts orders the names of parts: the longer one has the larger number.
func compareParts(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// escape makes a name a pattern of itself.
func escape(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

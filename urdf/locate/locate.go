package locate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"poise/internal/xmltree"
)

// Files is what may be read: a file system, and where packages are.
//
// Names are written with slashes. An absolute name starts at the root of FS, a
// relative one at Dir. With FS = os.DirFS("/") and Dir = the working folder,
// names mean what they mean on the command line.
type Files struct {
	FS       fs.FS
	Dir      string   // absolute; "" is the root
	Packages []string // folders of packages, searched in order for $(find p) and package://p
	Bounds   *Bounds  // of what is read; nil: all of FS
}

// Abs makes a name absolute and clean.
func (f Files) Abs(name string) string {
	if !path.IsAbs(name) {
		name = path.Join("/", f.Dir, name)
	}
	return path.Clean(name)
}

// inFS turns a name into one that FS knows.
func (f Files) inFS(name string) string {
	if name = strings.TrimPrefix(f.Abs(name), "/"); name == "" {
		return "."
	}
	return name
}

func (f Files) isDir(name string) bool {
	info, err := fs.Stat(f.FS, f.inFS(name))
	return err == nil && info.IsDir()
}

// Find returns the folder of a package, from which files may be read then. It is looked for as a folder of that
// name in each folder of the search path (or in its subfolder share, as ROS 2
// installs); a folder of the search path may also be the package itself, and so
// may any folder above the file from, because a description that is not
// installed still stands inside of its own package: by its package.xml, or one of the
// nearest by its name.
func (f Files) Find(pkg, from string) (string, error) {
	dir, err := f.find(pkg, from)
	if err == nil {
		f.Bounds.Add(dir)
	}
	return dir, err
}

// nearest is how many folders above a file may be packages by their names alone.
const nearest = 3

func (f Files) find(pkg, from string) (string, error) {
	if pkg == "" || pkg == "." || pkg == ".." || strings.ContainsAny(pkg, `/\`) {
		return "", fmt.Errorf("%q is not the name of a package", pkg)
	}
	for _, dir := range f.Packages {
		for _, candidate := range []string{path.Join(dir, pkg), path.Join(dir, "share", pkg)} {
			if f.isDir(candidate) {
				return f.Abs(candidate), nil
			}
		}
		if f.isPackage(dir, pkg) {
			return f.Abs(dir), nil
		}
	}
	if from != "" {
		up := 0
		for dir := path.Dir(f.Abs(from)); dir != "/"; dir = path.Dir(dir) {
			if up++; up <= nearest && f.isPackage(dir, pkg) || f.packageName(dir) == pkg {
				return dir, nil
			}
			if sibling := path.Join(path.Dir(dir), pkg); f.packageName(sibling) == pkg {
				return sibling, nil
			}
		}
	}
	return "", fmt.Errorf("package %q is in none of the folders %v", pkg, f.Packages)
}

// isPackage tells whether a folder is that package, by its own name or by the
// one in its package.xml.
func (f Files) isPackage(dir, pkg string) bool {
	dir = f.Abs(dir)
	return path.Base(dir) == pkg && f.isDir(dir) || f.packageName(dir) == pkg
}

// packageName is the name that a folder's package.xml gives, "" if it has none.
func (f Files) packageName(dir string) string {
	f.Bounds = nil // which the package is not in yet
	data, err := f.Read(path.Join(dir, "package.xml"), 1<<20)
	if err != nil {
		return ""
	}
	root, err := xmltree.Parse(data, "package.xml", xmltree.Limits{})
	if err != nil {
		return ""
	}
	for n := range root.Elements() {
		if n.Name == "name" && len(n.Children) == 1 {
			return strings.TrimSpace(n.Children[0].Text)
		}
	}
	return ""
}

// Resolve returns the name of the file that another file refers to: package://
// and file:// are followed, a relative name starts at the folder of from.
func (f Files) Resolve(spec, from string) (string, error) {
	if rest, ok := strings.CutPrefix(spec, "package://"); ok {
		pkg, rest, _ := strings.Cut(rest, "/")
		dir, err := f.Find(pkg, from)
		return path.Join(dir, rest), err
	}
	spec = strings.TrimPrefix(spec, "file://")
	if path.IsAbs(spec) {
		return path.Clean(spec), nil
	}
	return path.Join(path.Dir(from), spec), nil
}

var errNotRegular = errors.New("not a regular file")

// ErrTooLarge is the error of Read for a file beyond the limit.
var ErrTooLarge = errors.New("file is too large")

// Exists reports whether there is a file of that name. One that cannot be looked at, such
// as a link that leads outside the bounds, counts: who reads it is told why it cannot be
// read, and it is not passed over in silence.
func (f Files) Exists(name string) bool {
	fsys, inside, done, err := f.within(name)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer done()
	info, err := fs.Stat(fsys, inside)
	if err != nil {
		return f.escaped(name, err) != err
	}
	return !info.IsDir()
}

// Read returns the contents of a regular file that has no more than limit bytes and is
// within the bounds.
func (f Files) Read(name string, limit int) ([]byte, error) {
	fsys, inside, done, err := f.within(name)
	if err != nil {
		return nil, err
	}
	defer done()
	if info, err := fs.Stat(fsys, inside); err == nil && !info.Mode().IsRegular() {
		return nil, errNotRegular // opening a pipe would wait for a writer
	}
	file, err := fsys.Open(inside)
	if err != nil {
		return nil, f.escaped(name, err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	case info.Size() > int64(limit):
		return nil, ErrTooLarge
	}
	data, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = ErrTooLarge // it grew
	}
	return data, err
}

// maxListed bounds the entries of folders that one pattern may look at.
const maxListed = 1 << 16

// Glob returns the files that match a pattern, sorted. As in a shell, a name
// that begins with a point matches only a pattern that does. Folders that cannot
// be read have no files.
func (f Files) Glob(pattern string) ([]string, error) {
	found, left := []string{"."}, maxListed
	for part := range strings.SplitSeq(f.inFS(pattern), "/") {
		part = strings.ReplaceAll(part, "[!", "[^") // as Python and shells write it
		var deeper []string
		for _, dir := range found {
			names, err := f.matching(dir, part, &left)
			if err != nil {
				return nil, err
			}
			deeper = append(deeper, names...)
		}
		found = deeper
	}
	for i, name := range found {
		found[i] = "/" + name
	}
	slices.Sort(found)
	return found, nil
}

// matching lists what a folder has under a pattern for one name, and takes what
// it looks at from left.
func (f Files) matching(dir, pattern string, budget *int) (names []string, err error) {
	if !strings.ContainsAny(pattern, `*?[\`) {
		name := path.Join(dir, pattern)
		if _, err := fs.Stat(f.FS, name); err == nil {
			names = append(names, name)
		}
		*budget--
	} else {
		entries, _ := fs.ReadDir(f.FS, dir)
		*budget -= 1 + len(entries)
		for _, e := range entries {
			ok, err := path.Match(pattern, e.Name())
			if err != nil {
				return nil, err
			}
			if ok && (e.Name()[0] != '.' || pattern[0] == '.') {
				names = append(names, path.Join(dir, e.Name()))
			}
		}
	}
	if *budget < 0 {
		return nil, fmt.Errorf("the pattern looks at more than %d files", maxListed)
	}
	return names, nil
}

// Reader reads files within a bound for all of them together.
type Reader struct {
	Names []string // of the files that were read
	files Files
	left  int
	limit int
}

// NewReader returns a reader of at most limit bytes.
func NewReader(f Files, limit int) *Reader { return &Reader{files: f, left: limit, limit: limit} }

// Read returns the contents of a file.
func (r *Reader) Read(name string) ([]byte, error) {
	data, err := r.files.Read(name, r.left)
	switch {
	case errors.Is(err, ErrTooLarge):
		return nil, fmt.Errorf("%w: all files together have more than %d bytes", err, r.limit)
	case err != nil:
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err // who asks knows the name
		}
		return nil, err
	}
	r.left -= len(data)
	r.Names = append(r.Names, name)
	return data, nil
}

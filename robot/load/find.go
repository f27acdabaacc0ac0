package load

import (
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"poise/urdf"
)

// packages finds the folders of packages, as package:// and $(find …) mean
// them: where robot.yaml says, else on the search path, else above the robot's
// own folder, where a package lies that brings its robot along.
func (l *loader) findPackage(name string) (dir string, ok bool) {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, `/\`) {
		return "", false
	}
	var own []string
	for _, p := range l.described.Packages {
		own = append(own, path.Join(l.dir, filepath.ToSlash(p)))
	}
	for _, d := range append(append(own, slashes(l.opts.PackagePath)...), l.above()...) {
		if path.Base(d) == name && l.isFolder(d) {
			return d, true
		}
		if in := path.Join(d, name); l.isFolder(in) {
			return in, true
		}
	}
	return "", false
}

// above lists the folder of the robot and those over it.
func (l *loader) above() []string {
	dir := l.dir
	if l.fsys == Disk {
		if full, err := filepath.Abs(dir); err == nil {
			dir = filepath.ToSlash(full)
		}
	}
	var all []string
	for {
		all = append(all, dir)
		up := path.Dir(dir)
		if up == dir {
			return all
		}
		dir = up
	}
}

func (l *loader) isFolder(name string) bool {
	info, err := fs.Stat(l.fsys, name)
	return err == nil && info.IsDir()
}

func slashes(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = filepath.ToSlash(n)
	}
	return out
}

// meshes returns a function that tells whether a mesh is there. A mesh with a
// relative path lies beside the file that names it.
func (l *loader) meshes(doc *urdf.Document) func(string) bool {
	dir := path.Dir(doc.Pos.File)
	return func(mesh string) bool {
		if rest, ok := strings.CutPrefix(mesh, "package://"); ok {
			name, file, _ := strings.Cut(rest, "/")
			folder, found := l.findPackage(name)
			return found && l.exists(path.Join(folder, file))
		}
		if u, err := url.Parse(mesh); err == nil && u.Scheme == "file" {
			return l.exists(u.Path)
		}
		if strings.Contains(mesh, "://") {
			return true // elsewhere: not ours to judge
		}
		if path.IsAbs(mesh) {
			return l.exists(mesh)
		}
		return l.exists(path.Join(dir, filepath.ToSlash(mesh)))
	}
}

// Package load finds a robot and reads all that belongs to it: the one place
// where robots touch files.
//
// A robot is a name shipped inside, a .urdf or .xacro file, or a folder. A
// folder with robot.yaml is read by it (docs/robot-yaml.md), and so is a file
// that the robot.yaml beside it names; without one the files of a folder are
// found by their names.
//
//	bot, err := load.Robot("pony", load.Options{})
//	fmt.Println(bot.Model.Mass())
package load

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"poise/problem"
	"poise/robot"
	"poise/robot/description"
	"poise/robot/shipped"
	"poise/servo/modelfile"
	"poise/urdf"
	"poise/urdf/locate"
)

// Options change what is read. The zero value reads the robot as it says
// itself.
type Options struct {
	Base           robot.Base
	Arguments      []description.Argument // of xacro, over those of robot.yaml
	Limits         string                 // file instead of the robot's own joint limits
	Cartesian      string                 // file instead of the robot's own Cartesian limits
	OverrideLimits bool                   // a limit file may loosen what the URDF says
	PackagePath    []string               // folders where packages are looked for
	Env            map[string]string      // what $(env …) of a xacro file sees

	// Unwritten are files of the robot's folder that are taken as if they were written, by
	// their names: what is in the folder under these names is not read.
	Unwritten map[string][]byte
}

// Loaded is a robot with what was noticed on the way.
type Loaded struct {
	Model    *robot.Model
	Warnings []string
	About    string  // what the robot is, in its own words; may be empty
	Folder   string  // of the robot's files, as named in messages
	File     string  // the URDF or xacro file, as named in messages
	Shipped  bool    // inside the program
	Options  Options // it was read with
	URDF     []byte  // the robot description, expanded if it was xacro
	// Mesh reads a mesh file by the name that the description gives it.
	Mesh func(name string) ([]byte, error)
	SRDF *urdf.Semantics // nil if there is none

	SRDFText []byte // as it stands in its file
	// Missing lists the meshes that are named and not found, Places where packages and
	// files beside the description were looked for.
	Missing, Places []string
}

// Robot reads a robot by name or path. An error holds every problem found.
func Robot(name string, opts Options) (*Loaded, error) {
	if isShipped(name) {
		bot, err := Folder(shipped.FS, name, opts)
		if bot != nil {
			bot.Shipped = true
		}
		return bot, err
	}
	info, err := os.Stat(name)
	switch {
	case err != nil && strings.ContainsAny(name, `/\.`):
		return nil, fmt.Errorf("robot %q: %w%s", name, reason(err), problem.Hint(filepath.Base(name), robotFiles(filepath.Dir(name))))
	case err != nil:
		return nil, fmt.Errorf("robot %q: neither shipped (%s) nor a file or folder%s",
			name, strings.Join(Shipped(), ", "), problem.Hint(name, Shipped()))
	}
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	disk := locate.Files{FS: os.DirFS("/"), Dir: filepath.ToSlash(here), Bounds: &locate.Bounds{Open: openRoot}}
	if info.IsDir() {
		return readFolder(disk, filepath.ToSlash(name), opts)
	}
	return readFile(disk, filepath.ToSlash(name), opts)
}

// mostFiles bounds the names of a folder that are compared with one that is not there.
const mostFiles = 1000

// robotFiles lists what could be meant in a folder where a robot was looked for: folders
// and description files.
func robotFiles(dir string) (names []string) {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	entries, _ := d.ReadDir(mostFiles) // none, if it is no folder
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); e.IsDir() || ext == ".urdf" || ext == ".xacro" {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}

// openRoot opens a folder of the disk from which no name and no link leads out.
func openRoot(dir string) (fs.FS, func(), error) {
	r, err := os.OpenRoot(filepath.FromSlash(dir))
	if err != nil {
		return nil, nil, err
	}
	return r.FS(), func() { r.Close() }, nil
}

// Shipped lists the robots inside the binary.
func Shipped() []string {
	entries, err := fs.ReadDir(shipped.FS, ".")
	if err != nil {
		panic(err) // the files are part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func isShipped(name string) bool {
	info, err := fs.Stat(shipped.FS, name)
	return err == nil && info.IsDir() && path.Dir(name) == "." && name != "."
}

// File reads a robot that is one URDF or xacro file.
func File(fsys fs.FS, name string, opts Options) (*Loaded, error) {
	return readFile(locate.Files{FS: fsys, Bounds: &locate.Bounds{}}, name, opts)
}

// Folder reads a robot folder.
func Folder(fsys fs.FS, dir string, opts Options) (*Loaded, error) {
	return readFolder(locate.Files{FS: fsys, Bounds: &locate.Bounds{}}, dir, opts)
}

func readFile(files locate.Files, name string, opts Options) (*Loaded, error) {
	l := newLoader(files, path.Dir(name), opts)
	l.files.Bounds.Give(l.files.Abs(name)) // who names a link means the file behind it
	if l.describes(name) {
		l.describe()
		return l.finishFolder(name)
	}
	return l.finish(l.readURDF(name, problem.Pos{}))
}

// describes tells whether the robot.yaml beside a file, if there is one, is about it.
func (l *loader) describes(name string) bool {
	about := path.Join(l.dir, "robot.yaml")
	if !l.exists(about) {
		return false
	}
	data, err := l.read(about)
	if err != nil {
		return false
	}
	d, _ := description.Read(data, about) // what is wrong with it is told if it is about this file
	if d == nil {
		return false
	}
	if d.URDF != "" {
		return path.Clean(filepath.ToSlash(d.URDF)) == path.Base(name)
	}
	for _, byDefault := range l.defaultFiles() {
		if l.exists(path.Join(l.dir, byDefault)) {
			return byDefault == path.Base(name)
		}
	}
	return false
}

func readFolder(files locate.Files, dir string, opts Options) (*Loaded, error) {
	l := newLoader(files, dir, opts)
	l.describe()
	return l.finishFolder(l.descriptionFile())
}

// finishFolder reads what belongs to a description file in its folder.
func (l *loader) finishFolder(name string) (*Loaded, error) {
	doc := l.readURDF(name, l.described.AtKey("urdf"))
	l.readSRDF()
	l.readLimits()
	l.readServoModels()
	return l.finish(doc)
}

// loader gathers a robot's parts and what is wrong with them.
type loader struct {
	files     locate.Files
	dir       string
	opts      Options
	described *description.Description
	file      string // the URDF or xacro file
	build     robot.Options
	text      []byte // of the URDF
	srdf      []byte // as it stands
	warnings  []string
	missing   []string // meshes
	errs      []error
}

func newLoader(files locate.Files, dir string, opts Options) *loader {
	for _, p := range opts.PackagePath {
		if p == "" {
			continue
		}
		files.Packages = append(files.Packages, filepath.ToSlash(p))
		files.Bounds.Add(files.Abs(filepath.ToSlash(p)))
	}
	files.Bounds.Add(files.Home(dir))
	return &loader{files: files, dir: dir, opts: opts, described: &description.Description{}}
}

func (l *loader) fail(err error) {
	if err != nil {
		l.errs = append(l.errs, err)
	}
}

// describe reads robot.yaml if the folder has one.
func (l *loader) describe() {
	name := path.Join(l.dir, "robot.yaml")
	if !l.exists(name) {
		return
	}
	data, err := l.read(name)
	if err != nil {
		l.fail(fmt.Errorf("%s: %w", name, err))
		return
	}
	d, err := description.Read(data, name)
	l.fail(err)
	if d == nil {
		return
	}
	l.described, l.build.Description = d, d
	var own []string
	beside := path.Dir(l.files.Abs(l.dir))
	for _, p := range d.Packages {
		folder := path.Join(l.dir, filepath.ToSlash(p))
		if !locate.Within(l.files.Abs(folder), beside) {
			l.fail(&problem.Problem{Code: description.Impossible, Pos: d.AtKey("packages"), Thing: "packages",
				Text: fmt.Sprintf("%q is neither in the robot's folder nor beside it: put it on the package path (ROS_PACKAGE_PATH)", p)})
			continue
		}
		own = append(own, folder)
	}
	l.files.Packages = append(own, l.files.Packages...)
}

// descriptionFile chooses the URDF or xacro file of a folder, "" if it has none.
func (l *loader) descriptionFile() string {
	if l.described.URDF != "" {
		return l.named("urdf", l.described.URDF)
	}
	tried := l.defaultFiles()
	for _, name := range tried {
		if p := path.Join(l.dir, name); l.exists(p) {
			return p
		}
	}
	l.fail(fmt.Errorf("%s: no robot description: there is neither %s", l.dir, strings.Join(tried, " nor ")))
	return ""
}

// defaultFiles are the names of a folder's description file if robot.yaml names none.
func (l *loader) defaultFiles() []string {
	base := l.folderName()
	return []string{base + ".urdf", base + ".urdf.xacro", base + ".xacro"}
}

func (l *loader) folderName() string { return path.Base(l.files.Abs(l.dir)) }

// named returns the path of a file that a key of robot.yaml names, "" if it may
// not be read.
func (l *loader) named(key, name string) string {
	if !filepath.IsLocal(name) {
		l.fail(&problem.Problem{Code: description.Impossible, Pos: l.described.AtKey(key), Thing: key,
			Text: fmt.Sprintf("%q is outside the robot's folder", name)})
		return ""
	}
	return path.Join(l.dir, filepath.ToSlash(name))
}

// optional returns the path of a file: named by a key, or by default where it
// exists. "" means that there is none.
func (l *loader) optional(key, name, byDefault string) string {
	if name != "" {
		return l.named(key, name)
	}
	if p := path.Join(l.dir, byDefault); l.exists(p) {
		return p
	}
	return ""
}

func (l *loader) readSRDF() {
	name := l.optional("srdf", l.described.SRDF, l.folderName()+".srdf")
	data := l.content(name, l.described.AtKey("srdf"))
	if data == nil {
		return
	}
	s, warnings, err := urdf.ParseSRDF(data, name)
	l.warn(warnings)
	l.fail(err)
	l.build.SRDF, l.srdf = s, data
}

// readLimits reads the limit files of the folder.
func (l *loader) readLimits() {
	joints := l.optional("joint_limits", l.described.JointLimits, "joint_limits.yaml")
	cartesian := l.optional("cartesian_limits", l.described.CartesianLimits, "pilz_cartesian_limits.yaml")
	if l.opts.Limits == "" {
		l.limitFile(joints, l.described.AtKey("joint_limits"))
	}
	if l.opts.Cartesian == "" && cartesian != joints {
		l.limitFile(cartesian, l.described.AtKey("cartesian_limits"))
	}
}

// readServoModels reads the files of servo models that robot.yaml names.
func (l *loader) readServoModels() {
	for _, name := range l.described.ModelFiles {
		file := l.named("servo_model_files", name)
		if data := l.content(file, l.described.AtKey("servo_model_files")); data != nil {
			set, err := modelfile.Read(data, file)
			l.fail(err)
			if set != nil {
				l.build.ServoModels = append(l.build.ServoModels, set)
			}
		}
	}
}

// limitFile takes what a limit file has; two files must not have the same.
func (l *loader) limitFile(name string, at problem.Pos) {
	data := l.content(name, at)
	if data == nil {
		return
	}
	table, cartesian, err := robot.ReadLimits(data, name)
	l.fail(err)
	if table != nil {
		if l.build.Limits != nil {
			l.fail(fmt.Errorf("%s: joint limits stand in %s already", name, l.build.Limits.File))
		}
		l.build.Limits = table
	}
	if cartesian != nil {
		if had := l.build.Cartesian; had != nil {
			l.fail(fmt.Errorf("%s: Cartesian limits stand at %s already", name, had.MaxTransVel.Source))
		}
		l.build.Cartesian = cartesian
	}
	if table == nil && cartesian == nil && err == nil {
		l.fail(fmt.Errorf("%s: has neither joint_limits nor cartesian_limits", name))
	}
}

// replaceLimits reads the limit files that the options name. A file that has
// both kinds serves for both unless the options name another.
func (l *loader) replaceLimits() {
	for _, name := range []string{l.opts.Limits, l.opts.Cartesian} {
		if name == "" {
			continue
		}
		data, err := readGiven(name)
		if err != nil {
			l.fail(fmt.Errorf("%s: %w", name, err))
			continue
		}
		table, cartesian, err := robot.ReadLimits(data, filepath.ToSlash(name))
		l.fail(err)
		if table != nil && (name == l.opts.Limits || l.opts.Limits == "") {
			l.build.Limits = table
		}
		if cartesian != nil && (name == l.opts.Cartesian || l.opts.Cartesian == "") {
			l.build.Cartesian = cartesian
		}
		if name == l.opts.Limits && table == nil && err == nil {
			l.fail(fmt.Errorf("%s: has no joint_limits", name))
		}
		if name == l.opts.Cartesian && cartesian == nil && err == nil {
			l.fail(fmt.Errorf("%s: has no cartesian_limits", name))
		}
	}
}

// finish builds the model of what was read.
func (l *loader) finish(doc *urdf.Document) (*Loaded, error) {
	l.replaceLimits()
	if doc == nil {
		return nil, errors.Join(l.errs...)
	}
	l.build.Base = l.opts.Base
	l.build.OverrideLimits = l.opts.OverrideLimits
	l.build.MeshExists = l.meshExists(doc)
	m, problems, err := robot.Build(doc, l.build)
	l.fail(err)
	for _, p := range problems {
		l.warnings = append(l.warnings, p.Error())
	}
	if err := errors.Join(l.errs...); err != nil {
		return nil, err
	}
	mesh := func(name string) ([]byte, error) {
		file, err := l.meshFile(name, doc)
		if err != nil {
			return nil, err
		}
		return l.read(file)
	}
	return &Loaded{Model: m, Warnings: l.warnings, About: l.described.Text, Folder: l.dir, File: l.file, Options: l.opts, URDF: l.text, Mesh: mesh, SRDF: l.build.SRDF, SRDFText: l.srdf,
		Missing: l.missing, Places: append([]string{l.dir}, l.files.Packages...)}, nil
}

func (l *loader) warn(warnings []urdf.Warning) {
	for _, w := range warnings {
		l.warnings = append(l.warnings, w.String())
	}
}

// content reads a file of the folder, nil if there is none or on an error; at
// is the place that names it.
func (l *loader) content(name string, at problem.Pos) []byte {
	if name == "" {
		return nil
	}
	data, err := l.read(name)
	if err != nil {
		l.fail(&problem.Problem{Code: description.Impossible, Pos: at, Thing: name, Text: err.Error()})
		return nil
	}
	return data
}

func (l *loader) exists(name string) bool {
	_, has := l.unwritten(name)
	return has || l.files.Exists(name)
}

// unwritten returns what a file is taken for that the options bring along.
func (l *loader) unwritten(name string) ([]byte, bool) {
	if path.Dir(path.Clean(name)) != path.Clean(l.dir) {
		return nil, false
	}
	data, has := l.opts.Unwritten[path.Base(name)]
	return data, has
}

// maxFile bounds what is read of one file, bytes; the parsers have bounds of
// their own below it.
const maxFile = 64 << 20

func (l *loader) read(name string) ([]byte, error) {
	if data, has := l.unwritten(name); has {
		return data, nil
	}
	data, err := l.files.Read(name, maxFile)
	return data, reason(err)
}

// readGiven reads a file that the command line names; it may be a pipe.
func readGiven(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, reason(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if len(data) > maxFile {
		return nil, locate.ErrTooLarge
	}
	return data, reason(err)
}

// reason takes the path out of an error that is going to be named anyway.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Copy writes the files of a robot, shipped or of a folder, into a new folder.
func Copy(name, folder string) error {
	if _, err := os.Stat(folder); err == nil {
		return fmt.Errorf("folder %q is there already: a copy of robot %q goes into a new one", folder, name)
	}
	from := os.DirFS(name)
	if isShipped(name) {
		sub, err := fs.Sub(shipped.FS, name)
		if err != nil {
			return err
		}
		from = sub
	}
	return os.CopyFS(folder, from)
}

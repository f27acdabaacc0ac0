package setup

import (
	"bytes"
	"cmp"
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
	"unicode"

	"poise/robot"
	"poise/robot/description"
	"poise/robot/load"
)

// The files that a set-up writes.
const (
	File       = "robot.yaml"
	LimitsFile = "joint_limits.yaml"
)

// Errors of a set-up, for programs.
var (
	ErrShipped = errors.New("comes with poise and is set up")
	ErrOther   = errors.New("robot.yaml is about another description")
	ErrChanged = errors.New("the file was changed meanwhile")
)

// Setup is a proposal for the files beside a URDF.
type Setup struct {
	Proposal *Proposal `json:"proposal"`
	Folder   string    `json:"folder"`
	Serve    string    `json:"serve"`   // command line with which it is served from now on
	Version  string    `json:"version"` // of the files as they are; Write refuses others
	Text     []byte    `json:"-"`       // robot.yaml as it would be
	Limits   []byte    `json:"-"`       // joint_limits.yaml as it would be, nil if it is not written
	Added    []string  `json:"added"`   // keys of robot.yaml
	Kept     []string  `json:"kept"`    // keys that stand there already

	files  files
	before []byte // robot.yaml as it is, nil without one
}

// files are those that a robot is read from.
type files struct {
	dir       string // on this machine
	urdf      string // name in the folder
	srdf      string // name in the folder, if it is not the one that is read anyway
	arguments []description.Argument
	opts      load.Options
	keys      []string // of robot.yaml as it is
	model     *robot.Model
	missing   []string // meshes
}

// Open proposes what is missing of the robot.yaml of a robot that was read. Nothing is
// written.
func Open(bot *load.Loaded) (*Setup, error) {
	if bot.Shipped {
		return nil, fmt.Errorf("robot %q %w: name the URDF file of another", bot.Model.Name(), ErrShipped)
	}
	dir, err := filepath.Abs(filepath.FromSlash(bot.Folder))
	if err != nil {
		return nil, err
	}
	file, err := filepath.Abs(filepath.FromSlash(bot.File))
	if err != nil {
		return nil, err
	}
	urdf, err := filepath.Rel(dir, file)
	if err != nil {
		return nil, err
	}
	s := &Setup{Folder: dir, Serve: "poise serve --robot " + quoted(dir)}
	s.files = files{dir: dir, urdf: filepath.ToSlash(urdf), arguments: bot.Options.Arguments, opts: bot.Options}
	s.files.opts.Arguments = nil // they stand in robot.yaml from now on
	if err := s.look(); err != nil {
		return nil, err
	}
	p := Propose(s.files.model)
	p.Packages, p.Notes = s.files.packages(p.Notes)
	if p.Limits && s.files.hasLimits() {
		p.Notes = append(p.Notes, fmt.Sprintf("limits: joints without acceleration limits are left so, as there is a limit file already; poise check %s --write-limits proposes them", quoted(dir)))
	}
	return s, s.Choose(p)
}

// look reads what is there, and the robot as it is once robot.yaml names its files.
func (s *Setup) look() error {
	f := &s.files
	name := filepath.Join(f.dir, File)
	data, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		s.before = append([]byte{}, data...) // not nil
		d, err := description.Read(data, name)
		if err != nil {
			return err
		}
		if d.URDF != "" && filepath.Clean(d.URDF) != f.urdf {
			return fmt.Errorf("%s: %w, %s: give %s a folder of its own", name, ErrOther, d.URDF, f.urdf)
		}
		f.keys = inOrder(d.Lines)
	}
	if slices.Contains(f.keys, "xacro_arguments") { // which are kept; others are for this time only
		f.opts.Arguments, f.arguments = f.arguments, nil
	}
	limits, err := os.ReadFile(filepath.Join(f.dir, LimitsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s.Version = version(s.before, limits)
	stem := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(f.urdf), ".xacro"), ".urdf")
	if _, err := os.Stat(filepath.Join(f.dir, stem+".srdf")); err == nil && stem != filepath.Base(f.dir) {
		f.srdf = stem + ".srdf"
	}
	head := (&Proposal{}).sections(f)
	text := f.compose(s.before, head)
	if _, err := description.Read(text, name); err != nil {
		return fmt.Errorf("%s: no key can be added at its end, which has to be that of a list of keys, one a line: %w", name, err)
	}
	bot, err := f.read(text, nil)
	if err != nil {
		return err
	}
	f.model, f.missing = bot.Model, bot.Missing
	return nil
}

func version(texts ...[]byte) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%t %d\n", t != nil, len(t))
		h.Write(t)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// inOrder returns keys in the order of their lines.
func inOrder(lines map[string]int) []string {
	return slices.SortedFunc(maps.Keys(lines), func(a, b string) int {
		return cmp.Or(cmp.Compare(lines[a], lines[b]), cmp.Compare(a, b))
	})
}

// hasLimits tells whether the robot has a limit file, which is kept.
func (f *files) hasLimits() bool {
	_, err := os.Stat(filepath.Join(f.dir, LimitsFile))
	return err == nil || slices.Contains(f.keys, "joint_limits")
}

// quoted writes a name as a shell reads it.
func quoted(name string) string {
	if strings.IndexFunc(name, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("/._-+:,@", c)
	}) < 0 {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// read reads the robot with files that are not written yet.
func (f *files) read(description, limits []byte) (*load.Loaded, error) {
	opts := f.opts
	opts.Unwritten = map[string][]byte{File: description}
	if limits != nil {
		opts.Unwritten[LimitsFile] = limits
	}
	return load.Robot(f.dir, opts)
}

// Choose takes a proposal, as it was made or changed, and words the files. It fails if the
// robot would not load with them.
func (s *Setup) Choose(p *Proposal) error {
	f := &s.files
	if err := p.check(); err != nil {
		return err
	}
	s.Proposal, s.Added, s.Kept, s.Limits = p, nil, f.keys, nil
	has := func(key string) bool { return slices.Contains(f.keys, key) }
	chosen := *p
	chosen.Limits = chosen.Limits && !f.hasLimits()
	p.Limits = chosen.Limits
	wanted := chosen.sections(f)
	unusable := map[string]bool{}
	if has("chains") { // what only others would use
		unusable["contacts"] = true
	}
	if has("contacts") || has("chains") { // sets that are not there cannot be named
		for i := range chosen.Limbs {
			chosen.Limbs = slices.Clone(chosen.Limbs)
			chosen.Limbs[i].Points = nil
		}
		wanted = chosen.sections(f)
	}
	if has("chains") || slices.ContainsFunc(f.model.Groups(), func(g robot.Group) bool { return g.Source != "" }) {
		unusable["groups"] = true // of chains that are called otherwise, or beside those of an SRDF
	}
	wanted = slices.DeleteFunc(wanted, func(x Section) bool { return unusable[x.Key] })
	if chosen.Limits {
		var text bytes.Buffer
		if err := robot.ProposeLimits(&text, f.model.Name(), f.model.Joints(), chosen.legs(f.model)); err != nil {
			return err
		}
		if chosen.ways(f.model) {
			fmt.Fprintf(&text, "\n# Limits of the tip on its way along lines and arcs (LIN, CIRC, POLYLINE), m/s, m/s² and rad/s.\n"+
				"# PROPOSED: assumed, those of a slow arm near people. MoveIt has them in pilz_cartesian_limits.yaml.\n%s\n", robot.ProposedCartesian)
		}
		s.Limits = bytes.ReplaceAll(text.Bytes(), []byte(filepath.ToSlash(f.dir)+"/"), nil) // its comments name places
	}
	s.Text = f.compose(s.before, wanted)
	for _, x := range wanted {
		if !has(x.Key) {
			s.Added = append(s.Added, x.Key)
		}
	}
	if _, err := f.read(s.Text, s.Limits); err != nil {
		return fmt.Errorf("the robot would not load with what is proposed: %w", err)
	}
	return nil
}

// compose adds sections that are missing to a robot.yaml, of which every byte is kept.
func (f *files) compose(before []byte, sections []Section) []byte {
	text := slices.Clone(before)
	if before == nil {
		text = fmt.Appendf(nil, "# How the robot is used; %s says how it is built. A proposal: read it and change it.\n"+
			"# Every key, also those that are not here, is explained in docs/robot-yaml.md.\n", oneLine(f.urdf))
	}
	first := before != nil
	for _, x := range sections {
		if slices.Contains(f.keys, x.Key) {
			continue
		}
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
		if first {
			text = append(text, "\n# What was missing, added by poise new-robot.\n"...)
			first = false
		}
		text = append(text, '\n')
		text = append(text, x.Text...)
	}
	return text
}

// packages finds folders in which packages of missing meshes are, and notes those that are
// nowhere. Only the robot's folder and the one around it may be named.
func (f *files) packages(notes []string) (found, _ []string) {
	around := filepath.Dir(f.dir)
	places := []string{f.dir, around}
	for _, p := range f.opts.PackagePath {
		if abs, err := filepath.Abs(p); err == nil && p != "" {
			places = append(places, abs)
		}
	}
	wanted := map[string]bool{}
	for _, l := range f.model.Document().Links {
		for _, v := range l.Visuals {
			wanted[packageOf(v.Geometry.Mesh)] = true
		}
		for _, c := range l.Collisions {
			wanted[packageOf(c.Geometry.Mesh)] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		for i, place := range places {
			info, err := os.Stat(filepath.Join(place, name))
			if name == "" || err != nil || !info.IsDir() || place == filepath.Dir(place) {
				continue
			}
			rel, err := filepath.Rel(f.dir, place)
			if err != nil || rel != ".." && strings.HasPrefix(rel, "..") && filepath.Dir(place) != around {
				if i >= 2 {
					notes = append(notes, fmt.Sprintf("packages: package %q is in %s, which robot.yaml cannot name: give --package-path each time, or set ROS_PACKAGE_PATH", name, place))
				}
				continue
			}
			if rel = filepath.ToSlash(rel); !slices.Contains(found, rel) {
				found = append(found, rel)
			}
			break
		}
	}
	still := f.missing
	if len(found) > 0 {
		if bot, err := f.read(f.compose(nil, (&Proposal{Packages: found}).sections(f)), nil); err == nil {
			still = bot.Missing
		}
	}
	if len(still) > 0 {
		notes = append(notes, fmt.Sprintf("packages: %d meshes are not found, the first is %s: put their package beside the robot's folder, or give --package-path; shapes or a skeleton are shown instead", len(still), still[0]))
	}
	return found, notes
}

func packageOf(mesh string) string {
	rest, ok := strings.CutPrefix(mesh, "package://")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	if !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) {
		return ""
	}
	return name
}

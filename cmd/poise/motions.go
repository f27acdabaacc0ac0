package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"poise/edge"
	"poise/motion"
	"poise/motion/file"
	"poise/motion/library"
	"poise/motion/lint"
	"poise/motion/rosgoal"
	"poise/motion/shipped"
	"poise/msgs/poisemsgs"
	"poise/robot"
	"poise/robot/load"
)

// motionsRobot is the robot of motions unless another is named.
const motionsRobot = "pony"

// motionsJob is one call of poise motions.
type motionsJob struct {
	e     *env
	dir   string
	robot string

	goal, ros1, replace, backward, marked bool
	out, plot                             string
	period, scale                         float64

	lib   *library.Library
	model *robot.Model
}

// motionsCommand lists, shows, judges, exchanges and draws stored motions.
func motionsCommand(e *env, fs *pflag.FlagSet) func(args []string) error {
	j := &motionsJob{e: e}
	fs.StringVar(&j.dir, "dir", "", "`folder` of motions instead of those that come with the robot")
	fs.StringVar(&j.robot, "robot", motionsRobot, "the `robot` that plays them")
	fs.BoolVar(&j.goal, "goal", false, "export: as FollowJointTrajectoryGoal JSON")
	fs.BoolVar(&j.ros1, "ros1", false, "export --goal: as the bytes that ROS 1 serialises")
	fs.BoolVar(&j.replace, "replace", false, "import: in the place of a motion of that name")
	fs.StringVar(&j.out, "o", "", "export: to a `file`")
	fs.StringVar(&j.plot, "plot", "", "preview: picture `file`, .png or .svg")
	fs.Float64Var(&j.period, "period", 0.02, "preview: `seconds` between samples")
	fs.Float64Var(&j.scale, "scale", 1, "preview, export --goal: times are multiplied by it")
	fs.BoolVar(&j.backward, "backward", false, "preview, export --goal: run backwards")
	fs.BoolVar(&j.marked, "marked", false, "preview, export --goal: from the start mark to the end mark")
	return func(args []string) error { return j.run(fs, args) }
}

// motionsVerbs are the first words of poise motions.
var motionsVerbs = []string{"list", "show", "lint", "import", "export", "preview"}

func (j *motionsJob) run(fs *pflag.FlagSet, args []string) error {
	verbs := map[string]func([]string) error{
		"list": j.list, "show": j.show, "lint": j.lint, "import": j.imports, "export": j.export, "preview": j.preview,
	}
	if len(args) == 0 || verbs[args[0]] == nil {
		return wrongVerb("motions", args, motionsVerbs)
	}
	if err := j.misplaced(fs, args[0]); err != nil {
		return err
	}
	return verbs[args[0]](args[1:])
}

// motionsFlags are the flags that verbs take beside --dir, --robot and --json.
var motionsFlags = map[string]string{"import": "replace", "export": "goal ros1 o scale backward marked", "preview": "plot period scale backward marked"}

// misplaced refuses flags that a verb would not look at, and a scale of nothing.
func (j *motionsJob) misplaced(fs *pflag.FlagSet, verb string) (err error) {
	allowed := strings.Fields("dir robot json " + motionsFlags[verb])
	fs.Visit(func(f *pflag.Flag) {
		switch {
		case err != nil:
		case !slices.Contains(allowed, f.Name):
			err = usagef("%s takes no %s", verb, dashed(f.Name))
		case verb == "export" && !j.goal && slices.Contains([]string{"ros1", "scale", "backward", "marked"}, f.Name):
			err = usagef("export takes --%s only with --goal: a motion file is exported whole", f.Name)
		case f.Name == "scale" && !(j.scale > 0):
			err = fmt.Errorf("a scale of %v: it must be more than 0", j.scale)
		}
	})
	return err
}

// open reads the robot and opens the library.
func (j *motionsJob) open() error {
	from := robotFlags{packages: packagePath()}
	bot, rest, err := from.load([]string{j.robot})
	if err != nil || len(rest) > 0 {
		return err
	}
	j.model = bot.Model
	if j.dir != "" {
		if info, err := os.Stat(j.dir); err != nil {
			return err
		} else if !info.IsDir() {
			return fmt.Errorf("%s is not a folder", j.dir)
		}
		j.lib = library.Open(j.dir, nil)
		return nil
	}
	if !slices.Contains(load.Shipped(), j.robot) || shipped.Of(j.robot) == nil {
		return fmt.Errorf("no motions come with robot %q: name a folder with --dir", j.robot)
	}
	j.lib = library.Open("", shipped.Of(j.robot))
	return nil
}

// one opens the library and returns the motion that is named.
func (j *motionsJob) one(args []string) (*library.Motion, error) {
	if len(args) != 1 {
		return nil, usagef("which motion? One name is wanted, %d are given", len(args))
	}
	if err := j.open(); err != nil {
		return nil, err
	}
	m, err := j.lib.Get(args[0])
	if errors.Is(err, library.ErrUnknown) {
		return nil, fmt.Errorf("%w (poise motions list lists what there is)", err)
	}
	return m, err
}

// part returns what of a motion is played.
func (j *motionsJob) part() motion.Part {
	return motion.Part{Marked: j.marked, Scale: j.scale, Backward: j.backward}
}

// print writes a value for programs.
func (j *motionsJob) print(v any) error { return encode(j.e.out, v) }

func encode(to io.Writer, v any) error {
	enc := json.NewEncoder(to)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// motionInfo is a line of the list.
type motionInfo struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Joints      []string `json:"joints"`
	Duration    float64  `json:"duration"`
	Points      int      `json:"points"`
	Events      int      `json:"events"`
	Loop        bool     `json:"loop"`
	StartPose   string   `json:"start_pose"`
	Shipped     bool     `json:"shipped"`
	Version     string   `json:"version"`
	Error       string   `json:"error"`
}

func infoOf(m *library.Motion) motionInfo {
	i := motionInfo{Name: m.Name, Shipped: m.Shipped, Version: m.Version, Tags: []string{}, Joints: []string{}}
	if m.Err != nil {
		i.Error = m.Err.Error()
	}
	if d := m.Document; d != nil {
		i.Description, i.Duration, i.Points, i.Events, i.Loop, i.StartPose = d.Description, d.Duration(), len(d.Points), len(d.Events), d.Loop, d.StartPose
		i.Tags = append(i.Tags, d.Tags...)
		for _, joint := range d.Joints {
			i.Joints = append(i.Joints, joint.Name)
		}
	}
	return i
}

// list prints every motion, those that cannot be read with the reason.
func (j *motionsJob) list(args []string) error {
	if len(args) > 0 {
		return usagef("%q is too much", args[0])
	}
	if err := j.open(); err != nil {
		return err
	}
	all, err := j.lib.List()
	if err != nil {
		return err
	}
	infos := []motionInfo{}
	for _, m := range all {
		infos = append(infos, infoOf(m))
	}
	if j.e.json {
		return j.print(infos)
	}
	w := tabwriter.NewWriter(visible{j.e.out}, 0, 0, 2, ' ', 0)
	for _, i := range infos {
		if i.Error != "" {
			fmt.Fprintf(w, "%s\t\t\t\tcannot be read: %s\n", i.Name, strings.ReplaceAll(i.Error, "\n", "; "))
			continue
		}
		loop := ""
		if i.Loop {
			loop = " loop"
		}
		fmt.Fprintf(w, "%s\t%.4g s%s\t%d points\t%d joints\t%s\n", i.Name, i.Duration, loop, i.Points, len(i.Joints), strings.SplitN(i.Description, "\n", 2)[0])
	}
	return w.Flush()
}

// motionFinding is a finding with the motion that it is about.
type motionFinding struct {
	Motion string `json:"motion"`
	poisemsgs.Finding
}

// lint judges motions, all if none is named; any finding is a failure.
func (j *motionsJob) lint(args []string) error {
	if err := j.open(); err != nil {
		return err
	}
	var chosen []*library.Motion
	var errs []error
	if len(args) == 0 {
		all, err := j.lib.List()
		if err != nil {
			return err
		}
		chosen = all
	}
	for _, name := range args {
		m, err := j.lib.Get(name)
		if err != nil && !errors.Is(err, library.ErrUnreadable) {
			errs = append(errs, err)
			continue
		}
		chosen = append(chosen, m)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	found := []motionFinding{}
	told := map[string]bool{}
	for _, m := range chosen {
		if m.Err != nil {
			for _, one := range flatten(m.Err) {
				found = append(found, motionFinding{m.Name, poisemsgs.Finding{Rule: "unreadable", Text: one.Error(), Row: -1}})
			}
			continue
		}
		if err := lint.Unjudged(m.Document, j.model); err != nil && !told[err.Error()] {
			told[err.Error()] = true
			fmt.Fprintf(j.e.err, "poise: motions: %s: %v\n", m.Name, err)
		}
		for _, f := range edge.Findings(lint.Check(m.Document, j.model, lint.Options{})) {
			found = append(found, motionFinding{m.Name, f})
		}
	}
	if j.e.json {
		if err := j.print(found); err != nil {
			return err
		}
	} else {
		for _, f := range found {
			fmt.Fprintf(visible{j.e.out}, "%s: %s: %s\n", f.Motion, f.Rule, f.Text)
		}
		if len(found) == 0 {
			fmt.Fprintf(j.e.out, "%d motions, no findings\n", len(chosen))
		}
	}
	if len(found) > 0 {
		return errAnswered
	}
	return nil
}

// imports makes motions of goals, each named after its file.
func (j *motionsJob) imports(args []string) error {
	switch {
	case len(args) == 0:
		return usagef("which file? A FollowJointTrajectoryGoal as JSON, or as ROS 1 serialises it, is wanted")
	case j.dir == "":
		return usagef("import needs --dir: the shipped motions cannot be changed")
	}
	lib := library.Open(j.dir, nil)
	var errs []error
	for _, path := range args {
		if err := j.importOne(lib, path); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (j *motionsJob) importOne(lib *library.Library, path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if edge.IsSerialisedGoal(data) {
		if data, err = edge.StoredGoalText(data); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	d, notes, err := rosgoal.Read(data)
	if err != nil {
		return inFile(path, err)
	}
	base := filepath.Base(path)
	name := strings.TrimSuffix(base, filepath.Ext(base))
	seen := ""
	if old, _ := lib.Get(name); old != nil && (j.replace || bytes.Equal(old.Text, file.Write(d, nil))) {
		seen = old.Version
	}
	version, err := lib.Put(name, d, seen)
	if errors.Is(err, library.ErrExists) {
		return fmt.Errorf("%w: --replace takes its place", err)
	}
	if err != nil {
		return err
	}
	if seen != "" && version != seen {
		notes = append(notes, fmt.Sprintf("takes the place of a different motion %q, version %s", name, seen))
	}
	for _, n := range notes {
		fmt.Fprintf(j.e.err, "poise: motions: %s: %s\n", path, n)
	}
	if j.e.json {
		return j.print(struct {
			answered
			Name    string   `json:"name"`
			Version string   `json:"version"`
			Points  int      `json:"points"`
			Joints  int      `json:"joints"`
			Notes   []string `json:"notes"`
		}{answered{true, name + " is in the library"}, name, version, len(d.Points), len(d.Joints), append([]string{}, notes...)})
	}
	_, err = fmt.Fprintf(j.e.out, "%s: %d points, %d joints, %d supports\n", name, len(d.Points), len(d.Joints), len(d.Chains))
	return err
}

// export prints a motion: as its file, or as the goal that is played.
func (j *motionsJob) export(args []string) error {
	m, err := j.one(args)
	if err != nil {
		return err
	}
	text := m.Text
	switch {
	case j.e.json && !j.goal:
		var b bytes.Buffer
		if err := encode(&b, shown(m)); err != nil {
			return err
		}
		text = b.Bytes()
	case j.goal:
		g, err := m.Document.Goal(j.part())
		if err != nil {
			return err
		}
		if len(g.Events) > 0 {
			fmt.Fprintf(j.e.err, "poise: motions: %s: %d events are left out: a FollowJointTrajectoryGoal has no place for them\n", m.Name, len(g.Events))
		}
		text = rosgoal.Write(g)
		if j.ros1 {
			if text, err = edge.StoredGoalBytes(text); err != nil {
				return err
			}
		}
	}
	if j.out == "" {
		_, err = io.Copy(j.e.out, strings.NewReader(string(text)))
		return err
	}
	return os.WriteFile(j.out, text, 0o644)
}

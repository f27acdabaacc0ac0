package file

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"poise/control/follow"
	"poise/internal/strictyaml"
	"poise/motion"
	"poise/problem"
	"poise/trajectory"
)

// Extension ends the names of motion files.
const Extension = ".motion.yaml"

// Bounds are what a motion file may cost: some minutes of all joints of a robot,
// recorded by hand guiding.
var Bounds = strictyaml.Bounds{Bytes: 4 << 20, Values: 1 << 19}

// document is the file as it is written.
type document struct {
	Description   string   `yaml:"description"`
	Tags          []string `yaml:"tags"`
	StartPose     string   `yaml:"start_pose"`
	Loop          bool     `yaml:"loop"`
	GoalTime      float64  `yaml:"goal_time_tolerance"`
	Joints        []joint  `yaml:"joints"`
	Columns       []string `yaml:"columns"`
	SupportChains []string `yaml:"support_chains"`
	GoalOrder     []string `yaml:"goal_order"`
	Points        []point  `yaml:"points"`
	Events        []event  `yaml:"events"`
}

type joint struct {
	Name    string          `yaml:",key"`
	Line    int             `yaml:",line"`
	Path    strictyaml.Node `yaml:"path_tolerance"`
	Goal    strictyaml.Node `yaml:"goal_tolerance"`
	Enabled *bool           `yaml:"enabled"`
}

type tolerance struct {
	Position     float64 `yaml:"position"`
	Velocity     float64 `yaml:"velocity"`
	Acceleration float64 `yaml:"acceleration"`
}

type point struct {
	Line      int      `yaml:",line"`
	Time      *float64 `yaml:"time"`
	Label     string   `yaml:"label"`
	Mark      string   `yaml:"mark"`
	Enabled   *bool    `yaml:"enabled"`
	Positions []value  `yaml:"positions"`
	Supports  []value  `yaml:"supports"`
}

type value struct {
	Name  string  `yaml:",key"`
	Value float64 `yaml:",value"`
}

type event struct {
	Line    int      `yaml:",line"`
	Time    *float64 `yaml:"time"`
	Type    string   `yaml:"type"`
	Command string   `yaml:"command"`
	Options string   `yaml:"options"`
}

// reader turns the file into a document and gathers what is wrong.
type reader struct {
	name string
	errs []error
}

func (r *reader) errorf(line int, format string, a ...any) {
	r.errs = append(r.errs, &problem.Problem{Pos: problem.Pos{File: r.name, Line: line}, Text: fmt.Sprintf(format, a...)})
}

// Read reads a motion file; name is the file's in messages. Beside an error there is
// no document.
func Read(data []byte, name string) (*motion.Document, error) {
	var f document
	if err := strictyaml.DecodeWithin(data, name, &f, Bounds); err != nil {
		return nil, err
	}
	r := &reader{name: name}
	d := &motion.Document{
		Description: f.Description, Tags: f.Tags, StartPose: f.StartPose, Loop: f.Loop, GoalTimeTolerance: f.GoalTime,
		Columns: f.Columns, Chains: f.SupportChains, Order: f.GoalOrder,
	}
	for _, j := range f.Joints {
		d.Joints = append(d.Joints, motion.Joint{Name: j.Name, Enabled: isTrue(j.Enabled), Path: r.tolerance(j.Path), Goal: r.tolerance(j.Goal)})
	}
	r.points(d, f.Points)
	for _, e := range f.Events {
		if e.Time == nil {
			r.errorf(e.Line, "events: time is missing")
			continue
		}
		d.Events = append(d.Events, follow.Event{Time: *e.Time, Type: e.Type, Command: e.Command, Options: e.Options})
	}
	if len(r.errs) == 0 {
		if err := d.Check(); err != nil {
			r.errs = append(r.errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	return d, nil
}

func isTrue(b *bool) bool { return b == nil || *b }

// tolerance reads a number, the position's, or all three.
func (r *reader) tolerance(n strictyaml.Node) *trajectory.Tolerance {
	if n.Line() == 0 {
		return nil
	}
	var t tolerance
	var err error
	if _, mapping := n.Mapping(); mapping {
		err = n.Decode(&t)
	} else {
		err = n.Decode(&t.Position)
	}
	if err != nil {
		r.errs = append(r.errs, err)
	}
	return &trajectory.Tolerance{Position: t.Position, Velocity: t.Velocity, Acceleration: t.Acceleration}
}

// points makes the table of the rows. Columns and chains that the file does not list
// come in the order in which rows first have them.
func (r *reader) points(d *motion.Document, points []point) {
	columns, chains := numbered(d.Columns), numbered(d.Chains)
	for _, p := range points {
		d.Columns = extended(d.Columns, columns, p.Positions)
		d.Chains = extended(d.Chains, chains, p.Supports)
	}
	marks := map[string]int{}
	for _, p := range points {
		pt := motion.Point{Label: p.Label, Mark: motion.Mark(p.Mark), Enabled: isTrue(p.Enabled)}
		if p.Time == nil {
			r.errorf(p.Line, "points: time is missing")
		} else {
			pt.Time = *p.Time
		}
		switch first := marks[p.Mark]; {
		case pt.Mark == motion.NoMark:
		case pt.Mark != motion.StartMark && pt.Mark != motion.EndMark:
			r.errorf(p.Line, "points: mark: %q must be start or end", p.Mark)
		case first > 0:
			r.errorf(p.Line, "points: mark: the %s mark is already on line %d", p.Mark, first)
		}
		marks[p.Mark] = p.Line
		pt.Positions = row(len(d.Columns), columns, p.Positions)
		pt.Supports = row(len(d.Chains), chains, p.Supports)
		d.Points = append(d.Points, pt)
	}
}

func numbered(names []string) map[string]int {
	at := make(map[string]int, len(names))
	for i, n := range names {
		at[n] = i
	}
	return at
}

func extended(names []string, at map[string]int, values []value) []string {
	for _, v := range values {
		if _, known := at[v.Name]; !known {
			at[v.Name] = len(names)
			names = append(names, v.Name)
		}
	}
	return names
}

func row(n int, at map[string]int, values []value) []float64 {
	x := slices.Repeat([]float64{math.NaN()}, n)
	for _, v := range values {
		x[at[v.Name]] = v.Value
	}
	return x
}

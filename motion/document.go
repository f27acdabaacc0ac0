package motion

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"poise/control/follow"
	"poise/problem"
	"poise/trajectory"
)

// Document is one stored motion. Its name is that of its file.
type Document struct {
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	StartPose   string   `json:"start_pose"` // named pose in which it has to begin, "" for any
	Loop        bool     `json:"loop"`       // it may be repeated without a pause

	Joints            []Joint `json:"joints"`              // which take part, in the order of a goal
	GoalTimeTolerance float64 `json:"goal_time_tolerance"` // s; 0 the player's default, negative none

	Columns []string `json:"columns"` // joints that rows capture
	Chains  []string `json:"chains"`  // chains that rows say the support of
	Order   []string `json:"order"`   // columns of a goal, supports among joints; empty: joints, then supports

	Points []Point        `json:"points"`
	Events []follow.Event `json:"events"`
}

// Joint is a joint that takes part. One that is not enabled stays in the list and
// is left out of goals.
type Joint struct {
	Name    string                `json:"name"`
	Enabled bool                  `json:"enabled"`
	Path    *trajectory.Tolerance `json:"path_tolerance"` // as goals state it: 0 is the player's default, negative is none; nil: not stated
	Goal    *trajectory.Tolerance `json:"goal_tolerance"`
}

// Mark tells the row where part execution begins from the one where it ends.
type Mark string

// The marks of a row.
const (
	NoMark    Mark = ""
	StartMark Mark = "start"
	EndMark   Mark = "end"
)

// Point is a row of the table: a key pose.
type Point struct {
	Time      float64
	Label     string
	Enabled   bool // a row that is not stays in the table and is not played
	Mark      Mark
	Positions []float64 // one per column; NaN where it was not captured
	Supports  []float64 // one per chain, from this row on: 0 free, up to 1 its share; above 1 the contact's number is added
}

// pointJSON is a Point as JSON has it: there NaN is null.
type pointJSON struct {
	Time      float64    `json:"time"`
	Label     string     `json:"label"`
	Enabled   bool       `json:"enabled"`
	Mark      Mark       `json:"mark"`
	Positions []*float64 `json:"positions"`
	Supports  []*float64 `json:"supports"`
}

// MarshalJSON writes what was not captured as null.
func (p Point) MarshalJSON() ([]byte, error) {
	return json.Marshal(pointJSON{p.Time, p.Label, p.Enabled, p.Mark, withNull(p.Positions), withNull(p.Supports)})
}

// UnmarshalJSON reads null as not captured.
func (p *Point) UnmarshalJSON(data []byte) error {
	var j pointJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*p = Point{j.Time, j.Label, j.Enabled, j.Mark, withNaN(j.Positions), withNaN(j.Supports)}
	return nil
}

func withNull(x []float64) []*float64 {
	all := make([]*float64, len(x))
	for i := range x {
		if !math.IsNaN(x[i]) {
			all[i] = &x[i]
		}
	}
	return all
}

func withNaN(x []*float64) []float64 {
	all := make([]float64, len(x))
	for i := range x {
		if all[i] = math.NaN(); x[i] != nil {
			all[i] = *x[i]
		}
	}
	return all
}

// Clone returns a copy that shares nothing with d.
func (d *Document) Clone() *Document {
	c := *d
	c.Tags, c.Columns, c.Chains, c.Order = slices.Clone(d.Tags), slices.Clone(d.Columns), slices.Clone(d.Chains), slices.Clone(d.Order)
	c.Joints, c.Points, c.Events = slices.Clone(d.Joints), slices.Clone(d.Points), slices.Clone(d.Events)
	for i := range c.Joints {
		j := &c.Joints[i]
		j.Path, j.Goal = copied(j.Path), copied(j.Goal)
	}
	for i := range c.Points {
		p := &c.Points[i]
		p.Positions, p.Supports = slices.Clone(p.Positions), slices.Clone(p.Supports)
	}
	return &c
}

// copied returns a copy of a tolerance, nil of nil.
func copied(t *trajectory.Tolerance) *trajectory.Tolerance {
	if t == nil {
		return nil
	}
	c := *t
	return &c
}

// Marked returns the row with a mark, −1 if none has it.
func (d *Document) Marked(m Mark) int {
	return slices.IndexFunc(d.Points, func(p Point) bool { return p.Mark == m })
}

// Joint returns the place of a joint in the list of those that take part, −1 if it
// does not.
func (d *Document) Joint(name string) int {
	return slices.IndexFunc(d.Joints, func(j Joint) bool { return j.Name == name })
}

// Column returns the column of a joint, −1 if rows do not capture it.
func (d *Document) Column(name string) int { return slices.Index(d.Columns, name) }

// Captured returns what a row captured of a joint; ok is false if it did not.
func (d *Document) Captured(row int, joint string) (value float64, ok bool) {
	c := d.Column(joint)
	if c < 0 {
		return math.NaN(), false
	}
	value = d.Points[row].Positions[c]
	return value, !math.IsNaN(value)
}

// Duration returns the time from the first enabled row to the last.
func (d *Document) Duration() float64 {
	first, last := d.Span()
	return last - first
}

// Span returns the times of the first and the last enabled row, zero without any.
func (d *Document) Span() (first, last float64) {
	none := true
	for _, p := range d.Points {
		if !p.Enabled {
			continue
		}
		if none {
			first, last, none = p.Time, p.Time, false
		}
		first, last = min(first, p.Time), max(last, p.Time)
	}
	return first, last
}

// Check reports everything that a table cannot have: rows whose length is not that
// of the columns, names that come twice, times and values that are not finite,
// marks that are unknown or come twice. What is possible and wrong all the same, such
// as times that do not rise, motion/lint finds.
func (d *Document) Check() error {
	var p problems
	for _, list := range []struct {
		what  string
		names []string
	}{{"column", d.Columns}, {"chain", d.Chains}, {"order", d.Order}, {"joint", d.JointNames()}} {
		seen := map[string]bool{}
		for _, name := range list.names {
			if name == "" {
				p.add(problem.Problem{Code: ErrName, Text: fmt.Sprintf("a %s has no name", list.what)})
			} else if seen[name] {
				p.add(problem.Problem{Code: ErrName, Joint: name, Text: fmt.Sprintf("%s %q comes twice", list.what, name)})
			}
			seen[name] = true
		}
	}
	p.finite(d.GoalTimeTolerance, "the goal time tolerance", -1, "")
	for _, j := range d.Joints {
		for _, t := range []*trajectory.Tolerance{j.Path, j.Goal} {
			if t != nil {
				for _, v := range []float64{t.Position, t.Velocity, t.Acceleration} {
					p.finite(v, "a tolerance of "+j.Name, -1, j.Name)
				}
			}
		}
	}
	seen := map[Mark]int{}
	for i := range d.Points {
		d.checkPoint(&p, i, seen)
	}
	for i, e := range d.Events {
		p.finite(e.Time, fmt.Sprintf("the time of event %d", i+1), -1, "")
	}
	return p.err()
}

func (d *Document) checkPoint(p *problems, row int, seen map[Mark]int) {
	pt := &d.Points[row]
	p.finite(pt.Time, "its time", row, "")
	if len(pt.Positions) != len(d.Columns) {
		p.add(problem.Problem{Code: ErrSize, Row: row + 1, Value: float64(len(pt.Positions)), Limit: float64(len(d.Columns)),
			Text: fmt.Sprintf("%d positions for %d columns", len(pt.Positions), len(d.Columns))})
	}
	if len(pt.Supports) != len(d.Chains) {
		p.add(problem.Problem{Code: ErrSize, Row: row + 1, Value: float64(len(pt.Supports)), Limit: float64(len(d.Chains)),
			Text: fmt.Sprintf("%d supports for %d chains", len(pt.Supports), len(d.Chains))})
	}
	for i, v := range slices.Concat(pt.Positions, pt.Supports) {
		if math.IsInf(v, 0) {
			p.finite(v, fmt.Sprintf("value %d", i+1), row, "")
		}
	}
	switch pt.Mark {
	case NoMark:
	case StartMark, EndMark:
		if first, twice := seen[pt.Mark]; twice {
			p.add(problem.Problem{Code: ErrMark, Row: row + 1, Text: fmt.Sprintf("the %s mark is already at row %d", pt.Mark, first+1)})
		}
		seen[pt.Mark] = row
	default:
		p.add(problem.Problem{Code: ErrMark, Row: row + 1, Text: fmt.Sprintf("%q is no mark: start or end%s", string(pt.Mark), problem.Hint(string(pt.Mark), []string{string(StartMark), string(EndMark)}))})
	}
}

// JointNames lists the joints that take part, enabled or not.
func (d *Document) JointNames() []string {
	names := make([]string, len(d.Joints))
	for i, j := range d.Joints {
		names[i] = j.Name
	}
	return names
}

// Package rosgoal exchanges motions with ROS: it reads and writes the JSON of a
// control_msgs/FollowJointTrajectoryGoal, the form in which motions were stored before
// Poise: names, points with their times as secs and nsecs, tolerances, and columns
// support/CHAIN among the joints. Every number comes back bit for bit.
//
// Reading takes durations as {secs, nsecs} or {sec, nanosec}, refuses what is not a
// goal, and tells what a document has no place for.
package rosgoal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"

	"poise/control/follow"
	"poise/motion"
	"poise/problem"
	"poise/trajectory"
)

// maxBytes bounds a goal's text.
const maxBytes = 16 << 20

// maxTime is the longest time that a float64 of seconds holds to the nanosecond.
const maxTime = 4_000_000

// goal is control_msgs/FollowJointTrajectoryGoal.
type goal struct {
	Trajectory        table       `json:"trajectory"`
	PathTolerance     []tolerance `json:"path_tolerance"`
	GoalTolerance     []tolerance `json:"goal_tolerance"`
	GoalTimeTolerance duration    `json:"goal_time_tolerance"`
}

type table struct {
	Header     header   `json:"header"`
	JointNames []string `json:"joint_names"`
	Points     []point  `json:"points"`
}

type header struct {
	Seq     uint32   `json:"seq"`
	Stamp   duration `json:"stamp"`
	FrameID string   `json:"frame_id"`
}

type point struct {
	Positions     []float64 `json:"positions"`
	Velocities    []float64 `json:"velocities"`
	Accelerations []float64 `json:"accelerations"`
	Effort        []float64 `json:"effort"`
	TimeFromStart duration  `json:"time_from_start"`
}

type tolerance struct {
	Name         string  `json:"name"`
	Position     float64 `json:"position"`
	Velocity     float64 `json:"velocity"`
	Acceleration float64 `json:"acceleration"`
}

// duration is a time in either dialect of ROS.
type duration struct {
	Secs    int64 `json:"secs"`
	Nsecs   int64 `json:"nsecs"`
	Sec     int64 `json:"sec"`
	Nanosec int64 `json:"nanosec"`
}

// seconds returns the nearest number; ok is false for what it cannot hold.
func (d duration) seconds() (t float64, ok bool) {
	const most = maxTime * 1e9
	if d.Secs+d.Sec > maxTime || d.Secs+d.Sec < -maxTime || d.Nsecs+d.Nanosec > most || d.Nsecs+d.Nanosec < -most {
		return 0, false
	}
	nanos := (d.Secs+d.Sec)*1e9 + d.Nsecs + d.Nanosec
	return float64(nanos) / 1e9, true
}

// reader gathers what is wrong and what is lost.
type reader struct {
	errs  []error
	notes []string
}

func (r *reader) errorf(format string, a ...any) { r.errs = append(r.errs, fmt.Errorf(format, a...)) }

// Read makes a motion of a goal's JSON: it has the goal's joints and no others. Notes
// tell what a stored motion has no place for, such as velocities.
func Read(data []byte) (d *motion.Document, notes []string, err error) {
	g, err := parse(data)
	if err != nil {
		return nil, nil, err
	}
	r := &reader{}
	d = &motion.Document{}
	var at []func(*motion.Point) *float64 // where each column of the goal goes
	for _, name := range g.Trajectory.JointNames {
		if chain, ok := strings.CutPrefix(name, follow.SupportPrefix); ok {
			k := len(d.Chains)
			d.Chains = append(d.Chains, chain)
			at = append(at, func(p *motion.Point) *float64 { return &p.Supports[k] })
			continue
		}
		k := len(d.Columns)
		d.Columns = append(d.Columns, name)
		d.Joints = append(d.Joints, motion.Joint{Name: name, Enabled: true})
		at = append(at, func(p *motion.Point) *float64 { return &p.Positions[k] })
	}
	if !slices.IsSortedFunc(g.Trajectory.JointNames, supportsLast) {
		d.Order = g.Trajectory.JointNames
	}
	r.points(d, g.Trajectory.Points, at)
	r.tolerances(d, "path_tolerance", g.PathTolerance, func(j *motion.Joint) **trajectory.Tolerance { return &j.Path })
	r.tolerances(d, "goal_tolerance", g.GoalTolerance, func(j *motion.Joint) **trajectory.Tolerance { return &j.Goal })
	d.GoalTimeTolerance = r.seconds(g.GoalTimeTolerance, "goal_time_tolerance")
	if stamp := g.Trajectory.Header.Stamp; stamp != (duration{}) {
		r.notes = append(r.notes, "the header's stamp is left out: a stored motion begins when it is played")
	}
	if len(r.errs) == 0 {
		if err := d.Check(); err != nil {
			r.errs = append(r.errs, err)
		}
	}
	return d, r.notes, errors.Join(r.errs...)
}

// supportsLast compares names by nothing but whether they are supports.
func supportsLast(a, b string) int {
	x, y := strings.HasPrefix(a, follow.SupportPrefix), strings.HasPrefix(b, follow.SupportPrefix)
	switch {
	case x == y:
		return 0
	case x:
		return 1
	}
	return -1
}

func parse(data []byte) (*goal, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%d bytes; a goal has at most %d", len(data), maxBytes)
	}
	data = bytes.TrimPrefix(data, utf8BOM)
	var top map[string]json.RawMessage
	if err := json.Unmarshal(data, &top); err != nil {
		return nil, fmt.Errorf("not a goal: %w", located(data, err))
	}
	if _, ok := top["trajectory"]; !ok {
		return nil, errors.New(`not a goal: "trajectory" is missing`)
	}
	if err := strict(data); err != nil {
		return nil, fmt.Errorf("not a goal: %w", err)
	}
	var g goal
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&g); err != nil {
		return nil, fmt.Errorf("not a goal: %w", located(data, err))
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("not a goal: something follows it")
	}
	return &g, nil
}

// located puts an error of the JSON reader into words, with its line.
func located(data []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	offset, text := -1, strings.TrimPrefix(err.Error(), "json: ")
	switch {
	case errors.As(err, &syntax):
		offset = int(syntax.Offset)
	case errors.As(err, &kind):
		offset = int(kind.Offset)
		what := kind.Field
		if what == "" {
			what = "it"
		}
		text = fmt.Sprintf("%s is %s, must be %s", what, written(kind.Value), wanted(kind.Type))
	default: // an unknown field, whose place the reader does not tell
		if _, field, ok := strings.Cut(text, "unknown field "); ok && bytes.Count(data, []byte(field)) == 1 {
			offset = bytes.Index(data, []byte(field))
		}
	}
	if offset < 0 || offset > len(data) {
		return errors.New(text)
	}
	return fmt.Errorf("line %d: %s", 1+bytes.Count(data[:offset], []byte("\n")), text)
}

// written says what stands in a text where something else is wanted.
func written(value string) string {
	switch kind, number, _ := strings.Cut(value, " "); kind {
	case "number":
		return strings.TrimSpace("the number " + number)
	case "string":
		return "a text"
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "bool":
		return "true or false"
	}
	return value
}

// wanted says what a value has to be.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Slice:
		return "a list"
	case reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a finite number"
	}
	if t == reflect.TypeFor[duration]() {
		return "an object such as {\"secs\": 1, \"nsecs\": 500000000}"
	}
	return "an object"
}

func (r *reader) seconds(d duration, what string) float64 {
	if (d.Secs != 0 || d.Nsecs != 0) && (d.Sec != 0 || d.Nanosec != 0) {
		r.errorf("%s: the time comes twice, as secs and nsecs and as sec and nanosec", what)
		return 0
	}
	t, ok := d.seconds()
	if !ok {
		r.errorf("%s: %d s is more than a motion may last, %d s", what, d.Secs+d.Sec, maxTime)
	}
	return t
}

func (r *reader) points(d *motion.Document, points []point, at []func(*motion.Point) *float64) {
	lost := map[string]bool{}
	for i, p := range points {
		row := motion.Point{Time: r.seconds(p.TimeFromStart, fmt.Sprintf("points[%d].time_from_start", i)), Enabled: true,
			Positions: make([]float64, len(d.Columns)), Supports: make([]float64, len(d.Chains))}
		if len(p.Positions) != len(at) {
			r.errorf("points[%d]: %d positions for %d joint_names", i, len(p.Positions), len(at))
			continue
		}
		for k, v := range p.Positions {
			*at[k](&row) = v
		}
		lost["velocities"] = lost["velocities"] || nonZero(p.Velocities)
		lost["accelerations"] = lost["accelerations"] || nonZero(p.Accelerations)
		lost["effort"] = lost["effort"] || nonZero(p.Effort)
		d.Points = append(d.Points, row)
	}
	for _, what := range []string{"velocities", "accelerations", "effort"} {
		if lost[what] {
			r.notes = append(r.notes, what+" are left out: a stored motion has positions")
		}
	}
}

func nonZero(x []float64) bool { return slices.ContainsFunc(x, func(v float64) bool { return v != 0 }) }

func (r *reader) tolerances(d *motion.Document, what string, list []tolerance, of func(*motion.Joint) **trajectory.Tolerance) {
	for i, t := range list {
		k := d.Joint(t.Name)
		switch chain, support := strings.CutPrefix(t.Name, follow.SupportPrefix); {
		case support && slices.Contains(d.Chains, chain):
			r.notes = append(r.notes, fmt.Sprintf("%s of %s is left out: supports have none", what, t.Name))
		case k < 0:
			r.errorf("%s[%d]: %q is not in joint_names%s", what, i, t.Name, problem.Hint(t.Name, d.JointNames()))
		case *of(&d.Joints[k]) != nil:
			r.errorf("%s[%d]: %q comes twice", what, i, t.Name)
		default:
			*of(&d.Joints[k]) = &trajectory.Tolerance{Position: t.Position, Velocity: t.Velocity, Acceleration: t.Acceleration}
		}
	}
}

// DurationOf returns the nearest duration to some seconds, with nanoseconds that count upwards.
func DurationOf(t float64) (secs, nsecs int64) {
	whole := math.Floor(t)
	secs, nsecs = int64(whole), int64(math.Round((t-whole)*1e9))
	if nsecs == 1e9 {
		secs, nsecs = secs+1, 0
	}
	return secs, nsecs
}

package motion

import (
	"cmp"
	"fmt"
	"slices"

	"poise/problem"
	"poise/robot"
)

// Operation is one edit as data. Which fields an edit reads, verbs says; the
// others are passed over. Rows count from 0.
type Operation struct {
	Op     string    `json:"op"`
	Rows   []int     `json:"rows"`
	Time   float64   `json:"time"`
	Value  float64   `json:"value"`
	Names  []string  `json:"names"`
	Values []float64 `json:"values"`
	Texts  []string  `json:"texts"`
}

// verb is a kind of edit: its word, the fields it reads, what it does.
type verb struct {
	op, reads, does string

	run func(*edit)
}

// verbs is filled at start, since the edits look into it for near names.
var verbs []verb

func init() {
	verbs = []verb{
		{"set_description", "texts[0]", "says what the motion is", (*edit).setDescription},
		{"set_tags", "texts", "replaces the tags", (*edit).setTags},
		{"set_start_pose", "texts[0]", "names the pose in which the motion has to begin; empty for any", (*edit).setStartPose},
		{"set_loop", "value", "says whether the motion may repeat: 1 or 0", (*edit).setLoop},

		{"add_joints", "names, values", "lets joints take part; rows that did not capture one get its value: one for all, or one per name", (*edit).addJoints},
		{"remove_joints", "names", "takes joints off the list; what rows captured of them stays", (*edit).removeJoints},
		{"enable_joints", "names", "joints are sent again; no names: all", (*edit).enableJoints},
		{"disable_joints", "names", "joints stay in the list and are not sent; no names: all", (*edit).disableJoints},
		{"order_joints", "names", "puts the joints in this order; those not named follow", (*edit).orderJoints},
		{"set_path_tolerance", "names, value", "how far joints may be off on the way; no names: all", (*edit).setPathTolerance},
		{"set_goal_tolerance", "names, value", "how far joints may be off at the end; no names: all", (*edit).setGoalTolerance},
		{"clear_tolerances", "names", "no tolerance is stated any more; no names: all", (*edit).clearTolerances},
		{"set_goal_time_tolerance", "value", "how late the end may be reached, s", (*edit).setGoalTimeTolerance},

		{"add_point", "time, names, values, texts[0]", "adds a row from a full joint state, with a label; support/CHAIN among the names is a support", (*edit).addPoint},
		{"update_points", "rows, names, values", "captures rows anew from a full joint state", (*edit).updatePoints},
		{"duplicate_points", "rows, time", "copies rows, the first to the time, the others at their distance", (*edit).duplicatePoints},
		{"delete_points", "rows", "deletes rows, marks with them", (*edit).deletePoints},
		{"enable_points", "rows", "rows are played again; no rows: all", (*edit).enablePoints},
		{"disable_points", "rows", "rows stay in the table and are not played; a marked one cannot", (*edit).disablePoints},
		{"set_labels", "rows, texts", "labels rows: one text for all, or one per row", (*edit).setLabels},
		{"set_positions", "rows, names, values", "sets positions, one per name, in each of the rows; no rows: all", (*edit).setPositions},

		{"apply_pose", "rows, texts[0]", "puts the joints of a named pose into rows", (*edit).applyPose},
		{"thin", "value", "leaves out rows that the curve through the others meets within the value; labels, marks and changes of support stay", (*edit).thin},

		{"set_time", "rows[0], time", "moves one row in time", (*edit).setTime},
		{"shift_times", "rows, time", "moves rows by some time; no rows: everything, events too", (*edit).shiftTimes},
		{"scale_times", "value", "multiplies all times, events and supports too", (*edit).scaleTimes},
		{"slow_to_fit", "texts[0]", "lengthens the stretches between rows that are too fast for the robot, until the motion is within its limits, those of torque and balance too; with the text `limits` only those of joints", (*edit).slowToFit},
		{"mark_start", "rows[0]", "part execution begins here; no rows: at the first", (*edit).markStart},
		{"mark_end", "rows[0]", "part execution ends here; no rows: at the last", (*edit).markEnd},
		{"trim", "", "keeps what lies between the marks and lets it begin at zero", (*edit).trim},

		{"mirror", "rows, names", "swaps left and right; with rows or names only there, from what the rows captured", (*edit).mirror},
		{"reverse", "", "runs backwards; supports shift by one row, since they hold from one to the next", (*edit).reverse},

		{"add_supports", "names, values", "adds support tracks of chains: one value for all rows, or one per name", (*edit).addSupports},
		{"remove_supports", "names", "removes support tracks", (*edit).removeSupports},
		{"set_supports", "rows, names, values", "sets supports, one per chain named, in each of the rows; no rows: all", (*edit).setSupports},

		{"add_event", "time, texts", "adds an event: type, command, options", (*edit).addEvent},
		{"set_event", "rows[0], time, texts", "changes the event of that number", (*edit).setEvent},
		{"delete_events", "rows", "deletes the events of those numbers", (*edit).deleteEvents},
	}
}

// edit is an operation being carried out on a copy of a document.
type edit struct {
	d  *Document
	m  *robot.Model // nil: names are not checked, and there is no mirror
	op Operation
	problems

	looks int // at forces, so far
}

// Apply carries out an edit and returns the new document; the old one stays what it
// was. The robot may be nil, then names are taken as they are and nothing can be
// mirrored. An edit that cannot be done changes nothing and says everything that
// stands in its way, as *problem.Problem.
func Apply(d *Document, m *robot.Model, op Operation) (*Document, error) {
	k := slices.IndexFunc(verbs, func(v verb) bool { return v.op == op.Op })
	if k < 0 {
		var words []string
		for _, v := range verbs {
			words = append(words, v.op)
		}
		return nil, &problem.Problem{Code: ErrOperation, Text: fmt.Sprintf("unknown operation %q%s", op.Op, problem.Hint(op.Op, words))}
	}
	if err := d.Check(); err != nil {
		return nil, err
	}
	op.Time = milliseconds(op.Time)
	e := &edit{d: d.Clone(), m: m, op: op}
	broken := markProblem(d) != nil
	verbs[k].run(e)
	e.roundTimes(d)
	if e.len() == 0 {
		slices.SortStableFunc(e.d.Points, byTime)
		if p := markProblem(e.d); p != nil && !broken {
			e.add(*p)
		}
	}
	if err := e.err(); err != nil {
		return nil, err
	}
	if err := e.d.Check(); err != nil {
		return nil, err
	}
	return e.d, nil
}

// roundTimes rounds the times that an edit made, s, to milliseconds: people read them.
// Those that were there before stay as they are.
func (e *edit) roundTimes(before *Document) {
	old := map[float64]bool{}
	for _, p := range before.Points {
		old[p.Time] = true
	}
	for _, ev := range before.Events {
		old[ev.Time] = true
	}
	for i := range e.d.Points {
		if t := &e.d.Points[i].Time; !old[*t] {
			*t = milliseconds(*t)
		}
	}
	for i := range e.d.Events {
		if t := &e.d.Events[i].Time; !old[*t] {
			*t = milliseconds(*t)
		}
	}
}

func byTime(a, b Point) int { return cmp.Compare(a.Time, b.Time) }

// markProblem returns what is wrong with the marks of a table: the start comes
// before the end, and a marked row is enabled.
func markProblem(d *Document) *problem.Problem {
	start, end := d.Marked(StartMark), d.Marked(EndMark)
	for _, row := range []int{start, end} {
		if row >= 0 && !d.Points[row].Enabled {
			return placed(problem.Problem{Code: ErrMark, Row: row + 1, Text: fmt.Sprintf("has the %s mark and cannot be disabled", d.Points[row].Mark)})
		}
	}
	if start >= 0 && end >= 0 && (start >= end || d.Points[start].Time >= d.Points[end].Time) {
		return placed(problem.Problem{Code: ErrMark, Row: start + 1, Value: d.Points[start].Time, Limit: d.Points[end].Time,
			Text: fmt.Sprintf("the start mark at %v s must come before the end mark at %v s", d.Points[start].Time, d.Points[end].Time)})
	}
	return nil
}

// --- what several edits ask for

// rows returns the rows that are meant, each once and in order; without any, all
// if that is allowed.
func (e *edit) rows(noneIsAll bool) []int {
	if len(e.op.Rows) == 0 {
		if !noneIsAll {
			e.add(problem.Problem{Code: ErrOperation, Text: e.op.Op + ": which rows?"})
			return nil
		}
		all := make([]int, len(e.d.Points))
		for i := range all {
			all[i] = i
		}
		return all
	}
	return e.numbers(len(e.d.Points), "row")
}

func (e *edit) numbers(n int, what string) []int {
	rows := slices.Clone(e.op.Rows)
	slices.Sort(rows)
	rows = slices.Compact(rows)
	return slices.DeleteFunc(rows, func(r int) bool {
		if r >= 0 && r < n {
			return false
		}
		e.add(problem.Problem{Code: ErrRow, Value: float64(r), Limit: float64(n), Text: fmt.Sprintf("%s %d does not exist: there are %d", what, r+1, n)})
		return true
	})
}

// row returns the one row that is meant, −1 with a complaint if it is not there.
func (e *edit) row() int {
	switch rows := e.rows(false); {
	case e.len() > 0:
		return -1
	case len(rows) != 1:
		e.add(problem.Problem{Code: ErrOperation, Text: fmt.Sprintf("%s takes one row, not %d", e.op.Op, len(rows))})
		return -1
	default:
		return rows[0]
	}
}

func (e *edit) text() string {
	if len(e.op.Texts) == 0 {
		return ""
	}
	return e.op.Texts[0]
}

// values returns one value per name: as given, or the same for all.
func (e *edit) values() []float64 {
	n := len(e.op.Names)
	for _, v := range e.op.Values {
		e.finite(v, "a value", -1, "")
	}
	switch len(e.op.Values) {
	case n:
		return e.op.Values
	case 1:
		return slices.Repeat(e.op.Values, n)
	}
	e.add(problem.Problem{Code: ErrSize, Value: float64(len(e.op.Values)), Limit: float64(n),
		Text: fmt.Sprintf("%s: %d values for %d names", e.op.Op, len(e.op.Values), n)})
	return make([]float64, n)
}

// knownJoint complains about a joint that the robot does not have, or whose position
// is not one number.
func (e *edit) knownJoint(name string) {
	if e.m == nil {
		return
	}
	id, ok := e.m.Joint(name)
	switch {
	case !ok:
		e.add(problem.Problem{Code: ErrUnknownJoint, Joint: name, Text: fmt.Sprintf("joint %q does not exist%s", name, problem.Hint(name, e.m.JointNames()))})
	case e.m.Joints()[id].Kind.NumQ() != 1:
		e.add(problem.Problem{Code: ErrUnknownJoint, Joint: name, Text: fmt.Sprintf("joint %q is %v: its position is not one number", name, e.m.Joints()[id].Kind)})
	}
}

// listed returns the joint of that name, nil with a complaint if it takes no part.
func (e *edit) listed(name string) *Joint {
	i := e.d.Joint(name)
	if i < 0 {
		e.add(problem.Problem{Code: ErrUnknownJoint, Joint: name, Text: fmt.Sprintf("joint %q takes no part%s", name, problem.Hint(name, e.d.JointNames()))})
		return nil
	}
	return &e.d.Joints[i]
}

// eachListed calls f for the joints named, for all if none is.
func (e *edit) eachListed(f func(*Joint)) {
	names := e.op.Names
	if len(names) == 0 {
		names = e.d.JointNames()
	}
	for _, n := range names {
		if j := e.listed(n); j != nil {
			f(j)
		}
	}
}

// freeTime complains about a time that is before zero or taken by another row.
func (e *edit) freeTime(t float64, except ...int) {
	e.finite(t, "the time", -1, "")
	if t < 0 {
		e.add(problem.Problem{Code: ErrOrder, Value: t, Text: fmt.Sprintf("time %v s is before the beginning, 0", t)})
	}
	for i, p := range e.d.Points {
		if p.Time == t && !slices.Contains(except, i) {
			e.add(problem.Problem{Code: ErrOrder, Row: i + 1, Value: t, Limit: p.Time, Text: fmt.Sprintf("is already at %v s: times must rise", t)})
			return
		}
	}
}

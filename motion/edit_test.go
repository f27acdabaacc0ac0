package motion_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"poise/control/follow"
	"poise/motion"
	"poise/problem"
	"poise/robot"
	"poise/robot/load"
	"poise/trajectory/spline"
)

func model(t testing.TB, name string) *robot.Model {
	t.Helper()
	bot, err := load.Robot(name, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return bot.Model
}

// pony returns the robot and its joints standing, as a full joint state.
func pony(t testing.TB) (m *robot.Model, names []string, stand []float64) {
	m = model(t, "pony")
	pose, _ := m.Pose("stand")
	for i, id := range pose.Joints {
		names, stand = append(names, m.Joints()[id].Name), append(stand, pose.Q[i][0])
	}
	return m, names, stand
}

// text is a document as bytes, to tell whether two are the same.
func text(t testing.TB, d *motion.Document) string {
	t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// times lists when the points of a goal are.
func times(g *follow.Goal) (all []float64) {
	for _, p := range g.Points {
		all = append(all, p.Time)
	}
	return all
}

// supports returns the support tracks of a goal.
func supports(g *follow.Goal) (rows [][]float64) {
	_, columns := g.Columns()
	for _, p := range g.Points {
		row := make([]float64, len(columns))
		for i, k := range columns {
			row[i] = p.Position[k]
		}
		rows = append(rows, row)
	}
	return rows
}

// sheet is a document under edit, with those that it was before.
type sheet struct {
	m   *robot.Model
	all []*motion.Document
}

func newSheet(m *robot.Model, d *motion.Document) *sheet { return &sheet{m, []*motion.Document{d}} }

func (s *sheet) Document() *motion.Document { return s.all[len(s.all)-1] }

func (s *sheet) Do(op motion.Operation) error {
	d, err := motion.Apply(s.Document(), s.m, op)
	if err == nil {
		s.all = append(s.all, d)
	}
	return err
}

func (s *sheet) Goal(p motion.Part) (*follow.Goal, error) { return s.Document().Goal(p) }

func do(t testing.TB, l *sheet, ops ...motion.Operation) {
	t.Helper()
	for _, op := range ops {
		if err := l.Do(op); err != nil {
			t.Fatalf("%s: %v", op.Op, err)
		}
	}
}

// waver is a document of two joints: rows at 0, 1, 2, 3 s, supports of two legs.
func waver(t testing.TB) (*sheet, *robot.Model) {
	m, names, q := pony(t)
	l := newSheet(m, &motion.Document{})
	do(t, l,
		motion.Operation{Op: "add_supports", Names: []string{"leg1", "leg2"}, Values: []float64{1}},
		motion.Operation{Op: "add_joints", Names: []string{"joint52", "joint12"}, Values: []float64{0}})
	head, knee := slices.Index(names, "joint52"), slices.Index(names, "joint12")
	for i := range 4 {
		state := slices.Clone(q)
		state[head], state[knee] = 0.1*float64(i), 0-0.2*float64(i)
		do(t, l, motion.Operation{Op: "add_point", Time: float64(i), Names: names, Values: state, Texts: []string{fmt.Sprint("p", i)}})
	}
	do(t, l,
		motion.Operation{Op: "set_supports", Rows: []int{1}, Names: []string{"leg1"}, Values: []float64{0}},
		motion.Operation{Op: "set_supports", Rows: []int{2, 3}, Names: []string{"leg1"}, Values: []float64{0.5}},
		motion.Operation{Op: "add_event", Time: 0.5, Texts: []string{"voice/say", "hello"}})
	return l, m
}

func TestRowsCaptureAllJoints(t *testing.T) {
	l, m := waver(t)
	d := l.Document()
	if len(d.Columns) != len(m.Joints()) || len(d.Joints) != 2 {
		t.Fatalf("%d columns and %d joints, want %d and 2", len(d.Columns), len(d.Joints), len(m.Joints()))
	}
	// a joint that was captured can take part later without a question
	do(t, l, motion.Operation{Op: "add_joints", Names: []string{"joint51"}})
	g, err := l.Goal(motion.Part{})
	if err != nil || g.Points[0].Position[2] != -0.3 {
		t.Fatal(g, err)
	}
}

func TestAddPointNamesEachMissingJoint(t *testing.T) {
	l, _ := waver(t)
	before := l.Document()
	err := l.Do(motion.Operation{Op: "add_point", Time: 9, Names: []string{"joint51"}, Values: []float64{0}})
	if !errors.Is(err, motion.ErrMissing) || !strings.Contains(err.Error(), `"joint52"`) || !strings.Contains(err.Error(), `"joint12"`) {
		t.Fatal(err)
	}
	if l.Document() != before {
		t.Fatal("a refused edit left a trace")
	}
}

func TestAddingAJointThatRowsLackAsks(t *testing.T) {
	d := &motion.Document{
		Joints: []motion.Joint{{Name: "joint52", Enabled: true}}, Columns: []string{"joint52"},
		Points: []motion.Point{{Time: 0, Enabled: true, Positions: []float64{0}}, {Time: 1, Enabled: true, Positions: []float64{1}}},
	}
	m, names, q := pony(t)
	l := newSheet(m, d)
	do(t, l, motion.Operation{Op: "add_point", Time: 2, Names: names, Values: q}) // this row has them all
	var p *problem.Problem
	err := l.Do(motion.Operation{Op: "add_joints", Names: []string{"joint51"}})
	if !errors.As(err, &p) || p.Code != motion.ErrMissing || p.Joint != "joint51" || p.Row != 1 || !strings.Contains(err.Error(), "rows 2") {
		t.Fatal(err)
	}
	do(t, l, motion.Operation{Op: "add_joints", Names: []string{"joint51", "joint53"}, Values: []float64{-0.7, 0.1}})
	var got []float64
	for row := range 3 {
		for _, name := range []string{"joint51", "joint53"} {
			v, _ := l.Document().Captured(row, name)
			got = append(got, v)
		}
	}
	if want := []float64{-0.7, 0.1, -0.7, 0.1, -0.3, 0.3}; !slices.Equal(got, want) {
		t.Fatalf("%v, want %v: only rows without a value get one", got, want)
	}
}

func TestUnknownJointIsRefusedWithNearNames(t *testing.T) {
	l, _ := waver(t)
	err := l.Do(motion.Operation{Op: "add_joints", Names: []string{"jiont51"}, Values: []float64{0}})
	if !errors.Is(err, motion.ErrUnknownJoint) || !strings.Contains(err.Error(), `"joint51"`) {
		t.Fatal(err)
	}
	err = l.Do(motion.Operation{Op: "delete_piont"})
	if !errors.Is(err, motion.ErrOperation) || !strings.Contains(err.Error(), "delete_points") {
		t.Fatal(err)
	}
}

func TestIntegrityOfRowsAndMarks(t *testing.T) {
	l, _ := waver(t)
	do(t, l, motion.Operation{Op: "mark_start", Rows: []int{1}}, motion.Operation{Op: "mark_end", Rows: []int{2}})
	for _, tc := range []struct {
		name string
		op   motion.Operation
		kind error
	}{
		{"a marked row cannot be disabled", motion.Operation{Op: "disable_points", Rows: []int{1}}, motion.ErrMark},
		{"start before end", motion.Operation{Op: "mark_start", Rows: []int{3}}, motion.ErrMark},
		{"start is not end", motion.Operation{Op: "mark_end", Rows: []int{1}}, motion.ErrMark},
		{"moving a row past the other mark", motion.Operation{Op: "set_time", Rows: []int{1}, Time: 2.5}, motion.ErrMark},
		{"two rows at one time", motion.Operation{Op: "set_time", Rows: []int{0}, Time: 3}, motion.ErrOrder},
		{"before the beginning", motion.Operation{Op: "shift_times", Time: -0.1}, motion.ErrOrder},
		{"shifting onto another row", motion.Operation{Op: "shift_times", Rows: []int{0}, Time: 1}, motion.ErrOrder},
		{"no such row", motion.Operation{Op: "delete_points", Rows: []int{4}}, motion.ErrRow},
		{"scale of nothing", motion.Operation{Op: "scale_times", Value: 0}, motion.ErrOperation},
		{"not a number", motion.Operation{Op: "set_time", Rows: []int{0}, Time: math.NaN()}, motion.ErrNotFinite},
	} {
		before := text(t, l.Document())
		if err := l.Do(tc.op); !errors.Is(err, tc.kind) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.kind)
		}
		if text(t, l.Document()) != before {
			t.Errorf("%s: left a trace", tc.name)
		}
	}
	do(t, l, motion.Operation{Op: "disable_points", Rows: []int{0}})
	if err := l.Do(motion.Operation{Op: "mark_start", Rows: []int{0}}); !errors.Is(err, motion.ErrMark) {
		t.Error("a disabled row was marked:", err)
	}
	do(t, l, motion.Operation{Op: "set_time", Rows: []int{0}, Time: 7}) // rows stay sorted
	if d := l.Document(); d.Points[3].Label != "p0" || d.Marked(motion.StartMark) != 0 || d.Marked(motion.EndMark) != 1 {
		t.Errorf("%s", text(t, d))
	}
}

func TestGoalRunsFromMarkToMarkAtAScale(t *testing.T) {
	l, _ := waver(t)
	do(t, l,
		motion.Operation{Op: "add_event", Time: 2.5, Texts: []string{"eyes/action", "blink", "now"}},
		motion.Operation{Op: "mark_start", Rows: []int{1}}, motion.Operation{Op: "disable_points", Rows: []int{2}})
	saved := text(t, l.Document())
	g, err := l.Goal(motion.Part{Marked: true, Scale: 2})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(times(g), []float64{0, 4}) || g.Points[0].Position[0] != 0.1 || g.Points[1].Position[0] != 0.1*float64(len(g.Points)+1) {
		t.Errorf("points %v", g.Points)
	}
	if want := []follow.Event{{Time: 3, Type: "eyes/action", Command: "blink", Options: "now"}}; !slices.Equal(g.Events, want) {
		t.Errorf("events %v, want %v", g.Events, want)
	}
	whole, err := l.Goal(motion.Part{})
	if err != nil || !slices.Equal(times(whole), []float64{0, 1, 3}) {
		t.Error(times(whole), err)
	}
	if !slices.Equal(whole.Joints, []string{"joint52", "joint12", "support/leg1", "support/leg2"}) {
		t.Error(whole.Joints)
	}
	if text(t, l.Document()) != saved {
		t.Error("making a goal changed the document")
	}
}

func TestScaleTakesEventsAndSupportsAlong(t *testing.T) {
	l, _ := waver(t)
	do(t, l, motion.Operation{Op: "scale_times", Value: 0.5})
	d := l.Document()
	if d.Points[3].Time != 1.5 || d.Events[0].Time != 0.25 || d.Points[1].Supports[0] != 0 || d.Points[1].Time != 0.5 {
		t.Errorf("%s", text(t, d))
	}
}

// TestReverseShiftsStepLikeTracks compares with the reversal of step tracks and of
// curves in other packages: at every time the reversed motion is where the motion
// was at the mirrored time, with the same supports.
func TestReverseShiftsStepLikeTracks(t *testing.T) {
	for _, disabled := range [][]int{nil, {1}, {2}, {1, 2}} {
		l, m := waver(t)
		do(t, l, motion.Operation{Op: "mark_end", Rows: []int{3}})
		if disabled != nil {
			do(t, l, motion.Operation{Op: "disable_points", Rows: disabled})
		}
		forward, err := l.Goal(motion.Part{})
		if err != nil {
			t.Fatal(err)
		}
		backward, err := l.Goal(motion.Part{Backward: true})
		if err != nil {
			t.Fatal(err)
		}
		do(t, l, motion.Operation{Op: "reverse"})
		edited, err := l.Goal(motion.Part{})
		if err != nil {
			t.Fatal(err)
		}
		if edited.Table != (follow.TableTime{Pace: 1}) || backward.Table != (follow.TableTime{Zero: 3, Pace: -1}) {
			t.Errorf("table times %v and %v", edited.Table, backward.Table)
		}
		backward.Table = edited.Table
		if !reflect.DeepEqual(backward, edited) {
			t.Fatalf("backward %+v\nreversed %+v", backward, edited)
		}
		if d := l.Document(); d.Marked(motion.StartMark) != 0 || d.Marked(motion.EndMark) != -1 {
			t.Error("marks did not swap")
		}
		steps, _ := spline.NewSteps(times(forward), supports(forward))
		back, _ := spline.NewSteps(times(edited), supports(edited))
		there, _ := forward.Curve(m)
		here, err := edited.Curve(m)
		if err != nil {
			t.Fatal(err)
		}
		a, b := make([]float64, 2), make([]float64, 2)
		for k := range 300 {
			at := 0.005 + 0.01*float64(k)
			if !slices.Equal(back.At(at), steps.At(3-at)) {
				t.Fatalf("disabled %v: supports at %v are %v, want %v", disabled, at, back.At(at), steps.At(3-at))
			}
			there.PositionTo(a, 3-at)
			here.PositionTo(b, at)
			const rounding = 1e-12
			if math.Abs(a[0]-b[0]) > rounding || math.Abs(a[1]-b[1]) > rounding {
				t.Fatalf("at %v: %v, want %v", at, b, a)
			}
		}
	}
}

func TestMirror(t *testing.T) {
	l, m := waver(t)
	before := l.Document()
	do(t, l, motion.Operation{Op: "mirror"})
	d := l.Document()
	if !slices.Equal(d.Columns, before.Columns) || d.Joints[1].Name != "joint22" || d.Joints[0].Name != "joint52" {
		t.Fatalf("columns %v, joints %v", d.Columns, d.Joints)
	}
	for row := range d.Points {
		for j, image := range m.Mirror() {
			got, _ := d.Captured(row, m.Joints()[j].Name)
			from, _ := before.Captured(row, m.Joints()[image.Of].Name)
			if got != image.Sign*from {
				t.Fatalf("row %d, %s: %v, want %v", row, m.Joints()[j].Name, got, image.Sign*from)
			}
		}
		if d.Points[row].Supports[1] != before.Points[row].Supports[0] {
			t.Errorf("row %d: supports %v of %v", row, d.Points[row].Supports, before.Points[row].Supports)
		}
	}
	do(t, l, motion.Operation{Op: "mirror"})
	if text(t, l.Document()) != text(t, before) {
		t.Error("mirroring twice is not the same motion")
	}

	// a table of one side becomes one of the other
	one := &motion.Document{Joints: []motion.Joint{{Name: "joint11", Enabled: true}}, Columns: []string{"joint11"}, Chains: []string{"leg1"},
		Order: []string{"support/leg1", "joint11"}, Points: []motion.Point{{Enabled: true, Positions: []float64{0.25}, Supports: []float64{1}}}}
	got, err := motion.Apply(one, m, motion.Operation{Op: "mirror"})
	if err != nil {
		t.Fatal(err)
	}
	want := &motion.Document{Joints: []motion.Joint{{Name: "joint21", Enabled: true}}, Columns: []string{"joint21"}, Chains: []string{"leg2"},
		Order: []string{"support/leg2", "joint21"}, Points: []motion.Point{{Enabled: true, Positions: []float64{-0.25}, Supports: []float64{1}}}}
	if text(t, got) != text(t, want) {
		t.Errorf("%s\nwant %s", text(t, got), text(t, want))
	}

	// only some joints of some rows: the other side is copied over
	do(t, l, motion.Operation{Op: "mirror", Rows: []int{3}, Names: []string{"joint22"}})
	left, _ := l.Document().Captured(3, "joint12")
	right, _ := l.Document().Captured(3, "joint22")
	if left != right || left != before.Points[3].Positions[slices.Index(before.Columns, "joint12")] {
		t.Error(left, right)
	}
	if _, err := motion.Apply(one, model(t, "arm6"), motion.Operation{Op: "mirror"}); !errors.Is(err, motion.ErrMirror) {
		t.Error(err)
	}
}

// TestRandomEditsLeaveWhatWas carries out 200 random edits: every document on the way
// stays the same, byte for byte, so that an editor undoes by keeping them.
func TestRandomEditsLeaveWhatWas(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	m, names, stand := pony(t)
	used := map[string]int{}
	for seed := range uint64(rounds) {
		rng := rand.New(rand.NewPCG(seed, 8))
		l := newSheet(m, &motion.Document{})
		states := []string{text(t, l.Document())}
		for tries := 0; len(states) <= 200; tries++ {
			if tries > 20_000 {
				t.Fatalf("seed %d: only %d edits succeed", seed, len(states))
			}
			op := randomEdit(rng, l.Document(), names, stand)
			if l.Do(op) == nil {
				used[op.Op]++
				states = append(states, text(t, l.Document()))
			}
		}
		for i, d := range l.all {
			if text(t, d) != states[i] {
				t.Fatalf("seed %d: a later edit changed document %d", seed, i)
			}
		}
	}
	for _, v := range motion.Operations() {
		if used[v.Op] == 0 && !testing.Short() {
			t.Errorf("%s never succeeded", v.Op)
		}
	}
}

// randomEdit makes an operation that has a fair chance to succeed.
func randomEdit(rng *rand.Rand, d *motion.Document, names []string, stand []float64) motion.Operation {
	all := motion.Operations()
	op := motion.Operation{Op: all[rng.IntN(len(all))].Op, Time: math.Round(rng.Float64()*400) / 8, Value: 0.5 + rng.Float64()}
	few := func(from []string) (some []string) {
		for _, n := range from {
			if rng.IntN(4) == 0 {
				some = append(some, n)
			}
		}
		return some
	}
	numbers := func(n int) (some []int) {
		for i := range n {
			if rng.IntN(3) == 0 {
				some = append(some, i)
			}
		}
		return some
	}
	switch op.Op {
	case "add_point", "update_points":
		op.Names, op.Values = slices.Clone(names), slices.Clone(stand)
		for i := range op.Values {
			op.Values[i] += rng.NormFloat64() * 0.1
		}
	case "add_joints":
		op.Names, op.Values = few(names), []float64{rng.Float64()}
	case "add_supports", "set_supports", "remove_supports":
		op.Names, op.Values = few([]string{"leg1", "leg2", "leg3", "leg4"}), []float64{float64(rng.IntN(2))}
	case "set_positions", "mirror":
		op.Names, op.Values = few(d.Columns), []float64{rng.Float64()}
	default:
		for _, j := range d.Joints {
			op.Names = append(op.Names, few([]string{j.Name})...)
		}
	}
	op.Rows = numbers(len(d.Points))
	switch op.Op {
	case "set_time", "mark_start", "mark_end":
		op.Rows = op.Rows[:min(1, len(op.Rows))]
	case "set_event", "delete_events":
		op.Rows = numbers(len(d.Events))
		op.Rows = op.Rows[:min(1, len(op.Rows))]
	case "slow_to_fit":
		if op.Texts = []string{"limits"}; rng.IntN(16) == 0 {
			op.Texts = nil
		}
		return op
	case "set_start_pose", "apply_pose":
		op.Texts = []string{[]string{"stand", "bow", ""}[rng.IntN(3)]}
		return op
	}
	op.Texts = []string{fmt.Sprint("text ", rng.IntN(100))}
	return op
}

func TestLabelsBelongToTheRowsAsGiven(t *testing.T) {
	l, _ := waver(t)
	do(t, l, motion.Operation{Op: "set_labels", Rows: []int{3, 0}, Texts: []string{"last", "first"}},
		motion.Operation{Op: "set_labels", Rows: []int{2, 1}, Texts: []string{"between"}})
	var got []string
	for _, p := range l.Document().Points {
		got = append(got, p.Label)
	}
	if !slices.Equal(got, []string{"first", "between", "between", "last"}) {
		t.Error(got)
	}
	if err := l.Do(motion.Operation{Op: "set_labels", Rows: []int{0, 9}, Texts: []string{"a", "b"}}); !errors.Is(err, motion.ErrRow) {
		t.Error(err)
	}
}

// TestTimesThatAnEditMakesAreMilliseconds: sums and what is given are rounded, times that
// were there stay.
func TestTimesThatAnEditMakesAreMilliseconds(t *testing.T) {
	d := &motion.Document{}
	for _, at := range []float64{0.1, 0.70004, 1.5} {
		d.Points = append(d.Points, motion.Point{Time: at, Enabled: true})
	}
	after, err := motion.Apply(d, nil, motion.Operation{Op: "shift_times", Rows: []int{0, 2}, Time: 0.2000001})
	if err != nil {
		t.Fatal(err)
	}
	if got := []float64{after.Points[0].Time, after.Points[1].Time, after.Points[2].Time}; !slices.Equal(got, []float64{0.3, 0.70004, 1.7}) {
		t.Errorf("times are %v", got)
	}
}

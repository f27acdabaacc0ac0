package lint_test

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"poise/motion"
	"poise/motion/lint"
	"poise/problem"
	"poise/robot"
	"poise/robot/load"
)

func model(t testing.TB, name string) *robot.Model {
	t.Helper()
	bot, err := load.Robot(name, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return bot.Model
}

// standing is a document whose rows are the pony standing: nothing moves. Edits make
// of it what a test needs.
func standing(t testing.TB, m *robot.Model, times ...float64) *motion.Document {
	t.Helper()
	pose, _ := m.Pose("stand")
	d := &motion.Document{}
	op := motion.Operation{Op: "add_point"}
	for i, id := range pose.Joints {
		op.Names, op.Values = append(op.Names, m.Joints()[id].Name), append(op.Values, pose.Q[i][0])
	}
	for _, op.Time = range times {
		d = apply(t, m, d, op)
	}
	return apply(t, m, d, motion.Operation{Op: "add_joints", Names: []string{"joint51", "joint52"}})
}

func apply(t testing.TB, m *robot.Model, d *motion.Document, ops ...motion.Operation) *motion.Document {
	t.Helper()
	for _, op := range ops {
		var err error
		if d, err = motion.Apply(d, m, op); err != nil {
			t.Fatal(op.Op, err)
		}
	}
	return d
}

func set(row int, joint string, value float64) motion.Operation {
	return motion.Operation{Op: "set_positions", Rows: []int{row}, Names: []string{joint}, Values: []float64{value}}
}

// rules returns the rules of findings, each once.
func rules(all []problem.Problem) string {
	var names []string
	for _, f := range all {
		if !slices.Contains(names, string(f.Code)) {
			names = append(names, string(f.Code))
		}
	}
	return strings.Join(names, " ")
}

// TestEveryRuleFindsItsFault changes a motion without findings in one way each and
// wants that finding, with its place, and no other.
func TestEveryRuleFindsItsFault(t *testing.T) {
	m := model(t, "pony")
	clean := standing(t, m, 0, 1, 2)
	clean = apply(t, m, clean, set(1, "joint52", 0.5), motion.Operation{Op: "add_event", Time: 2, Texts: []string{"voice/say", "hi"}})
	if all := lint.Check(clean, m, lint.Options{}); len(all) > 0 {
		t.Fatal(all)
	}
	legs := motion.Operation{Op: "add_supports", Names: []string{"leg1", "leg2", "leg3", "leg4"}, Values: []float64{1}}
	for _, tc := range []struct {
		rule   problem.Code
		change func(d *motion.Document)
		want   problem.Problem // zero fields are not compared, but the row is
		text   string
	}{
		{lint.Table, func(d *motion.Document) { d.Points[1].Time = math.NaN() }, problem.Problem{Row: 2}, "NaN"},
		{lint.Points, func(d *motion.Document) { d.Points = d.Points[:1]; d.Events = nil }, problem.Problem{Value: 1, Limit: 2}, "needs two"},
		{lint.Order, func(d *motion.Document) { d.Points[1].Time = 0 }, problem.Problem{Row: 2}, "has the time of row 1"},
		{lint.Order, func(d *motion.Document) { d.Points[1].Time = 2.5; d.Events = nil }, problem.Problem{Row: 3, Value: 2, Limit: 2.5}, "after a row at 2.5 s"},
		{lint.Order, func(d *motion.Document) { d.Points[0].Time = -1 }, problem.Problem{Row: 1, Value: -1}, "before zero"},
		{lint.Marks, func(d *motion.Document) { d.Points[0].Mark, d.Points[1].Mark = motion.EndMark, motion.StartMark }, problem.Problem{Row: 2, At: 1}, "not before"},
		{lint.Marks, func(d *motion.Document) { d.Points[1].Mark, d.Points[1].Enabled = motion.EndMark, false }, problem.Problem{Row: 2}, "disabled"},
		{lint.UnknownJoint, func(d *motion.Document) { d.Columns[0] = "joint1i" }, problem.Problem{Joint: "joint1i"}, "does not exist"},
		{lint.UnknownChain, func(d *motion.Document) {
			d.Chains = []string{"head"}
			for i := range d.Points {
				d.Points[i].Supports = []float64{0}
			}
		}, problem.Problem{Joint: "head"}, "can stand"},
		{lint.MissingJoint, func(d *motion.Document) { d.Points[2].Positions[d.Column("joint52")] = math.NaN() }, problem.Problem{Row: 3, Joint: "joint52", At: 2, Until: 2}, "1 of 3"},
		{lint.MissingJoint, func(d *motion.Document) { d.Joints = nil }, problem.Problem{}, "no joint"},
		{lint.StartPose, func(d *motion.Document) { d.StartPose = "stnad" }, problem.Problem{}, `"stand"`},
		{lint.StartPose, func(d *motion.Document) { d.StartPose = "bow" }, problem.Problem{Row: 1, Joint: "joint51", Value: 0.2, Limit: 0.1}, `in the pose "bow" it is at -0.5`},
		{lint.Support, func(d *motion.Document) { *d = *apply(t, m, d, legs); d.Points[1].Supports[0] = 7.5 }, problem.Problem{Row: 2, Joint: "leg1", Value: 7.5, Limit: 3}, "contact 7"},
		{lint.Event, func(d *motion.Document) { d.Events[0].Time = 2.25 }, problem.Problem{At: 2.25, Limit: 2}, "past the end"},
		{lint.Event, func(d *motion.Document) { d.Events[0].Type = "" }, problem.Problem{At: 2}, "no type"},
		{lint.Loop, func(d *motion.Document) { d.Loop = true; d.Points[2].Positions[d.Column("joint51")] = -0.2 }, problem.Problem{Row: 3, Joint: "joint51", Limit: 0.001}, "from its beginning"},
		{lint.Position, func(d *motion.Document) { d.Points[1].Positions[d.Column("joint51")] = 0.3 }, problem.Problem{Row: 1, Joint: "joint51", Value: 0.3, Limit: 0.26}, "limit 0.26"},
		{lint.Velocity, func(d *motion.Document) { d.Points[1].Positions[d.Column("joint52")] = 1.2 }, problem.Problem{Row: 1, Joint: "joint52", Value: 1.8, Limit: 1.5708}, "rad/s"},
	} {
		d := clean.Clone()
		tc.change(d)
		all := lint.Check(d, m, lint.Options{})
		if rules(all) != string(tc.rule) {
			t.Errorf("%s (%s): found %v", tc.rule, tc.text, all)
			continue
		}
		f := all[0]
		near := func(got, want float64) bool { return want == 0 || math.Abs(got-want) < 1e-6 }
		if f.Row != tc.want.Row || tc.want.Joint != "" && f.Joint != tc.want.Joint || !near(f.Value, tc.want.Value) || !near(f.Limit, tc.want.Limit) ||
			!near(f.At, tc.want.At) || !near(f.Until, tc.want.Until) || !strings.Contains(f.Text, tc.text) {
			t.Errorf("%s: %+v, want %+v with %q", tc.rule, f, tc.want, tc.text)
		}
	}
}

// TestLimitsAreFoundBetweenRows moves an arm between two rows that are both allowed: a
// smooth step of way L in time T reaches 1.5·L/T and 6·L/T², which only the curve knows.
func TestLimitsAreFoundBetweenRows(t *testing.T) {
	m := model(t, "arm6")
	for _, tc := range []struct {
		way, time float64
		want      string
	}{
		{1, 2, ""},                        // 0.75 rad/s, 1.5 rad/s²
		{1, 0.8, "acceleration"},          // 9.4 > 8, 1.9 < 4
		{1, 0.87, ""},                     // 7.93 < 8
		{2.9, 1, "velocity acceleration"}, // 4.35 > 4
	} {
		d := &motion.Document{Joints: []motion.Joint{{Name: "joint_1", Enabled: true}}, Columns: []string{"joint_1"},
			Points: []motion.Point{{Enabled: true, Positions: []float64{0}}, {Time: tc.time, Enabled: true, Positions: []float64{tc.way}}}}
		all := lint.Check(d, m, lint.Options{})
		if rules(all) != tc.want {
			t.Errorf("%v: %v", tc, all)
		}
		for _, f := range all {
			want := 1.5 * tc.way / tc.time
			if f.Code == lint.Acceleration {
				want = math.Copysign(6*tc.way/tc.time/tc.time, f.Value)
			}
			if math.Abs(f.Value-want) > 1e-9 {
				t.Errorf("%v: %+v, want %v", tc, f, want)
			}
		}
	}
}

// TestEachStretchIsTold passes a limit twice and wants two findings, each with its time.
func TestEachStretchIsTold(t *testing.T) {
	m := model(t, "pony")
	d := standing(t, m, 0, 1, 2, 3, 4)
	d = apply(t, m, d, set(1, "joint51", 0.3), set(3, "joint51", 0.3))
	all := lint.Check(d, m, lint.Options{})
	if len(all) != 2 || rules(all) != string(lint.Position) {
		t.Fatal(all)
	}
	for i, f := range all {
		middle := float64(1 + 2*i)
		if f.At >= middle || f.Until <= middle || f.Until-f.At > 1 || f.Row != 2*i+1 || math.Abs(f.At+f.Until-2*middle) > 0.1 {
			t.Errorf("%+v, want it around %v s", f, middle)
		}
	}
}

// legsOf lets the legs take part and stand.
func legsOf(t testing.TB, m *robot.Model, d *motion.Document) *motion.Document {
	var joints []string
	for _, c := range m.Chains() {
		if c.Contact != robot.NoContact {
			for _, j := range c.Joints {
				joints = append(joints, m.Joints()[j].Name)
			}
		}
	}
	return apply(t, m, d, motion.Operation{Op: "add_joints", Names: joints},
		motion.Operation{Op: "add_supports", Names: []string{"leg1", "leg2", "leg3", "leg4"}, Values: []float64{1}})
}

func TestFeetThatSlipAreFound(t *testing.T) {
	m := model(t, "pony")
	d := legsOf(t, m, standing(t, m, 0, 2, 4))
	if all := lint.Check(d, m, lint.Options{}); len(all) > 0 {
		t.Fatal(all)
	}
	// one standing leg swings forward: hip 0.2 rad over some 0.2 m
	slides := apply(t, m, d, set(1, "joint12", -0.423))
	all := lint.Check(slides, m, lint.Options{})
	if !strings.Contains(rules(all), string(lint.Slip)) {
		t.Fatal(all)
	}
	for _, f := range all {
		if f.Code == lint.Slip && (f.At <= 0 || f.At >= 2 || f.Until <= 2 || f.Value < 0.005 || f.Value > 0.05 || f.Row != 1) {
			t.Errorf("%+v", f)
		}
	}
	// in the air it may
	lifted := apply(t, m, slides, motion.Operation{Op: "set_supports", Rows: []int{0, 1}, Names: []string{"leg1"}, Values: []float64{0}})
	if all := lint.Check(lifted, m, lint.Options{}); strings.Contains(rules(all), string(lint.Slip)) {
		t.Error(all)
	}
	// all four bending the same way do not move against each other
	pose, _ := m.Pose("crouched")
	crouch := d
	for i, id := range pose.Joints {
		crouch = apply(t, m, crouch, set(1, m.Joints()[id].Name, pose.Q[i][0]))
	}
	if all := lint.Check(crouch, m, lint.Options{}); len(all) > 0 {
		t.Error(all)
	}
}

// TestGoalsOfSomeJointsAreJudgedToo imports nothing but one leg, which stands and moves:
// the other legs are as the robot's first pose has them.
func TestGoalsOfSomeJointsAreJudgedToo(t *testing.T) {
	m := model(t, "pony")
	names := []string{"joint11", "joint12", "joint13", "joint14", "joint15"} // no virtual joint
	d := &motion.Document{Columns: names, Chains: []string{"leg1"}, Points: []motion.Point{
		{Enabled: true, Positions: []float64{0, -0.223, 0.649, -0.426, 0}, Supports: []float64{1}},
		{Time: 2, Enabled: true, Positions: []float64{0, -0.023, 0.649, -0.426, 0}, Supports: []float64{1}}}}
	for _, n := range names {
		d.Joints = append(d.Joints, motion.Joint{Name: n, Enabled: true})
	}
	if all := lint.Check(d, m, lint.Options{}); !strings.Contains(rules(all), string(lint.Slip)) {
		t.Error(all)
	}
	for i := range d.Points {
		d.Points[i].Supports[0] = 0
	}
	if all := lint.Check(d, m, lint.Options{}); strings.Contains(rules(all), string(lint.Slip)) {
		t.Error(all)
	}
}

func TestCentreOfMassLeavingTheSupportsIsFound(t *testing.T) {
	m := model(t, "pony")
	d := legsOf(t, m, standing(t, m, 0, 1, 2))
	// on the two left legs, then on none
	left := apply(t, m, d, motion.Operation{Op: "set_supports", Rows: []int{1}, Names: []string{"leg2", "leg4"}, Values: []float64{0}})
	all := lint.Check(left, m, lint.Options{})
	if rules(all) != string(lint.Balance) || len(all) != 1 {
		t.Fatal(all)
	}
	if f := all[0]; f.At != 1 || f.Until >= 2 || f.Until < 1.9 || f.Value > -0.02 || f.Row != 2 || !strings.Contains(f.Text, "outside") {
		t.Errorf("%+v", f)
	}
	nowhere := apply(t, m, d, motion.Operation{Op: "set_supports", Names: d.Chains, Values: []float64{0}})
	if all := lint.Check(nowhere, m, lint.Options{}); len(all) != 1 || all[0].Code != lint.Balance || all[0].At != 0 || all[0].Until != 2 ||
		!strings.Contains(all[0].Text, "no foot stands, and the robot falls (0 s to 2 s") {
		t.Error("a robot in the air:", all)
	}
	// in the air for a part of it
	jump := apply(t, m, d, motion.Operation{Op: "set_supports", Rows: []int{1}, Names: d.Chains, Values: []float64{0}})
	if all := lint.Check(jump, m, lint.Options{}); len(all) != 1 || all[0].At != 1 || all[0].Until < 1.9 || all[0].Until >= 2 || !strings.Contains(all[0].Text, "no foot stands") {
		t.Error("a robot that jumps:", all)
	}
	// how far inside it is may be asked for
	if all := lint.Check(d, m, lint.Options{Margin: 0.2}); rules(all) != string(lint.Balance) {
		t.Error(all)
	}
	// a motion of the head alone: the legs that hold are feet, if their pose is known
	head := standing(t, m, 0, 1, 2)
	if all := lint.Check(head, m, lint.Options{Margin: 0.2}); rules(all) != string(lint.Balance) {
		t.Error(all)
	}
}

func TestRulesAreKnown(t *testing.T) {
	seen := map[problem.Code]bool{}
	for _, r := range lint.Rules() {
		if seen[r.Name] || r.Finds == "" {
			t.Error(r)
		}
		seen[r.Name] = true
	}
}

// TestDocumentationHasEveryRule keeps the table of rules in the documentation equal to
// the one here.
func TestDocumentationHasEveryRule(t *testing.T) {
	text, err := os.ReadFile("../../docs/motions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| rule | finds |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var want []string
	for _, r := range lint.Rules() {
		want = append(want, "| `"+string(r.Name)+"` | "+r.Finds+" |")
	}
	if got := strings.TrimSpace(table); got != strings.Join(want, "\n") {
		t.Errorf("docs/motions.md says\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// TestMotionWithoutACurveNamesItsJoint: numbers that no curve can join are told with
// the joint, not its place in a table.
func TestMotionWithoutACurveNamesItsJoint(t *testing.T) {
	m := model(t, "pony")
	d := apply(t, m, standing(t, m, 0, 1), set(0, "joint52", -1e308), set(1, "joint52", 1e308))
	for _, f := range lint.Check(d, m, lint.Options{}) {
		if f.Code == lint.Table && f.Joint == "joint52" && strings.Contains(f.Text, "joint52 changes too steeply within 1 s") {
			return
		}
	}
	t.Errorf("%v", lint.Check(d, m, lint.Options{}))
}

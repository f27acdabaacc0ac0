package motion_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"poise/control/follow"
	"poise/motion"
)

// TestEveryOperationDoesWhatItSays carries out each edit on the same document and looks
// at what has become of it.
func TestEveryOperationDoesWhatItSays(t *testing.T) {
	l, m := waver(t)
	before := l.Document()
	type op = motion.Operation
	at := func(d *motion.Document, row int, joint string) float64 {
		v, _ := d.Captured(row, joint)
		return v
	}
	_, names, stand := pony(t)
	bent := slices.Clone(stand)
	bent[slices.Index(names, "joint52")] = 0.9
	tested := map[string]bool{}
	for _, tc := range []struct {
		op   op
		want func(d *motion.Document) bool
	}{
		{op{Op: "set_description", Texts: []string{"x"}}, func(d *motion.Document) bool { return d.Description == "x" }},
		{op{Op: "set_tags", Texts: []string{"x", "y"}}, func(d *motion.Document) bool { return slices.Equal(d.Tags, []string{"x", "y"}) }},
		{op{Op: "set_start_pose", Texts: []string{"bow"}}, func(d *motion.Document) bool { return d.StartPose == "bow" }},
		{op{Op: "set_loop", Value: 1}, func(d *motion.Document) bool { return d.Loop }},
		{op{Op: "set_goal_time_tolerance", Value: 2}, func(d *motion.Document) bool { return d.GoalTimeTolerance == 2 }},
		{op{Op: "add_joints", Names: []string{"joint51"}}, func(d *motion.Document) bool { return d.Joint("joint51") == 2 && d.Joints[2].Enabled }},
		{op{Op: "remove_joints", Names: []string{"joint52"}}, func(d *motion.Document) bool { return d.Joint("joint52") < 0 && at(d, 3, "joint52") > 0.2 }},
		{op{Op: "disable_joints", Names: []string{"joint12"}}, func(d *motion.Document) bool { return d.Joints[0].Enabled && !d.Joints[1].Enabled }},
		{op{Op: "enable_joints"}, func(d *motion.Document) bool { return d.Joints[0].Enabled && d.Joints[1].Enabled }},
		{op{Op: "order_joints", Names: []string{"joint12"}}, func(d *motion.Document) bool {
			return slices.Equal(d.JointNames(), []string{"joint12", "joint52"})
		}},
		{op{Op: "set_path_tolerance", Value: 0.5}, func(d *motion.Document) bool {
			return d.Joints[0].Path.Position == 0.5 && d.Joints[1].Path.Position == 0.5 && d.Joints[0].Goal == nil
		}},
		{op{Op: "set_goal_tolerance", Names: []string{"joint12"}, Value: -1}, func(d *motion.Document) bool {
			return d.Joints[0].Goal == nil && d.Joints[1].Goal.Position == -1 && d.Joints[1].Path == nil
		}},
		{op{Op: "clear_tolerances"}, func(d *motion.Document) bool { return d.Joints[0].Path == nil }},
		{op{Op: "add_point", Time: 1.5, Names: append([]string{"support/leg2"}, names...), Values: append([]float64{0}, bent...), Texts: []string{"new"}}, func(d *motion.Document) bool {
			// leg1 is free since the row before, leg2 is said to be
			return len(d.Points) == 5 && d.Points[2].Label == "new" && at(d, 2, "joint52") == 0.9 && slices.Equal(d.Points[2].Supports, []float64{0, 0})
		}},
		{op{Op: "update_points", Rows: []int{2}, Names: names, Values: bent}, func(d *motion.Document) bool {
			return at(d, 2, "joint52") == 0.9 && d.Points[2].Label == "p2" && d.Points[2].Supports[0] == 0.5
		}},
		{op{Op: "duplicate_points", Rows: []int{1, 2}, Time: 5}, func(d *motion.Document) bool {
			return len(d.Points) == 6 && d.Points[4].Time == 5 && d.Points[5].Time == 6 && d.Points[5].Label == "p2"
		}},
		{op{Op: "delete_points", Rows: []int{2, 0}}, func(d *motion.Document) bool { return len(d.Points) == 2 && d.Points[1].Label == "p3" }},
		{op{Op: "disable_points", Rows: []int{2}}, func(d *motion.Document) bool { return !d.Points[2].Enabled && d.Points[1].Enabled }},
		{op{Op: "enable_points"}, func(d *motion.Document) bool { return d.Points[2].Enabled }},
		{op{Op: "set_labels", Rows: []int{2}, Texts: []string{"x"}}, func(d *motion.Document) bool { return d.Points[2].Label == "x" && d.Points[1].Label == "p1" }},
		{op{Op: "set_positions", Rows: []int{1, 2}, Names: []string{"joint52", "joint51"}, Values: []float64{0.7, 0.1}}, func(d *motion.Document) bool {
			return at(d, 1, "joint52") == 0.7 && at(d, 2, "joint51") == 0.1 && at(d, 3, "joint51") == -0.3
		}},
		{op{Op: "apply_pose", Rows: []int{1}, Texts: []string{"bow"}}, func(d *motion.Document) bool { return at(d, 1, "joint51") == -0.5 && at(d, 2, "joint51") == -0.3 }},
		{op{Op: "thin", Value: 0.01}, func(d *motion.Document) bool { return len(d.Points) == 4 }}, // all are labelled
		{op{Op: "set_time", Rows: []int{0}, Time: 2.5}, func(d *motion.Document) bool { return d.Points[2].Label == "p0" && d.Points[2].Time == 2.5 }},
		{op{Op: "shift_times", Rows: []int{2, 3}, Time: 1}, func(d *motion.Document) bool {
			return d.Points[3].Time == 4 && d.Points[1].Time == 1 && d.Events[0].Time == 0.5
		}},
		{op{Op: "shift_times", Time: 1}, func(d *motion.Document) bool { return d.Points[0].Time == 1 && d.Events[0].Time == 1.5 }},
		{op{Op: "scale_times", Value: 2}, func(d *motion.Document) bool { return d.Points[3].Time == 6 && d.Events[0].Time == 1 }},
		{op{Op: "slow_to_fit", Texts: []string{"limits"}}, func(d *motion.Document) bool { return d.Points[3].Time == 3 }}, // it is slow enough
		{op{Op: "mark_start", Rows: []int{1}}, func(d *motion.Document) bool { return d.Marked(motion.StartMark) == 1 }},
		{op{Op: "mark_end", Rows: []int{2}}, func(d *motion.Document) bool { return d.Marked(motion.EndMark) == 2 }},
		{op{Op: "trim"}, func(d *motion.Document) bool { return len(d.Points) == 4 }}, // without marks all of it
		{op{Op: "mirror"}, func(d *motion.Document) bool { return d.Joints[1].Name == "joint22" }},
		{op{Op: "reverse"}, func(d *motion.Document) bool { return d.Points[0].Label == "p3" && d.Events[0].Time == 2.5 }},
		{op{Op: "add_supports", Names: []string{"leg3"}, Values: []float64{0.5}}, func(d *motion.Document) bool { return d.Points[3].Supports[2] == 0.5 }},
		{op{Op: "remove_supports", Names: []string{"leg1"}}, func(d *motion.Document) bool {
			return slices.Equal(d.Chains, []string{"leg2"}) && slices.Equal(d.Points[1].Supports, []float64{1})
		}},
		{op{Op: "set_supports", Names: []string{"leg2"}, Values: []float64{0}}, func(d *motion.Document) bool { return d.Points[0].Supports[1] == 0 && d.Points[3].Supports[1] == 0 }},
		{op{Op: "add_event", Time: 0.1, Texts: []string{"a", "b"}}, func(d *motion.Document) bool {
			return d.Events[0] == follow.Event{Time: 0.1, Type: "a", Command: "b"} && len(d.Events) == 2
		}},
		{op{Op: "set_event", Rows: []int{0}, Time: 2, Texts: []string{"a", "b", "c"}}, func(d *motion.Document) bool {
			return d.Events[0] == follow.Event{Time: 2, Type: "a", Command: "b", Options: "c"}
		}},
		{op{Op: "delete_events", Rows: []int{0}}, func(d *motion.Document) bool { return len(d.Events) == 0 }},
	} {
		tested[tc.op.Op] = true
		d, err := motion.Apply(before, m, tc.op)
		if err != nil {
			t.Errorf("%s: %v", tc.op.Op, err)
		} else if !tc.want(d) {
			t.Errorf("%s gives %s", tc.op.Op, text(t, d))
		}
	}
	for _, v := range motion.Operations() {
		if !tested[v.Op] {
			t.Errorf("%s is not tested", v.Op)
		}
	}
}

// TestOperationsRefuseNonsense gives each kind of field a wrong value.
func TestOperationsRefuseNonsense(t *testing.T) {
	l, m := waver(t)
	type op = motion.Operation
	for _, tc := range []struct {
		name string
		op   op
		kind error
	}{
		{"no rows", op{Op: "delete_points"}, motion.ErrOperation},
		{"a row before the first", op{Op: "disable_points", Rows: []int{-1}}, motion.ErrRow},
		{"a text that is unknown", op{Op: "slow_to_fit", Texts: []string{"limit"}}, motion.ErrOperation},
		{"a leg lifted from under it, at any pace", op{Op: "slow_to_fit"}, motion.ErrAtRest},
		{"two rows for one", op{Op: "set_time", Rows: []int{0, 1}, Time: 9}, motion.ErrOperation},
		{"no such event", op{Op: "delete_events", Rows: []int{1}}, motion.ErrRow},
		{"no such event to change", op{Op: "set_event", Rows: []int{1}, Texts: []string{"a"}}, motion.ErrRow},
		{"an event without a type", op{Op: "add_event", Texts: []string{"", "x"}}, motion.ErrOperation},
		{"an event before zero", op{Op: "add_event", Time: -1, Texts: []string{"a"}}, motion.ErrOrder},
		{"more values than names", op{Op: "set_positions", Names: []string{"joint51"}, Values: []float64{1, 2}}, motion.ErrSize},
		{"a value that is not finite", op{Op: "set_positions", Names: []string{"joint51"}, Values: []float64{math.Inf(1)}}, motion.ErrNotFinite},
		{"a joint that takes no part", op{Op: "set_path_tolerance", Names: []string{"joint51"}, Value: 1}, motion.ErrUnknownJoint},
		{"a joint that takes part already", op{Op: "add_joints", Names: []string{"joint52"}, Values: []float64{0}}, motion.ErrName},
		{"a joint without a column", op{Op: "set_positions", Names: []string{"joint99"}, Values: []float64{0}}, motion.ErrUnknownJoint},
		{"a chain that cannot stand", op{Op: "add_supports", Names: []string{"head"}, Values: []float64{1}}, motion.ErrUnknownChain},
		{"a chain without a track", op{Op: "set_supports", Names: []string{"leg4"}, Values: []float64{1}}, motion.ErrUnknownChain},
		{"a pose that is not there", op{Op: "set_start_pose", Texts: []string{"sit"}}, motion.ErrName},
		{"a state with a name twice", op{Op: "add_point", Time: 9, Names: []string{"joint52", "joint52", "joint12"}, Values: []float64{0, 0, 0}}, motion.ErrName},
		{"a state of different lengths", op{Op: "add_point", Time: 9, Names: []string{"joint52"}, Values: []float64{0, 0}}, motion.ErrSize},
		{"a state that is not finite", op{Op: "add_point", Time: 9, Names: []string{"joint52", "joint12"}, Values: []float64{math.NaN(), 0}}, motion.ErrNotFinite},
		{"a mirror of what was not captured", op{Op: "mirror", Names: []string{"joint99"}}, motion.ErrUnknownJoint},
		{"a recording met within nothing", op{Op: "thin"}, motion.ErrOperation},
		{"labels for other rows", op{Op: "set_labels", Rows: []int{0}, Texts: []string{"a", "b"}}, motion.ErrSize},
		{"an order with a name twice", op{Op: "order_joints", Names: []string{"joint52", "joint52"}}, motion.ErrName},
		{"a tolerance that is no number", op{Op: "set_goal_tolerance", Value: math.NaN()}, motion.ErrNotFinite},
		{"an infinite goal time", op{Op: "set_goal_time_tolerance", Value: math.Inf(1)}, motion.ErrNotFinite},
	} {
		d, err := motion.Apply(l.Document(), m, tc.op)
		if !errors.Is(err, tc.kind) || d != nil {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.kind)
		}
	}
}

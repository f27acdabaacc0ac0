package motion_test

import (
	"encoding/json"
	"testing"

	"poise/motion"
)

// FuzzApply throws operations at documents: nothing panics, what is refused leaves the
// document as it was, and what is done gives a table that holds together, sorted by
// time, which undo takes back.
func FuzzApply(f *testing.F) {
	l, m := waver(f)
	seed := text(f, l.Document())
	for _, op := range []motion.Operation{
		{Op: "reverse"}, {Op: "mirror"}, {Op: "mirror", Rows: []int{1}, Names: []string{"joint12"}}, {Op: "trim"},
		{Op: "add_joints", Names: []string{"joint53", "joint54"}, Values: []float64{1}},
		{Op: "add_point", Time: 5, Names: []string{"joint52", "joint12", "support/leg1"}, Values: []float64{1, 2, 0}},
		{Op: "set_supports", Rows: []int{0, 3}, Names: []string{"leg2"}, Values: []float64{0.5}},
		{Op: "shift_times", Rows: []int{2, 3}, Time: 0.5}, {Op: "mark_start", Rows: []int{1}},
		{Op: "set_event", Rows: []int{0}, Time: 1, Texts: []string{"a", "b", "c"}},
		{Op: "duplicate_points", Rows: []int{0, 2}, Time: 9}, {Op: "order_joints", Names: []string{"joint12"}},
	} {
		b, err := json.Marshal(op)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(seed), b)
	}
	f.Fuzz(func(t *testing.T, document, operation []byte) {
		var d motion.Document
		var op motion.Operation
		if json.Unmarshal(document, &d) != nil || json.Unmarshal(operation, &op) != nil || len(d.Points) > 50 || len(d.Columns) > 50 {
			return
		}
		if d.Check() != nil {
			return
		}
		before := text(t, &d)
		now, err := motion.Apply(&d, m, op)
		if text(t, &d) != before {
			t.Fatalf("%s changed the document that it was given", operation)
		}
		if err != nil {
			return
		}
		if err := now.Check(); err != nil {
			t.Fatalf("%s: %v", operation, err)
		}
		for i := 1; i < len(now.Points); i++ {
			if now.Points[i].Time < now.Points[i-1].Time {
				t.Fatalf("%s: rows are not sorted", operation)
			}
		}
		if _, err := now.Goal(motion.Part{Marked: true, Backward: true}); err == nil && len(now.Joints) > 0 {
			g, _ := now.Goal(motion.Part{})
			_, _ = g.Curve(m) // whatever it says, it does not panic
		}
	})
}

package motion_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"poise/control"
	"poise/control/follow"
	"poise/motion"
	"poise/motion/file"
)

// TestAsk02KeyframeEditor makes a motion as people with a timeline do: named poses as
// steps with durations, easing at rest, scrubbing, a loop; and plays it.
func TestAsk02KeyframeEditor(t *testing.T) {
	m, names, q := pony(t)
	l := newSheet(m, &motion.Document{})
	do(t, l,
		motion.Operation{Op: "add_point", Time: 0, Names: names, Values: q, Texts: []string{"stand"}},
		motion.Operation{Op: "duplicate_points", Rows: []int{0}, Time: 2},
		motion.Operation{Op: "apply_pose", Rows: []int{1}, Texts: []string{"crouched"}},
		motion.Operation{Op: "set_labels", Rows: []int{1}, Texts: []string{"crouched"}},
		motion.Operation{Op: "duplicate_points", Rows: []int{1}, Time: 3}, // a hold
		motion.Operation{Op: "duplicate_points", Rows: []int{0}, Time: 5},
		motion.Operation{Op: "set_loop", Value: 1})
	pose, _ := m.Pose("crouched")
	var legs []string
	for _, id := range pose.Joints {
		legs = append(legs, m.Joints()[id].Name)
	}
	do(t, l, motion.Operation{Op: "add_joints", Names: legs}, // partial: the head does what it did
		motion.Operation{Op: "add_supports", Names: []string{"leg1", "leg2", "leg3", "leg4"}, Values: []float64{1}},
		motion.Operation{Op: "shift_times", Rows: []int{3}, Time: 1}) // the last step takes longer
	g, err := l.Goal(motion.Part{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(times(g), []float64{0, 2, 3, 6}) || len(g.Moved()) != len(legs) {
		t.Fatal(times(g), g.Joints)
	}
	// scrub: any instant can be looked at; steps begin and end at rest, a hold is still
	s, err := motion.Sample(g, m, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	knee := slices.IndexFunc(s.Curves, func(c motion.Curve) bool { return c.Joint == "joint13" })
	for i, at := range s.Times {
		q, v := s.Curves[knee].Position[i], s.Curves[knee].Velocity[i]
		if at >= 2 && at <= 3 && (q != 1.185 || v != 0) {
			t.Fatalf("at %v s the hold is at %v with %v rad/s", at, q, v)
		}
	}
	if c := s.Curves[knee]; c.Position[0] != 0.649 || c.Velocity[0] != 0 || c.Position[len(c.Position)-1] != 0.649 {
		t.Error("does not begin and end at rest, standing")
	}
	// it plays on the model
	g.Loop = l.Document().Loop
	if _, err := follow.Compile(m, follow.Options{Transition: control.Transition{Acceleration: 8}}, nil, g); err != nil {
		t.Error(err)
	}
	if err := l.Do(motion.Operation{Op: "apply_pose", Rows: []int{1}, Texts: []string{"crouchd"}}); !errors.Is(err, motion.ErrName) {
		t.Error(err)
	}
}

// TestAsk23RecordedMovementIsTrimmedAndThinned takes a hand-guided movement with a
// pause, 50 rows a second, cuts its ends off and keeps the rows that matter: every pose
// that was recorded is met by the curve that is played.
func TestAsk23RecordedMovementIsTrimmedAndThinned(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 23))
	d := &motion.Document{Joints: []motion.Joint{{Name: "a", Enabled: true}, {Name: "b", Enabled: true}}, Columns: []string{"a", "b"}}
	for i := range 401 {
		at := float64(i) / 50
		phase := min(at, 3) + max(0, at-5) // still from 3 s to 5 s
		noise := 0.0004 * rng.NormFloat64()
		d.Points = append(d.Points, motion.Point{Time: at, Enabled: true, Positions: []float64{math.Sin(2*phase) + noise, 0.5 * math.Cos(phase)}})
	}
	l := newSheet(nil, d)
	do(t, l, motion.Operation{Op: "mark_start", Rows: []int{25}}, motion.Operation{Op: "mark_end", Rows: []int{375}},
		motion.Operation{Op: "trim"}, motion.Operation{Op: "set_labels", Rows: []int{100}, Texts: []string{"here"}})
	whole, err := l.Goal(motion.Part{})
	if err != nil || whole.Points[0].Time != 0 || len(whole.Points) != 351 {
		t.Fatal(len(whole.Points), err)
	}
	const within = 0.01
	do(t, l, motion.Operation{Op: "thin", Value: within})
	g, err := l.Goal(motion.Part{})
	if err != nil {
		t.Fatal(err)
	}
	curve, err := g.Curve(nil)
	if err != nil {
		t.Fatal(err)
	}
	q := make([]float64, 2)
	for _, p := range whole.Points {
		curve.PositionTo(q, p.Time)
		for j := range q {
			if miss := math.Abs(q[j] - p.Position[j]); miss > within {
				t.Fatalf("joint %d misses the pose at %v s by %v", j, p.Time, miss)
			}
		}
	}
	if len(g.Points) > 60 || g.Duration() != whole.Duration() {
		t.Errorf("%d rows are left of 351, over %v s", len(g.Points), g.Duration())
	}
	if !slices.ContainsFunc(l.Document().Points, func(p motion.Point) bool { return p.Label == "here" }) {
		t.Error("a labelled row is gone")
	}
	t.Logf("%d rows of 351 are left", len(g.Points))
}

// TestAsk36NothingUnrecordedIsLost: the file has all rows at table times, whatever part
// of the motion was played.
func TestAsk36NothingUnrecordedIsLost(t *testing.T) {
	l, _ := waver(t)
	do(t, l, motion.Operation{Op: "disable_points", Rows: []int{1}}, motion.Operation{Op: "mark_start", Rows: []int{2}})
	if _, err := l.Goal(motion.Part{Marked: true, Scale: 3, Backward: true}); err != nil {
		t.Fatal(err)
	}
	saved := file.Write(l.Document(), nil)
	back, err := file.Read(saved, "x")
	if err != nil || len(back.Points) != 4 || back.Points[3].Time != 3 || back.Points[1].Enabled || back.Marked(motion.StartMark) != 2 {
		t.Fatal(back, err)
	}
}

// TestAsk37MirrorDuplicatePartialPoses copies a pose in time, from left to right, and
// for a part of the body.
func TestAsk37MirrorDuplicatePartialPoses(t *testing.T) {
	l, _ := waver(t)
	do(t, l,
		motion.Operation{Op: "set_positions", Rows: []int{0}, Names: []string{"joint11", "joint12"}, Values: []float64{0.3, -0.5}},
		motion.Operation{Op: "duplicate_points", Rows: []int{0}, Time: 4},
		motion.Operation{Op: "mirror", Rows: []int{4}},                             // the whole pose
		motion.Operation{Op: "apply_pose", Rows: []int{4}, Texts: []string{"bow"}}, // legs and head of it
		motion.Operation{Op: "mirror", Rows: []int{0}, Names: []string{"joint21"}})
	got := func(row int, joint string) float64 {
		v, _ := l.Document().Captured(row, joint)
		return v
	}
	if got(0, "joint21") != -0.3 || got(0, "joint22") == -0.5 {
		t.Error("more than one joint was copied over")
	}
	if got(4, "joint12") != 0.238 || got(4, "joint51") != -0.5 || got(4, "tail_joint1") != 0 {
		t.Error("the pose is not there")
	}
}

// BenchmarkThin thins a noisy recording of 10 000 rows of 38 joints, of which most stay.
func BenchmarkThin(b *testing.B) {
	m, names, q := pony(b)
	rng := rand.New(rand.NewPCG(1, 1))
	d := &motion.Document{Columns: names}
	for _, n := range names {
		d.Joints = append(d.Joints, motion.Joint{Name: n, Enabled: true})
	}
	for i := range 10_000 {
		row := slices.Clone(q)
		for j := range row {
			row[j] += 0.01 * rng.NormFloat64()
		}
		d.Points = append(d.Points, motion.Point{Time: float64(i) / 50, Enabled: true, Positions: row})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := motion.Apply(d, m, motion.Operation{Op: "thin", Value: 0.005}); err != nil {
			b.Fatal(err)
		}
	}
}

package motion_test

import (
	"math"
	"slices"
	"testing"
	"testing/fstest"

	"poise/control"
	"poise/control/follow"
	"poise/motion"
	"poise/robot/load"
)

// TestCurveIsWhatFollowPlays compiles the same goal for the controller and compares
// the two curves at many times.
func TestCurveIsWhatFollowPlays(t *testing.T) {
	l, m := waver(t)
	g, err := l.Goal(motion.Part{})
	if err != nil {
		t.Fatal(err)
	}
	curve, err := g.Curve(m)
	if err != nil {
		t.Fatal(err)
	}
	program, err := follow.Compile(m, follow.Options{Transition: control.Transition{Acceleration: 8}}, nil, g)
	if err != nil {
		t.Fatal(err)
	}
	names := program.Record().Names
	n := len(names)
	q, v, a := make([]float64, n), make([]float64, n), make([]float64, n)
	x, y, z := make([]float64, n), make([]float64, n), make([]float64, n)
	for k := range 301 {
		at := 0.01 * float64(k)
		program.Curve().StateTo(q, v, a, at)
		curve.StateTo(x, y, z, at)
		for i, name := range names {
			j := slices.Index(g.Moved(), name)
			if q[i] != x[j] || v[i] != y[j] {
				t.Fatalf("%s at %v: follow plays %v %v, the curve is %v %v", name, at, q[i], v[i], x[j], y[j])
			}
		}
	}
}

// TestCurveCountsTurnsAsFollowDoes has rows of a wheel: within half a turn they mean
// angles, beyond it they count turns. What is judged and drawn is what is played.
func TestCurveCountsTurnsAsFollowDoes(t *testing.T) {
	bot, err := load.Folder(fstest.MapFS{
		"wheel/wheel.urdf": {Data: []byte(`<robot name="wheel"><link name="base"/><link name="rim"/>
<joint name="wheel" type="continuous"><parent link="base"/><child link="rim"/><axis xyz="0 0 1"/><limit effort="1" velocity="8"/></joint></robot>`)},
		"wheel/joint_limits.yaml": {Data: []byte("joint_limits:\n  wheel: {has_acceleration_limits: true, max_acceleration: 60}\n")},
	}, "wheel", load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range [][]float64{{3, -3}, {-3, 3, -3}, {0, 4}, {0, 4, 8}, {0, 2 * math.Pi}, {0, 3, 6, 3}} {
		d := &motion.Document{Joints: []motion.Joint{{Name: "wheel", Enabled: true}}, Columns: []string{"wheel"}}
		for i, q := range rows {
			d.Points = append(d.Points, motion.Point{Time: 2 * float64(i), Enabled: true, Positions: []float64{q}})
		}
		g, err := d.Goal(motion.Part{})
		if err != nil {
			t.Fatal(err)
		}
		curve, err := g.Curve(bot.Model)
		if err != nil {
			t.Fatal(err)
		}
		program, err := follow.Compile(bot.Model, follow.Options{}, nil, g)
		if err != nil {
			t.Fatal(err)
		}
		var q, v, a, x, y, z [1]float64
		for at := 0.0; at <= curve.End(); at += 0.05 {
			program.Curve().StateTo(q[:], v[:], a[:], at)
			curve.StateTo(x[:], y[:], z[:], at)
			if q != x || v != y {
				t.Fatalf("rows %v at %v: follow plays %v %v, the curve is %v %v", rows, at, q, v, x, y)
			}
		}
		if g.Points[1].Position[0] != rows[1] {
			t.Errorf("rows %v: drawing the goal changed it to %v", rows, g.Points)
		}
	}
}

// TestPartsKnowTheTimesOfTheirRows: whatever part is played, how fast and in which
// direction, every point and event is found in the table again.
func TestPartsKnowTheTimesOfTheirRows(t *testing.T) {
	l, _ := waver(t)
	do(t, l, motion.Operation{Op: "mark_start", Rows: []int{1}}, motion.Operation{Op: "mark_end", Rows: []int{3}},
		motion.Operation{Op: "add_event", Time: 2.25, Texts: []string{"voice/say", "hi"}})
	for _, part := range []motion.Part{{}, {Marked: true}, {Scale: 2}, {Marked: true, Scale: 0.5}, {Backward: true}, {Marked: true, Scale: 4, Backward: true}} {
		g, err := l.Goal(part)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range g.Points {
			row := slices.IndexFunc(l.Document().Points, func(x motion.Point) bool { return math.Abs(x.Time-g.Table.At(p.Time)) < 1e-12 })
			if row < 0 {
				t.Fatalf("%+v: the point at %v s is at %v s of the table", part, p.Time, g.Table.At(p.Time))
			}
			if q, _ := l.Document().Captured(row, "joint52"); q != p.Position[slices.Index(g.Joints, "joint52")] {
				t.Errorf("%+v: the point at %v s is not row %d", part, p.Time, row+1)
			}
		}
		last := g.Events[len(g.Events)-1]
		if part.Backward {
			last = g.Events[0]
		}
		if at := g.Table.At(last.Time); math.Abs(at-2.25) > 1e-12 {
			t.Errorf("%+v: the event is at %v s of the table", part, at)
		}
	}
}

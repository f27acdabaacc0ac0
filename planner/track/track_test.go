package track

import (
	"context"
	"fmt"
	"testing"

	"poise/internal/golden"
	"poise/kinematics"
	"poise/planner/path"
	"poise/robot"
	"poise/robot/load"
	"poise/spatial"
)

func arm(tb testing.TB, name, group string) (*robot.Model, *robot.Group) {
	tb.Helper()
	if name != "arm6" {
		name = golden.Path(tb, "robots/"+name)
	}
	r, err := load.Robot(name, load.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	id, ok := r.Model.Group(group)
	if !ok {
		tb.Fatal("no group")
	}
	return r.Model, &r.Model.Groups()[id]
}

func BenchmarkLine(b *testing.B) {
	for _, c := range []struct {
		robot, group string
		q            []float64
		goal         spatial.Vec3
	}{
		{"arm6", "manipulator", []float64{0.8, 0.6, -1.4, 0.1, -0.8, 0}, spatial.Vec3{X: 0, Y: -1, Z: 0}},
		{"panda", "panda_arm", []float64{0.9, 0.2, 0.1, -2, 0.1, 2, 0.5}, spatial.Vec3{X: 0, Y: -0.9, Z: 0}},
	} {
		b.Run(c.robot, func(b *testing.B) {
			m, g := arm(b, c.robot, c.group)
			q := make([]float64, m.NumQ())
			for i, j := range g.Joints {
				if i < len(c.q) {
					q[m.Joints()[j].Q] = c.q[i]
				}
			}
			d := kinematics.NewData(m)
			d.UpdatePosition(q)
			X := d.Pose(d.At(g.Tip))
			l := path.NewLine(X.P, X.P.Add(c.goal), path.Turn{Start: X.R, Axis: spatial.Vec3{Z: 1}}, path.Coupling{})
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				t, why := New(m, g.Joints, g.Tip)
				if why != nil {
					b.Fatal(why)
				}
				c, why := t.Follow(context.Background(), []path.Path{l}, q, nil)
				if why != nil {
					b.Fatal(fmt.Sprint(X.P, why))
				}
				n = c[0].Segments()
			}
			b.ReportMetric(float64(n), "segments")
		})
	}
}

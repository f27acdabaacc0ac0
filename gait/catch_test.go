package gait

import (
	"math"
	"testing"

	"poise/spatial"
)

// TestCatch: both feet go one after the other, each lands flat on the ground that a body which leans stands on, a step ahead; what is added has
// continuous velocities and accelerations all the way, and ends in a level stand with the body in the middle.
func TestCatch(t *testing.T) {
	const dt, lean = 0.0005, 0.4
	o := CatchOptions{Toward: Point{X: 0.6, Y: 0.8}, Legs: [2]int{3, 0}, Sole: 0.02, Step: 0.08, Rise: 0.006, Takes: 0.17, Back: 0.8}
	c := NewCatch(o)
	var order []int
	var before [5]Motion
	for n := 0; !c.Over(); n++ {
		if c.Due() {
			order = append(order, o.Legs[len(order)])
			c.Swing(lean)
		}
		if c.Down() && !c.Returns() && c.t > 0.5 {
			for _, leg := range o.Legs {
				m, turn, rate, _ := c.Foot(leg, 0)
				edge := spatial.Vec3{X: o.Sole * o.Toward.X, Y: o.Sole * o.Toward.Y}
				axis := spatial.Vec3{X: -o.Toward.Y, Y: o.Toward.X}
				at := edge.Add(spatial.AxisAngle(axis, lean).MulVec(m.P.Sub(edge))) // of a body that turned about the edge
				want := spatial.Vec3{X: o.Step * o.Toward.X, Y: o.Step * o.Toward.Y}
				if at.Sub(want).Norm() > 1e-12 || math.Abs(turn+lean) > 1e-12 || math.Abs(rate) > 1e-9 || c.Aloft(leg) {
					t.Fatalf("leg %d stands at %v, turned by %g; %v is a step ahead", leg, at, turn, want)
				}
			}
			c.Return()
		}
		for leg := range 5 {
			var m Motion
			if leg < 4 {
				m, _, _, _ = c.Foot(leg, 0)
			} else {
				m = c.Body(0)
			}
			v, a := m.P.Sub(before[leg].P).Scale(1/dt), m.V.Sub(before[leg].V).Scale(1/dt)
			if n > 0 && (v.Sub(m.V).Norm() > 0.02 || a.Sub(m.A).Norm() > 2 || m.A.Sub(before[leg].A).Norm() > 1.5) {
				t.Fatalf("%d at %g s: it goes by %v and %v, and says %+v after %+v", leg, c.t, v, a, m, before[leg])
			}
			before[leg] = m
		}
		c.Pass(dt)
	}
	if len(order) != 2 || order[0] != 3 || order[1] != 0 {
		t.Errorf("feet went in the order %v", order)
	}
	for leg := range 4 {
		m, turn, _, _ := c.Foot(leg, 0)
		ahead := 0.0
		if leg == 0 || leg == 3 {
			ahead = o.Step
		}
		if math.Abs(turn) > 1e-9 || math.Abs(m.P.Z) > 1e-9 || math.Abs(m.P.Norm()-ahead) > 1e-9 || m.V.Norm() > 1e-9 || m.A.Norm() > 1e-6 {
			t.Errorf("leg %d ends at %v, turned by %g", leg, m.P, turn)
		}
	}
	if m := c.Body(0); math.Abs(m.P.Norm()-o.Step/2) > 1e-9 {
		t.Errorf("the body ends at %v", m.P)
	}
}

// TestGather: feet that stand apart from their places go there, and it stands.
func TestGather(t *testing.T) {
	p := newWalker(t, four, "crawl").Planner
	feet := make([]Point, len(p.feet))
	for i := range feet {
		feet[i] = p.feet[i].nominal
		feet[i].X += []float64{0.02, -0.02, -0.02, 0.02}[i]
	}
	p.Place(Point{}, 0, feet, Point{})
	p.Gather()
	for range 2000 {
		p.Advance(0.005)
	}
	for i := range feet {
		if d := math.Hypot(p.feet[i].at.X-p.now.apply(p.feet[i].nominal).X, p.feet[i].at.Y-p.now.apply(p.feet[i].nominal).Y); d > 2*nearPlace || p.Phase() != Stands {
			t.Errorf("foot %d is %g m from its place; it %v", i, d, p.Phase())
		}
	}
}

package excite

import (
	"math"
	"testing"

	"poise/control"
	"poise/internal/rig"
	"poise/loop"
	"poise/robot"
	"poise/servo/model"
)

func setup(t *testing.T, name string) *rig.Rig {
	t.Helper()
	m := rig.Model(t, name)
	c, err := New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	return rig.New(t, m, rig.Options{Period: 0.002}, loop.Registration{Name: "servo_ident", Kind: Kind.Name, Controller: c}, loop.Registration{Name: "other", Kind: Kind.Name, Controller: other})
}

// options plan for a resource of a rig.
func options(t *testing.T, r *rig.Rig, resource string) Options {
	t.Helper()
	limits, bounds, err := Limits(r.M, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Model: r.M, Needs: r.Set(resource), From: r.Now.Command.Q, Limits: limits, Bounds: bounds, Duration: 12,
		Servo: func(j robot.JointID) *model.Model { return r.M.Servo(j).Model }}
	for leaf := range o.Needs.All {
		if int(leaf) < len(r.M.Joints()) && !r.M.Joints()[leaf].Virtual {
			o.Joints = append(o.Joints, robot.JointID(leaf))
		}
	}
	return o
}

// TestPlansKeepTheLimits: of robots with few and many limits, positions, velocities, accelerations and efforts of plans
// are within what joints have, and the derivatives are those of the positions.
func TestPlansKeepTheLimits(t *testing.T) {
	for robot, resource := range map[string]string{"pony": "leg1", "so101": "arm"} {
		r := setup(t, robot)
		for seed := range uint64(4) {
			o := options(t, r, resource)
			o.Seed, o.Sweeps, o.Draws = seed, seed%2 == 0, 20
			p, figures, wrong := Plan(o)
			if len(wrong) > 0 {
				t.Fatal(wrong)
			}
			for i := range p.Axes {
				j := p.Axes[i].Joint
				b, l, f := &o.Bounds[j], &o.Limits[j], &figures[i]
				if f.Velocity > speedShare*l.VelMax*1.001 || f.Acceleration > l.AccMax*1.001 || f.Effort > effortShare || f.Quick < 8e-3 || f.Way < leastWay {
					t.Errorf("%s, joint %d: %+v, limits %+v", robot, j, f, l)
				}
				const h = 1e-5
				for at := h; at < p.Duration()-h; at += 0.0071 {
					s, after, before := p.At(i, at), p.At(i, at+h), p.At(i, at-h)
					if s.P < b.Lower || s.P > b.Upper {
						t.Fatalf("%s, joint %d at %g s: %g is beyond %g … %g", robot, j, at, s.P, b.Lower, b.Upper)
					}
					if v := (after.P - before.P) / (2 * h); math.Abs(v-s.V) > 1e-3 {
						t.Fatalf("%s, joint %d at %g s: velocity %g, moves with %g", robot, j, at, s.V, v)
					}
				}
			}
		}
	}
}

// TestBestOfMany: the same seed gives the same plan, and many draws a better one than few.
func TestBestOfMany(t *testing.T) {
	r := setup(t, "so101")
	worst := func(draws int, seed uint64) (c float64) {
		o := options(t, r, "arm")
		o.Draws, o.Seed = draws, seed
		_, figures, wrong := Plan(o)
		if len(wrong) > 0 {
			t.Fatal(wrong)
		}
		for _, f := range figures {
			c = max(c, f.Condition)
		}
		return c
	}
	if a, b := worst(50, 3), worst(50, 3); a != b {
		t.Errorf("the same seed gives conditions of %g and %g", a, b)
	}
	one, many := 0.0, 0.0
	for seed := range uint64(3) {
		one, many = one+worst(1, seed), many+worst(100, seed)
	}
	if t.Logf("worst condition %.1f of one draw, %.1f of a hundred", one/3, many/3); !(many < 0.8*one) {
		t.Errorf("a hundred draws are conditioned by %g, one by %g", many/3, one/3)
	}
}

// TestLimitsThatLeaveTooLittle are named, with what would be needed.
func TestLimitsThatLeaveTooLittle(t *testing.T) {
	r := setup(t, "so101")
	o := options(t, r, "arm")
	o.Bounds[o.Joints[0]].Lower, o.Bounds[o.Joints[0]].Upper = -0.05, 0.05
	o.Limits[o.Joints[1]].AccMax = 1
	_, _, wrong := Plan(o)
	if len(wrong) != 1 || wrong[0].Joint != "shoulder_pan" || wrong[0].Limit != leastWay || !(wrong[0].Value < leastWay) {
		t.Errorf("%v", wrong)
	}
	o = options(t, r, "arm")
	o.Limits[o.Joints[1]].AccMax = 1
	if _, _, wrong = Plan(o); len(wrong) == 0 || wrong[0].Joint != "shoulder_lift" || wrong[0].Limit != leastQuick {
		t.Errorf("%v", wrong)
	}
}

// TestTheMotionEndsWhereItBegan: every command is within the limits, which the rig judges, and a cancel on the
// way slows down along the path.
func TestTheMotionEndsWhereItBegan(t *testing.T) {
	r := setup(t, "so101")
	o := options(t, r, "arm")
	o.Draws = 10
	p, _, wrong := Plan(o)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	goal := r.Start("servo_ident", p)
	for k := 0; float64(k)*r.Dt < p.Duration()+2; k++ {
		r.Run(1)
		if _, _, over := r.Ended(goal); over {
			break
		}
	}
	if status, why, over := r.Ended(goal); !over || status != control.Done {
		t.Fatalf("over %v, %v, %+v", over, status, why)
	}
	for i := range p.Axes {
		if d := math.Abs(r.Now.Command.Q[p.Axes[i].Joint] - p.Axes[i].From); d > 1e-3 {
			t.Errorf("joint %d is %g rad from where it began", p.Axes[i].Joint, d)
		}
	}
	if n := testing.AllocsPerRun(100, func() { r.Run(1) }); n != 0 {
		t.Errorf("%g allocations a tick", n)
	}
}

// TestItNeedsAllOfIt: a joint that is taken ends the motion, which says so.
func TestItNeedsAllOfIt(t *testing.T) {
	r := setup(t, "so101")
	p, _, wrong := Plan(func() Options { o := options(t, r, "arm"); o.Draws = 5; return o }())
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	goal := r.Start("servo_ident", p)
	r.For(3)
	if n := testing.AllocsPerRun(200, func() { r.Run(1) }); n != 0 {
		t.Errorf("%g allocations a tick", n)
	}
	elbow := robot.JointID(r.Joint("elbow_flex"))
	q := r.Now.Command.Q[elbow]
	take := &Program{Needs: robot.Leaf(robot.LeafID(elbow)), Axes: []Axis{{Joint: elbow, From: q, Centre: q}}, Times: Times{Delay: 1}, Farthest: 1, Silence: 1}
	r.Start("other", take)
	r.For(2)
	if status, why, over := r.Ended(goal); !over || status == control.Done || why.Code != control.ResourceLost {
		t.Errorf("over %v, %v, %+v", over, status, why)
	}
}

// TestAJointThatDoesNotFollow ends the motion, and is named.
func TestAJointThatDoesNotFollow(t *testing.T) {
	r := setup(t, "so101")
	c, _ := New(r.M, control.Transition{})
	o := options(t, r, "arm")
	o.Draws = 5
	p, _, _ := Plan(o)
	n := len(r.M.Joints())
	cmd, meas := control.Motion{Q: append([]float64(nil), r.Now.Command.Q...)}, control.Measured{Q: append([]float64(nil), r.Now.Command.Q...), Age: make([]uint32, n)}
	in := &control.Input{Tick: r.Tick(), Cmd: &cmd, Meas: &meas, Own: p.Needs, Rate: 1}
	out := control.NewReference(n, 0, 0)
	if why := c.Start(in, p); why.Code != control.OK {
		t.Fatalf("%+v", why)
	}
	if status, why := c.Update(in, out); status != control.Going {
		t.Errorf("%v %+v", status, why)
	}
	meas.Q[p.Axes[1].Joint] += 0.6
	if status, why := c.Update(in, out); status != control.Failed || why.Code != control.ToleranceBroken || why.Joint != p.Axes[1].Joint || why.Max != 0.5 {
		t.Errorf("%v %+v", status, why)
	}
	meas.Q[p.Axes[1].Joint] -= 0.6
	meas.Age[p.Axes[2].Joint] = 1000
	if status, why := c.Update(in, out); status != control.Failed || why.Code != control.Stale || why.Joint != p.Axes[2].Joint {
		t.Errorf("%v %+v", status, why)
	}
	cmd.Q[p.Axes[0].Joint] += 0.1
	if why := c.Check(in, p); why.Code != control.StartTooFar {
		t.Errorf("%+v", why)
	}
}

package getup_test

import (
	"math"
	"testing"

	"poise/control"
	"poise/control/getup"
	"poise/internal/rig"
	"poise/robot"
	"poise/servo"
	"poise/spatial"
)

// bench is a pony whose command is what the controller led it to, tilted as the test says.
type bench struct {
	t     *testing.T
	m     *robot.Model
	c     *getup.Controller
	input control.Input
	out   *control.Reference
}

func newBench(t *testing.T, pose string, roll float64) *bench {
	t.Helper()
	m := rig.Model(t, "pony")
	c, err := getup.New(m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	n, chains := len(m.Joints()), len(m.Chains())
	cmd, meas := control.NewMotion(n, chains, 1), control.NewMeasured(n, chains, servo.Sensors{IMU: 1})
	p, _ := m.Pose(pose)
	for k, j := range p.Joints {
		cmd.Q[j], meas.Q[j] = p.Q[k][0], p.Q[k][0]
	}
	b := &bench{t: t, m: m, c: c, out: control.NewReference(n, chains, 1)}
	b.input = control.Input{Tick: servo.Tick{Dt: 0.01}, Cmd: &cmd, Meas: &meas, Rate: 1}
	b.tilt(roll)
	return b
}

func (b *bench) tilt(roll float64) {
	b.input.Meas.Base = control.BaseRef{Has: true, Pose: spatial.Pose{R: spatial.FromRPY(roll, 0, 0)}}
}

// step makes a tick; joints follow.
func (b *bench) step() (control.Status, control.Reason) {
	b.out.Reset()
	status, why := b.c.Update(&b.input, b.out)
	copy(b.input.Cmd.Q, b.out.Q)
	copy(b.input.Meas.Q, b.out.Q)
	b.input.Tick.N++
	return status, why
}

func up(t *testing.T, m *robot.Model, from getup.From) *getup.Program {
	t.Helper()
	p, err := getup.Up(m, from)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRefusals: one that stands, one on its back and one without an inertial unit are refused, each by its own reason.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		pose string
		roll float64
		unit bool
		from getup.From
		want control.Code
	}{
		{"stands", "stand", 0.05, true, getup.ByUnit, control.AlreadyStands},
		{"stands, and is said to lie", "stand", 0.05, true, getup.Left, control.AlreadyStands},
		{"stands, and is said to lie on its belly", "stand", 0.05, true, getup.Belly, control.AlreadyStands},
		{"lies on its knees", "lying", 0.05, true, getup.ByUnit, control.OK},
		{"on its left side", "lying", -1.5, true, getup.ByUnit, control.OK},
		{"on its back", "lying", 3.1, true, getup.ByUnit, control.OnItsBack},
		{"without a unit", "lying", -1.5, false, getup.ByUnit, control.NoInertialUnit},
		{"without a unit, and told", "lying", -1.5, false, getup.Left, control.OK},
		{"told what there is not", "lying", -1.5, true, 4, control.BadProgram},
	} {
		b := newBench(t, c.pose, c.roll)
		if !c.unit {
			b.input.Meas.IMU[0].Age = servo.Never
		}
		p := up(t, b.m, c.from)
		if why := b.c.Check(&b.input, p); why.Code != c.want {
			t.Errorf("%s: %v, %v is right", c.name, why.Code, c.want)
		}
		if why := b.c.Start(&b.input, p); why.Code != c.want {
			t.Errorf("%s: started by %v", c.name, why.Code)
		}
	}
}

// TestEitherSideIsTheMirrorImage: every tick from the right is that from the left, mirrored, without a jump and within limits;
// it ends in the pose of the last step.
func TestEitherSideIsTheMirrorImage(t *testing.T) {
	left, right := newBench(t, "lying", -1.5), newBench(t, "lying", 1.5)
	for _, b := range []*bench{left, right} {
		if why := b.c.Start(&b.input, up(t, b.m, getup.ByUnit)); why.Code != control.OK {
			t.Fatal(why.Code)
		}
	}
	limits, _, err := control.JointLimits(left.m, control.Transition{})
	if err != nil {
		t.Fatal(err)
	}
	was := append([]float64(nil), left.input.Cmd.Q...)
	needs, _ := up(t, left.m, getup.ByUnit).Claim()
	for tick := range 4000 {
		if tick == 500 { // they have turned
			left.tilt(0.1)
			right.tilt(-0.1)
		}
		a, why := left.step()
		z, _ := right.step()
		if a != z {
			t.Fatalf("tick %d: left %v, right %v", tick, a, z)
		}
		for leaf := range needs.All {
			j := robot.JointID(leaf)
			image := left.m.Mirror()[j]
			if x, y := left.out.Q[j], image.Sign*right.out.Q[image.Of]; x != y {
				t.Fatalf("tick %d: %s is at %g, its image at %g", tick, left.m.Joints()[j].Name, x, y)
			}
			if v := math.Abs(left.out.Q[j]-was[j]) / left.input.Tick.Dt; v > limits[j].VelMax {
				t.Fatalf("tick %d: %s moves at %g rad/s, its limit is %g", tick, left.m.Joints()[j].Name, v, limits[j].VelMax)
			}
		}
		copy(was, left.out.Q)
		if a == control.Going {
			continue
		}
		if a != control.Done {
			t.Fatalf("tick %d: %v, %v", tick, a, why.Code)
		}
		stand, _ := left.m.Pose("stand")
		for k, j := range stand.Joints {
			if needs.Has(robot.LeafID(j)) && left.out.Q[j] != stand.Q[k][0] {
				t.Errorf("%s ends at %g, %g is its stand", left.m.Joints()[j].Name, left.out.Q[j], stand.Q[k][0])
			}
		}
		return
	}
	t.Fatal("it does not end")
}

// TestOneThatDoesNotTurnSaysSo: on its side after the first part, it ends with its tilt; a pause holds it where it is; without one of its
// joints it quits.
func TestOneThatDoesNotTurnSaysSo(t *testing.T) {
	b := newBench(t, "lying", -1.5)
	p := up(t, b.m, getup.ByUnit)
	if why := b.c.Start(&b.input, p); why.Code != control.OK {
		t.Fatal(why.Code)
	}
	for range 100 {
		b.step()
	}
	b.input.Rate = 0
	for range 100 {
		b.step()
	}
	held := append([]float64(nil), b.out.Q...)
	for range 100 {
		b.step()
	}
	for j := range held {
		if held[j] != b.out.Q[j] {
			t.Fatalf("%s moves while it is paused", b.m.Joints()[j].Name)
		}
	}
	b.input.Rate = 1
	if n := testing.AllocsPerRun(50, func() { b.step() }); n != 0 {
		t.Errorf("%g allocations in a tick", n)
	}
	for tick := 0; ; tick++ {
		status, why := b.step()
		if status == control.Failed {
			if why.Code != control.StillLies || math.Abs(why.Value-1.5) > 1e-9 {
				t.Errorf("%v, %g rad", why.Code, why.Value)
			}
			break
		}
		if status != control.Going || tick > 4000 {
			t.Fatalf("tick %d: %v", tick, status)
		}
	}
	needs, _ := p.Claim()
	if s := b.c.Owned(&b.input, needs.Minus(robot.Leaf(0))); s != control.Quit {
		t.Errorf("without a joint: %v", s)
	}
}

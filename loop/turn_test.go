package loop

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"poise/control"
	"poise/control/swing"
	"poise/robot"
)

// wheel is a robot with a joint that turns for ever, and one that does not.
const wheel = `<robot name="wheel">
  <link name="base"/><link name="a_rim"/><link name="b_lever"/>
  <joint name="a_turn" type="continuous"><parent link="base"/><child link="a_rim"/><axis xyz="0 0 1"/><limit effort="1" velocity="4"/></joint>
  <joint name="b_tilt" type="revolute"><parent link="base"/><child link="b_lever"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="1" velocity="4"/></joint>
</robot>`

// wheelRig is a rig of the wheel.
func wheelRig(t *testing.T) *rig {
	t.Helper()
	dir := t.TempDir()
	file, limits := filepath.Join(dir, "wheel.urdf"), filepath.Join(dir, "joint_limits.yaml")
	if err := os.WriteFile(file, []byte(wheel), 0o600); err != nil {
		t.Fatal(err)
	}
	text := "joint_limits:\n"
	for _, name := range []string{"a_turn", "b_tilt"} {
		text += "  " + name + ":\n    has_acceleration_limits: true\n    max_acceleration: 8.0\n"
	}
	if err := os.WriteFile(limits, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := parts{robot: file, controllers: 1}
	p.options.Limits = limits
	return newRig(t, p)
}

// TestTurnsGoTheShortWay: from 3 rad to −3 rad it is 0.28 rad through π for a joint
// without limits, and 6 rad back for one with them.
func TestTurnsGoTheShortWay(t *testing.T) {
	r := wheelRig(t)
	r.checks = true
	c := &jumper{Controller: r.swings[0].Controller, peak: 0.5, at: 2.9}
	r.l.seats[0].controller = c
	r.must(0, 1, r.program(robot.Leaf(0).With(1), 0, 1))
	r.run(4000)
	for step := range 6 { // and on, turn by turn
		c.at = -c.at
		low, high := math.Inf(1), math.Inf(-1)
		for range 6000 {
			r.run(1)
			low, high = min(low, r.l.command.Q[0]), max(high, r.l.command.Q[0])
		}
		if d := math.Abs(math.Remainder(r.l.command.Q[0]-c.at, 2*math.Pi)); d > 1e-12 || r.l.command.Q[1] != c.at {
			t.Errorf("step %d: at %g and %g, want %g", step, r.l.command.Q[0], r.l.command.Q[1], c.at)
		}
		if way := high - low; math.Abs(way-(2*math.Pi-5.8)) > 1e-6 {
			t.Errorf("step %d: the way was %g rad", step, way)
		}
	}
}

// turner goes round at one speed, and writes angles between −π and π.
type turner struct {
	*swing.Controller
	speed, angle float64
}

func (c *turner) Update(in *control.Input, out *control.Reference) (control.Status, control.Reason) {
	out.Has, out.Peak = in.Own, 0.5
	c.angle += c.speed * in.Tick.Dt
	out.Q[0], out.V[0], out.A[0] = math.Remainder(c.angle, 2*math.Pi), c.speed, 0
	return control.Going, control.Because(control.OK)
}

// TestTurnsDoNotTurnBack: a reference that goes from π to −π goes on.
func TestTurnsDoNotTurnBack(t *testing.T) {
	r := wheelRig(t)
	r.checks = true
	c := &turner{Controller: r.swings[0].Controller, speed: 1.5}
	r.l.seats[0].controller = c
	r.must(0, 1, r.program(robot.Leaf(0), 0, 1))
	r.run(3000)
	was := r.l.command.Q[0]
	for range 20000 {
		r.run(1)
		q := r.l.command.Q[0]
		if d := q - was; math.Abs(d-1.5*period) > 1e-9 || r.l.shaper.Cut[0] != 0 || r.l.shaper.HandingOver(0) {
			t.Fatalf("tick %d: a step of %g rad at %g", r.n, d, q)
		}
		was = q
	}
	if was < 20 {
		t.Errorf("only %g rad", was)
	}
}

package scenario

import (
	"fmt"
	"math"
	"testing"

	"poise/control"
	"poise/loop"
	"poise/robot/load"
	"poise/spatial"
)

// TestWalksWhereverTheBaseIsSaidToBe: who says where the base is often gives no height. The ground is where the feet are then; a walk
// goes on from there, in cycle 2, too, which follows the base.
func TestWalksWhereverTheBaseIsSaidToBe(t *testing.T) {
	if testing.Short() {
		t.Skip("absent: time (-short); nothing in it is concurrent")
	}
	const begins = 1.0
	for cycle, said := range map[int]spatial.Pose{
		1: {R: spatial.TurnZ(2), P: spatial.Vec3{X: 3, Y: -2, Z: 1.5}},
		2: {R: spatial.Identity3},
	} {
		p := prepare(t, loaded(t, "pony", load.Options{}), fmt.Sprintf("duration: 5\nperiod: 0.0224\nstart: {pose: stand}\nmodel: {kp: 230, delay: 0.0112}\ncontrol: {cycle: %d}\ndo: [{at: %g, velocity: {x: 0.05}}]\n", cycle, begins))
		r, err := p.begin(1, Watch{})
		if err != nil {
			t.Fatal(err)
		}
		c, placed := r.cycle, false
		ticks := int(math.Round(p.s.period() / p.s.step()))
		highest, lowest := math.Inf(-1), math.Inf(1)
		for r.step < p.s.steps() {
			if !placed && r.now() > begins/2 {
				placed = true
				c.loop.Send(loop.Order{Kind: loop.SetBase, Program: &control.BasePlacement{Pose: said}})
			}
			if r.err = r.act(r.now()); r.err != nil {
				t.Fatal(r.err)
			}
			if r.err = c.tick(min(ticks, p.s.steps()-r.step)); r.err != nil {
				t.Fatal(r.err)
			}
			if z := c.loop.Command().Base.Pose.P.Z - said.P.Z; r.now() > begins {
				highest, lowest = max(highest, z), min(lowest, z)
			}
		}
		out := r.result()
		t.Logf("cycle %d, said to be at %v: %+v, heights %.4f … %.4f m", cycle, said.P, out.Figures["tilt"], lowest, highest)
		if out.Fallen {
			t.Errorf("cycle %d, said to be at %v: it fell", cycle, said.P)
		}
		if highest > 0.005 || lowest < -0.06 {
			t.Errorf("cycle %d, said to be at %v: the base is led from %g to %g m over there", cycle, said.P, lowest, highest)
		}
	}
}

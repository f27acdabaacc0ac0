package loop

import (
	"math"
	"slices"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/control/swing"
	"poise/robot"
	"poise/servo"
	"poise/spatial"
)

// walker moves the base, and the tip of a leg, along a way of its own.
type walker struct {
	*swing.Controller
	base, tip control.BaseRef // where its ways begin, and how they go on
	chain     int
}

func (c *walker) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	st, why := c.Controller.Update(input, out)
	t := input.Tick.Dt * float64(input.Tick.N)
	there := func(x control.BaseRef) control.BaseRef { // and back
		x = x.At(math.Sin(t))
		x.Twist = x.Twist.Scale(math.Cos(t))
		return x
	}
	out.Base, out.Limb[c.chain] = there(c.base), control.LimbRef(there(c.tip))
	return st, why
}

func TestPosesDoNotAllocate(t *testing.T) {
	r := newRig(t, parts{robot: "pony", controllers: 2, settings: Settings{Policy: arbiter.PolicyLast}})
	res, err := r.l.cfg.Model.Resources()
	if err != nil {
		t.Fatal(err)
	}
	base := robot.LeafID(slices.IndexFunc(res.Leaves(), func(x robot.LeafResource) bool { return x.Kind == robot.BaseLeaf }))
	leg := r.limb("leg1").With(base)
	programs := [2]control.Program{r.program(leg, 0.05, 1), r.program(leg, 0.05, 1)}
	for i, s := range r.l.seats {
		x := control.BaseRef{Has: true, Pose: spatial.Pose{R: spatial.TurnZ(float64(i))}}
		s.controller = &walker{Controller: r.swings[i].Controller, base: x, tip: x}
	}
	k := 0
	if n := testing.AllocsPerRun(1000, func() {
		if k%20 == 0 {
			r.l.Send(Order{Kind: StartGoal, Controller: arbiter.ClientID(k / 20 % 2), Goal: 1, Program: programs[k/20%2]})
		}
		k++
		r.l.Step(servo.Tick{N: r.n, Time: int64(r.n) * 1e6, Dt: period})
		r.n++
		for {
			if _, ok := r.l.Receive(); !ok {
				break
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
	if !r.l.command.Base.Has || !r.l.command.Limb[0].Has || r.l.arb.Owner(base) == arbiter.NoClient {
		t.Error("nothing was handed over")
	}
}

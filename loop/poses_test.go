package loop

import (
	"math"
	"math/rand/v2"
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

func (c *walker) Update(in *control.Input, out *control.Reference) (control.Status, control.Reason) {
	st, why := c.Controller.Update(in, out)
	t := in.Tick.Dt * float64(in.Tick.N)
	there := func(x control.BaseRef) control.BaseRef { // and back
		x = x.At(math.Sin(t))
		x.Twist = x.Twist.Scale(math.Cos(t))
		return x
	}
	out.Base, out.Limb[c.chain] = there(c.base), control.LimbRef(there(c.tip))
	return st, why
}

// TestPosesAreHandedOver switches the base and the tip of a leg among controllers,
// and back to nobody, at random instants: place and speed are continuous, the
// speed is the one at which the place changes, and when a hand-over has ended the
// command is the reference bit for bit.
func TestPosesAreHandedOver(t *testing.T) {
	switches := 1500
	if testing.Short() {
		switches = 60
	}
	rng := rand.New(rand.NewPCG(4, 7))
	r := newRig(t, parts{robot: "pony", period: busPeriod, controllers: 3, settings: Settings{Policy: arbiter.PolicyLast}})
	if !r.l.poses.owned {
		t.Fatal("the pony has no base")
	}
	vec := func(s float64) spatial.Vec3 {
		return spatial.Vec3{X: s * rng.NormFloat64(), Y: s * rng.NormFloat64(), Z: s * rng.NormFloat64()}
	}
	way := func() control.BaseRef {
		return control.BaseRef{Has: true, Pose: spatial.Pose{R: spatial.ExpRotation(vec(0.5)).Matrix(), P: vec(0.3)},
			Twist: spatial.Twist{Linear: vec(0.1), Angular: vec(0.1)}}
	}
	ways := make([]*walker, 3)
	for i, s := range r.l.seats {
		ways[i] = &walker{Controller: r.swings[i].Controller, base: way(), tip: way()}
		s.controller = ways[i]
	}
	leg := r.limb("leg1").With(r.l.poses.leaf)
	same := 0
	was := r.l.command.Base
	wasTip := r.l.command.Limb[0]
	for n := range switches {
		who := rng.IntN(3)
		if rng.IntN(4) == 0 {
			r.l.Send(Order{Kind: Halt, Controller: arbiter.ClientID(who)})
			r.l.Send(Order{Kind: Run, Controller: arbiter.ClientID(who)})
		} else {
			ways[who].base, ways[who].tip = way(), way()
			r.goal(who, uint64(n+1), r.program(leg, 0.05, 1))
		}
		length := 1 + rng.IntN(30)
		if rng.IntN(20) == 0 {
			length = 400
		}
		for range length {
			r.run(1)
			base, tip := r.l.command.Base, r.l.command.Limb[0]
			if was.Has {
				smooth(t, r.n, &was, &base)
			}
			if wasTip.Has && tip.Has {
				smooth(t, r.n, (*control.BaseRef)(&wasTip), (*control.BaseRef)(&tip))
			}
			was, wasTip = base, tip
			if who := r.l.merge.Writer[r.l.poses.leaf]; who != arbiter.Nobody && !r.l.poses.base.Active() {
				same++
				ref := r.l.seats[who].ref
				if base.Pose != ref.Base.Pose || base.Twist != ref.Base.Twist || !r.l.poses.limbs[0].Active() && tip.Pose != ref.Limb[0].Pose {
					t.Fatalf("tick %d: no hand-over, and not on the reference", r.n)
				}
			}
		}
		r.reports = r.reports[:0]
	}
	if same == 0 {
		t.Error("no hand-over ever ended")
	}
	for i := range ways {
		r.l.Send(Order{Kind: Halt, Controller: arbiter.ClientID(i)})
	}
	r.run(400)
	if b := r.l.command.Base; b.Twist != (spatial.Twist{}) || r.l.command.Limb[0].Has {
		t.Errorf("nobody's base moves: %+v", b.Twist)
	}
	t.Logf("%d switches, %d ticks on the reference", switches, same)
}

// smooth asks that a pose goes on as its twist says, and that the twist changes no
// faster than a hand-over makes it.
func smooth(t *testing.T, n uint64, was, now *control.BaseRef) {
	t.Helper()
	// hand-overs of up to π rad and 2 m in T = 0.1 s begin with x/T² and 2v/T
	const most = 600 // m/s² or rad/s²
	step := now.Pose.P.Sub(was.Pose.P).Norm()
	limit := (was.Twist.Linear.Norm()+now.Twist.Linear.Norm())/2*busPeriod + most*busPeriod*busPeriod
	if step > limit {
		t.Fatalf("tick %d: the pose jumps by %g, %g m/s and %g m/s before and after", n, step, was.Twist.Linear.Norm(), now.Twist.Linear.Norm())
	}
	turn := was.Pose.R.Transpose().Mul(now.Pose.R).Quat().Log().Norm()
	if limit := (was.Twist.Angular.Norm()+now.Twist.Angular.Norm())/2*busPeriod + most*busPeriod*busPeriod; turn > limit {
		t.Fatalf("tick %d: the pose turns by %g", n, turn)
	}
	// speed compared in world axes
	a, b := was.Pose.R.MulVec(was.Twist.Linear), now.Pose.R.MulVec(now.Twist.Linear)
	if jump := b.Sub(a).Norm(); jump > most*busPeriod {
		t.Fatalf("tick %d: the speed jumps by %g m/s", n, jump)
	}
	if !now.Pose.P.Finite() || math.IsNaN(turn) {
		t.Fatalf("tick %d: %+v", n, now)
	}
}

func TestPosesDoNotAllocate(t *testing.T) {
	r := newRig(t, parts{robot: "pony", controllers: 2, settings: Settings{Policy: arbiter.PolicyLast}})
	leg := r.limb("leg1").With(r.l.poses.leaf)
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
	if !r.l.poses.base.Active() || !r.l.poses.limbs[0].Active() || r.l.arb.Owner(robot.LeafID(0)) == arbiter.Nobody {
		t.Error("nothing was handed over")
	}
}

package loop

import (
	"math"
	"math/rand/v2"
	"testing"

	"poise/control"
	"poise/control/swing"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	"poise/servo/sim"
)

// hostile writes whatever a controller could get wrong.
type hostile struct {
	*swing.Controller
	r    *rig
	rng  *rand.Rand
	kind int
	left int
	q    []float64
	v    []float64
}

// The ways to be hostile.
const (
	steps = iota
	noise
	sawTeeth
	againstLimits
	lies
	astronomic
	strangeShares
	notANumber
	noMemory
	numHostile
)

func (c *hostile) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	st, reason := c.Controller.Update(input, out)
	if c.left--; c.left <= 0 {
		c.left = 1 + c.rng.IntN(200)
		c.kind = c.rng.IntN(numHostile)
		for j := range c.q {
			c.q[j], c.v[j] = input.Cmd.Q[j], c.r.limits[j].VelMax*float64(1-2*c.rng.IntN(2))
		}
	}
	anything := func() float64 { return math.Exp(700*c.rng.Float64()) * float64(1-2*c.rng.IntN(2)) }
	for leaf := range out.Has.All {
		j := int(leaf)
		if j >= len(out.Q) {
			continue
		}
		switch c.kind {
		case steps:
			if c.rng.IntN(20) == 0 {
				c.q[j] = 8 * (c.rng.Float64() - 0.5)
			}
			out.Q[j], out.V[j], out.A[j] = c.q[j], 0, 0
		case noise:
			out.Q[j] += 8 * (c.rng.Float64() - 0.5)
		case sawTeeth:
			out.V[j], out.A[j] = c.v[j], 0
			out.Q[j] = c.q[j] + c.v[j]*math.Mod(input.Tick.Dt*float64(c.left), 0.1)
		case againstLimits:
			c.q[j] += c.v[j] * input.Tick.Dt
			out.Q[j], out.V[j], out.A[j] = c.q[j], c.v[j], 0
		case lies:
			out.V[j], out.A[j], out.Tau[j] = anything(), anything(), anything()
		case astronomic:
			out.Q[j], out.Stiff[j] = anything(), anything()
		}
	}
	switch c.kind {
	case strangeShares:
		out.Peak, out.Cut = [...]float64{0, 1, -5, 1e300, 0.5}[c.rng.IntN(5)], c.rng.IntN(2) == 0
	case notANumber:
		*[]*float64{&out.Peak, &out.Rate, &out.Time, &out.Q[0], &out.V[1], &out.A[2], &out.Tau[3], &out.Stiff[1]}[c.rng.IntN(8)] = [...]float64{math.NaN(), math.Inf(1), math.Inf(-1)}[c.rng.IntN(3)]
	case noMemory:
		out.Q, out.A = nil, nil
	}
	return st, reason
}

// TestAdversarialReferences lets a controller write steps, noise, saw-teeth, full
// speed against the limits, speeds that it does not have, astronomic numbers,
// strange shares, non-finite numbers, and no memory either. Every command stays
// within position, velocity and acceleration limits, every setpoint is a number
// within its servo's range, and the loop goes on.
func TestAdversarialReferences(t *testing.T) {
	ticks := 10000
	if testing.Short() {
		ticks = 1500
	}
	for _, tc := range []struct {
		robot   string
		group   string
		period  float64
		options load.Options
	}{{"arm6", "manipulator", period, load.Options{}}, {"arm6", "manipulator", busPeriod, load.Options{}}, {"pony", "leg1", busPeriod, ponyLimits(t)}} {
		r := newRig(t, parts{robot: tc.robot, period: tc.period, controllers: 1, options: tc.options,
			servo: sim.Servo{Lag: 0.01}, settings: Settings{Inversion: servo.InversionConfig{Lead: servo.Lead{Time: 0.02}}}})
		r.checks = true
		memory := *r.l.seats[0].ref
		c := &hostile{Controller: r.swings[0].Controller, r: r, rng: rand.New(rand.NewPCG(3, 14)), q: make([]float64, r.l.dof), v: make([]float64, r.l.dof)}
		r.l.seats[0].controller = c
		cuts, restarts, ways := 0, 0, [numHostile]int{}
		for range ticks {
			if r.l.seats[0].program == nil || r.l.faults.latch.active > 0 {
				*r.l.seats[0].ref = memory
				r.l.Send(Order{Kind: Reset})
				r.l.Send(Order{Kind: Run})
				r.l.Send(Order{Kind: PowerOn}) // stiffness zero has let joints go
				r.goal(0, 1, r.program(r.limb(tc.group), 0.2, 1))
				restarts++
			}
			r.run(1)
			ways[c.kind]++
			for j, cut := range r.l.shaper.Cut {
				if cut != 0 {
					cuts++
				}
				low, high := r.guard(j)
				if x := r.l.setpoint[j].Position; r.l.mode[j].Powered() && (x < low || x > high) {
					t.Fatalf("tick %d, joint %d: setpoint %g outside %g … %g", r.n, j, x, low, high)
				}
			}
			r.reports = r.reports[:0]
		}
		for way, n := range ways {
			if n == 0 && !testing.Short() {
				t.Errorf("way %d was never tried", way)
			}
		}
		if (cuts == 0 || restarts < 3) && !testing.Short() {
			t.Errorf("too little happened: %d cuts, %d restarts", cuts, restarts)
		}
		t.Logf("%s, period %g ms: %d ticks, %d commands cut, %d restarts, none beyond its limits", tc.robot, tc.period*1e3, ticks, cuts, restarts)
	}
}

// guard returns the range of what a servo may be told.
func (r *rig) guard(j int) (low, high float64) {
	b := control.JointGuards(r.m)[j]
	return b.Lower, b.Upper
}

// TestJumpIsHandedOver: a reference that jumps, whatever share of the limits it
// claims, is reached without running away from it first.
func TestJumpIsHandedOver(t *testing.T) {
	for _, peak := range []float64{0, 0.5, 1} {
		for _, jump := range []float64{0.001, 0.1, 1} {
			if testing.Short() && peak*jump != 0.1 {
				continue
			}
			r := newRig(t, parts{robot: "arm6", controllers: 1})
			r.checks = true
			c := &jumper{Controller: r.swings[0].Controller, peak: peak}
			r.l.seats[0].controller = c
			r.must(0, 1, r.program(robot.Leaf(0), 0, 1))
			r.run(100)
			c.at = jump
			low, high, arrived := 0.0, 0.0, 0
			for k := 0; k < 10000 && (arrived == 0 || k < arrived+100); k++ {
				r.run(1)
				q := r.l.command.Q[0]
				low, high = min(low, q), max(high, q)
				if q == jump && arrived == 0 {
					arrived = k
				}
			}
			if low < -1e-9 || high > jump+1e-9 || arrived == 0 {
				t.Errorf("peak %g, jump of %g: command went from %g to %g, arrived after %d ticks", peak, jump, low, high, arrived)
			}
		}
	}
}

// TestHandOverAtSpeedDoesNotRunAway hands a joint that moves at speed to a
// reference that rests and claims all of the limits: what the hand-over needs to
// brake is not more than four times the shortest way.
func TestHandOverAtSpeedDoesNotRunAway(t *testing.T) {
	for _, peak := range []float64{0, 0.5, 0.9, 1} {
		if testing.Short() && peak != 1 {
			continue
		}
		r := newRig(t, parts{robot: "arm6", controllers: 2})
		r.checks = true
		c := &jumper{Controller: r.swings[1].Controller, peak: peak}
		r.l.seats[1].controller = c
		p := r.program(robot.Leaf(0), 0.7, 2)
		r.must(0, 1, p)
		for r.run(3000); r.l.command.V[0] < 1.39 || r.l.command.Q[0] > 0.1; {
			r.run(1)
		}
		q, v := r.l.command.Q[0], r.l.command.V[0]
		c.at = q
		r.must(1, 2, r.program(robot.Leaf(0), 0, 1))
		far := 0.0
		for range 3000 {
			r.run(1)
			far = max(far, math.Abs(r.l.command.Q[0]-q))
		}
		shortest := v * v / 2 / r.limits[0].AccMax
		if r.l.command.Q[0] != q || far > 4*shortest {
			t.Errorf("peak %g: at %g, was at %g; went %g rad away, the shortest stop is %g", peak, r.l.command.Q[0], q, far, shortest)
		}
		t.Logf("peak %g: %.3f rad away, shortest stop %.3f", peak, far, shortest)
	}
}

// jumper rests where it is told to, and claims a share of the limits.
type jumper struct {
	*swing.Controller
	at, peak float64
}

func (c *jumper) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	out.Has, out.Peak = input.Own, c.peak
	for leaf := range input.Own.All {
		if int(leaf) < len(out.Q) {
			out.Q[leaf], out.V[leaf], out.A[leaf] = c.at, 0, 0
		}
	}
	return control.Going, control.Because(control.OK)
}

// TestPanicInClaim: what a program claims is its controller's business, too.
func TestPanicInClaim(t *testing.T) {
	r := newRig(t, parts{robot: "arm6", controllers: 1})
	r.checks = true
	r.must(0, 1, r.program(r.limb("manipulator"), 0.2, 1))
	r.run(1000)
	r.goal(0, 2, badClaim{})
	r.l.Send(Order{Kind: CheckGoal, Program: badClaim{}})
	r.reports = nil
	r.run(500)
	rejected, ended := 0, 0
	for _, rep := range r.reports {
		switch rep.Kind {
		case GoalRejected:
			rejected++
		case GoalEnded:
			ended++
			if rep.Reason.Code != control.Panicked || rep.Goal != 1 {
				t.Errorf("%+v", rep)
			}
		}
	}
	if rejected != 1 || ended != 1 || !r.l.shaper.AtRest() {
		t.Errorf("%d rejected, %d ended, at rest %v", rejected, ended, r.l.shaper.AtRest())
	}
}

type badClaim struct{}

func (badClaim) Claim() (needs, wants robot.Set) { panic("test") }

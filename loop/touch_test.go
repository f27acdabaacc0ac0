package loop

import (
	"slices"
	"testing"

	"poise/arbiter"
	"poise/control"
	"poise/external"
	"poise/robot"
	"poise/robot/load"
	"poise/servo"
	servomodel "poise/servo/model"
	"poise/servo/physics"
	"poise/sim"
	"poise/spatial"
	"poise/trajectory/move"
)

// lifter holds a crouched robot with one foot free, of whose swing it says a share; it passes an event after half a second.
type lifter struct {
	q     []float64
	leaf  robot.LeafID
	chain robot.ChainID
	swing float64
	wave  float64 // rad by which the leg moves,
	joint int     // in this joint
	time  float64
}

func (c *lifter) Check(*control.Input, control.Program) control.Reason {
	return control.Because(control.OK)
}

func (c *lifter) Start(*control.Input, control.Program) control.Reason {
	return control.Because(control.OK)
}

func (c *lifter) Update(in *control.Input, out *control.Reference) (control.Status, control.Reason) {
	c.time += in.Tick.Dt * in.Rate
	out.Has = control.JointLeaves(len(c.q)).With(c.leaf)
	copy(out.Q, c.q)
	clear(out.V)
	clear(out.A)
	if c.wave != 0 {
		by := move.MinimumJerk(c.time, 2)
		out.Q[c.joint], out.V[c.joint], out.A[c.joint] = c.q[c.joint]+c.wave*by.P, c.wave*by.V*in.Rate, c.wave*by.A*in.Rate
	}
	out.Support[c.chain] = control.Support{Contact: robot.NoContact, Swing: c.swing}
	if out.Time = c.time; c.time >= 0.5 {
		out.Passed = 1
	}
	return control.Going, control.Because(control.OK)
}

func (c *lifter) Owned(*control.Input, robot.Set) control.Status { return control.Going }

// hung is a pony whose trunk is held up, in physics: its feet touch nothing until they are pushed.
type hung struct {
	*touchy
	c    *lifter
	foot robot.ChainID
}

func newHung(t *testing.T, s ExternalSettings, c *lifter, p *asks) *hung {
	t.Helper()
	m := model(t, "pony", load.Options{Base: robot.BaseFixed})
	n := len(m.Joints())
	motors := physics.MotorsOf(m)
	world, err := sim.NewModel(m, sim.Config{Passive: physics.PassiveOf(motors)})
	if err != nil {
		t.Fatal(err)
	}
	c.q = m.RestPositions()
	crouched, _ := m.Pose("crouched")
	for i, j := range crouched.Joints {
		c.q[j] = crouched.Q[i][0]
	}
	start := make([]float64, m.NumQ())
	for i, j := range m.Joints() {
		start[j.Q] = c.q[i]
	}
	bus := physics.New(physics.Config{Model: world, Motors: motors, Start: start, Seed: 1})
	c.chain, _ = m.Chain("leg1")
	resources, err := m.Resources()
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range resources.Leaves() {
		if l.Kind == robot.SupportLeaf && l.Chain == c.chain {
			c.leaf = robot.LeafID(i)
		}
	}
	knee, _ := m.Joint("joint13")
	c.joint = int(knee)
	known := make([]*servomodel.Model, n)
	for i := range known {
		known[i] = m.Servo(robot.JointID(i)).Model
	}
	s.On = true
	x := &hung{touchy: &touchy{t: t, m: m, bus: bus}, c: c, foot: c.chain}
	if x.l, err = New(Config{Model: m, Bus: bus, Controllers: []Registration{{Name: "lift", Controller: c, Supports: true}},
		Settings: Settings{Inversion: servo.InversionConfig{Name: "model", Models: known}, Cycle1: control.JointLeaves(n), External: s, Policy: arbiter.PolicyLast}}); err != nil {
		t.Fatal(err)
	}
	p.keep = keep{joints: control.JointLeaves(n).With(c.leaf), q: c.q}
	x.run(2)
	x.l.Send(Order{Kind: PowerOn})
	x.run(2)
	x.l.Send(Order{Kind: StartGoal, Controller: 0, Goal: 1, Program: p})
	x.run(1)
	return x
}

// touch lets a force act on the middle of the sole, nothing if it is zero.
func (x *hung) touch(f spatial.Vec3) {
	in := x.bus.Input()
	in.Pushes = in.Pushes[:0]
	if f != (spatial.Vec3{}) {
		c := &x.m.Chains()[x.foot]
		at := &x.m.Frames()[c.Tip]
		in.Pushes = append(in.Pushes, sim.Push{Body: at.Body, Point: at.Pose.Apply(sim.SoleMiddle(&x.m.Contacts()[c.Contact])), Force: f})
	}
	x.felt = x.felt[:0]
}

// TestTheSwingReachesTheSense: what the owner of a foot says of its swing decides. In its first part no touch-down counts, in its
// end one is told a tick earlier than in the middle.
func TestTheSwingReachesTheSense(t *testing.T) {
	ticks := map[float64]int{}
	for _, swing := range []float64{0.1, 0.5, 0.95} {
		x := newHung(t, ExternalSettings{}, &lifter{swing: swing}, &asks{})
		x.run(150)
		if got := x.l.feeling.sample.Expected[x.foot]; got.Carries || got.Phase != swing {
			t.Fatalf("at %g of a swing the sense is told %+v", swing, got)
		}
		x.touch(spatial.Vec3{Z: 4})
		for n := 1; n <= 40 && ticks[swing] == 0; n++ {
			if x.run(1); x.l.measured.Contacts[x.foot].Carries() {
				ticks[swing] = n
			}
		}
		if swing == 0.1 && ticks[swing] != 0 {
			t.Errorf("a touch-down counts at %g of a swing", swing)
		}
	}
	if ticks[0.95] == 0 || ticks[0.5] == 0 || ticks[0.95] >= ticks[0.5] {
		t.Errorf("4 N are told after %d ticks at 0.95 of a swing, after %d at 0.5", ticks[0.95], ticks[0.5])
	}
}

// TestAMotionWaitsUntilAFootComesDown: its clock stands while the foot is in the air, and goes on when it touches; a motion that
// waits for the foot to swing goes on when it does not touch any more.
func TestAMotionWaitsUntilAFootComesDown(t *testing.T) {
	m := model(t, "pony", load.Options{Base: robot.BaseFixed})
	leg, _ := m.Chain("leg1")
	for _, lifts := range []bool{false, true} {
		c := &lifter{swing: 0.5}
		p := &asks{triggers: []control.Trigger{{Waits: true, Swing: lifts, Timeout: 20, Limbs: control.LimbSet(0).With(leg)}}}
		x := newHung(t, ExternalSettings{}, c, p)
		on, off := spatial.Vec3{Z: 8}, spatial.Vec3{}
		if lifts {
			on, off = off, on
		}
		x.touch(off)
		x.run(100)
		before := c.time
		x.run(200)
		if c.time-before > 0.01 || c.time > 0.7 {
			t.Errorf("lifts %v: its clock goes on to %g s, while it waits", lifts, c.time)
		}
		x.touch(on)
		x.run(60)
		if c.time-before < 0.2 || len(x.over) > 0 {
			t.Errorf("lifts %v: its clock is at %g s after what it waited for, %+v", lifts, c.time, x.over)
		}
	}
}

// TestALegReactsToAnImpact: it is hit from the side while it swings, and its motion holds.
func TestALegReactsToAnImpact(t *testing.T) {
	m := model(t, "pony", load.Options{Base: robot.BaseFixed})
	leg, _ := m.Chain("leg1")
	impacts := make([]control.Reaction, len(m.Chains()))
	impacts[leg] = control.Hold
	c := &lifter{swing: 0.5, wave: -0.2}
	x := newHung(t, ExternalSettings{Impacts: impacts}, c, &asks{})
	x.run(90)
	x.touch(spatial.Vec3{Y: 15})
	x.run(12)
	if !slices.ContainsFunc(x.felt, func(r Report) bool {
		return r.Felt.Kind == external.Impact && r.Felt.Chain == leg && r.Reaction == control.Hold
	}) {
		t.Errorf("15 N from the side on a foot that swings are told as %+v", x.felt)
	}
	if at := c.time; !x.l.seats[0].paused {
		t.Errorf("its motion goes on: %g s", at)
	}
}

// TestFeelingAllocatesNothing in the whole cycle, while a motion waits for contact, and while a limb that was hit retreats.
func TestFeelingAllocatesNothing(t *testing.T) {
	m := model(t, "pony", load.Options{Base: robot.BaseFixed})
	leg, _ := m.Chain("leg1")
	impacts := make([]control.Reaction, len(m.Chains()))
	impacts[leg] = control.Retreat
	c := &lifter{swing: 0.5, wave: -0.2}
	x := newHung(t, ExternalSettings{Impacts: impacts}, c, &asks{triggers: []control.Trigger{{Waits: true, Timeout: 1000, Limbs: control.LimbSet(0).With(leg)}}})
	count := func(what string) {
		t.Helper()
		if n := testing.AllocsPerRun(60, func() {
			x.l.Step(servo.Tick{N: x.n, Time: int64(x.n) * 1e7, Dt: 0.01})
			x.n++
			for _, ok := x.l.Receive(); ok; _, ok = x.l.Receive() {
			}
		}); n != 0 {
			t.Errorf("%s: %g allocations in a tick", what, n)
		}
	}
	x.run(40)
	count("a motion that comes to wait")
	if !x.l.seats[0].felt.waits {
		t.Error("it does not wait")
	}
	x.touch(spatial.Vec3{Y: 20})
	count("an impact")
	if !x.l.seats[0].felt.back.on {
		t.Error("the leg does not retreat")
	}
}

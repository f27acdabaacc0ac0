// Package stance moves the body over feet that stay where they are.
//
// When it starts, the feet are anchored where they stand. From then on the body
// moves to its targets, as fast as its legs can, and the legs follow from the
// anchors by inverse kinematics in closed form, every cycle: feet do not drift,
// because nothing is integrated.
//
// It keeps the balance: a target from which the centre of mass would leave the
// polygon of the feet is refused with the distance, and so is one that legs do
// not reach, with the joint in the way. Other limbs may move meanwhile; if they
// take the centre of mass to the edge, the body stops on its way.
package stance

import (
	"fmt"
	"math"

	"poise/contact"
	"poise/control"
	"poise/control/pace"
	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory/move"
)

// Controller performs Programs and is fed with Targets. Make one with New.
type Controller struct {
	limits []move.Limits // that legs may use
	legs   []leg
	base   robot.LeafID
	index  kinematics.Index // of each joint in a configuration
	ground *contact.Ground
	data   *kinematics.Data
	stand  contact.Balance

	run, trial *course
	tried      uint64 // tick in which trial was planned
	started    int64  // ns
	last       int64  // stamp of the newest target, ns
	clock      pace.Clock
	moving     bool
	guarded    bool      // balance is lost: it waits
	q          []float64 // legs as they are led, in a configuration of the whole robot
	v, a       []float64 // of each joint, at rate 1

	// scratch; configurations of the whole robot, but for joints
	posture, seed, scratch []float64 // posture is that of a moment of a motion that is looked at
	near                   [3][]float64
	joints                 []float64
}

// Kind declares the controller.
var Kind = control.Kind{Name: "stance", Short: "moves the body over feet that stay where they are", New: control.NewOf(New), Decode: Decode}

// New returns a controller for a robot. It must stand free on legs whose inverse
// kinematics has a closed form.
func New(m *robot.Model, assumed control.Transition) (*Controller, error) {
	limits, _, err := control.JointLimits(m, assumed)
	if err != nil {
		return nil, err
	}
	if !m.Floating() {
		return nil, fmt.Errorf("stance %w: the base of %s does not move", control.ErrUnfit, m.Name())
	}
	res, err := m.Resources()
	if err != nil {
		return nil, err
	}
	ground, err := contact.NewGround(m)
	if err != nil {
		return nil, err
	}
	n := len(limits)
	c := &Controller{limits: pace.Shared(limits), tried: math.MaxUint64, ground: ground, data: kinematics.NewData(m), index: kinematics.NewIndex(m), v: make([]float64, n), a: make([]float64, n), joints: make([]float64, n)}
	for i, l := range res.Leaves() {
		switch l.Kind {
		case robot.BaseLeaf:
			c.base = robot.LeafID(i)
		case robot.SupportLeaf:
			chain := &m.Chains()[l.Chain]
			solver, err := ik.New(m, ik.Options{MaxIterations: 10, MaxRestarts: 1}, chain.Joints, chain.VirtualTip)
			if err != nil {
				return nil, err
			}
			if !solver.ClosedForm() {
				return nil, fmt.Errorf("stance %w: the inverse kinematics of %s has no closed form", control.ErrUnfit, chain.Name)
			}
			c.legs = append(c.legs, leg{chain: l.Chain, joints: chain.Joints, support: robot.LeafID(i), tip: c.data.At(chain.VirtualTip), solver: solver})
		}
	}
	if len(c.legs) == 0 {
		return nil, fmt.Errorf("stance %w: %s has nothing to stand on", control.ErrUnfit, m.Name())
	}
	for _, q := range []*[]float64{&c.q, &c.posture, &c.seed, &c.scratch, &c.near[0], &c.near[1], &c.near[2]} {
		*q = make([]float64, m.NumQ())
		kinematics.NewSpace(m).NeutralTo(*q)
	}
	for _, k := range []**course{&c.run, &c.trial} {
		motion, err := move.New(calm[:])
		if err != nil {
			return nil, err
		}
		*k = &course{motion: motion, anchors: make([]spatial.Pose, len(c.legs)), stands: make([]bool, len(c.legs))}
	}
	return c, nil
}

const defaultMargin = 0.01 // m

// Check refuses targets out of reach and out of balance.
func (c *Controller) Check(input *control.Input, p control.Program) control.Reason {
	s, ok := p.(*Program)
	if !ok || len(s.Feet) == 0 || !s.Needs.Has(c.base) {
		return control.Because(control.BadProgram)
	}
	if !(s.Margin >= 0 && s.Margin < 1) {
		return control.BadValue.At(robot.NoJoint, s.Margin, 1)
	}
	for _, f := range s.Feet {
		known := false
		for i := range c.legs {
			known = known || c.legs[i].chain == f.Chain
		}
		if !known || f.Contact < 0 || int(f.Contact) >= len(c.ground.Model().Contacts()) {
			return control.Because(control.BadProgram)
		}
	}
	k := c.trial
	if k.program == s && c.tried == input.Tick.N {
		return k.verdict // asked again within the tick, as a round does
	}
	k.program, k.margin = s, s.Margin
	if k.margin == 0 {
		k.margin = defaultMargin
	}
	c.settle(input, k)
	k.start = [axes]move.State{}
	c.tried, k.verdict = input.Tick.N, c.aim(input, k, s.Target)
	return k.verdict
}

// aim plans the way to a target; none is where the body is.
func (c *Controller) aim(input *control.Input, k *course, t *Target) control.Reason {
	if t == nil {
		why := c.plan(k, new([axes]move.State), 1)
		k.most = 1
		return why
	}
	if !isPose(&t.Body) {
		return control.NonFinite.At(robot.NoJoint, float64(c.base), 0)
	}
	to := t.Body
	if t.Relative {
		to = k.origin.Mul(to)
	}
	return c.reach(input, k, to)
}

// Start anchors the feet and begins to move the body.
func (c *Controller) Start(input *control.Input, p control.Program) control.Reason {
	if why := c.Check(input, p); why.Code != control.OK {
		return why
	}
	c.run, c.trial = c.trial, c.run
	c.tried = math.MaxUint64
	c.started, c.last = input.Tick.Time, input.Tick.Time
	c.begin(min(input.Rate, 1))
	c.index.ConfigurationTo(c.q, input.Cmd.Q)
	return control.Because(control.OK)
}

// begin starts the clock of a motion that was just planned.
func (c *Controller) begin(rate float64) {
	c.clock.Start(rate, c.run.most)
	c.moving, c.guarded = true, false
	clear(c.v)
	clear(c.a)
}

// Feed takes a new target while the body moves, or has come to rest. What it was
// told before counts until the new one is found good.
func (c *Controller) Feed(input *control.Input, p control.Program) control.Reason {
	t, ok := p.(*Target)
	if !ok {
		return control.Because(control.BadProgram)
	}
	if t.At < c.last {
		return control.Stale.At(robot.NoJoint, float64(input.Tick.Time-t.At)*1e-9, float64(input.Tick.Time-c.last)*1e-9)
	}
	k := c.trial
	c.tried = math.MaxUint64
	k.program, k.origin, k.margin = c.run.program, c.run.origin, c.run.margin
	copy(k.anchors, c.run.anchors)
	copy(k.stands, c.run.stands)
	rest := true
	for i := range k.start {
		s := c.run.motion.Axis(i).At(c.clock.Time)
		k.start[i] = c.clock.Real(s)
		rest = rest && k.start[i].V == 0 && k.start[i].A == 0
	}
	if why := c.aim(input, k, t); why.Code != control.OK {
		return why
	}
	c.last = t.At
	c.run, c.trial = c.trial, c.run
	rate := 1.0
	if rest {
		rate = min(input.Rate, 1)
	}
	c.begin(rate)
	return control.Because(control.OK)
}

// Update moves the body on by a tick.
func (c *Controller) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	k := c.run
	rate := input.Rate
	if c.guarded {
		rate = 0
	}
	c.clock.Step(input.Tick.Dt, rate, c.limits, k.program.Needs, c.v, c.a)
	base, reason := c.follow(input)
	if reason.Code != control.OK {
		return control.Failed, reason
	}
	reason = c.guard(input, base.Pose)
	c.write(input, out, base)
	if c.clock.Time >= k.motion.Duration() {
		c.moving = false
		if k.program.Once {
			return control.Done, control.Because(control.OK)
		}
	}
	return control.Going, reason
}

// follow finds the legs for the present, and how they move, from their answers a
// moment before and after. A body at rest needs nothing new.
func (c *Controller) follow(input *control.Input) (base control.BaseRef, reason control.Reason) {
	k, t := c.run, c.clock.Time
	base = control.BaseRef{Pose: k.at(t), Has: true}
	if !c.moving {
		clear(c.v)
		clear(c.a)
		return base, control.Because(control.OK)
	}
	reason = control.Because(control.OK)
	for i, at := range [...]float64{t - step, t + step, t} {
		if bad, ok := c.legsTo(c.q, k, k.at(at)); !ok {
			c.index.ConfigurationTo(c.seed, input.Cmd.Q)
			return base, c.explain(bad, k, c.seed, t)
		}
		copy(c.near[i], c.q)
	}
	for i := range c.legs {
		if !k.stands[i] {
			continue
		}
		for _, j := range c.legs[i].joints {
			at := c.index[j]
			before, after, now := c.near[0][at], c.near[1][at], c.near[2][at]
			c.v[j], c.a[j] = (after-before)/(2*step), (after-2*now+before)/(step*step)
		}
	}
	var x, v, a [axes]float64
	for i := range x {
		s := c.clock.Real(k.motion.Axis(i).At(t))
		x[i], v[i], a[i] = s.P, s.V, s.A
	}
	return control.CoordinatePose(&k.origin, &x, &v, &a), reason
}

// guard looks at the balance with the whole robot as it is commanded: other limbs
// may have moved. On the edge the body waits.
func (c *Controller) guard(input *control.Input, X spatial.Pose) control.Reason {
	k := c.run
	copy(c.joints, input.Cmd.Q)
	for i := range c.legs {
		if k.stands[i] {
			for _, j := range c.legs[i].joints {
				c.joints[j] = c.q[c.index[j]]
			}
		}
	}
	before := c.stand.Margin
	c.ground.BalanceTo(&c.stand, c.joints, k.program.Feet, X)
	m := c.stand.Margin
	if m >= k.margin {
		c.guarded = false
		return control.Because(control.OK)
	}
	if c.moving && m < before-tiny {
		c.guarded = true
	}
	return control.Unbalanced.At(robot.NoJoint, m, k.margin)
}

// write fills in the reference.
func (c *Controller) write(input *control.Input, out *control.Reference, base control.BaseRef) {
	k := c.run
	out.Has, out.Peak, out.Rate, out.Time = robot.Leaf(c.base), pace.Peak, c.clock.Rate, float64(input.Tick.Time-c.started)*1e-9
	out.Base = base
	for i := range c.legs {
		if !k.stands[i] {
			continue
		}
		l := &c.legs[i]
		for _, j := range l.joints {
			out.Has = out.Has.With(robot.LeafID(j))
			c.clock.Reference(out, int(j), move.State{P: c.q[c.index[j]], V: c.v[j], A: c.a[j]})
		}
		out.Has = out.Has.With(l.support)
		out.Limb[l.chain] = control.LimbRef{Pose: k.anchors[i], Has: true}
	}
	for _, f := range k.program.Feet {
		out.Support[f.Chain] = control.Support{Weight: 1, Contact: f.Contact}
	}
}

// Owned quits when a leg is taken: the body stands on all its feet.
func (c *Controller) Owned(_ *control.Input, now robot.Set) control.Status {
	if !now.Contains(c.run.program.Needs) {
		return control.Quit
	}
	return control.Going
}

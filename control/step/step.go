// Package step plays Cartesian steps: where limbs and base are to be at times, and
// which limbs carry.
//
//	Goal ──Compile──▶ Program ──order──▶ Controller ──▶ joints, base, limbs, supports
//
// Compile does what takes long, outside the cycle: it draws curves through the
// samples, finds the joints along them, and refuses what does not work with the
// limb, the time, the joint and the amount: wrong tables, poses out of reach, hooves
// that are moved while they stand, joints beyond their limits. Inside, a clock plays
// the joints (trajectory/clock): it pauses, slows down and speeds up along the path.
package step

import (
	"fmt"

	"poise/control"
	"poise/control/pace"
	"poise/kinematics"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory/clock"
)

// Controller performs Programs. Make one with New.
type Controller struct {
	joints   int
	index    []int              // of each joint in a configuration
	speed    []int              // and in a velocity
	tips     []kinematics.Place // of each chain
	first    []robot.JointID    // of each chain
	supports []robot.LeafID     // of each chain
	stands   []bool             // a chain has a support leaf
	base     robot.LeafID
	data     *kinematics.Data
	other    *kinematics.Data
	q        []float64 // a configuration,
	qv, qa   []float64 // and how it moves
	q2       []float64

	p       *Program
	clock   clock.Clock
	x, v, a []float64 // columns now
	sample  int
	begun   bool
}

// Kind declares the controller.
var Kind = control.Kind{Name: "step", Short: "plays Cartesian steps of limbs and base, with contacts", New: control.NewOf(newOnFeet), Decode: Decode}

// New returns a controller for a robot.
func New(m *robot.Model, assumed control.Transition) (*Controller, error) {
	if _, _, err := control.JointLimits(m, assumed); err != nil {
		return nil, err
	}
	res, err := m.Resources()
	if err != nil {
		return nil, err
	}
	n, chains := len(m.Joints()), len(m.Chains())
	c := &Controller{joints: n, data: kinematics.NewData(m), other: kinematics.NewData(m), q: make([]float64, m.NumQ()), q2: make([]float64, m.NumQ()), qv: make([]float64, m.NumV()), qa: make([]float64, m.NumV()),
		supports: make([]robot.LeafID, chains), stands: make([]bool, chains), first: make([]robot.JointID, chains),
		x: make([]float64, 0, n+frameColumns), v: make([]float64, 0, n+frameColumns), a: make([]float64, 0, n+frameColumns)}
	kinematics.NewSpace(m).NeutralTo(c.q)
	kinematics.NewSpace(m).NeutralTo(c.q2)
	for _, j := range m.Joints() {
		c.index, c.speed = append(c.index, j.Q), append(c.speed, j.V)
	}
	for i, ch := range m.Chains() {
		c.tips = append(c.tips, c.data.At(ch.VirtualTip))
		c.first[i] = ch.Joints[0]
	}
	for i, l := range res.Leaves() {
		switch l.Kind {
		case robot.BaseLeaf:
			c.base = robot.LeafID(i)
		case robot.SupportLeaf:
			c.supports[l.Chain], c.stands[l.Chain] = robot.LeafID(i), true
		}
	}
	return c, nil
}

// Check refuses a start from another pose than the first.
func (c *Controller) Check(input *control.Input, p control.Program) control.Reason {
	s, ok := p.(*Program)
	if !ok || s.r.Base && s.r.Leaf != c.base {
		return control.Because(control.BadProgram)
	}
	for _, j := range s.r.Joints {
		if int(j) >= c.joints {
			return control.Because(control.BadProgram)
		}
	}
	for i := range s.r.Chains {
		if int(s.r.Chains[i].Chain) >= len(c.tips) {
			return control.Because(control.BadProgram)
		}
	}
	// limbs as they are commanded, and as the first row wants them, seen from the base
	for j, at := range c.index {
		c.q[at], c.q2[at] = input.Cmd.Q[j], input.Cmd.Q[j]
	}
	for k, j := range s.r.Joints {
		c.q2[c.index[j]] = s.r.Table[0][k]
	}
	return c.compare(s, control.StartTooFar)
}

// compare tells which limb of a program is too far apart in two poses of the joints,
// q and q2. The joint that is named is the limb's first.
func (c *Controller) compare(s *Program, code control.Code) control.Reason {
	c.data.UpdatePosition(c.q)
	c.other.UpdatePosition(c.q2)
	for i := range s.r.Chains {
		chain := s.r.Chains[i].Chain
		X, Y := c.data.Pose(c.tips[chain]), c.other.Pose(c.tips[chain])
		if d := X.P.Sub(Y.P).Norm(); s.r.Position > 0 && !(d <= s.r.Position) {
			return code.At(c.first[chain], d, s.r.Position)
		}
		if d := X.R.Transpose().Mul(Y.R).Quat().Log().Norm(); s.r.Orientation > 0 && !(d <= s.r.Orientation) {
			return code.At(c.first[chain], d, s.r.Orientation)
		}
	}
	return control.Because(control.OK)
}

// Start begins at the first sample; the bridge leads there.
func (c *Controller) Start(input *control.Input, p control.Program) control.Reason {
	if why := c.Check(input, p); why.Code != control.OK {
		return why
	}
	s := p.(*Program)
	var k clock.Clock
	if highest, ok := k.Start(s.track, s.track.Motion().Start(), min(input.Rate, 1)); !ok {
		k.Start(s.track, s.track.Motion().Start(), highest)
	}
	c.p, c.clock, c.sample, c.begun = s, k, 0, false
	clear(c.qv)
	clear(c.qa)
	n := s.track.Motion().Joints()
	c.x, c.v, c.a = c.x[:n], c.v[:n], c.a[:n]
	return control.Because(control.OK)
}

// Update moves on by a tick.
func (c *Controller) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	s := c.p
	for j, at := range c.index {
		c.q[at], c.q2[at] = input.Cmd.Q[j], input.Meas.Q[j]
	}
	if why := c.compare(s, control.ToleranceBroken); why.Code != control.OK {
		why.At = c.clock.Time()
		return control.Failed, why
	}
	now := c.advance(input)
	out.Peak, out.Rate, out.Time = pace.Peak, now.Rate, now.Time
	for k, j := range s.r.Joints {
		out.Has = out.Has.With(robot.LeafID(j))
		out.Q[j], out.V[j], out.A[j] = c.x[k], c.v[k], c.a[k]
		c.q[c.index[j]], c.qv[c.speed[j]], c.qa[c.speed[j]] = c.x[k], c.v[k], c.a[k]
	}
	if s.r.Base {
		c.writeBase(out)
	}
	c.writeLimbs(input, out, now.Time)
	if now.Done {
		return control.Done, control.Because(control.OK)
	}
	return control.Going, control.Because(control.OK)
}

// advance lets a tick pass. The first one is for the hand-over: steps begin at rest,
// with an acceleration that needs no bridge.
func (c *Controller) advance(input *control.Input) clock.State {
	now := clock.State{Time: c.clock.Time(), Rate: c.clock.Rate()}
	if c.begun {
		now = c.clock.Step(input.Tick.Dt, input.Rate)
	}
	c.clock.StateTo(c.x, c.v, c.a)
	if !c.begun {
		clear(c.a)
	}
	c.begun = true
	return now
}

// writeBase fills in the base.
func (c *Controller) writeBase(out *control.Reference) {
	n := len(c.p.r.Joints)
	x, v, a := (*[frameColumns]float64)(c.x[n:]), (*[frameColumns]float64)(c.v[n:]), (*[frameColumns]float64)(c.a[n:])
	out.Has = out.Has.With(c.base)
	out.Base = control.CoordinatePose(&spatial.Pose{R: c.p.r.Origin}, x, v, a)
}

// writeLimbs fills in where limbs are to be, and which carry.
func (c *Controller) writeLimbs(input *control.Input, out *control.Reference, t float64) {
	s := c.p
	for c.sample+1 < len(s.r.Times) && s.r.Times[c.sample+1] <= t {
		c.sample++
	}
	X_WB := spatial.IdentityPose
	if out.Base.Has {
		X_WB = out.Base.Pose
	} else if input.Cmd.Base.Has {
		X_WB = input.Cmd.Base.Pose
	}
	// limbs seen from the base, and carried by it
	c.data.UpdatePosition(c.q)
	c.data.UpdateVelocity(c.qv)
	c.data.UpdateAcceleration(c.qa)
	for i := range s.r.Chains {
		ch := &s.r.Chains[i]
		tip := c.tips[ch.Chain]
		out.Limb[ch.Chain] = carried(X_WB, &out.Base, c.data.Pose(tip), c.data.Twist(tip), c.data.Acceleration(tip))
		if !c.stands[ch.Chain] || !input.Own.Has(c.supports[ch.Chain]) {
			continue
		}
		support := control.Support{Contact: ch.Contacts[c.sample]}
		if support.Contact != robot.NoContact {
			support.Weight = 1
		} else {
			support.Contact = input.Cmd.Support[ch.Chain].Contact
			support.Swing = s.swing(ch.Contacts, c.sample, t)
		}
		out.Has = out.Has.With(c.supports[ch.Chain])
		out.Support[ch.Chain] = support
	}
}

// carried returns how a tip T moves in the world that moves in the base B: V and A are
// its velocity and its classical acceleration seen from the base, in base axes.
//
//	a_T = a_B + α×r + ω×(ω×r) + 2·ω×ṙ + r̈
func carried(X_WB spatial.Pose, base *control.BaseRef, X_BT spatial.Pose, V, A spatial.Twist) control.LimbRef {
	ω, α, r := base.Twist.Angular, base.Acceleration.Angular, X_BT.P
	twist := base.Twist.At(r).Add(V)
	a_T := base.Acceleration.Linear.Add(ω.Cross(base.Twist.Linear)).Add(α.Cross(r)).Add(ω.Cross(ω.Cross(r))).
		Add(ω.Cross(V.Linear).Scale(2)).Add(A.Linear)
	turn := α.Add(A.Angular).Add(ω.Cross(V.Angular))
	// of the components of the twist in tip axes
	acceleration := spatial.Twist{Angular: turn, Linear: a_T.Sub(twist.Angular.Cross(twist.Linear))}
	R_TB := X_BT.R.Transpose()
	return control.LimbRef{Pose: X_WB.Mul(X_BT), Twist: twist.In(R_TB), Acceleration: acceleration.In(R_TB), Has: true}
}

// Owned quits when a limb is taken: steps are steps as a whole.
func (c *Controller) Owned(_ *control.Input, now robot.Set) control.Status {
	if !now.Contains(c.p.needs) {
		return control.Quit
	}
	return control.Going
}

// newOnFeet makes a controller for a robot that has something to step with.
func newOnFeet(m *robot.Model, assumed control.Transition) (*Controller, error) {
	for _, c := range m.Chains() {
		if c.Contact != robot.NoContact {
			return New(m, assumed)
		}
	}
	return nil, fmt.Errorf("step %w: no chain of %s has a contact", control.ErrUnfit, m.Name())
}

// Package walk walks on legs, as a stream of velocities tells.
//
// Until a velocity comes it stands: level, at the height at which its legs reach furthest around
// their places, its centre of mass over the middle of its feet. Package gait plans the steps; the legs
// follow by inverse kinematics in closed form, every cycle, and feet that stand do not creep, because
// nothing is integrated. Base, limbs and supports have their accelerations, so cycle 1 knows the forces.
//
// With an inertial unit it keeps its heading: what the body turned otherwise than planned is led back.
//
// Pause, speed override, cancel and a stop of category 2 scale the velocity, never the clock of the
// gait: feet in the air come down as planned, and it stands. A velocity counts for half a second;
// after that the robot takes the steps that bring its feet to their places, and stands.
package walk

import (
	"fmt"
	"math"

	"poise/contact"
	"poise/control"
	"poise/control/pace"
	"poise/gait"
	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/robot"
	"poise/spatial"
)

// leg is a chain that can stand.
type leg struct {
	chain   robot.ChainID
	joints  []robot.JointID
	support robot.LeafID
	tip     kinematics.Place // its virtual end, which has all six coordinates
	sole    spatial.Vec3     // seen from there
	up      spatial.Vec3     // upwards when it stands, in the axes of the tip
	level   spatial.Mat3     // rotation of the tip that stands, in a level body without heading
	solver  *ik.Solver

	mirrored bool // the leg of its image is among those before
}

// Controller performs Programs and is fed with Velocities and Choices. Make one with New.
type Controller struct {
	legs    []leg
	base    robot.LeafID
	index   []int // of each joint in a configuration
	ground  *contact.Ground
	data    *kinematics.Data
	stand   contact.Balance
	nominal []gait.Point // places of feet under a level body
	height  float64      // of the base above the ground while it walks, m
	walking spatial.Pose // of the base then, seen from the middle of the feet
	reach   float64      // of a foot from its place, m
	gaits   []gait.Gait
	plan    *gait.Planner

	run, trial *posture
	tried      uint64 // tick in which trial was looked at

	clock    float64 // s since the start
	ready    bool    // it has the posture of walking
	velocity gait.Velocity
	wanted   string // gait
	heard    int64  // stamp of the newest velocity, ns
	fed      bool   // there was one
	chosen   int64  // stamp of the newest choice
	course   heading
	own      robot.Set
	hold     []float64 // of each joint that it only wants

	q    []float64 // legs as they are led, in a configuration of the whole robot
	v, a []float64 // of each joint

	// scratch; configurations of the whole robot, but for joints
	way, scratch []float64
	near         [2][]float64
	joints       []float64
}

// Kind declares the controller.
var Kind = control.Kind{Name: "walk", Short: "walks as cmd_vel says, and stands until it does", New: control.NewOf(New), Decode: Decode}

// Timeout is how long a velocity counts, s.
const Timeout = 0.5

// New returns a controller for a robot. It must stand free on two legs or more whose inverse kinematics
// has a closed form.
func New(m *robot.Model, assumed control.Transition) (*Controller, error) {
	if _, _, err := control.JointLimits(m, assumed); err != nil {
		return nil, err
	}
	if !m.Floating() {
		return nil, fmt.Errorf("walk %w: the base of %s does not move", control.ErrUnfit, m.Name())
	}
	res, err := m.Resources()
	if err != nil {
		return nil, err
	}
	ground, err := contact.NewGround(m)
	if err != nil {
		return nil, err
	}
	n := len(m.Joints())
	c := &Controller{tried: math.MaxUint64, ground: ground, data: kinematics.NewData(m), v: make([]float64, n), a: make([]float64, n),
		joints: make([]float64, n), hold: make([]float64, n)}
	for _, j := range m.Joints() {
		c.index = append(c.index, j.Q)
	}
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
				return nil, fmt.Errorf("walk %w: the inverse kinematics of %s has no closed form", control.ErrUnfit, chain.Name)
			}
			c.legs = append(c.legs, leg{chain: l.Chain, joints: chain.Joints, support: robot.LeafID(i), tip: c.data.At(chain.VirtualTip), solver: solver})
		}
	}
	if len(c.legs) < 2 || len(c.legs) > 8 {
		return nil, fmt.Errorf("walk %w: %s has %d legs, and from 2 to 8 can walk", control.ErrUnfit, m.Name(), len(c.legs))
	}
	for _, q := range []*[]float64{&c.q, &c.way, &c.scratch, &c.near[0], &c.near[1]} {
		*q = make([]float64, m.NumQ())
		kinematics.NewSpace(m).NeutralTo(*q)
	}
	c.run, c.trial = &posture{feet: make([]gait.Point, len(c.legs))}, &posture{feet: make([]gait.Point, len(c.legs))}
	return c, c.measure(m)
}

// Check refuses a robot that does not stand, and one whose legs do not reach the posture of walking.
func (c *Controller) Check(input *control.Input, p control.Program) control.Reason {
	s, ok := p.(*Program)
	if !ok || len(s.Feet) != len(c.legs) || !s.Needs.Has(c.base) || !c.knows(s.Gait) {
		return control.Because(control.BadProgram)
	}
	for i, f := range s.Feet {
		if f.Chain != c.legs[i].chain || f.Contact < 0 || int(f.Contact) >= len(c.ground.Model().Contacts()) {
			return control.Because(control.BadProgram)
		}
	}
	k := c.trial
	if k.program == s && c.tried == input.Tick.N {
		return k.verdict // asked again within the tick, as a round does
	}
	k.program = s
	if k.verdict = c.settle(input, k); k.verdict.Code == control.OK {
		k.verdict = c.prepare(k)
	}
	c.tried = input.Tick.N
	return k.verdict
}

// knows reports whether there is a gait of this name; none chooses by speed.
func (c *Controller) knows(name string) bool {
	known := name == ""
	for i := range c.gaits {
		known = known || c.gaits[i].Name == name
	}
	return known
}

// Start begins to stand.
func (c *Controller) Start(input *control.Input, p control.Program) control.Reason {
	if why := c.Check(input, p); why.Code != control.OK {
		return why
	}
	c.run, c.trial = c.trial, c.run
	c.tried = math.MaxUint64
	k := c.run
	c.clock, c.ready, c.fed = 0, false, false
	c.velocity, c.wanted, c.course = gait.Velocity{}, k.program.Gait, heading{}
	c.heard, c.chosen = input.Tick.Time, input.Tick.Time
	c.fill(c.q, input)
	copy(c.hold, input.Cmd.Q)
	c.own = k.program.Wants
	c.plan.Place(k.centre, k.yaw, k.feet, k.centre)
	c.plan.Stop(true)
	c.choose()
	return control.Because(control.OK)
}

// Stamped tells the cycle that missed ticks are not to be caught up: the clock of a gait is never hurried.
func (c *Controller) Stamped() bool { return true }

// Feed takes a velocity or a gait.
func (c *Controller) Feed(input *control.Input, p control.Program) control.Reason {
	old := func(at, last int64) control.Reason {
		return control.Stale.At(robot.NoJoint, float64(input.Tick.Time-at)*1e-9, float64(input.Tick.Time-last)*1e-9)
	}
	switch x := p.(type) {
	case *Velocity:
		v := x.Velocity
		if x.At < c.heard {
			return old(x.At, c.heard)
		}
		if s := v.X + v.Y + v.Yaw; s-s != 0 {
			return control.NonFinite.At(robot.NoJoint, float64(c.base), 0)
		}
		c.velocity, c.heard, c.fed = v, x.At, true
	case *Choice:
		if x.At < c.chosen {
			return old(x.At, c.chosen)
		}
		if !c.knows(x.Gait) {
			return control.Because(control.BadProgram)
		}
		c.wanted, c.chosen = x.Gait, x.At
	default:
		return control.Because(control.BadProgram)
	}
	return control.Because(control.OK)
}

// begins is how long after its start it begins to move, s: what is handed over then is at rest.
const begins = 0.1

// mostSpeed is the largest speed override.
const mostSpeed = 2

// Update walks on by a tick.
func (c *Controller) Update(input *control.Input, out *control.Reference) (control.Status, control.Reason) {
	dt := input.Tick.Dt
	c.clock += dt
	reason := c.lead(input)
	if !c.ready {
		c.ready = c.clock >= begins+c.run.takes
	}
	c.plan.Step(dt)
	base, why := c.follow()
	if why.Code != control.OK {
		return control.Failed, why
	}
	c.write(input, out, base)
	return control.Going, reason
}

// lead tells the plan what is commanded now.
func (c *Controller) lead(input *control.Input) control.Reason {
	v, reason := c.velocity, control.Because(control.OK)
	if silent := float64(input.Tick.Time-c.heard) * 1e-9; c.fed && silent > Timeout {
		if v != (gait.Velocity{}) {
			reason = control.Stale.At(robot.NoJoint, silent, Timeout)
		}
		v = gait.Velocity{}
	}
	rate := min(input.Rate, mostSpeed)
	v = gait.Velocity{X: rate * v.X, Y: rate * v.Y, Yaw: rate * v.Yaw}
	if c.ready && input.Meas.Base.Has && seen(input.Meas.IMU) {
		yaw, _, _ := c.plan.Yaw(0)
		R := &input.Meas.Base.Pose.R
		c.course.follow(math.Atan2(R[3], R[0]), yaw)
		if v != (gait.Velocity{}) && c.plan.Phase() == gait.Walks {
			v.Yaw += c.course.correct(input.Tick.Dt)
		}
	}
	c.plan.Command(v)
	c.plan.Stop(!c.ready || rate == 0 || c.choose())
	return reason
}

// choose sets the gait, standing; it reports whether the robot has to stand for it first.
func (c *Controller) choose() (stand bool) {
	now := c.plan.Gait()
	name := c.wanted
	if name == "" {
		name = c.bySpeed(now.Name)
	}
	if name == now.Name {
		return false
	}
	for i := range c.gaits {
		if c.gaits[i].Name != name {
			continue
		}
		if p := c.plan.Phase(); p == gait.Walks || p == gait.Lands {
			return true
		}
		return c.plan.SetGait(&c.gaits[i]) != nil
	}
	return false
}

// Speeds as shares of the fastest that a crawl has, at which a trot begins and ends.
const (
	beginTrot = 1.0
	endTrot   = 0.8
)

// bySpeed returns the gait for the speed that is commanded: the crawl as far as it goes, then the trot.
func (c *Controller) bySpeed(now string) string {
	need := c.plan.Wanted()
	crawl := c.gaits[0].Fastest(c.reach)
	switch {
	case need > beginTrot*crawl:
		return "trot"
	case need > endTrot*crawl && now != "":
		return now
	}
	return "crawl"
}

// moment is over which places become velocities and accelerations of joints, s.
const moment = 0.001

// follow finds the legs for the present, and how they move, from their answers a moment before and
// after.
func (c *Controller) follow() (base control.BaseRef, reason control.Reason) {
	for i, after := range [...]float64{-moment, moment, 0} {
		base = c.body(after)
		setBase(c.q, base.Pose)
		for l := range c.legs {
			tip := c.foot(l, after)
			if r := c.legs[l].solver.PoseTo(c.q, tip.Pose, c.q); r.Status != ik.Solved {
				return base, c.legs[l].unreachable(&r)
			}
		}
		if i < 2 {
			copy(c.near[i], c.q)
		}
	}
	for i := range c.legs {
		for _, j := range c.legs[i].joints {
			at := c.index[j]
			before, after, now := c.near[0][at], c.near[1][at], c.q[at]
			c.v[j], c.a[j] = (after-before)/(2*moment), (after-2*now+before)/(moment*moment)
		}
	}
	return base, control.Because(control.OK)
}

// body returns where the base is some seconds from now.
func (c *Controller) body(after float64) control.BaseRef {
	k := c.run
	if !c.ready {
		return k.at(c.clock - begins + after)
	}
	m := c.plan.Com(after)
	yaw, rate, acceleration := c.plan.Yaw(after)
	b := control.BaseRef{Has: true}
	b.Pose.R = spatial.TurnZ(yaw)
	offset := b.Pose.R.MulVec(k.com)
	offset.Z = 0
	ω, α := spatial.Vec3{Z: rate}, spatial.Vec3{Z: acceleration}
	b.Pose.P = m.P.Sub(offset)
	b.Pose.P.Z = c.height
	v := m.V.Sub(ω.Cross(offset))
	a := m.A.Sub(α.Cross(offset)).Sub(ω.Cross(ω.Cross(offset)))
	return moving(b.Pose, v, a, ω, α)
}

// moving returns how a frame moves whose origin has velocity and acceleration v and a, and which turns
// by ω and α, all in world axes.
func moving(X spatial.Pose, v, a, ω, α spatial.Vec3) control.BaseRef {
	b := control.BaseRef{Pose: X, Has: true}
	b.Twist = spatial.Twist{Linear: X.R.TMulVec(v), Angular: X.R.TMulVec(ω)}
	b.Acceleration = spatial.Twist{Linear: X.R.TMulVec(a).Sub(b.Twist.Angular.Cross(b.Twist.Linear)), Angular: X.R.TMulVec(α)}
	return b
}

// foot returns where the tip of a leg is some seconds from now.
func (c *Controller) foot(leg int, after float64) control.BaseRef {
	l := &c.legs[leg]
	m, yaw, rate, acceleration := c.plan.Foot(leg, after)
	X := l.tipAt(m.P, yaw)
	arm := X.P.Sub(m.P)
	ω, α := spatial.Vec3{Z: rate}, spatial.Vec3{Z: acceleration}
	return moving(X, m.V.Add(ω.Cross(arm)), m.A.Add(α.Cross(arm)).Add(ω.Cross(ω.Cross(arm))), ω, α)
}

// supportFade is how fast the dynamics may let a support come and go, s: the weights fade by themselves.
const supportFade = 0.02

// write fills in the reference.
func (c *Controller) write(input *control.Input, out *control.Reference, base control.BaseRef) {
	k := c.run
	out.Has, out.Peak, out.Rate, out.Time = robot.Leaf(c.base), pace.Peak, min(input.Rate, mostSpeed), c.clock
	out.Base = base
	for i := range c.legs {
		l := &c.legs[i]
		for _, j := range l.joints {
			out.Has = out.Has.With(robot.LeafID(j))
			out.Q[j], out.V[j], out.A[j] = c.q[c.index[j]], c.v[j], c.a[j]
		}
		out.Has = out.Has.With(l.support)
		out.Limb[l.chain] = control.LimbRef(c.foot(i, 0))
		out.Support[l.chain] = control.Support{Weight: c.plan.Weight(i), Contact: k.program.Feet[i].Contact, Fade: supportFade}
	}
	for leaf := range c.own.Intersect(input.Own).All {
		if j := int(leaf); j < len(out.Q) {
			out.Has = out.Has.With(leaf)
			out.Q[j], out.V[j], out.A[j] = c.hold[j], 0, 0
		}
	}
}

// Owned quits when a leg is taken. What it only wants it holds where it gets it.
func (c *Controller) Owned(input *control.Input, now robot.Set) control.Status {
	if !now.Contains(c.run.program.Needs) {
		return control.Quit
	}
	held := now.Intersect(c.run.program.Wants)
	for leaf := range held.Minus(c.own).All {
		if j := int(leaf); j < len(c.hold) {
			c.hold[j] = input.Cmd.Q[j]
		}
	}
	c.own = held
	return control.Going
}

// Package walk walks on legs, as a stream of velocities tells.
//
// Until a velocity comes it stands: level, at the height at which its legs reach furthest around
// their places, its centre of mass over the middle of its feet. Package gait plans the steps; the legs
// follow by inverse kinematics, every cycle, and feet that stand do not creep, because
// nothing is integrated. Base, limbs and supports have their accelerations, so cycle 1 knows the forces.
//
// With an inertial unit it keeps its heading: what the body turned otherwise than planned is led back. A robot on four legs with soles that
// stands and is pushed over their edge catches itself by steps (catch.go); one that walks and is pushed puts its feet down first (brace.go).
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

	turns [2]float64 // rad that its sole is turned to the right and to the left at most, at its place under the body

	mirrored bool // the leg of its image is among those before
	point    bool // three joints: its foot is a ball, which may stand at any angle
	target   [1]ik.Target
}

// Legs of three joints put a point foot somewhere, those of six a flat sole. Without a closed form they are found so exactly, m and
// rad, that a second difference over a moment is an acceleration.
const (
	pointJoints = 3
	footJoints  = 6
	tipExact    = 1e-12
)

// newLeg makes the leg of a chain that can stand.
func newLeg(m *robot.Model, id robot.ChainID, data *kinematics.Data) (l leg, err error) {
	chain := &m.Chains()[id]
	l = leg{chain: id, joints: chain.Joints, tip: data.At(chain.VirtualTip), point: len(chain.Joints) == pointJoints}
	if l.solver, err = ik.New(m, ik.Options{MaxIterations: 10, MaxRestarts: 1}, chain.Joints, chain.VirtualTip); err != nil || l.solver.ClosedForm() {
		return l, err
	}
	if n := len(chain.Joints); !l.point && n != footJoints {
		return l, fmt.Errorf("walk %w: %s has %d joints; a leg needs %d (point foot) or %d (flat sole)", control.ErrUnfit, chain.Name, n, pointJoints, footJoints)
	}
	exact := ik.Options{PositionTolerance: tipExact, RotationTolerance: tipExact, MaxIterations: 25, MaxRestarts: 1}
	l.solver, err = ik.New(m, exact, chain.Joints, chain.VirtualTip)
	return l, err
}

// solve finds the joints of a leg whose tip is somewhere: q has the seed, and gets the answer. Loop-safe.
func (l *leg) solve(q []float64, tip spatial.Pose) ik.Result { return l.solveTo(q, tip, q) }

// solveTo does so with a seed of its own. Loop-safe.
func (l *leg) solveTo(q []float64, tip spatial.Pose, seed []float64) ik.Result {
	if !l.point {
		return l.solver.PoseTo(q, tip, seed)
	}
	l.target[0] = ik.Target{Pose: tip, Tolerance: ik.PositionOnly}
	return l.solver.SolveTo(q, l.target[:], seed)
}

// Controller performs Programs and is fed with Velocities and Choices. Make one with New.
type Controller struct {
	legs    []leg
	base    robot.LeafID
	index   kinematics.Index // of each joint in a configuration
	ground  *contact.Ground
	data    *kinematics.Data
	stand   contact.Balance
	nominal []gait.Point // places of feet under a level body
	height  float64      // of the base above the ground while it walks, m
	walking spatial.Pose // of the base then, seen from the middle of the feet
	reach   float64      // of a foot from its place, m
	stair   float64      // from one known box to the next at most, m
	above   float64      // height of the centre of mass over the base, m
	gaits   []gait.Gait  // as gait.Names
	slowed  gait.Gait    // of them the one that is walked by, as the period of the cycle has it
	speeds  []int        // those that are chosen by speed, the slowest first
	renewed bool         // parameters of gaits have changed
	driven  robot.Set    // joints of legs that servos move
	lags    bool         // they follow their command badly: see behind
	plan    *gait.Planner

	run, trial *posture
	tried      uint64 // tick in which trial was looked at
	updated    uint64 // tick of the last update
	seamless   bool   // the last start went on with what it replaced
	stood      bool   // a tick ago, at rest
	places     []gait.Point
	turns      []float64
	pulls      []float64 // share of the way to its place under the body that a leg is led nearer, because it does not reach
	arm        float64   // of the foot that is furthest from the middle, m

	clock    float64 // s since the start
	ready    bool    // it has the posture of walking
	velocity gait.Velocity
	wanted   string // gait
	heard    int64  // stamp of the newest velocity, ns
	fed      bool   // there was one
	chosen   int64  // stamp of the newest choice
	course   heading
	track    progress
	sole     float64 // radius of the largest, m
	soles    []sole  // what is felt of the ground, of each leg
	sway     balance
	slope    slope
	catch    catcher
	braced   brace
	steady   bool // it stands on four soles or more

	disturbed bool    // it was pushed since it started, and put its feet elsewhere
	gravity   float64 // m/s²
	own       robot.Set
	hold      []float64 // of each joint that it only wants

	q    []float64 // legs as they are led, in a configuration of the whole robot
	v, a []float64 // of each joint

	// scratch; configurations of the whole robot, but for joints
	standing, scratch []float64 // standing is how it stands: at rest while it is measured, then as it is going to
	near              [2][]float64
	joints            []float64
}

// Kind declares the controller.
var Kind = control.Kind{Name: "walk", Short: "walks as cmd_vel says, and stands until it does", New: control.NewOf(New), Decode: Decode}

// Timeout is how long a velocity counts, s.
const Timeout = 0.5

// New returns a controller for a robot. It must stand free on two legs or more, of three joints or of six.
func New(m *robot.Model, assumed control.Transition) (*Controller, error) {
	if _, _, err := control.JointLimits(m, assumed); err != nil {
		return nil, err
	}
	return build(m)
}

// Judge reports why a robot does not walk: one that has no use for it by control.ErrUnfit, another by what robot.yaml says of walking. It takes
// some ten milliseconds: it is not for the cycle.
func Judge(m *robot.Model) error {
	_, err := build(m)
	return err
}

// build measures a robot and makes room for its walks.
func build(m *robot.Model) (*Controller, error) {
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
	c := &Controller{tried: math.MaxUint64, updated: math.MaxUint64 - 1, ground: ground, data: kinematics.NewData(m), index: kinematics.NewIndex(m), v: make([]float64, n), a: make([]float64, n),
		joints: make([]float64, n), hold: make([]float64, n)}
	for i, l := range res.Leaves() {
		switch l.Kind {
		case robot.BaseLeaf:
			c.base = robot.LeafID(i)
		case robot.SupportLeaf:
			leg, err := newLeg(m, l.Chain, c.data)
			if err != nil {
				return nil, err
			}
			leg.support = robot.LeafID(i)
			c.legs = append(c.legs, leg)
			c.sole = max(c.sole, m.Contacts()[m.Chains()[l.Chain].Contact].Sole)
			for _, j := range leg.joints {
				if !m.Joints()[j].Virtual {
					c.driven = c.driven.With(robot.LeafID(j))
				}
			}
		}
	}
	if n := len(c.legs); n < 2 || n == 3 || n > 8 { // of three none can be lifted by a robot that stands
		return nil, fmt.Errorf("walk %w: %s has %d legs, and 2 or from 4 to 8 can walk", control.ErrUnfit, m.Name(), len(c.legs))
	}
	for _, q := range []*[]float64{&c.q, &c.standing, &c.scratch, &c.near[0], &c.near[1]} {
		*q = make([]float64, m.NumQ())
		kinematics.NewSpace(m).NeutralTo(*q)
	}
	c.places, c.turns, c.pulls = make([]gait.Point, len(c.legs)), make([]float64, len(c.legs)), make([]float64, len(c.legs))
	room := func() *posture {
		return &posture{begins: make([]float64, m.NumQ()), ends: make([]float64, m.NumQ()), feet: make([]gait.Point, len(c.legs)), steps: make([]gait.Footstep, gait.MostFootsteps)}
	}
	c.run, c.trial = room(), room()
	c.slowed.Phase = make([]float64, len(c.legs))
	c.soles, c.gravity = make([]sole, len(c.legs)), m.Gravity().Norm()
	if err := c.measure(m); err != nil {
		if w := m.Walking(); w.Height == 0 && w.Reach == 0 && w.Margin == 0 && w.Fade == 0 && len(w.BySpeed)+len(w.Gaits) == 0 {
			return nil, fmt.Errorf("%w: %w", control.ErrUnfit, err) // nothing asks it to walk
		}
		return nil, err
	}
	for _, at := range c.nominal {
		c.arm = max(c.arm, math.Hypot(at.X, at.Y))
	}
	c.catching(m)
	return c, nil
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
	switch {
	case c.goesOn(input, s):
		k.verdict = c.takeOver(k)
	default:
		if k.verdict = c.settle(input, k); k.verdict.Code == control.OK {
			k.verdict = c.prepare(k)
		}
	}
	if k.verdict.Code == control.OK {
		k.verdict = c.placeSteps(input, k)
	}
	c.tried = input.Tick.N
	return k.verdict
}

// goesOn reports whether a program replaces one that was performed up to now, on the same legs: it goes on from whatever
// phase that is in.
func (c *Controller) goesOn(input *control.Input, p *Program) bool {
	before := c.run.program
	return before != nil && c.ready && input.Tick.N-c.updated <= 1 && before.Needs == p.Needs
}

// takeOver takes the posture of what is replaced. Footsteps begin from a stand.
func (c *Controller) takeOver(k *posture) control.Reason {
	from := c.run
	k.from, k.to, k.com, k.takes, k.ground = c.body(0).Pose, from.to, from.com, from.takes, from.ground
	k.yaw, _, _ = c.plan.Yaw(0)
	for i := range k.feet {
		m, _, _, _ := c.plan.Foot(i, 0)
		k.feet[i] = gait.Point{X: m.P.X, Y: m.P.Y}
	}
	if len(k.program.Steps) > 0 && !c.Stands() {
		return control.StillWalks.At(robot.NoJoint, c.plan.Com(0).V.Norm(), 0)
	}
	return control.Because(control.OK)
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
	c.seamless = c.goesOn(input, p.(*Program))
	c.run, c.trial = c.trial, c.run
	c.tried = math.MaxUint64
	k := c.run
	c.fed, c.stood, c.disturbed = false, false, false
	c.renewed = c.renewed || k.program.Gait != c.wanted
	c.velocity, c.wanted, c.course, c.track = gait.Velocity{}, k.program.Gait, heading{}, progress{}
	c.heard, c.chosen = input.Tick.Time, input.Tick.Time
	copy(c.hold, input.Cmd.Q)
	c.own = k.program.Wants
	if !c.seamless {
		c.clock, c.ready, c.lags, c.renewed = 0, false, false, true // the period of the cycle is known now
		c.index.ConfigurationTo(c.q, input.Cmd.Q)
		c.plan.Place(k.centre, k.yaw, k.feet, k.centre)
		c.plan.Stop(true)
		clear(c.soles)
		c.sway, c.slope, c.braced = balance{}, slope{}, brace{}
		c.catch.steps, c.catch.slow = gait.Catch{}, 0
	}
	c.plan.Footsteps(k.steps[:len(k.program.Steps)])
	c.choose(input.Tick.Dt)
	return control.Because(control.OK)
}

// Seamless reports whether the last start went on with the walk that it replaced.
func (c *Controller) Seamless() bool { return c.seamless }

// Stamped tells the cycle that missed ticks are not to be caught up: the clock of a gait is never hurried.
func (c *Controller) Stamped() bool { return true }

// Feed takes a velocity or a gait.
func (c *Controller) Feed(input *control.Input, p control.Program) control.Reason {
	old := func(at, last int64) control.Reason {
		return control.Stale.At(robot.NoJoint, float64(input.Tick.Time-at)*1e-9, float64(input.Tick.Time-last)*1e-9)
	}
	switch value := p.(type) {
	case *Velocity:
		if p := c.run.program; p.To != nil || len(p.Steps) > 0 {
			return control.Because(control.NotActive) // it has its way
		}
		v := value.Velocity
		if value.At < c.heard {
			return old(value.At, c.heard)
		}
		for _, x := range [...]float64{v.X, v.Y, v.Yaw} {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return control.NonFinite.At(robot.NoJoint, float64(c.base), 0)
			}
		}
		c.velocity, c.heard, c.fed = v.Bounded(), value.At, true
	case *Choice:
		if value.At < c.chosen {
			return old(value.At, c.chosen)
		}
		if !c.knows(value.Gait) {
			return control.Because(control.BadProgram)
		}
		c.renewed = c.renewed || value.Gait != c.wanted // the same gait is walked otherwise by name than by speed
		c.wanted, c.chosen = value.Gait, value.At
	case *Parameters:
		return c.tune(value)
	case *Ground:
		c.plan.Terrain(value.Boxes, c.sole+edgeRoom)
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
	c.updated = input.Tick.N
	c.locate(input)
	reason := c.lead(input)
	if !c.ready {
		c.ready = c.clock >= begins+c.run.takes
	}
	c.plan.Advance(dt)
	c.feel(input)
	c.feedback(input)
	c.uphill(input)
	c.braces(input)
	c.recover(input)
	base, why := c.follow()
	if why.Code != control.OK {
		return control.Failed, why
	}
	c.write(input, out, base)
	stood := c.stood
	if c.stood = c.over(input); c.stood && stood {
		if missed := c.missed(); missed.Code != control.OK {
			return control.Failed, missed
		}
		return control.Done, control.Because(control.OK)
	}
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
	switch p := c.run.program; {
	case p.To != nil:
		c.plan.Command(scaled(c.toward(input, p.To), rate))
	case len(p.Steps) > 0:
		c.plan.Command(gait.Velocity{})
		if rate > 0 {
			c.plan.Pace(rate)
		}
	default:
		c.plan.Command(c.keepCourse(input, scaled(v, rate)))
	}
	if lags := c.behind(input); lags != c.lags {
		c.lags, c.renewed = lags, true
	}
	c.choose(input.Tick.Dt)
	if reason.Code == control.OK && c.ready && c.plan.Phase() != gait.Stands {
		reason = c.lacks(input, scaled(v, rate))
	}
	c.plan.Stop(!c.ready || rate == 0 || c.catch.steps.On() || c.braced.on)
	return reason
}

// enough is the share of a velocity that is told from which on a walk does what it is told.
const enough = 0.99

// lacks says what a walk that goes on does not do as it is told: it is slower than that, or nothing measures how it turns. Loop-safe.
func (c *Controller) lacks(input *control.Input, told gait.Velocity) control.Reason {
	goes, less := c.plan.Target() // with what leads it back to its course
	if p := c.run.program; less && p.To == nil && len(p.Steps) == 0 {
		if way, most := math.Hypot(goes.X, goes.Y), math.Hypot(told.X, told.Y); most > 0 {
			if way < enough*most {
				return control.WalksSlower.At(robot.NoJoint, way, most)
			}
		} else if math.Abs(goes.Yaw) < enough*math.Abs(told.Yaw) {
			return control.TurnsSlower.At(robot.NoJoint, math.Abs(goes.Yaw), math.Abs(told.Yaw))
		}
	}
	if !control.HeardLately(input.Meas.IMU) {
		return control.Because(control.NoInertialUnit) // it walks all the same, and says so
	}
	return control.Because(control.OK)
}

func scaled(v gait.Velocity, s float64) gait.Velocity {
	return gait.Velocity{X: s * v.X, Y: s * v.Y, Yaw: s * v.Yaw}
}

// supportFade is how fast the dynamics may let a support come and go, s: the weights fade by themselves.
const supportFade = 0.02

// write fills in the reference.
func (c *Controller) write(input *control.Input, out *control.Reference, base control.BaseRef) {
	k := c.run
	out.Has, out.Peak, out.Rate, out.Time = robot.Leaf(c.base), pace.Peak, min(input.Rate, mostSpeed), c.clock
	if len(k.program.Steps) > 0 {
		out.Rate = min(input.Rate, 1) // of footsteps, whose rhythm is the fastest
	}
	out.Base = base
	out.Base.Pose.P.Z += k.ground
	for i := range c.legs {
		l := &c.legs[i]
		for _, j := range l.joints {
			out.Has = out.Has.With(robot.LeafID(j))
			out.Q[j], out.V[j], out.A[j] = c.q[c.index[j]], c.v[j], c.a[j]
		}
		out.Has = out.Has.With(l.support)
		if !l.point {
			tip := c.foot(i, 0)
			tip.Pose.P.Z += k.ground
			out.Limb[l.chain] = control.LimbRef(tip)
		}
		weight := c.plan.Weight(i)
		if c.catch.steps.Aloft(i) {
			weight = 0
		}
		out.Support[l.chain] = control.Support{Weight: weight, Contact: k.program.Feet[i].Contact, Fade: supportFade, Planned: true, Led: c.catch.steps.On(), Next: c.next(i),
			Swing: control.SwingOf(c.plan.Swing(i))}
	}
	for leaf := range c.own.Intersect(input.Own).All {
		if j := int(leaf); j < len(out.Q) {
			out.Has = out.Has.With(leaf)
			out.Q[j], out.V[j], out.A[j] = c.hold[j], 0, 0
		}
	}
}

// next says where a foot is put down next, for who watches.
func (c *Controller) next(leg int) control.Foothold {
	at, yaw, planned, swings := c.plan.Foothold(leg)
	return control.Foothold{At: spatial.Vec3{X: at.X, Y: at.Y, Z: c.run.ground + c.plan.GroundAt(at)}, Yaw: yaw, Has: planned, Swinging: swings}
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

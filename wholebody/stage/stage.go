package stage

import (
	"math"
	"slices"

	"poise/contact"
	"poise/control"
	"poise/estimate"
	"poise/floatingbase"
	"poise/kinematics"
	"poise/qp"
	"poise/robot"
	"poise/servo/model"
	"poise/spatial"
	"poise/wholebody"
)

// Servos is what is known of the servos of a robot.
type Servos struct {
	Powered func(joint int) bool
	Model   func(joint int) *model.Model // nil without a model
	Volts   float64                      // supply; 0 is nominal
}

// Stage leads the motion of one robot. Make one with New.
type Stage struct {
	Q, V, A []float64 // [joints] of its own motion
	Tau     []float64 // [joints] without what rotors take, N·m or N
	State   State
	Levels  []LevelState
	Limbs   []LimbState // [chains]

	m      *robot.Model
	cfg    Config
	levels []wholebody.LevelSpec
	walks  []wholebody.LevelSpec // where the balance is planned: limbs before the base
	bounds []control.Bounds
	gate   *control.Limiter
	solver *wholebody.Solver
	answer wholebody.Answer
	r      wholebody.Request
	kin    *kinematics.Data
	space  *kinematics.Space
	models []floatingbase.ContactModel
	begun  bool
	leaf   robot.LeafID // of the base

	q, v     []float64 // of its own motion, as in kinematics
	wanted   []float64 // [joints] positions that are asked for,
	asked    []float64 // [joints] and velocities
	J        []float64
	feet     []foot                // of each chain
	bends    []bend                // of each chain
	allowed  []wholebody.HalfPlane // accelerations of the centre of mass that the balance gives,
	taken    []float64             // correction by each, for Dykstra's method
	scratch  []float64             // [velocities]
	ω        float64
	ground   float64
	polygon  contact.Polygon
	spare    contact.Polygon
	soles    []contact.Point
	com, ξ   spatial.Vec3
	vcom     spatial.Vec3
	ω0       float64
	leaves   [4]robot.Set     // leaves of groups: posture, base, limbs, none
	fixed    []bool           // [joints] no servo moves it
	cartesic []bool           // [chains] its point is led
	follows  []float64        // [joints] share of what is asked for that counts
	pull     []float64        // [velocities behind the base's] accelerations that joints are asked for; NaN if none is
	stands   []bool           // [joints] of a limb that stands
	torques  bool             // Tau is that of the tick before
	given    []float64        // [velocities behind the base's] torque of the tick before, with what rotors take,
	slews    []float64        // and by how much it may change
	asks     *kinematics.Data // of the command, where the centre of mass is led
	qc, vc   []float64
	low      float64   // m by which the base is below its reference
	down     float64   // m/s downwards
	inertia  []float64 // [velocities] of each joint with the others at rest
	bias     []float64 // [velocities] its torque without acceleration
	helps    bool      // free limbs serve the base: no level above it has them
	planned  bool      // the owner of the supports plans the balance
	switched bool      // a foot came to stand in this tick
	held     bool      // the acceleration of the base was cut for the capture point
	pace     []float64 // [chains]
	basePace float64
	lag      float64 // m of the base behind its reference
	sensed   sensed
	plan     plan
	doubts   int // ticks since doubtful held first
}

// foot is what is known of a chain that may stand.
type foot struct {
	can     bool
	share   float64 // root of its coefficient
	planned bool    // its owner plans the balance
	contact robot.ContactID
	stays   bool // it is to stand, or is kept on the ground
	anchor  spatial.Pose
	led     bool       // it stands and moves with its limb's reference
	moves   limbMotion // of that reference
	free    float64    // share of its own reference since it left the ground, 0 … 1
}

// New makes the stage of a robot with a free base and masses, whose joints have bounds.
func New(m *robot.Model, bounds []control.Bounds, cfg Config) (*Stage, error) {
	levels, err := cfg.Resolve()
	if err != nil {
		return nil, err
	}
	solver, err := wholebody.New(m)
	if err != nil {
		return nil, err
	}
	if cfg.Margin == 0 {
		cfg.Margin = defaultMargin
	}
	if cfg.Friction == 0 {
		cfg.Friction = estimate.Friction
	}
	if cfg.Iterations == 0 {
		cfg.Iterations = defaultIterations
	}
	n, chains, nv := len(m.Joints()), len(m.Chains()), m.NumV()
	f := func(k int) []float64 { return make([]float64, k) }
	s := &Stage{m: m, cfg: cfg, levels: levels, walks: limbsFirst(levels), bounds: bounds, gate: control.NewLimiter(bounds), solver: solver,
		kin: kinematics.NewData(m), space: kinematics.NewSpace(m),
		Q: f(n), V: f(n), A: f(n), Tau: f(n), q: f(m.NumQ()), v: f(nv), wanted: f(n), asked: f(n), J: f(6 * nv),
		Limbs: make([]LimbState, chains), feet: make([]foot, chains), bends: make([]bend, chains), scratch: f(nv), given: f(nv - 6), slews: f(nv - 6), fixed: make([]bool, n), pull: f(nv - 6), follows: f(n), stands: make([]bool, n), cartesic: make([]bool, chains), pace: f(chains), inertia: f(nv), bias: f(nv)}
	s.sensed.init(n)
	s.plan.init(n)
	s.helps = !above(levels)
	s.asks, s.qc, s.vc = kinematics.NewData(m), f(m.NumQ()), f(nv)
	s.space.NeutralTo(s.qc)
	most := 1
	for i := range m.Contacts() {
		k := floatingbase.NewContactModel(&m.Contacts()[i])
		s.models = append(s.models, k)
		most = max(most, len(k.Soles()))
	}
	s.soles = make([]contact.Point, 0, chains*most)
	s.allowed, s.taken = make([]wholebody.HalfPlane, 0, 2*chains*most+4), f(2*chains*most+4)
	res, err := m.Resources()
	if err != nil {
		return nil, err
	}
	for i, l := range res.Leaves() {
		if l.Kind == robot.BaseLeaf {
			s.leaf = robot.LeafID(i)
		}
	}
	s.r = wholebody.Request{Levels: levels, Fade: true, Moments: true, Coarse: true, HasLinear: true, HasAngular: true, Margin: cfg.Margin,
		Supports: make([]floatingbase.Support, 0, chains), Feedback: make([]spatial.Twist, 0, chains),
		Limbs: make([]wholebody.Limb, 0, chains), Joints: make([]wholebody.Joint, 0, n), Fixed: make([]wholebody.Joint, 0, n),
		Capture: make([]wholebody.HalfPlane, 0, chains*most), Reach: make([]wholebody.Reach, 0, chains), Armature: f(nv - 6),
		MaxTorque: f(nv - 6), MinTorque: f(nv - 6), MaxAcceleration: f(nv - 6), MinAcceleration: f(nv - 6)}
	s.space.NeutralTo(s.q)
	return s, s.warm()
}

// above reports whether posture comes before the base.
func above(levels []wholebody.LevelSpec) bool {
	for _, l := range levels {
		for _, g := range l.Rows {
			switch g {
			case wholebody.PostureRows:
				return true
			case wholebody.BaseRows, wholebody.BaseHeightTiltRows, wholebody.BasePlaneRows:
				return false
			}
		}
	}
	return false
}

// limbsFirst returns the levels for planned steps. Those of limbs come before those of the base, so that a swing is
// not used to balance the body and its foot lands at its place. torque_rate comes after the first level of
// the base: torques are those of cycle 1 there, and a body that waits for them falls.
func limbsFirst(levels []wholebody.LevelSpec) []wholebody.LevelSpec {
	isBase := func(l wholebody.LevelSpec) bool {
		return slices.ContainsFunc(l.Rows, func(g wholebody.Rows) bool {
			return g == wholebody.BaseRows || g == wholebody.BaseHeightTiltRows || g == wholebody.BasePlaneRows
		})
	}
	alone := func(g wholebody.Rows) func(wholebody.LevelSpec) bool {
		return func(l wholebody.LevelSpec) bool { return slices.Equal(l.Rows, []wholebody.Rows{g}) }
	}
	moved := slices.Clone(levels)
	base, rate := slices.IndexFunc(moved, isBase), slices.IndexFunc(moved, alone(wholebody.TorqueRateRows))
	if base >= 0 && rate >= 0 && rate < base {
		l := moved[rate]
		moved = slices.Insert(slices.Delete(moved, rate, rate+1), base, l)
	}
	base = slices.IndexFunc(moved, isBase)
	if limbs := slices.IndexFunc(moved, alone(wholebody.LimbRows)); base >= 0 && limbs > base {
		l := moved[limbs]
		moved = slices.Insert(slices.Delete(moved, limbs, limbs+1), base, l)
	}
	return moved
}

// warm lets everything grow that grows when it is first used: all feet with each contact set are the
// most that is needed.
func (s *Stage) warm() error {
	r := s.r
	for set := range s.m.Contacts() {
		r.Supports = r.Supports[:0]
		for i, c := range s.m.Chains() {
			if c.Contact != robot.NoContact {
				r.Supports = append(r.Supports, floatingbase.Support{Chain: robot.ChainID(i), Contact: robot.ContactID(set), Coefficient: 1})
			}
		}
		r.Feedback, r.Friction = nil, estimate.Friction
		for i := range r.MaxTorque {
			r.MaxTorque[i], r.MinTorque[i], r.MaxAcceleration[i], r.MinAcceleration[i] = math.Inf(1), math.Inf(-1), 1, -1
		}
		if err := s.solver.Solve(&s.answer, s.q, s.v, &r); err != nil {
			return err
		}
	}
	s.solver.Forget()
	const rows = 512
	for range len(s.levels) + 4 {
		s.Levels = append(s.Levels, LevelState{Active: make([]wholebody.Row, 0, rows)})
	}
	for i := range s.answer.Levels[:cap(s.answer.Levels)] {
		s.answer.Levels[:cap(s.answer.Levels)][i].Active = make([]wholebody.Row, 0, rows)
	}
	for len(s.answer.Levels) < len(s.Levels) {
		s.answer.Levels = append(s.answer.Levels, wholebody.Level{Active: make([]wholebody.Row, 0, rows)})
	}
	s.Levels = s.Levels[:0]
	return nil
}

// Begin lets the motion begin anew where the next command is. Loop-safe.
func (s *Stage) Begin() { s.begun = false }

// Update leads the motion by one period after a command, and puts it in its place: joints, base and
// supports. a are the accelerations of the command's joints. It reports whether Tau is for the
// motion; otherwise the torques are those of cycle 1 to find. Loop-safe.
func (s *Stage) Update(c *control.Motion, a []float64, servos *Servos, dt float64) bool {
	s.ω = math.Min(stiffest, 0.5/dt)
	s.Levels = s.Levels[:0]
	if why := s.unable(c, servos); why != Served {
		s.State = State{Status: why, Base: 1, Pace: 1, Margin: math.Inf(-1)}
		for i := range s.Limbs {
			s.Limbs[i] = LimbState{Ratio: 1, Pace: 1}
		}
		s.begun = false
		return false
	}
	if !s.begun {
		if !sane(c, a) {
			s.State = State{Status: Baseless, Why: BadInput, Base: 1, Pace: 1, Margin: math.Inf(-1)}
			return false
		}
		s.follow(c)
		copy(s.asked, c.V)
		if s.doubtful(c, dt) {
			return false
		}
	} else {
		if !sane(c, a) {
			s.hold(c, dt)
			return false
		}
		s.sensed.passed(s.Q)
		s.integrate(c, dt)
		s.keepUp(c, dt)
		s.steer(c, dt)
		s.clamp(servos, dt)
		s.ask(c, a, dt)
	}
	s.remember(c)
	s.fix(c, a, servos)
	s.leak(dt)
	s.stand(c, dt)
	s.tasks(c, a, dt)
	s.limit(servos, dt)
	s.afford()
	s.brake(dt)
	ok := s.solve(dt)
	s.show()
	s.tell()
	s.stretch(dt)
	s.put(c, dt)
	return ok
}

// Planned reports whether the owner of the supports plans the balance. Loop-safe.
func (s *Stage) Planned() bool { return s.planned }

// doubted is the greatest number of ticks for which a motion is put off by doubtful.
const doubted = 20

// doubtful reports whether the motion must not begin yet. A leg that stands and is straight cannot lift or lower the body, whatever
// its joints do. A robot at rest with its capture point outside of its feet would have fallen, so a foot that stands is
// not known yet, and the motion would begin with a jump.
func (s *Stage) doubtful(c *control.Motion, dt float64) bool {
	s.stand(c, dt)
	if s.isStraight() {
		s.State = State{Status: Baseless, Why: Straight, Base: 1, Pace: 1, Margin: s.State.Margin}
		s.begun = false
		return true
	}
	if s.State.Supports != Area || s.State.Margin >= 0 || s.vcom.Norm() > atRest || s.doubts >= doubted {
		s.doubts = 0
		return false
	}
	s.doubts++
	s.State = State{Status: Baseless, Why: Outside, Base: 1, Pace: 1, Margin: s.State.Margin}
	s.begun = false
	return true
}

// atRest is a speed of the centre of mass, m/s.
const atRest = 0.02

// sane reports whether what is asked for is finite.
func sane(c *control.Motion, a []float64) bool {
	b := &c.Base
	sum := c.ZMP.X - c.ZMP.X + c.ZMP.Y - c.ZMP.Y + b.Pose.P.Norm() + b.Twist.Linear.Norm() + b.Twist.Angular.Norm() + b.Acceleration.Linear.Norm() + b.Acceleration.Angular.Norm()
	for _, x := range b.Pose.R {
		sum += x
	}
	for j := range a {
		sum += a[j] - a[j] + c.Q[j] - c.Q[j]
	}
	for i := range c.Limb {
		if x := &c.Limb[i]; x.Has {
			sum += x.Pose.P.Norm() + x.Twist.Linear.Norm() + x.Twist.Angular.Norm() + x.Acceleration.Linear.Norm() + x.Acceleration.Angular.Norm()
			for _, e := range x.Pose.R {
				sum += e
			}
		}
	}
	return sum-sum == 0
}

// hold slows the motion down on its path: what is asked for is not finite.
func (s *Stage) hold(c *control.Motion, dt float64) {
	s.State = State{Status: Slowing, Why: BadInput, Base: 1, Pace: 1, Margin: math.Inf(-1)}
	copy(c.Q, s.Q) // of joints that no servo moves, too
	clear(c.V)
	s.slow(dt)
	s.integrate(c, dt)
	s.show()
	s.put(c, dt)
}

// unable says why the motion cannot be led, or Served.
func (s *Stage) unable(c *control.Motion, servos *Servos) Status {
	if !c.Base.Has {
		return Baseless
	}
	for i, chain := range s.m.Chains() {
		if chain.Contact == robot.NoContact || !(c.Support[i].Weight > 0) {
			continue
		}
		for _, j := range chain.Joints {
			if !s.m.Joints()[j].Virtual && !servos.Powered(int(j)) {
				return Limp
			}
		}
	}
	return Served
}

// follow puts the motion to where the command is.
func (s *Stage) follow(c *control.Motion) {
	s.begun = true
	b := &c.Base
	R, X := b.Pose.R.Quat(), b.Pose.P
	s.q[0], s.q[1], s.q[2], s.q[3], s.q[4], s.q[5], s.q[6] = X.X, X.Y, X.Z, R.X, R.Y, R.Z, R.W
	for k, x := range [2]spatial.Vec3{b.Twist.Linear, b.Twist.Angular} {
		s.v[3*k], s.v[3*k+1], s.v[3*k+2] = x.X, x.Y, x.Z
	}
	for i, j := range s.m.Joints() {
		s.q[j.Q], s.v[j.V] = c.Q[i], c.V[i]
		s.wanted[i], s.Q[i] = c.Q[i], c.Q[i]
		s.gate.Put(i, c.Q[i], c.V[i])
	}
	s.kin.UpdatePosition(s.q)
	for i, chain := range s.m.Chains() {
		f := &s.feet[i]
		*f = foot{can: chain.Contact != robot.NoContact, contact: chain.Contact}
		if f.can {
			if set := c.Support[i].Contact; set != robot.NoContact {
				f.contact = set
			}
			f.share = math.Sqrt(max(0, min(1, c.Support[i].Weight)))
			f.anchor = s.kin.Pose(s.kin.At(chain.Tip))
			if f.share == 0 {
				f.free = 1
			}
		}
	}
	for range lately {
		s.sensed.passed(s.Q)
	}
	s.torques, s.switched, s.basePace = false, false, 1
	for i := range s.pace {
		s.pace[i] = 1
	}
	s.solver.Forget()
}

// solve answers the request, and where levels of safety fail, the next of what can be done. It reports
// whether there are torques.
func (s *Stage) solve(dt float64) bool {
	s.r.Levels, s.r.Order, s.r.Iterations, s.r.Margin = s.levels, wholebody.Default, s.cfg.Iterations, s.cfg.Margin
	if s.planned {
		s.r.Levels, s.r.Margin = s.walks, 0
	}
	sank := s.State.Why == Sinks
	s.State.Status, s.State.Why = Served, s.attempt()
	if s.State.Why == NoReason && s.sinks(sank) {
		s.State.Why = Sinks
	}
	switch s.State.Why {
	case NoReason:
		return true
	case BadInput, Sinks:
	default:
		s.r.Levels, s.r.Order = nil, wholebody.Weighted
		if s.attempt() == NoReason {
			s.State.Status = Weighed
			return true
		}
	}
	s.State.Status, s.State.Feasible = Slowing, false
	s.solver.Forget()
	s.slow(dt)
	return false
}

// slow slows the motion down on its path: all velocities keep their proportions, and so contacts hold.
func (s *Stage) slow(dt float64) {
	for i, v := range s.v {
		s.answer.Acceleration[i] = -v / math.Max(slowDown, dt)
	}
}

// sinks reports whether torques do not carry the body: it is below its reference and goes down unbraked with a
// torque at its limit. If it sank in the tick before, the answer has to lift it. Without a torque at its limit
// other limits hold the body, and the motion goes on: at rest nothing would free it.
func (s *Stage) sinks(before bool) bool {
	if s.low < sunk || !s.strained(before) {
		return false
	}
	a := s.answer.Acceleration
	up := s.kin.BodyPose(1).R.MulVec(spatial.Vec3{X: a[0], Y: a[1], Z: a[2]}).Z
	return (before || s.down > sinking) && up < lifts
}

// strained reports whether the answer has a torque at its limit or, if that counts, one that cannot change faster.
func (s *Stage) strained(rate bool) bool {
	for k, tau := range s.answer.Torque {
		most, least := s.r.MaxTorque[k], s.r.MinTorque[k]
		if rate && s.torques && !math.IsInf(s.slews[k], 1) {
			most, least = min(most, s.given[k]+s.slews[k]), max(least, s.given[k]-s.slews[k])
		}
		if by := atLimit * (s.r.MaxTorque[k] - s.r.MinTorque[k]); tau >= most-by || tau <= least+by {
			return true
		}
	}
	return false
}

// attempt solves the request, and says why the answer cannot be used.
func (s *Stage) attempt() Reason {
	if s.solver.Solve(&s.answer, s.q, s.v, &s.r) != nil {
		return BadInput
	}
	s.State.Feasible, s.State.Iterations = s.answer.Feasible, s.answer.Iterations
	for _, list := range [2][]float64{s.answer.Acceleration, s.answer.Torque} {
		for _, x := range list {
			if !(math.Abs(x) < absurd) {
				return NotFinite
			}
		}
	}
	for i := range s.answer.Levels {
		l := &s.answer.Levels[i]
		switch {
		case !l.Safety:
		case l.Status == qp.Limit:
			return Deadline
		case l.Status != qp.Optimal && l.Status != qp.Inaccurate:
			return Unsolved
		case i == 0 && l.Residual > tolDynamics*(1+s.m.Mass()*s.m.Gravity().Norm()) && len(s.answer.Contacts) > 2:
			return Unmoved
		}
	}
	return NoReason
}

// absurd is a number that no acceleration or torque has.
const absurd = 1e5

// integrate moves the motion on by a period, from the last command to this one, with the accelerations that were decided
// then: u' = u + dt·a, q' = q ⊕ (dt·u + dt²/2·a).
func (s *Stage) integrate(c *control.Motion, dt float64) {
	a := s.answer.Acceleration
	step := s.scratch
	for i, v := range s.v {
		step[i] = v + dt/2*a[i]
		s.v[i] = v + dt*a[i]
	}
	s.space.IntegrateTo(s.q, s.q, step, dt)
	for i, j := range s.m.Joints() {
		if s.fixed[i] {
			s.q[j.Q], s.v[j.V] = c.Q[i], c.V[i]
			s.gate.Put(i, c.Q[i], c.V[i])
		} else if q, v, _, cut := s.gate.Apply(i, s.q[j.Q], dt); cut != 0 {
			s.q[j.Q], s.v[j.V] = q, v
		}
	}
}

// show tells where the joints of the motion are now, and how they are accelerated from now on.
func (s *Stage) show() {
	for i, j := range s.m.Joints() {
		worst := max(most(s.bounds[i].Acceleration), most(s.bounds[i].Deceleration))
		s.Q[i], s.V[i], s.A[i] = s.q[j.Q], s.v[j.V], max(-worst, min(worst, s.answer.Acceleration[j.V]))
	}
}

// put writes the motion into the command.
func (s *Stage) put(c *control.Motion, dt float64) {
	copy(c.Q, s.Q)
	copy(c.V, s.V)
	copy(c.A, s.A)
	R, _ := spatial.Quat{X: s.q[3], Y: s.q[4], Z: s.q[5], W: s.q[6]}.Unit()
	vec := func(x []float64) spatial.Vec3 { return spatial.Vec3{X: x[0], Y: x[1], Z: x[2]} }
	a := s.answer.Acceleration
	c.Base = control.BaseRef{Pose: spatial.Pose{R: R.Matrix(), P: vec(s.q)}, Has: true,
		Twist:        spatial.Twist{Linear: vec(s.v), Angular: vec(s.v[3:])},
		Acceleration: spatial.Twist{Linear: vec(a), Angular: vec(a[3:])}}
	for i := range s.feet {
		if f := &s.feet[i]; f.can {
			c.Support[i].Weight, c.Support[i].Contact, c.Support[i].Fade = f.share*f.share, f.contact, dt
		}
	}
	for i, j := range s.m.Joints() {
		k := j.V - 6
		tau := s.answer.Torque[k]
		if by := s.slews[k]; s.torques { // where a compromise broke that row, too
			tau = max(s.given[k]-by, min(s.given[k]+by, tau))
		}
		tau = max(s.r.MinTorque[k], min(s.r.MaxTorque[k], tau))
		s.given[k] = tau
		tau -= s.r.Armature[k] * a[j.V]
		if by := s.slews[k]; s.torques { // where an acceleration jumps, what the rotor takes does
			tau = max(s.Tau[i]-by, min(s.Tau[i]+by, tau))
		}
		tau = max(s.r.MinTorque[k], min(s.r.MaxTorque[k], tau))
		if s.fixed[i] {
			tau, s.given[k] = 0, 0
		}
		s.Tau[i] = tau
	}
	s.torques = true
}

// Give cuts a joint's torque, found elsewhere for the motion, to the limits of its servo in this tick. Loop-safe.
func (s *Stage) Give(joint int, tau float64) float64 {
	if s.fixed[joint] {
		return tau
	}
	k := s.m.Joints()[joint].V - 6
	return max(s.r.MinTorque[k], min(s.r.MaxTorque[k], tau))
}

// Forces appends what the supports are to give. Outside of updates.
func (s *Stage) Forces(dst []floatingbase.ContactWrench) []floatingbase.ContactWrench {
	return append(dst, s.answer.Contacts...)
}

package step

import (
	"errors"
	"math"
	"slices"

	"poise/control"
	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/problem"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory"
	"poise/trajectory/spline"
)

// Options of Compile.
type Options struct {
	Transition control.Transition // where the robot has no acceleration limit, for stops
	From       []float64          // joints from which it begins: of several answers the nearest is taken; nil is neutral
}

// Between samples, joints are found at least this often, and oftener where a limb
// would otherwise be further than allowed from its curve.
const (
	coarse  = 0.010  // s
	fine    = 0.001  // s
	allowed = 0.0002 // m
)

// frameColumns are the coordinates of a frame: place, and rotation vector.
const frameColumns = 6

// Compile checks a goal against a robot and finds its joints, outside the cycle.
// It reports every problem at once, each a *problem.Problem.
func Compile(m *robot.Model, o Options, g *Goal) (*Program, error) {
	c := &compiler{checker: checker{m: m, g: g}}
	if err := c.check(); err != nil {
		return nil, err
	}
	limits, bounds, err := control.JointLimits(m, o.Transition)
	if err != nil {
		return nil, err
	}
	if err := c.prepare(o.From); err != nil {
		return nil, err
	}
	c.slips()
	var curve *spline.Spline
	for step := coarse; ; step /= 2 {
		if curve, err = c.joints(step); err != nil {
			return nil, errors.Join(append(c.errs, err)...)
		}
		if worst := c.deviation(curve); worst <= allowed || step <= fine {
			c.r.Deviation = worst
			break
		}
	}
	c.limits(curve, bounds)
	if err := errors.Join(c.errs...); err != nil {
		return nil, err
	}
	for k, j := range c.r.Joints {
		b := &bounds[j]
		acc := b.Acceleration
		if math.IsInf(acc, 1) { // a stop needs one; a motion that has more by itself keeps it
			acc = max(limits[j].AccMax, math.Abs(curve.Peak(k, spline.Acceleration, curve.Start(), curve.End()).Value))
		}
		c.r.Velocity, c.r.Acceleration = append(c.r.Velocity, finiteOrZero(b.Velocity)), append(c.r.Acceleration, finiteOrZero(acc))
	}
	return build(c.r)
}

// compiler turns samples into joints.
type compiler struct {
	checker
	r      record
	data   *kinematics.Data
	path   *spline.Spline // of the base, if it moves, and of all limbs, in the world
	origin []spatial.Pose // of the frames of path: R = R₀·exp(r)
	limbs  []limbWork
	q      []float64 // configuration
	x      []float64 // columns of path
	knots  []float64 // times at which joints were found
}

type limbWork struct {
	chain  *robot.Chain
	solver *ik.Solver
	tip    kinematics.Place
	world  []spatial.Pose // at each sample
}

// prepare makes the Cartesian curve, and what is needed to follow it.
func (c *compiler) prepare(from []float64) error {
	m, g := c.m, c.g
	c.data, c.q = kinematics.NewData(m), make([]float64, m.NumQ())
	kinematics.NewSpace(m).NeutralTo(c.q)
	for i, j := range m.Joints() {
		if from != nil {
			c.q[j.Q] = from[i]
		}
	}
	c.r.Times = g.Times
	c.r.Position, c.r.Orientation = orDefault(g.PositionTolerance, 0.07), orDefault(g.OrientationTolerance, 0.5)
	if g.Base != nil {
		c.r.Base, c.r.Leaf = true, baseLeaf(m)
		c.origin = append(c.origin, g.Base[0])
	}
	for i := range g.Limbs {
		l := &g.Limbs[i]
		id, _ := m.Chain(l.Chain)
		chain := &m.Chains()[id]
		solver, err := ik.New(m, ik.Options{MaxRestarts: 4}, chain.Joints, chain.VirtualTip)
		if err != nil {
			return err
		}
		w := limbWork{chain: chain, solver: solver, tip: c.data.At(chain.VirtualTip)}
		for k, X := range l.Poses {
			if g.InBase && g.Base != nil {
				X = g.Base[k].Mul(X)
			}
			w.world = append(w.world, X)
		}
		c.limbs = append(c.limbs, w)
		c.origin = append(c.origin, w.world[0])
		c.r.Chains = append(c.r.Chains, chainRecord{Chain: id, Contacts: contactsOf(m, l, len(g.Times))})
		for _, j := range chain.Joints {
			if slices.Contains(c.r.Joints, j) {
				name := m.Joints()[j].Name
				c.problem(problem.Problem{Resource: l.Chain, Joint: name}, "limb %q shares %s with another", l.Chain, name)
				return errors.Join(c.errs...)
			}
			c.r.Joints = append(c.r.Joints, j)
		}
	}
	return c.cartesian()
}

// cartesian makes the curve of all frames.
func (c *compiler) cartesian() error {
	frames := make([][]spatial.Pose, 0, len(c.origin))
	if c.r.Base {
		frames = append(frames, c.g.Base)
	}
	for i := range c.limbs {
		frames = append(frames, c.limbs[i].world)
	}
	keys := make([][]float64, len(c.g.Times))
	last := make([][3]float64, len(frames))
	for k := range keys {
		for f, poses := range frames {
			r := near(c.origin[f].R.Transpose().Mul(poses[k].R).Quat().Log(), last[f])
			last[f] = r
			p := poses[k].P
			keys[k] = append(keys[k], p.X, p.Y, p.Z, r[0], r[1], r[2])
		}
	}
	c.x = make([]float64, frameColumns*len(frames))
	var err error
	c.path, err = spline.Akima(c.g.Times, keys, 0)
	return err
}

// near returns the rotation vector of the same rotation that is nearest to another:
// turns by more than half a turn go on instead of coming back.
func near(r spatial.Vec3, to [3]float64) [3]float64 {
	best := r
	goal := spatial.Vec3{X: to[0], Y: to[1], Z: to[2]}
	if θ := r.Norm(); θ > 1e-6 {
		if other := r.Scale(1 - 2*math.Pi/θ); other.Sub(goal).Norm() < best.Sub(goal).Norm() {
			best = other
		}
	}
	return [3]float64{best.X, best.Y, best.Z}
}

// frame returns a frame of the curve from its columns.
func (c *compiler) frame(f int) spatial.Pose {
	x := c.x[frameColumns*f:]
	return pose(c.origin[f].R, x)
}

// pose turns the columns of a frame into one.
func pose(origin spatial.Mat3, x []float64) spatial.Pose {
	return spatial.Pose{P: spatial.Vec3{X: x[0], Y: x[1], Z: x[2]},
		R: origin.Mul(spatial.ExpRotation(spatial.Vec3{X: x[3], Y: x[4], Z: x[5]}).Matrix())}
}

// solve finds the joints of all limbs at a time, from those before.
func (c *compiler) solve(t float64) error {
	c.path.PositionTo(c.x, t)
	first := 0
	if c.r.Base {
		setBase(c.q, c.frame(0))
		first = 1
	}
	for i := range c.limbs {
		l := &c.limbs[i]
		r := l.solver.PoseTo(c.q, c.frame(first+i), c.q)
		if r.Status == ik.Solved {
			continue
		}
		p := problem.Problem{Resource: l.chain.Name, Row: c.sampleAt(t) + 1, At: t, Value: max(r.PositionError, r.RotationError)}
		why := ""
		if r.Joint != robot.NoJoint {
			p.Joint = c.m.Joints()[r.Joint].Name
			why = ": " + p.Joint + " is in the way"
		}
		c.problem(p, "limb %q does not reach its pose at %.3f s, %.4f m and %.3f rad are missing%s", l.chain.Name, t, r.PositionError, r.RotationError, why)
		err := c.errs[len(c.errs)-1]
		c.errs = c.errs[:len(c.errs)-1]
		return err
	}
	return nil
}

func (c *compiler) sampleAt(t float64) (k int) {
	for k+1 < len(c.g.Times) && c.g.Times[k+1] <= t {
		k++
	}
	return k
}

// joints finds the joints at least every step, and returns the curve through them;
// the base, if it moves, comes last.
func (c *compiler) joints(step float64) (*spline.Spline, error) {
	c.knots, c.r.Knots, c.r.Table = c.knots[:0], nil, nil
	times := c.g.Times
	for k := 0; k < len(times); k++ {
		n := 1
		if k+1 < len(times) {
			n = int(math.Ceil((times[k+1] - times[k]) / step))
		}
		for i := range n {
			t := times[k]
			if i > 0 {
				t += (times[k+1] - times[k]) * float64(i) / float64(n)
			}
			if err := c.solve(t); err != nil {
				return nil, err
			}
			row := make([]float64, 0, len(c.r.Joints)+frameColumns)
			for _, j := range c.r.Joints {
				row = append(row, c.q[c.m.Joints()[j].Q])
			}
			if c.r.Base {
				row = append(row, c.x[:frameColumns]...)
			}
			c.r.Knots, c.r.Table = append(c.r.Knots, t), append(c.r.Table, row)
		}
	}
	if c.r.Base {
		c.r.Origin = c.origin[0].R
	}
	return spline.Akima(c.r.Knots, c.r.Table, 0)
}

// deviation returns how far limbs get from their curves between knots, m.
func (c *compiler) deviation(curve *spline.Spline) (worst float64) {
	row := make([]float64, curve.Joints())
	for k := 1; k < len(c.r.Knots); k++ {
		t := (c.r.Knots[k-1] + c.r.Knots[k]) / 2
		curve.PositionTo(row, t)
		c.path.PositionTo(c.x, t)
		for i, j := range c.r.Joints {
			c.q[c.m.Joints()[j].Q] = row[i]
		}
		first := 0
		if c.r.Base {
			setBase(c.q, pose(c.r.Origin, row[len(c.r.Joints):]))
			first = 1
		}
		c.data.UpdatePosition(c.q)
		for i := range c.limbs {
			worst = max(worst, c.data.Pose(c.limbs[i].tip).P.Sub(c.frame(first+i).P).Norm())
		}
	}
	return worst
}

// slips finds limbs that are moved while they stand.
func (c *compiler) slips() {
	for i := range c.limbs {
		l := &c.limbs[i]
		all := c.r.Chains[i].Contacts
		for k := 1; k < len(all); k++ {
			moved := l.world[k].P.Sub(l.world[k-1].P).Norm()
			if all[k-1] != robot.NoContact && all[k] != robot.NoContact && c.r.Base && moved > slip {
				c.problem(problem.Problem{Resource: l.chain.Name, Row: k + 1, At: c.g.Times[k], Value: moved, Limit: slip},
					"limb %q stands from %.3f s and is %.4f m away at %.3f s, %.4f m are allowed", l.chain.Name, c.g.Times[k-1], moved, c.g.Times[k], slip)
				break
			}
		}
	}
}

// limits finds where joints break theirs.
func (c *compiler) limits(curve *spline.Spline, bounds []control.Bounds) {
	n := curve.Joints()
	l := trajectory.Limits{Lower: make([]float64, n), Upper: make([]float64, n), Velocity: make([]float64, n), Acceleration: make([]float64, n), Deceleration: make([]float64, n)}
	for k := range n {
		b := control.Unbounded
		if k < len(c.r.Joints) {
			b = bounds[c.r.Joints[k]]
		}
		if c.g.MaySlow {
			b.Velocity, b.Acceleration, b.Deceleration = math.Inf(1), math.Inf(1), math.Inf(1)
		}
		l.Lower[k], l.Upper[k], l.Velocity[k], l.Acceleration[k], l.Deceleration[k] = b.Lower, b.Upper, b.Velocity, b.Acceleration, b.Deceleration
	}
	for _, v := range l.Violations(curve, 1e-9) {
		name := c.m.Joints()[c.r.Joints[v.Joint]].Name
		c.problem(problem.Problem{Row: c.sampleAt(v.Time) + 1, At: v.Time, Joint: name, Value: v.Value, Limit: v.Limit},
			"%s of %s comes to %.4g at %.3f s, its limit is %.4g", v.Quantity, name, v.Value, v.Time, v.Limit)
	}
}

// baseLeaf returns the leaf of a free base.
func baseLeaf(m *robot.Model) robot.LeafID {
	res, err := m.Resources()
	if err != nil {
		return 0 // such a robot is not controlled
	}
	for i, l := range res.Leaves() {
		if l.Kind == robot.BaseLeaf {
			return robot.LeafID(i)
		}
	}
	return 0
}

func contactsOf(m *robot.Model, l *Limb, n int) []robot.ContactID {
	all := make([]robot.ContactID, n)
	for k := range all {
		all[k] = robot.NoContact
		if l.Contacts != nil && l.Contacts[k] != "" {
			all[k], _ = m.Contact(l.Contacts[k])
		}
	}
	return all
}

// setBase puts the base of a configuration to a pose.
func setBase(q []float64, X spatial.Pose) {
	r := X.R.Quat()
	q[0], q[1], q[2], q[3], q[4], q[5], q[6] = X.P.X, X.P.Y, X.P.Z, r.X, r.Y, r.Z, r.W
}

// orDefault reads a tolerance with the meaning of ROS: 0 is the default, negative is
// none, which is 0 in a record.
func orDefault(x, standard float64) float64 {
	switch {
	case x == 0:
		return standard
	case x < 0 || math.IsInf(x, 1):
		return 0
	}
	return x
}

func finiteOrZero(x float64) float64 {
	if math.IsInf(x, 1) {
		return 0
	}
	return x
}

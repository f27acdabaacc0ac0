package stance

import (
	"math"

	"poise/contact"
	"poise/control"
	"poise/kinematics"
	"poise/kinematics/ik"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory/move"
)

// leg is a chain that can stand.
type leg struct {
	chain   robot.ChainID
	joints  []robot.JointID
	support robot.LeafID
	tip     kinematics.Place // its virtual end, which has all six coordinates
	solver  *ik.Solver
}

// course is a stance: feet that stay where they are and a motion of the body. Its
// six axes are the way from the origin, and the rotation vector from it:
//
//	p = p₀ + x,   R = R₀·exp(r)
type course struct {
	program *Program
	origin  spatial.Pose     // X_WB at the start
	anchors []spatial.Pose   // X_WT of each leg of the robot; those of feet count
	stands  []bool           // each leg of the robot
	motion  *move.Motion     // of the body
	start   [axes]move.State // of the motion
	margin  float64          // that the centre of mass must keep
	most    float64          // the largest rate
	verdict control.Reason   // of planning
}

const axes = 6

// Limits of the body before its legs are asked, m and rad: what looks calm on a
// robot of this size. Slower legs slow it down.
var calm = [axes]move.Limits{
	move.Symmetric(0.2, 1, 10), move.Symmetric(0.2, 1, 10), move.Symmetric(0.2, 1, 10),
	move.Symmetric(1.5, 8, 80), move.Symmetric(1.5, 8, 80), move.Symmetric(1.5, 8, 80),
}

// coordinates of a pose, seen from the origin of a course.
func (k *course) coordinates(X spatial.Pose) (x [axes]float64) {
	d := X.P.Sub(k.origin.P)
	r := k.origin.R.Transpose().Mul(X.R).Quat().Log()
	return [axes]float64{d.X, d.Y, d.Z, r.X, r.Y, r.Z}
}

// at returns the pose of the body at a time of the motion. Before the start the
// motion is carried on backwards, so that differences work there too.
func (k *course) at(t float64) spatial.Pose {
	var x [axes]float64
	for i := range x {
		if t < 0 {
			s := &k.start[i]
			x[i] = s.P + t*s.V + t*t/2*s.A
		} else {
			x[i] = k.motion.Axis(i).At(t).P
		}
	}
	return spatial.Pose{
		P: k.origin.P.Add(spatial.Vec3{X: x[0], Y: x[1], Z: x[2]}),
		R: k.origin.R.Mul(spatial.ExpRotation(spatial.Vec3{X: x[3], Y: x[4], Z: x[5]}).Matrix()),
	}
}

// setBase puts the base of a configuration to a pose.
func setBase(q []float64, X spatial.Pose) {
	r := X.R.Quat()
	q[0], q[1], q[2], q[3], q[4], q[5], q[6] = X.P.X, X.P.Y, X.P.Z, r.X, r.Y, r.Z, r.W
}

// legsTo finds the joints that keep the feet of a course where they are while the
// body is at X: q holds the seed, and gets the answer. Of several answers the one
// nearest to the seed is taken, so legs do not flip. Loop-safe.
func (c *Controller) legsTo(q []float64, k *course, X spatial.Pose) (bad *leg, ok bool) {
	setBase(q, X)
	for i := range c.legs {
		if l := &c.legs[i]; k.stands[i] && l.solver.PoseTo(q, k.anchors[i], q).Status != ik.Solved {
			return l, false
		}
	}
	return nil, true
}

// explain says what stands in the way of a leg.
func (c *Controller) explain(l *leg, k *course, q []float64, at float64) control.Reason {
	i := 0
	for &c.legs[i] != l {
		i++
	}
	r := l.solver.PoseTo(c.scratch, k.anchors[i], q)
	why := control.Unreachable.At(r.Joint, max(r.PositionError, r.RotationError), 0)
	why.At = at
	return why
}

// settle finds where the body and its feet are now. Place and heading go on from
// where the base was last said to be; tilt comes from the legs.
func (c *Controller) settle(input *control.Input, k *course) {
	X, _ := c.ground.Settle(input.Cmd.Q, k.program.Feet)
	if b := &input.Cmd.Base; b.Has {
		from := contact.Level(b.Pose)
		from.P.Z -= X.P.Z // the ground is where the feet are
		X = from.Mul(X)
	}
	k.origin = X
	c.index.ConfigurationTo(c.scratch, input.Cmd.Q)
	setBase(c.scratch, X)
	c.data.UpdatePosition(c.scratch)
	for i := range c.legs {
		k.stands[i] = false
		k.anchors[i] = c.data.Pose(c.legs[i].tip)
		for _, f := range k.program.Feet {
			k.stands[i] = k.stands[i] || f.Chain == c.legs[i].chain
		}
	}
}

// balance returns how far the centre of mass is inside the feet at a configuration.
func (c *Controller) balance(k *course, q []float64, X spatial.Pose) float64 {
	c.index.JointsTo(c.joints, q)
	c.ground.BalanceTo(&c.stand, c.joints, k.program.Feet, X)
	return c.stand.Margin
}

// Planning: the motion of the body is looked at here, in shares of its duration,
// with differences over ±step; joints are given this much more room than there
// they need, for what happens in between.
const (
	looks = 8
	step  = 0.004 // s
	room  = 1.15
)

// reach plans the motion of the body to a pose, as fast as the body is calm and
// the legs can, and looks whether legs reach and balance is kept all the way.
func (c *Controller) reach(input *control.Input, k *course, to spatial.Pose) control.Reason {
	var goal [axes]move.State
	for i, x := range k.coordinates(to) {
		goal[i].P = x
	}
	c.index.ConfigurationTo(c.seed, input.Cmd.Q)
	copy(c.posture, c.seed)
	if bad, ok := c.legsTo(c.posture, k, to); !ok { // the end first: it is what was asked for
		return c.explain(bad, k, c.seed, 0)
	}
	if m := c.balance(k, c.posture, to); !(m >= k.margin) {
		return control.Unbalanced.At(robot.NoJoint, m, k.margin)
	}
	if why := c.plan(k, &goal, 1); why.Code != control.OK {
		return why
	}
	slow, why := c.look(k)
	if why.Code == control.OK && slow > 1 {
		why = c.plan(k, &goal, slow)
	}
	k.most = max(1/slow, 1)
	return why
}

// plan makes the motion, some times slower than calm.
func (c *Controller) plan(k *course, goal *[axes]move.State, slow float64) control.Reason {
	var limits [axes]move.Limits
	a, j := slow*slow, slow*slow*slow
	for i, l := range calm {
		limits[i] = move.Symmetric(l.VelMax/slow, l.AccMax/a, l.Jerk/j)
	}
	if k.motion.SetLimits(limits[:]) != nil || k.motion.Reach(k.start[:], goal[:], move.Options{}) != nil {
		return control.Because(control.BadValue)
	}
	return control.Because(control.OK)
}

// look goes along the planned motion and returns how many times slower the legs
// need it, and why it cannot be at all. Balance may not be worse on the way than
// at both ends.
func (c *Controller) look(k *course) (slow float64, reason control.Reason) {
	T := k.motion.Duration()
	copy(c.posture, c.seed)
	least := k.margin
	for n := range looks {
		t := T * float64(n) / looks
		if n > 0 {
			c.foresee(k, T/looks-step)
		}
		for i, at := range [...]float64{t - step, t, t + step} {
			X := k.at(at)
			if bad, ok := c.legsTo(c.posture, k, X); !ok {
				return 1, c.explain(bad, k, c.seed, t)
			}
			copy(c.near[i], c.posture)
			if i != 1 {
				continue
			}
			m := c.balance(k, c.posture, X)
			if n == 0 {
				least = min(least, m)
			}
			if m < least-tiny {
				reason = control.Unbalanced.At(robot.NoJoint, m, k.margin)
				reason.At = t
				return 1, reason
			}
		}
		slow = max(slow, c.ratio(k))
	}
	return slow, control.Because(control.OK)
}

// foresee carries the legs on from the last look for a while, as they moved there:
// an answer next to its seed is found soonest.
func (c *Controller) foresee(k *course, dt float64) {
	for i := range c.legs {
		if !k.stands[i] {
			continue
		}
		for _, j := range c.legs[i].joints {
			at := c.index[j]
			c.posture[at] = c.near[1][at] + dt*(c.near[2][at]-c.near[0][at])/(2*step)
		}
	}
}

const tiny = 1e-9 // m, rounding of a margin

// ratio returns by how much the legs are too fast in what look has seen: 1 is just
// right.
func (c *Controller) ratio(k *course) (most float64) {
	for i := range c.legs {
		if !k.stands[i] {
			continue
		}
		for _, j := range c.legs[i].joints {
			at := c.index[j]
			before, now, after := c.near[0][at], c.near[1][at], c.near[2][at]
			v, a := (after-before)/(2*step), (after-2*now+before)/(step*step)
			most = max(most, room*math.Abs(v)/c.limits[j].VelMax, math.Sqrt(room*math.Abs(a)/c.limits[j].AccMax))
		}
	}
	return most
}

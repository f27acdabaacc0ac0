package walk

import (
	"math"

	"poise/contact"
	"poise/control"
	"poise/gait"
	"poise/kinematics/ik"
	"poise/robot"
	"poise/spatial"
	"poise/trajectory/move"
)

// posture is how a robot stands and how it is going to: level, at the height of walking, its centre
// of mass over the middle of its feet.
type posture struct {
	program *Program
	from    spatial.Pose // X_WB now
	to      spatial.Pose // X_WB when it is ready
	com     spatial.Vec3 // of the robot then, seen from the base
	centre  gait.Point   // of the feet
	yaw     float64
	ground  float64         // height at which the base was last said to have its feet, m: plans have it at 0
	feet    []gait.Point    // soles
	steps   []gait.Footstep // room for those that are given; the program says how many
	begins  []float64       // joints of legs from there, in a configuration
	ends    []float64       // and when it is ready
	takes   float64         // s
	verdict control.Reason
}

// What counts as a stand.
const (
	levelTilt  = 0.15  // rad, of the base
	flatFeet   = 0.004 // m, of soles from the ground
	uprightTip = 0.1   // rad, of a foot
	leastRoom  = 0.005 // m, of the centre of mass inside its feet

	lowestStart = 0.8 // share of the height of walking: lower, it may lie on something else than its feet

	bodySpeed = 0.05 // m/s, at which the body goes to the posture of walking
	shortest  = 0.4  // s, that it takes
)

// settle finds where the body and its feet are by the command, as package stance does: place and
// heading go on from where the base was last said to be, height over the ground and tilt come from the legs.
func (c *Controller) settle(input *control.Input, k *posture) control.Reason {
	X, ok := c.ground.Settle(input.Cmd.Q, k.program.Feet)
	if !ok {
		return control.Because(control.NothingStands)
	}
	k.ground = 0
	if b := &input.Cmd.Base; b.Has {
		from := contact.Level(b.Pose)
		k.ground = from.P.Z - X.P.Z
		from.P.Z = 0
		X = from.Mul(X)
	}
	k.from = X
	c.index.ConfigurationTo(c.scratch, input.Cmd.Q)
	setBase(c.scratch, X)
	c.data.UpdatePosition(c.scratch)
	tilt := math.Acos(min(max(X.R[8], -1), 1))
	if tilt > levelTilt {
		return control.NotStanding.At(robot.NoJoint, tilt, levelTilt)
	}
	if low := c.height - X.P.Z; low > (1-lowestStart)*c.height {
		return control.NotStanding.At(robot.NoJoint, low, (1-lowestStart)*c.height)
	}
	k.yaw, k.centre = math.Atan2(X.R[3], X.R[0]), gait.Point{}
	for i := range c.legs {
		l := &c.legs[i]
		tip := c.data.Pose(l.tip)
		sole := tip.Apply(l.sole)
		if math.Abs(sole.Z) > flatFeet {
			return control.NotStanding.At(l.joints[0], math.Abs(sole.Z), flatFeet)
		}
		if up := math.Acos(min(max(tip.R.MulVec(l.up).Z, -1), 1)); up > uprightTip && !l.point {
			return control.NotStanding.At(l.joints[0], up, uprightTip)
		}
		k.feet[i] = gait.Point{X: sole.X, Y: sole.Y}
		k.centre.X += sole.X / float64(len(c.legs))
		k.centre.Y += sole.Y / float64(len(c.legs))
	}
	c.index.JointsTo(c.joints, c.scratch)
	c.ground.BalanceTo(&c.stand, c.joints, k.program.Feet, X)
	if m := c.stand.Margin; !(m >= leastRoom) {
		return control.Unbalanced.At(robot.NoJoint, m, leastRoom)
	}
	return control.Because(control.OK)
}

// prepare finds the posture of walking, and whether the legs reach it.
func (c *Controller) prepare(k *posture) control.Reason {
	far := spatial.TurnZ(-k.yaw)
	room := wildReach * c.reach // a walk starts where another one has ended
	for i := range c.legs {     // a foot that is not where it belongs is put there by its first step
		at := far.MulVec(spatial.Vec3{X: k.feet[i].X - k.centre.X, Y: k.feet[i].Y - k.centre.Y})
		n := c.nominal[i]
		if d := math.Hypot(at.X-n.X, at.Y-n.Y); d > room {
			return control.NotStanding.At(c.legs[i].joints[0], d, room)
		}
	}
	k.com = c.stand.Com.Sub(k.from.P)
	k.com = k.from.R.TMulVec(k.com)
	copy(c.standing, c.scratch)
	const rounds = 4
	for n := range rounds { // the centre of mass moves with the legs
		k.to = spatial.Pose{R: spatial.TurnZ(k.yaw)}
		offset := k.to.R.MulVec(k.com)
		k.to.P = spatial.Vec3{X: k.centre.X - offset.X, Y: k.centre.Y - offset.Y, Z: c.height}
		if why := c.standAt(c.standing, k, k.to); why.Code != control.OK {
			return why
		}
		if n == rounds-1 {
			break
		}
		c.index.JointsTo(c.joints, c.standing)
		c.ground.BalanceTo(&c.stand, c.joints, k.program.Feet, k.to)
		k.com = k.to.R.TMulVec(c.stand.Com.Sub(k.to.P))
	}
	copy(k.begins, c.scratch)
	copy(k.ends, c.standing)
	way := k.to.P.Sub(k.from.P).Norm()
	turn := k.from.R.Transpose().Mul(k.to.R).Quat().Log().Norm()
	k.takes = max(shortest, way/bodySpeed, turn/(4*bodySpeed))
	return control.Because(control.OK)
}

// standAt finds the joints of legs that stand as they do, with the base at X: q has the seed, and gets
// the answer.
func (c *Controller) standAt(q []float64, k *posture, X spatial.Pose) control.Reason {
	setBase(q, X)
	for i := range c.legs {
		l := &c.legs[i]
		tip := l.tipAt(spatial.Vec3{X: k.feet[i].X, Y: k.feet[i].Y}, k.yaw)
		if r := l.solve(q, tip); r.Status != ik.Solved {
			return l.unreachable(&r)
		}
	}
	return control.Because(control.OK)
}

// unreachable says what stands in the way of a leg.
func (l *leg) unreachable(r *ik.Result) control.Reason {
	joint := r.Joint
	code := control.Unreachable
	if joint == robot.NoJoint {
		code, joint = control.LimbUnreachable, l.joints[0]
	}
	return code.At(joint, max(r.PositionError, r.RotationError), 0)
}

// tipAt returns the pose of a leg's tip whose sole is at a place, upright, with a heading.
func (l *leg) tipAt(sole spatial.Vec3, yaw float64) spatial.Pose {
	R := spatial.TurnZ(yaw).Mul(l.level)
	return spatial.Pose{R: R, P: sole.Sub(R.MulVec(l.sole))}
}

// at returns the body on its way to the posture of walking, with its derivatives.
func (k *posture) at(t float64) control.BaseRef {
	s := move.MinimumJerk(t, k.takes)
	d := k.to.P.Sub(k.from.P)
	r := k.from.R.Transpose().Mul(k.to.R).Quat().Log()
	x := [6]float64{d.X, d.Y, d.Z, r.X, r.Y, r.Z}
	var p, v, a [6]float64
	for i := range x {
		p[i], v[i], a[i] = s.P*x[i], s.V*x[i], s.A*x[i]
	}
	return control.CoordinatePose(&k.from, &p, &v, &a)
}

// bend seeds legs on their way to the posture of walking between their joints at its ends: one that is straight would bend either way
// otherwise, until the limit of its knee, and then jump. Legs in closed form know their ways to bend.
func (c *Controller) bend() {
	k := c.run
	s := min(max((c.clock-begins)/k.takes, 0), 1)
	for i := range c.legs {
		if c.legs[i].solver.ClosedForm() {
			continue
		}
		for _, j := range c.legs[i].joints {
			at := c.index[j]
			c.q[at] = k.begins[at] + s*(k.ends[at]-k.begins[at])
		}
	}
}

// setBase puts the base of a configuration to a pose.
func setBase(q []float64, X spatial.Pose) {
	r := X.R.Quat()
	q[0], q[1], q[2], q[3], q[4], q[5], q[6] = X.P.X, X.P.Y, X.P.Z, r.X, r.Y, r.Z, r.W
}

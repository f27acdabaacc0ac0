package walk

import (
	"poise/control"
	"poise/kinematics/ik"
	"poise/spatial"
)

// moment is over which places become velocities and accelerations of joints, s.
const moment = 0.001

// follow finds the legs for the present, and how they move, from their answers a moment before and
// after.
func (c *Controller) follow() (base control.BaseRef, reason control.Reason) {
	setBase(c.q, c.body(0).Pose)
	if !c.ready {
		c.bend()
	}
	for l := range c.legs {
		if c.pulls[l], reason = c.pull(l); reason.Code != control.OK {
			return c.body(0), reason
		}
	}
	for i, after := range [...]float64{-moment, moment, 0} {
		base = c.body(after)
		setBase(c.q, base.Pose)
		for l := range c.legs {
			tip, _ := c.pulled(l, after, c.pulls[l])
			if r := c.legs[l].solve(c.q, tip); r.Status != ik.Solved {
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
	m := c.slope.moved(c.sway.moved(c.plan.Com(after), after), after)
	follows := c.catch.steps.Body(after)
	m.P, m.V, m.A = m.P.Add(follows.P), m.V.Add(follows.V), m.A.Add(follows.A)
	yaw, rate, acceleration := c.plan.Yaw(after)
	b := control.BaseRef{Has: true}
	b.Pose.R = spatial.TurnZ(yaw)
	offset := b.Pose.R.MulVec(k.com)
	offset.Z = 0
	ω, α := spatial.Vec3{Z: rate}, spatial.Vec3{Z: acceleration}
	b.Pose.P = m.P.Sub(offset)
	b.Pose.P.Z = c.height + m.P.Z
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
	m, turned, ω, α := c.catch.put(leg, c.soles[leg].raised(m, after), after)
	X := l.turnedAt(m.P, yaw, turned)
	arm := X.P.Sub(m.P)
	ω.Z, α.Z = rate, acceleration
	return moving(X, m.V.Add(ω.Cross(arm)), m.A.Add(α.Cross(arm)).Add(ω.Cross(ω.Cross(arm))), ω, α)
}

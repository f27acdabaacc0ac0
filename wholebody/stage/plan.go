package stage

import (
	"math"

	"poise/control"
	"poise/robot"
	"poise/spatial"
)

// plan is the command of the tick before, where the owner of the supports plans the balance.
type plan struct {
	has     bool
	base    control.BaseRef
	q, v, a []float64 // [joints]
	legs    []bool    // [joints] of limbs that step
}

func (p *plan) init(joints int) {
	p.q, p.v, p.a, p.legs = make([]float64, joints), make([]float64, joints), make([]float64, joints), make([]bool, joints)
}

// Limits of what keepUp adds in a period. A command that jumps by more is approached by feedback, as any other.
const (
	mostAhead  = 0.03 // m
	mostTurned = 0.3  // rad
)

// remember takes over what is asked for now.
func (s *Stage) remember(c *control.Motion) {
	p := &s.plan
	p.has, p.base = false, c.Base
	copy(p.q, c.Q)
	copy(p.v, c.V)
	copy(p.a, c.A)
	clear(p.legs)
	for i, chain := range s.m.Chains() {
		if chain.Contact == robot.NoContact || !c.Support[i].Planned {
			continue
		}
		p.has = true
		for _, j := range chain.Joints {
			p.legs[j] = true
			s.asked[j] = c.V[j] // more exact than the difference of positions
		}
	}
}

// keepUp adds to the motion the difference between the plan and its extrapolation over the period with the
// acceleration at the beginning, which the stage holds: otherwise a swing of a few periods lags by half a period.
// Feedback and limits are unchanged. Base and legs of one plan agree with each other, so feet that stand stay
// where they are.
func (s *Stage) keepUp(c *control.Motion, dt float64) {
	p := &s.plan
	if !p.has {
		return
	}
	then := p.base.At(dt)
	by := c.Base.Pose.P.Sub(then.Pose.P)
	turn := c.Base.Pose.R.Quat().Mul(then.Pose.R.Quat().Conj()).Log()
	if by.Norm() > mostAhead || turn.Norm() > mostTurned {
		return
	}
	R, ok := spatial.Quat{X: s.q[3], Y: s.q[4], Z: s.q[5], W: s.q[6]}.Unit()
	if !ok {
		return
	}
	R = spatial.ExpRotation(turn).Mul(R)
	s.q[0], s.q[1], s.q[2], s.q[3], s.q[4], s.q[5], s.q[6] = s.q[0]+by.X, s.q[1]+by.Y, s.q[2]+by.Z, R.X, R.Y, R.Z, R.W
	own := R.Matrix()
	add := func(at []float64, now, was spatial.Vec3) {
		d := own.TMulVec(c.Base.Pose.R.MulVec(now).Sub(then.Pose.R.MulVec(was)))
		at[0], at[1], at[2] = at[0]+d.X, at[1]+d.Y, at[2]+d.Z
	}
	add(s.v[:3], c.Base.Twist.Linear, then.Twist.Linear)
	add(s.v[3:6], c.Base.Twist.Angular, then.Twist.Angular)
	for i, j := range s.m.Joints() {
		if !p.legs[i] || s.fixed[i] {
			continue
		}
		q, v := c.Q[i]-p.q[i]-dt*p.v[i]-dt*dt/2*p.a[i], c.V[i]-p.v[i]-dt*p.a[i]
		if math.Abs(q) < mostTurned {
			s.q[j.Q], s.v[j.V] = s.q[j.Q]+q, s.v[j.V]+v
		}
	}
}

// uprightTime is the time constant with which steer brings the tilt back to the planned one, s. It is below that of a
// robot that tips over, √(h/g).
const uprightTime = 0.1

// steer brings the tilt of the motion back to that of the plan where feet stand on a line. No contact force turns the body about
// that line, and the plan, which knows a point mass, leaves a moment about it for what legs take when they swing: the motion would
// tip over a little further with each step. The real robot comes upright when the next feet land, as they are level in the
// plan.
func (s *Stage) steer(c *control.Motion, dt float64) {
	if !s.planned || s.State.Supports != Line {
		return
	}
	R, ok := spatial.Quat{X: s.q[3], Y: s.q[4], Z: s.q[5], W: s.q[6]}.Unit()
	if !ok {
		return
	}
	share := -math.Expm1(-dt / uprightTime)
	own := R.Matrix()
	up := spatial.Vec3{Z: 1}
	tilt := c.Base.Pose.R.MulVec(up).Cross(own.MulVec(up)) // about horizontal axes of the world, from the plan to the motion
	if tilt.Norm() > mostTurned {
		return
	}
	R = spatial.ExpRotation(tilt.Scale(-share)).Mul(R)
	s.q[3], s.q[4], s.q[5], s.q[6] = R.X, R.Y, R.Z, R.W
	rate := own.MulVec(spatial.Vec3{X: s.v[3], Y: s.v[4], Z: s.v[5]}).Sub(c.Base.Pose.R.MulVec(c.Base.Twist.Angular))
	rate.Z = 0
	w := own.TMulVec(rate.Scale(-share))
	s.v[3], s.v[4], s.v[5] = s.v[3]+w.X, s.v[4]+w.Y, s.v[5]+w.Z
}

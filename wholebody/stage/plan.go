package stage

import (
	"math"

	"poise/control"
	"poise/robot"
	"poise/spatial"
)

// plan is what was asked for a tick ago, where the owner of the supports plans the balance.
type plan struct {
	has     bool
	base    control.BaseRef
	q, v, a []float64 // [joints]
	legs    []bool    // [joints] of limbs that step
}

func (p *plan) init(joints int) {
	p.q, p.v, p.a, p.legs = make([]float64, joints), make([]float64, joints), make([]float64, joints), make([]bool, joints)
}

// Of what a plan does within a period that its acceleration at the beginning did not say, so much counts, m and rad: a
// command that jumps is caught up with as any other.
const (
	mostAhead  = 0.03
	mostTurned = 0.3
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
			s.asked[j] = c.V[j] // which its owner knows better than differences tell
		}
	}
}

// keepUp adds to the motion what a plan did within the period otherwise than with the accelerations that it began with: these are
// held for a period, and swings of a few periods would lag behind by half a one. Feedback and limits are not
// touched by it; base and legs of one plan agree with each other, so feet that stand still do.
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

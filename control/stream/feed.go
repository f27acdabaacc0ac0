package stream

import (
	"math"

	"poise/control"
	"poise/robot"
)

// Feed takes the newest value of one of its streams. It is refused if it is older than the
// activation or than the one before, and if it is no value for this robot: of another size,
// non-finite, far beyond a joint's limits, or where a limb does not reach.
func (c *Controller) Feed(input *control.Input, p control.Program) control.Reason {
	s, ok := p.(*Sample)
	if !ok || s.Stream < 0 || s.Stream >= len(c.lanes) {
		return control.Because(control.BadProgram)
	}
	c.skip(input)
	l := &c.lanes[s.Stream]
	if s.At < l.last { // the activation at first
		return control.Stale.At(robot.NoJoint, float64(input.Tick.Time-s.At)*1e-9, float64(input.Tick.Time-l.last)*1e-9)
	}
	if age := float64(input.Tick.Time-s.At) * 1e-9; age > c.p.timeout() {
		return control.Stale.At(robot.NoJoint, age, c.p.timeout())
	}
	if why := c.judge(s); why.Code != control.OK {
		return why
	}
	c.carry(s)
	if len(s.Limbs) > 0 || s.Base != nil {
		resolved, why := c.resolve(input, s)
		if why.Code != control.OK {
			return why
		}
		s = resolved
	}
	l.pulse.beat(float64(s.At)*1e-9, float64(l.last)*1e-9, !l.heardAny)
	l.last, l.heardAny = s.At, true
	joints := s.Joints.Intersect(c.all)
	if !joints.Empty() || c.given.Empty() { // supports alone do not keep joints moving
		c.heard = seconds(input)
	}
	c.moving(s, joints)
	for leaf := range joints.All {
		b := &c.bounds[leaf]
		c.goal[leaf], c.via[leaf] = min(max(s.Q[leaf], b.Lower), b.Upper), uint8(s.Stream)
	}
	c.given = c.given.Union(joints)
	if c.stale && !joints.Empty() {
		c.stale = false
		joints = c.own // all of them, also those that this value does not mention
	}
	c.again(input, joints.Intersect(c.own))
	return control.Because(control.OK)
}

// judge tells what of a sample is no value for this robot.
func (c *Controller) judge(s *Sample) control.Reason {
	joints := s.Joints.Intersect(c.all)
	if n := len(s.Q); n != len(c.limits) && (n > 0 || !joints.Empty()) || !joints.Empty() && (len(s.Limbs) > 0 || s.Base != nil) {
		return control.Because(control.BadProgram)
	}
	for leaf := range joints.All {
		if !finite(s.Q[leaf]) {
			return control.NonFinite.At(robot.JointID(leaf), float64(leaf), 0)
		}
		if far, limit := TooFar(&c.bounds[leaf], s.Q[leaf]); far {
			return control.BeyondLimit.At(robot.JointID(leaf), s.Q[leaf], limit)
		}
	}
	for _, x := range s.Support {
		if int(x.Chain) >= len(c.weight) || x.Chain < 0 || !(x.Weight >= 0 && x.Weight <= 1) {
			return control.BadValue.At(robot.NoJoint, x.Weight, 1)
		}
		if x.Contact != nil && (*x.Contact < 0 || int(*x.Contact) >= c.known) {
			return control.Because(control.BadProgram)
		}
	}
	for _, x := range s.Output {
		if _, known := c.outputs.number[x.Leaf]; !known {
			return control.Because(control.BadProgram)
		}
		if !finite(x.Value) {
			return control.NonFinite.At(robot.NoJoint, float64(x.Leaf), 0)
		}
	}
	if why := c.limbs.sane(s); why.Code != control.OK {
		return why
	}
	return s.sane(joints, c.bounds)
}

// carry takes what a sample says of supports and typed outputs.
func (c *Controller) carry(s *Sample) {
	for _, x := range s.Support {
		c.weight[x.Chain], c.said[x.Chain] = x.Weight, true
		if x.Contact != nil {
			c.contacts[x.Chain] = *x.Contact
		}
	}
	for _, x := range s.Output {
		i := c.outputs.number[x.Leaf]
		c.outputs.value[i], c.outputs.said[i] = x.Value, true
	}
}

// maxTurns is how many turns an angle without limits may be away from zero.
const maxTurns = 1000

// TooFar reports whether a value is no place for a joint: beyond a limit by more than a
// turn and more than the joint's whole range. What is less far beyond goes to the limit.
func TooFar(b *control.Bounds, q float64) (far bool, limit float64) {
	lower, upper := b.Lower, b.Upper
	reach := max(upper-lower, 2*math.Pi)
	if math.IsInf(reach, 0) {
		lower, upper, reach = max(lower, -maxTurns*2*math.Pi), min(upper, maxTurns*2*math.Pi), 0
	}
	switch {
	case q < lower-reach:
		return true, lower
	case q > upper+reach:
		return true, upper
	}
	return false, 0
}

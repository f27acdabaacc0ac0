package robot

import (
	"fmt"
	"math"

	"poise/robot/rule"
	"poise/urdf"
)

// LimitTable is what a limit file says, joint by joint.
type LimitTable struct {
	File   string
	Joints []JointLimits
}

// JointLimits is what a limit file says about one joint. A limit that it turns
// off has a source and no value.
type JointLimits struct {
	Joint  string
	Line   int
	Limits Limits
}

// CartesianLimits bound the motion of a tip, in the words of the Pilz planner.
type CartesianLimits struct {
	MaxTransVel Limit // m/s, > 0
	MaxTransAcc Limit // m/s², > 0
	MaxTransDec Limit // m/s², < 0
	MaxRotVel   Limit // rad/s, > 0
}

// quantity is one of the limits of a joint: how it is called, and which values
// are tighter. The order is that of all listings.
type quantity struct {
	name    string
	of      func(*Limits) *Limit
	tighter func(a, b float64) bool // is a at least as tight as b?
	sign    float64                 // of an allowed value; 0: any
}

var quantities = []quantity{
	{"lower", func(l *Limits) *Limit { return &l.Lower }, func(a, b float64) bool { return a >= b }, 0},
	{"upper", func(l *Limits) *Limit { return &l.Upper }, func(a, b float64) bool { return a <= b }, 0},
	{"velocity", func(l *Limits) *Limit { return &l.Velocity }, func(a, b float64) bool { return a <= b }, 1},
	{"effort", func(l *Limits) *Limit { return &l.Effort }, func(a, b float64) bool { return a <= b }, 1},
	{"acceleration", func(l *Limits) *Limit { return &l.Acceleration }, func(a, b float64) bool { return a <= b }, 1},
	{"deceleration", func(l *Limits) *Limit { return &l.Deceleration }, func(a, b float64) bool { return a >= b }, -1},
	{"jerk", func(l *Limits) *Limit { return &l.Jerk }, func(a, b float64) bool { return a <= b }, 1},
}

// All yields the limits with their names, in the order of all listings.
func (l Limits) All(yield func(name string, limit Limit) bool) {
	for _, q := range quantities {
		if !yield(q.name, *q.of(&l)) {
			return
		}
	}
}

// Contains reports whether a position keeps the limits of position; both ends
// belong to the range.
func (l Limits) Contains(position float64) bool {
	return (!l.Lower.Has || position >= l.Lower.Value) && (!l.Upper.Has || position <= l.Upper.Value)
}

// urdfLimits returns what the URDF says. A velocity of zero counts as not
// given, as in MoveIt: a joint that must not move would be fixed. An effort of
// zero stays what it is.
func (b *builder) urdfLimits(j urdf.Joint) (l Limits) {
	u := j.Limit
	if u == nil || j.Type == urdf.Planar || j.Type == urdf.Floating {
		return l
	}
	src := u.Pos.String()
	if j.Type == urdf.Revolute || j.Type == urdf.Prismatic {
		l.Lower, l.Upper = Limit{u.Lower, true, src}, Limit{u.Upper, true, src}
	}
	given := func(bit urdf.LimitSet, value float64) bool { return u.Has&bit != 0 || value != 0 }
	positive := func(name string, bit urdf.LimitSet, value float64) Limit {
		if !given(bit, value) {
			return Limit{}
		}
		if value == 0 {
			b.Warnf(rule.UnsetLimit, u.Pos, rule.Joint(j.Name), "%s limit 0 counts as not given", name)
			return Limit{}
		}
		return Limit{value, true, src}
	}
	l.Velocity = positive("velocity", urdf.HasVelocity, u.Velocity)
	l.Acceleration = positive("acceleration", urdf.HasAcceleration, u.Acceleration)
	l.Jerk = positive("jerk", urdf.HasJerk, u.Jerk)
	l.Deceleration = positive("deceleration", urdf.HasDeceleration, u.Deceleration)
	l.Deceleration.Value = -l.Deceleration.Value // URDF writes the magnitude
	if given(urdf.HasEffort, u.Effort) {
		l.Effort = Limit{u.Effort, true, src}
		if u.Effort == 0 {
			b.Warnf(rule.UnsetLimit, u.Pos, rule.Joint(j.Name), "effort limit is 0: by its description it can exert nothing")
		}
	}
	return l
}

// limit merges the limit file into the joints and looks at the followers.
func (b *builder) limit() {
	b.m.cartesian = b.opts.Cartesian
	if t := b.opts.Limits; t != nil {
		for _, entry := range t.Joints {
			at := urdf.Pos{File: t.File, Line: entry.Line}
			if target := b.limitTarget(entry.Joint, at); target != nil {
				b.merge(target, entry, at)
			}
		}
	}
	for _, body := range b.m.bodies {
		if body.Mimic {
			b.checkFollower(b.followers[body.Name])
		}
	}
}

// limitTarget finds the joint that an entry of a limit file means.
func (b *builder) limitTarget(name string, at urdf.Pos) *Joint {
	if id, ok := b.m.jointByName[name]; ok {
		j := &b.m.joints[id]
		if j.Kind == Planar || j.Kind == Floating {
			b.Warnf(rule.UnusedLimit, at, rule.Joint(name), "limits of a joint with several coordinates are not used")
			return nil
		}
		return j
	}
	if f, ok := b.followers[name]; ok {
		return f
	}
	if _, fixed := b.tree.JointIndex[name]; fixed {
		b.Warnf(rule.UnusedLimit, at, rule.Joint(name), "is fixed: its limits are not used")
		return nil
	}
	b.Warnf(rule.UnknownJoint, at, rule.Joint(name), "limits for a joint that the robot does not have%s", rule.DidYouMean(name, b.tree.JointNames()))
	return nil
}

// merge lets an entry of the file tighten a joint's limits, or replace them if
// the options allow it.
func (b *builder) merge(j *Joint, entry JointLimits, at urdf.Pos) {
	thing := rule.Joint(j.Name)
	if (entry.Limits.Lower.Has || entry.Limits.Upper.Has) && j.Kind == Continuous {
		b.Errorf(rule.BadLimit, at, thing, "a continuous joint has no range; make it revolute in the URDF")
		return
	}
	for _, q := range quantities {
		was, now := q.of(&j.Limits), *q.of(&entry.Limits)
		switch {
		case !now.Has:
			if now.Source != "" && b.opts.OverrideLimits && q.sign != 0 {
				*was = Limit{} // turned off
			}
		case !finite(now.Value), q.sign != 0 && now.Value*q.sign <= 0:
			b.Errorf(rule.BadLimit, at, thing, "%s limit %g of %s must be %s", q.name, now.Value, now.Source, signWord(q.sign))
		case was.Has && !b.opts.OverrideLimits && !q.tighter(now.Value, was.Value):
			b.Errorf(rule.LooserLimit, at, thing, "%s limit %g of %s is looser than %g of %s; a limit file may only tighten, --override-limits lets it loosen",
				q.name, now.Value, now.Source, was.Value, was.Source)
		default:
			*was = now
		}
	}
	if l := j.Limits; l.Lower.Has && l.Upper.Has && l.Lower.Value > l.Upper.Value {
		b.Errorf(rule.InvertedLimits, at, thing, "lower limit %g of %s is above the upper limit %g of %s",
			l.Lower.Value, l.Lower.Source, l.Upper.Value, l.Upper.Source)
	}
}

func signWord(sign float64) string {
	switch {
	case sign > 0:
		return "positive"
	case sign < 0:
		return "negative"
	}
	return "finite"
}

// checkFollower warns where a leader within its limits drives a follower past
// its own. The leader's limits stay what the files say: descriptions often give
// followers a range that nobody keeps, and a gripper must not be locked by it.
func (b *builder) checkFollower(f *Joint) {
	body := b.m.bodies[f.Body]
	leader := b.m.joints[body.Joint]
	at := b.doc.Joints[b.tree.JointIndex[f.Name]].Mimic.Pos
	if followerEscapes(f, leader, body) {
		b.Warnf(rule.FollowerLimit, at, rule.Joint(f.Name), "follows %q to %s, past its own range %s", leader.Name,
			rangeText(image(leader.Limits, body.Ratio, body.Offset)), rangeText(f.Limits))
	}
	for _, q := range quantities {
		own, lead := *q.of(&f.Limits), *q.of(&leader.Limits)
		if q.sign == 0 || q.name == "effort" || !own.Has || !lead.Has {
			continue
		}
		if reached := math.Abs(lead.Value * body.Ratio); reached > math.Abs(own.Value)*(1+tolFollower) {
			b.Warnf(rule.FollowerLimit, at, rule.Joint(f.Name), "follows %q to a %s of %g, past its own limit %g of %s",
				leader.Name, q.name, reached, math.Abs(own.Value), own.Source)
		}
	}
}

// tolFollower lets rounding of ratio·x + offset pass, relative.
const tolFollower = 1e-9

// followerEscapes reports whether the leader's range takes the follower out of
// its own, by more than rounding.
func followerEscapes(f *Joint, leader Joint, body Body) bool {
	if !f.Limits.Lower.Has && !f.Limits.Upper.Has {
		return false
	}
	got := image(leader.Limits, body.Ratio, body.Offset)
	slack := tolFollower * math.Max(1, math.Abs(body.Offset))
	below := f.Limits.Lower.Has && (!got.Lower.Has || got.Lower.Value < f.Limits.Lower.Value-slack)
	above := f.Limits.Upper.Has && (!got.Upper.Has || got.Upper.Value > f.Limits.Upper.Value+slack)
	return below || above
}

// image maps a range by ratio·x + offset.
func image(l Limits, ratio, offset float64) (out Limits) {
	if ratio == 0 {
		fixed := Limit{Value: offset, Has: true}
		return Limits{Lower: fixed, Upper: fixed}
	}
	lower, upper := l.Lower, l.Upper
	lower.Value, upper.Value = ratio*lower.Value+offset, ratio*upper.Value+offset
	if ratio < 0 {
		lower, upper = upper, lower
	}
	return Limits{Lower: lower, Upper: upper}
}

func rangeText(l Limits) string {
	end := func(x Limit, sign string) string {
		if !x.Has {
			return sign + "∞"
		}
		return fmt.Sprintf("%g", x.Value)
	}
	return end(l.Lower, "−") + " … " + end(l.Upper, "")
}

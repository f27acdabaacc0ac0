package robot

import (
	"math"

	"poise/problem"
	"poise/urdf"
)

// limitsOf returns what the URDF says about a joint. A velocity of zero counts
// as not given, as in MoveIt: a joint that must not move would be fixed. An
// effort of zero stays what it is. Both earn a warning.
func limitsOf(j urdf.Joint, r *problem.Report) (l Limits) {
	u := j.Limit
	if u == nil {
		return l
	}
	if j.Type == urdf.Planar || j.Type == urdf.Floating {
		r.Warnf(UnusedLimit, u.Pos, problem.Joint(j.Name), "limits of a joint with several coordinates are not used")
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
			r.Warnf(UnsetLimit, u.Pos, problem.Joint(j.Name), "%s limit 0 counts as not given", name)
			return Limit{}
		}
		return Limit{value, true, src}
	}
	l.Velocity = positive("velocity", urdf.HasVelocity, u.Velocity)
	l.Acceleration = positive("acceleration", urdf.HasAcceleration, u.Acceleration)
	l.Jerk = positive("jerk", urdf.HasJerk, u.Jerk)
	if l.Deceleration = positive("deceleration", urdf.HasDeceleration, u.Deceleration); l.Deceleration.Has {
		l.Deceleration.Value = -u.Deceleration // URDF writes the magnitude
	}
	if given(urdf.HasEffort, u.Effort) {
		l.Effort = Limit{u.Effort, true, src}
		if u.Effort == 0 {
			r.Warnf(UnsetLimit, u.Pos, problem.Joint(j.Name), "effort limit is 0: by its description it can exert nothing")
		}
	}
	return l
}

// merge lets an entry of a file tighten the limits of a joint; with override it
// may also loosen them and turn them off.
func (t *LimitTable) merge(into *Limits, e LimitEntry, override bool, r *problem.Report) {
	at, thing := t.at(e), problem.Joint(e.Joint)
	for _, q := range quantities {
		was, now := q.of(into), *q.of(&e.Limits)
		switch {
		case !now.Has:
			if now.Source != "" && override && q.sign != 0 {
				*was = Limit{} // turned off
			}
		case math.IsNaN(now.Value) || math.IsInf(now.Value, 0):
			r.Errorf(NotFinite, at, thing, "%s limit %g of %s is not finite", q.name, now.Value, now.Source)
		case now.Value*q.sign <= 0 && q.sign != 0:
			r.Errorf(BadLimit, at, thing, "%s limit %g of %s must be %s", q.name, now.Value, now.Source, signWord(q.sign))
		case was.Has && !override && q.looser(now.Value, was.Value):
			r.Errorf(LooserLimit, at, thing, "%s limit %g of %s is looser than %g of %s; a limit file may only tighten, --override-limits lets it loosen",
				q.name, now.Value, now.Source, was.Value, was.Source)
		default:
			*was = now
		}
	}
	if into.Lower.Has && into.Upper.Has && into.Lower.Value > into.Upper.Value {
		r.Errorf(InvertedLimits, at, thing, "lower limit %g of %s is above the upper limit %g of %s",
			into.Lower.Value, into.Lower.Source, into.Upper.Value, into.Upper.Source)
	}
}

// at returns where an entry stands.
func (t *LimitTable) at(e LimitEntry) problem.Pos { return problem.Pos{File: t.File, Line: e.Line} }

func signWord(sign float64) string {
	if sign < 0 {
		return "negative"
	}
	return "positive"
}

// tolFollower lets rounding of ratio·x + offset pass, relative.
const tolFollower = 1e-9

// checkFollower warns where a leader within its limits drives a follower, which
// moves by ratio·x + offset, past its own. The leader's limits stay what the
// files say: descriptions often give followers a range that is not kept, and a
// gripper must not be locked by it.
func checkFollower(name string, own Limits, leader string, lead Limits, ratio, offset float64, at problem.Pos, r *problem.Report) {
	reach := lead.Image(ratio, offset)
	slack := tolFollower * math.Max(1, math.Abs(offset))
	below := own.Lower.Has && (!reach.Lower.Has || reach.Lower.Value < own.Lower.Value-slack)
	above := own.Upper.Has && (!reach.Upper.Has || reach.Upper.Value > own.Upper.Value+slack)
	if below || above {
		r.Warnf(FollowerLimit, at, problem.Joint(name), "follows %q to %s, past its own range %s", leader, reach.Range(), own.Range())
	}
	for _, q := range quantities {
		mine, theirs := *q.of(&own), *q.of(&lead)
		if q.sign == 0 || q.name == "effort" || !mine.Has || !theirs.Has {
			continue
		}
		if reached := math.Abs(theirs.Value * ratio); reached > math.Abs(mine.Value)*(1+tolFollower) {
			r.Warnf(FollowerLimit, at, problem.Joint(name), "follows %q to %s of %g, past its own limit %g of %s",
				leader, q.withArticle(), reached, math.Abs(mine.Value), mine.Source)
		}
	}
}

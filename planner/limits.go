package planner

import "poise/robot"

// Deceleration is a joint's own limit, or its acceleration limit negated.
func Deceleration(l *robot.Limits) robot.Limit {
	if l.Deceleration.Has {
		return l.Deceleration
	}
	d := l.Acceleration
	d.Value = -d.Value
	return d
}

// NeedsLimits refuses a joint that a command moves without a limit it needs:
// acceleration, and for PTP velocity. Limits are never invented.
func NeedsLimits(j *robot.Joint, c Command) *Refusal {
	missing := func(what string) *Refusal {
		why := Refuse(MissingLimit, "%s moves joint %q, and its %s limit is not given", c, j.Name, what)
		why.Joint = j.Name
		return why.With("give max_%s of %s in joint_limits.yaml (poise new-robot proposes one)", what, j.Name)
	}
	switch {
	case !j.Limits.Acceleration.Has:
		return missing("acceleration")
	case c == PTP && !j.Limits.Velocity.Has:
		return missing("velocity")
	}
	return nil
}

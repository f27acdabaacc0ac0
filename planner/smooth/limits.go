package smooth

import (
	"math"

	"poise/planner"
	"poise/robot"
	"poise/trajectory"
)

var inf = math.Inf(1)

// still is the joint movement that counts as none, rad or m.
const still = 1e-9

// limits returns the limits of joints and measures in the order of a route.
func (p *Planner) limits(joints []robot.JointID, velocity, acceleration float64, t planner.Tool, link float64) trajectory.Limits {
	n := len(joints)
	all := make([]float64, 4*(n+measures))
	cut := func(i int) []float64 { return all[i*(n+measures) : (i+1)*(n+measures)] }
	l := trajectory.Limits{Velocity: cut(0), Acceleration: cut(1), Deceleration: cut(2)}
	jerk := cut(3)
	for k, j := range joints {
		x := &p.Model.Joints()[j].Limits
		l.Velocity[k] = scale(x.Velocity, velocity)
		l.Acceleration[k] = scale(x.Acceleration, acceleration)
		l.Deceleration[k] = scale(planner.Deceleration(x), acceleration)
		jerk[k] = scale(x.Jerk, 1)
		if x.Jerk.Has {
			l.Jerk = jerk
		}
	}
	l.Velocity[n+wayRow], l.Acceleration[n+wayRow], l.Deceleration[n+wayRow] = t.Speed, t.Acceleration, t.Deceleration
	l.Velocity[n+turnRow], l.Acceleration[n+turnRow], l.Deceleration[n+turnRow] = t.Turning, t.TurnAcceleration, t.TurnDeceleration
	l.Velocity[n+linkRow], l.Acceleration[n+linkRow], l.Deceleration[n+linkRow] = link, inf, inf
	for i := range measures {
		jerk[n+i] = inf
	}
	return l
}

// scale returns the size of a limit times a factor, infinite if there is none.
func scale(l robot.Limit, by float64) float64 {
	if !l.Has {
		return inf
	}
	return math.Abs(l.Value) * by
}

// limitBend gives a bend of the joints its limits: those of the joints by the
// smallest scaling of joints that its legs have, which is 1 for a line or an arc, and
// the slower of two speeds of a link. A tool's speed is commanded where its path is,
// not before.
func (p *Planner) limitBend(bend *piece) {
	link, velocity, acceleration := inf, 1.0, 1.0
	for _, l := range bend.legs {
		if v := l.linkSpeed(); v < link {
			bend.Link, link = l.task.SpeedLink, v
		}
		if !l.cartesian() {
			velocity, acceleration = min(velocity, l.task.VelocityScaling), min(acceleration, l.task.AccelerationScaling)
		}
	}
	bend.Limits = p.limits(bend.legs[0].task.Joints, velocity, acceleration, planner.FreeTool, link)
}

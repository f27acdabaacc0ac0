package smooth

import (
	"math"

	"poise/planner"
	"poise/planner/timing"
	"poise/robot"
	"poise/trajectory"
)

var inf = math.Inf(1)

// still is the joint movement that counts as none, rad or m.
const still = 1e-9

// limits returns the limits of joints and measures in the order of a route.
func (p *Planner) limits(joints []robot.JointID, velocity, acceleration float64, t planner.Tool, link float64) trajectory.Limits {
	n := len(joints)
	all := make([]float64, 4*(n+timing.Measures))
	cut := func(i int) []float64 { return all[i*(n+timing.Measures) : (i+1)*(n+timing.Measures)] }
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
	l.Velocity[n+timing.Way], l.Acceleration[n+timing.Way], l.Deceleration[n+timing.Way] = t.Speed, t.Acceleration, t.Deceleration
	l.Velocity[n+timing.Turn], l.Acceleration[n+timing.Turn], l.Deceleration[n+timing.Turn] = t.Turning, t.TurnAcceleration, t.TurnDeceleration
	l.Velocity[n+timing.LinkWay], l.Acceleration[n+timing.LinkWay], l.Deceleration[n+timing.LinkWay] = link, inf, inf
	for i := range timing.Measures {
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

// limitBend gives a bend of the joints its limits and returns it as the pieces
// that differ in them. Between two point-to-point motions the smaller scaling
// counts. Next to a line or an arc, whose scaling is not of joints, each half is
// scaled as its own leg is; a tool's speed is commanded where its path is, not
// before. The slower of two speeds of a link counts everywhere.
func (p *Planner) limitBend(bend *piece) []*piece {
	a, b := bend.legs[0], bend.legs[1]
	link := inf
	for _, l := range bend.legs {
		if v := l.linkSpeed(); v < link {
			bend.Link, link = l.task.SpeedLink, v
		}
	}
	scaled := func(legs ...*leg) trajectory.Limits {
		velocity, acceleration := 1.0, 1.0
		for _, l := range legs {
			if !l.cartesian() {
				velocity, acceleration = min(velocity, l.task.VelocityScaling), min(acceleration, l.task.AccelerationScaling)
			}
		}
		return p.limits(a.task.Joints, velocity, acceleration, planner.FreeTool, link)
	}
	bend.Limits = scaled(a, b)
	if a.cartesian() == b.cartesian() {
		return []*piece{bend}
	}
	first, second := *bend, *bend
	first.To, second.From = bend.To/2, bend.To/2
	first.Limits, second.Limits = scaled(a), scaled(b)
	return []*piece{&first, &second}
}

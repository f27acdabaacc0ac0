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

// tool bounds how a tool moves along its path, all ≥ 0.
type tool struct {
	speed, acceleration, deceleration           float64 // m
	turning, turnAcceleration, turnDeceleration float64 // rad
}

// free bounds nothing.
var free = tool{inf, inf, inf, inf, inf, inf}

// min returns what keeps both.
func (a tool) min(b tool) tool {
	return tool{
		min(a.speed, b.speed), min(a.acceleration, b.acceleration), min(a.deceleration, b.deceleration),
		min(a.turning, b.turning), min(a.turnAcceleration, b.turnAcceleration), min(a.turnDeceleration, b.turnDeceleration),
	}
}

// toolLimits returns the Cartesian limits that a task may use, not scaled. A
// speed limit on the very link that follows the path takes the place of
// max_trans_vel, if it is lower. Rotational accelerations follow from the others
// by Pilz's rule: max_trans_acc / max_trans_vel · max_rot_vel.
func (p *Planner) toolLimits(task *planner.Task) (t tool, why *planner.Refusal) {
	l := p.Model.CartesianLimits()
	if l == nil {
		return t, planner.Refuse(planner.MissingLimit, "%s needs Cartesian limits, and the robot has none: max_trans_vel, max_trans_acc and max_rot_vel are missing", task.Command).
			With("give pilz_cartesian_limits.yaml")
	}
	for _, k := range []struct {
		name  string
		limit robot.Limit
	}{{"max_trans_vel", l.MaxTransVel}, {"max_trans_acc", l.MaxTransAcc}, {"max_rot_vel", l.MaxRotVel}} {
		if !k.limit.Has {
			return t, planner.Refuse(planner.MissingLimit, "%s needs the Cartesian limit %s, which is not given", task.Command, k.name).
				With("add %s to pilz_cartesian_limits.yaml", k.name)
		}
	}
	t.speed, t.acceleration, t.deceleration = l.MaxTransVel.Value, l.MaxTransAcc.Value, l.MaxTransAcc.Value
	if l.MaxTransDec.Has {
		t.deceleration = -l.MaxTransDec.Value
	}
	if task.MaxSpeed > 0 && task.SpeedLink == task.Link {
		t.speed = min(t.speed, task.MaxSpeed)
	}
	t.turning = l.MaxRotVel.Value
	t.turnAcceleration = t.acceleration / t.speed * t.turning
	t.turnDeceleration = t.deceleration / t.speed * t.turning
	return t, nil
}

// turnOnTheSpot is the way per radian below which a motion is a turn: then it is
// the turn that is commanded, and scaled, m/rad.
const turnOnTheSpot = 0.02

// scaled returns the limits of a stretch of path that turns by angle over a
// distance. Scaling is a command to the tool's way; rotation is no reason to fall
// below it as long as its own limits hold. Only a turn on the spot is scaled
// itself.
func (t tool) scaled(velocity, acceleration, distance, angle float64) tool {
	t.speed *= velocity
	t.acceleration *= acceleration
	t.deceleration *= acceleration
	if distance < turnOnTheSpot*angle {
		t.turning *= velocity
		t.turnAcceleration *= acceleration
		t.turnDeceleration *= acceleration
	}
	return t
}

// limits returns the limits of joints and measures in the order of a route.
func (p *Planner) limits(joints []robot.JointID, velocity, acceleration float64, t tool, link float64) trajectory.Limits {
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
	l.Velocity[n+timing.Way], l.Acceleration[n+timing.Way], l.Deceleration[n+timing.Way] = t.speed, t.acceleration, t.deceleration
	l.Velocity[n+timing.Turn], l.Acceleration[n+timing.Turn], l.Deceleration[n+timing.Turn] = t.turning, t.turnAcceleration, t.turnDeceleration
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
		return p.limits(a.task.Joints, velocity, acceleration, free, link)
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
